# SPDX-License-Identifier: Apache-2.0
"""Rows that were made, as frames.

The frame is of the kind that the private data was, and the types of its columns follow from the schema
alone: a frame that was read from private rows has types that single cells decide. Types of another
frame are taken by hand (Release.like), where they hold whatever the schema allows (_types.py).
"""

import csv
import datetime
import decimal
import re

from ._errors import UsageError
from ._texts import encoding_of
from ._types import TEXT, Kind, kept


def read_texts(path, text_format):
    """Names and columns of a file that the library wrote."""
    delimiter = {"tab": "\t"}.get(text_format.get("delimiter", ","), text_format.get("delimiter", ","))
    with open(path, encoding=encoding_of(text_format), newline="") as file:
        rows = csv.reader(file, delimiter=delimiter, quotechar=text_format.get("quote", '"'))
        names = next(rows)
        columns = [list(column) for column in zip(*rows)] or [[] for _ in names]
    return names, columns


class Rows:
    """A table of made rows. `len(rows)`, `rows["column"]`, and a frame of your choice."""

    def __init__(self, names, texts, columns, decimal_mark=".", shape=None):
        self.columns = list(names)
        self._texts = dict(zip(names, texts))
        self._schema = columns
        self._comma = decimal_mark == ","
        self._shape = shape

    def __len__(self):
        return len(next(iter(self._texts.values()), []))

    def __getitem__(self, name):
        """One column, as a list in the schema's type."""
        return self._kept(name, None)[0]

    def __repr__(self):
        return f"<tandem.Rows, {len(self):,} rows of {', '.join(self.columns)}>"

    def __arrow_c_stream__(self, requested_schema=None):
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _declared(self, name, kind):
        return self._shape.types.get(name) if self._shape and self._shape.kind == kind else None

    def _values(self, name, target):
        """Values and their type: `target`, the schema's own without one, or text where a value is none
        of that type."""
        column = self._schema.get(name)
        target = target or (column.typed() if column else str)
        texts = self._texts[name]
        if target is not str:
            try:
                memo = {text: parsed(text, target, column, self._comma) for text in set(texts)}
                return [memo[text] for text in texts], target
            except (ValueError, ArithmeticError):
                pass
        return [text or None for text in texts], str

    def _kept(self, name, kind):
        """Values and their Kind: the declared one, or the nearest that holds all that the schema
        allows."""
        kind = kept(kind, self._schema.get(name), self._comma)
        values, found = self._values(name, kind.target)
        return values, kind if found is kind.target else TEXT

    def _labelled(self, name):
        """Texts of a column, none where they stand for no value, and all texts that it may have, or
        none where the schema does not list them."""
        column = self._schema.get(name)
        nulls = column.nulls if column else []
        texts = [None if text == "" or text in nulls else text for text in self._texts[name]]
        return texts, [*column.labels, *column.extras] if column and column.labels else None

    def frame(self):
        """The kind of frame that came in; of a file, these rows themselves."""
        kind = self._shape.kind if self._shape else None
        return {"pandas": self.to_pandas, "polars": self.to_polars, "pyarrow": self.to_arrow,
                "duckdb": self.to_duckdb, "dict": self.to_dict}.get(kind, lambda: self)()

    def to_dict(self):
        return {name: self[name] for name in self.columns}

    def to_pandas(self):
        import pandas
        return pandas.DataFrame({name: self._of_pandas(pandas, name, self._declared(name, "pandas"))
                                 for name in self.columns})

    def _of_pandas(self, pandas, name, declared):
        if declared is None:
            values, kind = self._kept(name, None)
            column = self._schema.get(name)
            empty = bool(column and column.nulls) or None in values
            return pandas.Series(values, dtype=schema_dtype(pandas, kind, empty))
        if isinstance(declared, pandas.CategoricalDtype):
            return self._category(pandas, name, declared)
        sparse = isinstance(declared, pandas.SparseDtype)
        plain = declared.subtype if sparse else declared
        told = pandas_kind(pandas, plain)
        values, kind = self._kept(name, told)
        missing = any(value is None for value in values)
        dtype = pandas_dtype(pandas, kind, plain, kind == told, missing)
        series = pandas.Series(values, dtype=dtype)
        # To numpy, no dtype at all equals float64.
        return series.astype(declared) if sparse and dtype is not None and dtype == plain else series

    def _category(self, pandas, name, declared):
        column = self._schema.get(name)
        texts, listed = self._labelled(name)
        if declared.categories.dtype.kind in "iuf" and kept(None, column, self._comma).target is not str:
            return pandas.Categorical(self._values(name, None)[0])
        return pandas.Categorical(texts, categories=listed, ordered=bool(
            listed and column.kind == "ordinal" and not column.extras))

    def to_polars(self):
        import polars
        return polars.DataFrame([self._of_polars(polars, name, self._declared(name, "polars"))
                                 for name in self.columns])

    def _of_polars(self, polars, name, declared):
        if declared == polars.Enum:
            texts, listed = self._labelled(name)
            return polars.Series(name, texts, polars.Enum(listed) if listed else polars.String)
        told = polars_kind(polars, declared)
        values, kind = self._kept(name, told)
        same = kind == told and getattr(declared, "time_zone", None) is None and (
            kind != TEXT or declared == polars.Categorical)
        return polars.Series(name, values, declared if same else polars_type(polars, kind))

    def to_arrow(self):
        import pyarrow
        types = self._shape.types if self._shape and self._shape.kind in (
            None, "pyarrow", "duckdb") else {}
        return pyarrow.table([self._of_arrow(pyarrow, name, types.get(name)) for name in self.columns],
                             names=self.columns)

    def _of_arrow(self, pyarrow, name, declared):
        dictionary = declared is not None and pyarrow.types.is_dictionary(declared)
        if dictionary:
            declared = declared.value_type
        told = arrow_kind(pyarrow, declared)
        values, kind = self._kept(name, told)
        array = pyarrow.array(values, arrow_type(pyarrow, kind, declared if kind == told else None))
        return array.dictionary_encode() if dictionary else array

    def to_duckdb(self):
        import duckdb
        return duckdb.from_arrow(self.to_arrow())

    def to_parquet(self, path):
        """Writes a Parquet file, through pyarrow."""
        try:
            import pyarrow.parquet
        except ImportError:
            raise UsageError("Parquet needs pyarrow; install it with 'pip install pyarrow'.") from None
        pyarrow.parquet.write_table(self.to_arrow(), path)

    def _repr_html_(self):
        shown = [[str(self._texts[name][at]) for name in self.columns]
                 for at in range(min(len(self), 10))]
        return html_table(self.columns, shown) + f"<p>{len(self):,} rows</p>"


def parsed(text, target, column, comma):
    nulls = column.nulls if column else []
    if text == "" or text in nulls:
        return None
    if target is bool:
        words = [word.lower() for word in (column.labels if column and len(column.labels) == 2 else [])]
        for pair in (words, ["false", "true"], ["0", "1"]):
            if text.lower() in pair:
                return bool(pair.index(text.lower()))
        raise ValueError(text)
    if target in (datetime.date, datetime.datetime):
        found = datetime.datetime.strptime(text, column.pattern if column else "%Y-%m-%d")
        return found.date() if target is datetime.date else found
    if comma:
        text = text.replace(",", ".")
    if target is int:
        exact = decimal.Decimal(text)
        if exact != int(exact):
            raise ValueError(text)
        return int(exact)
    return target(text)


def pandas_kind(pandas, declared):
    """The Kind of a dtype; None where the schema decides."""
    if declared is None or str(declared) in ("int64", "float64", "object"):
        return None
    if hasattr(declared, "pyarrow_dtype"):
        import pyarrow
        return arrow_kind(pyarrow, declared.pyarrow_dtype)
    letter = getattr(declared, "kind", "O")
    if letter in "iu":
        return Kind(int, 8 * declared.itemsize, letter == "i")
    if letter == "f":
        return Kind(float, min(64, 8 * declared.itemsize))
    if letter == "M":
        return Kind(datetime.datetime, unit=pandas.Series([], dtype=declared).dt.unit)
    return Kind(bool) if letter == "b" else TEXT


def schema_dtype(pandas, kind, empty):
    """The dtype of a kind where nobody declared one; `empty` says whether a cell may be."""
    if kind.target in (int, bool):
        name = "int64" if kind.target is int else "bool"
        return {"int64": "Int64", "bool": "boolean"}[name] if empty else name
    if kind.target in (datetime.date, datetime.datetime):
        return "datetime64[us]"
    if kind.target is str and int(pandas.__version__.split(".")[0]) >= 3:
        return "str"
    return "float64" if kind.target is float else object


def pandas_dtype(pandas, kind, declared, same, missing):
    """The dtype for values of a kind, some `missing`: the declared one where the kind is the `same`
    and it holds them. None leaves it to pandas, of text and dates."""
    extension = isinstance(declared, pandas.api.extensions.ExtensionDtype)
    zone = getattr(declared, "tz", None) or getattr(
        getattr(declared, "pyarrow_dtype", None), "tz", None)
    text = kind == TEXT and not (isinstance(declared, pandas.StringDtype) or
                                 "string[pyarrow]" == str(declared))
    holds_missing = extension or kind.target not in (int, bool)
    if same and zone is None and not text and (holds_missing or not missing):
        return declared
    if kind.target is int:
        name = f"{'' if kind.signed else 'u'}int{kind.bits}"
        return name.replace("i", "I").replace("uI", "UI") if extension else (
            "float64" if missing else name)
    if kind.target is float:
        return f"Float{max(kind.bits, 32)}" if extension else f"float{kind.bits}"
    if kind.target is bool:
        return "boolean" if extension else "object" if missing else "bool"
    return f"datetime64[{kind.unit}]" if kind.target is datetime.datetime else None


def polars_kind(polars, declared):
    if declared is None:
        return None
    bits = re.fullmatch(r"(U?)(Int|Float)([0-9]+)", str(declared))
    if bits:
        return Kind({"Int": int, "Float": float}[bits[2]], int(bits[3]), not bits[1])
    if declared == polars.Decimal:
        return Kind(decimal.Decimal, digits=(declared.precision or 38, declared.scale))
    if declared == polars.Datetime:
        return Kind(datetime.datetime, unit=declared.time_unit)
    return {polars.Boolean: Kind(bool), polars.Date: Kind(datetime.date)}.get(
        declared.base_type(), TEXT)


def polars_type(polars, kind):
    if kind.target in (int, float):
        unsigned = "U" if kind.target is int and not kind.signed else ""
        return getattr(polars, f"{unsigned}{kind.target.__name__.capitalize()}{kind.bits}")
    if kind.target is datetime.datetime:
        return polars.Datetime(kind.unit)
    return {bool: polars.Boolean, datetime.date: polars.Date}.get(kind.target, polars.String)


def arrow_kind(pyarrow, declared):
    if declared is None:
        return None
    types = pyarrow.types
    if types.is_integer(declared):
        return Kind(int, declared.bit_width, types.is_signed_integer(declared))
    if types.is_floating(declared):
        return Kind(float, declared.bit_width)
    if types.is_decimal(declared):
        return Kind(decimal.Decimal, digits=(declared.precision, declared.scale))
    if types.is_timestamp(declared):
        return Kind(datetime.datetime, unit=declared.unit)
    return Kind(bool if types.is_boolean(declared) else
                datetime.date if types.is_date(declared) else str)


def arrow_type(pyarrow, kind, declared=None):
    """The declared type, which is of this kind, or another that is. Times are wall times: a zone would
    move them."""
    types = pyarrow.types
    if declared is not None and kind.target is not datetime.datetime and (
            kind != TEXT or types.is_string(declared) or types.is_large_string(declared)):
        return declared
    if kind.target is int:
        return getattr(pyarrow, f"{'' if kind.signed else 'u'}int{kind.bits}")()
    return {float: pyarrow.float32() if kind.bits == 32 else pyarrow.float64(),
            bool: pyarrow.bool_(), datetime.date: pyarrow.date32(),
            datetime.datetime: pyarrow.timestamp(kind.unit)}.get(kind.target, pyarrow.string())


def html_table(names, rows):
    import html
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
                   for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"
