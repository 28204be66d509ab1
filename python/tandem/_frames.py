# SPDX-License-Identifier: Apache-2.0
"""Tables as the CSV text that the library reads.

Private rows go into memory that has no name (memfd), or beyond a quarter of the free memory into a
file without a name: nothing stays on a disk for others to find, whatever happens to this process.
"""

import contextlib
import os
import pathlib
import re
import shutil
import tempfile

from ._arrow import stream_of
from ._columns import Texts
from ._errors import UsageError
from ._tables import Shape, Source, is_csv_path, is_spark, table_of, trying, unreadable

PRIVATE = "the private data"  # what messages call rows that come from memory
SPECIAL = re.compile('[",\r\n]')


def quoted(text):
    return '"' + text.replace('"', '""') + '"' if SPECIAL.search(text) else text


def lines(columns):
    """Rows of texts as CSV."""
    columns = [[quoted(text) for text in column] if SPECIAL.search("\0".join(column)) else column
               for column in columns]
    if len(columns) == 1:  # an empty line is no row of a public file
        return "\n".join(text or '""' for text in columns[0]) + "\n"
    return "\n".join(map(",".join, zip(*columns))) + "\n"


def chosen(table, columns, also):
    """Which columns of a table are written: those that the schema names, and the person's."""
    if columns is None:
        return list(range(len(table.names)))
    wanted = {*columns, *also}
    return [at for at, name in enumerate(table.names) if name in wanted]


def require_columns(table, columns, also):
    for name, column in columns.items():
        if name not in table.names and not column.derived:
            raise UsageError(f"The private data has no column {name!r}, which the schema names; add "
                             "it, or take it out of the schema.")
    for name in also:
        if name not in table.names:
            raise UsageError(f"The private data has no column {name!r}, which person names; name "
                             "another, or add it.")


def require_values(name, kind, what):
    """UsageError for a column whose type, as declared, has no values that a schema knows. No reader of
    text gives such a type, so no cell decides it."""
    word = no_values(kind)
    if word:
        raise UsageError(f"{what} has the column {name!r} of {word}; give numbers, text, booleans or "
                         "dates, such as by a cast.")


def no_values(kind):
    if kind is None:
        return None
    for inner in ("pyarrow_dtype", "subtype", "value_type"):  # of pandas around Arrow, sparse, encoded
        if hasattr(kind, inner) and not hasattr(kind, "closed"):
            return no_values(getattr(kind, inner))
    if hasattr(kind, "categories") and hasattr(kind.categories, "dtype"):
        return no_values(kind.categories.dtype)
    text = str(kind).lower()
    for start, word in (("list", "lists"), ("large_list", "lists"), ("fixed_size_list", "lists"),
                        ("array", "lists"), ("struct", "structs"), ("map", "maps"),
                        ("union", "unions"), ("dense_union", "unions"), ("sparse_union", "unions"),
                        ("period", "periods"), ("interval", "intervals"), ("timedelta", "durations"),
                        ("duration", "durations"), ("month_interval", "intervals"),
                        ("month_day_nano", "intervals"), ("day_time", "intervals"),
                        ("fixed_size_binary", "bytes of a fixed size"),
                        ("run_end_encoded", "runs")):
        if text.startswith(start):
            return word
    return None


def write_private(table, columns, also, file):
    places = chosen(table, columns, also)
    names = [table.names[at] for at in places]
    texts = [Texts(columns.get(name), persons=name in also) for name in names]
    file.write((",".join(map(quoted, names)) + "\n").encode("utf-8", "surrogatepass"))
    rows = 0
    for batch in table.batches:
        if not batch or not batch[0]:
            continue
        part = lines([text.all(batch[at]) for at, text in zip(places, texts)])
        file.write(part.encode("utf-8", "surrogatepass"))
        rows += len(batch[0])
    table.rows = rows


def write_public(table, columns, file, what):
    """The same for public data, where an odd cell is an error, and where a column of floats that
    are all whole is one of whole numbers (pandas makes floats of these where a cell is empty)."""
    whole = [[] for _ in table.names]
    for batch in table.batches:
        for column, part in zip(whole, batch):
            column.extend(part)
    if not whole[0]:
        raise UsageError(f"{what} is empty; give at least one row and one column.")
    written = []
    for name, values in zip(table.names, whole):
        def odd(value, name=name):
            raise UsageError(f"{what} has cells of type {type(value).__name__} in column {name!r}; "
                             "give numbers, text, booleans, dates or nulls.")
        column = (columns or {}).get(name)
        if column is None:
            floats = [value for value in values if isinstance(value, float) and value == value]
            if floats and all(value.is_integer() for value in floats):
                values = [int(value) if isinstance(value, float) and value == value else value
                          for value in values]
        written.append(Texts(column, odd).all(values))
    file.write((",".join(map(quoted, table.names)) + "\n").encode("utf-8", "surrogatepass"))
    file.write(lines(written).encode("utf-8", "surrogatepass"))


class Nameless:
    """Memory without a name, which moves to a file without a name when it becomes large."""

    def __init__(self, most):
        self.most = most
        self.written = 0
        self.on_disk = not hasattr(os, "memfd_create")
        self.file = (tempfile.TemporaryFile() if self.on_disk
                     else os.fdopen(os.memfd_create("tandem"), "w+b"))

    def write(self, data):
        self.written += len(data)
        if not self.on_disk and self.written > self.most:
            self.on_disk = True
            moved = tempfile.TemporaryFile()
            self.file.seek(0)
            shutil.copyfileobj(self.file, moved, 1 << 20)
            self.file.close()
            self.file = moved
        self.file.write(data)

    def path(self):
        self.file.flush()
        return f"/proc/self/fd/{self.file.fileno()}"


def free_memory():
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 1 << 30


class Sources:
    """Tables as paths, for the time of one call. `names` is what messages call temporary files, and
    `shape` the kind of frame that the private data was."""

    def __init__(self):
        self.folder = None
        self.names = {}
        self.nameless = []
        self.queries = []
        self.shape = None
        self.drafted = None  # the path of a schema that was drafted from public data

    def opened(self, data, what):
        if isinstance(data, Source):
            self.queries.append(data)
        return table_of(data, what)

    def table(self, data, columns, what, also, rows_are_private):
        """What the private data is; whatever can be wrong with its shape is said here."""
        if data is None:
            raise UsageError(f"{what} is missing; give a frame, or the path of a CSV or Parquet "
                             "file.")
        if is_spark(data):
            raise UsageError(f"{what} is a Spark DataFrame, whose rows would have to leave the "
                             "cluster for this; give a part of it, such as .limit(100_000)"
                             ".toPandas().")
        table = self.opened(data, what)
        if table.rows == 0 and not rows_are_private:
            raise UsageError(f"{what} is empty; give at least one row and one column.")
        require_columns(table, columns, also)
        for at in chosen(table, columns, also):
            require_values(table.names[at], table.types.get(table.names[at]), what)
        self.shape = Shape(table.kind)
        return table

    def private(self, data, columns, what="the private data", also=(), rows_are_private=False):
        """The path of private rows. `columns` is what the schema says of them."""
        if is_csv_path(data):
            return os.fspath(data)
        return self.written(self.table(data, columns, what, also, rows_are_private), columns, what,
                            also)

    def written(self, table, columns, what, also):
        held = Nameless(free_memory() // 4)
        self.nameless.append(held)
        write_private(table, columns, also, held)
        path = held.path()
        self.names[path] = what
        return path

    def rows(self, data, columns, also=(), rows_are_private=False, before=lambda: None):
        """How private rows reach the library: ("file", path), ("stream", Stream) or ("hidden", what a
        request says of a text that nobody may know the length of). `before` is called before rows are
        written, or a query is run."""
        if is_csv_path(data):
            return "file", os.fspath(data)
        what = PRIVATE
        if isinstance(data, Source):
            before()
        table = self.table(data, columns, what, also, rows_are_private)
        stream = trying(lambda: stream_of(data, table, columns, also), unreadable(what))
        if stream is not None:
            return "stream", stream
        if not isinstance(data, Source):
            before()
        return "hidden", {"path": self.written(table, columns, what, also), "rows": table.rows}

    def public(self, data, what="the public data", file="public", columns=None):
        """Paths of a public table or of several; none for None."""
        if data is None:
            return []
        many = data if isinstance(data, (list, tuple)) else [data]
        paths = []
        for at, one in enumerate(many):
            if is_csv_path(one):
                paths.append(os.fspath(one))
                continue
            table = self.opened(one, what)
            path = self.temporary(f"{file}-{at + 1}.csv" if len(many) > 1 else f"{file}.csv", what)
            with open(path, "xb") as out:
                write_public(table, columns, out, what)
            paths.append(path)
        return paths

    def temporary(self, file, what):
        if self.folder is None:
            self.folder = tempfile.mkdtemp(prefix="tandem-")  # mode 0700
        path = str(pathlib.Path(self.folder) / file)
        self.names[path] = what
        return path

    def close(self):
        for query in self.queries:
            query.close()
        for held in self.nameless:
            held.file.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def sources():
    held = Sources()
    try:
        yield held
    finally:
        held.close()
