#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Errors inside and outside what was measured: ide, mre and private-pgm on the same measurements.

Usage: inside_outside.py TANDEM PRIVATE PUBLIC SCHEMA OUT SEEDS EPSILON...

With one seed, the mechanisms measure the same marginals with the same noise, so that only what they
make of them differs. Errors are mean L1 distances of shares (0 to 2) between the rows of a release
and the private table: inside, over the measured marginals; outside, over 300 pairs and triples of
columns of which no measured marginal has all.
"""
import itertools
import json
import pathlib
import random
import statistics
import subprocess
import sys

MECHANISMS = ["ide", "ide:support=model", "mre", "private-pgm"]
OUTSIDE = 300


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def write_workload(path, marginals):
    path.write_text(json.dumps({"marginals": [{"columns": list(m)} for m in marginals]}))
    return path


def error(tandem, private, rows, schema, workload):
    told = json.loads(call(tandem, "evaluate", "--real", private, "--synthetic", rows, "--schema",
                           schema, "--workload", workload, "--json", "--quiet"))
    return told["avg_workload_error"]


def release(tandem, private, public, schema, epsilon, seed, name, marginals, folder):
    """Runs a mechanism; gives the marginals that it measured."""
    mechanism, *options = name.split(":")
    params = [word for option in [f"marginals={marginals}", *options] for word in ("--param", option)]
    call(tandem, "synth", "--private", private, "--public", public, "--schema", schema,
         "--workload", "all-3way", "--epsilon", epsilon, "--delta", "1e-9", "--mechanism", mechanism,
         *params, "--seed", seed, "--out", folder, "--force", "--quiet")
    told = json.loads((folder / "release.json").read_text())
    return [m["columns"] for step in told["steps"] for m in step.get("measured", []) if m["columns"]]


def main(tandem, private, public, schema, out, seeds, *epsilons):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    folder = out / "release"
    print(f"{'epsilon':8}{'mechanism':20}{'measured':>9}{'inside':>16}{'outside':>16}")
    for epsilon in epsilons:
        # What public data recommends depends on the number of rows alone, so it is asked once.
        measured = release(tandem, private, public, schema, epsilon, 1, "ide", "public-cliques", folder)
        marginals = ",".join("+".join(columns) for columns in measured)
        others = [pair for size in (2, 3)
                  for pair in itertools.combinations(columns_of(folder), size)
                  if not any(set(pair) <= set(m) for m in measured)]
        random.Random(1).shuffle(others)
        inside = write_workload(out / "inside.json", measured)
        outside = write_workload(out / "outside.json", others[:OUTSIDE])

        def errors(rows):
            return [error(tandem, private, rows, schema, workload) for workload in (inside, outside)]

        found = {"public rows": [errors(public)]}
        for name in MECHANISMS:
            found[name] = []
            for seed in range(1, int(seeds) + 1):
                release(tandem, private, public, schema, epsilon, seed, name, marginals, folder)
                found[name].append(errors(folder / "synthetic.csv"))
        for name, runs in found.items():
            cells = []
            for place in (0, 1):
                values = [run[place] for run in runs]
                spread = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
                cells.append(f"{statistics.mean(values):.4f} ({spread:.4f})")
            print(f"{epsilon:8}{name:20}{len(measured):9}{cells[0]:>16}{cells[1]:>16}", flush=True)


def columns_of(folder):
    with (folder / "synthetic.csv").open(encoding="utf-8") as file:
        return [name.strip().strip('"') for name in file.readline().split(",")]


if __name__ == "__main__":
    if len(sys.argv) < 8:
        sys.exit(__doc__)
    main(*sys.argv[1:])
