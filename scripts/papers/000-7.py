#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 7 of the MW-Pub paper: what rows may have weight. Multiplicative weights from a uniform start
on three public supports, on the whole domain, and on random supports of 2, 4 and 10 times as many
rows as the largest public one; reduced ACS, all five-way marginals. Usage: 000-7.py [--quick]
[--threads N] [SEEDS]."""
from reduced_figures import NOTE, SOURCES, X_NAME, Y_NAME, start, support

figure, epsilons, folder, how = start("000-7")
# The same algorithm on every support, that of the authors' first code.
SAME = ("rounds=200:select-share=0.5:candidates=all:step=0.5:replay=stale:repeats=replace:"
        "output=last")
sizes = {source: support(folder / f"{source}.csv") for source in SOURCES}
for source in SOURCES:
    figure.compare(source, {f"{source}, {sizes[source]:,} rows": f"mw-pub:{SAME}:start=uniform"},
                   epsilons, public=folder / f"{source}.csv", **how)
FULL = "whole domain, 98,304 rows"
random = {f"random, {times * sizes['national2019']:,} rows":
          f"mwem:{SAME}:support=random:{times * sizes['national2019']}" for times in (2, 4, 10)}
figure.compare("domain", random, epsilons, part="random", **how)
figure.compare("domain", {FULL: f"mwem:{SAME}"}, epsilons, seeds=2, **how)

series = {f"{s}, {sizes[s]:,} rows": {e: figure.values(s, f"{s}, {sizes[s]:,} rows", e)
                                      for e in epsilons} for s in SOURCES}
series |= {label: {e: figure.values("domain", label, e) for e in epsilons}
           for label in (FULL, *random)}
figure.chart("picture", "Reduced ACS: largest error by the rows that can have weight", [NOTE], Y_NAME,
             series, x_name=X_NAME)
full = {e: figure.error("domain", FULL, e) for e in epsilons}
for source in SOURCES:
    mine = {e: figure.error(source, f"{source}, {sizes[source]:,} rows", e) for e in epsilons}
    figure.line(all(mine[e] < 1.1 * full[e] for e in epsilons),
                f"the rows of {source} do as well as the whole domain, within 10%",
                " ".join(f"{mine[e]:.4f}/{full[e]:.4f}" for e in epsilons))
for label in random:
    mine = {e: figure.error("domain", label, e) for e in epsilons}
    figure.line(all(mine[e] > 2 * full[e] for e in epsilons),
                f"{label}: at least twice the error of the whole domain",
                " ".join(f"{mine[e]:.4f}/{full[e]:.4f}" for e in epsilons))
for table in (*SOURCES, "domain"):
    figure.table(table, f"Largest error, {table}")
figure.done()
