#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every mechanism on ADULT at epsilon 1, delta 1e-9: the largest and the mean error of the cells of all
three-way marginals, the mean L1 error of the marginals, and time; 'refused' where a mechanism can't
or won't. Usage: adult-table.py [--quick] [--threads N] [SEEDS]."""
import json
import subprocess

from figure import TANDEM, Figure, mean

figure = Figure("adult-table", what="rows_avg_error")
folder = figure.data("jam", "adult_pub025")
listing = subprocess.run([TANDEM, "mechanisms", "--json"], check=True, capture_output=True, text=True)
specs = [m["name"] for m in json.loads(listing.stdout)["mechanisms"]]
specs += ["tandem:use-public=false", "jam-pgm:as=paper:max-model-mb=8", "mw-pub:as=paper",
          "mw-pub:rounds=0", "mwem-pub:as=paper", "gem:generator=rows"]
slow = {"gem", "tandem", "ide"}  # a run takes half a minute
ran, refused = [], []
for spec in specs:
    done = figure.compare("adult", {spec: spec}, [1.0], private=folder / "priv.csv",
                          public=folder / "pub.csv", schema=folder / "domain.json",
                          folder=spec.replace(":", "-").replace("=", "-"), may_refuse=True,
                          seeds=2 if spec in slow else None)
    errors = figure.values("adult", spec, 1.0, "model_max_error") if done else []
    (ran if errors else refused).append(spec)

NAMES = ("max_error", "mean_error", "avg_error")


def errors(spec):
    """Of the rows; of the answers where there are none."""
    kind = "rows" if figure.values("adult", spec, 1.0, "rows_max_error") else "model"
    return [figure.error("adult", spec, 1.0, f"{kind}_{name}") for name in NAMES]


public = next(iter(figure.levels["adult"].values()))
rows = [(spec, *errors(spec), figure.error("adult", spec, 1.0, "seconds"),
         len(figure.values("adult", spec, 1.0, "model_max_error"))) for spec in ran]
rows.append(("public rows as they are", *(float(public[name]) for name in NAMES), float("nan"), 0))
rows.sort(key=lambda row: row[3])
out = ["| mechanism | largest error of a cell | mean error of a cell | mean L1 of a marginal | seconds "
       "| runs |", "|---|---|---|---|---|---|"]
for spec, most, average, l1, seconds, runs in rows:
    time = "" if runs == 0 else f"{seconds:.1f}"
    out.append(f"| `{spec}` | {most:.4f} | {1e5 * average:.2f}e-5 | {l1:.3f} | {time} | {runs or ''} |")
out += [f"| `{spec}` | refused | | | | |" for spec in refused]
print("\n".join(out), flush=True)
figure.page += out + [""]
least = {name: min(row[1 + i] for row in rows) for i, name in enumerate(NAMES)}
ours = dict((row[0], row) for row in rows)
if "tandem" in ours:
    others = [row for row in rows if row[5] and not row[0].startswith("tandem")]
    best = min(others, key=lambda row: row[3])
    figure.line(ours["tandem"][3] < best[3], "tandem has the smallest L1 error",
                f"{ours['tandem'][3]:.3f}, the next {best[3]:.3f} of {best[0]}")
    figure.line(ours["tandem"][3] < ours["public rows as they are"][3],
                "tandem is better than the public rows as they are",
                f"{ours['tandem'][3]:.3f} and {ours['public rows as they are'][3]:.3f}")
figure.done()
