# SPDX-License-Identifier: Apache-2.0
"""Schemas, releases and ledgers."""

import csv
import json
import os
import pathlib
import shutil
import tempfile

from ._errors import SourceError, UsageError
from ._frames import is_path, sources
from ._library import call


class Schema:
    """What the columns are: the text of a schema (TOML or JSON), and what a draft was unsure of."""

    def __init__(self, text, doubts=(), suffix=".toml"):
        self.text = text
        self.doubts = list(doubts)
        self._suffix = suffix

    @classmethod
    def draft(cls, public, *, codebook=None, ranges=16):
        """A schema from PUBLIC data, to be read and edited."""
        with sources() as held:
            request = {"public": held.paths(public, "the public data", "public"), "ranges": ranges}
            if codebook is not None:
                request["codebook"] = os.fspath(codebook)
            answer = call("tandem_draft_schema", request, held.names)
        return cls(answer["toml"], answer["doubts"])

    @classmethod
    def read(cls, path):
        path = pathlib.Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise SourceError(f"{path} can't be read ({error.strerror}); check the path.") from None
        return cls(text, suffix=path.suffix or ".json")

    def save(self, path):
        pathlib.Path(path).write_text(self.text, encoding="utf-8")


def schema_path(schema, held):
    if is_path(schema):
        return os.fspath(schema)
    if not isinstance(schema, Schema):
        raise UsageError("schema is neither a tandem.Schema nor a path; give one of them.")
    path = held.temporary("schema" + schema._suffix, "the schema")
    pathlib.Path(path).write_text(schema.text, encoding="utf-8")
    return path


class Release:
    """A release folder. Everything in it may be published."""

    def __init__(self, path, _keep=None):
        self.path = pathlib.Path(path)
        self._keep = _keep  # a temporary folder, gone with this object
        try:
            self.document = json.loads((self.path / "release.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise UsageError(f"{self.path} is not a release; name a folder with release.json.") from None

    def __repr__(self):
        return f"<tandem.Release {self.document.get('mechanism')!r}, {self.guarantee}>"

    guarantee = property(lambda self: self.document["guarantee"])
    steps = property(lambda self: self.document.get("steps", []))
    warnings = property(lambda self: self.document.get("warnings", []))

    @property
    def rows(self):
        """The rows that were made, as a dict of lists of text; empty cells are ''."""
        with open(self.path / "synthetic.csv", encoding="utf-8", newline="") as file:
            names, *rows = csv.reader(file)
        return {name: [row[at] for row in rows] for at, name in enumerate(names)}

    @property
    def measurements(self):
        """The files with the noisy measurements."""
        return sorted(self.path.glob("measurements*"))

    def sample(self, rows, *, seed=None, public=None):
        """Other rows from the same model, at no cost; a certified error does not apply to them."""
        from ._api import refit
        return refit(self, rows=rows, seed=seed, public=public).rows

    def save(self, path):
        if os.path.exists(path):
            raise UsageError(f"{path} exists; choose another folder.")
        shutil.copytree(self.path, path)


class Ledger:
    """The budget of one private data set, over all its releases."""

    def __init__(self, path):
        self.path = os.fspath(path)

    @classmethod
    def create(cls, path, *, dataset, epsilon, delta=1e-9, neighbors="replace-one",
               rows_per_person=1):
        call("tandem_ledger_create",
             {"ledger": os.fspath(path), "dataset": dataset, "epsilon": float(epsilon),
              "delta": float(delta), "neighbors": neighbors, "rows-per-person": rows_per_person})
        return cls(path)

    @classmethod
    def open(cls, path):
        ledger = cls(path)
        ledger.show()
        return ledger

    def show(self):
        return call("tandem_ledger_show", {"ledger": self.path})

    def verify(self, anchors=()):
        return call("tandem_ledger_verify", {"ledger": self.path, "anchors": list(anchors)})


def temporary_release():
    """A folder that lives as long as the release that holds it, and where the release is to lie."""
    keep = tempfile.TemporaryDirectory(prefix="tandem-release-")
    return keep, os.path.join(keep.name, "release")
