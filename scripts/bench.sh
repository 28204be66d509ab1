#!/bin/sh
# Runs the benchmarks whose name holds the given word (all without one) and prints their ratios.
set -eu
cd "$(dirname "$0")/.."
word=${1:-}
for program in build/release/bench/*_bench; do
  case "$(basename "$program")" in
    *"$word"*) printf '\n== %s\n' "$(basename "$program")"; "$program" ;;
  esac
done
