#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make two simulated tables of hospital stays: a public one of 2022 and a private one of 2023.

Nobody in these files exists. Each row is a stay, with two dates and a length that belong together:

    admitted <= discharged, and length = discharged - admitted in days

A stay that had not ended when the file was closed has no discharge and no length.
"""

import argparse
import csv
import math
import random
from datetime import date, timedelta
from pathlib import Path

DEFAULT_ROWS = 12_000  # of the private table; the public one has a third
DEFAULT_SEED = 2023

# ward -> share, usual days, share of urgent admissions
WARDS = {
    "surgery": (0.26, 4.0, 0.35),
    "medicine": (0.30, 5.5, 0.70),
    "maternity": (0.14, 3.0, 0.55),
    "children": (0.12, 2.0, 0.75),
    "geriatrics": (0.10, 13.0, 0.60),
    "psychiatry": (0.08, 24.0, 0.45),
}
AGES = {"surgery": (18, 88), "medicine": (18, 95), "maternity": (17, 45), "children": (0, 17),
        "geriatrics": (65, 99), "psychiatry": (16, 80)}
COLUMNS = ("ward", "age", "urgent", "admitted", "discharged", "length", "outcome")


def pick(draw, weights):
    left = draw() * math.fsum(weights.values())
    for value, weight in weights.items():
        left -= weight
        if left < 0.0:
            return value
    return value


def stay(draw, year, longer):
    """One row. The length follows from ward, age and urgency; outcomes from age and length."""
    ward = pick(draw, {name: share for name, (share, _, _) in WARDS.items()})
    _, usual, urgent_share = WARDS[ward]
    youngest, oldest = AGES[ward]
    age = youngest + int(draw() * (oldest - youngest + 1))
    urgent = draw() < urgent_share
    first = date(year, 1, 1)
    days = (date(year + 1, 1, 1) - first).days
    day = int(draw() * days)
    # Winters are full: half of the summer's admissions come in winter instead.
    if 120 < day < 240 and draw() < 0.5:
        day = (day + 182) % days
    mean = usual * longer * (1.3 if urgent else 0.9) * (1.0 + max(0, age - 60) / 80.0)
    length = int(-mean * math.log(1.0 - draw()))
    admitted = first + timedelta(days=day)
    discharged = admitted + timedelta(days=length)
    closed = date(year, 12, 31)
    if discharged > closed:
        return ward, age, urgent, admitted, None, None, "still there"
    sicker = 0.01 + 0.05 * max(0, age - 50) / 50.0 + 0.02 * urgent
    outcome = pick(draw, {"home": 1.0 - sicker - 0.01 * min(length, 30),
                          "other care": 0.01 * min(length, 30), "died": sicker})
    return ward, age, urgent, admitted, discharged, length, outcome


def text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def write_table(path, rows, year, longer, seed):
    draw = random.Random(seed).random
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for _ in range(rows):
            writer.writerow(text(value) for value in stay(draw, year, longer))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to write to")
    parser.add_argument("--rows", type=int, default=DEFAULT_ROWS, metavar="N",
                        help="rows of the private table (default %(default)s)")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="N",
                        help="same seed, same files (default %(default)s)")
    args = parser.parse_args()
    if args.rows < 3:
        parser.error(f"--rows is {args.rows}; choose at least 3")
    args.out.mkdir(parents=True, exist_ok=True)
    write_table(args.out / "public.csv", args.rows // 3, 2022, 1.0, 2 * args.seed)
    write_table(args.out / "private.csv", args.rows, 2023, 0.9, 2 * args.seed + 1)


if __name__ == "__main__":
    main()
