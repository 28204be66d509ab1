# SPDX-License-Identifier: Apache-2.0
"""How far synthetic rows are from the real ones. INTERNAL: for the steward alone."""

import html
import json
import pathlib

from ._numbers import Numbers
from ._rows import html_table

STYLE = ("body{font:15px/1.5 sans-serif;max-width:56em;margin:2em auto;padding:0 1em}"
         "table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;text-align:right;"
         "border-bottom:1px solid #ccc}td:first-child,th:first-child{text-align:left}")


def for_the_steward(path):
    """A path whose file nobody else of the machine can read."""
    path = pathlib.Path(path)
    path.touch(mode=0o600)
    path.chmod(0o600)
    return path


class Evaluation:
    """`evaluation["avg_workload_error"]` and the other keys of 'evaluate --json' (docs/formats.md);
    `errors`, `columns`, `pairs`, `groups` and `quantiles` are tables."""

    def __init__(self, document):
        self.document = document

    def __getitem__(self, key):
        return self.document[key]

    def __contains__(self, key):
        return key in self.document

    def keys(self):
        return self.document.keys()

    @property
    def errors(self):
        """Each error beside those of samples of the real rows, and as good a share of them."""
        samples = self.document.get("yardstick", {}).get("samples", [])
        equivalent = self.document.get("yardstick", {}).get("equivalent", {})
        names = [name for name in ("avg_workload_error", "max_error", "mean_error", "rmse",
                                   "k_marginal_score") if name in self.document]
        table = {"error": names, "rows": [self.document[name] for name in names]}
        for sample in samples:
            table[f"{100 * sample['fraction']:g}% sample"] = [sample.get(name) for name in names]
        table["as good as"] = [share_in_words(equivalent.get(name)) for name in names]
        return Numbers(table)

    @property
    def columns(self):
        """Each column's error, beside that of a tenth of the real rows; the worst first."""
        listed = self.document.get("columns", [])
        return Numbers({"column": [one["column"] for one in listed],
                        "error": [one["error"] for one in listed],
                        "10% sample": [one.get("tenth_sample_error") for one in listed]})

    @property
    def pairs(self):
        """The same of pairs of columns."""
        listed = self.document.get("pairs", [])
        return Numbers({"pair": [", ".join(one["columns"]) for one in listed],
                        "error": [one["error"] for one in listed],
                        "10% sample": [one.get("tenth_sample_error") for one in listed]})

    @property
    def groups(self):
        """Of group_by: the error in each group."""
        listed = self.document.get("groups", [])
        found = {name: [one["values"][at] for one in listed]
                 for at, name in enumerate(self.document.get("group_by", []))}
        for key in ("error", "real_rows", "synthetic_rows"):
            found[key.replace("_", " ")] = [one.get(key) for one in listed]
        return Numbers(found)

    @property
    def quantiles(self):
        """Of numbers and dates: the real and the synthetic points beside each other."""
        found = {"column": [], "rows": []}
        marks = ("least", "5%", "25%", "50%", "75%", "95%", "most")
        found.update({mark: [] for mark in marks})
        for one in self.document.get("quantiles", []):
            for kind in ("real", "synthetic"):
                found["column"].append(one["column"])
                found["rows"].append(kind)
                points = one[kind]["points"] or [None] * len(marks)
                for mark, point in zip(marks, points):
                    found[mark].append(point)
        return Numbers(found)

    def report(self, path):
        """Writes a page. INTERNAL: it shows quantiles and counts of the real rows."""
        for_the_steward(path).write_text(
            "<!doctype html><meta charset='utf-8'><title>INTERNAL evaluation</title>"
            f"<style>{STYLE}</style>" + self._repr_html_(), encoding="utf-8")

    def to_json(self):
        return json.dumps(self.document)

    def __repr__(self):
        return (f"<tandem.Evaluation, INTERNAL: average error {self['avg_workload_error']:.3g} on "
                f"{self['workload']}>")

    def _repr_html_(self):
        rows = self.document.get("rows", {})
        parts = ["<p><b>INTERNAL</b>: computed from the real table; not for publication. "
                 f"{html.escape(str(self['workload']))}, {rows.get('real', 0):,} real and "
                 f"{rows.get('synthetic', 0):,} synthetic rows.</p>"]
        for title, table in (("", self.errors), ("Columns", self.columns), ("Pairs", self.pairs),
                             ("Groups", self.groups), ("Values", self.quantiles)):
            if len(table):
                listed = list(zip(*table.to_dict().values()))
                parts.append((f"<h3>{title}</h3>" if title else "") + html_table(
                    table.columns, [[plain(cell) for cell in row] for row in listed[:12]]))
                if len(listed) > 12:
                    parts.append(f"<p>and {len(listed) - 12} more</p>")
        for finding in self.document.get("findings", []):
            text = finding.get("text", "") if isinstance(finding, dict) else str(finding)
            parts.append(f"<p>{html.escape(text)}</p>")
        return "".join(parts)


def plain(cell):
    if cell is None:
        return ""
    return f"{cell:.4g}" if isinstance(cell, float) else cell


def share_in_words(found):
    if not found:
        return ""
    bound = {"below": "less than ", "above": "more than "}.get(found.get("side"), "")
    return f"{bound}{100 * found['fraction']:.2g}% of the rows"
