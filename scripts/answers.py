#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether answers err as planned, and their intervals hold as often as they say.

Reads the private table, so it is for public data alone. For each relation and each kind of noise:
the planned rmse beside that of all seeds together, the mean of the largest error of each seed, and
the share of 95% intervals that hold the true count. All tables of three columns.
Usage: scripts/answers.py TANDEM PRIVATE DOMAIN OUT [SEEDS]
"""
import csv
import itertools
import json
import subprocess
import sys
from collections import Counter


def true_counts(private):
    """The count of each cell that has any, by the name that answers.csv gives it."""
    with open(private, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    names, rows = rows[0], rows[1:]
    counts = {}
    for columns in itertools.combinations(range(len(names)), 3):
        for cell, count in Counter(tuple(row[c] for c in columns) for row in rows).items():
            label = " & ".join(f"{names[c]}={value}" for c, value in zip(columns, cell))
            counts[label] = count
    return counts, len(rows)


def main():
    tandem, private, domain, out = sys.argv[1:5]
    seeds = int(sys.argv[5]) if len(sys.argv) > 5 else 20
    counts, rows = true_counts(private)
    print("neighbors,noise,planned_rmse,rmse,ratio,mean_error,max_error,covered,answers")
    for neighbors in ("add-remove", "replace-one"):
        for noise, delta in (("gaussian", "1e-9"), ("laplace", "0")):
            call = [tandem, "answer", "--private", private, "--schema", domain, "--epsilon", "1",
                    "--delta", delta, "--neighbors", neighbors, "--workload", "all-3way"]
            plan = json.loads(subprocess.run(call + ["--plan", "--json"], check=True,
                                             capture_output=True).stdout)
            planned = plan["plan"]["steps"][-1]["rmse"]
            squares = absolute = largest = covered = answers = 0
            for seed in range(seeds):
                subprocess.run(call + ["--seed", str(seed), "--out", out, "--force", "--quiet"],
                               check=True, capture_output=True)
                most = 0.0
                with open(out + "/answers.csv", newline="", encoding="utf-8") as file:
                    reader = csv.reader(file)
                    next(reader)
                    for query, estimate, _, low, high in reader:
                        truth = counts.get(query, 0)
                        error = abs(float(estimate) - truth)
                        squares += error * error
                        absolute += error
                        most = max(most, error)
                        covered += float(low) <= truth <= float(high)
                        answers += 1
                largest += most / seeds
            rmse = (squares / answers) ** 0.5
            print(f"{neighbors},{noise},{planned / rows:.5f},{rmse / rows:.5f},"
                  f"{rmse / planned:.4f},{absolute / answers / rows:.5f},{largest / rows:.4f},"
                  f"{covered / answers:.4f},{answers}", flush=True)


if __name__ == "__main__":
    main()
