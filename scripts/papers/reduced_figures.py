# SPDX-License-Identifier: Apache-2.0
"""The reduced ACS of the MW-Pub paper's figures 6 to 8: Massachusetts 2019 with 2018, 20 areas of the
country, and one of them as public data; 15 columns, all 3,003 five-way marginals."""
from figure import EPS6, Figure
from tables import read, reduced_acs, reduced_domain, where

SOURCES = ("ma2018", "national2019", "area")
Y_NAME = "largest error of one query, as a share of the rows"
X_NAME = "epsilon, the privacy budget of a release"
NOTE = "7,634 private rows, 15 columns with 98,304 cells, all 3,003 five-way marginals, delta 1/n^2."


def start(name):
    """The figure, its epsilons, the folder of tables, and what all comparisons share."""
    figure = Figure(name)
    folder = figure.out / "data"
    folder.mkdir(exist_ok=True)
    where(figure.data("acs", "national2019.csv"), folder / "raw-area.csv", "PUMA", "36-03710")
    for source in ("ma2018", "ma2019", "national2019"):
        reduced_acs(figure.data("acs", f"{source}.csv"), folder / f"{source}.csv")
    reduced_acs(folder / "raw-area.csv", folder / "area.csv")
    reduced_domain(folder / "domain.json")
    rows = len(read(folder / "ma2019.csv")[1])
    how = {"private": folder / "ma2019.csv", "schema": folder / "domain.json",
           "workload": "all-5way", "delta": 1 / rows ** 2, "metric": "max"}
    return figure, figure.choose(EPS6, (0.1, 1.0)), folder, how


def support(path):
    """How many different rows a table has."""
    return len({tuple(row) for row in read(path)[1]})
