#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A made-up table of thousands of groups, and public rows that look like it and are off.

Usage: make_groups.py OUT [AREAS YEARS ROWS PUBLIC COLUMNS]

Writes private.csv (AREA, YEAR and COLUMNS others), public.csv (without these two), states.csv (the
state of each area) and schema.toml. Rows are of a few kinds, each with shares of its own in every
column; states differ in their kinds, areas from their state, years a little. Public rows have the
kinds in other shares, so that columns go together as they do and their shares are off.
"""
import itertools
import pathlib
import random
import sys

KINDS = 12
STATES = 25


def shares(rng, count, evenness):
    drawn = [rng.gammavariate(evenness, 1.0) + 1e-9 for _ in range(count)]
    return [value / sum(drawn) for value in drawn]


def near(rng, around, rows):
    """Shares as a sample of so many rows would have them."""
    drawn = [rng.gammavariate(rows * share, 1.0) + 1e-12 for share in around]
    return [value / sum(drawn) for value in drawn]


def make_rows(rng, mixture, columns, count):
    """Columns of `count` rows, rows of a kind next to each other."""
    kinds = sorted(rng.choices(range(KINDS), mixture, k=count))
    of_kind = [(kind, len(list(some))) for kind, some in itertools.groupby(kinds)]
    return [[value for kind, some in of_kind
             for value in rng.choices(range(len(column[kind])), column[kind], k=some)]
            for column in columns]


def main(out, areas=500, years=4, rows=2_000_000, public=20_000, width=18):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    rng = random.Random(1)
    sizes = [2 + rng.randrange(11) for _ in range(width)]
    columns = [[shares(rng, size, 0.5) for _ in range(KINDS)] for size in sizes]
    nation = shares(rng, KINDS, 3.0)
    states = [near(rng, nation, 20.0) for _ in range(STATES)]
    state_of = [area * STATES // areas for area in range(areas)]
    weights = [rng.lognormvariate(0.0, 0.5) for _ in range(areas * years)]
    names = ["AREA", "YEAR", *(f"C{c:02}" for c in range(width))]
    with (out / "private.csv").open("w", encoding="utf-8") as file:
        file.write(",".join(names) + "\n")
        for area in range(areas):
            mixture = near(rng, states[state_of[area]], 40.0)
            for year in range(years):
                weight = weights[area * years + year] / sum(weights)
                made = make_rows(rng, near(rng, mixture, 200.0), columns, round(rows * weight))
                key = f"A{area:04},{2018 + year},"
                file.writelines(key + ",".join(map(str, row)) + "\n" for row in zip(*made))
    with (out / "public.csv").open("w", encoding="utf-8") as file:
        file.write(",".join(names[2:]) + "\n")
        made = make_rows(rng, near(rng, nation, 10.0), columns, public)
        file.writelines(",".join(map(str, row)) + "\n" for row in zip(*made))
    (out / "states.csv").write_text(
        "".join(f"A{area:04},S{state:02}\n" for area, state in enumerate(state_of)), encoding="utf-8")
    values = [[f"A{area:04}" for area in range(areas)], [str(2018 + year) for year in range(years)]]
    values += [[str(code) for code in range(size)] for size in sizes]
    (out / "schema.toml").write_text("".join(
        f'[[columns]]\nname = "{name}"\nkind = "categorical"\nvalues = {list(known)}\n\n'.replace("'", '"')
        for name, known in zip(names, values)), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1], *map(int, sys.argv[2:]))
