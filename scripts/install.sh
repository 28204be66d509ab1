#!/bin/sh
# Installs what tandem needs, from Debian's or Ubuntu's packages: the only place that installs
# anything. Usage: scripts/install.sh [--missing] GROUP...   with groups: build test lint fuzz bare
# evidence python solvers, of which the last is optional: it certifies best responses and least misfits.
# Does nothing, and needs no rights, when everything is there. With --missing it only prints what
# it would install, on one line.
set -eu

python_library() {
  [ ! -x /usr/bin/python3 ] ||
    /usr/bin/python3 -c 'import sys; print("libpython3.%d" % sys.version_info[1])'
}

packages() {
  case "$1" in
    build) echo "g++ cmake ninja-build ccache libfmt-dev libcli11-dev nlohmann-json3-dev \
      libtomlplusplus-dev zlib1g-dev libssl-dev libsqlite3-dev libboost-dev libeigen3-dev python3" ;;
    test)  echo "libgtest-dev libgmock-dev librapidcheck-dev libbenchmark-dev" ;;
    lint)  echo "clang clang-format clang-tidy" ;;
    fuzz)  echo "clang llvm libclang-rt-dev" ;;
    evidence) echo "gcovr" ;;
    bare)  echo "debootstrap" ;;
    # Python's shared library: the module of its duckdb, by which the command reads Parquet, asks for it.
    python) echo "python3-venv postgresql openjdk-17-jre-headless $(python_library)" ;;
    solvers) echo "coinor-cbc coinor-libclp-dev" ;;
    *) echo "install.sh: unknown group '$1'; known: build test lint fuzz evidence bare python solvers" >&2; exit 2 ;;
  esac
}

only_say=
if [ "${1:-}" = --missing ]; then
  only_say=yes
  shift
fi

wanted=
for group in "$@"; do
  wanted="$wanted $(packages "$group")"
done

by_hand() {
  echo "$1: install by hand the equivalents of:" $wanted >&2
  exit 1
}

if ! command -v dpkg-query >/dev/null 2>&1; then
  [ -z "$only_say" ] || exit 0
  # Not a Debian: trust that the tools are there if the compiler and CMake are.
  command -v cmake >/dev/null 2>&1 && command -v c++ >/dev/null 2>&1 && exit 0
  by_hand "This machine has no dpkg"
fi

missing=
for package in $wanted; do
  case "$missing " in *" $package "*) continue ;; esac
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ -n "$only_say" ]; then
  echo $missing
  exit 0
fi

if [ "$(id -u)" = 0 ]; then
  as_root=
elif command -v sudo >/dev/null 2>&1; then
  as_root="sudo -n"
else
  by_hand "Packages are missing, and this is neither root nor a machine with sudo"
fi

echo "Installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { $as_root apt-get update &&
       $as_root env DEBIAN_FRONTEND=noninteractive \
         apt-get install -y --no-install-recommends $missing; } </dev/null >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  by_hand "apt-get failed"
fi
