#!/bin/sh
# Figures 1 and 2 of the JAM-PGM paper: ADULT with public data of four biases (004-1), Titanic
# (004-2); JAM-PGM as printed and by default, MW-Pub, AIM, GEM, GEM-Pub and tandem, all three-way
# marginals, six epsilons, delta 1e-9, and the paper's sentences. Usage: scripts/papers/004-1.sh
# [--quick] [SEEDS]; --quick: one seed, three epsilons, two biases. The models are of 8 MB where the
# paper's are of 80, and the generators tandem's, with the paper's T and alpha; an interrupted run
# goes on where it stopped. Results go to build/papers/004-1. Ends with 1 when a line is red.
set -eu
cd "$(dirname "$0")/../.."
figure=$(basename "$0" .sh)
tandem=build/tandem
epsilons=0.0316,0.1,0.316,1,3.16,10
case $figure in
  004-1) tables="adult_pub025 adult_pub050 adult_pub075 adult_pub100" few=5 many=150 generator=rows ;;
  *) tables=titanic few=1 many=5 generator=network ;;
esac
out=build/papers/$figure
seeds=5
if [ "${1:-}" = --quick ]; then
  shift
  seeds=1 epsilons=0.1,1,10 out=$out-quick
  [ "$figure" != 004-1 ] || tables="adult_pub025 adult_pub100"
fi
seeds=${1:-$seeds}
[ -n "${TANDEM_DATA:-}" ] || { echo "papers: set TANDEM_DATA to the folder of the real data" >&2; exit 2; }
mkdir -p "$out"
gem=alpha=0.67:generator=$generator
for table in $tables; do
  data=$TANDEM_DATA/jam/$table
  "$tandem" compare --private "$data/priv.csv" --public "$data/pub.csv" --schema "$data/domain.json" \
    --mechanisms "jam-pgm,jam-pgm:as=paper:max-model-mb=8,mw-pub,aim,gem:$gem,gem-pub:rounds=$few:$gem,gem-pub:rounds=$many:$gem,tandem" \
    --epsilons "$epsilons" --seeds "$seeds" --resume --quiet --out "$out/$table" > "$out/$table.log" 2>&1 ||
    { cat "$out/$table.log" >&2; exit 1; }
done
python3 scripts/papers/004.py "${figure#004-}" "$out"
