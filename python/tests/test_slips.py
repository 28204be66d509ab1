# SPDX-License-Identifier: Apache-2.0
"""Slips: private rows handed over as public ones, through every door. Each is refused with a sentence
before anything is reserved, and leaves nothing; what only looks like one is let through."""
import gzip
import os
import pathlib
import shutil
import sqlite3
import subprocess

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import tandem
from doors import COMMAND, Folder

pytestmark = pytest.mark.usefixtures("in_memory")
ROWS = 1500  # more than are compared
CELLS = {"a": ["xyz"[at * at % 3] for at in range(ROWS)], "b": [at % 7 for at in range(ROWS)],
         "c": [at % 64 / 8 for at in range(ROWS)]}
OTHER = {"a": ["xyz"[at % 3] for at in range(ROWS)], "b": [at % 5 for at in range(ROWS)],
         "c": [at % 32 / 8 for at in range(ROWS)]}
SCHEMA = """
[[column]]
name = "a"
values = ["x", "y", "z"]
[[column]]
name = "b"
size = 7
[[column]]
name = "c"
kind = "real"
min = 0
max = 8
bins = 4
decimals = 3
"""

# Tables by kind of frame, and files. `folder` is empty.
KINDS = {
    "pandas": lambda cells, folder: pandas.DataFrame(cells),
    "pandas of objects": lambda cells, folder: pandas.DataFrame(cells, dtype=object),
    "pandas of Arrow": lambda cells, folder: pandas.DataFrame(cells).convert_dtypes(
        dtype_backend="pyarrow"),
    "polars": lambda cells, folder: polars.DataFrame(cells),
    "pyarrow": lambda cells, folder: pyarrow.table(cells),
    "batch": lambda cells, folder: pyarrow.RecordBatch.from_pydict(cells),
    "dict": lambda cells, folder: {name: list(column) for name, column in cells.items()},
    "csv": lambda cells, folder: written(cells, folder / "rows.csv"),
    "parquet": lambda cells, folder: parquet(cells, folder / "rows.parquet"),
}


def written(cells, path):
    pandas.DataFrame(cells).to_csv(path, index=False)
    return path


def parquet(cells, path):
    pyarrow.parquet.write_table(pyarrow.table(cells), path)
    return path


def packed(path):
    out = path.with_name("packed.csv.gz")
    out.write_bytes(gzip.compress(path.read_bytes()))
    return out


def linked(path):
    out = path.with_name(f"linked{path.suffix}")
    out.symlink_to(path)
    return out


def hard_linked(path):
    out = path.with_name(f"hard{path.suffix}")
    out.hardlink_to(path)
    return out


def copied(path):
    return pathlib.Path(shutil.copy(path, path.with_name(f"copied{path.suffix}")))


def in_folder(path):
    """A folder that holds the file among others."""
    parquet(OTHER, path.with_name("other.parquet"))
    return path.parent


def database(folder=None):
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute("create table people (a text, b int, c real)")
    connection.execute("create table others (a text, b int, c real)")
    for name, cells in (("people", CELLS), ("others", OTHER)):
        connection.executemany(f"insert into {name} values (?, ?, ?)", list(zip(*cells.values())))
    return connection


def queries(one, other):
    def pair(folder):
        connection = database()
        return tandem.source(connection, one), tandem.source(connection, other)
    return pair


def relations(of):
    """Relations of one connection of DuckDB, which lives as long as they do."""
    def pair(folder):
        connection = duckdb.connect()
        for name, cells in (("people", CELLS), ("others", OTHER)):
            connection.register(f"{name}_seen", pyarrow.table(cells))
            connection.execute(f"create table {name} as select * from {name}_seen")
        OPEN.append(connection)
        return of(connection)
    return pair


OPEN = []


@pytest.fixture
def tmp_path(in_memory):
    with Folder() as folder:
        yield folder


def of_kind(kind, public):
    """The private table of a kind, and what is made of it."""
    def pair(folder):
        private = KINDS[kind](CELLS, folder)
        return private, public(private)
    return pair


def two_kinds(kind, other):
    def pair(folder):
        (folder / "other").mkdir()
        return KINDS[kind](CELLS, folder), KINDS[other](CELLS, folder / "other")
    return pair


SLIPS = {
    **{f"the same {kind}": of_kind(kind, lambda one: one) for kind in KINDS},
    "one of several": of_kind("pandas", lambda one: [pandas.DataFrame(OTHER), one]),
    "a copy of pandas": of_kind("pandas", lambda one: one.copy()),
    "a shallow copy of pandas": of_kind("pandas", lambda one: one.copy(deep=False)),
    "a deep copy of a dict": of_kind("dict", lambda one: {name: list(cells)
                                                          for name, cells in one.items()}),
    "a shallow copy of a dict": of_kind("dict", dict),
    "a copy of polars": of_kind("polars", lambda one: polars.DataFrame(one.to_dicts())),
    "a clone of polars": of_kind("polars", lambda one: one.clone()),
    "a copy of pyarrow": of_kind("pyarrow", lambda one: pyarrow.table(one.to_pydict())),
    "rows of pandas": of_kind("pandas", lambda one: one.iloc[100:700]),
    "columns of pandas": of_kind("pandas", lambda one: one[["a", "b", "c"]]),
    "overlapping rows of pandas": lambda folder: halves(pandas.DataFrame(CELLS), 0, 900, 600, 1500),
    "overlapping rows of pandas of Arrow": lambda folder: halves(
        KINDS["pandas of Arrow"](CELLS, folder), 0, 900, 600, 1500),
    "rows of polars": of_kind("polars", lambda one: one.slice(100, 600)),
    "overlapping rows of polars": lambda folder: (
        lambda whole: (whole.slice(0, 900), whole.slice(600, 900)))(polars.DataFrame(CELLS)),
    "rows of pyarrow": of_kind("pyarrow", lambda one: one.slice(100, 600)),
    "a table of the same columns": of_kind("pyarrow", lambda one: pyarrow.table(
        {name: one[name] for name in one.column_names})),
    "polars over pyarrow": of_kind("pyarrow", polars.from_arrow),
    "pyarrow over polars": of_kind("polars", lambda one: one.to_arrow()),
    "a batch of the table": of_kind("pyarrow", lambda one: one.to_batches()[0]),
    "other order of columns": of_kind("pandas", lambda one: one[["c", "a", "b"]].copy()),
    "a column more": of_kind("pandas", lambda one: one.copy().assign(d=1)),
    "another index": of_kind("pandas", lambda one: one.copy().set_index(one.index + 7)),
    "strings of the cells": of_kind("pandas", lambda one: one.astype(str)),
    **{f"{kind} and {other}": two_kinds(kind, other)
       for kind, other in (("pandas", "polars"), ("polars", "pandas"), ("pandas", "pyarrow"),
                           ("pyarrow", "dict"), ("dict", "pandas"), ("pandas", "csv"), ("csv", "pandas"),
                           ("csv", "dict"), ("polars", "parquet"), ("parquet", "pandas"),
                           ("csv", "parquet"), ("parquet", "csv"), ("pandas of objects", "pandas"),
                           ("pandas of Arrow", "polars"), ("batch", "pandas"), ("csv", "polars"))},
    "the path as text": of_kind("csv", str),
    "a symbolic link": of_kind("csv", linked),
    "a hard link": of_kind("csv", hard_linked),
    "a copy of the file": of_kind("csv", copied),
    "the file, packed": of_kind("csv", packed),
    "the file behind ..": of_kind("csv", lambda one: one.parent / ".." / one.parent.name / one.name),
    "the packed file, unpacked": lambda folder: (lambda path: (packed(path), path))(
        written(CELLS, folder / "rows.csv")),
    "a link to Parquet": of_kind("parquet", linked),
    "a hard link to Parquet": of_kind("parquet", hard_linked),
    "a copy of Parquet": of_kind("parquet", copied),
    "a folder of Parquet": of_kind("parquet", in_folder),
    "a pattern of Parquet": of_kind("parquet", lambda one: str(one.parent / "*.parquet")),
    "the folder itself": lambda folder: (lambda path: (path.parent, path.parent))(
        parquet(CELLS, folder / "rows.parquet")),
    "Parquet, written anew": of_kind("parquet", lambda one: parquet(
        CELLS, one.with_name("anew.parquet"))),
    "one query": lambda folder: (lambda source: (source, source))(
        tandem.source(database(), "select * from people")),
    "the same query": queries("select * from people", "select * from people"),
    "the same query in other letters": queries("select * from people", "SELECT *\n from people ;"),
    "another query of the table": queries("select * from people",
                                          "select a, b, c from people where b < 5"),
    "a join with the table": queries("select * from people",
                                     "select o.a, o.b, o.c from others o join people on o.b = people.b"),
    "the table in quotes": queries("select * from people", 'select * from "people"'),
    "the table in a subquery": queries(
        "select * from people", "select * from (select a, b, c from main.people limit 700)"),
    "a list of tables": queries("select * from people",
                                "select others.a, others.b, others.c from others, people limit 900"),
    "a table by a common expression": queries(
        "select * from people", "with one as (select * from people) select * from one"),
    "the same relation": relations(lambda connection: (connection.table("people"),) * 2),
    "another relation of the table": relations(
        lambda connection: (connection.table("people"), connection.table("people"))),
    "a filter of the relation": relations(
        lambda connection: (connection.table("people"), connection.table("people").filter("b < 5"))),
    "a query of DuckDB": relations(lambda connection: (
        connection.table("people"), connection.sql("select a, b, c from people where b < 6"))),
    "a relation and its table": relations(lambda connection: (
        connection.table("people"), connection.table("people").to_arrow_table())),
}

# What is no slip: parts of one table that share no row, other rows, other tables.


def halves(frame, *ends):
    first, last, begin, end = ends
    return frame.iloc[first:last], frame.iloc[begin:end]


RIGHT = {
    "one column in common": lambda folder: (lambda private: (
        private, pandas.DataFrame(OTHER).assign(year=private["b"])))(pandas.DataFrame(CELLS)),
    "lists that share one": lambda folder: ({**CELLS}, {**OTHER, "year": CELLS["a"]}),
    "polars of one height": lambda folder: tuple(
        polars.DataFrame(cells).with_columns(polars.lit(1).alias("year")).cast({"a": polars.Categorical})
        for cells in (CELLS, OTHER)),
    "halves of pandas": lambda folder: halves(pandas.DataFrame(CELLS), 0, 704, 704, 1500),
    "halves of pandas of Arrow": lambda folder: halves(KINDS["pandas of Arrow"](CELLS, folder), 0, 704,
                                                       704, 1500),
    "halves of an array": lambda folder: (lambda whole: (
        pandas.DataFrame(whole[:700], columns=["b"]), pandas.DataFrame(whole[700:], columns=["b"])))(
            numpy.random.default_rng(1).integers(0, 7, (1400, 1))),
    "halves of polars": lambda folder: (lambda whole: (whole.slice(0, 704), whole.slice(704)))(
        polars.DataFrame(CELLS)),
    "halves of pyarrow": lambda folder: (lambda whole: (whole.slice(0, 704), whole.slice(704)))(
        pyarrow.table(CELLS)),
    "other rows": lambda folder: (pandas.DataFrame(CELLS), pandas.DataFrame(OTHER)),
    "other files": lambda folder: (written(CELLS, folder / "a.csv"), written(OTHER, folder / "b.csv")),
    "other Parquet": lambda folder: (parquet(CELLS, folder / "a.parquet"),
                                     parquet(OTHER, folder / "b.parquet")),
    "other tables of a database": queries("select * from people", "select * from others"),
    "other relations": relations(lambda connection: (connection.table("people"),
                                                     connection.table("others"))),
}

# Schemas that were drafted from the private table: (private, the arguments of the call).


def drafted(kind, change=lambda private, schema, folder: (private, schema)):
    def arguments(folder):
        private = KINDS[kind](CELLS, folder)
        private, schema = change(private, tandem.Schema.draft(private), folder)
        return private, {"schema": schema}
    return arguments


def saved(name):
    def change(private, schema, folder):
        schema.save(folder / name)
        return private, tandem.Schema.read(folder / name)
    return change


def as_path(private, schema, folder):
    schema.save(folder / "saved.toml")
    return private, folder / "saved.toml"


def edited(private, schema, folder):
    schema["c"].bins = 3
    return private, schema


DRAFTS = {
    **{f"drafted from {kind}": drafted(kind) for kind in KINDS},
    "drafted from a frame, with a copy": drafted("pandas", lambda private, schema, folder: (
        private.copy(), schema)),
    "drafted from a frame, with another kind": drafted("pandas", lambda private, schema, folder: (
        polars.from_pandas(private), schema)),
    "drafted from a frame, with its file": drafted("pandas", lambda private, schema, folder: (
        written(CELLS, folder / "rows.csv"), schema)),
    "drafted from a frame, saved and read": drafted("pandas", saved("s.toml")),
    "drafted from a frame, saved as JSON": drafted("pandas", saved("s.json")),
    "drafted from a frame, by path": drafted("pandas", as_path),
    "drafted from a frame, edited": drafted("pandas", edited),
    "drafted from a frame, edited and saved": drafted("pandas", lambda private, schema, folder: saved(
        "s.toml")(*edited(private, schema, folder), folder)),
    "drafted from a file, with a copy": drafted("csv", lambda private, schema, folder: (
        copied(private), schema)),
    "drafted from a file, with its .gz": drafted("csv", lambda private, schema, folder: (
        packed(private), schema)),
    "drafted from a file, with a link": drafted("csv", lambda private, schema, folder: (
        linked(private), schema)),
    "drafted from a file, with a frame of it": drafted("csv", lambda private, schema, folder: (
        pandas.read_csv(private), schema)),
    "drafted from Parquet, with a copy": drafted("parquet", lambda private, schema, folder: (
        copied(private), schema)),
    "drafted from a file, edited": drafted("csv", edited),
    "drafted from a query": lambda folder: (lambda source: (
        source, {"schema": tandem.Schema.draft(source)}))(
            tandem.source(database(), "select * from people")),
    "drafting in the call": lambda folder: (lambda frame: (frame, {"public": frame}))(
        pandas.DataFrame(CELLS)),
    "drafting in the call from a copy": lambda folder: (lambda frame: (frame, {"public": frame.copy()}))(
        pandas.DataFrame(CELLS)),
}


def synthesized(private, folder, ledger, **more):
    return tandem.synthesize(private, out=folder / "out", ledger=ledger, **more)


def answered(private, folder, ledger, **more):
    return tandem.answer(private, out=folder / "out", ledger=ledger,
                         **{**more, "mechanism": "auto"})


def fitted(private, folder, ledger, public=None, **more):
    return tandem.Synthesizer(ledger=ledger, **more).fit(private, public=public,
                                                         out=folder / "out").release_


def compared(private, folder, ledger, epsilon, mechanism, **more):
    return tandem.compare(private, out=folder / "out", mechanisms=[mechanism], epsilons=[epsilon],
                          seeds=1, internal=True, **more)


CALLS = {"synthesize": synthesized, "answer": answered, "fit": fitted, "compare": compared}
RUN = dict(epsilon=0.5, mechanism="mw-pub", workload="all-1way")


class Table(list):
    """door | slip | what was said | ledger"""

    def add(self, *cells):
        self.append(" | ".join(map(str, cells)))


@pytest.fixture(scope="module")
def table(request):
    found = Table()
    yield found
    capture = request.config.pluginmanager.getplugin("capturemanager")
    OPEN.clear()
    with capture.global_and_fixture_disabled():
        print("\n" + "\n".join(["door | slip | what was said | ledger", *found]))


def a_ledger(folder):
    return tandem.Ledger.create(folder / "ledger", dataset="d", epsilon=10)


def left_of(folder):
    """What a refused run left behind."""
    return [one.name for one in folder.iterdir() if one.name.startswith("out")]


def refused(table, door, slip, folder, work):
    """Whether a call is refused as it must be; a sentence if not."""
    ledger = a_ledger(folder)
    try:
        work(ledger)
        said = "ACCEPTED"
    except tandem.UsageError as error:
        said = str(error)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
    runs = len(ledger.show()["runs"])
    table.add(door, slip, said, f"{runs} runs" if runs else "untouched")
    return fault_of(said, runs, left_of(folder), "private_as_public")


def fault_of(said, runs, left, override):
    if said == "ACCEPTED":
        return "accepted"
    if runs or left:
        return f"refused, but {runs} runs are in the ledger and {left} is left"
    told = said.splitlines()
    about = [word for word in ("public", "schema") if word in said]
    if len(told) != 1 or not about or override not in said:
        return f"refused for another reason: {said[:200]}"
    return None


def hold(faults):
    found = [f"{name}: {fault}" for name, fault in faults.items() if fault]
    assert not found, f"{len(found)} of {len(faults)}\n" + "\n".join(found)


@pytest.mark.parametrize("call", CALLS)
def test_private_rows_are_no_public_ones(table, call, tmp_path):
    faults = {}
    for at, (name, slip) in enumerate(SLIPS.items()):
        folder = tmp_path / str(at)
        (folder / "data").mkdir(parents=True)
        private, public = slip(folder / "data")
        faults[name] = refused(table, call, name, folder, lambda ledger: CALLS[call](
            private, folder, ledger, public=public, schema=tandem.Schema(SCHEMA), **RUN))
    hold(faults)


@pytest.mark.parametrize("call", CALLS)
def test_a_schema_is_none_of_the_private_table(table, call, tmp_path):
    faults = {}
    for at, (name, draft) in enumerate(DRAFTS.items()):
        folder = tmp_path / str(at)
        (folder / "data").mkdir(parents=True)
        private, arguments = draft(folder / "data")
        settings = {**RUN, "mechanism": "independent"}
        faults[name] = refused(table, call, name, folder, lambda ledger: CALLS[call](
            private, folder, ledger, **arguments, **settings))
    hold(faults)


@pytest.mark.parametrize("call", ["synthesize", "fit"])
def test_other_rows_are_taken(call, tmp_path):
    for at, (name, right) in enumerate(RIGHT.items()):
        folder = tmp_path / str(at)
        (folder / "data").mkdir(parents=True)
        private, public = right(folder / "data")
        schema = SCHEMA if name != "halves of an array" else '[[column]]\nname = "b"\nsize = 7\n'
        release = CALLS[call](private, folder, a_ledger(folder), public=public,
                              schema=tandem.Schema(schema), **RUN)
        assert "private_as_public" not in release.document and not release.stamp, name


def test_a_schema_of_other_rows_is_taken(tmp_path):
    for at, kind in enumerate(KINDS):
        folder = tmp_path / str(at)
        (folder / "data").mkdir(parents=True)
        schema = tandem.Schema.draft(KINDS[kind](OTHER, folder / "data"))
        (folder / "more").mkdir()
        release = tandem.synthesize(KINDS[kind](CELLS, folder / "more"), schema=schema,
                                    ledger=a_ledger(folder), **{**RUN, "mechanism": "independent"})
        assert "private_as_public" not in release.document and not release.stamp, kind


STAMP = "NOT PRIVATE (private data as public)"


@pytest.mark.parametrize("call", ["synthesize", "answer"])
def test_who_insists_gets_a_stamp_and_no_ledger(call, tmp_path):
    frame = pandas.DataFrame(CELLS)
    for at, arguments in enumerate(({"public": frame, "schema": tandem.Schema(SCHEMA)},
                                    {"schema": tandem.Schema.draft(frame)})):
        folder = tmp_path / str(at)
        folder.mkdir()
        settings = {**RUN, **arguments, "private_as_public": True}
        if "public" not in arguments:
            settings["mechanism"] = "independent"
        ledger = a_ledger(folder)
        with pytest.raises(tandem.Error) as caught:
            CALLS[call](frame, folder, ledger, **settings)
        assert "private_as_public" in str(caught.value) and "ledger" in str(caught.value)
        assert not ledger.show()["runs"] and not left_of(folder)
        release = CALLS[call](frame, folder, None, **settings)
        assert release.document["private_as_public"] is True and release.stamp == STAMP
        # Whatever is made of it is stamped too.
        if call == "synthesize":
            again = tandem.refit(release, rows=10)
            assert again.stamp == STAMP and again.document["private_as_public"] is True


# The command.

FILE_SLIPS = {name: SLIPS[name] for name in (
    "the same csv", "a symbolic link", "a hard link", "a copy of the file", "the file, packed",
    "the packed file, unpacked", "the file behind ..")}
PARQUET_SLIPS = {name: SLIPS[name] for name in (
    "the same parquet", "a link to Parquet", "a hard link to Parquet", "a copy of Parquet",
    "a folder of Parquet", "a pattern of Parquet", "the folder itself", "csv and parquet",
    "parquet and csv")}


def commanded(make, folder, *more, ledger=None):
    words = {"synth": ["--epsilon", "0.5"], "answer": ["--epsilon", "0.5"],
             "compare": ["--epsilons", "0.5", "--seeds", "1"]}[make]
    if ledger is not None and make != "compare":
        words += ["--ledger", ledger.path]
    return subprocess.run([COMMAND, make, *words, "--workload", "all-1way", "--out", folder / "out",
                           *map(str, more)], capture_output=True, text=True, check=False)


def refused_by_command(table, make, slip, folder, *more):
    ledger = a_ledger(folder)
    done = commanded(make, folder, *more, ledger=ledger)
    runs = len(ledger.show()["runs"])
    lines = [line for line in done.stderr.splitlines() if line.startswith("tandem: ")]
    said = lines[-1].removeprefix("tandem: ") if done.returncode else "ACCEPTED"
    table.add(make, slip, f"{said} (exit {done.returncode})", f"{runs} runs" if runs else "untouched")
    if done.returncode not in (0, 2):
        return f"exit code {done.returncode}: {said}"
    return fault_of(said, runs, left_of(folder), "--private-as-public")


def mechanism_of(make):
    return {"synth": ["--mechanism", "mw-pub"], "compare": ["--mechanisms", "mw-pub"], "answer": []}[make]


@pytest.mark.parametrize("make", ["synth", "answer", "compare"])
def test_the_command_takes_no_private_rows_as_public(table, make, tmp_path):
    schema = tmp_path / "schema.toml"
    schema.write_text(SCHEMA)
    slips = {**FILE_SLIPS, **(PARQUET_SLIPS if os.environ.get("TANDEM_DUCKDB") else {})}
    faults = {}
    for at, (name, slip) in enumerate(slips.items()):
        folder = tmp_path / str(at)
        (folder / "data").mkdir(parents=True)
        private, public = slip(folder / "data")
        faults[name] = refused_by_command(table, make, name, folder, "--private", private, "--public",
                                          public, "--schema", schema, *mechanism_of(make))
    hold(faults)


COMMAND_DRAFTS = {
    "the file it was drafted from": lambda path: path,
    "a copy of that file": copied,
    "that file, packed": packed,
    "a link to that file": linked,
}


@pytest.mark.parametrize("make", ["synth", "answer", "compare"])
def test_the_command_takes_no_schema_of_the_private_table(table, make, tmp_path):
    faults = {}
    for kind in ["csv"] + ["parquet"] * bool(os.environ.get("TANDEM_DUCKDB")):
        for name, change in COMMAND_DRAFTS.items():
            if kind == "parquet" and change is packed:
                continue
            folder = tmp_path / f"{kind} {name}"
            (folder / "data").mkdir(parents=True)
            path = KINDS[kind](CELLS, folder / "data")
            schema = folder / "schema.toml"
            subprocess.run([COMMAND, "schema", "--public", path, "--out", schema], check=True,
                           capture_output=True)
            mechanism = {"synth": ["--mechanism", "independent"], "answer": [],
                         "compare": ["--mechanisms", "independent"]}[make]
            slip = f"{kind}: {name}"
            faults[slip] = refused_by_command(table, make, slip, folder, "--private", change(path),
                                              "--schema", schema, *mechanism)
        folder = tmp_path / f"{kind} without a schema"
        (folder / "data").mkdir(parents=True)
        path = KINDS[kind](CELLS, folder / "data")
        slip = f"{kind}: drafted in the run"
        faults[slip] = refused_by_command(table, make, slip, folder, "--private", path, "--public",
                                          copied(path), *mechanism_of(make))
    hold(faults)


def test_the_command_stamps_who_insists(tmp_path):
    path = written(CELLS, tmp_path / "rows.csv")
    schema = tmp_path / "schema.toml"
    schema.write_text(SCHEMA)
    words = ["--private", path, "--public", path, "--schema", schema, "--mechanism", "mw-pub",
             "--private-as-public"]
    ledger = a_ledger(tmp_path)
    done = commanded("synth", tmp_path, *words, ledger=ledger)
    assert done.returncode in (2, 3) and "ledger" in done.stderr and not left_of(tmp_path)
    assert not ledger.show()["runs"]
    done = commanded("synth", tmp_path, *words)
    assert done.returncode == 0, done.stderr
    release = tandem.open_release(tmp_path / "out")
    assert release.document["private_as_public"] is True and release.stamp == STAMP


def test_a_draft_of_other_rows_is_taken_by_the_command(tmp_path):
    path, public = written(CELLS, tmp_path / "rows.csv"), written(OTHER, tmp_path / "public.csv")
    schema = tmp_path / "schema.toml"
    subprocess.run([COMMAND, "schema", "--public", public, "--out", schema], check=True,
                   capture_output=True)
    done = commanded("synth", tmp_path, "--private", path, "--schema", schema, "--mechanism",
                     "independent", ledger=a_ledger(tmp_path))
    assert done.returncode == 0, done.stderr
    # What a draft says of the rows it was made from is no part of a release.
    text = (tmp_path / "out" / "schema.toml").read_text()
    assert "drafted_from" not in text and "#" not in text and "1,500" not in text


# A run that goes on, with another private file.

class Stop(Exception):
    pass


def stopping(event):
    if event.get("step", 0) >= 2:
        raise Stop


def stopped(path, folder, ledger):
    """A run of some steps that was stopped in the middle."""
    (folder / "schema.toml").write_text(SCHEMA)
    settings = dict(schema=folder / "schema.toml", out=folder / "out", epsilon=1, mechanism="mst",
                    workload="all-2way", ledger=ledger)
    with pytest.raises(Stop):
        tandem.synthesize(path, progress=stopping, **settings)
    assert (folder / "out.partial").is_dir()
    return settings


def shorter(path):
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-5]))


def other_cells(path):
    """As many bytes, others."""
    path.write_text(path.read_text().replace("x,", "y,", 1))


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
@pytest.mark.parametrize("change", [None, shorter, other_cells])
def test_a_run_goes_on_with_the_file_that_it_began_with(kind, change, tmp_path):
    (tmp_path / "data").mkdir()
    path = KINDS[kind.removesuffix(".gz")](CELLS, tmp_path / "data")
    if kind == "csv.gz":
        path = packed(path)
    ledger = a_ledger(tmp_path)
    settings = stopped(path, tmp_path, ledger)
    if change is None:
        release = tandem.synthesize(path, resume=True, **settings)
        # The pin is none of the release's: it stays with the run.
        for file in release.path.iterdir():
            assert str(os.stat(path).st_mtime_ns) not in file.read_text(errors="replace")
        return
    before = ledger.show()
    if kind == "csv":
        change(path)
        os.utime(path, ns=(1, 1))
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(written(OTHER, tmp_path / "more.csv").read_bytes()))
    else:
        parquet(OTHER if change is other_cells else {name: cells[:-5] for name, cells in CELLS.items()},
                path)
    with pytest.raises(tandem.UsageError) as caught:
        tandem.synthesize(path, resume=True, **settings)
    assert "private" in str(caught.value) and len(str(caught.value).splitlines()) == 1
    assert ledger.show() == before
    if kind == "parquet" and not os.environ.get("TANDEM_DUCKDB"):
        return
    done = subprocess.run([COMMAND, "synth", "--resume", "--out", tmp_path / "out"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 2 and "private" in done.stderr, done.stderr
    assert (tmp_path / "out.partial").is_dir()
