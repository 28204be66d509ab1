# SPDX-License-Identifier: Apache-2.0
"""Results of 'tandem compare' and what a paper says of them, as lines, green or red."""
import csv
import sys
from collections import defaultdict

_red = 0


def means(path):
    """{(mechanism, parameters, epsilon): {column: mean over seeds}} of a comparison's results."""
    rows = defaultdict(list)
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            rows[row["mechanism"], row["parameters"], float(row["epsilon"])].append(row)
    out = {}
    for key, some in rows.items():
        columns = ("model_max_error", "model_mean_error", "seconds", "peak_mb")
        out[key] = {c: sum(float(r[c]) for r in some) / len(some) for c in columns}
        out[key]["seeds"] = len(some)
    return out


def line(holds, text):
    """A line that the paper, or tandem, is held to."""
    global _red
    _red += not holds
    print(("green  " if holds else "red    ") + text, flush=True)


def done():
    sys.exit(1 if _red else 0)
