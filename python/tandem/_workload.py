# SPDX-License-Identifier: Apache-2.0
"""Workloads: the queries that matter."""

import json
import os
import pathlib

from ._arguments import whole
from ._errors import SourceError, UsageError
from ._tables import is_path
from ._texts import toml_value, written


class Workload:
    """Which queries matter. Every call that takes `workload` takes one of these, a name such as
    'all-3way', or the path of a file (docs/formats.md).

    >>> import tandem
    >>> tandem.Workload.all_kway(2)
    <tandem.Workload all-2way>
    >>> yearly = tandem.Workload.from_marginals([["age", "sex"], ["sex", "region"]], weights=[2, 1])
    >>> yearly.save("yearly.toml")
    >>> tandem.Workload.read("yearly.toml").document == yearly.document
    True
    """

    def __init__(self, spec=None, document=None):
        self.spec = spec  # a name, or
        self.document = document  # the content of a file

    @classmethod
    def all_kway(cls, k):
        """All marginals of k columns."""
        return cls(f"all-{whole(k, 'k', 1)}way")

    @classmethod
    def random_kway(cls, k, count, seed=1):
        """So many marginals of k columns, the same for the same seed."""
        return cls(f"random-{whole(k, 'k', 1)}way:{whole(count, 'count', 1)}:{whole(seed, 'seed')}")

    @classmethod
    def ranges(cls, column, by=()):
        """Every range of values of an ordered column; with `by`, in every combination of values of
        these columns."""
        by = [by] if isinstance(by, str) else list(by)
        if not by:
            return cls(f"all-range:{column}")
        columns = {column: "ranges", **{one: "values" for one in by}}
        return cls(document={"format": 1, "groups": [
            {"name": f"{column} by {', '.join(by)}", "products": [{"columns": columns}]}]})

    @classmethod
    def from_marginals(cls, marginals, weights=None):
        """These marginals, each a list of columns."""
        listed = [[one] if isinstance(one, str) else list(one) for one in marginals]
        weights = [1] * len(listed) if weights is None else list(weights)
        if len(weights) != len(listed):
            raise UsageError("weights has another length than marginals; give one for each.")
        return cls(document={"format": 1, "marginals": [
            {"columns": columns, "weight": weight} for columns, weight in zip(listed, weights)]})

    @classmethod
    def read(cls, path):
        """From a JSON or TOML file, with groups and products or without; or a list of conjunctions
        (.txt), which stays where it is."""
        path = pathlib.Path(path)
        if path.suffix not in (".json", ".toml"):
            if not path.exists():
                raise SourceError(f"{path} can't be read (no such file); check the path.")
            return cls(str(path))
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise SourceError(f"{path} can't be read ({error.strerror}); check the path.") from None
        try:
            document = json.loads(text) if path.suffix == ".json" else toml(text)
        except ValueError:
            raise UsageError(f"{path} is no workload: it can't be read as "
                             f"{path.suffix[1:].upper()}.") from None
        if document is None:  # no TOML reader in this Python: the library has its own
            return cls(str(path))
        if isinstance(document, list):
            document = {"marginals": document}
        return cls(document=plural(document))

    def save(self, path):
        """Writes a file: TOML where the name ends in .toml, else JSON."""
        path = pathlib.Path(path)
        if self.document is None:
            raise UsageError(f"{self.spec} is a name and needs no file; give it as workload.")
        path.write_text(workload_toml(self.document) if path.suffix == ".toml" else
                        written(self.document, ".json"), encoding="utf-8")

    def __repr__(self):
        if self.spec is not None:
            return f"<tandem.Workload {self.spec}>"
        groups = self.document.get("groups")
        if groups:
            return f"<tandem.Workload of {', '.join(str(one.get('name')) for one in groups)}>"
        return f"<tandem.Workload of {len(self.document.get('marginals', []))} marginals>"


def toml(text):
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        return None
    return tomllib.loads(text)


def plural(document):
    """A file's content with the names of lists as JSON has them."""
    renamed = {{"marginal": "marginals", "group": "groups"}.get(key, key): value
               for key, value in document.items()}
    for group in renamed.get("groups", []):
        for one, many in (("marginal", "marginals"), ("product", "products")):
            if one in group:
                group[many] = group.pop(one)
    return renamed


def workload_toml(document):
    """As TOML: each group and each marginal a table of its own."""
    parts = [f"{key} = {toml_value(value)}\n" for key, value in document.items()
             if key not in ("groups", "marginals")]
    for one in document.get("marginals", []):
        one = one if isinstance(one, dict) else {"columns": one}
        parts.append("\n[[marginal]]\n" + "".join(
            f"{key} = {toml_value(value)}\n" for key, value in one.items()))
    for group in document.get("groups", []):
        parts.append("\n[[group]]\n" + "".join(
            f"{key} = {toml_value(value)}\n" for key, value in group.items()))
    return "".join(parts)


def workload_spec(workload, held):
    """A workload as the library takes it: a name, or a path."""
    if not isinstance(workload, Workload):
        if not is_path(workload):
            raise UsageError("workload is neither a tandem.Workload, a name nor a path; give one of "
                             "them.")
        return os.fspath(workload)
    if workload.document is None:
        return workload.spec
    path = held.temporary("workload.json", "the workload")
    pathlib.Path(path).write_text(written(workload.document, ".json"), encoding="utf-8")
    return path
