#!/bin/sh
# Figure 4 of the DualQuery paper: error and time at (1, .001) on 100,000 conjunctions of made-up
# tables with 50 to 512,000 independent bits and 100,000 rows, by the authors' rate and draws and as
# many rounds as zCDP pays for. Usage: 002-4.sh [SEEDS | --quick]; results go to build/papers/002-4.
# Quick is one seed of 1,000 and 16,000 bits. Ends with 1 when a line is red.
set -eu
cd "$(dirname "$0")/../.."
seeds=${1:-3} out=build/papers/002-4
columns='50 250 500 1000 2000 4000 8000 16000 32000 64000 128000 512000'
[ "$seeds" != --quick ] || { seeds=1 out=$out-quick columns='1000 16000'; }
mkdir -p "$out"
cmake --preset release -DTANDEM_TESTS=ON > "$out/build.log" 2>&1 &&
  cmake --build build/release --target wide_figure >> "$out/build.log" 2>&1 || { cat "$out/build.log" >&2; exit 1; }
program=build/release/bench/wide_figure
[ -x "$program" ] || { echo "papers: $program was not built; see $out/build.log" >&2; exit 1; }
"$program" > "$out/results.csv"
for number in $columns; do
  seed=1
  while [ "$seed" -le "$seeds" ]; do
    "$program" "$number" "$seed" >> "$out/results.csv"
    seed=$((seed + 1))
  done
done

PYTHONPATH=scripts/papers PYTHONDONTWRITEBYTECODE=1 python3 - "$out/results.csv" <<'PY'
import csv, sys
from collections import defaultdict
from lines import done, line
rows = defaultdict(list)
with open(sys.argv[1], newline="") as file:
    for row in csv.DictReader(file):
        rows[int(row["columns"])].append({k: float(v) for k, v in row.items()})
figure = {n: {k: sum(r[k] for r in some) / len(some) for k in some[0]} for n, some in sorted(rows.items())}
for n, r in figure.items():
    print(f"       {n:,} bits: T {r['rounds']:.0f}, s {r['draws']:.0f}, max {r['max_error']:.3f}, mean "
          f"{r['mean_error']:.4f} (one answer to all: {r['constant_mean_error']:.4f}), {r['seconds']:.1f} s "
          f"beside {r['counting_seconds']:.1f} s of counting, {r['peak_mb']:.0f} MB")
widest = max(figure)
line(widest == 512000 or "quick" in sys.argv[1], f"runs up to {widest:,} bits (the paper: 512,000)")
line(all(r["seconds"] < 1800 for r in figure.values()),
     "never takes more than half an hour beside counting (the paper: about 30 minutes at 512,000)")
line(all(r["counting_seconds"] < 3600 for r in figure.values()), "counts within an hour (the paper: hours)")
line(all(r["mean_error"] < r["constant_mean_error"] for r in figure.values()),
     "useful answers at every width: the mean error is below that of one answer to all")
line(all(r["max_error"] < .5 for r in figure.values()), "no answer is off by a half at any width")
line(all(r["seconds"] < 180 and r["peak_mb"] < 8192 for r in figure.values()),
     "ours: within 3 minutes beside counting, and 8 GB")
done()
PY
