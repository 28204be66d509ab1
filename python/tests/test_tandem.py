# SPDX-License-Identifier: Apache-2.0
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading

import pandas
import polars
import pyarrow
import pyarrow.csv
import pytest

import tandem
from tandem import _frames, _library

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "build" / "sample"
SCHEMA = ROOT / "examples" / "population" / "schema.toml"
PRIVATE, PUBLIC = SAMPLE / "private.csv", SAMPLE / "public.csv"
SMALL = {"a": [0, 1, 1] * 50, "b": [1, 0, None] * 50}


def small_schema():
    return tandem.Schema.draft({"a": [0, 1, 0, 1], "b": [1, 0, 1, 0]})


def small(frame=SMALL, **more):
    given = dict(epsilon=1, schema=small_schema(), mechanism="independent", seed=1)
    given.update(more)
    return tandem.synthesize(frame, **given)


def as_text(path):
    return pandas.read_csv(path, dtype=str, keep_default_na=False)


FRAMES = {
    "path": lambda path: path,
    "pandas_text": as_text,
    "pandas": pandas.read_csv,
    "polars": lambda path: polars.from_pandas(as_text(path)),
    "pyarrow": lambda path: pyarrow.Table.from_pandas(as_text(path), preserve_index=False),
    "dict": lambda path: as_text(path).to_dict("list"),
}


@pytest.fixture(scope="module")
def from_command(tmp_path_factory):
    out = tmp_path_factory.mktemp("command") / "release"
    subprocess.run([ROOT / "build" / "release" / "tandem", "synth", "--private", PRIVATE, "--public",
                    PUBLIC, "--schema", SCHEMA, "--epsilon", "1", "--mechanism", "mst", "--seed",
                    "5", "--out", out, "--quiet"], check=True, capture_output=True)
    return out


@pytest.mark.parametrize("kind", FRAMES)
def test_a_seeded_release_is_the_command_lines(kind, from_command, tmp_path):
    release = tandem.synthesize(FRAMES[kind](PRIVATE), public=FRAMES[kind](PUBLIC), schema=SCHEMA,
                                epsilon=1, mechanism="mst", seed=5, out=tmp_path / "out")
    assert release.measurements
    for file in [pathlib.Path("synthetic.csv"), *release.measurements]:
        assert (release.path / file.name).read_bytes() == (from_command / file.name).read_bytes()


def test_a_release_has_rows_guarantee_and_samples(tmp_path):
    release = small()
    assert list(release.rows) == ["a", "b"] and len(release.rows["a"]) == 150
    assert release.guarantee["epsilon"] == 1 and release.steps
    assert len(release.sample(7)["a"]) == 7
    release.save(tmp_path / "kept")
    assert tandem.open_release(tmp_path / "kept").rows.to_dict() == release.rows
    with pytest.raises(tandem.UsageError, match="exists"):
        release.save(tmp_path / "kept")


@pytest.mark.parametrize("frame, said", [
    ({"a": []}, "is empty"), ({}, "is empty"), ({"a": [1], "b": [1, 2]}, "different lengths"),
    (polars.DataFrame({"a": [[1]], "b": [0]}), "column 'a' of lists"),
    (pyarrow.table({"a": [{"x": 1}], "b": [0]}), "column 'a' of structs"),
    (polars.LazyFrame({"a": [1]}), "collect"), (7, "builtins.int"),
    (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "two columns named 'a'"),
    ({"a": [0, 1]}, "b"),
])
def test_bad_frames_are_one_sentence(frame, said):
    with pytest.raises(tandem.Error) as caught:
        small(frame)
    message = str(caught.value)
    assert said in message and "\n" not in message and "/tandem-" not in message


def test_errors_are_typed_and_name_no_flags():
    for more in ({"epsilon": -1}, {"mechanism": "mst", "parameters": {"no-such": 1}},
                 {"mechanism": "nothing"}, {"rows_per_person": 0}):
        with pytest.raises(tandem.UsageError) as caught:
            small(**more)
        assert "--" not in str(caught.value)
    with pytest.raises(tandem.Error):
        tandem.Ledger.open("no-such.ledger")


def test_no_file_of_private_rows_is_anywhere(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(tandem.Error):
        small(epsilon=-1)
    with _frames.sources() as held:
        path = held.private(SMALL, {})
        assert path.startswith("/proc/self/fd/") and os.listdir(tmp_path) == []
        large = _frames.Nameless(10)
        large.write(b"0123456789abc")
        assert large.on_disk and pathlib.Path(large.path()).read_bytes() == b"0123456789abc"
        assert os.listdir(tmp_path) == []
        large.file.close()
    assert not [name for name in os.listdir(tmp_path) if "release" not in name]


def test_a_ledger_is_charged_and_refuses(tmp_path):
    ledger = tandem.Ledger.create(tmp_path / "l", dataset="d", epsilon=1)
    small(ledger=ledger, seed=None)
    assert ledger.show() and tandem.Ledger.open(tmp_path / "l").verify()
    with pytest.raises(tandem.BudgetError):
        small(ledger=ledger, seed=None)


def test_evaluate_check_and_mechanisms():
    release = small()
    with pytest.raises(tandem.UsageError, match="internal=True"):
        tandem.evaluate(SMALL, release, schema=small_schema())
    assert "avg_workload_error" in tandem.evaluate(SMALL, release, schema=small_schema(),
                                                   internal=True)
    assert "check" in tandem.check(SMALL, schema=small_schema())
    assert "independent" in str(tandem.mechanisms())


def test_a_synthesizer_refuses_to_spend_twice():
    synthesizer = tandem.Synthesizer("independent", epsilon=1, schema=small_schema(), seed=1)
    assert synthesizer.fit(SMALL) is synthesizer
    assert len(synthesizer.sample(3)["a"]) == 3
    with pytest.raises(tandem.UsageError, match="again=True"):
        synthesizer.fit(SMALL)


def test_an_exception_in_progress_and_ctrl_c_reach_the_caller():
    def fail(event):
        raise KeyError("mine")

    with pytest.raises(KeyError):
        small(progress=fail)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(100):
            tandem.synthesize(PRIVATE, public=PUBLIC, schema=SCHEMA, epsilon=1, seed=1)


# What a parameter of the header is for ctypes.
SPELLED = {"const char*": ctypes.c_char_p, "const char* const*": ctypes.POINTER(ctypes.c_char_p),
           "uint64_t": ctypes.c_uint64, "uint64_t*": _library.WORDS, "const uint64_t*": _library.WORDS,
           "int64_t*": ctypes.POINTER(ctypes.c_int64), "char**": _library.PLACE,
           "tandem_encoder**": _library.PLACE, "tandem_counter**": _library.PLACE,
           "tandem_count": _library.COUNT}


def test_signatures_are_the_headers():
    header = " ".join((ROOT / "apps" / "c" / "tandem_c.h").read_text().split())
    calls = re.findall(r"int (tandem_\w+)\( ?const char\* request, tandem_task\* task, "
                       r"char\*\* answer\);", header)
    assert sorted(calls) == sorted(_library.CALLS)
    blocks = re.findall(r"C_API int (tandem_(?:encode|encoder_new|bound_\w+|counter_\w+|make_rows|"
                        r"synthesize_counted))\((.*?)\);", header)
    assert sorted(name for name, _ in blocks) == sorted(_library.BLOCKS)
    for name, parameters in blocks:
        types = [re.sub(r" \w+$", "", one.strip()) for one in parameters.split(",")]
        assert types[-1] == "char**"
        assert [SPELLED.get(one, ctypes.c_void_p) for one in types[:-1]] == _library.BLOCKS[name], name
    assert ("int tandem_synthesize_stream(const char* request, tandem_task* task, tandem_open_stream "
            "open, void* user, char** answer);") in header
    assert f"#define TANDEM_C_VERSION {_library.VERSION}" in header
