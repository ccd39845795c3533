#!/bin/bash
# tardygrad's training step beside the bare oneDNN program and libtorch with memory kept, interleaved; ratios to the bare program.
# Usage: compare_ours.sh TARDYGRAD [THREADS] [ROUNDS] [SECONDS] [MODEL...]     (after `make`; with 2 threads judge by wall time)
T=$(realpath "${1:?usage: compare_ours.sh TARDYGRAD [THREADS] [ROUNDS] [SECONDS] [MODEL...]}")
cd "$(dirname "$0")" && . ./env.sh
B=${B:-build}; N=${2:-1}; R=${3:-5}; S=${4:-1}
shift $(($# < 4 ? $# : 4))
MODELS=${*:-mlp lenet}
pictures=() commands=()
for model in $MODELS; do
  [ "$model" = lstm ] && commands+=(-- $U $B/lim_lstm --threads="$N" --budget="$S") || pictures+=("$model")
done
[ ${#pictures[@]} -gt 0 ] && commands+=(-- $U $B/lim_dnn --layout=nhwc --threads="$N" --budget="$S" "${pictures[@]}")
for model in $MODELS; do commands+=(-- $T bench step --model "$model" --threads "$N" --seconds "$S"); done
exec $B/side --rounds="$R" "${commands[@]}" \
  -- $U $KEEP OPENBLAS_NUM_THREADS=$N $B/peer_torch --threads="$N" --budget="$S" --tag=_keep $MODELS
