# SPDX-License-Identifier: Apache-2.0
"""Made rows in the types of a Spark DataFrame, on executors and on the driver alike.

A column keeps its declared type where all that its schema allows fits in; a special text among
numbers makes it a column of text. Nothing here follows from private rows.
"""

import datetime
import decimal

from ._rows import parsed

WHOLE = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


def target_of(kind):
    """The Python type of a plain type of Spark."""
    plain = kind.split("(")[0]
    if plain in WHOLE:
        return int
    return {"float": float, "double": float, "decimal": decimal.Decimal, "boolean": bool,
            "date": datetime.date, "timestamp": datetime.datetime,
            "timestamp_ntz": datetime.datetime}.get(plain, str)


def of_schema(column):
    """The type of a column for which no DataFrame declared one."""
    return {int: "bigint", float: "double", bool: "boolean", datetime.date: "date",
            datetime.datetime: "timestamp_ntz"}.get(column.typed() if column else str, "string")


def kept_type(kind, column, comma=False):
    """The declared type, or the nearest one that holds whatever the schema allows."""
    if column is None:
        return kind or "string"
    kind = kind or of_schema(column)
    target = target_of(kind)
    if target is str:
        return "string"
    keys = column.keys
    listed = [text for text in (*column.labels, *column.specials) if text not in column.nulls]
    try:
        found = [parsed(text, target, column, comma) for text in listed]
    except (ValueError, ArithmeticError):
        return "string"
    if target is bool and not (column.kind == "boolean" or column.labels or keys.get("size") == 2):
        return of_schema(column)
    if target in (datetime.date, datetime.datetime):
        return kind if column.kind == "date" and "%d" in column.pattern or column.labels else (
            of_schema(column))
    if column.kind == "date":
        return of_schema(column)
    ends = [keys[key] for key in ("min", "max", "size") if isinstance(keys.get(key), (int, float))]
    if target is int:
        if column.kind == "real" and (column.decimals or "decimals" not in keys):
            return "double"
        most = max([abs(value) for value in (*found, *ends) if value is not None], default=0)
        return next((name for name, bits in WHOLE.items()
                     if bits >= WHOLE[kind] and most < 2 ** (bits - 1)), "double")
    if target is decimal.Decimal:
        precision, scale = map(int, kind[kind.index("(") + 1:-1].split(","))
        most = max([abs(value) for value in (*found, *ends) if value is not None], default=0)
        fits = (column.kind in ("integer", "categorical", "ordinal") or
                ("decimals" in keys and column.decimals <= scale))
        return kind if fits and most < 10 ** (precision - scale) else "double"
    return kind


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
            encoding={"latin-1": "cp1252", "utf-16le": "utf-16", "utf-16be": "utf-16"}.get(
                text_format.get("encoding"), "utf8")),
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
            target, kind = target_of(kinds[name]), arrow_type(kinds[name])
            texts = array.dictionary.to_pylist()
            column = columns.get(name)
            values = [cell(text, target, column, comma) for text in texts]
            arrays.append(pyarrow.array(values, kind).take(array.indices))
        yield pyarrow.RecordBatch.from_arrays(arrays, names=[f"c{at}" for at in range(len(names))])


def cell(text, target, column, comma):
    if target is str:
        return None if text == "" else text
    return parsed(text, target, column, comma)
