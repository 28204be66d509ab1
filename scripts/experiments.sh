#!/bin/sh
# The experiments behind the figures in docs/mechanisms, on the real data that TANDEM_DATA names.
# Usage: scripts/experiments.sh NAME [SEEDS]; without a name, the list. Results go to
# build/experiments/NAME; an interrupted one goes on where it stopped.
set -eu
cd "$(dirname "$0")/.."
tandem=build/tandem
name=${1:-}
seeds=${2:-5}
out=build/experiments/$name

if [ -z "$name" ]; then
  cat <<'LIST'
experiments:
  first-figure  the mechanisms on ADULT, drawn: the README's figure, and the table of mechanisms
  adult-mw      MW-Pub on ADULT, three public samples, rounds fixed and automatic
  adult-mwem    MWEM on the reduced ADULT table, full domain and random supports
  acs-reduced   15 columns of ACS, all 5-way marginals: MWEM and MW-Pub (the paper's figures 6 to 8)
  tandem        tandem, AIM, JAM-PGM and MW-Pub on ADULT and Titanic
  tandem-ideas  tandem with each of its ideas turned off
  tandem-acs    tandem and the others on Massachusetts 2019, with 2018 and with the country
  tandem-bad    tandem with public data that is wrong in six ways
  acs           Massachusetts 2019, with 2018 and with the country as public data; few public rows
  prior         ide, mre and private-pgm on the same measurements: errors inside and outside them
  answers       hdmm on ADULT: errors beside the plan, intervals that hold; mw-pub beside it by bias
  certificate   the certified error of 200 releases of four data sets, beside the exact one
  gem           gem and gem-pub on ADULT: network and rows, three public samples
  gem-dense     gem beside aim on a generated table of 60 columns that depend on three others each
  sdnist        ten columns of ACS 2019, all pairs: NIST's k-marginal score of aim and mst
LIST
  exit 0
fi
[ -n "${TANDEM_DATA:-}" ] || { echo "experiments: set TANDEM_DATA to the folder of the real data" >&2; exit 2; }
mkdir -p "$out"

# compare FOLDER [FLAG...]
compare() {
  folder=$out/$1
  shift
  printf '\n== %s\n' "$folder"
  "$tandem" compare --out "$folder" --resume --seeds "$seeds" "$@"
}

# every N FILE: the header and each N-th row. Rows of these files are in no order that matters.
every() { awk -v n="$1" 'NR == 1 || (NR - 2) % n == 0' "$2"; }

# spoil_public PUBLIC DOMAIN OUT: public data that is wrong in six ways. Columns are found in the
# domain by name.
spoil_public() {
  sizes=$(tr -d '{}" \n' < "$2")
  by_name='BEGIN { m = split(sizes, a, ","); for (j = 1; j <= m; j++) { split(a[j], b, ":"); size[b[1]] = b[2] } }
    NR == 1 { for (i = 1; i <= NF; i++) { t = $i; gsub(/[" ]/, "", t); of[i] = size[t] } }'
  awk -F, -v OFS=, -v sizes="$sizes" "$by_name"'
    NR > 1 { for (i = 1; i <= NF; i++) $i = of[i] - 1 - $i } 1' "$1" > "$3/permuted.csv"
  awk -F, -v OFS=, -v sizes="$sizes" "$by_name"'
    NR > 1 { for (i = 1; i <= NF; i++) $i = ($i + int((of[i] + 1) / 2)) % of[i] } 1' "$1" \
    > "$3/disjoint.csv"
  awk -F, 'NR == 1 { print; next } { n++; k = NF; for (i = 1; i <= NF; i++) v[n, i] = $i }
    END { for (r = 0; r < n; r++) { line = ""
      for (i = 1; i <= k; i++) line = line (i > 1 ? "," : "") v[(r + i * 211) % n + 1, i]
      print line } }' "$1" > "$3/independent.csv"
  awk 'NR == 1 { print; next } NR == 2 { row = $0 } { print row }' "$1" > "$3/repeated.csv"
  head -n 51 "$1" > "$3/tiny.csv"
  awk 'NR == 1 { print; next } { for (i = 0; i < 20; i++) print }' "$1" > "$3/scaled.csv"
}

case $name in
  first-figure)
    # Run where the tables lie, so that the results name them without a path.
    root=$PWD
    cd "$TANDEM_DATA/jam/adult_pub025"
    # of_adult FOLDER MECHANISMS EPSILONS
    of_adult() {
      "$root/$tandem" compare --private priv.csv --public pub.csv --schema domain.json --published \
        --title "ADULT: how far synthetic rows are from the real ones" --mechanisms "$2" \
        --epsilons "$3" --seeds "$seeds" --resume --out "$root/$out/$1"
    }
    of_adult adult tandem,jam-pgm,aim,mst,mw-pub 0.1,0.316,1,3.16,10
    of_adult others tandem:use-public=false,mwem-pub,private-pgm,independent,gem,gem-pub,ide,mre 1
    ;;
  adult-mw)
    data=$TANDEM_DATA/adult/mw-pub-split
    for bias in 0 -0.1 -0.3; do
      compare "bias$bias" --private "$data/priv.csv" --public "$data/pub_bias$bias.csv" \
        --schema "$data/domain.json" --epsilons 1,0.25,0.1 --delta 5.1785e-10 --metric max \
        --mechanisms mw-pub,mw-pub:rounds=0,mw-pub:rounds=10,mw-pub:rounds=50,mw-pub:rounds=100,mw-pub:rounds=200
    done
    ;;
  adult-mwem)
    data=$TANDEM_DATA/adult
    compare reduced --private "$data/adult-reduced.csv" --schema "$data/adult-reduced-domain.json" \
      --epsilons 1 --delta 4.19e-10 --metric max \
      --mechanisms mwem:rounds=200,mwem:rounds=200:step=0.5:output=average,mwem:rounds=200:support=random:10000
    ;;
  acs-reduced)
    data=$out/data
    mkdir -p "$data"
    # The first 15 columns; each tenth row is public, the others private.
    cut -d, -f1-15 "$TANDEM_DATA/acs/privmrf-acs.csv" > "$data/all.csv"
    awk 'NR == 1 || NR % 10 == 0' "$data/all.csv" > "$data/public.csv"
    awk 'NR == 1 || NR % 10 != 0' "$data/all.csv" > "$data/private.csv"
    awk 'BEGIN { printf "{"; for (i = 0; i < 15; i++) printf "%s\"%d\": 2", i ? ", " : "", i; print "}" }' \
      > "$data/domain.json"
    compare all --private "$data/private.csv" --public "$data/public.csv" \
      --schema "$data/domain.json" --workload all-5way --epsilons 0.1,0.25,0.5,1 \
      --delta 5.5e-10 --metric max \
      --mechanisms mw-pub,mw-pub:rounds=0,mw-pub:rounds=100,mw-pub:rounds=100:start=uniform,mw-pub:rounds=100:start=uniform:step=2:output=last,mwem,mwem:support=random:5000,mwem:support=random:10000,mwem:support=random:25000
    ;;
  acs)
    data=$TANDEM_DATA/acs
    "$tandem" schema --public "$data/national2019.csv" --codebook "$data/data_dictionary.json" \
      --out "$out/schema.toml" --force --quiet
    every 10 "$data/national2019.csv" > "$out/national-10.csv"
    every 100 "$data/national2019.csv" > "$out/national-100.csv"
    every 10 "$data/ma2018.csv" > "$out/ma2018-10.csv"
    every 100 "$data/ma2018.csv" > "$out/ma2018-100.csv"
    for public in "$data/ma2018.csv" "$data/national2019.csv" "$out/ma2018-10.csv" \
      "$out/ma2018-100.csv" "$out/national-10.csv" "$out/national-100.csv"; do
      compare "$(basename "$public" .csv)" --private "$data/ma2019.csv" --public "$public" \
        --schema "$out/schema.toml" --workload random-3way:256:1 --epsilons 0.1,0.25,1 \
        --delta 1.7e-8 --metric max \
        --mechanisms mw-pub,mw-pub:rounds=0,mw-pub:rounds=100:start=uniform:step=2:output=last
    done
    ;;

  sdnist)
    # (2 - mean L1 over all pairs of columns) * 500 of the rows, made with AGEP in single years; once
    # more with the codebook's rules on who is asked what. SDNist scores AGEP in twentieths of the
    # real table, which are the edges here; SmartNoise's published runs under add-remove have 976
    # (AIM) and 958 (MST).
    real=$TANDEM_DATA/acs/national2019.csv
    # schema AGE: the ten columns, with this for AGEP.
    schema() {
      cat <<SCHEMA
column = [
  {name = "AGEP", $1},
  {name = "SEX", values = ["1", "2"]},
  {name = "MSP", values = ["N", "1", "2", "3", "4", "5", "6"]},
  {name = "RAC1P", values = ["1", "2", "3", "4", "5", "6", "7", "8", "9"]},
  {name = "HOUSING_TYPE", values = ["1", "2", "3"]},
  {name = "OWN_RENT", values = ["0", "1", "2"]},
  {name = "EDU", values = ["N", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"]},
  {name = "PINCP_DECILE", values = ["N", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]},
  {name = "DVET", values = ["N", "1", "2", "3", "4", "5", "6"]},
  {name = "DEYE", values = ["1", "2"]},
]
SCHEMA
    }
    schema 'kind = "integer", min = 0, max = 99' > "$out/years.toml"
    cp "$out/years.toml" "$out/rules.toml"
    cat >> "$out/rules.toml" <<'RULES'
rule = [
  {if = "AGEP < 15", then = "MSP = N and PINCP_DECILE = N"},
  {if = "AGEP >= 15", then = "MSP != N and PINCP_DECILE != N"},
  {if = "AGEP < 3", then = "EDU = N"},
  {if = "AGEP >= 3", then = "EDU != N"},
]
RULES
    edges='5, 10, 14, 19, 22, 25, 29, 33, 37, 41, 45, 49, 54, 58, 61, 65, 68, 73, 79'
    schema "kind = \"integer\", min = 0, max = 99, edges = [$edges]" > "$out/twentieths.toml"
    score() {
      "$tandem" evaluate --private "$real" --synthetic "$out/release/synthetic.csv" --schema "$1" \
        --workload all-2way --json --quiet | sed -n 's/.*"k_marginal_score": *\([0-9.]*\).*/\1/p'
    }
    for neighbors in add-remove replace-one; do
      for mechanism in aim mst; do
        for made in years rules; do
          for seed in $(seq "$seeds"); do
            "$tandem" synth --private "$real" --schema "$out/$made.toml" --workload all-2way \
              --epsilon 1 --delta 1e-9 --neighbors "$neighbors" --mechanism "$mechanism" \
              --seed "$seed" --out "$out/release" --force --quiet > "$out/log"
            printf '%s %s %s seed %s: score %s, in single years %s\n' "$mechanism" "$neighbors" \
              "$made" "$seed" "$(score "$out/twentieths.toml")" "$(score "$out/years.toml")"
          done
        done
      done
    done | tee "$out/scores.txt"
    awk '{ run = $1 " " $2 " " $3; n[run]++; sum[run] += $7; years[run] += $NF }
      END { for (r in n) printf "mean of %s: %.1f, in single years %.1f\n", r, sum[r] / n[r], years[r] / n[r] }' \
      "$out/scores.txt" | sort
    ;;
  certificate)
    [ -f "$out/sample/private.csv" ] ||
      python3 examples/population/make_population.py --out "$out/sample" > /dev/null
    python3 scripts/certificate.py "$tandem" "$TANDEM_DATA" "$out/sample" "$out" 200 |
      tee "$out/figures.txt"
    ;;
  answers)
    data=$TANDEM_DATA/adult/mw-pub-split
    python3 scripts/answers.py "$tandem" "$data/priv.csv" "$data/domain.json" "$out/release" 20 |
      tee "$out/intervals.csv"
    # Laplace noise at a pure epsilon, as the papers have HDMM; the others at delta = 1/n^2.
    for neighbors in replace-one add-remove; do
      for bias in 0 -0.1 -0.3; do
        compare "$neighbors-bias$bias" --private "$data/priv.csv" --neighbors "$neighbors" \
          --public "$data/pub_bias$bias.csv" --schema "$data/domain.json" --mechanisms mw-pub \
          --epsilons 0.1,0.25,1 --delta 5.1785e-10 --metric max
      done
      compare "$neighbors-gaussian" --private "$data/priv.csv" --neighbors "$neighbors" \
        --schema "$data/domain.json" --mechanisms hdmm --epsilons 0.1,0.25,1 --delta 5.1785e-10 \
        --metric max
      compare "$neighbors-laplace" --private "$data/priv.csv" --neighbors "$neighbors" \
        --schema "$data/domain.json" --mechanisms hdmm --epsilons 0.1,0.25,1 --delta 0 --metric max
    done
    ;;
  prior)
    folder=$TANDEM_DATA/jam/adult_pub025
    python3 scripts/inside_outside.py "$tandem" "$folder/priv.csv" "$folder/pub.csv" \
      "$folder/domain.json" "$out/adult" "$seeds" 1 10 | tee "$out/adult.txt"
    data=$TANDEM_DATA/acs
    "$tandem" schema --public "$data/ma2018.csv" --public "$data/ma2019.csv" \
      --codebook "$data/data_dictionary.json" --out "$out/schema.toml" --force --quiet
    python3 scripts/inside_outside.py "$tandem" "$data/ma2019.csv" "$data/ma2018.csv" \
      "$out/schema.toml" "$out/acs" "$seeds" 1 10 | tee "$out/acs.txt"
    ;;
  tandem | tandem-ideas)
    rivals=tandem,jam-pgm,aim,mw-pub
    if [ "$name" = tandem-ideas ]; then
      rivals=tandem,tandem:use-public=false,tandem:trust=1,tandem:trust=0.1,tandem:judge-columns=false,tandem:fillers=false,tandem:crowding=0,tandem:penalty=noise,tandem:public-rows=0,tandem:public-rows=0.2,tandem:ridge=0.6,tandem:rounds-per-column=16
    fi
    for data in titanic adult_pub100 adult_pub025; do
      folder=$TANDEM_DATA/jam/$data
      compare "$data" --private "$folder/priv.csv" --public "$folder/pub.csv" \
        --schema "$folder/domain.json" --epsilons 0.0316,0.1,0.316,1,3.16,10 --delta 1e-9 \
        --mechanisms "$rivals"
    done
    ;;
  tandem-acs)
    data=$TANDEM_DATA/acs
    "$tandem" schema --public "$data/national2019.csv" --codebook "$data/data_dictionary.json" \
      --out "$out/schema.toml" --force --quiet
    for public in ma2018 national2019; do
      compare "$public" --private "$data/ma2019.csv" --public "$data/$public.csv" \
        --schema "$out/schema.toml" --epsilons 0.0316,0.1,0.316,1,3.16,10 --delta 1e-9 \
        --mechanisms tandem,jam-pgm,aim,mw-pub
    done
    ;;
  tandem-bad)
    folder=$TANDEM_DATA/jam/adult_pub025
    spoil_public "$folder/pub.csv" "$folder/domain.json" "$out"
    for kind in none permuted disjoint independent repeated tiny scaled; do
      set -- --public "$out/$kind.csv"
      [ "$kind" != none ] || set --
      compare "$kind" --private "$folder/priv.csv" "$@" --schema "$folder/domain.json" \
        --epsilons 0.316,1,3.16,10 --delta 1e-9 --mechanisms tandem
    done
    ;;
  gem)
    data=$TANDEM_DATA/adult/mw-pub-split
    compare alone --private "$data/priv.csv" --schema "$data/domain.json" --epsilons 0.1,1 \
      --metric max --mechanisms gem:generator=rows:rounds=50,gem:generator=rows,gem:rounds=50,gem,aim
    for bias in 0 -0.1 -0.3; do
      compare "bias$bias" --private "$data/priv.csv" --public "$data/pub_bias$bias.csv" \
        --schema "$data/domain.json" --epsilons 0.1,1 --metric max --mechanisms gem-pub
    done
    ;;
  gem-dense)
    python3 examples/survey67/make_survey.py --out "$out/data" --columns 60 --ties 3 --seed 2
    compare dense --private "$out/data/private.csv" --schema "$out/data/domain.json" \
      --workload random-3way:1000:1 --epsilons 0.1,1,10 --mechanisms aim,gem:generator=rows,gem,mst
    ;;
  *)
    echo "experiments: $name is unknown; scripts/experiments.sh alone lists them" >&2
    exit 2
    ;;
esac
