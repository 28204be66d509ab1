# SPDX-License-Identifier: Apache-2.0
"""Results of 'tandem compare' and what a paper says of them, as lines, green or red."""
import csv
import sys
from collections import defaultdict

from figure import write_page

_lines = []


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


def line(holds, text, measured=""):
    """A line that the paper, or tandem, is held to; what was measured may be a part of the text."""
    _lines.append((bool(holds), text, measured))
    print(("green  " if holds else "red    ") + text + (f": {measured}" if measured else ""), flush=True)


def done(out=None, page=()):
    """Ends the script. out: the folder that gets page.md, with what figure.draw_chart gave and other
    lines of Markdown."""
    if out:
        write_page(out, list(page), _lines)
    sys.exit(0 if all(holds for holds, _, _ in _lines) else 1)
