# SPDX-License-Identifier: Apache-2.0
"""A document as text."""

import json
import re


def written(document, suffix):
    """A schema's content as TOML or JSON."""
    if suffix != ".toml":
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    plain, parts = [], []
    for key, value in document.items():
        if isinstance(value, dict):
            parts.append(f"\n[{key}]\n" + toml_lines(value))
        elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            parts += [f"\n[[{key}]]\n" + toml_lines(one) for one in value]
        else:
            plain.append(toml_lines({key: value}))
    return "".join(plain + parts)


def toml_lines(table):
    return "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in table.items())


def toml_key(key):
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else json.dumps(key)


def toml_value(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_key(key)} = {toml_value(one)}"
                               for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False)
