#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables that the papers' figures need, made from real ones; the same seed makes the same table.

    tables.py reduced-acs IN OUT                 13 columns of two values, OWN_RENT, education in 4
    tables.py small-acs DOMAIN IN OUT IN OUT ... 18 columns, coded; the domain is of all of them
    tables.py where IN OUT COLUMN VALUE          the rows with a value
    tables.py fraction IN OUT SHARE SEED         that share of the rows, without replacement
    tables.py biased IN OUT COLUMN VALUE SHARE BIAS SEED
                                                 that share of the rows, with replacement, among
                                                 which the value's share is off by BIAS
    tables.py halves IN A B SHARE SEED           two disjoint parts, A with that share of the rows
    tables.py columns IN OUT NAME,NAME...        some columns
Each prints the numbers of rows."""
import csv
import json
import random
import sys


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        header = next(reader)
        return header, list(reader)


def write(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    print(f"{path}: {len(rows)} rows")


# The reduced ACS of the MW-Pub paper has 15 columns of few values; these are those of NIST's
# excerpts that come nearest: 98,304 cells. Education: below three years of age, at most a high
# school diploma, less than a bachelor's degree, or one.
REDUCED = {
    "SEX": lambda r: r["SEX"] == "2",
    "WHITE": lambda r: r["RAC1P"] == "1",
    "BLACK": lambda r: r["RAC1P"] == "2",
    "NATIVE": lambda r: r["RAC1P"] in "345",
    "ASIAN": lambda r: r["RAC1P"] == "6",
    "PACIFIC": lambda r: r["RAC1P"] == "7",
    "OTHER": lambda r: r["RAC1P"] in "89",
    "DEYE": lambda r: r["DEYE"] == "1",
    "DEAR": lambda r: r["DEAR"] == "1",
    "DPHY": lambda r: r["DPHY"] == "1",
    "DREM": lambda r: r["DREM"] == "1",
    "DVET": lambda r: r["DVET"] != "N",
    "HISP": lambda r: r["HISP"] != "0",
    "OWN_RENT": lambda r: r["OWN_RENT"],
    "EDU": lambda r: 0 if r["EDU"] == "N" else sum(int(r["EDU"]) > most for most in (0, 5, 8)),
}
REDUCED_SIZES = {name: 2 for name in REDUCED} | {"OWN_RENT": 3, "EDU": 4}


def reduced_acs(source, out):
    header, rows = read(source)
    made = []
    for row in rows:
        record = dict(zip(header, row))
        made.append([int(value(record)) for value in REDUCED.values()])
    write(out, list(REDUCED), made)


def reduced_domain(out):
    with open(out, "w", encoding="utf-8") as file:
        json.dump(REDUCED_SIZES, file)


# 18 of the 24 columns: without the place, weights, the industry's long code and incomes in dollars;
# the age and the distance from poverty in bins.
SMALL = ["AGEP", "SEX", "MSP", "HISP", "RAC1P", "NOC", "NPF", "HOUSING_TYPE", "OWN_RENT", "INDP_CAT",
         "EDU", "PINCP_DECILE", "POVPIP", "DVET", "DREM", "DPHY", "DEYE", "DEAR"]
EDGES = {"AGEP": [5, 15, 18, 25, 35, 45, 55, 65, 75], "POVPIP": [50, 100, 150, 200, 300, 400, 501]}


def small_value(name, text):
    if name in EDGES and text != "N":
        return str(sum(float(text) >= edge for edge in EDGES[name]))
    return text


def small_acs(domain, *names):
    tables = {}
    for source, out in zip(names[::2], names[1::2]):
        header, rows = read(source)
        at = [header.index(name) for name in SMALL]
        tables[out] = [[small_value(n, row[i]) for n, i in zip(SMALL, at)] for row in rows]
    # Published tables: what occurs in one of them is what can be said.
    words = [sorted({row[i] for rows in tables.values() for row in rows}, key=lambda w: (w == "N", len(w), w))
             for i in range(len(SMALL))]
    code = [{word: c for c, word in enumerate(some)} for some in words]
    for out, rows in tables.items():
        write(out, SMALL, [[code[i][word] for i, word in enumerate(row)] for row in rows])
    with open(domain, "w", encoding="utf-8") as file:
        json.dump({name: len(some) for name, some in zip(SMALL, words)}, file)


def where(source, out, column, value):
    header, rows = read(source)
    at = header.index(column)
    write(out, header, [row for row in rows if row[at] == value])


def fraction(source, out, share, seed):
    header, rows = read(source)
    random.Random(int(seed)).shuffle(rows)
    write(out, header, rows[:max(1, round(float(share) * len(rows)))])


def biased(source, out, column, value, share, bias, seed):
    header, rows = read(source)
    at = header.index(column)
    chosen = [row for row in rows if row[at] == value]
    others = [row for row in rows if row[at] != value]
    natural = len(chosen) / len(rows)
    size = float(share) * len(rows)
    rng = random.Random(int(seed))
    # The papers round down; a share such as .3 - .1 must not fall short by its last digit.
    made = rng.choices(chosen, k=max(0, int(size * (natural + float(bias)) + 1e-9)))
    made += rng.choices(others, k=int(size * (1 - natural - float(bias)) + 1e-9))
    rng.shuffle(made)
    write(out, header, made)


def halves(source, first, second, share, seed):
    header, rows = read(source)
    random.Random(int(seed)).shuffle(rows)
    cut = round(float(share) * len(rows))
    write(first, header, rows[:cut])
    write(second, header, rows[cut:])


def columns(source, out, names):
    header, rows = read(source)
    at = [header.index(name) for name in names.split(",")]
    write(out, names.split(","), [[row[i] for i in at] for row in rows])


TOOLS = {"reduced-acs": reduced_acs, "reduced-domain": reduced_domain, "small-acs": small_acs, "where": where,
         "fraction": fraction, "biased": biased, "halves": halves, "columns": columns}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in TOOLS:
        sys.exit(__doc__)
    TOOLS[sys.argv[1]](*sys.argv[2:])
