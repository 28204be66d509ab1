# SPDX-License-Identifier: Apache-2.0
"""The same codes from every kind of table, and the kind that came in comes out."""
import contextlib
import datetime
import decimal
import io
import json
import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import tandem
from tandem._columns import NOWHERE, Column, Texts

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = """
format = 1
[[column]]
name = "select"
values = ["a,b", "say \\"x\\"", "two\\nlines", "Łódź", "1.0", "24"]
[[column]]
name = "grade"
size = 4
null = true
[[column]]
name = "paid"
kind = "boolean"
values = ["no", "yes"]
null = ""
[[column]]
name = "km"
kind = "real"
min = 0
max = 10
edges = [2.5, 5]
decimals = 1
special = 501
[[column]]
name = "seen"
kind = "date"
pattern = "%d.%m.%Y"
min = "01.01.2020"
max = "31.12.2020"
bins = "month"
null = ["refused", "-"]
"""
VALUES = {
    "select": ["a,b", 'say "x"', "two\nlines", "Łódź", None, "24"] * 10,
    "grade": [0, 1, 2, 3, None, 1] * 10,
    "paid": [True, False, None, True, True, False] * 10,
    "km": [0.0, 2.5, 4.9, 10.0, 501.0, None] * 10,
    "seen": [datetime.date(2020, month, 5) for month in (1, 2, 3, 4, 5)] * 12,
}
TEXTS = {
    "select": ["a,b", 'say "x"', "two\nlines", "Łódź", "", "24"] * 10,
    "grade": ["0", "1", "2", "3", "", "1"] * 10,
    "paid": ["yes", "no", "", "yes", "yes", "no"] * 10,
    "km": ["0.0", "2.5", "4.9", "10.0", "501", ""] * 10,
    "seen": [f"05.0{month}.2020" for month in (1, 2, 3, 4, 5)] * 12,
}


def schema():
    return tandem.Schema(SCHEMA)


def released(private, **more):
    return tandem.synthesize(private, **{**dict(schema=schema(), epsilon=3, mechanism="mst", seed=3),
                                      **more})


def digest(release):
    return [(release.path / name).read_bytes() for name in ("synthetic.csv", "measurements.json")]


@pytest.fixture(scope="module")
def from_texts(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "private.csv"
    pandas.DataFrame(TEXTS).to_csv(path, index=False)
    quoted = SCHEMA + '[csv]\nrecords = "quoted"\n'
    return digest(released(path, schema=tandem.Schema(quoted)))


def arrow():
    return pyarrow.table(VALUES)


def parquet(folder, parts=1):
    folder.mkdir(exist_ok=True)
    size = 60 // parts
    for at in range(parts):
        pyarrow.parquet.write_table(arrow().slice(at * size, size), folder / f"part-{at}.parquet")
    return folder


def sqlite(_=None):
    connection = sqlite3.connect(":memory:")
    connection.execute('create table t ("select" text, grade int, paid text, km real, seen text)')
    connection.executemany("insert into t values (?, ?, ?, ?, ?)",
                           zip(*(TEXTS["paid"] if name == "paid" else TEXTS["seen"] if name == "seen"
                                 else column for name, column in VALUES.items())))
    return tandem.source(connection, "select * from t")


KINDS = {
    "texts": lambda folder: TEXTS,
    "dict": lambda folder: VALUES,
    "pandas": lambda folder: pandas.DataFrame(VALUES),
    "pandas_types": lambda folder: pandas.DataFrame(VALUES).astype(
        {"select": "category", "grade": "Int8", "paid": "boolean", "seen": "datetime64[ns]"}),
    "polars": lambda folder: polars.DataFrame(VALUES),
    "polars_types": lambda folder: polars.DataFrame(VALUES).with_columns(
        polars.col("select").cast(polars.Categorical), polars.col("km").cast(polars.Decimal(6, 1)),
        polars.col("seen").cast(polars.Datetime)),
    "pyarrow": lambda folder: arrow(),
    "pyarrow_dictionary": lambda folder: arrow().set_column(
        0, "select", arrow().column(0).dictionary_encode()),
    "reader": lambda folder: arrow().to_reader(7),
    "duckdb": lambda folder: duckdb.from_arrow(arrow()),
    "parquet": lambda folder: parquet(folder / "p") / "part-0.parquet",
    "parquet_glob": lambda folder: str(parquet(folder / "p", 3) / "*.parquet"),
    "parquet_folder": lambda folder: parquet(folder / "p", 3),
    "sqlite": sqlite,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_has_the_same_codes(kind, from_texts, tmp_path):
    assert digest(released(KINDS[kind](tmp_path))) == from_texts


BY_TEXT = {"texts", "dict", "sqlite"}  # rows that are handed over as text


PERSONS = {"who": ["a", None, "b", 7, "c", None] * 10, "grade": [0, 1, 2, 3, 1, 2] * 10}
NAMED = ('format = 1\n[[column]]\nname = "grade"\nsize = 4\n'
         '[[column]]\nname = "who"\nvalues = ["a", "b", "c", "7"]\nnull = "NA"\n')


def test_rows_that_name_nobody_are_nobodys(tmp_path, monkeypatch):
    from tandem import _arrow
    texts = dict(PERSONS, who=["" if one is None else str(one) for one in PERSONS["who"]])
    pandas.DataFrame(texts).to_csv(tmp_path / "p.csv", index=False)
    given = dict(schema=tandem.Schema(NAMED), person="who", rows_per_person=50, epsilon=100)
    named = pandas.DataFrame(texts).replace("", None)
    expected = digest(released(tmp_path / "p.csv", **given))
    for table in (PERSONS, pandas.DataFrame(PERSONS), named, polars.from_pandas(named),
                  pyarrow.Table.from_pandas(named)):
        assert digest(released(table, **given)) == expected
    monkeypatch.setattr(_arrow, "installed", lambda name: None)
    assert digest(released(pandas.DataFrame(PERSONS), **given)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_has_the_same_codes(kind, codes, tmp_path, monkeypatch):
    from tandem import _arrow, _frames, _tables
    from tandem._objects import columns_of_schema
    columns = columns_of_schema(schema().document)
    data = KINDS[kind](tmp_path)
    stream = _arrow.stream_of(data, _tables.table_of(data, "it"), columns, ())
    assert (stream is None) == (kind in BY_TEXT)
    if stream is not None:
        reference = _arrow.Stream(lambda: pyarrow.table(TEXTS))
        assert codes(stream, SCHEMA) == codes(reference, SCHEMA)
        monkeypatch.setattr(_frames, "write_private", None)  # and no text is made of them
        released(KINDS[kind](tmp_path))


ODD = [[1], "x", b"y", "\ud800", 1e400, decimal.Decimal("sNaN"), "x" * 70_000, datetime.time(1, 2),
       datetime.timedelta(1), 3 + 4j]


def odd_frames():
    """Frames of which a column holds what no schema has a place for."""
    dates = pandas.Series(pandas.date_range("2020-01-01", periods=60))
    yield "objects", {"km": ODD * 6}
    yield "mixed", {"grade": [1, 2.0, True, "3", None, decimal.Decimal(2)] * 10}
    yield "categories", {"select": pandas.Categorical([1, "24", 2.5, None, "a,b", 1] * 10)}
    yield "numbers", {"select": [24, 1, 0, 7, 24, 1] * 10, "km": [2, 5, 9, 11, -1, 501] * 10}
    yield "zones", {"seen": dates.dt.tz_localize("UTC").dt.tz_convert("America/New_York")}
    yield "dates and moments", {"seen": [datetime.date(2020, 1, 5), None, pandas.NaT,
                                         datetime.datetime(2020, 3, 5, 23, 59), float("nan"),
                                         datetime.date(1, 1, 1)] * 10}
    yield "moments", {"seen": [datetime.datetime(2020, 3, 5, 23, 59), None] * 30}
    yield "booleans", {"paid": [True, None, False, float("nan"), pandas.NA, True] * 10}
    yield "small", {"km": pandas.Series([0.1, 2.5, float("nan")] * 20, dtype="float32"),
                    "grade": pandas.Series([0, 1, 2] * 20, dtype="uint8")}
    yield "nullable", {"grade": pandas.Series([0, 1, None] * 20, dtype="Int64"),
                       "km": pandas.Series([0.5, 5, None] * 20, dtype="Float64"),
                       "select": pandas.Series(["24", None, "Łódź"] * 20, dtype="string")}
    yield "sparse", {"grade": pandas.arrays.SparseArray([0, 1, 2] * 20)}


def test_a_type_without_values_is_refused_by_what_it_is_declared(tmp_path):
    dates = pandas.Series(pandas.date_range("2020-01-01", periods=60))
    ledger = tandem.Ledger.create(tmp_path / "l", dataset="d", epsilon=1)
    before = ledger.show()
    numbers = pandas.Series([1j, 2.0] * 30)
    spans = pandas.Series(pandas.interval_range(0, 60))
    for column, word in ((dates.dt.to_period("D"), "periods"), (dates - dates[0], "durations"),
                         (spans, "intervals"),
                         (dates.dt.to_period("D").astype("category"), "periods"),
                         ((dates - dates[0]).astype("duration[ns][pyarrow]"), "durations")):
        with pytest.raises(tandem.UsageError, match=f"'km' of {word}; give numbers"):
            released(pandas.DataFrame(VALUES).assign(km=column), ledger=ledger, seed=None, epsilon=1)
    frame = polars.DataFrame(VALUES).with_columns(km=polars.lit(datetime.timedelta(1)))
    for table in (frame, frame.to_arrow()):
        with pytest.raises(tandem.UsageError, match="'km' of durations"):
            released(table, ledger=ledger, seed=None, epsilon=1)
    assert ledger.show() == before
    # One complex number makes all of a list complex, so those that are real mean what they are.
    real = pandas.DataFrame(VALUES)
    mixed = real.assign(grade=[1j if at == 7 else value for at, value in enumerate(real["grade"])])
    assert mixed["grade"].dtype == "complex128"
    other = real.assign(grade=[99 if at == 7 else value for at, value in enumerate(real["grade"])])
    assert digest(released(mixed)) == digest(released(other))
    # A column that the schema does not name may be of any type.
    released(pandas.DataFrame(VALUES).assign(more=numbers))


@pytest.mark.parametrize("kind", [kind for kind, _ in odd_frames()])
def test_pandas_is_the_same_with_and_without_pyarrow(kind, monkeypatch):
    from tandem import _arrow
    frame = pandas.DataFrame(VALUES).assign(**dict(odd_frames())[kind])
    found = digest(released(frame))
    monkeypatch.setattr(_arrow, "installed", lambda name: None)
    assert digest(released(frame)) == found


class Once:
    """A table that gives its rows once."""

    def __init__(self, table):
        self.reader = table.to_reader(7)

    def __arrow_c_stream__(self, schema=None):
        return self.reader.__arrow_c_stream__(schema)


def test_what_can_be_read_once_is_not_looked_at_before(tmp_path):
    private = pyarrow.table({"a": [0, 1, 2] * 20})
    public = pandas.DataFrame({"a": [0, 1, 2, 2] * 50})
    tandem.Schema.draft(public).save(tmp_path / "draft.toml")
    given = dict(epsilon=1, mechanism="independent", schema=tmp_path / "draft.toml")
    assert tandem.synthesize(Once(private), **given).document["rows"] == 60
    assert tandem.synthesize(Once(private), public=public, **given).document["rows"] == 60


def test_a_date_that_python_cannot_hold_changes_no_other_cell():
    far = polars.Series([18_000] * 7 + [20_000_000] + [18_000] * 52).cast(polars.Int32).cast(polars.Date)
    near = polars.Series([18_000] * 60).cast(polars.Int32).cast(polars.Date)
    objects = polars.Series([object()] * 60, dtype=polars.Object)  # so that all goes as text
    found = []
    for dates in (near, far):
        frame = polars.DataFrame({**VALUES, "seen": dates}).with_columns(o=objects)
        release = released(frame.with_columns(grade=objects), epsilon=900, mechanism="independent",
                           workload="all-1way")
        told = json.loads((release.path / "measurements.json").read_text())["measurements"]
        found.append(next(one["values"] for one in told if one["columns"] == ["seen"]))
    assert sum(abs(a - b) for a, b in zip(*found)) < 3


def test_one_long_number_in_duckdb_leaves_the_others_numbers(tmp_path):
    rows = ["a"] + [str(at % 3) for at in range(60)]
    found = []
    for cell in ("1", "8" * 45):
        (tmp_path / "t.csv").write_text("\n".join([*rows, cell]) + "\n")
        relation = duckdb.connect().read_csv(str(tmp_path / "t.csv"))
        counts = []
        for table in (relation, relation.to_arrow_table()):
            release = tandem.synthesize(table, epsilon=900, mechanism="independent", workload="all-1way",
                                        schema=tandem.Schema('[[column]]\nname="a"\nsize=4\nnull=true\n'))
            counts.append(json.loads((release.path / "measurements.json").read_text())
                          ["measurements"][0]["values"])
        assert sum(abs(a - b) for a, b in zip(*counts)) < 2
        found.append(counts[0])
    assert sum(abs(a - b) for a, b in zip(*found)) < 4


def test_rows_that_are_dicts_are_rows():
    import sqlite3
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute("create table t (sex text)")
    connection.executemany("insert into t values (?)", [("F",), ("M",)] * 30)
    schema = tandem.Schema('[[column]]\nname = "sex"\nvalues = ["F", "M"]\nother = "else"\n')
    given = dict(schema=schema, epsilon=9, mechanism="independent", seed=1)
    plain = tandem.synthesize(tandem.source(connection, "select * from t"), **given)
    connection.row_factory = lambda cursor, row: {one[0]: cell for one, cell in
                                                  zip(cursor.description, row)}
    assert digest(tandem.synthesize(tandem.source(connection, "select * from t"), **given)) == digest(plain)


def test_rows_that_can_be_read_once_are_held(tmp_path):
    reader = arrow().to_reader(7)
    released(reader, mechanism="aim", workload="all-2way")
    with pytest.raises(tandem.Error):
        released(reader)


def test_a_stream_that_breaks_off_is_one_sentence_and_shows_no_cell(tmp_path):
    def batches():
        yield arrow().to_batches()[0]
        raise RuntimeError("Anna earns 42")
    ledger = tandem.Ledger.create(tmp_path / "l", dataset="d", epsilon=1)
    before = ledger.show()
    with pytest.raises(tandem.SourceError) as caught:
        released(pyarrow.RecordBatchReader.from_batches(arrow().schema, batches()), ledger=ledger,
                 seed=None, epsilon=1)
    assert "could not be read" in str(caught.value) and "Anna" not in str(caught.value)
    assert {**ledger.show(), "runs": [], "head": ""} == {**before, "runs": [], "head": ""}


class Patients(pandas.DataFrame):
    """A class of somebody's own; its cells are of types that Arrow does not take."""


class Refusing:
    def __arrow_c_stream__(self, requested_schema=None):
        raise pyarrow.ArrowInvalid("Could not convert 'Anna earns 42'")


def test_a_frame_of_a_class_of_ones_own_is_read_and_a_refusal_shows_no_cell():
    mixed = dict(VALUES, km=[1, "Anna earns 42", 2.5, None, [1], 3] * 10)
    assert digest(released(Patients(mixed))) == digest(released(pandas.DataFrame(mixed)))
    with pytest.raises(tandem.SourceError, match="could not be read") as caught:
        released(Refusing())
    assert "Anna" not in str(caught.value) and caught.value.__context__ is None


def in_passes(monkeypatch, gone_at=None):
    """Rows are counted in passes, and are gone at one of them."""
    from tandem import _arrow, _frames
    streams = []

    def of(*arguments):
        stream = _arrow.stream_of(*arguments)
        hand_over = stream.hand_over

        def handed(target):
            if stream.passes == gone_at:
                raise OSError("/home/anna/rows.parquet")
            hand_over(target)
        stream.how, stream.hand_over = "passes", handed
        streams.append(stream)
        return stream
    monkeypatch.setattr(_frames, "stream_of", of)
    return streams


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb", "parquet_folder"])
def test_passes_count_what_is_held(kind, from_texts, tmp_path, monkeypatch):
    streams = in_passes(monkeypatch)
    assert digest(released(KINDS[kind](tmp_path))) == from_texts
    assert streams[0].passes > 1


def test_rows_that_are_gone_between_two_passes(tmp_path, monkeypatch):
    ledger = tandem.Ledger.create(tmp_path / "l", dataset="d", epsilon=1)
    run = dict(ledger=ledger, seed=None, epsilon=1, out=tmp_path / "out")
    in_passes(monkeypatch, gone_at=1)
    with pytest.raises(tandem.SourceError) as caught:
        released(arrow(), **run)
    said = str(caught.value)
    assert "could not be read" in said and "resume=True" in said and "anna" not in said
    assert ledger.show()["reserved"]["epsilon"] > 0.9 and ledger.show()["spent"]["epsilon"] == 0
    in_passes(monkeypatch)
    release = released(arrow(), resume=True, **run)
    assert release.document["rows"] == 60 and len(ledger.show()["runs"]) == 1
    assert ledger.show()["reserved"]["epsilon"] == 0


def test_a_cells_text_is_the_schemas():
    labels = Texts(Column({"name": "a", "values": ["1.0", "2", "0.1"]}))
    assert [labels.one(value) for value in (1, 1.0, True, 2.0, decimal.Decimal("0.1"), 0.1, 3.0)] == [
        "1.0", "1.0", "true", "2", "0.1", "0.1", "3"]
    assert labels.all([1, True, 1.0]) == ["1.0", "true", "1.0"]
    plain = Texts(None)
    assert [plain.one(value) for value in (24.0, 0.1, 5, None, float("nan"), pandas.NA, pandas.NaT)] \
        == ["24.0", "0.1", "5", "", "", "", ""]
    assert plain.all([b"x", bytearray(b"\xff")]) == ["x", NOWHERE]
    odd = [[1], {"a": 1}, (1, [2]), object(), "x" * 70_000, "\n" * 1000, datetime.timedelta(1)]
    assert plain.all(odd) == ["\ufffd"] * len(odd)


ZURICH, UTC = (datetime.timezone(datetime.timedelta(hours=hours)) for hours in (1, 0))
EQUAL = [(datetime.datetime(2020, 1, 1, 0, 30, tzinfo=ZURICH),
          datetime.datetime(2019, 12, 31, 23, 30, tzinfo=UTC)),
         (decimal.Decimal("1"), decimal.Decimal("1.0")), (0.0, -0.0), (1, True), (1.0, 1), (0, False),
         (pandas.Timestamp("2020-01-01 00:30", tz=ZURICH), pandas.Timestamp("2019-12-31 23:30", tz=UTC)),
         (decimal.Decimal("2"), 2.0)]


@pytest.mark.parametrize("one, other", EQUAL)
def test_a_cells_text_is_the_same_whatever_stands_beside_it(one, other):
    for column in (None, Column({"name": "a", "kind": "date"}), Column({"name": "a", "kind": "real"})):
        for pair in ((one, other), (other, one)):
            assert Texts(column).all(pair) == [Texts(column).all([cell])[0] for cell in pair]


def test_a_long_text_is_the_same_beside_a_number():
    from tandem import _arrow
    column = {"km": Column({"name": "km", "kind": "real"})}

    def text(cells):
        frame = pandas.DataFrame({"km": pandas.Series(cells, dtype=object)})
        stream = _arrow.of_pandas(frame, ["km"], column).opened()
        return stream.read_all().column(0).to_pylist()[0]
    assert text(["0" * 70_000 + "5", "x"]) == text(["0" * 70_000 + "5", 7])


class Unhashable:
    def __hash__(self):
        raise RuntimeError("Anna earns 42")


HUGE = [10 ** 5000, decimal.Decimal("1E+100000000"), decimal.Decimal("-1E-100000000"), Unhashable(),
        decimal.Decimal("Infinity")]


def test_no_cell_is_too_large_for_a_text():
    labels = Texts(Column({"name": "a", "kind": "integer", "special": ["501"]}))
    started = time.time()
    assert labels.all(HUGE) == ["\ufffd"] * 4 + ["Infinity"] and time.time() - started < 1
    for kind in (dict, pandas.DataFrame):
        assert released(kind(dict(VALUES, km=HUGE * 12))).document["rows"] == 60


def test_no_private_cell_is_an_error_and_none_changes_another_row():
    odd = dict(VALUES, km=[[1], "x", b"y", "\ud800", 1e400, decimal.Decimal("sNaN")] * 10)
    assert released(odd).document["rows"] == 60
    # Of public data the same is an error, with its column.
    with pytest.raises(tandem.UsageError, match="column 'km'"):
        tandem.Schema.draft(odd)


def test_types_follow_from_the_schema():
    whole = pandas.DataFrame(VALUES)
    for frame in (whole, whole.astype({"grade": "Int8", "select": "category"}), whole.astype(str),
                  whole.astype(object), whole.convert_dtypes(dtype_backend="pyarrow")):
        assert [str(one) for one in released(frame, rows=40).rows.dtypes] == [
            str(pandas.Series(["x"]).dtype), "Int64", "boolean", "float64", "datetime64[us]"]
    for frame in (polars.DataFrame(VALUES), polars.DataFrame(VALUES).cast(polars.String)):
        assert released(frame).rows.dtypes == [polars.String, polars.Int64, polars.Boolean, polars.Float64,
                                               polars.Date]
    for table in (arrow(), arrow().cast(pyarrow.schema([(name, pyarrow.string()) for name in VALUES]))):
        assert [str(one) for one in released(table).rows.schema.types] == [
            "string", "int64", "bool", "double", "date32[day]"]


def test_types_of_a_frame_come_back_where_asked():
    frame = pandas.DataFrame(VALUES).astype({"grade": "Int8", "paid": "boolean", "km": "float32",
                                             "select": "category", "seen": "datetime64[s]"})
    made = released(frame, rows=40).like(frame).rows
    assert isinstance(made, pandas.DataFrame) and len(made) == 40
    assert [str(one) for one in made.dtypes] == ["category", "Int8", "boolean", "float32",
                                                 "datetime64[s]"]
    # Categories are the schema's: those of the private column are private.
    assert list(made["select"].cat.categories) == TEXTS["select"][:4] + ["1.0", "24"]
    given = arrow().cast(pyarrow.schema([
        ("select", pyarrow.large_string()), ("grade", pyarrow.int16()), ("paid", pyarrow.bool_()),
        ("km", pyarrow.float32()), ("seen", pyarrow.date32())]))
    table = released(given).like(given).rows
    assert [str(one) for one in table.schema.types] == ["large_string", "int16", "bool", "float",
                                                        "date32[day]"]
    polar = polars.DataFrame(VALUES, schema_overrides={"grade": polars.UInt8})
    assert released(polar).like(polar).rows.schema == polar.schema
    # A release of a file has them, too.
    assert tandem.open_release(released(polar).path).like(polar).rows.schema == polar.schema
    assert isinstance(released(duckdb.from_arrow(arrow())).rows, duckdb.DuckDBPyRelation)
    assert {type(value) for value in released(VALUES).rows["grade"]} <= {int, type(None)}


WHOLE = 'format = 1\n[[column]]\nname = "a"\nkind = "integer"\nmin = 0\nmax = 300\nbins = 4\n'
TRUTH = 'format = 1\n[[column]]\nname = "a"\nkind = "boolean"\nnull = true\n'
TIED = ('format = 1\n[[column]]\nname = "a"\nkind = "ordinal"\nvalues = ["x", "y"]\nspecial = "z"\n'
        'null = "NA"\n')
WIDER = {  # what a declared type becomes where the schema allows more than it holds
    "int8": (WHOLE, "int8", "int16"), "signed": (WHOLE + "special = -1", "uint16", "int16"),
    "float16": (WHOLE.replace("300", "300000"), "float16", "float32"),
    "float32": (WHOLE.replace("300", "300000000"), "float32", "float64"),
    "empty": (WHOLE + "null = true", "int8", "float64"), "nullable": (WHOLE, "Int8", "Int16"),
    "text": (WHOLE + 'other = "many"', "int64", "str"),
    "sparse": (WHOLE + 'other = "many"', "Sparse[float64]", "str"), "truth": (TRUTH, "bool", "object"),
    "truths": (TRUTH, "boolean", "boolean"), "category": (TIED, "category", "category"),
}


@pytest.mark.parametrize("case", WIDER)
def test_made_rows_are_the_release_whatever_the_declared_type(case):
    schema, declared, becomes = WIDER[case]
    private = pandas.Series({TIED: ["x", "z", None], TRUTH: [True, False]}.get(schema, [1, 2]) * 60)
    frame = pandas.DataFrame({"a": private.astype(declared)})
    release = tandem.synthesize(frame, epsilon=0.1, seed=1, schema=tandem.Schema(schema),
                                mechanism="independent", rows=300)
    found = release.like(frame).rows["a"]
    assert str(found.dtype).replace("object", "str" if becomes == "str" else "object") == becomes
    texts = pandas.read_csv(release.path / "synthetic.csv", dtype=str)["a"]
    assert set(texts.isna()) == {True, False} if "null" in schema else not texts.isna().any()
    assert (texts.isna() == found.isna()).all()
    spelled = Texts(Column(tandem.Schema(schema).document["column"][0]))
    assert spelled.all(found.dropna().tolist()) == texts.dropna().tolist()


def test_made_rows_of_polars_and_arrow_are_the_release_too():
    given = dict(epsilon=0.1, seed=1, schema=tandem.Schema(WHOLE + "special = -1"), rows=300,
                 mechanism="independent")
    polar = tandem.synthesize(polars.DataFrame({"a": polars.Series([1, 2] * 60, dtype=polars.UInt8)}),
                              **given)
    table = tandem.synthesize(pyarrow.table({"a": pyarrow.array([1, 2] * 60, pyarrow.uint8())}), **given)
    texts = pandas.read_csv(polar.path / "synthetic.csv")["a"].tolist()
    assert polar.rows["a"].to_list() == table.rows["a"].to_pylist() == texts and -1 in texts
    zone = pyarrow.timestamp("s", "America/New_York")
    made = tandem.synthesize(pyarrow.table({"seen": pyarrow.array([0] * 60, zone)}), **{
        **given, "schema": tandem.Schema(SCHEMA[SCHEMA.index("[[column]]\nname = \"seen"):])})
    days = [day and day.strftime("%d.%m.%Y") for day in made.rows["seen"].to_pylist()]
    assert days == [None if day == "refused" else day for day in
                    pandas.read_csv(made.path / "synthetic.csv")["seen"]]


def test_pandas_integers_tell_nothing_of_private_empty_cells():
    schema = tandem.Schema("format = 1\n[[column]]\nname = 'a'\nsize = 3\nnull = true\n")
    whole = pandas.DataFrame({"a": [0, 1, 2] * 50})
    gap = whole.astype("float64")
    gap.iloc[0, 0] = None
    for frame in (whole, gap):
        made = tandem.synthesize(frame, schema=schema, epsilon=1, mechanism="independent", seed=1).rows
        assert str(made["a"].dtype) == "Int64"


def test_parquet_out_and_in(tmp_path):
    release = released(arrow())
    release.to_parquet(tmp_path / "made.parquet")
    made = pyarrow.parquet.read_table(tmp_path / "made.parquet")
    assert made.schema.types == release.rows.schema.types and made.num_rows == 60
    assert tandem.evaluate(tmp_path / "made.parquet", release, internal=True)["avg_workload_error"] == 0


def test_a_file_cut_short_is_one_sentence_and_spends_nothing(tmp_path):
    path = parquet(tmp_path / "p") / "part-0.parquet"
    ledger = tandem.Ledger.create(tmp_path / "l", dataset="d", epsilon=1)
    before = str(ledger.show())
    whole = path.read_bytes()
    for size in (len(whole) // 2, 0):
        path.write_bytes(whole[:size])
        with pytest.raises(tandem.SourceError, match="can't be read as Parquet"):
            released(path, ledger=ledger, seed=None, epsilon=1)
    assert str(ledger.show()) == before


@pytest.mark.parametrize("end", ["health?table=t&password=hunter2", "health.parquet"])
def test_a_password_in_an_address_is_not_shown(end, tmp_path):
    ledger = tandem.Ledger.create(tmp_path / "l", dataset="d", epsilon=1)
    before = str(ledger.show())
    with pytest.raises(tandem.Error, match="://db/health") as caught:
        released(f"postgresql://steward:hunter2@db/{end}", ledger=ledger, seed=None, epsilon=1)
    assert "hunter2" not in str(caught.value) and str(ledger.show()) == before


class Stopping:
    """A connection whose server goes away, with a message that quotes a row and a password."""

    description = [(name,) for name in VALUES]

    def cursor(self):
        self.fetched = 0
        return self

    def execute(self, query):
        pass

    def close(self):
        pass

    def fetchmany(self, _rows):
        self.fetched += 1
        if self.fetched > 1:
            raise RuntimeError("server closed: password=hunter2 row=(Anna, 42)")
        return list(zip(*VALUES.values()))


def test_a_database_that_stops_spends_nothing_and_shows_no_secret(tmp_path):
    import traceback
    ledger = tandem.Ledger.create(tmp_path / "l", dataset="d", epsilon=1)
    before = str(ledger.show())
    with pytest.raises(tandem.SourceError) as caught:
        released(tandem.source(Stopping(), "select secret"), ledger=ledger, seed=None, epsilon=1)
    said = "".join(traceback.format_exception(caught.value))
    assert "hunter2" not in said and "Anna" not in said and caught.value.__context__ is None
    assert "\n" not in str(caught.value) and str(ledger.show()) == before


ACS = pathlib.Path(os.environ.get("TANDEM_DATA", "/nowhere")) / "acs"


@pytest.mark.skipif(not (ACS / "ma2019.csv").exists(), reason="TANDEM_DATA has no acs")
def test_acs_is_the_same_from_every_kind_of_table(tmp_path):
    file, schema = ACS / "ma2019.csv", tandem.Schema.draft(ACS / "ma2018.csv")
    table = pandas.read_csv(file)
    pyarrow.parquet.write_table(pyarrow.Table.from_pandas(table), tmp_path / "acs.parquet")
    (tmp_path / "out").mkdir()
    found = {}
    for kind, rows in {"csv": file, "pandas": table, "polars": polars.from_pandas(table),
                       "pyarrow": pyarrow.Table.from_pandas(table),
                       "duckdb": duckdb.from_df(table),
                       "parquet": tmp_path / "acs.parquet"}.items():
        found[kind] = digest(tandem.synthesize(rows, schema=schema, epsilon=1, seed=1,
                                               mechanism="independent",
                                               out=tmp_path / "out" / kind))
    assert all(one == found["csv"] for one in found.values())
    # Not only each column: no pair of columns counts otherwise.
    for rows in (table, tmp_path / "acs.parquet"):
        assert tandem.evaluate(rows, file, schema=schema, workload="all-2way",
                               internal=True)["avg_workload_error"] == 0


def test_the_twenty_lines(tmp_path):
    public = pandas.read_csv(ROOT / "build" / "sample" / "public.csv")
    private = pandas.read_csv(ROOT / "build" / "sample" / "private.csv")
    schema = tandem.Schema.draft(public)
    assert schema.doubts is not None
    schema["commute_km"].bins = 8
    schema.save(tmp_path / "schema.toml")
    assert tandem.Schema.read(tmp_path / "schema.toml")["commute_km"].bins == 8
    ledger = tandem.Ledger.create(tmp_path / "l", dataset="register 2026", epsilon=5)
    release = tandem.synthesize(private, public=public, schema=schema, epsilon=1.0, ledger=ledger,
                                mechanism="mst", out=tmp_path / "release")
    assert "epsilon 1" in repr(release) and "<table>" in release._repr_html_()
    assert list(release.rows.columns) == list(private.columns)
    assert len(release.sample(1_000)) == 1_000
    assert tandem.evaluate(private, release, internal=True)["avg_workload_error"] < 1
    assert tandem.Ledger.open(tmp_path / "l").show()


def test_compare_runs_in_processes_of_its_own(tmp_path):
    found = tandem.compare(VALUES, schema=schema(), mechanisms=["independent", "mst"],
                           epsilons=[1, 3], seeds=1, out=tmp_path / "c", internal=True)
    assert len(tandem.compare(VALUES, schema=schema(), mechanisms="mst", epsilons=1, seeds=1,
                              out=tmp_path / "one", internal=True).rows) == 1
    assert len(found.rows) == 4 and found.figure.startswith("<") and len(found.frame()) == 4
    with pytest.raises(tandem.UsageError, match="internal=True"):
        tandem.compare(VALUES, schema=schema(), mechanisms=["mst"], epsilons=[1], out=tmp_path / "d")
    with pytest.raises(tandem.UsageError) as caught:
        tandem.compare(VALUES, schema=schema(), mechanisms=["nothing"], epsilons=[1],
                       out=tmp_path / "d", internal=True)
    assert "--" not in str(caught.value)


def test_the_interpreter_goes_on_while_a_release_is_made():
    turns = []
    stop = threading.Event()

    def count():
        while not stop.is_set():
            turns.append(1)
            time.sleep(0.001)

    counting = threading.Thread(target=count)
    counting.start()
    events = []
    tandem.synthesize(ROOT / "build" / "sample" / "private.csv", epsilon=1, mechanism="mst", seed=1,
                      schema=ROOT / "examples" / "population" / "schema.toml",
                      progress=events.append)
    stop.set()
    counting.join()
    assert len(turns) > 20 and any("stage" in event for event in events)


def test_progress_true_writes_to_stderr(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    heard = io.StringIO()
    monkeypatch.setattr(sys, "stderr", heard)
    released(VALUES, progress=True)
    assert "tandem: measuring" in heard.getvalue()


@pytest.mark.skipif(not shutil.which("nm"), reason="no nm on this machine")
def test_the_library_shows_nothing_but_its_calls():
    from tandem._library import CALLS, library
    shown = subprocess.run(["nm", "-D", "--defined-only", library()._name], check=True,
                           capture_output=True, text=True).stdout.split()
    names = {name.split("@")[0] for name in shown[2::3]}
    assert set(CALLS) < names and all(name.startswith("tandem_") for name in names)


def test_a_forked_process_is_told_to_spawn():
    released(VALUES)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            tandem.mechanisms()
            os.write(write, b"answered")
        except tandem.UsageError:
            os.write(write, b"refused")
        finally:
            os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    assert os.read(read, 100) == b"refused"


@pytest.mark.skipif(not os.environ.get("TANDEM_PANDAS2"), reason="no pandas 2: ./run python has one")
def test_all_of_this_with_pandas_2():
    paths = [os.environ["TANDEM_PANDAS2"], str(pathlib.Path(tandem.__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    environment.pop("TANDEM_PANDAS2")
    version = subprocess.run([sys.executable, "-c", "import pandas; print(pandas.__version__)"],
                             env=environment, capture_output=True, text=True, check=True).stdout
    assert version.startswith("2.")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__,
                           "--import-mode=importlib", "--rootdir", ROOT / "python", "-k",
                           "kind_of_table or types or pandas"],
                          env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout
