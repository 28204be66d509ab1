#!/bin/sh
# The demo: what a steward does first, on the bundled sample.
set -eu
cd "$(dirname "$0")/.."
sample=build/sample
demo=build/demo
rm -rf "$demo"
mkdir -p "$demo"

step() { printf '\n%s\n' "$1"; }
run() {
  printf '  $ %s\n\n' "$*"
  "$@"
}

echo "The sample is a simulated country: a public survey of 2015 and a private register of 2020, 12 columns."

step "1. A ledger holds what all releases of the register together may spend: epsilon 2."
run build/tandem budget create --ledger $demo/register.ledger --dataset register --epsilon 2

step "2. Does the register fit its schema? Only the steward may look."
run build/tandem check --private $sample/private.csv --schema examples/population/schema.toml

step "3. A release of the register, at epsilon 1. The ledger is charged before a row is read."
run build/tandem synth --private $sample/private.csv --public $sample/public.csv \
  --schema examples/population/schema.toml --epsilon 1 --ledger $demo/register.ledger --out $demo/release

printf '\nIts first rows look like a table of persons, with the same columns, formats and empty cells:\n\n'
head -n 6 $demo/release/synthetic.csv | sed 's/^/  /'

step "4. How good is it? Only the steward may look: this compares with the private register."
run build/tandem evaluate --private $sample/private.csv --synthetic $demo/release/synthetic.csv \
  --schema examples/population/schema.toml

step "5. What is left of the budget?"
run build/tandem budget show --ledger $demo/register.ledger

left=$(build/tandem budget show --ledger $demo/register.ledger | sed -n 's/^Left *//p')
files=$(cd $demo/release && ls | paste -s -d ' ' - | sed 's/ /, /g')
printf '\nLeft for other releases of the register: %s.\nThe release is in %s: %s.\n' \
  "$left" "$demo/release" "$files"
