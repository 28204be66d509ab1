#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 8 of the MW-Pub paper: how many times smaller the largest error is when weights start from
the public rows' own frequencies instead of equal ones; reduced ACS, all five-way marginals, T 100, as
printed. Usage: 000-8.py [--quick] [--threads N] [SEEDS]."""
from reduced_figures import NOTE, SOURCES, X_NAME, start

figure, epsilons, folder, how = start("000-8")
RUNS = {"public start": "mw-pub:as=paper", "uniform start": "mw-pub:as=paper:start=uniform",
        "ours, public start": "mw-pub:rounds=100", "ours, uniform start": "mw-pub:rounds=100:start=uniform"}
for source in SOURCES:
    figure.compare(source, RUNS, epsilons, public=folder / f"{source}.csv", **how)


def ratio(source, e, ours=""):
    a, b = (figure.values(source, f"{ours}{how} start", e) for how in ("uniform", "public"))
    return [x / y for x, y in zip(a, b)]


figure.chart("picture", "Reduced ACS: what starting from public frequencies gains", [NOTE],
             "largest error from a uniform start, in times of that from a public one",
             {source: {e: ratio(source, e) for e in epsilons} for source in SOURCES}, x_name=X_NAME)
for source in SOURCES:
    for ours, name in (("", "as printed"), ("ours, ", "with our selection and average")):
        times = [figure.error(source, f"{ours}uniform start", e) /
                 figure.error(source, f"{ours}public start", e) for e in epsilons]
        figure.line(all(1.5 <= t <= 4 for t in times),
                    f"{source}, {name}: about 2 to 3 times smaller at every epsilon (1.5 to 4 counts)",
                    " ".join(f"{t:.2f}" for t in times))
        figure.line(all(t > 1 for t in times), f"{source}, {name}: smaller at every epsilon",
                    f"{min(times):.2f} times at least")
for source in SOURCES:
    figure.table(source, f"Largest error, {source}")
figure.done()
