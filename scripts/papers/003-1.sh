#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Figure 1 of the prior-aware paper: the contest's score of rows made group by group, on all pairs of
# columns, in four settings. (a) Massachusetts 2018 and 2019 by PUMA and year, public: the same rows
# without these keys, the paper's own best case; (b) the same, public: the country; (c) the country's
# twenty areas, public: Massachusetts; (d) 2,000 made-up groups of 2 million rows.
# Usage: 003-1.sh [SEEDS | --quick]. Results, page and heat maps go to build/papers/003-1. Ends with 1
# when a line is red. (d) has one seed, and is left out with --quick.
set -eu
cd "$(dirname "$0")/../.."
tandem=build/tandem
seeds=${1:-5}
quick=
[ "$seeds" != --quick ] || { seeds=1 quick=1; }
out=build/papers/003-1
[ -n "${TANDEM_DATA:-}" ] || { echo "papers: set TANDEM_DATA to the folder of the real data" >&2; exit 2; }
acs=$TANDEM_DATA/acs
mkdir -p "$out"
results=$out/results.csv
echo "setting,trust,epsilon,seed,error,penalised,groups,seconds" > "$results"

awk 'NR == 1 { print $0 ",YEAR"; next } { print $0 ",2018" }' "$acs/ma2018.csv" > "$out/private.csv"
awk 'NR > 1 { print $0 ",2019" }' "$acs/ma2019.csv" >> "$out/private.csv"
{ cat "$acs/ma2018.csv"; tail -n +2 "$acs/ma2019.csv"; } > "$out/both.csv"
cut -d, -f2- "$out/both.csv" > "$out/a.csv"
cut -d, -f2- "$acs/national2019.csv" > "$out/b.csv"
cp "$out/a.csv" "$out/c.csv"
# The codes of these published tables: the schemas are drafted from them, which no private table
# allows.
for name in private both; do
  "$tandem" schema --public "$out/$name.csv" --codebook "$acs/data_dictionary.json" \
    --out "$out/$name.toml" --force --quiet > "$out/$name.log" 2>&1
done
[ -n "$quick" ] || [ -f "$out/groups/states.csv" ] || python3 scripts/make_groups.py "$out/groups"

# setting NAME: private, public, schema, key and further parameters.
setting() {
  more=
  case $1 in
    a | b) private=$out/private.csv schema=$out/private.toml key=PUMA,YEAR public=$out/$1.csv ;;
    c) private=$acs/national2019.csv schema=$out/both.toml key=PUMA public=$out/c.csv ;;
    d) private=$out/groups/private.csv schema=$out/groups/schema.toml key=AREA,YEAR
       public=$out/groups/public.csv more="--param coarse=$out/groups/states.csv" ;;
  esac
}

# scored SETTING TRUST EPSILON SEED ROWS SECONDS: adds a line to the results.
scored() {
  "$tandem" evaluate --private "$private" --synthetic "$5" --schema "$schema" --workload all-1way \
    --group-by "$key" --pairs all --count-penalty 250 --heat-map "$out/$1-$2-$3-$4.svg" --force --json \
    --quiet | python3 -c '
import json, sys
found = json.load(sys.stdin)["contest"]
print(*sys.argv[1:5], found["error"], found["penalised"], len(found["groups"]), sys.argv[5], sep=",")
' "$1" "$2" "$3" "$4" "$6" >> "$results"
  # These tables are published.
  sed -i '/>INTERNAL: /d' "$out/$1-$2-$3-$4.svg"
}

# made SETTING TRUST EPSILON SEED: a release, scored.
made() {
  setting "$1"
  to=$out/release
  case $2 in learnt) as= ;; paper) as="--param as=paper" ;; *) as="--param trust=$2" ;; esac
  start=$(date +%s)
  # shellcheck disable=SC2086
  "$tandem" synth --private "$private" --public "$public" --schema "$schema" --workload all-2way \
    --mechanism grouped --param "fine=$key" $more $as --epsilon "$3" --delta 0 \
    --neighbors add-remove --certify-share 0 --seed "$4" --out "$to" --force --quiet \
    > "$out/release.log" 2>&1 || { cat "$out/release.log" >&2; exit 1; }
  scored "$1" "$2" "$3" "$4" "$to/synthetic.csv" $(($(date +%s) - start))
  rm -rf "$to"
}

# drawn SETTING: as many public rows for each group as it has, drawn as they are.
drawn() {
  setting "$1"
  python3 - "$private" "$public" "$key" "$out/drawn.csv" << 'END'
import csv, random, sys
private, public, key, out = sys.argv[1:]
rng = random.Random(1)
with open(public, newline="") as file:
    columns, *rows = csv.reader(file)
with open(private, newline="") as file, open(out, "w", newline="") as to:
    writer = csv.writer(to, lineterminator="\n")
    keys = key.split(",")
    writer.writerow(keys + columns)
    for row in csv.DictReader(file):
        writer.writerow([row[k] for k in keys] + rng.choice(rows))
END
  scored "$1" drawn 0 1 "$out/drawn.csv" 0
  rm "$out/drawn.csv"
}

for name in a b c; do
  drawn "$name"
  for epsilon in 10 1; do
    seed=1
    while [ "$seed" -le "$seeds" ]; do
      made "$name" learnt "$epsilon" "$seed"
      seed=$((seed + 1))
    done
    made "$name" full "$epsilon" 1
    made "$name" paper "$epsilon" 1
  done
done
if [ -z "$quick" ]; then
  drawn d
  for epsilon in 10 1; do
    for trust in learnt full paper; do made d "$trust" "$epsilon" 1; done
  done
fi

python3 - "$out" << 'END'
import collections, csv, pathlib, statistics, sys
out = pathlib.Path(sys.argv[1])
runs = collections.defaultdict(list)
off = collections.Counter()
seconds = collections.defaultdict(list)
with open(out / "results.csv", newline="") as file:
    for row in csv.DictReader(file):
        key = row["setting"], row["trust"], float(row["epsilon"])
        runs[key].append(float(row["error"]))
        off[key] += int(row["penalised"])
        seconds[key].append(int(row["seconds"]))
red = 0
lines = ["| | what is said | measured |", "|---|---|---|"]


def line(holds, sentence, measured):
    global red
    red += not holds
    print(("green  " if holds else "red    ") + f"{sentence}: {measured}")
    lines.append(f"| {'green' if holds else '**red**'} | {sentence} | {measured} |")


def spread(key):
    found = runs[key]
    return f"{statistics.mean(found):.3f} ({min(found):.3f} to {max(found):.3f})"


for name, epsilon, most in (("a", 10, .25), ("a", 1, .39), ("b", 10, .40), ("b", 1, .555)):
    key = name, "learnt", float(epsilon)
    line(statistics.mean(runs[key]) <= most, f"({name}) at epsilon {epsilon}: a mean of at most {most}",
         spread(key))
for name in "ab":
    line(off[name, "learnt", 10.0] == 0, f"({name}) no group pays the count penalty at epsilon 10",
         f"{off[name, 'learnt', 10.0]} do")
table = ["| setting | epsilon | learnt trust | full trust | as the paper | public rows as they are |",
         "|---" * 6 + "|"]
for name in "abcd":
    for epsilon in (10.0, 1.0):
        if (name, "learnt", epsilon) not in runs:
            continue
        cells = [spread((name, "learnt", epsilon))]
        cells += [f"{statistics.mean(runs[name, trust, epsilon]):.3f}" for trust in ("full", "paper")]
        cells += [f"{statistics.mean(runs[name, 'drawn', 0.0]):.3f}"]
        print(f"({name})", f"{epsilon:g}", *cells, f"{statistics.mean(seconds[name, 'learnt', epsilon]):.0f} s")
        table.append(f"| ({name}) | {epsilon:g} | " + " | ".join(cells) + " |")
pictures = []
for name in "abcd":
    path = out / f"{name}-learnt-10-1.svg"
    if path.exists():
        path.rename(out / f"{name}.svg")
        pictures += [f"![Error of each group in setting ({name}) at epsilon 10, seed 1]({name}.svg)", ""]
for path in out.glob("[abcd]-*.svg"):
    path.unlink()
(out / "page.md").write_text("\n".join(pictures + lines + [""] + table) + "\n", encoding="utf-8")
sys.exit(1 if red else 0)
END
