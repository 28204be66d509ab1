#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 6 of the MW-Pub paper: the reduced ACS, all five-way marginals; MW-Pub by three public
tables, MWEM on the whole domain, HDMM and DualQuery. Usage: 000-6.py [--quick] [--threads N]
[SEEDS]."""
from reduced_figures import NOTE, SOURCES, X_NAME, Y_NAME, start

figure, epsilons, folder, how = start("000-6")
MWPUB = {"MW-Pub": "mw-pub", "MW-Pub as printed, T 100": "mw-pub:as=paper"}
for source in SOURCES:
    figure.compare(source, MWPUB, epsilons, public=folder / f"{source}.csv", **how)
figure.compare("benchmarks", {"MWEM": "mwem", "MWEM as its authors run it": "mwem:as=authors"},
               epsilons, part="mwem", seeds=2, **how)
figure.compare("benchmarks", {"HDMM, Gaussian": "hdmm:noise=gaussian", "DualQuery": "dual-query"},
               epsilons, seeds=3, **how)
figure.compare("benchmarks", {"HDMM, Laplace": "hdmm:noise=laplace"}, epsilons, part="pure",
               **{**how, "delta": 0})
OTHERS = ("MWEM", "MWEM as its authors run it", "HDMM, Gaussian", "HDMM, Laplace", "DualQuery")
series = {f"MW-Pub ({source})": {e: figure.values(source, "MW-Pub", e) for e in epsilons}
          for source in SOURCES}
series |= {label: {e: figure.values("benchmarks", label, e) for e in epsilons} for label in OTHERS}
figure.chart("picture", "Reduced ACS: largest error of MW-Pub and of the benchmarks", [NOTE], Y_NAME,
             series, x_name=X_NAME)


def of(label, e):
    return figure.error("benchmarks", label, e)


mwem = {e: min(of("MWEM", e), of("MWEM as its authors run it", e)) for e in epsilons}
worst = {e: min(of("HDMM, Laplace", e), of("DualQuery", e)) for e in epsilons}
for label in MWPUB:
    for source in SOURCES:
        pairs = [(figure.error(source, label, e), mwem[e]) for e in epsilons]
        figure.line(all(a < b for a, b in pairs), f"{label} ({source}) is below MWEM at every epsilon",
                    " ".join(f"{a:.4f}/{b:.4f}" for a, b in pairs))
figure.line(all(figure.error("area", "MW-Pub", e) < worst[e] for e in epsilons),
            "here even the bad source makes MW-Pub better than HDMM and DualQuery",
            " ".join(f"{figure.error('area', 'MW-Pub', e):.4f}/{worst[e]:.4f}" for e in epsilons))
figure.line(all(mwem[e] < worst[e] for e in epsilons), "MWEM is below HDMM and DualQuery",
            " ".join(f"{mwem[e]:.4f}/{worst[e]:.4f}" for e in epsilons))
figure.line(all(mwem[e] < of("HDMM, Gaussian", e) for e in epsilons),
            "ours: MWEM is below HDMM with Gaussian noise, which the paper does not have",
            " ".join(f"{mwem[e]:.4f}/{of('HDMM, Gaussian', e):.4f}" for e in epsilons))
for table in (*SOURCES, "benchmarks"):
    figure.table(table, f"Largest error, {table}")
figure.done()
