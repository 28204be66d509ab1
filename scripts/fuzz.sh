#!/bin/sh
# Runs every fuzz target in build/fuzz for so many seconds, from its corpus in fuzz/corpus and what
# earlier runs added. One line a target; fails on a crash and says where the input that causes it is.
# With --cpu the seconds are of CPU time, and a target is begun again until it has had them.
# What each run took is kept in build/fuzz/hours.tsv: date, commit, target, CPU seconds, runs,
# findings. docs/evidence.md has the sums.
# Usage: scripts/fuzz.sh [--cpu] SECONDS [TARGET...]
set -eu
cd "$(dirname "$0")/.."

usage="usage: scripts/fuzz.sh [--cpu] SECONDS [TARGET...]"
of_cpu=
if [ "${1:-}" = --cpu ]; then
  of_cpu=yes
  shift
fi
seconds=${1:?$usage}
shift
case $seconds in
  '' | *[!0-9]*) echo "fuzz.sh: $seconds is not a number of seconds" >&2; exit 2 ;;
esac
folder=${TANDEM_FUZZ_BUILD:-build/fuzz}
[ $# -gt 0 ] || set -- $(cd "$folder" && ls -d -- *_fuzz 2>/dev/null)
[ $# -gt 0 ] || { echo "fuzz.sh: $folder has no targets; run './run fuzz'." >&2; exit 2; }
hours=build/fuzz/hours.tsv
commit=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain -- src apps fuzz 2>/dev/null)" ] || commit=$commit+
[ -f "$hours" ] || printf 'date\tcommit\ttarget\tcpu seconds\truns\tfindings\n' >"$hours"

# cpu_of_children: sets `spent` to the CPU seconds of all that this shell has waited for.
cpu_of_children() {
  times >build/fuzz/times  # not in a pipe, where it would tell of another shell
  spent=$(sed -n '2{s/[ms]/ /g;p;}' build/fuzz/times | awk '{ printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }')
}

broken=0
for target in "$@"; do
  name=${target%_fuzz}
  corpus=build/fuzz/corpus/$name
  found=build/fuzz/found/$name
  log=build/fuzz/$name.log
  mkdir -p "$corpus" "$found"
  [ ! -d "fuzz/corpus/$name" ] || cp -R "fuzz/corpus/$name/." "$corpus/"
  rm -f "$found"/*
  left=$seconds all=0 crashed=
  while [ "$left" -gt 0 ] && [ -z "$crashed" ]; do
    cpu_of_children
    before=$spent
    some=$left  # with --cpu in parts, so that little is lost when it is stopped
    [ -z "$of_cpu" ] || [ "$some" -le 600 ] || some=600
    "$folder/$target" -max_total_time="$some" -max_len=4096 -len_control=20 -timeout=10 \
      -rss_limit_mb=2048 -print_final_stats=1 -verbosity=1 -artifact_prefix="$found/" \
      "$corpus" >"$log" 2>&1 || crashed=yes
    cpu_of_children
    cpu=$((spent - before))
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    findings=$(ls -- "$found" | wc -l)
    [ -z "$crashed" ] || [ "$findings" != 0 ] || findings=1
    printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%Y-%m-%d)" "$commit" "$name" "$cpu" \
      "${runs:-0}" "$findings" >>"$hours"
    all=$((all + ${runs:-0}))
    [ -n "$of_cpu" ] || break
    [ "$cpu" -gt 0 ] || cpu=1
    left=$((left - cpu))
  done
  if [ -z "$crashed" ]; then
    echo "$name: no crash in $all runs"
  else
    broken=1
    input=$(ls -d -- "$found"/* 2>/dev/null | head -n 1)
    echo "$name: CRASH, see $log; again with: $folder/$target ${input:-(no input was kept)}"
  fi
done
exit $broken
