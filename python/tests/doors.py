# SPDX-License-Identifier: Apache-2.0
"""Neighbouring tables, the doors by which tandem takes a table, and all that somebody may see of a run.

A door is a way to hand over rows: a file, a kind of frame, a query. Two tables that differ in what one
person says must look the same through each of them, but for what noise makes of them. What a reader
(pandas, polars, ...) makes of a text belongs to the door: tandem has no part in it, and must not hand
on what the reader found out.
"""
import collections
import csv
import dataclasses
import datetime
import decimal
import enum
import fractions
import gzip
import io
import json
import re
import shutil
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

# Columns of all kinds, with and without null, special and other values, and texts that count as theirs.
COLUMNS = {
    "whole": ('kind = "integer"\nmin = 0\nmax = 99\nbins = 4', [str(at % 100) for at in range(7, 667, 11)]),
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
        raise RuntimeError(SECRET)

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


@dataclasses.dataclass(frozen=True)
class Door:
    """A way to hand rows over: `open(table, folder)` makes of a dict of columns what is given to
    tandem. `cells` are the odd ones that it can hold."""

    name: str
    open: typing.Callable
    cells: str = "texts"
    kind: str = None  # of the frame that comes out; None: tandem's own rows
    records: str = "quoted"
    on_disk: bool = False  # of a file, the size is public

    @property
    def base(self):
        return {"texts": TEXTS, "objects": OBJECTS}[self.cells]

    @property
    def odd(self):
        return {"texts": ODD_TEXTS, "objects": ODD_OBJECTS}[self.cells]


def encoded(text):
    """UTF-8, with bytes that are none where the text has Python's escapes for them."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def as_csv(table):
    """Records as RFC 4180 has them."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table)
    writer.writerows(zip(*table.values()))
    return encoded(text.getvalue())


def as_lines(table):
    """The same without any quotes: whatever bytes these are, a line is a row."""
    rows = [",".join(table), *(",".join(cell.replace("\n", " ") for cell in row)
                               for row in zip(*table.values()))]
    return b"".join(encoded(row) + b"\n" for row in rows)


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


def duckdb_csv(table, folder):
    path = file(folder, "rows.csv", as_csv(table))
    connection = duckdb.connect()
    connection.read_csv(str(path)).fetchall()  # what can't be read is found here
    # Held by the door, as a relation outlives no connection.
    held.append(connection)
    return connection.read_csv(str(path))


def duckdb_table(table, folder):
    connection = duckdb.connect()
    held.append(connection)
    rows = arrow_of(table)  # noqa: F841, DuckDB finds it by its name
    connection.execute("create table t as select * from rows")
    return connection.table("t")


held = collections.deque(maxlen=4)


def arrow_of(table):
    return pyarrow.table({name: pyarrow.array(cells, from_pandas=True) for name, cells in table.items()})


class OnlyAStream:
    """Whatever else may be asked of a frame, this one has an Arrow stream and nothing more."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def sqlite(table, folder):
    import sqlite3
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute(f"create table t ({', '.join(table)})")
    connection.executemany(f"insert into t values ({', '.join('?' * len(table))})",
                           zip(*table.values()))
    return tandem.source(connection, "select * from t")


DATES = ["day", "seen"]
DOORS = {door.name: door for door in [
    Door("csv", lambda table, folder: file(folder, "rows.csv", as_csv(table)), on_disk=True),
    Door("csv, lines", lambda table, folder: file(folder, "rows.csv", as_lines(table)),
         records="lines", on_disk=True),
    Door("csv.gz", lambda table, folder: file(folder, "rows.csv.gz", gzip.compress(as_csv(table))),
         on_disk=True),
    Door("parquet", lambda table, folder: parquet(pyarrow.Table.from_pandas(
        pandas_csv(table, parse_dates=DATES)), folder), on_disk=True),
    Door("pandas", lambda table, folder: pandas_csv(table), kind="pandas"),
    Door("pandas, dates", lambda table, folder: pandas_csv(table, parse_dates=DATES), kind="pandas"),
    Door("pandas, nullable", lambda table, folder: pandas_csv(table, dtype_backend="numpy_nullable"),
         kind="pandas"),
    Door("pandas, arrow", lambda table, folder: pandas_csv(table, dtype_backend="pyarrow"),
         kind="pandas"),
    Door("pandas, converted", lambda table, folder: pandas.DataFrame(table), "objects", "pandas"),
    Door("pandas, objects", lambda table, folder: pandas.DataFrame(
        {name: pandas.Series(cells, dtype=object) for name, cells in table.items()}), "objects",
        "pandas"),
    Door("polars", lambda table, folder: polars_csv(table), kind="polars"),
    Door("polars, converted", lambda table, folder: polars.DataFrame(table, strict=False,
                                                                     infer_schema_length=None),
         "objects", "polars"),
    Door("pyarrow", lambda table, folder: arrow_csv(table), kind="pyarrow"),
    Door("pyarrow, converted", lambda table, folder: arrow_of(table), "objects", "pyarrow"),
    Door("reader", lambda table, folder: arrow_csv(table).to_reader(7), kind="pyarrow"),
    Door("stream", lambda table, folder: OnlyAStream(arrow_csv(table)), kind="pyarrow"),
    Door("duckdb", duckdb_csv, kind="duckdb"),
    Door("duckdb, table", duckdb_table, "objects", "duckdb"),
    Door("dict", lambda table, folder: {name: list(cells) for name, cells in table.items()}, "objects",
         "dict"),
    Door("dict of texts", lambda table, folder: {name: list(cells) for name, cells in table.items()},
         kind="dict"),
    Door("sqlite", sqlite, "objects"),
]}

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


def neighbours(door, relation, singles=3, bare=False):
    """(what is odd, where, the neighbour) for each odd cell: in all columns of a row, and alone in some
    `singles` of them, each time others."""
    table = base_of(door, relation, bare)
    columns = list(table)
    for at, (odd, cell) in enumerate(door.odd.items()):
        place = PLACES[at % len(PLACES)]
        yield odd, "all columns", changed(table, relation, columns, cell, place)
        for turn in range(singles):
            name = columns[(at + turn * (len(columns) // singles or 1)) % len(columns)]
            yield odd, name, changed(table, relation, [name], cell, place)


# What follows is all that may be seen of a run.

NOISY = {"id", "day", "spent", "measurements_sha256", "model_sha256", "facts", "certified_error", "ledger"}
NOISY_OF_A_STEP = {"chosen", "draws"}


def types(rows):
    """The types of a frame of rows, as text; of lists, what is in them."""
    if isinstance(rows, pandas.DataFrame):
        return {name: f"{kind!r}" for name, kind in rows.dtypes.items()}
    if isinstance(rows, polars.DataFrame):
        return {name: str(kind) for name, kind in rows.schema.items()}
    if isinstance(rows, pyarrow.Table):
        return {one.name: str(one.type) for one in rows.schema}
    if isinstance(rows, dict):
        return {name: sorted({type(cell).__name__ for cell in cells} - {"NoneType"})
                for name, cells in rows.items()}
    if isinstance(rows, tandem.Rows):
        return [types(rows.to_pandas()), types(rows.to_polars()), types(rows.to_arrow())]
    return dict(zip(rows.columns, map(str, rows.types)))  # DuckDB


def without_noise(document, keeps_rows):
    """What a release says, but for what follows from noise, from random numbers and from the time."""
    out = {key: value for key, value in document.items()
           if key not in NOISY and (keeps_rows or key not in ("rows", "total"))}
    out["steps"] = [{key: value for key, value in step.items() if key not in NOISY_OF_A_STEP}
                    for step in document.get("steps", [])]
    out["warnings"] = sorted(one["key"] for one in document.get("warnings", []))
    out["facts"] = sorted(document.get("facts", {}))
    return out


def ledger_entries(ledger):
    told = ledger.show()
    return [{key: run[key] for key in ("mechanism", "label", "state", "steps", "reserved")}
            for run in told["runs"]] + [told["neighbors"], told["rows_per_person"]]


def counts_of(release):
    """The noisy counts of each column, which at a large epsilon are the counts."""
    found = json.loads((release.path / "measurements.json").read_text())["measurements"]
    return {one["columns"][0]: one["values"] for one in found if len(one["columns"]) == 1}


class Seen(typing.NamedTuple):
    """What was seen of a run, by what it is; what must not be in it was looked for in `everything`."""

    parts: dict
    counts: dict
    everything: bytes


def plain(text, folder):
    """A message without names that are random."""
    return re.sub(r"/[^\s']*/tandem-[^\s'/]+", "TEMPORARY", str(text).replace(str(folder), "FOLDER"))


def seen(work, folder, keeps_rows, ledger=None, progress=()):
    """Runs `work`, which gives a release, and says what can be seen of it."""
    parts, counts, everything = {}, {}, []
    try:
        release = work()
    except tandem.Error as error:
        parts["exception"] = f"{type(error).__name__}: {plain(error, folder)}"
        chain = error
        while chain is not None:  # whatever a traceback would show
            everything.append(f"{chain!r} {chain}".encode("utf-8", "backslashreplace"))
            chain = chain.__cause__ or chain.__context__
    else:
        files = {one.name: one.read_bytes() for one in release.path.iterdir()}
        parts["files"] = sorted(files)
        parts["release.json"] = without_noise(release.document, keeps_rows)
        parts["schema"] = files.get("schema.toml")
        if "synthetic.csv" in files:
            rows = release.rows
            parts["kind"] = type(rows).__name__
            parts["types"] = types(rows)
        if keeps_rows and "synthetic.csv" in files:
            parts["rows"] = len(release._rows())
        everything.extend(files.values())
        counts = counts_of(release)
    if ledger is not None:
        parts["ledger"] = ledger_entries(ledger)
    parts["progress"] = [(one.get("stage"), one.get("note"), one.get("step")) for one in progress]
    everything.append(json.dumps(list(progress)).encode())
    return Seen(parts, counts, b"\n".join(everything))


def moved(one, other):
    """The largest distance of the counts of a column; nothing to tell where one has none."""
    if not one or not other:
        return 0
    return max((sum(abs(a - b) for a, b in zip(one[name], other[name])) for name in one), default=0)


def differences(one, other, rows_changed):
    """What tells two neighbours apart, a line each. Counts may differ as far as noise is made for; the
    rest is slack for noise itself."""
    found = []
    for part in dict.fromkeys([*one.parts, *other.parts]):
        a, b = one.parts.get(part), other.parts.get(part)
        if a != b:
            found.append(f"{part}: {brief(a, b)}")
    if moved(one.counts, other.counts) > 2 * rows_changed + 4:
        found.append(f"counts of a column moved by {moved(one.counts, other.counts):.0f}")
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


class Tried:
    """How many pairs were tried through each door, and which of them differ."""

    def __init__(self):
        self.pairs = collections.Counter()
        self.not_readable = collections.Counter()
        self.left_out = collections.Counter()


class Folder:
    """An empty folder in memory for the time of a run."""

    def __enter__(self):
        import pathlib
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="doors-"))
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)
