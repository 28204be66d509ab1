#!/bin/sh
# Figure 3 of the DualQuery paper: error and time on KDD99 at (1, .001) against the number of
# conjunctions, 40,000 to 2 million, `perturb` beside it. The authors' T, eta and s; the default
# rule as well, but for quick. Usage: 002-3.sh [SEEDS | --quick]; results go to build/papers/002-3.
# Quick is one seed and up to 500,000 conjunctions. Ends with 1 when a line is red.
set -eu
cd "$(dirname "$0")/../.."
tandem=build/tandem
seeds=${1:-5} numbers='40000 200000 500000 1000000 2000000' out=build/papers/002-3
mechanisms=dual-query:rounds=170:rate=1.2:draws=1750,perturb
if [ "$seeds" = --quick ]; then seeds=1 numbers='40000 200000 500000' out=$out-quick
else mechanisms=$mechanisms,dual-query; fi
[ -n "${TANDEM_DATA:-}" ] || { echo "papers: set TANDEM_DATA to the folder of the real data" >&2; exit 2; }
mkdir -p "$out"
# One draw in one round that is paid for: that is how long it takes to count the conjunctions.
counting=dual-query:rounds=2:rate=0.001:draws=1
for number in $numbers; do
  "$tandem" compare --private "$TANDEM_DATA/kdd99/kdd99-binned.csv.gz" \
    --schema "$TANDEM_DATA/kdd99/kdd99-binned-domain.json" --mechanisms "$mechanisms,$counting" \
    --epsilons 1 --delta 0.001 --seeds "$seeds" --workload "conjunctions:3:$number:1:signed" \
    --threads 1 --out "$out/$number" --resume > "$out/$number.log" 2>&1 ||
    { cat "$out/$number.log" >&2; exit 1; }
done

PYTHONPATH=scripts/papers PYTHONDONTWRITEBYTECODE=1 python3 - "$out" $numbers <<'PY'
import sys
from lines import done, line, means
out, numbers = sys.argv[1], [int(n) for n in sys.argv[2:]]
results = {n: {k[:2]: r for k, r in means(f"{out}/{n}/results.csv").items()} for n in numbers}
counting = ("dual-query", "rounds=2 rate=0.001 draws=1")
perturb = ("perturb", "")
def column(key, what): return [results[n][key][what] for n in numbers]
count = column(counting, "seconds")
for key in results[numbers[0]]:
    if key in (counting, perturb): continue
    name = "the default rule" if key[1] == "" else "the authors' parameters"
    mean, largest = column(key, "model_mean_error"), column(key, "model_max_error")
    time = column(key, "seconds")
    alone = [t - c for t, c in zip(time, count)]
    for n, m, x, t, a, p in zip(numbers, mean, largest, time, alone, column(perturb, "model_mean_error")):
        print(f"       {name}, {n:,} conjunctions: mean {m:.5f}, max {x:.4f}, {t:.1f} s, {a:.1f} s of them "
              f"without counting; perturb's mean {p:.5f}")
    line(max(mean) <= 1.25 * min(mean), f"{name}: the mean error stays within 25% (the paper: mostly stable)")
    line(max(largest) <= 1.5 * min(largest), f"{name}: the largest error stays within half (the paper: mostly stable)")
    slope = (alone[-1] - alone[0]) / (numbers[-1] - numbers[0])
    off = max(abs(a - (alone[0] + slope * (n - numbers[0]))) / a for n, a in zip(numbers, alone))
    line(slope > 0 and off <= .25, f"{name}: time grows as a line, {1e6 * slope:.1f} s for a million more, "
         f"off by at most {100 * off:.0f}%")
    line(alone[-1] / alone[0] <= numbers[-1] / numbers[0], f"{name}: never faster than the number of conjunctions")
    line(all(m < p for m, p in zip(mean, column(perturb, "model_mean_error"))),
         f"{name}: below perturb's error at every number (the paper: improved against perturbation)")
p = column(perturb, "model_mean_error")
growth, root = p[-1] / p[0], (numbers[-1] / numbers[0]) ** .5
line(abs(growth / root - 1) <= .1, f"perturb's error grows {growth:.2f} times, the root of the number {root:.2f}")
done()
PY
