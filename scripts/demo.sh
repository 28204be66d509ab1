#!/bin/sh
# The demo: what a steward does first, on the bundled sample.
set -eu
cd "$(dirname "$0")/.."
sample=build/sample

echo "The sample: a simulated country. A public survey of 2015 ($(($(wc -l <$sample/public.csv) - 1)) rows)"
echo "and a private register of 2020 ($(($(wc -l <$sample/private.csv) - 1)) rows), 12 columns."
echo
echo "How far is the old survey from today's register? (INTERNAL: this reads private data)"
echo "  \$ build/tandem evaluate --real $sample/private-coded.csv --synthetic $sample/public-coded.csv --schema $sample/domain.json"
echo
build/tandem evaluate --real $sample/private-coded.csv --synthetic $sample/public-coded.csv \
  --schema $sample/domain.json
