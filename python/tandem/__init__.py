# SPDX-License-Identifier: Apache-2.0
"""Differentially private synthetic data, with help from public data. docs/python.md begins here."""

from ._api import (Comparison, answer, check, compare, evaluate, mechanisms, open_release, plan, refit,
                   synthesize, version)
from ._errors import BudgetError, Error, InternalError, SchemaError, SourceError, UsageError
from ._evaluation import Evaluation
from ._numbers import Estimate, Numbers, estimate
from ._objects import Column, Ledger, Release, Schema
from ._plan import Plan
from ._rows import Rows
from ._synthesizer import Synthesizer
from ._tables import source
from ._workload import Workload

__all__ = ["BudgetError", "Column", "Comparison", "Error", "Estimate", "Evaluation", "InternalError",
           "Ledger", "Numbers", "Plan", "Release", "Rows", "Schema", "SchemaError", "SourceError",
           "Synthesizer", "UsageError", "Workload", "answer", "check", "compare", "estimate",
           "evaluate", "mechanisms", "open_release", "plan", "refit", "source", "synthesize",
           "version"]
