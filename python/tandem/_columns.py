# SPDX-License-Identifier: Apache-2.0
"""What the columns of a schema are, and typed cells as the texts that a schema means.

A cell's text depends on that cell and on the schema alone: never on other rows, and no error can
come of a private cell. What fits nowhere is written as U+FFFD, which no schema lists.
"""

import datetime
import decimal
import functools
import math
import uuid

NOWHERE = "\ufffd"
LONGEST = 60_000  # characters: longer texts stand in no schema
NO_VALUES = ("NoneType", "NAType", "NaTType")
DIGITS = 400  # of numbers: longer ones stand in no schema, and take long to spell
SAME_WHERE_EQUAL = (str, int, bool, type(None), datetime.date)  # equal cells have the same text


class Column:
    """One column of a schema, as its file describes it."""

    def __init__(self, keys):
        self.keys = keys
        self.name = keys["name"]
        self.kind = keys.get("kind", "categorical")
        self.derived = False  # computed from others, and not read
        self.coded = "size" in keys
        nulls = keys.get("null", [])
        nulls = [""] if nulls is True else [] if nulls is False else nulls
        self.nulls = [str(text) for text in (nulls if isinstance(nulls, list) else [nulls])]
        values = keys.get("values", ["false", "true"] if self.kind == "boolean" else [])
        self.labels = [str(value) for value in values]
        specials = keys.get("special", [])
        self.specials = [str(text) for text in
                         (specials if isinstance(specials, list) else [specials])]
        # Texts beside the values, in the order of their codes.
        self.extras = [*self.specials, *([str(keys["other"])] if "other" in keys else [])]
        self.pattern = keys.get("pattern", "%Y-%m-%d")
        self.decimals = keys.get("decimals", 0)

    @functools.cached_property
    def by_number(self):
        """Texts of the schema that are numbers, by their value."""
        found = {}
        for text in reversed([*self.labels, *self.specials, *self.nulls]):
            try:
                exact = decimal.Decimal(text)
            except decimal.InvalidOperation:
                continue
            if exact.is_finite():
                found[exact] = text
                found[float(exact)] = text
        return found

    def typed(self):
        """Its values' type: int, float, bool, datetime.date, datetime.datetime or str."""
        if self.kind in ("categorical", "ordinal"):
            return int if self.coded else str
        if self.kind == "date":
            if "%H" in self.pattern:
                return datetime.datetime
            return datetime.date if "%d" in self.pattern else str
        return {"integer": int, "real": float, "boolean": bool}.get(self.kind, str)


def columns_of_schema(document):
    """Columns by name, from a schema's own content."""
    listed = document.get("columns", document.get("column"))
    if not isinstance(listed, list):  # private-pgm's plain sizes
        return {name: Column({"name": name, "size": size}) for name, size in document.items()}
    found = {}
    for keys in listed:
        if "prefix" in keys:
            first = keys.get("first", 0)
            for number in range(first, first + keys["count"]):
                name = f"{keys['prefix']}{number}"
                found[name] = Column({**keys, "name": name})
        else:
            found[keys["name"]] = Column(keys)
    for relation in document.get("relations", document.get("relation", [])):
        derived = relation.get("derive", "").partition("=")[0].strip().strip("'\"")
        if derived in found:
            found[derived].derived = True
    return found


def dated(value, pattern):
    """A date or timestamp in a schema's pattern; strftime does not pad years."""
    clock = isinstance(value, datetime.datetime)
    parts = {"%Y": f"{value.year:04}", "%m": f"{value.month:02}", "%d": f"{value.day:02}",
             "%H": f"{value.hour if clock else 0:02}", "%M": f"{value.minute if clock else 0:02}",
             "%S": f"{value.second if clock else 0:02}"}
    for part, text in parts.items():
        pattern = pattern.replace(part, text)
    return pattern


class Texts:
    """Cells of one column as texts. Without a column of a schema: as Python writes them.
    `odd` is called for a cell that is no plain value, and gives its text. Where cells name a person,
    an empty one names nobody, whatever stands for no value in the schema."""

    def __init__(self, column, odd=lambda value: NOWHERE, persons=False):
        self.column = column
        self.odd = odd
        self.null = ""
        self.of_bool = ("false", "true")
        if column is not None:
            if column.nulls and "" not in column.nulls and not persons:
                self.null = column.nulls[0]
            if column.kind == "boolean":
                self.of_bool = tuple(column.labels)
            elif column.coded or column.kind in ("integer", "real"):
                self.of_bool = ("0", "1")
            else:
                self.of_bool = next((pair for pair in (("false", "true"), ("False", "True"),
                                                       ("0", "1"), ("no", "yes"))
                                     if set(pair) <= set(column.labels)), self.of_bool)
        self.memos = {}

    def all(self, values):
        """The texts of a list of cells: each as if it stood alone."""
        try:
            types = set(map(type, values))
            if types <= {str, type(None)}:
                return list(map(self.text_of(str), values))
            texts = {one: self.text_of(one) for one in types}
            return [texts[type(value)](value) for value in values]
        except Exception:  # a cell may do anything when it is looked at
            return [self.one(value) for value in values]

    def text_of(self, of):
        """What gives the text of a cell of this type, from a memo where equal keys mean equal texts.
        Each type has its own: 1, 1.0 and True are one key."""
        if of not in self.memos:
            if of in SAME_WHERE_EQUAL:
                self.memos[of] = Memo(self.one).__getitem__
            elif of in KEYS:
                self.memos[of] = keyed(KEYS[of], self.one)
            else:
                self.memos[of] = self.one
        return self.memos[of]

    def one(self, value):
        try:
            text = self.spelled(value)
        except Exception:
            text = None
        return self.odd(value) if text is None else text

    def spelled(self, value):
        """The text of a cell, or None where it is no plain value."""
        if value is None:
            return self.null
        if isinstance(value, str):
            text = str.__str__(value)
            return text if len(text) <= LONGEST and text.count("\n") < 900 else NOWHERE
        if isinstance(value, (bytes, bytearray)):
            # Some readers take a column for bytes because of one cell: the others mean what they say.
            return self.spelled(bytes(value).decode("utf-8", "replace"))
        if isinstance(value, bool):
            return self.of_bool[value]
        if isinstance(value, int):
            return self.number(value, str) if value.bit_length() < 3 * DIGITS else NOWHERE
        if isinstance(value, float):
            return self.null if math.isnan(value) else self.number(value, self.float_text)
        if isinstance(value, complex):  # so are all numbers of a list with one of them
            real = value.imag == 0 or math.isnan(value.real)
            return self.spelled(value.real) if real else NOWHERE
        if isinstance(value, decimal.Decimal):
            if value.is_nan():
                return self.null
            if value.is_finite() and max(abs(value.adjusted()), len(value.as_tuple().digits)) > DIGITS:
                return NOWHERE
            return self.number(value, self.decimal_text)
        if type(value).__name__ in NO_VALUES:
            return self.null
        if isinstance(value, datetime.date):  # a datetime is one too
            return self.date(value)
        if isinstance(value, (datetime.time, uuid.UUID)):
            return str(value)
        if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
            plain = value.item()
            return None if type(plain).__module__ == "numpy" else self.spelled(plain)
        return None

    def number(self, value, spelled):
        if self.column is not None and self.column.by_number:
            text = self.column.by_number.get(value)
            if text is not None:
                return text
        return spelled(value)

    def is_listed(self):
        """Whether the schema has labels or codes for the column: there 24.0 is 24."""
        column = self.column
        return column is not None and (
            column.coded or column.kind in ("categorical", "ordinal", "integer", "boolean"))

    def float_text(self, value):
        return str(int(value)) if value.is_integer() and self.is_listed() else repr(value)

    def decimal_text(self, value):
        if value.is_finite() and self.is_listed() and value == value.to_integral_value():
            return format(value.to_integral_value(), "f")
        return format(value, "f")

    def date(self, value):
        if self.column is not None and self.column.kind == "date":
            return dated(value, self.column.pattern)
        if isinstance(value, datetime.datetime):
            if (value.hour, value.minute, value.second, value.microsecond) == (0, 0, 0, 0):
                return dated(value, "%Y-%m-%d")
            return value.replace(tzinfo=None).isoformat(sep=" ")
        return value.isoformat()


def wall_time(value):
    """The same instant has another text in another zone."""
    return value if value.tzinfo is None else value.replace(tzinfo=None)


# Of types whose equal cells may have different texts: a key that fixes the text.
KEYS = {
    float: lambda value: value if value else repr(value),  # 0.0 and -0.0
    decimal.Decimal: str,  # 1 and 1.0
    datetime.datetime: wall_time,
}
MOST = 100_000  # texts in a memo


class Memo(dict):
    def __init__(self, make):
        super().__init__()
        self.make = make

    def __missing__(self, key):
        text = self.make(key)
        if len(self) < MOST:
            self[key] = text
        return text


def keyed(key_of, make):
    held = {}

    def text_of(value):
        key = key_of(value)
        text = held.get(key)
        if text is None:
            text = make(value)
            if len(held) < MOST:
                held[key] = text
        return text
    return text_of
