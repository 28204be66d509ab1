#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 8 of MW-Pub's first version: by how much the largest error of MWEM-Pub falls when weights
start from the public rows' frequencies instead of equal ones; reduced ACS, all five-way marginals, as
printed, T 50. Usage: 001-8.py [--quick] [--threads N] [SEEDS]."""
from reduced_figures import NOTE, SOURCES, X_NAME, start

figure, epsilons, folder, how = start("001-8")
printed = f"mwem-pub:as=paper:delta={how['delta']:.6g}"
RUNS = {"public start": printed, "uniform start": f"{printed}:start=uniform"}
for source in SOURCES:
    figure.compare(source, RUNS, epsilons, public=folder / f"{source}.csv", **how)


def gains(source, e):
    return [x - y for x, y in zip(figure.values(source, "uniform start", e),
                                  figure.values(source, "public start", e))]


figure.chart("picture", "Reduced ACS: what starting from public frequencies gains MWEM-Pub", [NOTE],
             "by how much the largest error is smaller, as a share of the rows",
             {source: {e: gains(source, e) for e in epsilons} for source in SOURCES}, x_name=X_NAME)
for source in SOURCES:
    gain = [sum(gains(source, e)) / len(gains(source, e)) for e in epsilons]
    shown = " ".join(f"{g:.4f}" for g in gain)
    figure.line(gain[-1] < gain[0], f"{source}: the gain shrinks from epsilon .1 to 1", shown)
    figure.line(gain[-1] > 0, f"{source}: it is still above zero at epsilon 1", f"{gain[-1]:.4f}")
for source in SOURCES:
    figure.table(source, f"Largest error, {source}")
figure.done()
