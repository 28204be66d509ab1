#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a wide simulated survey, twice: a public wave and a later, private one, of 67 columns.

Nobody in it exists. It stands for the surveys of the papers that cannot be had: many columns of few
values, most of them yes or no, many of them tied to others and to a few things that nobody asks for.

    household      a person's household has a kind (one of 6) and the person a stage of life (one of
                   7); neither is a column, and they go together
    columns        0 to 66: of 2 values mostly, of up to 12 a few. Each has one or two parents among
                   the columns before it, the kind, or the stage, and a share for each of their values
    never          about a quarter of the columns can't take some value unless a parent allows it: a
                   question that is not asked of everyone (structural zeros)

Between the waves the shares drift: each logit moves by a normal number times --drift, and those of
six columns by five times as much. The same seed makes the same files, on any machine.

    make_survey.py --out FOLDER [--private-rows 20000] [--public-rows 20000] [--drift 0.15]
                   [--columns 67] [--ties 2] [--seed 1]

--ties is the number of parents of a column; more make a table that few marginals describe.
Writes private.csv, public.csv and domain.json: whole numbers below each column's size."""

import argparse
import csv
import json
import math
import random
from pathlib import Path

KINDS, STAGES = 6, 7


class Column:
    def __init__(self, at, columns, rng, ties):
        self.size = rng.choices([2, 3, 4, 5, 8, 12], [40, 9, 7, 5, 4, 2])[0]
        pool = ["kind", "stage"] + list(range(max(0, at - 12), at))
        self.parents = rng.sample(pool, min(ties, len(pool)))
        sizes = [KINDS if p == "kind" else STAGES if p == "stage" else columns[p].size
                 for p in self.parents]
        self.sizes = sizes
        base = [rng.gauss(0, 1) for _ in range(self.size)]
        # Yes is rarer than no, as in most questions of a survey.
        base[0] += rng.uniform(0, 3)
        cells = math.prod(sizes)
        self.logits = [[b + rng.gauss(0, 1.6) for b in base] for _ in range(cells)]
        self.barred = set()
        if rng.random() < 0.25:
            # Where the first parent has its first value, only the first answer is possible.
            self.barred = {cell for cell in range(cells) if cell // math.prod(sizes[1:]) == 0}
        self.lively = rng.random() < 6 / 67

    def drifted(self, rng, drift):
        step = drift * (5 if self.lively else 1)
        out = Column.__new__(Column)
        out.__dict__ = dict(self.__dict__)
        out.logits = [[l + rng.gauss(0, step) for l in logits] for logits in self.logits]
        return out

    def tables(self):
        out = []
        for cell, logits in enumerate(self.logits):
            if cell in self.barred:
                out.append([1.0] + [0.0] * (self.size - 1))
                continue
            weights = [math.exp(l) for l in logits]
            out.append([w / sum(weights) for w in weights])
        return out


def draw(columns, rows, rng, stages):
    tables = [column.tables() for column in columns]
    out = []
    for _ in range(rows):
        kind = rng.choices(range(KINDS), [8, 6, 4, 3, 2, 1])[0]
        stage = rng.choices(range(STAGES), stages[kind])[0]
        row = []
        for column, table in zip(columns, tables):
            cell = 0
            for parent, size in zip(column.parents, column.sizes):
                value = kind if parent == "kind" else stage if parent == "stage" else row[parent]
                cell = cell * size + value
            u = rng.random()
            code = 0
            for code, share in enumerate(table[cell]):
                u -= share
                if u < 0:
                    break
            row.append(code)
        out.append(row)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--private-rows", type=int, default=20000)
    parser.add_argument("--public-rows", type=int, default=20000)
    parser.add_argument("--drift", type=float, default=0.15)
    parser.add_argument("--columns", type=int, default=67)
    parser.add_argument("--ties", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    columns = []
    for at in range(options.columns):
        columns.append(Column(at, columns, rng, options.ties))
    stages = [[math.exp(rng.gauss(0, 1)) for _ in range(STAGES)] for _ in range(KINDS)]
    later = [column.drifted(rng, options.drift) for column in columns]
    options.out.mkdir(parents=True, exist_ok=True)
    names = [f"q{at:02}" for at in range(options.columns)]
    for name, of, rows in (("public", columns, options.public_rows),
                           ("private", later, options.private_rows)):
        made = draw(of, rows, random.Random(f"{options.seed} {name}"), stages)
        with open(options.out / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(names)
            writer.writerows(made)
    with open(options.out / "domain.json", "w", encoding="utf-8") as file:
        json.dump({name: column.size for name, column in zip(names, columns)}, file)
    print(f"{options.out}: private.csv with {options.private_rows} rows, public.csv with "
          f"{options.public_rows}, {options.columns} columns, domain.json")


if __name__ == "__main__":
    main()
