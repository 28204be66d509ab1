#!/bin/sh
# Runs every fuzz target in build/fuzz for so many seconds, from its corpus in fuzz/corpus and what
# earlier runs added. One line a target; fails on a crash and says where the input that causes it is.
# Usage: scripts/fuzz.sh SECONDS [TARGET...]
set -eu
cd "$(dirname "$0")/.."

seconds=${1:?usage: scripts/fuzz.sh SECONDS [TARGET...]}
shift
case $seconds in
  '' | *[!0-9]*) echo "fuzz.sh: $seconds is not a number of seconds" >&2; exit 2 ;;
esac
[ $# -gt 0 ] || set -- $(cd build/fuzz && ls -d -- *_fuzz 2>/dev/null)
[ $# -gt 0 ] || { echo "fuzz.sh: build/fuzz has no targets; run './run fuzz'." >&2; exit 2; }

broken=0
for target in "$@"; do
  name=${target%_fuzz}
  corpus=build/fuzz/corpus/$name
  found=build/fuzz/found/$name
  log=build/fuzz/$name.log
  mkdir -p "$corpus" "$found"
  [ ! -d "fuzz/corpus/$name" ] || cp -R "fuzz/corpus/$name/." "$corpus/"
  rm -f "$found"/*
  if "build/fuzz/$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 -artifact_prefix="$found/" \
    "$corpus" >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$name: no crash in ${runs:-?} runs"
  else
    broken=1
    input=$(ls -d -- "$found"/* 2>/dev/null | head -n 1)
    echo "$name: CRASH, see $log; again with: build/fuzz/$target ${input:-(no input was kept)}"
  fi
done
exit $broken
