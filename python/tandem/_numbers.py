# SPDX-License-Identifier: Apache-2.0
"""Numbers with error bars, and models of measurements from elsewhere. Free: nothing private is read."""

import csv
import io
import itertools
import json
import os
import pathlib
import tempfile

from ._arguments import number, whole
from ._blocks import rows_of_model
from ._columns import columns_of_schema
from ._errors import UsageError
from ._library import call
from ._rows import Rows, html_table


class Numbers:
    """A table of numbers: `numbers["estimate"]`, `len(numbers)`, and a frame of your choice."""

    def __init__(self, columns):
        self._columns = columns

    columns = property(lambda self: list(self._columns))

    def __len__(self):
        return len(next(iter(self._columns.values()), []))

    def __getitem__(self, name):
        return self._columns[name]

    def to_dict(self):
        return dict(self._columns)

    def to_pandas(self):
        import pandas
        # No number is NaN, as everywhere in pandas; text stays as it is.
        return pandas.DataFrame({name: pandas.Series(values, dtype="float64")
                                 if name in NUMBERS else pandas.Series(values)
                                 for name, values in self._columns.items()})

    def to_polars(self):
        import polars
        return polars.DataFrame({name: polars.Series(name, values, dtype=polars.Float64)
                                 if name in NUMBERS else polars.Series(name, values)
                                 for name, values in self._columns.items()})

    def to_arrow(self):
        import pyarrow
        return pyarrow.table({name: pyarrow.array(values, pyarrow.float64())
                              if name in NUMBERS else pyarrow.array(values)
                              for name, values in self._columns.items()})

    def to_duckdb(self):
        import duckdb
        return duckdb.from_arrow(self.to_arrow())

    def frame(self, shape=None):
        """As the kind of frame that the private data was; of a file, these numbers themselves."""
        kind = shape.kind if shape is not None else None
        return {"pandas": self.to_pandas, "polars": self.to_polars, "pyarrow": self.to_arrow,
                "duckdb": self.to_duckdb, "dict": self.to_dict}.get(kind, lambda: self)()

    def __repr__(self):
        return f"<tandem.Numbers, {len(self):,} rows of {', '.join(self.columns)}>"

    def _repr_html_(self):
        rows = list(itertools.islice(zip(*self._columns.values()), 20))
        shown = [["" if cell is None else f"{cell:,.1f}" if isinstance(cell, float) else cell
                  for cell in row] for row in rows]
        return html_table(self.columns, shown) + f"<p>{len(self):,} rows</p>"


NUMBERS = ("estimate", "stddev", "ci95_low", "ci95_high")


def with_bars(estimates, stddevs, margins):
    bars = [margin is not None for margin in margins]
    return {"estimate": list(estimates), "stddev": list(stddevs),
            "ci95_low": [value - margin if told else None
                         for value, margin, told in zip(estimates, margins, bars)],
            "ci95_high": [value + margin if told else None
                          for value, margin, told in zip(estimates, margins, bars)]}


def marginal_of(folder, columns, model, memory_limit=None, threads=0):
    """One marginal as Numbers: a column for each of `columns`, in that order and the last one moving
    fastest, then the numbers."""
    wanted = [columns] if isinstance(columns, str) else list(columns)
    request = {"release": os.fspath(folder), "columns": wanted, "from-model": bool(model),
               "threads": threads}
    if memory_limit is not None:
        request["memory-limit"] = memory_limit
    answer = call("tandem_marginal", request)
    cells = list(itertools.product(*answer["labels"]))
    numbers = list(zip(answer["estimate"], answer["stddev"], answer["margin95"]))
    places = [answer["columns"].index(name) for name in wanted]
    if places != sorted(places):
        ranks = [{label: at for at, label in enumerate(labels)} for labels in answer["labels"]]
        order = sorted(range(len(cells)),
                       key=lambda at: [ranks[place][cells[at][place]] for place in places])
        cells, numbers = [cells[at] for at in order], [numbers[at] for at in order]
    found = {name: [cell[place] for cell in cells] for name, place in zip(wanted, places)}
    return Numbers({**found, **with_bars(*zip(*numbers))})


def answers_of(folder, workload, model, memory_limit=None, threads=0, names=None):
    request = {"release": os.fspath(folder), "workload": workload, "from-model": bool(model),
               "threads": threads}
    if memory_limit is not None:
        request["memory-limit"] = memory_limit
    answer = call("tandem_answers", request, names)
    return Numbers({"query": answer["query"], **with_bars(answer["estimate"], answer["stddev"],
                                                          answer["margin95"])})


def read_answers(path):
    """What answers.csv of a release holds."""
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        names = next(rows)
        columns = [list(column) for column in zip(*rows)] or [[] for _ in names]
    return Numbers({name: column if name == "query" else [float(cell) if cell else None
                                                          for cell in column]
                    for name, column in zip(names, columns)})


class Estimate:
    """A graphical model of noisy measurements. Nothing is known here of how they were made, so it has
    no guarantee of its own: that is whoever's who made them."""

    def __init__(self, keep, path, document):
        self._keep = keep
        self.path = pathlib.Path(path)
        self.document = document

    total = property(lambda self: self.document["total"])
    warnings = property(lambda self: self.document["warnings"])

    def marginal(self, columns, *, model=True):
        """Expected rows of each combination of values; with model=False what the measurements say by
        themselves, with error bars, where they do."""
        return marginal_of(self.path, columns, model)

    def answer(self, workload, *, model=True):
        from ._frames import sources
        from ._workload import workload_spec
        with sources() as held:
            return answers_of(self.path, workload_spec(workload, held), model, names=held.names)

    def sample(self, rows, *, seed=None, threads=0):
        """Rows drawn from the model, as tandem.Rows."""
        schema = (self.path / "schema.json").read_text(encoding="utf-8")
        made = rows_of_model((self.path / "model.bin").read_bytes(),
                             {"schema": schema, "kind": "json", "rows": whole(rows, "rows", 1),
                              "threads": threads, **({} if seed is None else {"seed": seed})})
        lines = csv.reader(io.StringIO(made.decode(), newline=""))
        names = next(lines)
        texts = [list(column) for column in zip(*lines)] or [[] for _ in names]
        return Rows(names, texts, columns_of_schema(json.loads(schema)))

    def __repr__(self):
        return (f"<tandem.Estimate of {self.total:,.0f} rows, a model of "
                f"{self.document['bytes'] / 1e6:.2g} MB>")


def estimate(domain, measurements, *, total=None, max_model_mb=80, memory_limit=None, threads=0):
    """The graphical model that fits noisy measurements of marginals best, as private-pgm estimates
    it. `domain` is a tandem.Schema, a path of one, a dict of sizes, or private-pgm's Domain;
    `measurements` are private-pgm's LinearMeasurement, its older tuples (Q, y, noise, columns), or
    tandem's own files (release.measurements). Queries are whole marginals, or matrices of whole
    numbers.

    >>> import tandem
    >>> model = tandem.estimate({"a": 2, "b": 3}, [(None, [60.0, 40.0], 1.0, ["a"]),
    ...                                            (None, [20.0, 30.0, 50.0], 1.0, ["b"])])
    >>> [round(value) for value in model.marginal(["a", "b"])["estimate"]]
    [12, 18, 30, 8, 12, 20]
    >>> len(model.sample(10))
    10
    """
    from ._frames import sources
    from ._objects import Schema, schema_path
    keep = tempfile.TemporaryDirectory(prefix="tandem-estimate-")
    out = os.path.join(keep.name, "estimate")
    with sources() as held:
        if isinstance(domain, (str, os.PathLike, Schema)):
            path = schema_path(domain, held)
        else:
            path = held.temporary("schema.json", "the domain")
            pathlib.Path(path).write_text(json.dumps(sizes_of(domain)), encoding="utf-8")
        document = call("tandem_schema", {"schema": path}, held.names)["schema"]
        listed = held.temporary("measurements.json", "measurements")
        pathlib.Path(listed).write_text(json.dumps(
            {"format": 1, "measurements": [found for one in listed_of(measurements)
                                           for found in plain_measurements(one, document)]}),
            encoding="utf-8")
        request = {"schema": path, "measurements": listed, "out": out, "threads": threads,
                   "total": number(total or 0.0, "total"),
                   "max-model-mb": number(max_model_mb, "max_model_mb")}
        if memory_limit is not None:
            request["memory-limit"] = memory_limit
        answer = call("tandem_estimate", request, held.names)
    return Estimate(keep, out, answer)


def sizes_of(domain):
    """{"column": size} of a dict, or of private-pgm's Domain."""
    if isinstance(domain, dict):
        return {name: int(size) for name, size in domain.items()}
    names = getattr(domain, "attributes", getattr(domain, "attrs", None))
    if names is None or not hasattr(domain, "shape"):
        raise UsageError("domain is neither a schema, a dict of sizes nor a Domain of private-pgm; "
                         "give one of them.")
    return {str(name): int(size) for name, size in zip(names, domain.shape)}


def listed_of(measurements):
    if isinstance(measurements, (str, os.PathLike)):
        return [measurements]
    return list(measurements)


def plain_measurements(one, document):
    """A measurement as measurements.json has it; of a file, all that it holds."""
    if isinstance(one, (str, os.PathLike)):
        return json.loads(pathlib.Path(one).read_text(encoding="utf-8"))["measurements"]
    if hasattr(one, "noisy_measurement"):
        matrix, values = None, one.noisy_measurement
        stddev, clique = one.stddev, one.clique
        query = getattr(one, "query", None)
        if query is not None and getattr(query, "__name__", "") not in ("datavector",):
            raise UsageError("measurements has one with a query of its own; give marginals, or tuples "
                             "with a matrix.")
    elif isinstance(one, tuple) and len(one) == 4:
        matrix, values, stddev, clique = one
    else:
        raise UsageError(f"measurements has a {type(one).__name__}; give LinearMeasurements or tuples "
                         "(Q, y, noise, columns).")
    clique = [clique] if isinstance(clique, str) else [str(name) for name in clique]
    sizes = domain_sizes(document)
    unknown = [name for name in clique if name not in sizes]
    if unknown:
        raise UsageError(f"measurements has one of column {unknown[0]!r}, which the domain lacks.")
    values = [float(value) for value in flat(values)]
    cells = 1
    for name in clique:
        cells *= sizes[name]
    rows = None if matrix is None else whole_rows(matrix, cells)
    if len(values) != (cells if rows is None else len(rows)):
        raise UsageError(f"measurements has one of {', '.join(clique)} with {len(values)} values, and "
                         f"{cells if rows is None else len(rows)} were expected.")
    order = [name for name in sizes if name in clique]
    if order != clique:
        place = moved_cells([sizes[name] for name in clique], [clique.index(name) for name in order])
        if rows is None:
            moved = [0.0] * cells
            for old, new in enumerate(place):
                moved[new] = values[old]
            values = moved
        else:
            rows = [sorted([place[cell], weight] for cell, weight in row) for row in rows]
    found = {"columns": order, "origin": "private", "noise": "gaussian", "stddev": float(stddev),
             "values": values}
    if rows is not None:
        found["map"] = {"unit": 1.0, "rows": rows}
    return [found]


def domain_sizes(document):
    """How many codes each column has, in the schema's order, from the library itself."""
    listed = document.get("columns", document.get("column"))
    if not isinstance(listed, list):
        return dict(document)
    raise_for = columns_of_schema(document)
    sizes = {name: column.keys.get("size") for name, column in raise_for.items()}
    unknown = [name for name, size in sizes.items() if size is None]
    if unknown:
        raise UsageError(f"domain has column {unknown[0]!r} without a size; give a dict of sizes for "
                         "measurements from elsewhere.")
    return sizes


def flat(values):
    values = values.tolist() if hasattr(values, "tolist") else list(values)
    while values and isinstance(values[0], list):
        values = [value for row in values for value in row]
    return values


def whole_rows(matrix, cells):
    """A matrix, dense or sparse, as [cell, coefficient] pairs of each row; None for the identity."""
    dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    dense = dense.tolist() if hasattr(dense, "tolist") else [list(row) for row in dense]
    rows = []
    for row in dense:
        if len(row) != cells:
            raise UsageError(f"measurements has a matrix with {len(row)} columns for {cells} cells.")
        if any(value != int(value) for value in row):
            raise UsageError("measurements has a matrix with other than whole numbers; scale it, and "
                             "its values and noise with it.")
        rows.append([[at, int(value)] for at, value in enumerate(row) if value != 0])
    if rows == [[[at, 1]] for at in range(cells)]:
        return None
    return rows


def moved_cells(sizes, order):
    """Where each cell of a table stands once its axes are in this order."""
    strides = [0] * len(sizes)
    step = 1
    for axis in reversed(order):
        strides[axis] = step
        step *= sizes[axis]
    return [sum(at * stride for at, stride in zip(cell, strides))
            for cell in itertools.product(*map(range, sizes))]
