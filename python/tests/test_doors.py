# SPDX-License-Identifier: Apache-2.0
"""A falsifier of doors: tables that differ in what one person says look the same through every door.

Exceptions and their sentences, types and names of columns, files, what release.json says but for noise,
warnings, progress, what is printed and entries of the ledger are compared. Most runs have so much budget
that noise is next to nothing, so that it also shows when one odd cell changes how other rows are read.
"""
import collections
import datetime
import gzip
import os
import random
import re
import sqlite3
import subprocess
import sys

import pandas
import polars
import pyarrow
import pytest

import tandem
from doors import (COLUMNS, COMMAND, CONNECTIONS, DOORS, ODD_TEXTS, ODD_TYPED, RELATIONS, ROWS,
                   SCHEMA, SECRET, TEXTS, Door, Folder, Seen, TypedTable, as_csv, as_lines, base_of, differences, file,
                   ledger_entries, lists, neighbours, of_release, plain, refused_by_type, seen,
                   still_neighbours, typed_in_duckdb)

pytestmark = pytest.mark.usefixtures("in_memory")
SETTINGS = dict(epsilon=900, mechanism="independent", workload="all-1way", threads=1)


class Tried:
    """How many pairs were tried through each door, and why others were left out."""

    def __init__(self):
        self.pairs = collections.Counter()
        self.left_out = collections.Counter()

    def __str__(self):
        lines = [f"all doors: {sum(self.pairs.values())} pairs"]
        for door, pairs in self.pairs.items():
            left_out = [f"{count} {why}" for (name, why), count in self.left_out.items() if name == door]
            lines.append(f"{door}: {pairs} pairs"
                         + (f", left out: {', '.join(left_out)}" if left_out else ""))
        return "\n".join(lines)


@pytest.fixture(scope="module")
def tried(request):
    found = Tried()
    yield found
    CONNECTIONS.clear()
    typed_in_duckdb.cache_clear()
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\n{found}")


@pytest.fixture
def said(capfd):
    """What was printed since it was last asked."""
    return lambda: "".join(capfd.readouterr())


KINDS = ["csv", "pandas", "polars", "pyarrow", "dict"]  # a door for each way by which rows are read
LEFT_OUT = ("not readable", "refused by type")


def a_ledger(folder, relation, epsilon=2000):
    return tandem.Ledger.create(folder / "ledger", dataset="d", epsilon=epsilon,
                                neighbors=RELATIONS[relation].get("neighbors", "replace-one"),
                                rows_per_person=RELATIONS[relation].get("rows_per_person", 1))


def through(door, relation, table, said, function=tandem.synthesize, **more):
    """What can be seen of a run on this table through this door, or why it is left out."""
    with Folder() as folder:
        try:
            frame = door.read(table, folder)
            if not still_neighbours(frame, table, base_of(door, relation), door):
                return "not readable"
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException:  # the library that reads the door has no place for such a cell
            return "not readable"
        if refused_by_type(frame):
            return "refused by type"
        ledger, events = a_ledger(folder, relation), []
        settings = {**SETTINGS, **RELATIONS[relation], **more}
        schema = tandem.Schema(SCHEMA.replace("RECORDS", door.records))
        return seen(lambda: function(door.give(frame), schema=schema, ledger=ledger,
                                     progress=events.append, **settings),
                    folder, relation == "replace-one", ledger, events, said)


class Failures:
    """Each difference once, with some of the pairs that have it."""

    def __init__(self):
        self.found = {}

    def add(self, pair, told):
        for one in told:
            one = " ".join(one.split())[:300]
            self.found.setdefault(one, []).append(pair)

    def none(self):
        lines = [f"{one} ({len(pairs)} pairs: {'; '.join(pairs[:5])})"
                 for one, pairs in self.found.items()]
        if len(lines) > 30:
            lines[30:] = [f"and {len(lines) - 30} other differences"]
        if lines:
            pytest.fail("\n".join(lines), pytrace=False)


def told_apart(base, other, rows_changed):
    told = differences(base, other, rows_changed)
    return told + ["the cell itself is shown"] if SECRET.encode() in other.everything else told


def hold(tried, said, door, relation, singles, bare=False, odd=None, name=None, **more):
    """Every neighbour looks as the base does."""
    base = through(door, relation, base_of(door, relation, bare), said, **more)
    assert base not in LEFT_OUT
    failures, name = Failures(), name or door.name
    for odd, where, table in neighbours(door, relation, singles, bare, odd):
        other = through(door, relation, table, said, **more)
        if other in LEFT_OUT:
            tried.left_out[name, other] += 1
        else:
            tried.pairs[name] += 1
            failures.add(f"{odd} in {where}",
                         told_apart(base, other, 2 if relation == "persons" else 1))
    failures.none()


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("door", DOORS)
def test_one_odd_cell_shows_nowhere(tried, said, door, relation):
    door = DOORS[door]
    if door.cells == "typed":
        hold(tried, said, door, relation, 1, odd=some_typed(relation))
    elif relation == "replace-one":
        hold(tried, said, door, relation, 2 if door.name in KINDS else 1)
    else:
        every = 1 if door.name in KINDS else 3 if door.slow else 2
        hold(tried, said, door, relation, 0, odd=list(door.odd)[::every])


def some_typed(relation):
    """Of a typed table few texts are taken for each column, and all columns are tried."""
    return list(ODD_TYPED)[::1 if relation == "replace-one" else 3]


@pytest.mark.parametrize("door", [name for name in DOORS if DOORS[name].cells != "typed"])
def test_the_only_cell_of_a_column_shows_nowhere(tried, said, door):
    hold(tried, said, DOORS[door], "replace-one", singles=0, bare=True)


@pytest.fixture(scope="module")
def in_postgres(postgres):
    with postgres.connect() as connection:
        connection.autocommit, connection.prepare_threshold = True, None
        yield connection, TypedTable(connection.execute, "%s")


@pytest.mark.parametrize("relation", RELATIONS)
def test_one_odd_cell_of_a_database_shows_nowhere(tried, said, in_postgres, relation):
    connection, typed_table = in_postgres

    def read(table, folder):
        typed_table.fill(table)
        connection.execute("select * from t").fetchall()  # what the driver can't read is found here
        return tandem.source(connection, "select * from t")

    hold(tried, said, Door("postgresql", read, "typed"), relation, 1, odd=some_typed(relation))


# What a type may be, and what a cell means.

FRAMES = {"pandas": [name for name in DOORS if name.startswith("pandas")],
          "polars": ["polars", "polars, converted"],
          "pyarrow": ["pyarrow", "pyarrow, converted", "reader", "stream"],
          "duckdb": ["duckdb", "duckdb, typed"], "dict": ["dict", "dict of texts"],
          "files": ["csv", "csv.gz", "csv, lines", "parquet", "sqlite"]}


@pytest.mark.parametrize("kind", FRAMES)
def test_types_follow_from_the_schema_and_the_kind_of_frame_alone(said, kind):
    found = {name: through(DOORS[name], "replace-one", base_of(DOORS[name], "replace-one"), said)
             for name in FRAMES[kind]}
    types = {name: one.parts["types"] for name, one in found.items()}
    first = types[FRAMES[kind][0]]
    assert all(one == first for one in types.values()), types


@pytest.fixture(scope="module")
def in_a_file():
    """What was seen of each odd cell in a CSV file."""
    return {}


@pytest.mark.parametrize("door", [
    "pandas", "pandas, dates", "pandas, nullable", "pandas, arrow", "polars", "pyarrow", "reader",
    "stream", "duckdb", "parquet", "dict of texts"])
def test_a_cell_means_what_its_text_means_in_a_file(said, door, in_a_file):
    """As the counts show, which are exact but for next to no noise. What a reader takes for no value is
    the schema's null, and a number that it makes of a text is that number: what these may be is told."""
    otherwise = collections.defaultdict(list)
    for odd, _, table in neighbours(DOORS["csv"], "replace-one", singles=0):
        if odd not in in_a_file:
            in_a_file[odd] = through(DOORS["csv"], "replace-one", table, said)
        by_file, found = in_a_file[odd], through(DOORS[door], "replace-one", table, said)
        if found in LEFT_OUT:
            continue
        for name, (values, _) in by_file.counts.items():
            distance = sum(abs(a - b) for a, b in zip(values, found.counts.get(name, ([], 0))[0]))
            if distance > 2:  # the odd cell's own code may be another; those of other rows may not
                otherwise[odd].append((name, distance))
    assert not otherwise, dict(otherwise)


DECLARED = {
    "periods": lambda: pandas.DataFrame({"day": pandas.period_range("2020-01-01", periods=ROWS)}),
    "intervals": lambda: pandas.DataFrame({"whole": pandas.interval_range(0, ROWS)}),
    "differences": lambda: pandas.DataFrame({"whole": pandas.to_timedelta(range(ROWS), unit="D")}),
    "durations of pandas": lambda: pandas.DataFrame({"whole": pandas.array(
        pandas.to_timedelta(range(ROWS), unit="D"), dtype="duration[ns][pyarrow]")}),
    "durations of pyarrow": lambda: pyarrow.table({"whole": pyarrow.array(
        [1] * ROWS, pyarrow.duration("s"))}),
    "durations of polars": lambda: polars.DataFrame({"whole": [datetime.timedelta(1)] * ROWS}),
}


@pytest.mark.parametrize("declared", DECLARED)
def test_types_that_are_no_plain_values_are_refused_by_name(declared, tmp_path):
    ledger, frame = a_ledger(tmp_path, "replace-one"), DECLARED[declared]()
    name = "day" if "day" in frame else "whole"
    if isinstance(frame, pyarrow.Table):
        name = "whole"
    keys = f'[[column]]\nname = "{name}"\n' + COLUMNS[name][0]
    with pytest.raises(tandem.UsageError) as caught:
        tandem.synthesize(frame, schema=tandem.Schema(keys), ledger=ledger, **SETTINGS)
    assert repr(name) in str(caught.value) and len(str(caught.value).splitlines()) == 1
    assert not ledger.show()["runs"]


def test_rows_may_be_had_like_a_frame():
    """The types of a frame, by hand, where the schema allows them."""
    schema = tandem.Schema('[[column]]\nname = "n"\nkind = "integer"\nmin = 0\nmax = 99\nbins = 4\n'
                           '[[column]]\nname = "w"\nvalues = ["low", "mid"]\n')
    frame = pandas.DataFrame({"n": pandas.Series([1, 2] * 30, dtype="int8"),
                              "w": pandas.Categorical(["low", "mid"] * 30)})
    release = tandem.synthesize(frame, schema=schema, epsilon=1, mechanism="independent")
    plain_types = {name: str(kind) for name, kind in release.rows.dtypes.items()}
    assert plain_types["n"] == "int64"
    like = release.like(frame).rows
    assert like["n"].dtype == "int8" and like["w"].dtype == frame["w"].dtype
    other = polars.DataFrame({"n": [1], "w": ["low"]}, schema_overrides={"n": polars.Int16})
    assert release.like(other).rows.schema["n"] == polars.Int16


# Other mechanisms and answers, with some of the odd cells.

SOME = {"texts": ["empty", "null of the schema", "decimals", "40 digits", "1066", "unlisted", "long",
                  "invalid UTF-8", "TRUE"],
        "objects": ["None", "nan", "12.5", "40 digits", "1066", "text", "list", "bytes", "True"],
        "typed": ["null"]}
PUBLIC = {name: [random.Random(name).choice(texts) for _ in range(ROWS)] for name, texts in TEXTS.items()}
HOW = {
    "mst": dict(mechanism="mst", workload="all-2way"),
    "answers": dict(function=tandem.answer, mechanism="auto", workload="all-1way"),
    "mw-pub": dict(mechanism="mw-pub", workload="all-1way", public=PUBLIC),
    "pure": dict(delta=0),
    "few rows": dict(rows=7),
    "little memory": dict(memory_limit="32MB"),
    "tandem": dict(mechanism="tandem", workload="all-2way", public=PUBLIC, epsilon=3),
}


@pytest.mark.parametrize("door, how", [
    *((door, how) for how in HOW for door in KINDS if how != "tandem"),
    *((door, "answers") for door in ("parquet", "pandas, objects", "stream", "duckdb", "sqlite")),
    ("pandas", "tandem"), ("dict", "tandem")])
def test_one_odd_cell_shows_nowhere_whatever_is_made_of_it(tried, said, door, how):
    for relation in ("replace-one", "add-remove") if how != "tandem" else ("replace-one",):
        hold(tried, said, DOORS[door], relation, int(how != "tandem"), odd=SOME[DOORS[door].cells],
             name=how, **HOW[how])


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    if not os.environ.get("TANDEM_WHOLE"):
        pytest.skip("it takes long: a part of ./run check")
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is missing")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config(
        "spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1").config(
        "spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("spark"))).config(
        "spark.ui.showConsoleProgress", "false").config("spark.log.level", "OFF").getOrCreate()
    yield session
    session.stop()


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_one_odd_cell_shows_nowhere_on_a_cluster(tried, said, spark, relation):
    def read(table, folder):
        frame = spark.read.csv(str(file(folder, "rows.csv", as_csv(table))), header=True,
                               inferSchema=True, multiLine=True, escape='"')
        assert len(frame.collect()) == len(next(iter(table.values())))
        return frame

    hold(tried, said, Door("spark", read), relation, 0, odd=SOME["texts"] + [
        "heartbeat", "a failure's name", "said", "NaN", "inf", "zone", "midnight", "list"])


# The size of what is handed over as text.

HIDDEN = "".join(f'[[column]]\nname = "{name}"\nsize = {size}\n'
                 for name, size in (("g", 20), ("a", 8), ("b", 8), ("c", 8), ("d", 2)))
LONG = f"{SECRET}, see letter of 3 May, and call back about the second test" * 3


def hidden(rows, cell):
    columns = {"g": [1] * rows, "a": [2] * rows, "b": [3] * rows, "c": [4] * rows, "d": [1] * rows}
    if rows:
        columns["a"][rows // 2] = cell
    return columns


def hidden_query(table, folder):
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute("create table t (g, a, b, c, d)")
    connection.executemany("insert into t values (?, ?, ?, ?, ?)", list(zip(*table.values())))
    return tandem.source(connection, "select * from t")


class OneBatch:
    """A stream that says nothing of its number of rows."""

    def __init__(self, table):
        self._batch = pyarrow.table({name: list(map(str, cells)) for name, cells in table.items()})

    def __arrow_c_stream__(self, requested_schema=None):
        return self._batch.__arrow_c_stream__(requested_schema)


HIDING = {"dict": lists, "query": hidden_query, "pandas": lambda table, folder: pandas.DataFrame(
    {name: pandas.Series(cells, dtype=object) for name, cells in table.items()}),
          "stream": lambda table, folder: OneBatch(table)}
MADE_UP = {"g": [at % 20 for at in range(80)], "a": [at % 8 for at in range(80)],
           "b": [at % 8 for at in range(80)], "c": [at % 8 for at in range(80)],
           "d": [at % 2 for at in range(80)]}


def what_was_said(private, folder, relation, said, ledger_epsilon=60, **settings):
    """The exception and the ledger's entry alone: what else there is follows from noise."""
    ledger = a_ledger(folder, relation, ledger_epsilon)
    found = seen(lambda: tandem.synthesize(
        private, schema=tandem.Schema(HIDDEN), ledger=ledger, threads=1,
        **{**RELATIONS[relation], **settings}), folder, False, ledger, said=said)
    entries = [{key: value for key, value in run.items() if key != "steps"}
               for run in found.parts["ledger"] if isinstance(run, dict)]
    told = found.parts.get("exception", "a release")
    if "Of this run's budget" in told:  # it was spent, and the numbers follow from noise
        told = re.sub("[0-9][0-9.,]*", "#", told)
    return Seen({"exception": told, "ledger": entries,
                 "said": found.parts["said"], "warned": found.parts["warned"]}, {}, found.everything)


MECHANISMS = [one["name"] for one in tandem.mechanisms()["mechanisms"] if one["name"] != "gem"]


@pytest.mark.parametrize("door", HIDING)
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_no_sentence_tells_how_much_there_is(tried, said, door, mechanism):
    failures = Failures()
    settings = dict(mechanism=mechanism, epsilon=20, workload="all-1way")
    if mechanism == "dual-query":
        settings.update(epsilon=0.5, workload="conjunctions:2:200:1",
                        parameters={"parameters": "theorem"})
    if mechanism == "grouped":
        settings.update(parameters={"fine": "g"})
    for relation in ("replace-one", "add-remove"):
        numbers = (50,) if relation == "replace-one" else (0, 1, 2, 31)
        for rows in numbers:
            tables = {"a longer cell": hidden(rows, LONG)}
            if relation == "add-remove":
                tables["a row more"] = hidden(rows + 1, 2)
                tables["a long row more"] = hidden(rows + 1, LONG)
            for public in (None, MADE_UP) if mechanism not in ("dual-query",) else (None,):
                def run(table):
                    with Folder() as folder:
                        return what_was_said(HIDING[door](table, folder), folder, relation, said,
                                             public=public, **settings)

                base = run(hidden(rows, 2))
                for name, table in tables.items():
                    tried.pairs[f"sizes, {door}"] += 1
                    failures.add(f"{name}, {rows} rows, {relation}", told_apart(base, run(table), 1))
    failures.none()


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("door", HIDING)
def test_memory_is_refused_alike(tried, said, door, relation):
    """Where memory does not suffice, it does so for a neighbour, and in the same words."""
    failures = Failures()
    tables = {"a long cell": hidden(30, "x" * 59_000)}
    if relation == "add-remove":
        tables["a long row more"] = hidden(31, "x" * 59_000)
    for megabytes in (1, 2, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 24, 32, 48):
        def run(table):
            with Folder() as folder:
                return what_was_said(HIDING[door](table, folder), folder, relation, said,
                                     mechanism="independent", workload="all-1way", epsilon=20,
                                     memory_limit=f"{megabytes}MB")

        base = run(hidden(30, 2))
        for name, table in tables.items():
            tried.pairs[f"memory, {door}"] += 1
            failures.add(f"{name}, {megabytes} MB", told_apart(base, run(table), 1))
    failures.none()


# Lists of pairs.

ITEMS = '[[column]]\nprefix = "i"\ncount = 5\nsize = 2\n'
PAIRS = [(f"u{at:02}", f"i{(at + more) % 5}") for at in range(30) for more in range(1 + at % 3)]
ODD_USERS = {**{odd: text for odd, text in ODD_TEXTS.items() if "\n" not in text},
             "nobody": "", "another": "u02", "spaces": "   "}


def pairs_text(pairs):
    return as_lines({"user": [user for user, _ in pairs], "item": [item for _, item in pairs]})


def odd_pairs():
    """One user's lines are others: the item is odd, or the user's name is, or the line has more of one
    or is none."""
    mine = [pair for pair in PAIRS if pair[0] == "u17"]
    others = [pair for pair in PAIRS if pair[0] != "u17"]
    for odd, text in ODD_USERS.items():
        yield f"item {odd}", pairs_text(others + mine + [("u17", text)])
        if odd != "another":  # a name that another has too makes them one person
            yield f"user {odd}", pairs_text(others + [(text, item) for _, item in mine])
    yield "without lines", pairs_text(others)
    yield "all items", pairs_text(others + [("u17", f"i{at}") for at in range(5)])
    yield "many lines", pairs_text(others + mine * 50)
    yield "no comma", pairs_text(others) + b"u17\n"
    yield "more fields", pairs_text(others) + b"u17,i1,i2,i3\n"
    yield "a blank line", pairs_text(others) + b"\n\nu17,i1\n"
    yield "no line end", pairs_text(others) + b"u17,i1"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("function", [tandem.synthesize, tandem.answer])
def test_one_odd_user_of_a_list_of_pairs_shows_nowhere(tried, said, function, packed):
    failures = Failures()

    def run(data):
        with Folder() as folder:
            path = file(folder, "pairs.csv.gz" if packed else "pairs.csv",
                        gzip.compress(data) if packed else data)
            ledger = a_ledger(folder, "replace-one")
            settings = dict(mechanism="dual-query", parameters={"steps": 5, "samples": 20}) \
                if function is tandem.synthesize else {}
            found = seen(lambda: function(f"pairs:{path}", schema=tandem.Schema(ITEMS), epsilon=900,
                                          ledger=ledger, threads=1, workload="conjunctions:2:30:1"
                                          if settings else "all-1way", **settings),
                         folder, False, ledger, said=said)
            found.parts.get("release.json", {}).pop("warnings", None)
            found.parts.get("release.json", {}).pop("facts", None)
            return found

    base = run(pairs_text(PAIRS))
    for odd, data in odd_pairs():
        tried.pairs["pairs"] += 1
        failures.add(odd, told_apart(base, run(data), 5))
    failures.none()


# The command.

FILES = {
    "csv": lambda table, folder: file(folder, "rows.csv", as_csv(table)),
    "csv.gz": lambda table, folder: file(folder, "rows.csv.gz", gzip.compress(as_csv(table), 1)),
    "csv, lines": lambda table, folder: file(folder, "rows.csv", as_lines(table)),
    "parquet": DOORS["parquet"].read,
}


def by_command(make, path, folder, relation, schema):
    ledger = a_ledger(folder, relation)
    flags = {"neighbors": "add-remove"} if relation == "add-remove" else (
        {"person": "who", "rows-per-person": 2} if relation == "persons" else {})
    settings = {"private": path, "schema": schema, "epsilon": 900, "workload": "all-1way", "threads": 1,
                "ledger": ledger.path, "out": folder / "release", **flags}
    if make == "synth":
        settings["mechanism"] = "independent"
    done = subprocess.run([COMMAND, make, *(f"--{key}={value}" for key, value in settings.items())],
                          capture_output=True, check=False)
    parts, counts = {}, {}
    if done.returncode == 0:
        parts, counts = of_release(tandem.open_release(folder / "release"), relation == "replace-one")
    parts["exit code"] = done.returncode
    parts["stderr"] = plain(done.stderr.decode("utf-8", "replace"), folder)
    parts["folders"] = sorted(one.name for one in folder.iterdir() if one.is_dir())
    parts["ledger"] = ledger_entries(ledger)
    # What a run prints of its results is noisy: numbers, and which of them is the largest.
    parts["stdout"] = [line.split()[:1] for line in plain(done.stdout.decode("utf-8", "replace"),
                                                          folder).splitlines()]
    everything = [done.stdout, done.stderr, *(one.read_bytes() for one in (folder / "release").glob("*"))]
    return Seen(parts, counts, b"\n".join(everything))


@pytest.mark.parametrize("make", ["synth", "answer"])
@pytest.mark.parametrize("door", FILES)
def test_one_odd_cell_shows_nowhere_by_the_command(tried, door, make, tmp_path):
    if door == "parquet" and not os.environ.get("TANDEM_DUCKDB"):
        pytest.skip("no DuckDB library: name a libduckdb.so in TANDEM_DUCKDB")
    failures = Failures()
    schema = file(tmp_path, "schema.toml", SCHEMA.replace(
        "RECORDS", "lines" if door == "csv, lines" else "quoted").encode())
    relation = {"csv": "replace-one", "csv.gz": "add-remove", "csv, lines": "persons",
                "parquet": "replace-one" if make == "synth" else "add-remove"}[door]

    def run(table):
        with Folder() as folder:
            try:
                path = FILES[door](table, folder)
            except Exception:
                return "not readable"
            return by_command(make, path, folder, relation, schema)

    base = run(base_of(DOORS["csv"], relation))
    some = list(ODD_TEXTS)[::2] if door == "parquet" else None  # each run loads DuckDB's library
    for odd, where, table in neighbours(DOORS["csv"], relation, int(door == "csv"), odd=some):
        other = run(table)
        if other == "not readable":
            tried.left_out[f"command, {door}", other] += 1
            continue
        tried.pairs[f"command, {door}"] += 1
        failures.add(f"{odd} in {where}", told_apart(base, other, 2 if relation == "persons" else 1))
    failures.none()
