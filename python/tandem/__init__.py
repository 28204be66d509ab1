# SPDX-License-Identifier: Apache-2.0
"""Differentially private synthetic data, with help from public data. docs/python.md begins here."""

from ._api import (Comparison, check, compare, evaluate, mechanisms, open_release, refit, synthesize,
                   version)
from ._errors import BudgetError, Error, InternalError, SchemaError, SourceError, UsageError
from ._objects import Ledger, Release, Schema
from ._rows import Rows
from ._synthesizer import Synthesizer
from ._tables import source

__all__ = ["BudgetError", "Comparison", "Error", "InternalError", "Ledger", "Release", "Rows",
           "Schema", "SchemaError", "SourceError", "Synthesizer", "UsageError", "check", "compare",
           "evaluate", "mechanisms", "open_release", "refit", "source", "synthesize", "version"]
