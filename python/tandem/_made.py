# SPDX-License-Identifier: Apache-2.0
"""Made rows in the types of a Spark DataFrame, on executors and on the driver alike.

A column keeps its declared type where all that its schema allows fits in; a special text among
numbers makes it a column of text. Nothing here follows from private rows.
"""

import datetime
import decimal

from ._rows import parsed
from ._texts import encoding_of
from ._types import Kind, kept

WHOLE = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
FLOATS = {"float": 32, "double": 64}


def kind_of(declared):
    """A plain type of Spark."""
    plain = declared.split("(")[0]
    if plain in WHOLE:
        return Kind(int, WHOLE[plain])
    if plain in FLOATS:
        return Kind(float, FLOATS[plain])
    if plain == "decimal":
        return Kind(decimal.Decimal, digits=tuple(map(int, declared[8:-1].split(","))))
    return Kind({"boolean": bool, "date": datetime.date, "timestamp": datetime.datetime,
                 "timestamp_ntz": datetime.datetime}.get(plain, str))


def kept_type(declared, column, comma=False):
    """The declared type, or the nearest one that holds whatever the schema allows."""
    kind = kind_of(declared) if declared else None
    found = kept(kind, column, comma)
    if found == kind and found.target is not str:
        return declared
    named = {int: WHOLE, float: FLOATS}.get(found.target)
    if named is not None:
        return next(name for name, bits in named.items() if bits == found.bits)
    return {bool: "boolean", datetime.date: "date", datetime.datetime: "timestamp_ntz"}.get(
        found.target, "string")


def arrow_type(kind):
    import pyarrow
    if kind.startswith("decimal"):
        return pyarrow.decimal128(*map(int, kind[kind.index("(") + 1:-1].split(",")))
    return {"tinyint": pyarrow.int8(), "smallint": pyarrow.int16(), "int": pyarrow.int32(),
            "bigint": pyarrow.int64(), "float": pyarrow.float32(), "double": pyarrow.float64(),
            "boolean": pyarrow.bool_(), "date": pyarrow.date32(),
            "timestamp_ntz": pyarrow.timestamp("us"), "timestamp": pyarrow.timestamp("us")}.get(
                kind, pyarrow.string())


def batches_of(source, text_format, columns, kinds):
    """Record batches of CSV that the library wrote, a path or its bytes, each text read once a batch.
    `kinds` has a type for each of its columns, in their order."""
    import pyarrow
    import pyarrow.csv
    delimiter = text_format.get("delimiter", ",")
    comma = text_format.get("decimal", ".") == ","
    names = list(kinds)
    reader = pyarrow.csv.open_csv(
        pyarrow.BufferReader(source) if isinstance(source, bytes) else source,
        read_options=pyarrow.csv.ReadOptions(
            block_size=8 << 20, column_names=names, skip_rows=1, use_threads=False,
            encoding=encoding_of(text_format)),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter="\t" if delimiter == "tab" else delimiter,
            quote_char=text_format.get("quote", '"'), newlines_in_values=True,
            ignore_empty_lines=len(names) > 1),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={name: pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
                          for name in names}, strings_can_be_null=False))
    for batch in reader:
        arrays = []
        for array, name in zip(batch.columns, names):
            target, kind = kind_of(kinds[name]).target, arrow_type(kinds[name])
            texts = array.dictionary.to_pylist()
            column = columns.get(name)
            values = [cell(text, target, column, comma) for text in texts]
            arrays.append(pyarrow.array(values, kind).take(array.indices))
        yield pyarrow.RecordBatch.from_arrays(arrays, names=[f"c{at}" for at in range(len(names))])


def cell(text, target, column, comma):
    if target is str:
        return None if text == "" else text
    return parsed(text, target, column, comma)
