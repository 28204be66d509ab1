#!/bin/sh
# Installs a build into a folder of its own, then builds and runs tests/programs/outside with it, as
# somebody would who has only the package. Usage: scripts/install_test.sh BUILD-FOLDER
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
prefix=$build/installed
rm -rf "$prefix" "$build/outside"
cmake --install "$build" --prefix "$prefix" >"$build/install.log"
cmake -S tests/programs/outside -B "$build/outside" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_PREFIX_PATH="$prefix" >"$build/outside.log"
cmake --build "$build/outside" >>"$build/outside.log" || { cat "$build/outside.log" >&2; exit 1; }
said=$("$build/outside/outside")
echo "$said"
case $said in
  '2000 rows, '*' smoke') ;;
  *) echo "install_test: the program outside the tree said something else" >&2; exit 1 ;;
esac
