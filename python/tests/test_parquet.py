# SPDX-License-Identifier: Apache-2.0
"""Parquet for the command, as pyarrow writes it: the release that Python makes of the same file, and
that of the CSV."""
import datetime
import json
import hashlib
import decimal
import os
import pathlib
import random
import subprocess

import pandas
import pyarrow
import pyarrow.parquet
import pytest

import tandem

COMMAND = pathlib.Path(tandem.__file__).resolve().parent / "bin" / "tandem"
ROWS = 3000
SCHEMA = """
[csv]
records = "quoted"
[[column]]
name = "age"
kind = "integer"
min = 0
max = 94
bins = 12
null = true
[[column]]
name = "income"
kind = "real"
min = 0.0
max = 100000.0
bins = 20
decimals = 2
null = true
[[column]]
name = "price"
kind = "real"
min = -5.0
max = 1000.0
bins = 10
decimals = 2
null = true
[[column]]
name = "day"
kind = "date"
pattern = "%d.%m.%Y"
min = "01.01.2000"
max = "31.12.2021"
bins = "year"
null = true
[[column]]
name = "moment"
kind = "date"
pattern = "%Y-%m-%d %H:%M"
min = "2000-01-01 00:00"
max = "2003-12-31 23:59"
bins = "quarter"
null = true
[[column]]
name = "paid"
kind = "boolean"
values = ["no", "yes"]
null = true
[[column]]
name = "word"
values = ["plain", "say \\"x\\"", "a,b", "two\\nlines", "Łódź ☃", "24"]
null = true
[[column]]
name = "code"
size = 4
"""


@pytest.fixture(scope="module")
def library():
    if not os.environ.get("TANDEM_DUCKDB"):
        pytest.skip("no DuckDB library: name a libduckdb.so in TANDEM_DUCKDB")


def cells():
    draw = random.Random(5)
    some = lambda make: [draw.choice([None, make(), make()]) for _ in range(ROWS)]
    return {
        "age": some(lambda: draw.randrange(95)),
        "income": some(lambda: draw.choice([float(draw.randrange(100000)), draw.random() * 1e5])),
        "price": some(lambda: decimal.Decimal(draw.randrange(-500, 99999)) / 100),
        "day": some(lambda: datetime.date(2000, 1, 1) + datetime.timedelta(draw.randrange(8000))),
        "moment": some(lambda: datetime.datetime(2000, 1, 1)
                       + datetime.timedelta(seconds=draw.randrange(10**8))),
        "paid": some(lambda: draw.choice([True, False])),
        "word": some(lambda: draw.choice(["plain", 'say "x"', "a,b", "two\nlines", "Łódź ☃", "24", ""])),
        "code": [draw.randrange(4) for _ in range(ROWS)],
        "who": [f"p{draw.randrange(900)}" for _ in range(ROWS)],
    }


PLAIN = {"age": pyarrow.int64(), "income": pyarrow.float64(), "price": pyarrow.decimal128(12, 2),
         "day": pyarrow.date32(), "moment": pyarrow.timestamp("us"), "paid": pyarrow.bool_(),
         "word": pyarrow.string(), "code": pyarrow.int8(), "who": pyarrow.string()}
OTHER = PLAIN | {"age": pyarrow.float32(), "price": pyarrow.decimal256(38, 4),
                 "day": pyarrow.timestamp("ms"), "moment": pyarrow.timestamp("ns"),
                 "word": pyarrow.dictionary(pyarrow.int16(), pyarrow.string()),
                 "code": pyarrow.uint64(), "who": pyarrow.large_string()}


def table(types):
    return pyarrow.table({name: pyarrow.array(values, type=PLAIN[name]).cast(types[name])
                          for name, values in cells().items()})


def command(*words):
    return subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    path = tmp_path_factory.mktemp("schema") / "schema.toml"
    path.write_text(SCHEMA)
    return path


def release(folder, source, schema, *more):
    out = folder / "release"
    done = command("synth", "--private", source, "--schema", schema, "--epsilon", 2, "--seed", 4,
                   "--mechanism", "mst", "--workload", "all-2way", "--out", out, "--force", *more)
    assert done.returncode == 0, done.stderr
    return [(out / name).read_bytes() for name in ("synthetic.csv", "measurements.json")]


def as_texts(path):
    """The same rows as a CSV file."""
    def text(name, value):
        if value is None:
            return ""
        if name == "paid":
            return "yes" if value else "no"
        if name == "day":
            return value.strftime("%d.%m.%Y")
        if name == "moment":
            return value.strftime("%Y-%m-%d %H:%M")
        return str(value)
    pandas.DataFrame({name: [text(name, value) for value in values]
                      for name, values in cells().items()}).to_csv(path, index=False)
    return path


def test_the_command_makes_of_parquet_what_it_makes_of_csv_and_python_makes_of_both(
        tmp_path, library, schema):
    wanted = release(tmp_path, as_texts(tmp_path / "rows.csv"), schema)
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(table(PLAIN), path, row_group_size=700)
    assert release(tmp_path, path, schema) == wanted
    made = tandem.synthesize(path, schema=schema, epsilon=2, seed=4, mechanism="mst",
                             workload="all-2way")
    assert [(made.path / name).read_bytes() for name in ("synthetic.csv", "measurements.json")] == wanted


@pytest.mark.parametrize("how", [
    {"compression": "none"}, {"compression": "gzip", "data_page_version": "2.0"},
    {"compression": "zstd", "use_dictionary": False, "version": "1.0"}, {"compression": "lz4"},
    {"compression": "brotli", "write_statistics": False, "store_schema": False}])
def test_however_it_is_written(tmp_path, library, schema, how):
    wanted = release(tmp_path, as_texts(tmp_path / "rows.csv"), schema, "--person", "who")
    pyarrow.parquet.write_table(table(PLAIN), tmp_path / "rows.parquet", **how)
    assert release(tmp_path, tmp_path / "rows.parquet", schema, "--person", "who") == wanted


def test_files_of_other_types_are_one_table(tmp_path, library, schema):
    wanted = release(tmp_path, as_texts(tmp_path / "rows.csv"), schema)
    for year in ("year=2020", "year=2021"):
        (tmp_path / "rows" / year).mkdir(parents=True)
    plain, other = table(PLAIN), table(OTHER)
    pyarrow.parquet.write_table(plain.slice(0, 1000), tmp_path / "rows/year=2020/part-0.parquet")
    pyarrow.parquet.write_table(other.slice(1000, 500).select(sorted(OTHER)),
                                tmp_path / "rows/year=2020/part-1 'é'.parquet")
    pyarrow.parquet.write_table(plain.slice(1500), tmp_path / "rows/year=2021/part-0.parquet")
    (tmp_path / "rows/_SUCCESS").touch()
    for source in ("rows", "rows/year=*/part-*.parquet", "rows/**/*.parquet"):
        assert release(tmp_path, tmp_path / source, schema) == wanted


def test_public_data_and_drafts(tmp_path, library, schema):
    texts, path = as_texts(tmp_path / "rows.csv"), tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(table(PLAIN).drop_columns(["who"]), path)
    (tmp_path / "private.csv").write_text(texts.read_text().split("\n")[0] + "\n"
                                          + "1,1,1,02.02.2002,2001-01-01 01:01,no,plain,1,p1\n" * 9)
    made = [release(tmp_path, tmp_path / "private.csv", schema, "--public", source)
            for source in (texts, path)]
    assert made[0] == made[1]
    done = command("schema", "--public", path, "--out", tmp_path / "draft.toml")
    assert done.returncode == 0, done.stderr
    drafted = tandem.Schema.draft(path)
    assert tandem.Schema.read(tmp_path / "draft.toml").document["column"] == drafted.document["column"]


def test_a_damaged_file_is_said_and_not_quoted(tmp_path, library, schema):
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(table(PLAIN), path, compression="none", use_dictionary=False)
    whole = path.read_bytes()
    at = whole.index(b"say \"x\"")
    for damaged in (whole[:-9], whole[:at] + b"\xff\xfe" + whole[at + 2:], b"PAR1" + whole[2000:]):
        path.write_bytes(damaged)
        done = command("synth", "--private", path, "--schema", schema, "--epsilon", 1, "--out",
                       tmp_path / "out")
        assert done.returncode == 1
        assert "rows.parquet can't be read " in done.stderr and done.stderr.count("\n") == 1
        assert not (tmp_path / "out").exists() and "say" not in done.stderr


def test_decimals_that_would_become_floats_are_refused(tmp_path, library, schema):
    path = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(table(PLAIN | {"price": pyarrow.decimal256(40, 2)}), path)
    done = command("check", "--private", path, "--schema", schema)
    assert done.returncode == 2 and "holds decimals of more than 38 digits" in done.stderr


def test_pythons_own_module_is_a_library(tmp_path, monkeypatch, schema):
    duckdb = pytest.importorskip("_duckdb")
    pyarrow.parquet.write_table(table(PLAIN), tmp_path / "rows.parquet")
    monkeypatch.setenv("TANDEM_DUCKDB", duckdb.__file__)
    done = command("check", "--private", tmp_path / "rows.parquet", "--schema", schema)
    if done.returncode == 2:
        assert "libpython3." in done.stderr
        pytest.skip("this machine has no shared library of Python")
    assert done.returncode in (0, 1) and f"{ROWS:,}" in done.stdout
    out = tmp_path / "release"
    done = command("synth", "--private", tmp_path / "rows.parquet", "--schema", schema, "--epsilon", "1",
                   "--mechanism", "independent", "--out", out)
    assert done.returncode == 0, done.stderr
    told = json.loads((out / "release.json").read_text())["decoder"]
    digest = hashlib.sha256(pathlib.Path(duckdb.__file__).read_bytes()).hexdigest()
    assert told.startswith("DuckDB v") and told.endswith(f"SHA-256 {digest}")
