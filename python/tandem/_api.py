# SPDX-License-Identifier: Apache-2.0
"""The functions."""

import csv
import json
import os
import pathlib
import subprocess

from ._arguments import listed, number, path_of, whole
from ._arrow import opener
from ._columns import columns_of_schema
from ._errors import EXIT_CODES, UsageError, sentence
from ._evaluation import Evaluation
from ._frames import PRIVATE, sources
from ._library import call, command, library
from ._objects import (Ledger, Release, schema_columns, schema_document, schema_path,
                       temporary_release)
from ._origin import refuse_private_as_public, refuse_schema_of_private
from ._plan import Plan
from ._rows import html_table
from ._tables import is_csv_path, is_spark
from ._workload import workload_spec

# How private rows are handed over, whatever a schema says of its files: a row is a record.
AS_WRITTEN = {"encoding": "utf-8", "delimiter": ",", "decimal": ".", "records": "quoted"}


def version():
    """The version of the library, such as '0.1.0'."""
    return library().tandem_version().decode()


def mechanisms():
    """What can run, with its guarantee, its parameters and its paper.

    >>> import tandem
    >>> "mst" in [one["name"] for one in tandem.mechanisms()["mechanisms"]]
    True
    """
    return call("tandem_mechanisms", {})


def open_release(path):
    """A release that lies in a folder."""
    return Release(path)


def known_columns(schema, public_paths, private, held):
    """What is known of the columns before private rows are written; nothing is needed for a file."""
    if is_csv_path(private):
        return None
    if schema is not None:
        return schema_columns(schema, held.names)
    if not public_paths:
        raise UsageError("schema is missing; give one, or public data to draft it from.")
    draft = call("tandem_draft_schema", {"public": public_paths}, held.names)["toml"]
    path = held.drafted = held.temporary("drafted.toml", "the drafted schema")
    pathlib.Path(path).write_text(draft, encoding="utf-8")
    return schema_columns(path, held.names)


def described(private, public, schema, held, private_as_public=False):
    """Paths of the schema and of public tables, and what is known of the columns. Refuses private rows
    as public ones."""
    path = None if schema is None else schema_path(schema, held)
    document = None if path is None else schema_document(path, held.names)
    if not private_as_public:
        refuse_private_as_public(private, public)
        refuse_schema_of_private(private, schema, document)
    columns = None if document is None else columns_of_schema(document)
    public_paths = held.public(public, columns=columns)
    return path, public_paths, known_columns(path, public_paths, private, held)


def opened(private, public, schema, held, private_as_public=False):
    """Paths of private rows, public tables and the schema, in the order in which they can be
    written: the schema says how cells are meant."""
    path, public_paths, known = described(private, public, schema, held, private_as_public)
    return held.private(private, known), public_paths, path


def settings_of(held, *, epsilon, delta, mechanism, workload, rows, neighbors, rows_per_person,
                certify_share, make, private, public_paths, schema_path, parameters, ledger,
                optional):
    """The settings of a run, as a configuration file has them."""
    settings = {"private": private, "public": public_paths, "delta": number(delta, "delta"),
                "mechanism": mechanism, "workload": workload_spec(workload, held),
                "rows": whole(rows, "rows"), "neighbors": neighbors,
                "rows-per-person": rows_per_person,
                "certify-share": number(certify_share, "certify_share"), "make": make}
    if epsilon is not None:
        settings["epsilon"] = number(epsilon, "epsilon")
    if schema_path is not None:
        settings["schema"] = schema_path
    if parameters:
        settings["param"] = dict(parameters)
    if ledger is not None:
        settings["ledger"] = ledger.path if isinstance(ledger, Ledger) else path_of(
            ledger, "ledger", "a tandem.Ledger or its path")
    for key, value in optional.items():
        if value is not None:
            settings[key] = value
    return settings


def foresee(request, names):
    """Whatever can be known to be wrong with a run is said before its rows are looked at. Of a run
    that goes on, its record says more than this call."""
    if not request["resume"]:
        call("tandem_foresee", {key: request[key] for key in ("settings", "threads", "force")}, names)


def run(private, public, schema, out, *, person, neighbors, seed, memory_limit, threads, force, resume,
        progress, private_as_public, target_error=None, coded=None, **more):
    """A release of rows or of answers."""
    keep, on_cluster, elsewhere = None, is_spark(private), more["rows"] == "spark"
    if not on_cluster and (coded is not None or elsewhere):
        raise UsageError(f"{'coded' if coded is not None else 'rows'} is of a Spark DataFrame, and the "
                         "private data is none; leave it out.")
    if elsewhere:
        more["rows"] = 0
    with sources() as held:
        path, public_paths, known = described(private, public, schema, held, private_as_public)
        if resume and target_error is not None:
            more["epsilon"] = None  # it was found when the run began, and stands in its record
        settings = settings_of(held, private=os.fspath(private) if is_csv_path(private) else
                               PRIVATE, public_paths=public_paths, schema_path=path,
                               neighbors=neighbors,
                               optional={"person": person, "seed": seed,
                                         "memory-limit": memory_limit,
                                         "private-as-public": private_as_public or None}, **more)
        if not is_csv_path(private):
            settings.update(AS_WRITTEN)
        if target_error is not None and not resume:
            settings["epsilon"] = call("tandem_epsilon_for_error",
                                       {"settings": settings, "threads": threads,
                                        "target-error": number(target_error, "target_error")},
                                       held.names)["epsilon"]
        if out is None:
            keep, settings["out"] = temporary_release()
        else:
            settings["out"] = path_of(out, "out")
        request = {"settings": settings, "threads": threads, "force": force, "resume": resume}
        how = None
        if on_cluster:
            foresee(request, held.names)
        else:
            how, rows = held.rows(private, known, [person] if person else [],
                                  person is not None or neighbors != "replace-one",
                                  lambda: foresee(request, held.names))
        try:
            if on_cluster:
                from . import _spark
                answer, held.shape = _spark.synthesize(
                    private, request, path or held.drafted, known, coded=coded, names=held.names,
                    progress=progress)
            elif how == "stream":
                request["stream"] = {"rows": rows.rows, "how": rows.how, "again": rows.again,
                                     "files": rows.files}
                answer = call("tandem_synthesize_stream", request, held.names, progress, opener(rows))
            else:
                if how == "hidden":
                    request["hidden"] = rows
                answer = call("tandem_synthesize", request, held.names, progress)
        except BaseException:
            # What was drawn is paid for: a run that can go on keeps its folder.
            if keep is not None and os.path.exists(settings["out"] + ".partial"):
                keep.stay()
            raise
        shape = held.shape
    release = Release(answer["out"], keep, shape)
    if elsewhere:
        release._elsewhere = max(1, round(release.document["total"]))
    return release


def synthesize(private, *, epsilon, delta=1e-9, public=None, schema=None, mechanism="auto",
               workload="all-3way", parameters=None, rows=0, neighbors="replace-one",
               rows_per_person=1, person=None, certify_share=0.03, ledger=None, out=None, seed=None,
               memory_limit=None, threads=0, force=False, resume=False, progress=None, coded=None,
               private_as_public=False):
    """A release. `private` and `public` are frames (pandas, polars, pyarrow, DuckDB, Spark), dicts of
    lists, paths of CSV or Parquet files, or a tandem.source. Without `out` the release lies in a
    temporary folder until it is saved. `progress` is True, or is called with each event. A `seed`
    is for tests and research: the release is stamped NOT PRIVATE. Of a Spark DataFrame, `coded` is a
    folder of the cluster that keeps private rows as codes for the time of the run, and rows="spark"
    has rows made by the executors (docs/scale.md). Private rows as public data, or a schema that was
    drafted from them, are refused unless `private_as_public`, which stamps the release NOT PRIVATE. A
    run that goes on (`resume`) knows a private file again by its size and time; of frames and queries it
    takes your word that they are the same.

    >>> import tandem
    >>> people = {"sex": ["F", "M"] * 100, "age": list(range(50)) * 4}
    >>> schema = tandem.Schema.draft({"sex": ["F", "M"], "age": [0, 99]})
    >>> release = tandem.synthesize(people, schema=schema, epsilon=1)
    >>> release.guarantee["epsilon"], len(release.rows["sex"])
    (1.0, 200)
    """
    return run(private, public, schema, out, make="rows", epsilon=epsilon, delta=delta,
               mechanism=mechanism, workload=workload, parameters=parameters, rows=rows,
               neighbors=neighbors, rows_per_person=rows_per_person, person=person,
               certify_share=certify_share, ledger=ledger, seed=seed, memory_limit=memory_limit,
               threads=threads, force=force, resume=resume, progress=progress,
               coded=coded, private_as_public=private_as_public)


def answer(private, *, workload, epsilon=None, target_error=None, private_rows=0, delta=1e-9,
           public=None, schema=None, mechanism="auto", parameters=None, neighbors="replace-one",
           rows_per_person=1, person=None, ledger=None, out=None, seed=None, memory_limit=None,
           threads=0, force=False, resume=False, progress=None, coded=None, private_as_public=False):
    """A release of answers to a workload, each with a standard deviation and a 95% interval
    (docs/answers.md). With `target_error`, a share of about `private_rows` rows, epsilon is the least
    for which the answers are expected to be that near; an epsilon beside it is the most that may be
    spent.

    >>> import tandem
    >>> people = {"sex": ["F", "M"] * 100, "age": list(range(50)) * 4}
    >>> schema = tandem.Schema.draft({"sex": ["F", "M"], "age": [0, 99]})
    >>> release = tandem.answer(people, schema=schema, workload=tandem.Workload.from_marginals(
    ...     [["sex"]]), epsilon=1)
    >>> release.answers["query"]
    ['sex=F', 'sex=M', 'sex=other']
    """
    if epsilon is None and target_error is None and not resume:
        raise UsageError("epsilon is missing; give one, or a target_error.")
    return run(private, public, schema, out, make="answers", epsilon=epsilon, delta=delta,
               mechanism=mechanism, workload=workload, parameters=parameters, rows=private_rows,
               neighbors=neighbors, rows_per_person=rows_per_person, person=person,
               certify_share=0.03, ledger=ledger, seed=seed, memory_limit=memory_limit,
               threads=threads, force=force, resume=resume, progress=progress,
               target_error=target_error, coded=coded, private_as_public=private_as_public)


def plan(*, epsilon, private_rows=0, schema=None, public=None, delta=1e-9, mechanism="auto",
         workload="all-3way", parameters=None, neighbors="replace-one", rows_per_person=1,
         person=None, certify_share=0.03, ledger=None, answers=False, memory_limit=None, threads=0):
    """What a release would do, and what it would cost, for one epsilon or a list of them. Spends
    nothing, and there is no place for private data. `answers=True` plans tandem.answer.

    >>> import tandem
    >>> schema = tandem.Schema.draft({"sex": ["F", "M"], "age": [0, 99]})
    >>> planned = tandem.plan(schema=schema, private_rows=10_000, epsilon=[0.3, 1])
    >>> [one["epsilon"] for one in planned.rows], planned.rows[0]["noise"] > planned.rows[1]["noise"]
    ([0.3, 1.0], True)
    """
    epsilons = listed(epsilon)
    if not epsilons:
        raise UsageError("epsilon is an empty list; give one or more.")
    found = []
    with sources() as held:
        path = None if schema is None else schema_path(schema, held)
        columns = None if path is None else schema_columns(path, held.names)
        public_paths = held.public(public, columns=columns)
        for one in epsilons:
            settings = settings_of(held, epsilon=one, delta=delta, mechanism=mechanism,
                                   workload=workload, rows=private_rows, neighbors=neighbors,
                                   rows_per_person=rows_per_person, certify_share=certify_share,
                                   make="answers" if answers else "rows",
                                   private=PRIVATE, public_paths=public_paths,
                                   schema_path=path, parameters=parameters, ledger=ledger,
                                   optional={"person": person, "memory-limit": memory_limit,
                                             **AS_WRITTEN})
            found.append(call("tandem_plan", {"settings": settings, "threads": threads}, held.names))
            found[-1]["text"] = sentence(found[-1]["text"], held.names)
    return Plan(found, private_rows)


def refit(release, *, where=None, rows=0, max_model_mb=0, seed=None, public=None, out=None,
          memory_limit=None, threads=0, force=False, progress=None):
    """Another release from an existing one: more rows, or rows of a kind. Costs no privacy.

    >>> import tandem
    >>> schema = tandem.Schema.draft({"sex": ["F", "M"], "age": [0, 99]})
    >>> people = {"sex": ["F", "M"] * 100, "age": list(range(50)) * 4}
    >>> release = tandem.synthesize(people, schema=schema, epsilon=1)
    >>> set(tandem.refit(release, where="sex = F", rows=30).rows["sex"])
    {'F'}
    """
    keep, shape = None, None
    if isinstance(release, Release):
        shape, release = release._shape, release.path
    with sources() as held:
        request = {"release": path_of(release, "release"), "rows": whole(rows, "rows"),
                   "max-model-mb": number(max_model_mb, "max_model_mb"), "force": force,
                   "public": held.public(public), "threads": threads}
        for key, value in (("where", where), ("seed", seed), ("memory-limit", memory_limit)):
            if value is not None:
                request[key] = value
        if out is None:
            keep, request["out"] = temporary_release()
        else:
            request["out"] = path_of(out, "out")
        answer = call("tandem_refit", request, held.names, progress)
    return Release(answer["out"], keep, shape)


def evaluate(private, synthetic, *, schema=None, workload=None, group_by=(), threads=0,
             internal=False):
    """How far synthetic rows are from the real ones, as an Evaluation. INTERNAL: it looks into private
    data. The schema is the release's own unless another is given."""
    if not internal:
        raise UsageError("evaluate reveals private data to its caller; say internal=True, and keep "
                         "what it gives to yourself.")
    with sources() as held:
        if isinstance(synthetic, Release):
            schema = synthetic.schema if schema is None else schema
            synthetic = synthetic.path / "synthetic.csv"
        if schema is None:
            raise UsageError("schema is missing; give the one that the rows were made with.")
        given, rows, path = opened(private, synthetic, schema, held, private_as_public=True)
        request = {"real": given, "synthetic": rows[0], "schema": path,
                   "group-by": list(group_by), "threads": threads}
        if not is_csv_path(private):
            request.update(AS_WRITTEN)
        if workload is not None:
            request["workload"] = workload_spec(workload, held)
        return Evaluation(call("tandem_evaluate", request, held.names))


def check(private=None, *, schema, public=None, person=None, rows_per_person=1, threads=0):
    """Holds data against a schema. INTERNAL: for the steward alone. Gives {"wrong": whether
    something is, "text": for people, "check": for programs}."""
    with sources() as held:
        path = schema_path(schema, held)
        columns = schema_columns(path, held.names)
        request = {"private": [] if private is None else
                   [held.private(private, columns, also=[person] if person else [])],
                   "public": held.public(public, columns=columns), "schema": path,
                   "rows-per-person": rows_per_person, "threads": threads}
        if private is not None and not is_csv_path(private):
            request.update(AS_WRITTEN)
        if person is not None:
            request["person"] = person
        found = call("tandem_check", request, held.names)
        found["text"] = sentence(found["text"], held.names)
        return found


class Comparison:
    """What a comparison found. INTERNAL unless its table is published."""

    def __init__(self, path, document):
        self.path = pathlib.Path(path)
        self.document = document

    @property
    def rows(self):
        """A dict for each run."""
        with open(self.path / "results.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def frame(self):
        """The runs as a pandas frame."""
        import pandas
        return pandas.read_csv(self.path / "results.csv")

    @property
    def figure(self):
        """The figure, as SVG text."""
        return (self.path / "figure.svg").read_text(encoding="utf-8")

    def _repr_html_(self):
        rows = self.rows
        return self.figure + html_table(rows[0] if rows else [], [row.values() for row in rows])


def compare(private, *, mechanisms, epsilons, out, public=None, schema=None, delta=1e-9,
            neighbors="replace-one", rows_per_person=1, workload="all-3way", parameters=None,
            seeds=5, metric="avg", title=None, published=False, threads=0, force=False,
            resume=False, internal=False, private_as_public=False):
    """Mechanisms x epsilons x seeds on one table. INTERNAL: every run is judged on private data.
    Runs are processes of their own, apart from this one."""
    if not internal and not published:
        raise UsageError("compare reveals private data to its caller; say internal=True and keep "
                         "what it gives to yourself, or published=True of a public table.")
    with sources() as held:
        given, public_paths, path = opened(private, public, schema, held,
                                           private_as_public or published)
        flags = {"private": given, "mechanisms": ",".join(listed(mechanisms)),
                 "epsilons": ",".join(f"{number(one, 'epsilons'):.17g}" for one in listed(epsilons)),
                 "delta": repr(number(delta, "delta")),
                 "neighbors": neighbors, "rows-per-person": rows_per_person,
                 "workload": workload_spec(workload, held), "seeds": seeds, "metric": metric,
                 "out": path_of(out, "out"), "threads": threads, "schema": path, "title": title}
        if not is_csv_path(private):
            flags.update(AS_WRITTEN)
        told = [f"--{key}={value}" for key, value in flags.items() if value is not None]
        told += [f"--public={one}" for one in public_paths]
        told += [f"--param={key}={value}" for key, value in (parameters or {}).items()]
        told += [f"--{flag}" for flag, set_ in (("published", published), ("force", force),
                                                ("private-as-public", private_as_public),
                                                ("resume", resume)) if set_]
        done = subprocess.run([command(), "compare", *told, "--json"], capture_output=True, text=True,
                              pass_fds=[one.file.fileno() for one in held.nameless], check=False)
        if done.returncode != 0:
            said = [line for line in done.stderr.splitlines() if line.strip()] or ["It failed."]
            message = said[-1].removeprefix("tandem: ")
            raise EXIT_CODES.get(done.returncode, EXIT_CODES[1])(sentence(message, held.names))
    return Comparison(out, json.loads(done.stdout))
