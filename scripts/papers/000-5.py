#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 5 of the MW-Pub paper: ADULT with public samples whose share of women is off by 0, .05, .1
and .3, all three-way marginals, six epsilons, delta 1/n^2; MW-Pub beside HDMM and DualQuery.
Usage: 000-5.py [--quick] [--threads N] [SEEDS]; results go to build/papers/000-5."""
from figure import EPS6, Figure
from tables import biased, columns, read

figure = Figure("000-5")
split = figure.data("adult", "mw-pub-split")
header, rows = read(split / "priv.csv")
delta = 1 / len(rows) ** 2
# The authors' split has no sample that is off by .05; this one is drawn as theirs are.
columns(figure.data("adult", "adult.csv"), figure.out / "all.csv", ",".join(header))
biased(figure.out / "all.csv", figure.out / "pub_bias-0.05.csv", "sex", "0", 0.1, -0.05, 1)

epsilons = figure.choose(EPS6, (0.1, 1.0))
same = {"private": split / "priv.csv", "schema": split / "domain.json", "delta": delta,
        "metric": "max"}
ours = {"MW-Pub": "mw-pub", "MW-Pub as printed, T 100": "mw-pub:as=paper",
        "MWEM-Pub as printed": "mwem-pub:as=paper:delta=%.6g" % delta}
biases = ("0", "-0.05", "-0.1", "-0.3")
for bias in biases:
    source = (figure.out if bias == "-0.05" else split) / f"pub_bias{bias}.csv"
    figure.compare(f"bias{bias}", ours, epsilons, public=source, **same)
figure.compare("benchmarks", {"HDMM, Gaussian": "hdmm:noise=gaussian", "DualQuery": "dual-query"},
               epsilons, **same)
# The paper's HDMM has a pure guarantee.
figure.compare("benchmarks", {"HDMM, Laplace": "hdmm:noise=laplace"}, epsilons, part="pure",
               **{**same, "delta": 0})


def of(bias, label="MW-Pub"):
    return [figure.error(f"bias{bias}", label, e) for e in epsilons]


for label, name in (("MW-Pub", "picture"), ("MW-Pub as printed, T 100", "printed")):
    series = {f"MW-Pub ({bias})": {e: figure.values(f"bias{bias}", label, e) for e in epsilons}
              for bias in biases}
    for other in ("HDMM, Laplace", "HDMM, Gaussian", "DualQuery"):
        series[other] = {e: figure.values("benchmarks", other, e) for e in epsilons}
    figure.chart(name, f"ADULT: largest error by the bias of the public rows, {label}",
                 [f"{len(rows):,} private rows, 13 columns, 286 marginals, delta 1/n^2."],
                 "largest error of one query, as a share of the rows", series,
                 x_name="epsilon, the privacy budget of a release")

for label in ("MW-Pub", "MW-Pub as printed, T 100"):
    for better, worse in (("0", "-0.05"), ("-0.05", "-0.1"), ("-0.1", "-0.3")):
        a, b = of(better, label), of(worse, label)
        figure.line(sum(a) < sum(b), f"{label}: bias {better} has smaller errors than {worse}, "
                    "over all epsilons", " ".join(f"{x:.4f}/{y:.4f}" for x, y in zip(a, b)))
    a, b = of("-0.1", label), of("-0.3", label)
    figure.line(all(1.25 * x < y for x, y in zip(a, b)), f"{label}: bias -0.3 is clearly worse, "
                "by a quarter at every epsilon", " ".join(f"{y / x:.2f}" for x, y in zip(a, b)))
    for bias in ("0", "-0.05", "-0.1"):
        best = [min(figure.error("benchmarks", o, e) for o in ("HDMM, Laplace", "DualQuery"))
                for e in epsilons]
        figure.line(all(x < y for x, y in zip(of(bias, label), best)),
                    f"{label}, bias {bias}, is below HDMM and DualQuery at every epsilon",
                    " ".join(f"{x:.4f}/{y:.4f}" for x, y in zip(of(bias, label), best)))
    mine = figure.error("bias-0.3", label, 1.0)
    laplace, gaussian = (figure.error("benchmarks", f"HDMM, {n}", 1.0) for n in ("Laplace", "Gaussian"))
    figure.line(laplace < mine, f"{label}: at bias -0.3 and epsilon 1 HDMM wins (the paper; its "
                "first version says that it never does)", f"HDMM {laplace:.4f} with Laplace noise, as "
                f"there, and {gaussian:.4f} with Gaussian noise, {mine:.4f}")
for bias in biases:
    figure.table(f"bias{bias}", f"Largest error, public rows with bias {bias}")
figure.table("benchmarks", "Largest error without public rows")
figure.done()
