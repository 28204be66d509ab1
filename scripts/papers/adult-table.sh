#!/bin/sh
# Every mechanism on ADULT: the largest and the mean error of the cells of all three-way marginals,
# the mean L1 error of the marginals, and time; 'refused' where a mechanism can't or won't.
# Usage: scripts/papers/adult-table.sh [--quick] [SEEDS] [EPSILON]; results go to
# build/papers/adult-table, where the table is too.
set -eu
cd "$(dirname "$0")/../.."
tandem=build/tandem
out=build/papers/adult-table
seeds=5
if [ "${1:-}" = --quick ]; then
  shift
  seeds=1
fi
seeds=${1:-$seeds}
epsilon=${2:-1}
[ -n "${TANDEM_DATA:-}" ] || { echo "papers: set TANDEM_DATA to the folder of the real data" >&2; exit 2; }
data=$TANDEM_DATA/jam/adult_pub025
mkdir -p "$out"
"$tandem" mechanisms --json |
  python3 -c 'import json, sys; print(*[m["name"] for m in json.load(sys.stdin)["mechanisms"]])' > "$out/names"
for mechanism in $(cat "$out/names") tandem:use-public=false jam-pgm:as=paper:max-model-mb=8 \
  mw-pub:as=paper mw-pub:rounds=0 mwem-pub:as=paper gem:generator=rows gem-pub:generator=rows; do
  to=$out/$(echo "$mechanism-$epsilon" | tr ':=' '--')
  [ -f "$to/results.csv" ] && [ "$(wc -l < "$to/results.csv")" -gt "$seeds" ] ||
    "$tandem" compare --private "$data/priv.csv" --public "$data/pub.csv" --schema "$data/domain.json" \
      --mechanisms "$mechanism" --epsilons "$epsilon" --seeds "$seeds" --force --quiet --threads 1 \
      --out "$to" > "$to.log" 2>&1 || echo "$mechanism: $(tail -n 1 "$to.log")" >&2
done
python3 - "$out" "$epsilon" "$seeds" <<'TABLE' | tee "$out/table-$epsilon.md"
import csv, pathlib, statistics, sys
root, epsilon, seeds = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
rows, refused = [], []
for log in sorted(root.glob(f"*-{epsilon}.log")):
    results = log.with_suffix("") / "results.csv"
    runs = []
    if results.exists():
        with open(results, newline="") as file:
            runs = [r for r in csv.DictReader(file) if r["rows_max_error"]]
    if not runs:
        if results.exists():  # the comparison went through without it
            refused.append(log.stem.removesuffix(f"-{epsilon}"))
        continue
    mean = lambda key: statistics.mean(float(r[key]) for r in runs)
    who = ":".join(p for p in (runs[0]["mechanism"], runs[0]["parameters"].replace(" ", ":")) if p)
    rows.append((mean("rows_avg_error"), who, mean("rows_max_error"), mean("rows_mean_error"),
                 mean("seconds"), len(runs)))
print("| mechanism | largest error of a cell | mean error of a cell | mean L1 of a marginal | seconds |")
print("|---|---|---|---|---|")
for l1, who, most, average, seconds, count in sorted(rows):
    print(f"| `{who}` | {most:.4f} | {average * 1e5:.2f}e-5 | {l1:.3f} | {seconds:.1f} |")
for who in refused:
    print(f"| `{who}` | refused | | | |")
TABLE
