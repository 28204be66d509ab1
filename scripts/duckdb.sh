#!/bin/sh
# Prints where DuckDB's library is, by which the command reads Parquet, for tests: the one that
# TANDEM_DUCKDB names, or the module of Python's duckdb, at the version and digests in
# scripts/duckdb.txt, fetched into build/duckdb. Usage: scripts/duckdb.sh [--there]; with --there
# nothing is fetched. Prints nothing where there is none.
set -eu
cd "$(dirname "$0")/.."
if [ -n "${TANDEM_DUCKDB:-}" ]; then
  echo "$TANDEM_DUCKDB"
  exit 0
fi
work=build/duckdb
wanted=$(cat scripts/duckdb.txt)
python=${TANDEM_PYTHON:-/usr/bin/python3}
[ -x "$python" ] || python=$(command -v python3)
if [ "$(cat "$work/wanted" 2>/dev/null)" != "$wanted" ] && [ "${1:-}" != --there ]; then
  mkdir -p "$work"
  {
    [ -x "$work/pip/bin/python" ] || "$python" -m venv "$work/pip"
    rm -rf "$work/module"
    # Refused where a byte of it is another.
    "$work/pip/bin/python" -m pip install -q --disable-pip-version-check --no-deps \
      --only-binary :all: --require-hashes -r scripts/duckdb.txt --target "$work/module"
    # The module asks for Python's own library, which it finds beside itself.
    libdir=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("LIBDIR"))')
    name=$("$python" -c 'import sys; print("libpython3.%d.so.1.0" % sys.version_info[1])')
    for folder in "$libdir" "/usr/lib/$(uname -m)-linux-gnu" /usr/lib64 /usr/lib; do
      [ ! -f "$folder/$name" ] || { ln -sf "$folder/$name" "$work/module/$name"; break; }
    done
    echo "$wanted" >"$work/wanted"
  } >"$work/log" 2>&1 || true
fi
for module in "$work"/module/_duckdb.*.so; do
  [ ! -f "$module" ] || echo "$PWD/$module"
done
