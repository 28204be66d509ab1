#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 4 of the DualQuery paper: errors and time at (1, .001) on 100,000 conjunctions of made-up
tables with 50 to 512,000 independent bits and 100,000 rows, by the authors' rate and draws and as many
rounds as zCDP pays for. Usage: 002-4.py [--quick] [SEEDS]; quick is one seed of 1,000 and 16,000
bits. What is there already is not run again."""
import collections
import csv
import subprocess
import sys

from figure import ROOT, draw_chart, mean
from lines import done, line

quick = "--quick" in sys.argv[1:]
seeds = next((int(word) for word in sys.argv[1:] if word.isdigit()), 1 if quick else 3)
widths = (1000, 16000) if quick else (50, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000,
                                      512000)
out = ROOT / "build" / "papers" / ("002-4-quick" if quick else "002-4")
out.mkdir(parents=True, exist_ok=True)
program = ROOT / "build" / "release" / "bench" / "wide_figure"
with open(out / "build.log", "w", encoding="utf-8") as log:
    for command in (["scripts/install.sh", "build", "test"],
                    ["cmake", "--preset", "release", "-DTANDEM_TESTS=ON"],
                    ["cmake", "--build", "build/release", "--target", "wide_figure"]):
        if subprocess.run(command, cwd=ROOT, stdout=log, stderr=log, check=False).returncode != 0:
            sys.exit(f"papers: {out}/build.log says why wide_figure could not be built")

results = out / "results.csv"
if not results.exists():
    results.write_text(subprocess.run([program], check=True, capture_output=True, text=True).stdout,
                       encoding="utf-8")
there = {(row["columns"], row["seed"]) for row in csv.DictReader(results.open(encoding="utf-8"))}
for width in widths:
    for seed in range(1, seeds + 1):
        if (str(width), str(seed)) in there:
            continue
        run = subprocess.run([program, str(width), str(seed)], check=True, capture_output=True, text=True)
        with results.open("a", encoding="utf-8") as file:
            file.write(run.stdout)

runs = collections.defaultdict(list)
for row in csv.DictReader(results.open(encoding="utf-8")):
    if int(row["seed"]) <= seeds:
        runs[int(row["columns"])].append({key: float(value) for key, value in row.items()})
figure = {n: {key: mean([r[key] for r in some]) for key in some[0]} for n, some in sorted(runs.items())}
rows = ["| bits | T | s | largest error | mean error | one answer to all | seconds | counting | MB |",
        "|---" * 9 + "|"]
for n, r in figure.items():
    rows.append(f"| {n:,} | {r['rounds']:.0f} | {r['draws']:.0f} | {r['max_error']:.3f} | "
                f"{r['mean_error']:.4f} | {r['constant_mean_error']:.4f} | {r['seconds']:.1f} | "
                f"{r['counting_seconds']:.1f} | {r['peak_mb']:.0f} |")
print("\n".join(rows))


def of(what):
    return {n: [r[what] for r in runs[n]] for n in figure}


notes = ["100,000 rows of independent bits, 100,000 conjunctions of three literals, epsilon 1, delta .001."]
page = []
page += draw_chart(out, "error", "DualQuery: errors by the number of attributes", notes,
                   "error of a query, as a share of the rows",
                   {"largest error": of("max_error"), "mean error": of("mean_error"),
                    "mean error of one answer to all": of("constant_mean_error")}, "attributes")
page += draw_chart(out, "time", "DualQuery: seconds of a run by the number of attributes", notes,
                   "seconds", {"without counting": of("seconds"), "counting": of("counting_seconds")},
                   "attributes")
widest = max(figure)
line(widest == 512000 or quick, "runs up to 512,000 attributes", f"{widest:,}")
line(all(r["seconds"] < 1800 for r in figure.values()),
     "takes about half an hour at most, beside evaluating the queries",
     f"{max(r['seconds'] for r in figure.values()):.1f} s")
line(all(r["counting_seconds"] < 3600 for r in figure.values()), "evaluates the queries within hours",
     f"{max(r['counting_seconds'] for r in figure.values()):.1f} s")
line(all(r["mean_error"] < r["constant_mean_error"] for r in figure.values()),
     "ours: useful at every width, the mean error is below that of one answer to all",
     " ".join(f"{r['mean_error'] / r['constant_mean_error']:.2f}" for r in figure.values()))
line(all(r["max_error"] < 0.5 for r in figure.values()), "ours: no answer is off by a half at any width",
     f"{max(r['max_error'] for r in figure.values()):.3f}")
line(all(r["seconds"] < 180 and r["peak_mb"] < 8192 for r in figure.values()),
     "ours: within 3 minutes beside counting, and 8 GB",
     f"{max(r['seconds'] for r in figure.values()):.1f} s, {max(r['peak_mb'] for r in figure.values()):.0f} MB")
done(out, [*page, *rows, ""])
