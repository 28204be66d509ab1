#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast rows come in: a frame, Parquet and CSV of the same rows, beside DuckDB's own scan.

Rows are drawn from the sample's register with replacement; numbers and dates are moved a little, so
that there are many different ones. Times are those of the processor, on one thread, since a machine
may have other work; memory is the largest that the process had.

    PYTHONPATH=python python3 bench/frames.py make DIR --rows 10000000          # DIR/*.parquet, rows.csv
    PYTHONPATH=python python3 bench/frames.py frame|parquet|csv|duckdb DIR      # one line each
    PYTHONPATH=python python3 bench/frames.py passes DIR --memory-limit 4GB     # a default release
"""

import argparse
import json
import pathlib
import resource
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "examples" / "population" / "schema.toml"
PUBLIC = ROOT / "build" / "sample" / "public.csv"
PART = 1_000_000


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def now_mb():
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


def drawn(base, rows, random):
    import numpy
    import pandas
    part = base.iloc[random.integers(0, len(base), rows)].reset_index(drop=True)
    part["age"] = (part["age"] + random.integers(-2, 3, rows)).clip(0, 94)
    part["commute_km"] = numpy.round((part["commute_km"] * random.uniform(0.8, 1.2, rows)), 1)
    moved = pandas.to_datetime(part["moved_in"]) - pandas.to_timedelta(
        random.integers(0, 100, rows), unit="D")
    part["moved_in"] = moved.dt.date
    return part


def make(folder, rows, csv):
    import numpy
    import pandas
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet
    base = pandas.read_csv(ROOT / "build" / "sample" / "private.csv",
                           dtype={"income": "string", "remote": "boolean"})
    folder.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(1)
    for at, first in enumerate(range(0, rows, PART)):
        part = drawn(base, min(PART, rows - first), random)
        table = pyarrow.Table.from_pandas(part, preserve_index=False)
        pyarrow.parquet.write_table(table, folder / f"part-{at:04}.parquet")
        if csv:
            with open(folder / "rows.csv", "wb" if at == 0 else "ab") as out:
                pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(
                    include_header=at == 0, quoting_style="needed"))


def release(private, in_all, **more):
    """A release of single columns, which is hardly more than reading and counting once."""
    import tandem
    before, wall = time.process_time(), time.time()
    held = now_mb()
    tandem.synthesize(private, epsilon=1, seed=1, **{
        "schema": SCHEMA,
        "mechanism": "independent", "workload": "all-1way", "certify_share": 0.0, "threads": 1,
        "rows": 1000, **more})
    cpu = time.process_time() - before
    print(json.dumps({"rows": in_all, "cpu_s": round(cpu, 2), "wall_s": round(time.time() - wall, 2),
                      "rows_per_cpu_s": round(in_all / cpu), "peak_mb": round(peak_mb()),
                      "before_mb": round(held)}))


def passes(given, rows):
    """A default release that holds no row."""
    from tandem import _frames
    streams, stream_of = [], _frames.stream_of

    def counted(*arguments):
        streams.append(stream_of(*arguments))
        streams[-1].how = "passes"
        return streams[-1]

    _frames.stream_of = counted
    private = sorted(str(path) for path in given.folder.glob("part-*.parquet"))[:given.files]
    release(private[0] if len(private) == 1 else given.folder, rows, mechanism="auto",
            workload="all-3way", public=PUBLIC, certify_share=0.03,
            memory_limit=given.memory_limit, rows=100_000)
    print(json.dumps({"passes": streams[0].passes}))


def coded(rows):
    """The sample's coded register with as many rows, in bytes, and its schema."""
    import numpy
    import pandas
    base = pandas.read_csv(ROOT / "build" / "sample" / "private-coded.csv").astype("int8")
    choice = numpy.random.default_rng(1).integers(0, len(base), rows)
    frame = pandas.DataFrame({name: base[name].to_numpy()[choice] for name in base})
    return frame, ROOT / "build" / "sample" / "domain.json"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["make", "frame", "category", "polars", "arrow", "coded",
                                         "parquet", "csv", "csv-coded", "duckdb", "passes"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--files", type=int)
    parser.add_argument("--memory-limit", default="4GB")
    given = parser.parse_args()
    if given.what == "make":
        make(given.folder, given.rows, given.csv)
        return
    import pyarrow
    import pyarrow.parquet
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    files = sorted(given.folder.glob("part-*.parquet"))[:given.files]
    rows = sum(pyarrow.parquet.read_metadata(path).num_rows for path in files)
    if given.what == "frame":
        release(pyarrow.parquet.read_table(files).to_pandas(date_as_object=False), rows)
    elif given.what == "category":
        frame = pyarrow.parquet.read_table(files).to_pandas(date_as_object=False)
        text = [name for name in frame if frame[name].dtype.kind not in "ifbM"
                and str(frame[name].dtype) != "boolean"]
        release(frame.astype({name: "category" for name in text}), rows)
    elif given.what == "polars":
        import polars
        release(polars.read_parquet(files), rows)
    elif given.what == "arrow":
        release(pyarrow.parquet.read_table(files), rows)
    elif given.what == "parquet":
        release(given.folder, rows)
    elif given.what == "csv":
        release(given.folder / "rows.csv", rows)
    elif given.what in ("coded", "csv-coded"):
        frame, schema = coded(rows)
        if given.what == "csv-coded":
            import pyarrow.csv
            path = given.folder / "coded.csv"
            pyarrow.csv.write_csv(pyarrow.Table.from_pandas(frame, preserve_index=False), path,
                                  pyarrow.csv.WriteOptions(quoting_style="none"))
            frame = path
        release(frame, rows, schema=schema)
    elif given.what == "duckdb":
        import duckdb
        duckdb.sql("set threads = 1")
        names = pyarrow.parquet.read_schema(files[0]).names
        before = time.process_time()
        duckdb.sql(f"select bit_xor(hash({', '.join(names)})) from read_parquet("
                   f"{[str(path) for path in files]})").fetchall()
        cpu = time.process_time() - before
        print(json.dumps({"rows": rows, "cpu_s": round(cpu, 2), "rows_per_cpu_s": round(rows / cpu),
                          "what": "a hash of all columns"}))
        before = time.process_time()
        for _ in duckdb.sql(f"select * from read_parquet({[str(path) for path in files]})") \
                .to_arrow_reader(65_536):
            pass
        cpu = time.process_time() - before
        print(json.dumps({"rows": rows, "cpu_s": round(cpu, 2), "rows_per_cpu_s": round(rows / cpu),
                          "what": "handed over as Arrow batches"}))
    else:
        passes(given, rows)


if __name__ == "__main__":
    main()
