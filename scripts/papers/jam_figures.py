# SPDX-License-Identifier: Apache-2.0
"""What figures 1 and 2 of the JAM-PGM paper share: the runs, and sentences on them."""
import statistics

from figure import EPSJ, Figure

JAM = "JAM-PGM as printed, 8 MB"
OURS = "JAM-PGM, default"


def run(name, tables, few, many, generator):
    """All mechanisms on each table, all three-way marginals; aim and gem, which see no public data,
    once for tables with the same private rows."""
    figure = Figure(name, what="rows_avg_error")
    epsilons = figure.choose(EPSJ, (0.1, 1.0, 10.0))
    gem = f"alpha=0.67:generator={generator}"
    short, long = f"GEM-Pub, T {few}", f"GEM-Pub, T {many}"
    tables = figure.choose(tables, tables[:1] + tables[3:])
    for table in tables:
        folder = figure.data("jam", table)
        same = {"private": folder / "priv.csv", "schema": folder / "domain.json"}
        public = {**same, "public": folder / "pub.csv"}
        figure.compare(table, {JAM: "jam-pgm:as=paper:max-model-mb=8", OURS: "jam-pgm",
                               "MW-Pub": "mw-pub"}, epsilons, **public)
        figure.compare(table, {short: f"gem-pub:rounds={few}:{gem}",
                               long: f"gem-pub:rounds={many}:{gem}"}, epsilons, part="gem-pub",
                       **public)
        # tandem takes as long as all others together: fewer seeds.
        figure.compare(table, {"tandem": "tandem"}, epsilons, part="tandem", seeds=2, **public)
    folder = figure.data("jam", tables[0])
    for table in tables:
        figure.compare(table, {"AIM": "aim", "GEM": f"gem:{gem}"}, epsilons, folder="without",
                       private=folder / "priv.csv", schema=folder / "domain.json")
    figure.few, figure.many = short, long
    return figure, tables


def draw(figure, table, title):
    labels = [JAM, OURS, "MW-Pub", "AIM", "GEM", figure.few, figure.many, "tandem"]
    figure.chart_of(table, title, ["All three-way marginals, delta 1e-9."],
                    "mean L1 error of the rows' marginals", labels=labels)
    figure.table(table, f"{title}: mean L1 error of the rows")


def loss(figure, label, epsilons, worse="adult_pub100", than="adult_pub025"):
    """How many times larger errors are on one table than on the other."""
    return statistics.mean(figure.error(worse, label, e) / figure.error(than, label, e)
                           for e in epsilons)


def flat(figure, table, label, sentence):
    """Errors that fall by less than a fifth."""
    errors = [figure.error(table, label, e) for e in figure.epsilons(table)]
    errors = [error for error in errors if error == error]
    figure.line(errors and errors[-1] > 0.8 * errors[0], sentence,
                " ".join(f"{error:.3f}" for error in errors) or "nan")
