# SPDX-License-Identifier: Apache-2.0
"""Frames as columns, and as the CSV text that the library reads.

For now a frame reaches the library through a CSV file that nobody else may read, in a folder that
is removed whatever happens.
"""

import contextlib
import csv
import datetime
import decimal
import math
import os
import pathlib
import shutil
import tempfile

from ._errors import UsageError


def columns_of(frame, what):
    """Names and columns (lists) of a frame; UsageError for what is no table of plain values."""
    kind = f"{type(frame).__module__.split('.')[0]}.{type(frame).__name__}"
    if kind == "polars.LazyFrame":
        raise UsageError(f"{what} is a LazyFrame, which holds no rows yet; call .collect() on it.")
    if isinstance(frame, dict):
        names, columns = list(frame), [list(column) for column in frame.values()]
    elif kind == "pandas.DataFrame":
        names = list(frame.columns)
        columns = [frame.iloc[:, at].tolist() for at in range(len(names))]
    elif kind == "polars.DataFrame":
        names = frame.columns
        refuse_nested(names, [dtype.is_nested() for dtype in frame.dtypes], what)
        columns = [frame.to_series(at).to_list() for at in range(len(names))]
    elif kind in ("pyarrow.Table", "pyarrow.RecordBatch"):
        names, columns = from_arrow(frame, what)
    elif hasattr(frame, "__arrow_c_stream__"):
        import pyarrow
        names, columns = from_arrow(pyarrow.table(frame), what)
    else:
        raise UsageError(f"{what} is a {kind}; give a frame of pandas, polars or pyarrow, a dict of "
                         "lists, or the path of a CSV file.")
    require_table(names, columns, what)
    return names, columns


def from_arrow(table, what):
    import pyarrow
    names = table.schema.names
    refuse_nested(names, [pyarrow.types.is_nested(kind) for kind in table.schema.types], what)
    return names, [table.column(at).to_pylist() for at in range(len(names))]


def refuse_nested(names, nested, what):
    for name, is_nested in zip(names, nested):
        if is_nested:
            raise UsageError(f"{what} has the nested column {name!r}; give one plain value a cell.")


def require_table(names, columns, what):
    seen = set()
    for name in names:
        if not isinstance(name, str):
            raise UsageError(f"{what} has a column named {name!r}; name columns with text.")
        if name in seen:
            raise UsageError(f"{what} has two columns named {name!r}; rename one.")
        seen.add(name)
    if not names or not columns[0]:
        raise UsageError(f"{what} is empty; give at least one row and one column.")
    if len({len(column) for column in columns}) > 1:
        raise UsageError(f"{what} has columns of different lengths; make them equal.")


def cell_text(value, name, what):
    """One cell as CSV text: nothing for a null, and never a line feed, so that a row is a line."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.replace("\r", " ").replace("\n", " ")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        # A column of whole numbers with nulls is one of floats in pandas: 24.0 is 24.
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if value != value or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, datetime.datetime):
        if (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0):
            return value.date().isoformat()
        return value.isoformat(sep=" ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if hasattr(value, "item"):  # numpy's scalars
        return cell_text(value.item(), name, what)
    raise UsageError(f"{what} has cells of type {type(value).__name__} in column {name!r}; give "
                     "numbers, text, booleans, dates or nulls.")


def write_csv(frame, path, what):
    names, columns = columns_of(frame, what)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        texts = [[cell_text(value, name, what) for value in column]
                 for name, column in zip(names, columns)]
        writer.writerows(zip(*texts))


def is_path(data):
    return isinstance(data, (str, os.PathLike))


class Sources:
    """Tables as paths, for the time of one call. `names` is what messages call temporary files."""

    def __init__(self):
        self.folder = None
        self.names = {}

    def path(self, data, what, file):
        if is_path(data):
            return os.fspath(data)
        if data is None:
            raise UsageError(f"{what} is missing; give a frame or the path of a CSV file.")
        path = self.temporary(file, what)
        write_csv(data, path, what)
        return path

    def paths(self, data, what, file):
        """A table or a list of tables; none for None."""
        if data is None:
            return []
        many = data if isinstance(data, (list, tuple)) else [data]
        return [self.path(one, what, f"{file}-{at + 1}.csv" if len(many) > 1 else f"{file}.csv")
                for at, one in enumerate(many)]

    def temporary(self, file, what):
        if self.folder is None:
            self.folder = tempfile.mkdtemp(prefix="tandem-")  # mode 0700
        path = str(pathlib.Path(self.folder) / file)
        self.names[path] = what
        return path


@contextlib.contextmanager
def sources():
    held = Sources()
    try:
        yield held
    finally:
        if held.folder is not None:
            shutil.rmtree(held.folder, ignore_errors=True)
