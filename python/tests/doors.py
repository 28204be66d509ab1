# SPDX-License-Identifier: Apache-2.0
"""Neighbouring tables, the doors by which tandem takes a table, and all that somebody may see of a run.

A door is a way to hand over rows: a file, a kind of frame, a query. Two tables that differ in what one
person says must look the same through each of them, but for what noise makes of them. What a reader
(pandas, polars, ...) makes of a text belongs to the door: tandem has no part in it, and must not hand
on what the reader found out.
"""
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import gzip
import io
import json
import re
import pathlib
import shutil
import sqlite3
import tempfile
import typing
import uuid
import warnings

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.csv
import pyarrow.parquet

import tandem

COMMAND = pathlib.Path(tandem.__file__).resolve().parent / "bin" / "tandem"
if not COMMAND.exists():  # in a clone
    COMMAND = pathlib.Path(tandem.__file__).resolve().parents[2] / "build" / "release" / "tandem"

# Columns of all kinds, with and without null, special and other values, and texts that count as theirs.
COLUMNS = {
    "whole": ('kind = "integer"\nmin = 0\nmax = 99\nbins = 4',
              [str(at % 100) for at in range(7, 667, 11)]),
    "age": ('kind = "integer"\nmin = 0\nmax = 99\nbins = 4\nnull = ["", "unknown"]\nother = "odd"\n'
            'special = -1', [str(at * 7 % 95) for at in range(60)]),
    "pay": ('kind = "real"\nmin = 0\nmax = 1000\nbins = 4\ndecimals = 1\nnull = ""',
            [f"{at * 16}.5" for at in range(60)]),
    "km": ('kind = "real"\nmin = 0\nmax = 10\nedges = [2.5, 5]\ndecimals = 1\nspecial = 501',
           [f"{at % 10}.0" for at in range(60)]),
    "ok": ('kind = "boolean"\nvalues = ["False", "True"]\nnull = ""',
           [str(at % 3 == 0) for at in range(60)]),
    "paid": ('kind = "boolean"\nvalues = ["no", "yes"]\nother = "maybe"',
             ["yes" if at % 4 else "no" for at in range(60)]),
    "day": ('kind = "date"\nmin = "2020-01-01"\nmax = "2020-12-31"\nbins = 4\nnull = ["", "unknown"]',
            [f"2020-{1 + at % 12:02}-{1 + at % 28:02}" for at in range(60)]),
    "born": ('kind = "date"\npattern = "%d.%m.%Y"\nmin = "01.01.1920"\nmax = "31.12.2020"\nbins = 5\n'
             'other = "never"', [f"{1 + at % 28:02}.{1 + at % 12:02}.{1920 + at}" for at in range(60)]),
    "seen": ('kind = "date"\npattern = "%Y-%m-%d %H:%M:%S"\nmin = "2020-01-01 00:00:00"\n'
             'max = "2020-12-31 23:59:59"\nbins = "quarter"\nnull = true',
             [f"2020-{1 + at % 12:02}-{1 + at % 28:02} {at % 24:02}:15:00" for at in range(60)]),
    "word": ('values = ["plain", "a,b", "say \\"x\\"", "24"]\nunknown = "24"',
             [["plain", "a,b", 'say "x"', "plain"][at % 4] for at in range(60)]),
    "code": ("size = 4\nnull = true", [str(at % 4) for at in range(60)]),
    "level": ('kind = "ordinal"\nvalues = ["low", "mid", "high"]\nother = "odd"\nnull = "NA"',
              [["low", "mid", "high"][at % 3] for at in range(60)]),
}
TEXTS = {name: texts for name, (_, texts) in COLUMNS.items()}
ROWS = 60
SCHEMA = '[csv]\nrecords = "RECORDS"\n' + "".join(
    f'[[column]]\nname = "{name}"\n{keys}\n' for name, (keys, _) in COLUMNS.items())
PERSONS = [f"p{at // 2}" for at in range(ROWS)]  # two rows each, for a column 'who' beside the schema


def typed(name, text):
    """A text of the base table as the value that it stands for."""
    if name in ("whole", "age", "code"):
        return int(text)
    if name in ("pay", "km"):
        return float(text)
    if name in ("ok", "paid"):
        return text in ("True", "yes")
    if name == "day":
        return datetime.date.fromisoformat(text)
    if name == "born":
        return datetime.datetime.strptime(text, "%d.%m.%Y").date()
    return datetime.datetime.fromisoformat(text) if name == "seen" else text


OBJECTS = {name: [typed(name, text) for text in texts] for name, texts in TEXTS.items()}

SECRET = "p7 has HIV"  # what must be found nowhere
# What one cell of a file may be. Bytes that are no UTF-8 stand as Python's escapes.
ODD_TEXTS = {
    "empty": "", "null of the schema": "unknown", "another null": "NA", "NaN": "NaN", "nan": "nan",
    "null": "null", "None": "None", "N/A": "#N/A", "inf": "inf", "-Infinity": "-Infinity",
    "minus zero": "-0.0", "decimals": "12.5", "whole decimals": "7.0", "comma": "12,5", "minus": "-5",
    "special": "-1", "other": "odd", "20 digits": "9" * 20, "40 digits": "8" * 40,
    "400 digits": "7" * 400, "5000 digits": "6" * 5000, "1e308": "1e308", "1e400": "1e400",
    "1e5": "1e5", "1e-400": "1e-400", "hexadecimal": "0x1F", "underscore": "1_000", "plus": "+5",
    "spaces around": " 5 ", "space behind": "5 ", "zeros before": "007", "many places": "3." + "1" * 40,
    "Arabic digit": "\u0663", "percent": "50%", "1": "1", "0": "0", "1066": "1066-10-14",
    "0044": "0044-03-15", "BC": "0044-03-15 BC", "last year": "9999-12-31", "year 10000": "10000-01-01",
    "no such day": "2020-02-30", "German date": "05.06.2020", "infinity": "infinity",
    "midnight": "24:00:00", "time": "12:30:15", "moment": "2020-05-05 12:30:15",
    "nanoseconds": "2020-05-05 12:30:15.123456789", "zone": "2020-05-05T12:30:00+02:00",
    "UTC": "2020-05-05T12:30:00Z", "true": "true", "TRUE": "TRUE", "False": "False", "yes": "yes",
    "Y": "Y", "other case": "LOW", "unlisted": SECRET, "long": SECRET + "x" * 70_000,
    "NUL": SECRET + "\0b", "surrogate": SECRET + "\ud800", "invalid UTF-8": SECRET + "\udcff\udcfe",
    "quotes": f'say "{SECRET}"', "one quote": f'"{SECRET}', "line feeds": f"{SECRET}\nand more",
    "carriage return": f"{SECRET}\rmore", "delimiters": f"a,{SECRET};b\tc", "formula": f"=1+1{SECRET}",
    "SQL": f"'; drop table t; --{SECRET}", "heartbeat": f"heartbeat {SECRET}",
    "a failure's name": f"OutOfMemoryError {SECRET}", "said": f"tandem-says:{SECRET}",
    "emoji": f"\U0001f600{SECRET}", "right to left": f"\u202e\u05d0{SECRET}", "mark": "\ufeff7",
    "uuid": "123e4567-e89b-12d3-a456-426614174000", "list": "[1, 2]", "structure": '{"a": 1}',
    "markup": f"<b>{SECRET}</b>", "setting": f"\x0e{SECRET}\x0f", "escape": f"\x1b[31m{SECRET}",
}


class Rude(str):
    """A text that does what it can to be shown, or to fail."""

    def __str__(self):
        raise ValueError(SECRET)

    __repr__ = __hash__ = __str__

    def __eq__(self, other):
        raise ValueError(SECRET)


class Hostile:
    """An object that fails, with what it holds, whatever is asked of it."""

    def __getattr__(self, name):
        raise (AttributeError if name.startswith("__") else RuntimeError)(SECRET)

    def __repr__(self):
        raise RuntimeError(SECRET)

    __str__ = __eq__ = __bool__ = __float__ = __int__ = __len__ = __hash__ = __iter__ = __repr__


class Coin(enum.IntEnum):
    HEADS = 1


# What one cell of a list, of objects or of a query may be.
ODD_OBJECTS = {
    "None": None, "nan": float("nan"), "inf": float("inf"), "-inf": float("-inf"), "minus zero": -0.0,
    "12.5": 12.5, "7.0": 7.0, "-1": -1, "1": 1, "0": 0, "20 digits": 10**20 - 1, "64 bits": 2**63,
    "-64 bits": -2**63 - 1, "40 digits": 10**40 - 1, "400 digits": 10**400, "5000 digits": 10**5000,
    "1e308": 1e308, "1e-320": 1e-320, "True": True, "False": False, "decimal": decimal.Decimal("12.5"),
    "decimal NaN": decimal.Decimal("NaN"), "signalling NaN": decimal.Decimal("sNaN"),
    "decimal infinity": decimal.Decimal("-Infinity"), "huge decimal": decimal.Decimal("1e500"),
    "long decimal": decimal.Decimal("1." + "3" * 60), "fraction": fractions.Fraction(1, 3),
    "date": datetime.date(2020, 5, 5), "1066": datetime.date(1066, 10, 14),
    "last day": datetime.date(9999, 12, 31), "first day": datetime.date(1, 1, 1),
    "moment": datetime.datetime(2020, 5, 5, 12, 30, 15, 999_999),
    "zone": datetime.datetime(2020, 5, 5, 12, tzinfo=datetime.timezone.utc),
    "last moment": datetime.datetime.max, "time": datetime.time(12, 30), "difference":
    datetime.timedelta(1), "numpy NaT": numpy.datetime64("NaT"),
    "numpy moment": numpy.datetime64("2020-05-05T12:30:15", "ns"), "numpy 1066":
    numpy.datetime64("1066-10-14"), "numpy far": numpy.datetime64("30000-01-01"),
    "numpy half": numpy.float16(2.5), "numpy int8": numpy.int8(5), "numpy bool": numpy.bool_(True),
    "numpy text": numpy.str_(SECRET), "numpy long": numpy.longdouble("1e400"),
    "numpy complex": numpy.complex64(1j), "pandas NA": pandas.NA, "pandas NaT": pandas.NaT,
    "Timestamp": pandas.Timestamp("2020-05-05 12:30:15.123456789"),
    "Timestamp with a zone": pandas.Timestamp("2020-05-05", tz="America/New_York"),
    "Timedelta": pandas.Timedelta(1, "D"), "Period": pandas.Period("2020-05", "M"),
    "Interval": pandas.Interval(0, 5), "uuid": uuid.UUID(int=7), "bytes": SECRET.encode(),
    "bytes, no UTF-8": b"\xff\xfe", "bytearray": bytearray(b"7"), "complex": 1 + 2j, "list": [1, SECRET],
    "dict": {"a": SECRET}, "tuple": (1, 2), "set": {1}, "array": numpy.array([1, 2]),
    "object": object(), "rude text": Rude(SECRET), "hostile": Hostile(), "a class": Hostile,
    "enumeration": Coin.HEADS, "text": SECRET, "unknown": "unknown", "NA": "NA", "5": "5", " 5 ": " 5 ",
    "LOW": "LOW", "empty": "", "NUL": SECRET + "\0", "surrogate": SECRET + "\ud800", "long":
    SECRET + "x" * 70_000, "lines": SECRET + "\n" * 2000, "heartbeat": f"heartbeat {SECRET}",
}


class OddText(str):
    """A text that stands in a column of another type."""


ODD_TYPED = {"null": None, **{odd: OddText(text) for odd, text in ODD_TEXTS.items() if odd != "null"}}


@dataclasses.dataclass(frozen=True)
class Door:
    """A way to hand rows over: `read(table, folder)` makes a frame or file of a dict of columns, and
    `give` makes of that what tandem is given. `cells` are the odd ones that it can hold."""

    name: str
    read: typing.Callable
    cells: str = "texts"
    give: typing.Callable = lambda frame: frame
    records: str = "quoted"
    without: tuple = ()  # odd cells at which its library complains aloud
    slow: bool = False

    @property
    def base(self):
        return TEXTS if self.cells == "texts" else OBJECTS

    @property
    def odd(self):
        cells = {"texts": ODD_TEXTS, "objects": ODD_OBJECTS, "typed": ODD_TYPED}[self.cells]
        return {name: cell for name, cell in cells.items() if name not in self.without}


def encoded(text):
    """UTF-8, with bytes that are none where the text has Python's escapes for them."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def quoted(text):
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\r\n') else text


def as_csv(table, write=quoted):
    """Records as RFC 4180 has them."""
    rows = [",".join(table), *(",".join(map(write, row)) for row in zip(*table.values()))]
    return b"".join(encoded(row) + b"\n" for row in rows)


def as_lines(table):
    """The same without any quotes: whatever bytes these are, a line is a row."""
    return as_csv(table, lambda text: text.replace("\n", " "))


def file(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return path


def parquet(frame, folder):
    path = folder / "rows.parquet"
    pyarrow.parquet.write_table(frame, path)
    return path


def pandas_csv(table, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pandas.read_csv(io.BytesIO(as_csv(table)), **more)


def polars_csv(table):
    return polars.read_csv(io.BytesIO(as_csv(table)), infer_schema_length=None, try_parse_dates=True)


def arrow_csv(table):
    return pyarrow.csv.read_csv(io.BytesIO(as_csv(table)),
                                parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True))


CONNECTIONS = collections.deque(maxlen=2)  # relations of a connection that is gone can't be read


def duckdb_connection():
    CONNECTIONS.append(duckdb.connect(config={"threads": 1}))
    return CONNECTIONS[-1]


def duckdb_csv(table, folder):
    relation = duckdb_connection().read_csv(str(file(folder, "rows.csv", as_csv(table))))
    relation.fetchall()  # what can't be read is found here
    return relation


SQL_TYPES = {"whole": "numeric", "age": "bigint", "pay": "double precision", "km": "numeric(30, 6)",
             "ok": "boolean", "paid": "boolean", "day": "date", "born": "date", "seen": "timestamp",
             "word": "text", "code": "smallint", "level": "varchar(80000)", "who": "text"}


class TypedTable:
    """A table of a database, with declared types: what it does not take for a type is not read.
    `execute(statement, values)` has `mark` in place of values."""

    def __init__(self, execute, mark):
        self.execute, self.mark = execute, mark
        execute("create temporary table base (place integer, " + ", ".join(
            f"{name} {kind}" for name, kind in SQL_TYPES.items()) + ")")
        for at, row in enumerate(zip(*{**OBJECTS, "who": PERSONS}.values())):
            execute(f"insert into base values ({', '.join([mark] * (len(row) + 1))})", [at, *row])

    def fill(self, table):
        """Makes t: the base without the rows that changed, and these, with odd texts cast."""
        names = ", ".join(table)
        rows = [(at, row) for at, row in enumerate(zip(*table.values()))
                if any(cell is None or isinstance(cell, OddText) for cell in row)]
        gone = [at for at, _ in rows] if len(next(iter(table.values()))) == ROWS else []
        self.execute("drop table if exists t")
        self.execute(f"create temporary table t as select {names} from base" + (
            f" where place not in ({', '.join(map(str, gone))})" if gone else ""))
        for _, row in rows:
            casts = ", ".join(f"cast({self.mark} as {SQL_TYPES[name]})" for name in table)
            self.execute(f"insert into t values ({casts})",
                         [str(cell) if isinstance(cell, OddText) else cell for cell in row])


@functools.lru_cache(maxsize=1)
def typed_in_duckdb():
    connection = duckdb.connect(config={"threads": 1})
    return connection, TypedTable(connection.execute, "?")


def duckdb_typed(table, folder):
    connection, typed_table = typed_in_duckdb()
    typed_table.fill(table)
    return connection.table("t")


def arrow_of(table):
    return pyarrow.table({name: pyarrow.array(cells, from_pandas=True)
                          for name, cells in table.items()})


class OnlyAStream:
    """Whatever else may be asked of a frame, this one has an Arrow stream and nothing more."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def sqlite(table, folder):
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute(f"create table t ({', '.join(table)})")
    connection.executemany(f"insert into t values ({', '.join('?' * len(table))})",
                           zip(*table.values()))
    return tandem.source(connection, "select * from t")


def lists(table, folder):
    return {name: list(cells) for name, cells in table.items()}


def objects(table, folder):
    return pandas.DataFrame({name: pandas.Series(cells, dtype=object) for name, cells in table.items()})


DATES = ["day", "seen"]
DOORS = {door.name: door for door in [
    Door("csv", lambda table, folder: file(folder, "rows.csv", as_csv(table))),
    Door("csv, lines", lambda table, folder: file(folder, "rows.csv", as_lines(table)),
         records="lines"),
    Door("csv.gz", lambda table, folder: file(folder, "rows.csv.gz", gzip.compress(as_csv(table), 1))),
    Door("parquet", lambda table, folder: parquet(pyarrow.Table.from_pandas(
        pandas_csv(table, parse_dates=DATES)), folder)),
    Door("pandas", lambda table, folder: pandas_csv(table)),
    Door("pandas, dates", lambda table, folder: pandas_csv(table, parse_dates=DATES)),
    Door("pandas, nullable", lambda table, folder: pandas_csv(table, dtype_backend="numpy_nullable")),
    Door("pandas, arrow", lambda table, folder: pandas_csv(table, dtype_backend="pyarrow")),
    Door("pandas, converted", lambda table, folder: pandas.DataFrame(table), "objects"),
    Door("pandas, objects", objects, "objects"),
    Door("pandas, categories", lambda table, folder: pandas_csv(table).astype("category")),
    Door("polars", lambda table, folder: polars_csv(table)),
    Door("polars, categories", lambda table, folder: polars_csv(table).with_columns(
        polars.col(polars.String).cast(polars.Categorical))),
    Door("polars, converted", lambda table, folder: polars.DataFrame(
        table, strict=False, infer_schema_length=None), "objects", without=("hostile",)),
    Door("pyarrow", lambda table, folder: arrow_csv(table)),
    Door("pyarrow, converted", lambda table, folder: arrow_of(table), "objects"),
    Door("pyarrow, dictionaries", lambda table, folder: (lambda read: pyarrow.table(
        {name: read[name].dictionary_encode() for name in read.column_names}))(arrow_csv(table))),
    Door("reader", lambda table, folder: arrow_csv(table), give=lambda found: found.to_reader(7)),
    Door("stream", lambda table, folder: arrow_csv(table), give=OnlyAStream),
    Door("duckdb", duckdb_csv, slow=True),
    Door("duckdb, typed", duckdb_typed, "typed"),
    Door("dict", lists, "objects"),
    Door("dict of texts", lists),
    Door("sqlite", sqlite, "objects"),
]}


def rows_in(frame):
    """The rows of a frame as a list of columns; None of what is no frame."""
    if isinstance(frame, pandas.DataFrame):
        return [frame[name].tolist() for name in frame]
    if isinstance(frame, (polars.DataFrame, pyarrow.Table)):
        return [column.to_list() if isinstance(frame, polars.DataFrame) else column.to_pylist()
                for column in (frame.columns if isinstance(frame, pyarrow.Table) else frame)]
    if isinstance(frame, duckdb.DuckDBPyRelation):
        return [list(cells) for cells in zip(*frame.fetchall())]
    return None


def same_value(before, after):
    """Whether a cell still means what it meant when its library made a column of it."""
    if before is None or after is None:
        return (before is None) == (after is None or after != after)
    if isinstance(before, bool) or isinstance(after, bool):
        return before is after
    if isinstance(before, str):
        return after == before or after == before.encode()
    if isinstance(before, datetime.date):
        clock = isinstance(before, datetime.datetime)
        return isinstance(after, datetime.date) and f"{after:%F %T}" == (
            f"{before:%F %T}" if clock else f"{before:%F} 00:00:00")
    try:
        return decimal.Decimal(str(after)) == decimal.Decimal(str(before))
    except decimal.InvalidOperation:
        return False


def still_neighbours(frame, table, base, door):
    """Whether a library kept as many rows, and of cells that it was given, all that are not odd: some
    make of True and 12.5 two numbers, or of a '#' a comment. Then all rows differ, not one."""
    found = rows_in(frame)
    if found is None:
        return True
    if len(found[0]) != len(next(iter(table.values()))):
        return False
    return door.cells == "texts" or all(
        same_value(given, made)
        for name, column in zip(table, found)
        for given, made in zip(table[name], column)
        if given in base[name])


def refused_by_type(frame):
    """Whether a column's declared type is one of those that are refused by name, whatever is in it."""
    if rows_in(frame) is None:
        return False
    found = frame.dtypes.map(str).tolist() if isinstance(frame, pandas.DataFrame) else types(frame)
    return bool(re.search(r"timedelta|period|interval|duration|struct|list|\[\]", str(found),
                          re.IGNORECASE))


RELATIONS = {
    "replace-one": {},
    "add-remove": {"neighbors": "add-remove"},
    "persons": {"person": "who", "rows_per_person": 2},
}
PLACES = (17, 0, ROWS - 1)  # of the row that changes: types are guessed from the first ones, or from all


def base_of(door, relation, bare=False):
    """A table; a `bare` one has nothing in any cell."""
    table = dict(door.base)
    if bare:
        nothing = "" if door.cells == "texts" else None
        table = {name: [nothing] * ROWS for name in table}
    return {**table, "who": PERSONS} if relation == "persons" else table


def changed(table, relation, columns, cell, place):
    """The neighbour: one row has this cell in some columns, in its place or as a row more; of a person
    it has it in both rows."""
    out = {}
    for name, cells in table.items():
        cells = list(cells)
        if relation == "add-remove":
            cells.insert(place, cell if name in columns else cells[place])
        elif name in columns:
            for at in (place, place ^ 1) if relation == "persons" else (place,):
                cells[at] = cell
        out[name] = cells
    return out


def neighbours(door, relation, singles=3, bare=False, odd=None):
    """(what is odd, where, the neighbour) for each odd cell: in all columns of a row, and alone in some
    `singles` of them, each time others. A typed column takes few of them: each is tried in each."""
    table = base_of(door, relation, bare)
    columns = list(table)
    for at, name in enumerate(odd or door.odd):
        cell, place = door.odd[name], PLACES[at % len(PLACES)]
        if door.cells == "typed":
            alone = columns if singles else []
        else:
            yield name, "all columns", changed(table, relation, columns, cell, place)
            alone = [columns[(at + turn * (len(columns) // singles)) % len(columns)]
                     for turn in range(singles)]
        for column in alone:
            yield name, column, changed(table, relation, [column], cell, place)


# What follows is all that may be seen of a run.

NOISY = {"id", "day", "spent", "measurements_sha256", "model_sha256", "facts", "certified_error",
         "ledger"}


def types(rows):
    """The types of a frame of rows, as text; of lists, what is in them."""
    if isinstance(rows, pandas.DataFrame):
        return {name: f"{kind} {kind!r}" for name, kind in rows.dtypes.items()}
    if isinstance(rows, polars.DataFrame):
        return {name: str(kind) for name, kind in rows.schema.items()}
    if isinstance(rows, pyarrow.Table):
        return {one.name: str(one.type) for one in rows.schema}
    if isinstance(rows, dict):
        return {name: sorted({type(cell).__name__ for cell in cells} - {"NoneType"})
                for name, cells in rows.items()}
    if isinstance(rows, tandem.Rows):
        return [types(rows.to_pandas()), types(rows.to_polars()), types(rows.to_arrow())]
    if isinstance(rows, duckdb.DuckDBPyRelation):
        return dict(zip(rows.columns, map(str, rows.types)))
    return dict(rows.dtypes)  # of Spark


def is_adaptive(steps):
    return any(step["kind"] not in ("measure", "measure_score") for step in steps)


def without_noise(document, keeps_rows):
    """What a release says, but for what follows from noise, from random numbers and from the time."""
    out = {key: value for key, value in document.items()
           if key not in NOISY and (keeps_rows or key not in ("rows", "total"))}
    steps = document.get("steps", [])
    # What is chosen decides what is measured, and how many rounds there are.
    keys = {"kind", "noise"} if is_adaptive(steps) else {"kind", "noise", "measured", "rho", "epsilon"}
    told = [{key: step[key] for key in step if key in keys} for step in steps]
    out["steps"] = told[:1] if is_adaptive(steps) else told
    out["warnings"] = sorted(one["key"] for one in document.get("warnings", []))
    out["facts"] = sorted(document.get("facts", {}))
    return out


def ledger_entries(ledger):
    told = ledger.show()
    return [{key: run[key] for key in ("mechanism", "label", "state", "steps", "reserved")}
            for run in told["runs"]] + [told["neighbors"], told["rows_per_person"]]


def counts_of(release):
    """The noisy counts of each column, which at a large epsilon are the counts, and their noise."""
    found = json.loads((release.path / "measurements.json").read_text())["measurements"]
    return {one["columns"][0]: (one["values"], one["stddev"]) for one in found
            if len(one["columns"]) == 1 and "map" not in one}


class Seen(typing.NamedTuple):
    """What was seen of a run, by what it is; what must not be in it was looked for in `everything`."""

    parts: dict
    counts: dict
    everything: bytes


def plain(text, folder):
    """A message without names that are random."""
    return re.sub(r"/[^\s']*/tandem-[^\s'/]+", "TEMPORARY", str(text).replace(str(folder), "FOLDER"))


def seen(work, folder, keeps_rows, ledger=None, progress=(), said=lambda: ""):
    """Runs `work`, which gives a release, and says what can be seen of it. `said` gives what was
    printed."""
    parts, everything = {}, []
    counts = {}
    said()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            release = work()
            parts, counts = of_release(release, keeps_rows)
            everything.extend(one.read_bytes() for one in release.path.iterdir())
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a library in Rust panics with one of these
            parts["exception"] = f"{type(error).__name__}: {plain(error, folder)}"
            while error is not None:  # whatever a traceback would show
                everything.append(f"{error!r} {error}".encode("utf-8", "backslashreplace"))
                error = error.__cause__ or error.__context__
    parts["warned"] = [str(one.message) for one in warned]
    parts["said"] = plain(said(), folder)
    if ledger is not None:
        parts["ledger"] = ledger_entries(ledger)
    told = [(one.get("stage"), one.get("note")) for one in progress]
    parts["progress"] = sorted(set(told), key=told.index)
    if parts.pop("adaptive", False):
        for run in parts.get("ledger", []):
            if isinstance(run, dict):
                run.pop("steps")
    everything += [part.encode("utf-8", "backslashreplace")
                   for part in (parts["said"], *parts["warned"], json.dumps(list(progress)))]
    return Seen(parts, counts, b"\n".join(everything))


def of_release(release, keeps_rows):
    """What is in a release but noise, and its counts."""
    files = {one.name: one.read_bytes() for one in release.path.iterdir()}
    parts = {"adaptive": is_adaptive(release.steps), "files": sorted(files),
             "release.json": without_noise(release.document, keeps_rows),
             "schema": next(files[name] for name in files if name.startswith("schema."))}
    if "answers.csv" in files:
        answers = release.answers
        parts["types of answers"] = types(answers) if not isinstance(answers, tandem.Numbers) else None
        parts["answers"] = [line.split(b",")[0] for line in files["answers.csv"].splitlines()]
    elif "synthetic.csv" in files and not files["synthetic.csv"].startswith(b"user,item"):
        rows = release.rows
        parts["kind"], parts["types"] = type(rows).__name__, types(rows)
        if keeps_rows:
            parts["rows"] = len(release._rows())
    return parts, {} if parts["adaptive"] else counts_of(release)


def moved(one, other, rows_changed):
    """How far the counts of a column moved where that is more than so many rows and noise can do; noise
    below a third of a row is hardly ever a row."""
    found = 0
    for name in one.keys() & other.keys():
        (values, stddev), (others, _) = one[name], other[name]
        cells = len(values)
        noise = 4 if stddev < 1 / 3 else stddev * (1.2 * cells + 6 * cells ** 0.5) + 4
        distance = sum(abs(a - b) for a, b in zip(values, others))
        if distance > 2 * rows_changed + noise:
            found = max(found, distance)
    return found


def differences(one, other, rows_changed):
    """What tells two neighbours apart, a line each. Counts may differ as far as noise is made for."""
    found = []
    failed = "exception" in one.parts or "exception" in other.parts
    for part in ["exception", "ledger", "said"] if failed else dict.fromkeys([*one.parts, *other.parts]):
        a, b = one.parts.get(part), other.parts.get(part)
        if part == "types" and isinstance(a, dict) and isinstance(b, dict):
            # A list in which nothing was made has cells of no type.
            empty = {name for name in {*a, *b} if [] in (a.get(name), b.get(name))}
            a, b = ({name: kind for name, kind in side.items() if name not in empty} for side in (a, b))
        if a != b:
            found.append(f"{part}: {brief(a, b)}")
    distance = moved(one.counts, other.counts, rows_changed)
    if distance:
        found.append(f"counts of a column moved by {distance:.0f}")
    return found


def brief(a, b):
    """Where two things differ, in some words."""
    if isinstance(a, dict) and isinstance(b, dict):
        parts = [f"{key}: {brief(a.get(key), b.get(key))}" for key in dict.fromkeys([*a, *b])
                 if a.get(key) != b.get(key)]
        return "; ".join(parts)
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return "; ".join(brief(x, y) for x, y in zip(a, b) if x != y)
    return f"{str(a)[:160]} -> {str(b)[:160]}"


class Folder:
    """An empty folder in memory for the time of a run."""

    def __enter__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="doors-"))
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)
