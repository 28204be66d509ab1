# SPDX-License-Identifier: Apache-2.0
"""The functions."""

import os

from ._errors import UsageError
from ._frames import is_path, sources
from ._library import call, library
from ._objects import Ledger, Release, schema_path, temporary_release

# How the temporary file of a frame is written, whatever a schema says of the private file.
AS_WRITTEN = {"encoding": "utf-8", "delimiter": ",", "decimal": ".", "records": "lines"}


def version():
    return library().tandem_version().decode()


def mechanisms():
    """What can run, with its guarantee, its parameters and its paper."""
    return call("tandem_mechanisms", {})


def open_release(path):
    return Release(path)


def synthesize(private, *, epsilon, delta=1e-9, public=None, schema=None, mechanism="auto",
               workload="all-3way", parameters=None, rows=0, neighbors="replace-one",
               rows_per_person=1, person=None, certify_share=0.03, ledger=None, out=None, seed=None,
               memory_limit=None, threads=0, force=False, progress=None):
    """A release. Without `out` it lies in a temporary folder until it is saved. A `seed` is for tests
    and research: the release is stamped NOT PRIVATE."""
    keep = None
    with sources() as held:
        settings = {"private": held.path(private, "the private data", "private.csv"),
                    "public": held.paths(public, "the public data", "public"),
                    "epsilon": float(epsilon), "delta": float(delta), "mechanism": mechanism,
                    "workload": os.fspath(workload), "rows": rows, "neighbors": neighbors,
                    "rows-per-person": rows_per_person, "certify-share": float(certify_share)}
        if not is_path(private):
            settings.update(AS_WRITTEN)
        if schema is not None:
            settings["schema"] = schema_path(schema, held)
        if parameters:
            settings["param"] = dict(parameters)
        if ledger is not None:
            settings["ledger"] = ledger.path if isinstance(ledger, Ledger) else os.fspath(ledger)
        for key, value in (("person", person), ("seed", seed), ("memory-limit", memory_limit)):
            if value is not None:
                settings[key] = value
        if out is None:
            keep, settings["out"] = temporary_release()
        else:
            settings["out"] = os.fspath(out)
        answer = call("tandem_synthesize",
                      {"settings": settings, "threads": threads, "force": force}, held.names,
                      progress)
    return Release(answer["out"], keep)


def refit(release, *, where=None, rows=0, max_model_mb=0, seed=None, public=None, out=None,
          memory_limit=None, threads=0, force=False, progress=None):
    """Another release from an existing one: costs no privacy."""
    keep = None
    with sources() as held:
        request = {"release": str(release.path if isinstance(release, Release) else release),
                   "rows": rows, "max-model-mb": float(max_model_mb), "force": force,
                   "public": held.paths(public, "the public data", "public"), "threads": threads}
        for key, value in (("where", where), ("seed", seed), ("memory-limit", memory_limit)):
            if value is not None:
                request[key] = value
        if out is None:
            keep, request["out"] = temporary_release()
        else:
            request["out"] = os.fspath(out)
        answer = call("tandem_refit", request, held.names, progress)
    return Release(answer["out"], keep)


def evaluate(private, synthetic, *, schema, workload=None, group_by=(), threads=0, internal=False):
    """How far synthetic rows are from the real ones. INTERNAL: it looks into private data."""
    if not internal:
        raise UsageError("evaluate reveals private data to its caller; say internal=True, and keep "
                         "what it gives to yourself.")
    with sources() as held:
        if isinstance(synthetic, Release):
            synthetic = synthetic.path / "synthetic.csv"
        request = {"real": held.path(private, "the private data", "private.csv"),
                   "synthetic": held.path(synthetic, "the synthetic data", "synthetic.csv"),
                   "schema": schema_path(schema, held), "group-by": list(group_by),
                   "threads": threads}
        if not is_path(private):
            request.update(AS_WRITTEN)
        if workload is not None:
            request["workload"] = os.fspath(workload)
        return call("tandem_evaluate", request, held.names)


def check(private=None, *, schema, public=None, person=None, rows_per_person=1, threads=0):
    """Holds data against a schema. INTERNAL: for the steward alone."""
    with sources() as held:
        request = {"private": held.paths(private, "the private data", "private"),
                   "public": held.paths(public, "the public data", "public"),
                   "schema": schema_path(schema, held), "rows-per-person": rows_per_person,
                   "threads": threads}
        if private is not None and not is_path(private):
            request.update(AS_WRITTEN)
        if person is not None:
            request["person"] = person
        return call("tandem_check", request, held.names)
