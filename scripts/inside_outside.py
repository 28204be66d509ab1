#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Errors inside and outside what was measured: ide, mre and private-pgm on the same measurements.

Usage: inside_outside.py TANDEM PRIVATE PUBLIC SCHEMA OUT SEEDS EPSILON...

With one seed, the mechanisms measure the same marginals with the same noise, so that only what they
make of them differs. Errors are mean L1 distances of shares (0 to 2) between the rows of a release
and the private table: inside, over the measured marginals; outside, over 300 pairs and triples of
columns of which no measured marginal has all. Public rows as they are come last.
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


def main(tandem, private, public, schema, out, seeds, *epsilons):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    print(f"{'epsilon':8}{'mechanism':22}{'measured':>9}{'inside':>16}{'outside':>16}")
    for epsilon in epsilons:
        found = {name: [] for name in [*MECHANISMS, "public rows"]}
        for seed in range(1, int(seeds) + 1):
            for name in MECHANISMS:
                mechanism, *options = name.split(":")
                folder = out / f"{name.replace(':', '-')}-{epsilon}-{seed}"
                params = [word for option in ["marginals=public-cliques", *options]
                          for word in ("--param", option)]
                call(tandem, "synth", "--private", private, "--public", public, "--schema", schema,
                     "--workload", "all-3way", "--epsilon", epsilon, "--delta", "1e-9",
                     "--mechanism", mechanism, *params, "--seed", seed, "--out", folder, "--force",
                     "--quiet")
                release = json.loads((folder / "release.json").read_text())
                measured = [m["columns"] for step in release["steps"]
                            for m in step.get("measured", []) if m["columns"]]
                if name == MECHANISMS[0]:
                    first = measured
                    columns = sorted({c for c in schema_columns(folder)})
                    others = [set(pair) for size in (2, 3)
                              for pair in itertools.combinations(columns, size)
                              if not any(set(pair) <= set(m) for m in measured)]
                    random.Random(seed).shuffle(others)
                    inside = write_workload(out / "inside.json", measured)
                    outside = write_workload(out / "outside.json",
                                             [sorted(o) for o in others[:OUTSIDE]])
                    found["public rows"].append(
                        (len(measured), error(tandem, private, public, schema, inside),
                         error(tandem, private, public, schema, outside)))
                elif sorted(map(sorted, measured)) != sorted(map(sorted, first)):
                    print(f"{name} measured other marginals than {MECHANISMS[0]}", file=sys.stderr)
                rows = folder / "synthetic.csv"
                found[name].append((len(measured), error(tandem, private, rows, schema, inside),
                                    error(tandem, private, rows, schema, outside)))
        for name, runs in found.items():
            def mean(i, of=runs):
                values = [run[i] for run in of]
                spread = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
                return f"{statistics.mean(values):.4f} ({spread:.4f})"
            print(f"{epsilon:8}{name:22}{runs[0][0]:9}{mean(1):>16}{mean(2):>16}", flush=True)


def schema_columns(folder):
    rows = folder / "synthetic.csv"
    with rows.open(encoding="utf-8") as file:
        return [name.strip().strip('"') for name in file.readline().split(",")]


if __name__ == "__main__":
    if len(sys.argv) < 8:
        sys.exit(__doc__)
    main(*sys.argv[1:])
