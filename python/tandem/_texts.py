# SPDX-License-Identifier: Apache-2.0
"""Documents as text, and texts as the library encodes them."""

import codecs
import json
import re

# Its latin-1 is windows-1252, in which the five bytes that stand for nothing stand for themselves.
LATIN = "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(256))


class LatinDecoder(codecs.IncrementalDecoder):
    def decode(self, data, final=False):
        return codecs.charmap_decode(data, self.errors, LATIN)[0]


def latin_codec(name):
    if name != "tandem_latin_1":
        return None
    table = codecs.charmap_build(LATIN)
    return codecs.CodecInfo(lambda text, errors="strict": codecs.charmap_encode(text, errors, table),
                            lambda data, errors="strict": codecs.charmap_decode(data, errors, LATIN),
                            incrementaldecoder=LatinDecoder, name=name)


codecs.register(latin_codec)
ENCODINGS = {"latin-1": "tandem_latin_1", "utf-16le": "utf-16", "utf-16be": "utf-16"}


def encoding_of(text_format):
    return ENCODINGS.get(text_format.get("encoding"), "utf-8")


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
