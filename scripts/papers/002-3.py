#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Figure 3 of the DualQuery paper: errors and time on KDD99 at (1, .001) against the number of
conjunctions, 40,000 to 2 million, `perturb` beside it; the authors' T, eta and s. Usage: 002-3.py
[--quick] [--threads N] [SEEDS]; quick is up to 500,000 conjunctions. Times are of the machine as it
is: let it be idle."""
from figure import Figure

figure = Figure("002-3")
figure.threads = figure.threads or "1"
numbers = figure.choose((40_000, 200_000, 500_000, 1_000_000, 2_000_000), (40_000, 200_000, 500_000))
AUTHORS = "the authors' T, eta, s"
# One draw in one round that is paid for: that is how long it takes to count the conjunctions.
mechanisms = {AUTHORS: "dual-query:rounds=170:rate=1.2:draws=1750", "perturb": "perturb",
              "counting": "dual-query:rounds=2:rate=0.001:draws=1"}
for number in numbers:
    figure.compare(str(number), mechanisms, (1.0,), private=figure.data("kdd99", "kdd99-binned.csv.gz"),
                   schema=figure.data("kdd99", "kdd99-binned-domain.json"), delta=0.001, metric="max",
                   workload=f"conjunctions:3:{number}:1:signed")


def of(label, what):
    return [figure.error(str(number), label, 1.0, what) for number in numbers]


def series(labels, what):
    return {label: {n: figure.values(str(n), label, 1.0, what) for n in numbers} for label in labels}


words = lambda values, digits: " ".join(f"{v:.{digits}f}" for v in values)
notes = ["KDD99: 494,021 rows, 396 values; signed conjunctions of three literals, epsilon 1, delta .001."]
for what, word in (("model_mean_error", "mean"), ("model_max_error", "largest")):
    figure.chart(word, f"DualQuery: {word} error by the number of conjunctions", notes,
                 f"{word} error of a query, as a share of the rows", series((AUTHORS, "perturb"), what),
                 x_name="conjunctions")
figure.chart("time", "DualQuery: seconds of a run", notes, "seconds, one thread",
             series((AUTHORS, "counting"), "seconds"), x_name="conjunctions")
means, largest, time = (of(AUTHORS, w) for w in ("model_mean_error", "model_max_error", "seconds"))
alone = [t - c for t, c in zip(time, of("counting", "seconds"))]
figure.line(max(means) <= 1.25 * min(means), "the mean error is mostly stable: within 25%", words(means, 5))
figure.line(max(largest) <= 1.5 * min(largest), "the largest error is mostly stable: within half",
            words(largest, 4))
slope = (alone[-1] - alone[0]) / (numbers[-1] - numbers[0])
off = max(abs(a - (alone[0] + slope * (n - numbers[0]))) / a for n, a in zip(numbers, alone))
figure.line(slope > 0 and off <= 0.25, "without counting, time grows as a line in the number of queries",
            f"{words(alone, 1)} s, off by at most {100 * off:.0f}%")
p = of("perturb", "model_mean_error")
figure.line(all(m < q for m, q in zip(means, p)), "below perturb's mean error at every number",
            " ".join(f"{m:.5f}/{q:.5f}" for m, q in zip(means, p)))
growth, root = p[-1] / p[0], (numbers[-1] / numbers[0]) ** 0.5
figure.line(abs(growth / root - 1) <= 0.1, "perturb's error grows as the root of the number",
            f"{growth:.2f} times, the root is {root:.2f}")
rows = ["| conjunctions | mean | largest | seconds | of them counting | perturb's mean |", "|---" * 6 + "|"]
for n, m, x, t, a, q in zip(numbers, means, largest, time, alone, p):
    rows.append(f"| {n:,} | {m:.5f} | {x:.4f} | {t:.1f} | {t - a:.1f} | {q:.5f} |")
print("\n".join(rows))
figure.text("\n".join(rows))
figure.done()
