# SPDX-License-Identifier: Apache-2.0
"""A falsifier of doors: tables that differ in what one person says look the same through every door.

Exceptions and their sentences, types and names of columns, files, what release.json says but for noise,
warnings, progress and entries of the ledger are compared. Counts are made with so much budget that
noise is next to nothing, so that it also shows when one odd cell changes how the other rows are read.
"""
import os
import tempfile

import pytest

import tandem
from doors import (DOORS, RELATIONS, SCHEMA, SECRET, Folder, Tried, base_of, differences, neighbours, seen)

SETTINGS = dict(epsilon=900, mechanism="independent", workload="all-1way", threads=1)


@pytest.fixture(scope="module")
def tried():
    found = Tried()
    yield found
    print()
    for door, pairs in found.pairs.items():
        print(f"{door}: {pairs} pairs, {found.not_readable[door]} not readable by its library")
    print(f"all doors: {sum(found.pairs.values())} pairs")


@pytest.fixture(scope="module", autouse=True)
def in_memory():
    """Thousands of small releases are written: where a disk would be waited for, memory serves."""
    before = tempfile.tempdir
    if os.access("/dev/shm", os.W_OK):
        tempfile.tempdir = "/dev/shm"
    yield
    tempfile.tempdir = before


NOT_READABLE = object()


def through(door, relation, table, **more):
    """What can be seen of a run on this table through this door."""
    with Folder() as folder:
        try:
            private = door.open(table, folder)
        except Exception:  # the library that reads the door has no place for such a cell
            return NOT_READABLE
        ledger = tandem.Ledger.create(folder / "ledger", dataset="d", epsilon=2000,
                                      neighbors=RELATIONS[relation].get("neighbors", "replace-one"),
                                      rows_per_person=RELATIONS[relation].get("rows_per_person", 1))
        events = []
        settings = {**SETTINGS, **RELATIONS[relation], **more}
        schema = tandem.Schema(SCHEMA.replace("RECORDS", door.records))
        return seen(lambda: tandem.synthesize(private, schema=schema, ledger=ledger,
                                              progress=events.append, **settings),
                    folder, relation == "replace-one", ledger, events)


def hold(tried, door, relation, singles, bare=False, **more):
    """Every neighbour looks as the base does."""
    base = through(door, relation, base_of(door, relation, bare), **more)
    assert base is not NOT_READABLE
    found = {}
    for odd, where, table in neighbours(door, relation, singles, bare):
        other = through(door, relation, table, **more)
        if other is NOT_READABLE:
            tried.not_readable[door.name] += 1
            continue
        tried.pairs[door.name] += 1
        told = differences(base, other, 2 if relation == "persons" else 1)
        if SECRET.encode() in other.everything:
            told.append("the cell itself is shown")
        for one in told:
            found.setdefault(one, []).append(f"{odd} in {where}")
    assert not found, shown(found)


def shown(found):
    """Each difference once, with some of the pairs that have it."""
    return "\n" + "\n".join(f"{one} ({len(pairs)} pairs: {'; '.join(pairs[:4])})"
                            for one, pairs in found.items())


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("door", DOORS)
def test_one_odd_cell_shows_nowhere(tried, door, relation):
    hold(tried, DOORS[door], relation, singles=3 if relation == "replace-one" else 1)


@pytest.mark.parametrize("door", DOORS)
def test_the_only_cell_of_a_column_shows_nowhere(tried, door):
    hold(tried, DOORS[door], "replace-one", singles=0, bare=True)
