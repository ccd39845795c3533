# Sourced by tests/run, tutorials/run and .ci/run: from a bare Debian 12 to a compiled build folder.
# Every function either succeeds or ends the script with the one thing to do.

packages=(
  g++ meson ninja-build pkgconf python3
  libdnnl-dev libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev librandom123-dev
  libgnuplot-iostream-dev gnuplot-nox libboost-test-dev
  dataset-fashion-mnist
)

die() {
  printf '\n%s: %s\n' "${program:-setup}" "$1" >&2
  exit 1
}

# The processor has what x86-64-v3 adds. Other architectures are compiled for as they are.
check_cpu() {
  local cpuinfo=${1:-/proc/cpuinfo} flags feature
  [[ $(uname -m) == x86_64 && -r $cpuinfo ]] || return 0
  flags=" $(grep -m1 '^flags' "$cpuinfo") "
  for feature in avx2 fma bmi1 bmi2 f16c movbe abm; do
    [[ $flags == *" $feature "* ]] ||
      die "this processor lacks '$feature': use one of level x86-64-v3 (Intel since 2013, AMD since 2015)."
  done
}

missing_packages() {
  local installed package
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
  for package in "${packages[@]}"; do
    [[ $'\n'$installed$'\n' == *$'\n'"$package installed"$'\n'* ]] || printf '%s ' "$package"
  done
}

# install_packages [--no-install]: brings the packages that are not there. Where nothing is missing, apt is not touched.
install_packages() {
  local missing as_root=() updated=yes apt
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    [[ ${1:-} == --no-install ]] && return
    die "this is no Debian (no apt-get): install by your own means what Debian 12 calls ${packages[*]}, then use --no-install."
  fi
  missing=$(missing_packages)
  [[ -n $missing ]] || return 0
  if [[ ${1:-} == --no-install ]]; then
    die "not installed: ${missing% }. Leave out --no-install, or run: apt-get install --no-install-recommends ${missing% }"
  fi
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null ||
      die "you are not root and there is no sudo: run as root: apt-get install --no-install-recommends ${missing% }"
    as_root=(sudo)
  fi
  echo "Installing: ${missing% }"
  apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3)
  # Lists that cannot be fetched now may still be there from earlier, so only the installation decides.
  "${apt[@]}" -o APT::Update::Error-Mode=any update || updated=no
  # shellcheck disable=SC2086 # one word per package
  "${apt[@]}" install --no-install-recommends $missing && return
  [[ $updated == yes ]] || die "the package servers were not reached: connect this machine to the network, then run this again."
  die "apt-get failed, for the reason printed above: repair that, then run this again."
}

check_compiler() {
  local compiler=${CXX:-c++} architecture=()
  [[ $(uname -m) != x86_64 ]] || architecture=(-march=x86-64-v3)
  # shellcheck disable=SC2086 # CXX may be "ccache g++"
  $compiler -std=c++20 "${architecture[@]}" -fsyntax-only -x c++ - 2>/dev/null <<<'
    #if defined(__clang__) ? __clang_major__ < 14 : __GNUC__ < 12
    #error
    #endif
    #include <span>' ||
    die "'$compiler' is no C++ compiler that will do: set CXX=g++-12 (or any newer g++, or clang++ 14), or unset it."
}

# As many compilers as cores, but each may need 1 GiB.
compile_jobs() {
  local cores gigabytes
  cores=$(nproc)
  gigabytes=$(awk '/^MemAvailable/ { print int($2 / 1048576) }' "${1:-/proc/meminfo}")
  echo $((gigabytes < 1 ? 1 : gigabytes < cores ? gigabytes : cores))
}

# configure FOLDER [meson options]: once; the options matter in a new folder only.
configure() {
  [[ -f $1/build.ninja ]] || meson setup "$1" "$root" "${@:2}" ||
    die "meson could not configure $1, for the reason printed above."
}

# compile FOLDER [targets]
compile() {
  ninja -C "$1" -j "$(compile_jobs)" "${@:2}" || die "the compilation failed, at the first error printed above."
}

# run_tests FOLDER usual|all [options of meson test]: runs and counts them; the last line is the count.
run_tests() {
  rm -f "$1"/tests/*.xml "$1"/meson-logs/testlog*.json
  # The verdict is the count's: it also knows of programs that crashed or wrote no result.
  meson test -C "$1" --no-rebuild --print-errorlogs --setup "$2" "${@:3}" </dev/null || true
  python3 "$root/tests/count_results.py" "$1" "$2"
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
