# SPDX-License-Identifier: Apache-2.0
"""Tables of every kind as batches of columns: frames, Parquet files and query results."""

import contextlib
import dataclasses
import glob
import os
import pathlib
import uuid

from ._columns import NOWHERE
from ._errors import Error, SourceError, UsageError

BATCH = 50_000  # rows


class Table:
    """Names, batches (each a list of columns, which are lists), and what the frame was: `kind`
    ("pandas", "polars", "pyarrow", "duckdb", "dict" or None) with the declared types by name."""

    def __init__(self, names, batches, kind=None, types=None, rows=None):
        self.names = list(names)
        self.batches = batches
        self.kind = kind
        self.types = types or {}
        self.rows = rows  # None where it is not known before the rows are read
        self.reader = None  # of rows that can be read once: where they are


@dataclasses.dataclass
class Shape:
    """What made rows are handed back as: the kind of frame that came in. Types of columns follow from
    the schema; `types` has those of a frame that release.like() names."""

    kind: str = None
    types: dict = dataclasses.field(default_factory=dict)
    session: object = None  # of Spark


class Source:
    """A query on a connection, read when a call needs its rows. It keeps no password, and what it is
    called in messages is the name given here."""

    def __init__(self, connection, query, name):
        self.connection = connection
        self.query = query
        self.name = name
        self._undo = []  # what is to be called when all is read

    def cursor(self):
        """A new one. psycopg's fetches all rows at once unless it has a name, under which it stays on
        the server; without a transaction around it, it must outlive its own."""
        driver = type(self.connection).__module__.split(".")[0]
        if driver not in ("psycopg", "psycopg2"):
            found = self.connection.cursor()
        else:
            alone = {"withhold": True} if getattr(self.connection, "autocommit", False) else {}
            found = self.connection.cursor(f"tandem_{uuid.uuid4().hex}", **alone)
        self._undo.append(found.close)
        prepare = {"psycopg": total_psycopg, "psycopg2": total_psycopg2}.get(driver)
        if prepare is not None:
            prepare(found)
        if driver == "sqlite3" and self.connection.text_factory is str:
            self.connection.text_factory = lambda text: text.decode("utf-8", "replace")
            self._undo.append(lambda: setattr(self.connection, "text_factory", str))
        return found

    def close(self):
        """Closes the cursors, whatever became of them; the connection is its owner's."""
        while self._undo:
            with contextlib.suppress(Exception):
                self._undo.pop()()

    def __repr__(self):
        return f"<tandem.source {self.name!r}>"


# Types of PostgreSQL whose values Python can't always hold, such as dates before Christ, infinity and
# the time 24:00: there the cell is its text, which no schema lists, and not an error of the driver.
NOT_ALWAYS_HELD = (1082, 1083, 1114, 1184, 1186, 1266, 114, 3802)
PADDED = 1042  # char(n), filled up with spaces that are no part of the value


def total_psycopg(cursor):
    """The cursor reads every cell that the server may send."""
    from psycopg.adapt import Loader

    def reading(held):
        class Total(Loader):
            def __init__(self, oid, context=None):
                super().__init__(oid, context)
                self._held = held(oid, context)

            def load(self, data):
                try:
                    return self._held.load(data)
                except Exception:
                    return bytes(data).decode("utf-8", "replace")
        return Total

    def trimming(held):
        class Trimmed(Loader):
            def __init__(self, oid, context=None):
                super().__init__(oid, context)
                self._held = held(oid, context)

            def load(self, data):
                text = self._held.load(data)
                return text.rstrip(" ") if isinstance(text, str) else text
        return Trimmed

    for oids, of in ((NOT_ALWAYS_HELD, reading), ((PADDED,), trimming)):
        for oid in oids:
            held = cursor.adapters.get_loader(oid, Loader.format)
            if held is not None:
                cursor.adapters.register_loader(oid, of(held))


def total_psycopg2(cursor):
    """The same of the older driver."""
    from psycopg2 import extensions

    def reading(held):
        def load(value, cursor):
            try:
                return held(value, cursor)
            except Exception:
                return value
        return load

    for oid in NOT_ALWAYS_HELD:
        held = extensions.string_types.get(oid)
        if held is not None:
            extensions.register_type(extensions.new_type((oid,), f"total_{oid}", reading(held)), cursor)
    padded = extensions.new_type((PADDED,), "padded", lambda value, cursor: value and value.rstrip(" "))
    extensions.register_type(padded, cursor)


def source(connection, query, *, name="the query"):
    """The rows of a query on a DB-API or ADBC connection, for any function that takes a table.

    >>> import sqlite3, tandem
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("create table people (sex text, age int)")
    >>> _ = connection.executemany("insert into people values (?, ?)", [("F", 40), ("M", 7)] * 50)
    >>> rows = tandem.source(connection, "select * from people")
    >>> schema = tandem.Schema.draft({"sex": ["F", "M"], "age": [0, 90]})
    >>> tandem.synthesize(rows, schema=schema, epsilon=1, mechanism="independent").document["rows"]
    100
    """
    if not hasattr(connection, "cursor"):
        raise UsageError(f"connection is a {type(connection).__name__}, which has no cursor(); give a "
                         "DB-API or ADBC connection.")
    return Source(connection, query, name)


def is_spark(data):
    """Whether this is a DataFrame of Spark, of a classic session or over Spark Connect."""
    return is_frame(data, "pyspark.sql")


def is_frame(data, package):
    """Whether this is a DataFrame of a package, or of a class derived from it."""
    return any(one.__name__ == "DataFrame" and f"{one.__module__}.".startswith(f"{package}.")
               for one in type(data).__mro__)


def is_path(data):
    return isinstance(data, (str, os.PathLike))


def parquet_files(path):
    """The Parquet files that a path, glob or folder means; none where it means something else."""
    text = os.fspath(path)
    if glob.has_magic(text) and not os.path.exists(text):
        found = sorted(glob.glob(text, recursive=True))
    elif os.path.isdir(text):
        found = sorted(str(one) for one in pathlib.Path(text).rglob("*")
                       if one.suffix in (".parquet", ".pq"))
    else:
        found = [text]
    return found if found and all(one.endswith((".parquet", ".pq")) for one in found) else []


def shown_source(source):
    """A path as messages quote it: of an address, neither who connects, nor passwords, nor options. As
    the library shows one."""
    scheme, address, place = os.fspath(source).partition("://")
    return scheme + address + place.rpartition("@")[2].partition("?")[0] if address else scheme


def is_csv_path(data):
    return is_path(data) and not parquet_files(data)


def table_of(data, what):
    """A Table; UsageError for what is none. Nothing here depends on the content of a cell."""
    kind = f"{type(data).__module__.split('.')[0]}.{type(data).__name__}"
    if kind == "polars.LazyFrame":
        raise UsageError(f"{what} is a LazyFrame, which holds no rows yet; call .collect() on it.")
    if kind == "pyspark.DataFrame" and not is_spark(data):
        raise UsageError(f"{what} is a frame of pandas on Spark; call .to_spark() on it.")
    if is_spark(data):
        from ._spark import collected
        data, kind = collected(data, what), "pyspark.DataFrame"
    if isinstance(data, Source):
        table = of_query(data, what)
    elif is_path(data):
        table = of_parquet(parquet_files(data), what)
    elif isinstance(data, dict):
        table = of_lists(data, what)
    elif is_frame(data, "pandas"):
        table = Table(data.columns, pandas_batches(data), "pandas", None, len(data))
        table.types = {name: data.dtypes.iloc[at] for at, name in enumerate(table.names)}
    elif is_frame(data, "polars"):
        table = Table(data.columns, polars_batches(data), "polars", dict(data.schema), len(data))
    elif not kind.endswith(".Series") and (hasattr(data, "__arrow_c_stream__") or
                                           hasattr(data, "to_batches")):
        table = of_arrow(data, what, "duckdb" if "duckdb" in kind.lower() else "pyarrow")
    else:
        raise UsageError(f"{what} is a {kind}; give a frame of pandas, polars, pyarrow or DuckDB, a "
                         "dict of lists, a tandem.source, or the path of a CSV or Parquet file.")
    require_names(table.names, what)
    return table


def require_names(names, what):
    if not names:
        raise UsageError(f"{what} is empty; give at least one row and one column.")
    seen = set()
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"{what} has a column named {name!r}; name columns with text.")
        if name in seen:
            raise UsageError(f"{what} has two columns named {name!r}; rename one.")
        seen.add(name)


def of_lists(data, what):
    for name, column in data.items():
        if isinstance(column, (str, bytes)) or not hasattr(column, "__iter__"):
            raise UsageError(f"{what} is a dict with a column that is no list ({name!r}); give a list "
                             "for each.")
    columns = [list(column) for column in data.values()]
    if len({len(column) for column in columns}) > 1:
        raise UsageError(f"{what} has columns of different lengths; make them equal.")
    return Table(data, iter([columns]), "dict", None, len(columns[0]) if columns else 0)


def listed(cells, rows, all_of_them, one):
    """The cells of a column as a list. A cell that Python has no value for, such as a date beyond the year
    9999, fits nowhere, and is no error; the others are what they are."""
    try:
        return all_of_them(cells)
    except Exception:
        found = []
        for at in range(rows):
            try:
                found.append(one(cells, at))
            except Exception:
                found.append(NOWHERE)
        return found


def pandas_batches(frame):
    for first in range(0, len(frame), BATCH):
        part = frame.iloc[first:first + BATCH]
        yield [listed(part.iloc[:, at], len(part), lambda column: column.tolist(),
                      lambda column, row: column.iloc[row]) for at in range(part.shape[1])]


def polars_batches(frame):
    for part in frame.iter_slices(BATCH):
        yield [listed(part.to_series(at), part.height, lambda column: column.to_list(),
                      lambda column, row: column[row]) for at in range(part.width)]


def need_pyarrow(what):
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UsageError(f"{what} can only be read with pyarrow; install it with "
                         "'pip install pyarrow'.") from None
    return pyarrow


def of_arrow(data, what, kind):
    pyarrow = need_pyarrow(what)
    rows = getattr(data, "num_rows", None)
    if isinstance(data, pyarrow.RecordBatch):
        data = pyarrow.Table.from_batches([data])
    if hasattr(data, "to_batches"):
        schema, batches = data.schema, data.to_batches(max_chunksize=BATCH) if isinstance(
            data, pyarrow.Table) else data.to_batches()
    elif kind == "duckdb" and hasattr(data, "limit"):
        schema = trying(lambda: data.limit(0).to_arrow_table().schema, unreadable(what))
        batches = relation_batches(pyarrow, data)
    else:
        data = trying(lambda: pyarrow.RecordBatchReader.from_stream(data), unreadable(what))
        schema, batches = data.schema, data
    table = Table(schema.names, reading(arrow_batches(pyarrow, batches), what), kind,
                  dict(zip(schema.names, schema.types)), rows)
    table.reader = data if isinstance(data, pyarrow.RecordBatchReader) else None
    return table


def relation_batches(pyarrow, relation):
    """A query's batches; it is not run before the first is asked for."""
    yield from pyarrow.RecordBatchReader.from_stream(relation)


def arrow_batches(pyarrow, batches):
    for batch in batches:
        for first in range(0, max(batch.num_rows, 1), BATCH):
            part = batch.slice(first, BATCH)
            yield [cells(pyarrow, part.column(at)) for at in range(part.num_columns)]


def cells(pyarrow, column):
    kind = column.type
    if isinstance(kind, pyarrow.BaseExtensionType):
        if getattr(kind, "type_name", "") in ("bignum", "varint"):
            # What a reader of DuckDB's makes of a column in which one number is long.
            return [None if cell is None else big_number(cell) for cell in column.storage.to_pylist()]
        if not hasattr(kind, "vendor_name"):
            column = column if str(kind).startswith("extension<arrow.uuid") else column.storage
    # Nanoseconds have no place in Python's own timestamps.
    if pyarrow.types.is_timestamp(column.type) and column.type.unit == "ns":
        column = column.cast(pyarrow.timestamp("us", column.type.tz), safe=False)
    return listed(column, len(column), lambda array: array.to_pylist(),
                  lambda array, at: array[at].as_py())


def big_number(held):
    """A whole number as DuckDB keeps one of any length: three bytes of its length and sign, then its
    bytes, highest first; all of them turned over below zero."""
    if held[0] & 0x80:
        return int.from_bytes(held[3:], "big")
    return -int.from_bytes(bytes(255 - byte for byte in held[3:]), "big")


def of_parquet(files, what):
    pyarrow = need_pyarrow(what)
    schema, rows = None, 0
    for path in files:
        opened = trying(lambda: pyarrow.parquet.ParquetFile(path),
                        f"{shown_source(path)} can't be read as Parquet; it is damaged, cut short, "
                        "or something else.")
        names = opened.schema_arrow.names
        if schema is None:
            schema = opened.schema_arrow
        elif sorted(names) != sorted(schema.names):
            raise UsageError(f"{shown_source(path)} has other columns than "
                             f"{shown_source(files[0])}; give files of one table.")
        rows += opened.metadata.num_rows
        opened.close()

    def batches():
        for path in files:
            with pyarrow.parquet.ParquetFile(path) as file:
                # Asked for by name, a file's columns still come in the order of the file.
                for batch in file.iter_batches(batch_size=BATCH):
                    yield batch.select(schema.names)

    return Table(schema.names, reading(arrow_batches(pyarrow, batches()), what), None,
                 dict(zip(schema.names, schema.types)), rows)


def of_query(query, what):
    what = f"{what} ({query.name})"
    failed = (f"{what} could not be read: the database refused the query or stopped. Its own message "
              "is not shown, for it may quote rows; try the query by hand.")

    def opened():
        cursor = query.cursor()
        cursor.execute(query.query)
        first = cursor.fetchmany(BATCH)  # some describe their columns only now
        return cursor, first

    cursor, first = trying(opened, failed)
    if not cursor.description:
        raise UsageError(f"{what} gives no rows at all; write a query such as 'select ...'.")

    def batches():
        rows = first
        names = [column[0] for column in cursor.description]
        while rows:
            if hasattr(rows[0], "items"):  # of a connection that gives dicts
                rows = [[row[name] for name in names] for row in rows]
            yield [list(column) for column in zip(*rows)]
            rows = cursor.fetchmany(BATCH)

    return Table([column[0] for column in cursor.description], reading(batches(), what, failed))


def unreadable(what):
    return (f"{what} could not be read: the library that holds it refused. Its own message is not shown, "
            "for it may quote rows; try the table by hand.")


def trying(work, sentence):
    """What `work` gives; a SourceError with this sentence alone when it fails. What failed may quote
    rows or passwords, so it is neither shown nor chained."""
    failed = False
    try:
        return work()
    except Error:
        raise
    except Exception:
        failed = True
    if failed:
        raise SourceError(sentence)


def reading(batches, what, sentence=None):
    """The batches, with a plain error where they stop."""
    batches = iter(batches)
    end = object()
    while (batch := trying(lambda: next(batches, end), sentence or
                           f"{what} could not be read to its end; nothing was spent.")) is not end:
        yield batch
