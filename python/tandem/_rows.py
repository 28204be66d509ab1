# SPDX-License-Identifier: Apache-2.0
"""Rows that were made, as frames.

The frame is of the kind that the private data was, and its columns have the types that were declared
there. Where a type would follow from private content, the schema and the made rows decide instead:
pandas has int64 or float64 by whether a cell is empty, objects of any kind, and the values of a
category.
"""

import csv
import datetime
import decimal

from ._errors import UsageError


def read_texts(path, text_format):
    """Names and columns of a file that the library wrote."""
    delimiter = {"tab": "\t"}.get(text_format.get("delimiter", ","), text_format.get("delimiter", ","))
    with open(path, encoding={"latin-1": "cp1252", "utf-16le": "utf-16", "utf-16be": "utf-16"}.get(
            text_format.get("encoding"), "utf-8"), newline="") as file:
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
        return self._values(name, None)[0]

    def __repr__(self):
        return f"<tandem.Rows, {len(self):,} rows of {', '.join(self.columns)}>"

    def __arrow_c_stream__(self, requested_schema=None):
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _declared(self, name, kind):
        return self._shape.types.get(name) if self._shape and self._shape.kind == kind else None

    def _values(self, name, target):
        """Values and their type: `target`, the schema's own without one, or text where a special
        value is none of that type."""
        column = self._schema.get(name)
        target = target or (column.typed() if column else str)
        texts = self._texts[name]
        if target is not str:
            memo = {}
            try:
                for text in set(texts):
                    memo[text] = parsed(text, target, column, self._comma)
                return [memo[text] for text in texts], target
            except (ValueError, ArithmeticError):
                pass
        return [text or None for text in texts], str

    def frame(self):
        """The kind of frame that came in; of a file, these rows themselves."""
        kind = self._shape.kind if self._shape else None
        return {"pandas": self.to_pandas, "polars": self.to_polars, "pyarrow": self.to_arrow,
                "duckdb": self.to_duckdb, "dict": self.to_dict}.get(kind, lambda: self)()

    def to_dict(self):
        return {name: self._values(name, None)[0] for name in self.columns}

    def to_pandas(self):
        import pandas
        made = {}
        for name in self.columns:
            declared = self._declared(name, "pandas")
            made[name] = self._of_pandas(pandas, name, declared)
        return pandas.DataFrame(made)

    def _of_pandas(self, pandas, name, declared):
        values, found = self._values(name, pandas_target(pandas, declared))
        missing = any(value is None for value in values)
        if declared is not None and isinstance(declared, pandas.CategoricalDtype):
            column = self._schema.get(name)
            return pandas.Categorical(
                values, categories=(column.labels if column and column.labels and found is str else None),
                ordered=bool(column and column.kind == "ordinal" and column.labels))
        plain = {int: "float64" if missing else "int64", float: "float64",
                 bool: "object" if missing else "bool"}.get(found)
        if declared is None or str(declared) in ("int64", "float64", "object"):
            if found is datetime.datetime:
                return pandas.to_datetime(pandas.Series(values))
            return pandas.Series(values, dtype=plain) if plain else pandas.Series(values)
        try:
            return pandas.Series(values).astype(declared)
        except (TypeError, ValueError, OverflowError):
            return pandas.Series(values, dtype=plain) if plain else pandas.Series(values)

    def to_polars(self):
        import polars
        made = []
        for name in self.columns:
            declared = self._declared(name, "polars")
            values, found = self._values(name, polars_target(polars, declared))
            if declared is not None and declared == polars.Enum:
                column = self._schema.get(name)
                declared = polars.Enum(column.labels) if column and column.labels else polars.String
            if declared is not None and found is str and declared not in (
                    polars.Categorical, polars.Enum):
                declared = polars.String
            made.append(polars.Series(name, values, dtype=declared, strict=False))
        return polars.DataFrame(made)

    def to_arrow(self):
        import pyarrow
        arrays = []
        for name in self.columns:
            declared = None
            if self._shape is not None and self._shape.kind in (None, "pyarrow", "duckdb"):
                declared = self._shape.types.get(name)
            dictionary = declared is not None and pyarrow.types.is_dictionary(declared)
            if dictionary:
                declared = declared.value_type
            values, found = self._values(name, arrow_target(pyarrow, declared))
            try:
                array = pyarrow.array(values, type=declared or arrow_type(pyarrow, found))
            except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
                array = pyarrow.array([None if value is None else str(value) for value in values],
                                      type=pyarrow.string())
            arrays.append(array.dictionary_encode() if dictionary else array)
        return pyarrow.table(arrays, names=self.columns)

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


def pandas_target(pandas, declared):
    if declared is None or str(declared) in ("int64", "float64", "object"):
        return None
    if isinstance(declared, pandas.CategoricalDtype):
        return None if declared.categories.dtype.kind in "iuf" else str
    kind = getattr(declared, "kind", "O")
    if kind == "M":
        return datetime.datetime
    if kind in "iufb":
        return {"b": bool, "f": float}.get(kind, int)
    return None if kind == "O" and "date" in str(declared) else str


def polars_target(polars, declared):
    if declared is None:
        return None
    if declared.is_integer():
        return int
    if declared.is_float():
        return float
    return {polars.Boolean: bool, polars.Date: datetime.date, polars.Datetime: datetime.datetime,
            polars.Decimal: decimal.Decimal}.get(declared.base_type(), str)


def arrow_target(pyarrow, declared):
    if declared is None:
        return None
    types = pyarrow.types
    for told, target in ((types.is_integer, int), (types.is_floating, float),
                         (types.is_boolean, bool), (types.is_date, datetime.date),
                         (types.is_timestamp, datetime.datetime),
                         (types.is_decimal, decimal.Decimal)):
        if told(declared):
            return target
    return str


def arrow_type(pyarrow, found):
    return {int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_(),
            datetime.date: pyarrow.date32(), datetime.datetime: pyarrow.timestamp("us")}.get(
                found, pyarrow.string())


def html_table(names, rows):
    import html
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
                   for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"
