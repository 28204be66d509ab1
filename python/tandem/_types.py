# SPDX-License-Identifier: Apache-2.0
"""Which type a column of made rows has.

It is the declared one where that holds whatever the schema allows, and otherwise the nearest that
does: a special -1 makes a signed type of an unsigned one, a special text a column of text. Nothing
here follows from rows.
"""

import dataclasses
import datetime
import decimal
import re
import typing

from ._columns import dated


@dataclasses.dataclass(frozen=True)
class Kind:
    """A type of Python's, and how much of it fits. Each library's own types are spelled in its
    terms."""

    target: type
    bits: int = 64  # of whole numbers and floats
    signed: bool = True
    digits: tuple = (38, 0)  # of decimals: all, and those after the point
    unit: str = "us"  # of moments


TEXT = Kind(str)
MANTISSA = {16: 11, 32: 24, 64: 53}  # bits of a float that are digits
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
BOOLEANS = (("false", "true"), ("0", "1"), ("no", "yes"))
NANOSECONDS = (datetime.datetime(1678, 1, 1), datetime.datetime(2262, 1, 1))  # what 64 bits hold


def of_schema(column):
    """The kind of a column for which nobody declared one."""
    target = column.typed() if column else str
    return TEXT if target is str else Kind(target)


def kept(kind, column, comma=False):
    """The declared kind, or the nearest one that holds whatever the schema allows; without a declared
    one, the schema's. `comma` says how decimals are written in the schema's texts."""
    if column is None:
        return TEXT
    kind = kind or of_schema(column)
    keep = {bool: kept_bool, datetime.date: kept_date, datetime.datetime: kept_date,
            int: kept_number, float: kept_number, decimal.Decimal: kept_number}.get(kind.target)
    return TEXT if keep is None else keep(kind, column, comma)


def listed(column):
    """The texts that the schema allows beside ranges and nulls."""
    return [text for text in (*column.labels, *column.extras) if text not in column.nulls]


def kept_bool(kind, column, comma):
    words = tuple(label.lower() for label in column.labels)
    if not words and column.keys.get("size") != 2:
        return kept(None, column, comma)
    boolean = column.kind == "boolean" or words in BOOLEANS or not words
    return kind if boolean and not column.extras else TEXT


def kept_date(kind, column, comma):
    if column.kind == "date" and "%d" not in column.pattern:
        return TEXT
    if column.kind != "date" and not column.labels:
        return kept(None, column, comma)
    if kind.target is datetime.date and "%H" in column.pattern:
        kind = Kind(datetime.datetime)
    ends = [column.keys[key] for key in ("min", "max") if key in column.keys]
    try:
        found = {text: datetime.datetime.strptime(text, column.pattern)
                 for text in map(str, [*listed(column), *ends])}
    except ValueError:
        return TEXT
    if any(dated(found[text], column.pattern) != text for text in listed(column)):
        return TEXT
    if kind.unit == "ns" and not all(NANOSECONDS[0] <= one < NANOSECONDS[1]
                                     for one in found.values()):
        return dataclasses.replace(kind, unit="us")
    return kind


class Span(typing.NamedTuple):
    """What numbers a schema allows: from, to, and with how many digits after the point."""

    least: decimal.Decimal
    most: decimal.Decimal
    decimals: int


def span_of(column, comma):
    """The Span, or None where the schema allows a text that is no number, or one number twice."""
    texts = [text.replace(",", ".") if comma else text for text in listed(column)]
    if not all(NUMBER.fullmatch(text) for text in texts):
        return None
    found = [decimal.Decimal(text) for text in texts]
    if len(set(found)) < len(found):
        return None
    keys = column.keys
    edges = keys["edges"] if isinstance(keys.get("edges"), list) else []
    ends = [decimal.Decimal(str(value)) for value in
            (keys.get("min"), keys.get("max"), keys.get("size", 1) - 1, keys.get("step"), *edges)
            if isinstance(value, (int, float))]
    digits = [after_the_point(one) for one in found]
    if column.kind == "real":
        digits += [keys["decimals"]] if "decimals" in keys else map(after_the_point, ends)
    return Span(min(ends + found), max(ends + found), max(digits, default=0))


def after_the_point(number):
    return max(0, -number.normalize().as_tuple().exponent)


def kept_number(kind, column, comma):
    if column.kind == "date":
        return kept(None, column, comma)
    span = span_of(column, comma)
    if span is None:
        return TEXT
    for one in candidates(kind):
        if holds(one, span):
            return one
    return TEXT


def candidates(kind):
    """The kind, and those that hold more, nearest first."""
    yield kind
    if kind.target is int:
        yield from (Kind(int, bits) for bits in (8, 16, 32, 64) if bits >= kind.bits)
    yield from (Kind(float, bits) for bits in (32, 64)
                if kind.target is not float or bits > kind.bits)


def holds(kind, span):
    size = max(abs(span.least), abs(span.most))
    if kind.target is int:
        lowest = -2 ** (kind.bits - 1) if kind.signed else 0
        return span.decimals == 0 and lowest <= span.least and (
            span.most < lowest + 2 ** kind.bits)
    if kind.target is float:
        # What is written with its digits comes back from a float with as many.
        return size * 10 ** span.decimals < 2 ** MANTISSA[kind.bits] and (
            kind.bits != 16 or size <= 65_504)
    precision, scale = kind.digits
    return span.decimals <= scale and size < 10 ** (precision - scale)
