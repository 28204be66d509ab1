#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 1 of the MW-Pub paper, top and bottom: the largest error on three-way marginals against
epsilon, MW-Pub beside HDMM and DualQuery, and the public rows as they are. Its Pennsylvania is
Massachusetts 2019 here, with 2018, with 20 areas of the country and with one of these as public data;
its 67 columns and 4,096 marginals are a generated survey's. Usage: 000-1.py [--quick] [--threads N]
[SEEDS]."""
import subprocess
import sys

from figure import EPS6, ROOT, Figure
from tables import read, small_acs, where

figure = Figure("000-1")
epsilons = figure.choose(EPS6, (0.1, 1.0))
folder = figure.out / "data"
folder.mkdir(exist_ok=True)
where(figure.data("acs", "national2019.csv"), folder / "raw-area.csv", "PUMA", "36-03710")
paths = []
for name in ("ma2018", "ma2019", "national2019"):
    paths += [figure.data("acs", f"{name}.csv"), folder / f"{name}.csv"]
small_acs(folder / "domain.json", *paths, folder / "raw-area.csv", folder / "area.csv")
subprocess.run([sys.executable, ROOT / "examples" / "survey67" / "make_survey.py", "--out",
                folder / "survey"], check=True)

BENCHMARKS = {"HDMM, Gaussian": "hdmm:noise=gaussian", "DualQuery": "dual-query"}


def benchmarks(table, how):
    figure.compare(table, BENCHMARKS, epsilons, part="benchmarks", **how)
    figure.compare(table, {"HDMM, Laplace": "hdmm:noise=laplace"}, epsilons, part="pure",
                   **{**how, "delta": 0})


def with_public(table, source, how, tuned):
    delta = how["delta"]
    figure.compare(table, {"MW-Pub": "mw-pub",
                           "MWEM-Pub as printed, T 50": f"mwem-pub:as=paper:delta={delta:.6g}"},
                   epsilons, public=source, **how)
    figure.compare_tuned(table, "MW-Pub as printed, T tuned", "mw-pub:as=paper:rounds={}", tuned,
                         part="printed", public=source, **how)


GRID = figure.choose((5, 10, 25, 50, 100, 200), (10, 100))
acs = {"schema": folder / "domain.json", "metric": "max"}
rows = len(read(folder / "ma2018.csv")[1])
tuned = figure.tune("validation", "mw-pub:as=paper:rounds={}", GRID, epsilons, seeds=2,
                    private=folder / "ma2018.csv", public=folder / "national2019.csv",
                    delta=1 / rows ** 2, **acs)
figure.labels.pop("validation")
rows = len(read(folder / "ma2019.csv")[1])
acs |= {"private": folder / "ma2019.csv", "delta": 1 / rows ** 2}
sources = ("ma2018", "national2019", "area")
for source in sources:
    with_public(source, folder / f"{source}.csv", acs, tuned)
benchmarks("ma2018", acs)
survey = {"schema": folder / "survey" / "domain.json", "private": folder / "survey" / "private.csv",
          "delta": 1 / 20000 ** 2, "metric": "max",
          "workload": figure.choose("random-3way:4096:1", "random-3way:512:1")}
survey_seeds = figure.choose({"seeds": 2}, {})
with_public("survey", folder / "survey" / "public.csv", {**survey, **survey_seeds}, tuned)
benchmarks("survey", {**survey, **survey_seeds})

TITLE = "largest error of one query, as a share of the rows"
LABELS = ("MW-Pub", "MW-Pub as printed, T tuned")
OTHERS = ("HDMM, Laplace", "HDMM, Gaussian", "DualQuery")
series = {f"{label} ({source})": {e: figure.values(source, label, e) for e in epsilons}
          for source in ("ma2018", "national2019") for label in LABELS}
series |= {other: {e: figure.values("ma2018", other, e) for e in epsilons} for other in OTHERS}
figure.chart("acs", "ACS, Massachusetts 2019: largest error of MW-Pub and of the benchmarks",
             ["7,634 private rows, 18 columns, all 816 three-way marginals, delta 1/n^2."], TITLE,
             series, x_name="epsilon, the privacy budget of a release",
             levels={f"public rows, {s}": figure.public_error(s) for s in ("ma2018", "national2019")})
series = {label: {e: figure.values("survey", label, e) for e in epsilons}
          for label in LABELS + OTHERS}
figure.chart("survey", "Survey of 67 columns: largest error of MW-Pub and of the benchmarks",
             [f"20,000 private rows, {survey['workload']}, delta 1/n^2."], TITLE, series,
             x_name="epsilon, the privacy budget of a release",
             levels={"public rows": figure.public_error("survey")})

for table in ("ma2018", "national2019", "survey"):
    at = "survey" if table == "survey" else "ma2018"  # where the benchmarks are
    best = {e: min(figure.error(at, other, e) for other in ("HDMM, Laplace", "DualQuery"))
            for e in epsilons}
    for label in LABELS:
        pairs = [(figure.error(table, label, e), best[e]) for e in epsilons]
        figure.line(all(a < b for a, b in pairs), f"{table}: {label} is below both benchmarks at "
                    "every epsilon", " ".join(f"{a:.4f}/{b:.4f}" for a, b in pairs))
    public = figure.public_error(table)
    for label in LABELS:
        figure.line(all(figure.error(table, label, e) < public for e in epsilons),
                    f"{table}: {label} improves on the public rows at every epsilon",
                    " ".join(f"{figure.error(table, label, e):.4f}" for e in epsilons) +
                    f", public rows {public:.4f}")
    figure.line(all(public < best[e] for e in epsilons if e < 0.25),
                f"{table}: below epsilon .25 even the public rows are below both benchmarks",
                f"{public:.4f}, " + " ".join(f"{best[e]:.4f}" for e in epsilons if e < 0.25))
errors = {source: figure.public_error(source) for source in sources}
figure.line(errors["area"] > 1.5 * max(errors["ma2018"], errors["national2019"]),
            "bottom: the bad source's error is by far the largest",
            ", ".join(f"{s} {e:.4f}" for s, e in errors.items()))
flat = [figure.error("area", "MW-Pub as printed, T tuned", e) for e in epsilons]
figure.line(min(flat) > 0.8 * max(flat), "the bad source does not improve with epsilon (figure 2)",
            " ".join(f"{x:.4f}" for x in flat))
for table in (*sources, "survey"):
    figure.table(table, f"Largest error, public rows: {table}")
figure.text("T, as tuned on Massachusetts 2018 with the country as public data: " +
            ", ".join(f"{t} at epsilon {e:g}" for e, t in tuned.items()) + ".")
figure.done()
