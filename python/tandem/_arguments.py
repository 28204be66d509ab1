# SPDX-License-Identifier: Apache-2.0
"""Arguments as the library takes them; what is none of the kind is said by name."""

import math
import os

from ._errors import UsageError


def wrong(name, value, wanted):
    shown = repr(value) if isinstance(value, (str, int, float, type(None))) else (
        f"a {type(value).__name__}")
    error = UsageError(f"{name} is {shown}; give {wanted}.")
    error.key = name
    return error


def number(value, name):
    """A finite number."""
    try:
        found = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise wrong(name, value, "a number")
    return found


def whole(value, name, least=0):
    """A whole number, of any type that has such."""
    found = None if isinstance(value, bool) else number(value, name)
    if found is None or found != int(found) or found < least:
        raise wrong(name, value, f"a whole number from {least}")
    return int(value)


def listed(value):
    """A list of one or several."""
    several = hasattr(value, "__iter__") and not isinstance(value, str)
    return list(value) if several else [value]


def path_of(value, name, wanted="a path"):
    try:
        return os.fspath(value)
    except TypeError:
        raise wrong(name, value, wanted) from None
