# SPDX-License-Identifier: Apache-2.0
"""Frames as Arrow streams, which the library reads where they lie.

A stream is opened anew for each pass over the rows, where that is possible. Of pandas' objects, text
is handed over as text and anything else as the text that the schema means (_columns.py), so that no
private cell is ever an error. What has no Arrow stream goes the other way (_frames.py), as text.
"""

import contextlib
import ctypes
import os

from ._columns import NOWHERE, Texts
from ._errors import SourceError, UsageError
from ._library import OPEN, ArrowArrayStream
from ._tables import Source, is_path, parquet_files

ROWS = 65_536  # of a batch of pandas


class Stream:
    """Rows that can be read as an Arrow stream: `opened()` gives an object with __arrow_c_stream__,
    each time anew, or once where `again` is not so."""

    def __init__(self, opened, rows=None, again=True, files=()):
        self.opened = opened
        self.files = list(files)  # in which the rows lie, if in any
        self.rows = rows  # None where it is not known
        self.again = again
        # Codes are held where they fit into the memory limit. Otherwise rows are counted in passes,
        # or refused where they come once.
        self.how = "memory"
        self.passes = 0

    def hand_over(self, target):
        """Moves a fresh stream to where the library wants it."""
        if self.passes and not self.again:
            raise SourceError("The private data can be read once, and this run reads it several "
                              "times; give a table, a file, or more memory.")
        self.passes += 1
        capsule = self.opened().__arrow_c_stream__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        held = ArrowArrayStream.from_address(pointer(capsule, b"arrow_array_stream"))
        ctypes.memmove(target, ctypes.byref(held), ctypes.sizeof(held))
        held.release = None  # moved: the capsule must not release it too


def installed(name):
    try:
        return __import__(name)
    except ImportError:
        return None


def stream_of(data, table, columns, also):
    """A Stream of the columns that the schema names and those of `also`, or None where the rows go the
    other way. `table` is what table_of() says of the data; its batches are not touched."""
    wanted = {*columns, *also}
    names = [name for name in table.names if name in wanted]
    if isinstance(data, (dict, Source)) or not names:
        return None
    if table.kind == "pandas":
        return of_pandas(data, names, columns, also)
    if table.kind == "polars":
        return of_polars(data, names)
    pyarrow = installed("pyarrow")
    if pyarrow is None:
        return None
    if is_path(data):
        return of_parquet(pyarrow, parquet_files(data), names, also)
    if "duckdb" in type(data).__module__ and hasattr(data, "project"):
        # A relation is asked again for each pass; a column's name is quoted. Where one long number makes
        # a column of a type that Arrow has no word for, its text says the same.
        columns = ['"' + name.replace('"', '""') + '"' for name in names]
        columns = [f"CAST({column} AS VARCHAR) AS {column}" if not_read(pyarrow, table.types[name])
                   else column for name, column in zip(names, columns)]
        return Stream(lambda: data.project(", ".join(columns)))
    if any(not_read(pyarrow, table.types[name]) for name in names):
        return None
    if isinstance(data, pyarrow.RecordBatch):
        data = pyarrow.Table.from_batches([data])
    if isinstance(data, pyarrow.Table):
        return Stream(lambda: data.select(names), data.num_rows)
    if hasattr(data, "scanner"):  # a dataset
        return Stream(lambda: data.scanner(columns=names).to_reader())
    if table.reader is not None:
        return Stream(lambda: table.reader, again=False)
    return None


def not_read(pyarrow, kind):
    """Whether a type is outside what the library reads of Arrow: such cells go the other way."""
    return isinstance(kind, pyarrow.BaseExtensionType)


def of_parquet(pyarrow, files, names, also):
    """All files in one stream; None where they have other types, which then are read one by one."""
    import pyarrow.dataset
    import pyarrow.parquet
    schemas = [pyarrow.parquet.read_schema(path) for path in files]
    kinds = [[schema.field(name).type for name in names] for schema in schemas]
    if any(one != kinds[0] for one in kinds) or any(not_read(pyarrow, kind) for kind in kinds[0]):
        return None
    rows = sum(pyarrow.parquet.read_metadata(path).num_rows for path in files)
    # A text is decoded once where the file has it once. People's names are too many for that.
    types = pyarrow.types
    texts = [name for name, kind in zip(names, kinds[0])
             if (types.is_string(kind) or types.is_large_string(kind)) and name not in also]
    form = pyarrow.dataset.ParquetFileFormat(
        read_options=pyarrow.dataset.ParquetReadOptions(dictionary_columns=texts))
    found = pyarrow.dataset.dataset([os.path.abspath(path) for path in files], format=form)
    # Few batches ahead: a run by passes holds little else.
    return Stream(lambda: found.scanner(columns=names, batch_readahead=4,
                                        fragment_readahead=1).to_reader(), rows, files=files)


def of_polars(frame, names):
    import polars
    # Whole numbers of 128 bits, which a reader makes of a column in which one number is long, have no
    # type in Arrow: their text says the same.
    chosen = frame.select([
        frame.get_column(name).cast(polars.String) if str(frame.schema[name]) in ("Int128", "UInt128")
        else frame.get_column(name) for name in names])
    if any(kind == polars.Object for kind in chosen.dtypes):
        return None
    pyarrow = installed("pyarrow")
    if pyarrow is None:
        return Stream(lambda: chosen, len(frame))

    # A stream of polars holds a copy of the whole frame until its end; slice by slice it is small.
    def batches():
        for part in chosen.iter_slices(ROWS):
            yield from pyarrow.RecordBatchReader.from_stream(part)

    schema = pyarrow.RecordBatchReader.from_stream(chosen.head(0)).schema
    return Stream(lambda: pyarrow.RecordBatchReader.from_batches(schema, batches()), len(frame))


def of_pandas(frame, names, columns, also=()):
    pyarrow = installed("pyarrow")
    pandas = installed("pandas")
    if pyarrow is None:
        return None
    places = {name: at for at, name in enumerate(frame.columns)}
    fields = [Field(pyarrow, pandas, frame.iloc[:, places[name]], columns.get(name), name in also)
              for name in names]
    schema = pyarrow.schema([pyarrow.field(name, field.type) for name, field in zip(names, fields)])

    def batches():
        for first in range(0, len(frame), ROWS):
            part = frame.iloc[first:first + ROWS]
            yield pyarrow.RecordBatch.from_arrays(
                [field.array(part.iloc[:, places[name]]) for name, field in zip(names, fields)],
                schema=schema)

    return Stream(lambda: pyarrow.RecordBatchReader.from_batches(schema, batches()), len(frame))


class Field:
    """One column of pandas as Arrow. A plain dtype is handed over as it is; objects, and what Arrow has
    no plain type for, as text."""

    def __init__(self, pyarrow, pandas, series, column, persons):
        self.pyarrow, self.pandas = pyarrow, pandas
        self.type = self.plain_type(series)
        self.texts = None
        if (series.dtype == object and column is not None and column.kind == "date"
                and "%H" not in column.pattern and self.kind_of(series) == "date"):
            # Dates, or moments of which only the date counts. Only how fast they are read depends on it.
            self.type = pyarrow.date32()
        if self.type is None:
            self.type = pyarrow.large_string()
            self.texts = Texts(column, persons=persons)

    def plain_type(self, series):
        dtype = series.dtype
        if isinstance(dtype, self.pandas.CategoricalDtype):
            if dtype.categories.dtype == object and self.kind_of(dtype.categories) != "string":
                return None
        elif dtype == object:
            return None
        try:
            found = self.pyarrow.array(series.iloc[:0], from_pandas=True).type
        except (self.pyarrow.ArrowException, TypeError, ValueError, NotImplementedError):
            return None
        if not_read(self.pyarrow, found) or self.pyarrow.types.is_nested(found):
            return None
        return found

    def kind_of(self, values):
        return self.pandas.api.types.infer_dtype(values, skipna=True)

    def array(self, series):
        pyarrow = self.pyarrow
        if self.texts is None:
            try:
                return as_one(pyarrow,
                              pyarrow.array(series, type=self.type, from_pandas=True, safe=False))
            except Exception:  # it may be one cell
                return pyarrow.array([self.one(value) for value in series.tolist()], type=self.type)
        if series.dtype == object and self.kind_of(series) == "string":
            with contextlib.suppress(Exception):  # half of a surrogate pair
                texts = as_one(pyarrow, pyarrow.array(series, type=self.type, from_pandas=True))
                if all_short(texts):
                    return texts
        return pyarrow.array([plain(text) for text in self.texts.all(series.tolist())], type=self.type)

    def one(self, value):
        try:
            return self.pyarrow.array([value], type=self.type, from_pandas=True, safe=False)[0].as_py()
        except Exception:
            return None


def all_short(texts):
    """Whether no text is so long that it might be cut off: beside a number in the same column it is,
    so it must be beside other texts too."""
    import pyarrow.compute as compute
    return (compute.max(compute.binary_length(texts)).as_py() or 0) < 900


def as_one(pyarrow, array):
    """A column of a batch is one array; a column of pandas may lie in several."""
    if isinstance(array, pyarrow.ChunkedArray):
        return array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    return array


def plain(text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return NOWHERE
    return text


def opener(stream):
    """What makes the callback by which the library opens the stream. What fails may quote rows or
    passwords, so only tandem's own sentences are kept."""

    def of(raised):
        def open_(_user, target):
            try:
                stream.hand_over(target)
                return 0
            except UsageError as error:
                raised.append(error)
            except BaseException as error:
                own = isinstance(error, SourceError)
                raised.append(error if own else SourceError("The private data could not be read."))
            return 1
        return OPEN(open_)
    return of
