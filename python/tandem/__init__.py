# SPDX-License-Identifier: Apache-2.0
"""Differentially private synthetic data, with help from public data. docs/python.md begins here."""

from ._api import check, evaluate, mechanisms, open_release, refit, synthesize, version
from ._errors import BudgetError, Error, InternalError, SchemaError, SourceError, UsageError
from ._objects import Ledger, Release, Schema
from ._synthesizer import Synthesizer

__all__ = ["BudgetError", "Error", "InternalError", "Ledger", "Release", "Schema", "SchemaError",
           "SourceError", "Synthesizer", "UsageError", "check", "evaluate", "mechanisms",
           "open_release", "refit", "synthesize", "version"]
