#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 2 of the DualQuery paper: the errors on 500,000 conjunctions of three literals against
epsilon, on ADULT and KDD99, for both families of conjunctions; by the default rule, and at .33 with
the authors' parameters. Usage: 002-2.py [--quick] [--threads N] [SEEDS]; quick is 50,000
conjunctions and two epsilons."""
from figure import Figure

figure = Figure("002-2")
queries = figure.choose(500_000, 50_000)
epsilons = figure.choose((0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0), (0.25, 1.0))
tables = {"adult": ("ADULT", "adult-binary/adult-binned.csv", "adult-binary/adult-binned-domain.json",
                    "dual-query:rounds=40:rate=0.8:draws=1000"),
          "kdd99": ("KDD99", "kdd99/kdd99-binned.csv.gz", "kdd99/kdd99-binned-domain.json",
                    "dual-query:rounds=170:rate=1.2:draws=1750")}
for family in ("signed", "positive"):
    for name, (_, data, schema, authors) in tables.items():
        same = {"private": figure.data(*data.split("/")), "schema": figure.data(*schema.split("/")),
                "delta": 0.001, "metric": "max", "workload": f"conjunctions:3:{queries}:1:{family}"}
        table = f"{name}-{family}"
        figure.compare(table, {"default rule": "dual-query"}, epsilons, **same)
        figure.compare(table, {"default rule": "dual-query", "the authors' T, eta, s": authors}, (0.33,),
                       part="authors", **same)


def of(table, what):
    return [figure.error(table, "default rule", e, what) for e in epsilons]


for family in ("signed", "positive"):
    for what, word in (("model_max_error", "largest"), ("model_mean_error", "mean")):
        series = {title: {e: figure.values(f"{name}-{family}", "default rule", e, what) for e in epsilons}
                  for name, (title, *_) in tables.items()}
        figure.chart(f"{family}-{word}", f"DualQuery, {queries:,} {family} conjunctions: {word} error",
                     ["Three literals, delta .001, replace-one, the default rule for T and eta."],
                     f"{word} error of a query, as a share of the rows", series,
                     x_name="epsilon, the privacy budget of a release")
    for name, (title, *_) in tables.items():
        table = f"{name}-{family}"
        largest = of(table, "model_max_error")
        figure.line(largest[-1] < largest[0] and all(b <= 1.05 * a for a, b in zip(largest, largest[1:])),
                    f"{title}, {family}: the largest error falls with epsilon",
                    " ".join(f"{x:.3f}" for x in largest))
        ours, theirs = (figure.error(table, label, 0.33) for label in
                        ("default rule", "the authors' T, eta, s"))
        figure.line(ours <= theirs, f"ours: {title}, {family}: at epsilon .33, which the authors' "
                    "parameters take here, the default rule's largest error is no worse than theirs",
                    f"{ours:.4f}, theirs {theirs:.4f}")
    adult, kdd99 = (of(f"{name}-{family}", "model_max_error") for name in tables)
    figure.line(all(k < a for a, k in zip(adult, kdd99)),
                f"{family}: KDD99's largest error is below ADULT's at every epsilon",
                " ".join(f"{k:.3f}/{a:.3f}" for a, k in zip(adult, kdd99)))
for family in ("signed", "positive"):
    for name, (title, *_) in tables.items():
        figure.table(f"{name}-{family}", f"{title}, {family}: largest error", "model_max_error")
        figure.table(f"{name}-{family}", f"{title}, {family}: mean error", "model_mean_error")
figure.done()
