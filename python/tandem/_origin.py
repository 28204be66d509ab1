# SPDX-License-Identifier: Apache-2.0
"""Whether private rows pass as public ones by a slip: as public data, or as what a schema was drafted
from. Files of text are compared by the library (engine/input_files.h); here are frames, queries, Parquet
files, and what a draft remembers of a table in memory.

What is compared of two tables is the columns that both have, their number of rows and their first rows.
That these are the same is the one thing that a refusal may tell of private rows, to whoever supplied them
(docs/privacy.md).
"""

import contextlib
import csv
import ctypes
import decimal
import filecmp
import gzip
import hashlib
import itertools
import os
import re
import weakref

from ._errors import Error, UsageError
from ._tables import Source, is_csv_path, is_frame, is_path, is_spark, parquet_files, table_of

HEAD = 1000  # rows that are compared
CURE = ("Its rows would be released as they are. Give data that is public, or say "
        "private_as_public=True for a release that protects nobody.")
# What stands between FROM and whatever ends a list of tables, in a query without comments; and words of
# SQL that hold a FROM of another kind.
ENDS = (r"(.*?)(?=\b(?:from|join|inner|left|right|full|cross|natural|where|group|order|having|limit|union|"
        r"except|intersect|on|using|window|fetch|offset|for)\b|[()]|$)")
FROM = re.compile(r"\bfrom\b" + ENDS, re.DOTALL)
FROM_OR_JOIN = re.compile(r"\b(?:from|join)\b" + ENDS, re.DOTALL)
COMMENTS = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
OTHER_FROM = re.compile(r"\bdistinct\s+from\b|\b(?:extract|substring|trim|overlay|position)\s*\([^()]*\)")

def refuse_private_as_public(private, public):
    """UsageError where public data, one table or several, is the private table."""
    for one in public if isinstance(public, (list, tuple)) else [public]:
        how = None if one is None else sameness(private, one)
        if how:
            raise UsageError(f"The public data {how} the private data. {CURE}")


def refuse_schema_of_private(private, schema, document):
    """UsageError where a schema, with this content, was drafted from the private table."""
    found = [kept() for kept in getattr(schema, "_drafted", [])]
    origins = (document or {}).get("drafted_from", [])
    origins = origins if isinstance(origins, list) else []  # a column of that name
    own = tables_of(private) if any(one.startswith("table:") for one in origins) else []
    if any(one is not None and sameness(private, one) for one in found) or set(own) & set(origins):
        raise UsageError("The schema was drafted from the private data: the values and bounds that it "
                         "names are private. Draft it from public data or a codebook, or say "
                         "private_as_public=True for a release that protects nobody.")


def remembered(data):
    """What a draft keeps of a table in memory: a function that gives it, as long as it is there."""
    try:
        return weakref.ref(data)
    except TypeError:  # a dict
        kept = dict(data) if isinstance(data, dict) else data
        return lambda: kept


def sameness(private, public):
    """How the one is the other, as words between their names, or None. Nothing here fails: what can't
    be looked at is for its reader to say."""
    for is_same, words in ((are_one, "is"), (are_one_place, "lies in a file of"),
                           (are_one_query, "is read from a table of"),
                           (share_memory, "shares memory with"), (hold_the_same, "holds the same as")):
        try:
            if is_same(private, public):
                return words
        except Exception:  # a frame may do anything when it is looked at
            continue
    return None


def are_one(private, public):
    if private is public:
        return True
    if is_spark(private) and is_spark(public):
        return private.sameSemantics(public)
    if isinstance(private, dict) and isinstance(public, dict):
        own = {id(column) for column in private.values()}
        return 2 * sum(id(column) in own for column in public.values()) > len(public)
    return False


def files_of(data):
    return [] if not is_path(data) else parquet_files(data) or [os.fspath(data)]


def are_one_place(private, public):
    """Of two paths: a file of the one is one of the other, or the same Parquet byte for byte."""
    pairs = itertools.product(files_of(private), files_of(public))
    return any(os.path.exists(one) and os.path.exists(other) and
               (os.path.samefile(one, other) or
                (not is_csv_path(private) and filecmp.cmp(one, other, shallow=False)))
               for one, other in pairs)


def query_of(data):
    """(connection, query) of what is read from a database, or None."""
    if isinstance(data, Source):
        return data.connection, data.query
    if "duckdb" in type(data).__module__ and hasattr(data, "sql_query"):
        return None, data.sql_query()
    return None


def are_one_query(private, public):
    """Whether two queries on one connection are the same or name a table in common."""
    left, right = query_of(private), query_of(public)
    if left is None or right is None or left[0] is not right[0]:
        return False
    texts = [" ".join(COMMENTS.sub(" ", str(query)).lower().split()).rstrip("; ")
             for _, query in (left, right)]
    if texts[0] == texts[1]:
        return True
    # A table that both only join with, such as a list of codes, is neither's own.
    one, other = ((tables_in(text, FROM), tables_in(text, FROM_OR_JOIN)) for text in texts)
    return bool(one[0] & other[1] or one[1] & other[0])


def tables_in(query, after):
    """The tables that a query names behind FROM, or behind JOIN as well, without their schemas, quotes and
    other names."""
    files = re.findall(r"\b(?:from|,)\s*(?:\w+\s*\(\s*)?'([^']*)'", query)
    query = re.sub(r"'[^']*'", "", OTHER_FROM.sub(" ", query))
    defined = set(re.findall(r"\b(\w+)\s+as\s*(?:materialized\s*)?\(", query))
    named = [one.split() for found in after.findall(re.sub(r"\b\w+\s*\(\s*\)", "", query))
             for one in found.split(",")]
    found = {words[0].split(".")[-1].strip('"`[]') for words in named if words}
    functions = {"read_parquet", "read_csv", "read_csv_auto", "read_json", "parquet_scan", "pandas_scan",
                 "arrow_scan", "csv_scan"}
    return (found | set(files)) - defined - functions - {""}


# Memory ------------------------------------------------------------------------------------------

def share_memory(private, public):
    """Whether most columns of public data lie in the memory of private ones: a slice, a view, the same
    columns. One alone, such as a year or a number of the row, may be shared by tables that are not."""
    kept = []  # what the arrays lie in: an address that is free may be another's next
    pieces = sorted([(*bounds(one), side, at, one) for side, data in enumerate((private, public))
                     for at, one in arrays_of(data, kept)], key=lambda piece: piece[:3])
    columns = {at for _, _, side, at, _ in pieces if side == 1}
    if not columns or all(side == 1 for _, _, side, _, _ in pieces):
        return False
    import numpy
    open_, shared = [], set()
    for low, high, side, at, array in pieces:
        open_ = [one for one in open_ if one[0] > low]
        for _, other, column, held in open_:
            if other != side and numpy.shares_memory(array, held):
                shared.add(at if side == 1 else column)
        open_.append((high, side, at, array))
    return 2 * len(shared) > len(columns)


def bounds(array):
    import numpy
    return numpy.lib.array_utils.byte_bounds(array) if hasattr(numpy.lib, "array_utils") else (
        numpy.byte_bounds(array))


def arrays_of(data, kept):
    """(which column, its values) of a frame, as arrays of numpy over the memory in which they lie, which
    `kept` holds on to."""
    if is_frame(data, "pandas"):
        columns = [data.iloc[:, at].array for at in range(data.shape[1])]
        found = [(at, memory_of_pandas(column)) for at, column in enumerate(columns)]
        kept.append(columns)
    else:
        if is_frame(data, "polars"):
            import polars
            data = data.to_arrow(compat_level=polars.CompatLevel.newest())
        if not (type(data).__module__.startswith("pyarrow") and hasattr(data, "columns")):
            return []
        kept.append(data)
        found = [(at, memory_of_arrow(chunk)) for at, column in enumerate(data.columns)
                 for chunk in getattr(column, "chunks", [column])]
    return [(at, array) for at, some in found for array in some
            if array.size and array.dtype != object]


def looked_at(arrays):
    """What can be looked at of a column's memory; none where its library has no such."""
    def found(column):
        try:
            return list(arrays(column))
        except Exception:
            return []
    return found


@looked_at
def memory_of_pandas(values):
    for name in ("_pa_array", "_codes", "_data", "_ndarray"):
        held = getattr(values, name, None)
        if name == "_pa_array" and held is not None:
            for chunk in getattr(held, "chunks", [held]):
                yield from memory_of_arrow(chunk)
            return
        if hasattr(held, "__array_interface__"):
            yield held
            return
    plain = values.to_numpy()
    if plain.dtype != object:
        yield plain


@looked_at
def memory_of_arrow(array):
    """The buffer with an item for each cell: values, offsets, views or indices."""
    import numpy
    import pyarrow
    types = pyarrow.types
    kind = array.type.index_type if types.is_dictionary(array.type) else array.type
    first, last = array.offset, array.offset + len(array)
    if types.is_boolean(kind):  # a byte that two slices share is neither's
        low, high = -(-first // 8), last // 8
    else:
        wide = {"string": 4, "binary": 4, "large_string": 8, "large_binary": 8,
                "string_view": 16, "binary_view": 16}.get(str(kind))
        if wide is None:
            wide = kind.bit_width // 8
        low, high = first * wide, last * wide
    buffer = array.buffers()[1]
    if buffer is not None and high > low:
        memory = (ctypes.c_uint8 * (high - low)).from_address(buffer.address + low)
        yield numpy.frombuffer(memory, dtype=numpy.uint8)


# Content -----------------------------------------------------------------------------------------

def hold_the_same(private, public):
    """Whether the columns that both have, most of the public ones, are the same."""
    one, other = head_of(private), head_of(public)
    if one is None or other is None:
        return False
    common = set(one[0]) & set(other[0])
    return 2 * len(common) > len(other[0]) and (
        digest_of(*one, common) == digest_of(*other, common)) and rows_of(public) == rows_of(private)


def origin_of(data):
    """What a draft remembers of a table in memory, or None where it would have to be read for it."""
    head = head_of(data)
    if head is None or is_csv_path(data):
        return None
    digest = digest_of(*head, head[0])
    return "table:" + hashlib.sha256(f"{digest} {rows_of(data)}".encode()).hexdigest()


def tables_of(public):
    """What a draft remembers of public data, one table or several."""
    found = []
    for one in public if isinstance(public, (list, tuple)) else [public]:
        with contextlib.suppress(Exception):  # what is wrong with it is for its reader to say
            found.append(origin_of(one))
    return [one for one in found if one]


def head_of(data):
    """The names of the columns and the first rows; None of what can be read once, or not at all."""
    if is_csv_path(data):
        return csv_head(data)
    some = first_rows(data)
    if some is None:
        return None
    table = table_of(some, "the table")
    columns = next(iter(table.batches), [[] for _ in table.names])
    return table.names, list(zip(*(column[:HEAD] for column in columns)))


def digest_of(names, rows, wanted):
    """A digest of these columns, whatever their order."""
    order = sorted((at for at, name in enumerate(names) if name in wanted), key=names.__getitem__)
    digest = hashlib.sha256("\0".join(names[at] for at in order).encode("utf-8", "surrogatepass"))
    for row in rows:
        digest.update(("\1" + "\0".join(plain(row[at]) for at in order)).encode("utf-8",
                                                                               "surrogatepass"))
    return digest.hexdigest()


def first_rows(data):
    if is_path(data):
        return data
    if isinstance(data, dict):
        return {name: list(itertools.islice(column, HEAD)) for name, column in data.items()
                if hasattr(column, "__len__")}
    if is_frame(data, "pandas"):
        return data.iloc[:HEAD]
    if is_frame(data, "polars"):
        return data.head(HEAD)
    if hasattr(data, "num_rows") and hasattr(data, "slice"):
        return data.slice(0, HEAD)
    if "duckdb" in type(data).__module__ and hasattr(data, "limit"):
        return data.limit(HEAD)
    return None  # what may be read once is not looked at


def rows_of(data):
    if is_csv_path(data):
        with text_of(data) as file:
            return sum(1 for _ in csv.reader(file)) - 1
    if isinstance(data, dict):
        return len(next(iter(data.values()), []))
    if "duckdb" in type(data).__module__ and hasattr(data, "shape"):
        return data.shape[0]
    return table_of(data, "the table").rows


def text_of(path):
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return (gzip.open if packed else open)(path, "rt", encoding="utf-8", errors="replace", newline="")


def csv_head(path):
    if not os.path.isfile(path):
        raise Error(path)  # a pipe can't be read twice
    with text_of(path) as file:
        rows = list(itertools.islice(csv.reader(file), HEAD + 1))
    return rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]


def plain(cell):
    """A cell as a text that all kinds of tables agree on, as far as they do."""
    if cell is None or cell != cell or type(cell).__name__ in ("NAType", "NaTType"):
        return ""
    if hasattr(cell, "isoformat"):
        return cell.isoformat().replace("T00:00:00", "")
    text = str(cell).strip()
    try:
        number = decimal.Decimal(text)
    except decimal.InvalidOperation:
        return text.lower() if text in ("True", "False") else text
    return format(number.normalize(), "f") if number.is_finite() and abs(number.adjusted()) < 400 else text
