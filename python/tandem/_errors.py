# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, one type for each thing a caller can do about it."""

import re


class Error(Exception):
    """Whatever tandem raises. `key` names the setting that is wrong, or is empty."""

    key = ""


class UsageError(Error, ValueError):
    """The call is wrong: fix it and call again."""


class SchemaError(UsageError):
    """The schema, or data that must fit it, is wrong."""


class BudgetError(Error):
    """The budget does not allow it."""


class SourceError(Error, OSError):
    """Data could not be read or written."""


class InternalError(Error, RuntimeError):
    """A promise inside tandem was broken; please report it."""


KINDS = {"usage": UsageError, "schema": SchemaError, "budget": BudgetError, "source": SourceError,
         "internal": InternalError}
EXIT_CODES = {2: UsageError, 3: BudgetError, 1: SourceError}  # of the command

# Sentences of the library that name a command; here it is a call.
CALLS = {"'tandem budget create'": "tandem.Ledger.create", "'tandem check'": "tandem.check",
         "'tandem mechanisms'": "tandem.mechanisms()"}


def spelled(key):
    """A setting as a caller from Python writes it."""
    if key.startswith("param."):
        return f"parameters[{key[len('param.'):]!r}]"
    return {"private": "the private data", "param": "parameters"}.get(key, key.replace("-", "_"))


RESUMING = r"'tandem (synth|answer) --resume --out (.*?)'(?= goes on| to go on|[.,;:]|$)"


def sentence(text, names=None):
    """A message with settings spelled for Python, and frames in place of their temporary files."""
    text = re.sub("\x0e(.*?)\x0f", lambda found: spelled(found.group(1)), text)
    text = re.sub(RESUMING, lambda found: f"the same call with out={found.group(2)!r} and resume=True",
                  text)
    text = re.sub(r"(?<![\w-])--([a-z][a-z-]*)", lambda found: spelled(found.group(1)), text)
    for command, call in CALLS.items():
        text = text.replace(command, call)
    for path, name in (names or {}).items():
        text = text.replace(path, name)
    return text


def error_of(document, names=None):
    """The exception for an answer's "error"."""
    kind = KINDS.get(document["kind"], InternalError)
    error = kind(sentence(document["marked"], names))
    error.key = document["key"]
    return error
