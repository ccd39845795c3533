#!/bin/bash
# What each idea brings to a training step of lenet, batch 128: from loops as one writes them down to threads.
# Usage: ladder.sh TARDYGRAD [SECONDS a rung]     (after `make`). With one thread times are CPU time.
set -euo pipefail
T=$(realpath "${1:?usage: ladder.sh TARDYGRAD [SECONDS]}")
S=${2:-3}
cd "$(dirname "$0")" && . ./env.sh
B=${B:-build}
make -s B="$B" T="$(dirname "$T")" "$B/im2col_step" "$B/lim_dnn"

# rung NAME FIELD COMMAND...: runs the command and prints the field of its RESULT line, beside the rung before.
before=
rung() {
  local name=$1 field=$2 ms gain=
  shift 2
  ms=$($U "$@" 2>/dev/null | grep -o "$field=[0-9.]*" | cut -d= -f2)
  [[ -z $before ]] || gain=$(awk "BEGIN { printf \"%.2f\", $before / $ms }")
  printf '| %s | %.1f | %s | `%s` |\n' "$name" "$ms" "$gain" "${*/#$T/tardygrad}"
  before=$ms
}

ours=("$T" bench step --model lenet --seconds "$S")
echo '| rung | ms a step | times faster than the rung before | command |'
echo '|---|---|---|---|'
rung 'loops over pixels and channels' cpu_ms "${ours[@]}" --device plain
rung 'patches copied out (im2col), products by oneDNN' cpu_ms "$B/im2col_step" --budget="$S"
rung "oneDNN's convolutions, channels first" cpu_ms "$B/lim_dnn" --layout=nchw --budget="$S" lenet
rung 'the same, blocked inside, reordered around each' cpu_ms "$B/lim_dnn" --layout=wrap --budget="$S" lenet
rung 'channels last' cpu_ms "$B/lim_dnn" --layout=nhwc --budget="$S" lenet
rung 'tardygrad, memory given back after each step' cpu_ms "${ours[@]}" --trim
rung 'tardygrad, memory kept in its pool' cpu_ms "${ours[@]}"
rung 'two threads' med_ms "${ours[@]}" --threads 2
