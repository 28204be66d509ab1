# SPDX-License-Identifier: Apache-2.0
"""What a run would do, before it does it."""

from ._rows import html_table


class Plan:
    """For each epsilon: what would be measured, with how much noise, and what that takes. `rows` is a
    dict for each; `documents` is all that the library says."""

    def __init__(self, documents, private_rows):
        self.documents = documents
        self.private_rows = private_rows

    @property
    def rows(self):
        """`error`: the expected rmse of all answers as a share of the rows (in rows where their number
        was not given), of a mechanism that can know it, and None of others. `noise`: the standard
        deviation of the first measurement of a count, in rows. Bytes and minutes are bounds from
        above."""
        return [self._row(one) for one in self.documents]

    def _row(self, document):
        steps = {step["key"]: step for step in document["steps"]}
        error = steps.get("rmse", {}).get("rmse")
        if error is not None and self.private_rows:
            error /= self.private_rows
        noise = next((step["sigma"] for step in document["steps"] if "sigma" in step), None)
        return {"epsilon": document["guarantee"]["epsilon"], "mechanism": document["mechanism"],
                "error": error, "noise": noise, "memory": document["bytes"],
                "minutes": document.get("seconds", 0.0) / 60.0,
                "accepted": document.get("ledger", {}).get("accepts"),
                "warnings": [one["text"] for one in document["warnings"]]}

    def frame(self):
        """The same as a pandas frame."""
        import pandas
        return pandas.DataFrame(self.rows)

    @property
    def text(self):
        """All of it in sentences."""
        return "\n".join(one["text"] for one in self.documents)

    def _shown(self):
        for row in self.rows:
            error = "" if row["error"] is None else f"{row['error']:.3g}"
            noise = "" if row["noise"] is None else f"{row['noise']:.3g}"
            minutes = row["minutes"]
            time = "seconds" if minutes < 0.5 else f"{minutes:.0f}"
            accepted = {None: "", True: "yes", False: "no"}[row["accepted"]]
            yield [f"{row['epsilon']:g}", row["mechanism"], error, noise,
                   f"{row['memory'] / 1e6:,.0f} MB", time, accepted, "; ".join(row["warnings"])]

    def _names(self):
        unit = "of all rows" if self.private_rows else "in rows"
        return ["epsilon", "mechanism", f"expected rmse, {unit}", "noise of a count, rows",
                "memory, at most", "minutes", "the ledger accepts", "warnings"]

    def __repr__(self):
        rows = [self._names(), *self._shown()]
        kept = [at for at in range(len(rows[0])) if any(row[at] for row in rows[1:])]
        widths = {at: max(len(row[at]) for row in rows) for at in kept}
        return "\n".join("  ".join(row[at].ljust(widths[at]) for at in kept).rstrip() for row in rows)

    def _repr_html_(self):
        return html_table(self._names(), self._shown()) + (
            "<p>Nothing was spent and no private data was read.</p>")
