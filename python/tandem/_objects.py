# SPDX-License-Identifier: Apache-2.0
"""Schemas, releases and ledgers."""

import json
import os
import pathlib
import shutil
import tempfile
import weakref

from ._arguments import number, path_of, whole
from ._blocks import Encoder
from ._columns import columns_of_schema
from ._errors import SourceError, UsageError
from ._frames import sources
from ._library import call
from ._numbers import answers_of, marginal_of, read_answers
from ._origin import remembered, tables_of
from ._rows import Rows, html_table, read_texts
from ._tables import Shape, is_path, is_spark, table_of
from ._texts import written
from ._workload import workload_spec


class Column:
    """One column of a schema: its keys (docs/schema.md) as attributes, to read and to set. A key
    that is set to None is taken away."""

    def __init__(self, schema, keys):
        object.__setattr__(self, "_schema", schema)
        object.__setattr__(self, "keys", keys)

    def __getattr__(self, key):
        if key.startswith("_"):
            raise AttributeError(key)
        return self.keys.get(key)

    def __setattr__(self, key, value):
        if key in ("bins", "edges") and value is not None:  # one of the two
            self.keys.pop("edges" if key == "bins" else "bins", None)
        if value is None:
            self.keys.pop(key, None)
        else:
            self.keys[key] = value
        self._schema._changed = True

    def __repr__(self):
        return f"<tandem.Column {self.keys}>"


class Schema:
    """What the columns are. Public knowledge: a codebook's or public data's, never private data's.

    >>> import tandem
    >>> public = {"sex": ["F", "M"] * 1000, "income": list(range(0, 5000, 10)) * 4}
    >>> schema = tandem.Schema.draft(public)
    >>> schema.names
    ['sex', 'income']
    >>> schema["income"].max = 8000
    >>> schema["income"].bins = 20
    >>> schema["income"].kind
    'integer'
    """

    def __init__(self, text, doubts=(), suffix=".toml"):
        self._drafted = []  # tables in memory that it was drafted from, while they are there
        self._text = text
        self.doubts = list(doubts)  # what a draft was unsure of
        self._suffix = suffix
        self._document = None
        self._changed = False

    @classmethod
    def draft(cls, public, *, codebook=None, ranges=16):
        """A schema from PUBLIC data, to be read and edited."""
        with sources() as held:
            request = {"public": held.public(public), "ranges": ranges, "tables": tables_of(public)}
            if codebook is not None:
                request["codebook"] = os.fspath(codebook)
            answer = call("tandem_draft_schema", request, held.names)
        found = cls(answer["toml"], answer["doubts"])
        found._drafted = [remembered(one) for one in (
            public if isinstance(public, (list, tuple)) else [public])]
        return found

    @classmethod
    def read(cls, path):
        path = pathlib.Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise SourceError(f"{path} can't be read ({error.strerror}); check the path.") from None
        return cls(text, suffix=path.suffix or ".json")

    @property
    def document(self):
        """The schema's content: a dict with its columns, rules and relations."""
        if self._document is None:
            with sources() as held:
                path = held.temporary("schema" + self._suffix, "the schema")
                pathlib.Path(path).write_text(self._text, encoding="utf-8")
                self._document = call("tandem_schema", {"schema": path}, held.names)["schema"]
        return self._document

    @property
    def text(self):
        """As a file has it: as it was read, or written anew once a column was changed."""
        return written(self.document, self._suffix) if self._changed else self._text

    @property
    def names(self):
        return list(columns_of_schema(self.document))

    @property
    def rules(self):
        """What cannot occur: a dict for each rule."""
        return self.document.get("rules", self.document.get("rule", []))

    @property
    def domain(self):
        """How many codes each column has, by its name."""
        told = Encoder({"schema": self.text, "kind": "toml" if self._suffix == ".toml" else "json",
                        "person": ""}).told
        return dict(zip(told["names"], told["sizes"]))

    def __getitem__(self, name):
        listed = self.document.get("columns", self.document.get("column"))
        for keys in listed if isinstance(listed, list) else []:
            if keys.get("name") == name:
                return Column(self, keys)
        raise KeyError(name)

    def save(self, path):
        """Writes the schema: TOML where the name ends in .toml, else JSON. Comments of a draft stay
        until a column is changed."""
        path = pathlib.Path(path)
        same = (path.suffix == ".toml") == (self._suffix == ".toml")
        text = self.text if same else written(self.document, path.suffix)
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise SourceError(f"{path} can't be written ({error.strerror}); check the path.") from None

    def __getstate__(self):
        # What it was drafted from stays here; its text remembers the digests.
        return {**self.__dict__, "_drafted": []}

    def check(self, frame, **more):
        """tandem.check of private rows. INTERNAL."""
        from ._api import check
        return check(frame, schema=self, **more)

    def __repr__(self):
        return f"<tandem.Schema of {', '.join(self.names)}>"

    def _repr_html_(self):
        columns = columns_of_schema(self.document).values()
        return html_table(["column", "kind", "described as"],
                          [[one.name, one.kind, {key: value for key, value in one.keys.items()
                                                 if key not in ("name", "kind")}]
                           for one in columns])


def schema_path(schema, held):
    if is_path(schema):
        return os.fspath(schema)
    if not isinstance(schema, Schema):
        raise UsageError("schema is neither a tandem.Schema nor a path; give one of them.")
    path = held.temporary("schema" + schema._suffix, "the schema")
    pathlib.Path(path).write_text(schema.text, encoding="utf-8")
    return path


def schema_document(path, names=None):
    """The content of the schema at a path."""
    return call("tandem_schema", {"schema": path}, names)["schema"]


def schema_columns(path, names=None):
    """What it says of its columns."""
    return columns_of_schema(schema_document(path, names))


class Release:
    """A release folder. Everything in it may be published."""

    def __init__(self, path, _keep=None, _shape=None):
        self.path = pathlib.Path(path)
        self._keep = _keep  # a temporary folder, gone with this object
        self._shape = _shape
        self._elsewhere = None  # how many rows executors make; None: those in the folder
        try:
            self.document = json.loads((self.path / "release.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise UsageError(f"{self.path} is not a release; name a folder with release.json.") from None

    guarantee = property(lambda self: self.document["guarantee"])
    steps = property(lambda self: self.document.get("steps", []))
    warnings = property(lambda self: self.document.get("warnings", []))
    certified_error = property(lambda self: self.document.get("certified_error"))

    @property
    def stamp(self):
        """'NOT PRIVATE (seeded)' of a seeded release, else empty."""
        return self.document.get("stamp", "")

    @property
    def schema(self):
        return Schema.read(next(self.path.glob("schema.*")))

    def _rows(self):
        document = self.schema.document
        text_format = {**document.get("csv", {}), **self.document.get("text", {})}
        try:
            names, texts = read_texts(self.path / "synthetic.csv", text_format)
        except OSError:
            raise UsageError(f"{self.path} holds no rows; it is a release of answers.") from None
        return Rows(names, texts, columns_of_schema(document), text_format.get("decimal", "."),
                    self._shape)

    @property
    def rows(self):
        """The rows that were made: a frame of the kind that came in, or tandem's own Rows (with
        to_pandas, to_polars, to_arrow, to_dict) where a file or a query was given."""
        if self._shape is not None and self._shape.kind == "spark":
            return self.to_spark(self._shape.session, self._elsewhere)
        return self._rows().frame()

    def to_pandas(self):
        return self._rows().to_pandas()

    def to_polars(self):
        return self._rows().to_polars()

    def to_arrow(self):
        return self._rows().to_arrow()

    def to_parquet(self, path):
        self._rows().to_parquet(path)

    def to_spark(self, spark, rows=None, *, seed=None):
        """A Spark DataFrame: the rows that were made, or with `rows` so many others, made on the
        executors when the DataFrame is used. A certified error does not apply to those."""
        from ._spark import made, rows_of_release
        if rows is None:
            return rows_of_release(self, spark)
        if seed is None and self.document.get("seeded"):
            seed = 1
        return made(self, spark, rows, seed)

    def like(self, frame):
        """This release, with rows in the types of that frame's columns where these hold all that the
        schema allows. Rows otherwise have types that follow from the schema. A frame that was read
        from private rows tells something by its types: one cell that is no number makes a column of
        text. Name one whose types you declared, or do not hand the types on."""
        from ._spark import shape_like
        shape = shape_like(frame) if is_spark(frame) else None
        if shape is None:
            table = table_of(frame, "like")
            shape = Shape(table.kind, table.types)
        found = Release(self.path, self._keep, shape)
        found._elsewhere = self._elsewhere
        return found

    @property
    def measurements(self):
        """The files with the noisy measurements."""
        return sorted(self.path.glob("measurements*"))

    @property
    def answers(self):
        """Of a release of answers: query, estimate, stddev and a 95% interval, in rows."""
        path = self.path / "answers.csv"
        if not path.exists():
            raise UsageError(f"{self.path} is a release of rows; ask it with answer(workload).")
        return read_answers(path).frame(self._shape)

    def marginal(self, columns, *, model=False):
        """How many rows of the private table have each combination of values of these columns:
        estimate, stddev and a 95% interval, by least squares over all that was measured. Where that
        does not tell, or with model=True, the estimate is the model's, which is often nearer and
        can't say how near: stddev and interval are then empty. Free."""
        return marginal_of(self.path, columns, model).frame(self._shape)

    def answer(self, workload, *, model=False):
        """Answers to any workload of marginals and products, in the same way. Free."""
        with sources() as held:
            return answers_of(self.path, workload_spec(workload, held), model,
                              names=held.names).frame(self._shape)

    def sample(self, rows, *, where=None, seed=None, public=None):
        """Other rows from the same model, at no cost; a certified error does not apply to them. Of a
        seeded release they are the same each time."""
        from ._api import refit
        rows = whole(rows, "rows", 1)
        if seed is None and self.document.get("seeded"):
            seed = 1
        return refit(self, rows=rows, where=where, seed=seed, public=public).rows

    def refit(self, **more):
        """tandem.refit of this release."""
        from ._api import refit
        return refit(self, **more)

    def save(self, path):
        if os.path.exists(path):
            raise UsageError(f"{path} exists; choose another folder.")
        shutil.copytree(self.path, path)

    def _told(self):
        told = self.guarantee
        lines = [("mechanism", self.document.get("mechanism")),
                 ("guarantee", f"epsilon {told['epsilon']:g}, delta {told['delta']:g}, "
                               f"{told['neighbors']}, {told['rows_per_person']} row(s) a person"),
                 ("rows", self.document["rows"]) if "rows" in self.document else
                 ("answers", self.document.get("answers", 0))]
        if self.stamp:
            lines.insert(0, ("stamp", self.stamp))
        if self.certified_error:
            lines.append(("certified error", f"at most {self.certified_error['at_most']:.3f}, with "
                                             f"probability {self.certified_error['confidence']:g}"))
        return lines + [("warning", one["text"]) for one in self.warnings]

    def __repr__(self):
        return "<tandem.Release: " + "; ".join(f"{key} {value}" for key, value in self._told()) + ">"

    def _repr_html_(self):
        return html_table(["release", ""], self._told())


class Ledger:
    """The budget of one private data set, over all its releases."""

    def __init__(self, path):
        self.path = path_of(path, "ledger")

    @classmethod
    def create(cls, path, *, dataset, epsilon, delta=1e-9, neighbors="replace-one",
               rows_per_person=1):
        call("tandem_ledger_create",
             {"ledger": path_of(path, "ledger"), "dataset": dataset,
              "epsilon": number(epsilon, "epsilon"), "delta": number(delta, "delta"),
              "neighbors": neighbors, "rows-per-person": rows_per_person})
        return cls(path)

    @classmethod
    def open(cls, path):
        ledger = cls(path)
        ledger.show()
        return ledger

    def show(self):
        """What was spent, and what is left."""
        return call("tandem_ledger_show", {"ledger": self.path})

    def verify(self, anchors=()):
        return call("tandem_ledger_verify", {"ledger": self.path, "anchors": list(anchors)})

    def __repr__(self):
        return f"<tandem.Ledger {self.path!r}>"

    def _repr_html_(self):
        told = self.show()
        limit, left = told["limit"], told["left"]
        lines = [("data set", told["dataset"]),
                 ("limit", f"epsilon {limit['epsilon']:g}, delta {limit['delta']:g}"),
                 ("spent or reserved", f"epsilon {told['total']['epsilon']:.4g}"),
                 ("left", f"a run of epsilon {left['epsilon']:.4g}, or a pure one of epsilon "
                          f"{left['pure_epsilon']:.4g}")]
        runs = [[run["time"], run["label"], run["mechanism"], run["state"]] for run in told["runs"]]
        return html_table(["ledger", self.path], lines) + (
            html_table(["run", "release", "mechanism", "state"], runs) if runs else "")


class TemporaryFolder:
    """A folder that goes with this object, unless it is told to stay."""

    def __init__(self):
        self.name = tempfile.mkdtemp(prefix="tandem-release-")  # mode 0700
        self._gone = weakref.finalize(self, shutil.rmtree, self.name, True)

    def stay(self):
        self._gone.detach()


def temporary_release():
    """A folder that lives as long as the release that holds it, and where the release is to lie."""
    keep = TemporaryFolder()
    return keep, os.path.join(keep.name, "release")
