#!/bin/sh
# Figure 1 of the prior-aware paper, in settings (a) and (b): Massachusetts 2018 and 2019 by PUMA and
# year, with the same rows without these keys as public data, and with the country's. The contest's
# score of the made rows on all pairs of columns. Usage: 003-1.sh [SEEDS | --quick]; results and
# heat maps go to build/papers/003-1. Ends with 1 when a line is red.
set -eu
cd "$(dirname "$0")/../.."
tandem=build/tandem
seeds=${1:-5}
[ "$seeds" != --quick ] || seeds=1
out=build/papers/003-1
[ -n "${TANDEM_DATA:-}" ] || { echo "papers: set TANDEM_DATA to the folder of the real data" >&2; exit 2; }
acs=$TANDEM_DATA/acs
mkdir -p "$out"

awk 'NR == 1 { print $0 ",YEAR"; next } { print $0 ",2018" }' "$acs/ma2018.csv" > "$out/private.csv"
awk 'NR > 1 { print $0 ",2019" }' "$acs/ma2019.csv" >> "$out/private.csv"
{ cat "$acs/ma2018.csv"; tail -n +2 "$acs/ma2019.csv"; } | cut -d, -f2- > "$out/a.csv"
cut -d, -f2- "$acs/national2019.csv" > "$out/b.csv"
# The codes of these published tables: the schema is drafted from them, which no private table allows.
"$tandem" schema --public "$out/private.csv" --codebook "$acs/data_dictionary.json" \
  --out "$out/schema.toml" --force --quiet > "$out/schema.log" 2>&1

# errors SETTING EPSILON: 'ERROR PENALISED' of each seed.
errors() {
  seed=1
  while [ "$seed" -le "$seeds" ]; do
    to=$out/$1-$2-$seed
    "$tandem" synth --private "$out/private.csv" --public "$out/$1.csv" --schema "$out/schema.toml" \
      --workload all-2way --mechanism grouped --param fine=PUMA,YEAR --epsilon "$2" --delta 0 \
      --neighbors add-remove --certify-share 0 --seed "$seed" --out "$to" --force --quiet \
      > "$to.log" 2>&1 || { cat "$to.log" >&2; exit 1; }
    "$tandem" evaluate --private "$out/private.csv" --synthetic "$to/synthetic.csv" \
      --schema "$out/schema.toml" --workload all-1way --group-by PUMA,YEAR --pairs all \
      --count-penalty 250 --heat-map "$to.heat.csv" --json --quiet |
      python3 -c 'import json, sys; c = json.load(sys.stdin)["contest"]; print(c["error"], c["penalised"], len(c["groups"]))'
    rm -rf "$to"
    seed=$((seed + 1))
  done
}

bad=0
# line SETTING EPSILON LIMIT: the mean over seeds against its limit; no penalty at epsilon 10.
line() {
  errors "$1" "$2" > "$out/$1-$2.txt"
  awk -v what="($1) epsilon $2" -v most="$3" -v strict="$([ "$2" = 10 ] && echo 1 || echo 0)" '
    { sum += $1; n++; off += $2; if (n == 1 || $1 < low) low = $1; if ($1 > high) high = $1 }
    END { ok = n > 0 && sum / n <= most && !(strict && off > 0)
      printf "%s  %s: %.3f (%.3f to %.3f over %d seeds), at most %s; %d groups penalised\n",
        ok ? "green" : "red  ", what, sum / n, low, high, n, most, off
      exit !ok }' "$out/$1-$2.txt" || bad=1
}
line a 10 .25
line a 1 .39
line b 10 .40
line b 1 .555
exit "$bad"
