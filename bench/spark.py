#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPU time of counting on a cluster, against GROUP BY, in one run; and a release of many rows.

    python bench/spark.py counting FOLDER [ROWS] [GROUP-BYS]
    python bench/spark.py persons FOLDER [ROWS]
    python bench/spark.py release FOLDER [ROWS]

Needs the package, pyspark and pyarrow. Rows are made up: 12 raw columns, six of text, four of whole
numbers, two of numbers with decimals. CPU time is that of all processes below this one, JVMs and
Python workers alike, so other work on the machine does not count.
"""
import ctypes
import itertools
import json
import math
import os
import pathlib
import resource
import sys
import threading
import time

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

import tandem  # noqa: E402
from tandem import _blocks, _spark  # noqa: E402
from tandem._objects import schema_columns  # noqa: E402

TEXTS = {"region": 5, "sector": 20, "job": 12, "status": 6, "sex": 2, "origin": 8}
WHOLE = {"age": (100, 20), "hours": (80, 8), "persons": (10, 10), "rooms": (16, 8)}
REAL = {"income": (90_000.0, 16), "distance": (120.0, 10)}
NAMES = [*TEXTS, *WHOLE, *REAL]
SIZES = [*TEXTS.values(), *(bins for _, bins in WHOLE.values()), *(bins for _, bins in REAL.values())]


def edges(most, bins):
    return [most * at / bins for at in range(1, bins)]


def schema_text():
    parts = ["format = 1\n"]
    for name, count in TEXTS.items():
        labels = ", ".join(f'"{name} {code}"' for code in range(count))
        parts.append(f'[[column]]\nname = "{name}"\nvalues = [{labels}]\n')
    for kind, columns in (("integer", WHOLE), ("real", REAL)):
        for name, (most, bins) in columns.items():
            cut = [int(one) if kind == "integer" else one for one in edges(most, bins)]
            parts.append(f'[[column]]\nname = "{name}"\nkind = "{kind}"\nmin = 0\n'
                         f'max = {most}\nedges = {cut}\n' +
                         ("decimals = 2\n" if kind == "real" else ""))
    return "".join(parts)


def rows(spark, count, parts):
    """Made-up rows whose columns go together a little: each leans on the one before it."""
    from pyspark.sql import functions as f
    # Ten bits of a hash for each column's own draw, and ten for each pair of columns.
    frame = spark.range(0, count, 1, parts).select(
        *[f.xxhash64(f.col("id"), f.lit(seed)).alias(f"h{seed}") for seed in range(3)])

    def draw(seed, at):
        return f.shiftright(f.col(f"h{seed}"), 10 * at).bitwiseAND(1023) / 1024.0

    picked = []
    for at, name in enumerate(NAMES):
        share = draw(at // 6, at % 6) * 0.6 + draw(2, at // 2) * 0.4
        if name in TEXTS:
            picked.append(f.concat(f.lit(name + " "), (share * TEXTS[name]).cast("int")
                                   .cast("string")).alias(name))
        elif name in WHOLE:
            picked.append((share * WHOLE[name][0]).cast("int").alias(name))
        else:
            picked.append(f.round(share * REAL[name][0], 2).alias(name))
    return frame.select(*picked)


def codes(frame):
    """The same codes by Spark's own CASE expressions."""
    from pyspark.sql import functions as f
    picked = []
    for name in NAMES:
        case = None
        if name in TEXTS:
            for code in range(TEXTS[name]):
                hit = f.col(name) == f"{name} {code}"
                case = f.when(hit, code) if case is None else case.when(hit, code)
            picked.append(case.otherwise(0).cast("tinyint").alias(name))
            continue
        most, bins = (WHOLE | REAL)[name]
        for code, edge in enumerate(edges(most, bins)):
            hit = f.col(name) < (int(edge) if name in WHOLE else edge)
            case = f.when(hit, code) if case is None else case.when(hit, code)
        picked.append(case.otherwise(bins - 1).cast("tinyint").alias(name))
    return frame.select(*picked)


def below():
    """Processes below this one."""
    parents = {}
    for one in pathlib.Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                fields = (one / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(one.name)] = (int(fields[1]), fields)
    found, new = {}, [os.getpid()]
    while new:
        parent = new.pop()
        for pid, (of, fields) in parents.items():
            if of == parent and pid not in found:
                found[pid] = fields
                new.append(pid)
    return found


def cpu():
    tick = os.sysconf("SC_CLK_TCK")
    mine = resource.getrusage(resource.RUSAGE_SELF)
    # Their own time and that of children they have waited for.
    return mine.ru_utime + mine.ru_stime + sum(
        sum(int(one) for one in fields[11:15]) for fields in below().values()) / tick


class Timer:
    def __init__(self, told):
        self.told = told

    def __call__(self, what, work):
        before, started = cpu(), time.time()
        found = work()
        self.told[what] = {"cpu": round(cpu() - before, 1), "wall": round(time.time() - started, 1)}
        print(f"{what}: {self.told[what]}", flush=True)
        return found


def session(folder, **more):
    from pyspark.sql import SparkSession
    builder = SparkSession.builder.master("local-cluster[2,1,2048]")
    config = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
              "spark.driver.bindAddress": "127.0.0.1", "spark.driver.memory": "1g",
              "spark.executor.memory": "2g", "spark.network.timeout": "900s",
              "spark.executor.heartbeatInterval": "60s", "spark.local.dir": str(folder / "local"),
              "spark.sql.warehouse.dir": str(folder / "warehouse"), "spark.log.level": "ERROR",
              "spark.sql.shuffle.partitions": "4", "spark.ui.showConsoleProgress": "false", **more}
    for key, value in config.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def counting(folder, count, group_bys):
    told = {"rows": count, "columns": len(NAMES)}
    timed = Timer(told)
    schema = folder / "schema.toml"
    schema.write_text(schema_text())
    spark = session(folder)
    raw = folder / "raw"
    if not raw.exists():
        timed("making the rows", lambda: rows(spark, count, 8).write.parquet(str(raw)))
    frame = spark.read.parquet(str(raw))
    spark.range(0, 100).mapInArrow(lambda batches: batches, "id long").count()  # JVMs are warm
    frame.select("age").groupBy("age").count().collect()
    triples = [list(one) for one in itertools.combinations(range(len(NAMES)), 3)]
    pairs = [list(one) for one in itertools.combinations(range(len(NAMES)), 2)]

    # Spark's own: codes by CASE, kept; then a GROUP BY each, some of them, scaled.
    kept = codes(frame).persist()
    timed("spark: encoding by CASE and keeping", kept.count)
    some = triples[::max(1, len(triples) // group_bys)][:group_bys]
    names = [[NAMES[at] for at in one] for one in some]
    found = timed(f"spark: {len(some)} GROUP BY of three columns",
                  lambda: [kept.groupBy(*one).count().collect() for one in names])
    two = [[NAMES[at] for at in one] for one in pairs[::max(1, len(pairs) // 4)][:4]]
    timed("spark: 4 GROUP BY of two columns",
          lambda: [kept.groupBy(*one).count().collect() for one in two])
    told["spark: all, scaled"] = round(
        told[f"spark: {len(some)} GROUP BY of three columns"]["cpu"] / len(some) * len(triples) +
        told["spark: 4 GROUP BY of two columns"]["cpu"] / 4 * len(pairs), 1)
    kept.unpersist(blocking=True)

    # Ours.
    ours = _spark.Session(spark)
    table = _spark.Coded(ours, frame, str(schema), schema_columns(str(schema)), None, 1, None, False,
                         lambda stage: None)
    timed("tandem: Spark's own count, encoding and keeping", table.make)
    cells = sum(_spark.product(table.sizes, one) for one in pairs + triples)
    told["cells"] = cells
    out = (ctypes.c_int64 * cells)()
    timed("tandem: all pairs and triples in one pass", lambda: table.count(pairs + triples, out))
    timed("tandem: the same again", lambda: table.count(pairs + triples, out))
    first = sum(_spark.product(table.sizes, one) for one in pairs)
    for one, rows_found in zip(some, found):
        at = first + sum(_spark.product(table.sizes, other)
                         for other in triples[:triples.index(one)])
        for row in rows_found:
            place = 0
            for attribute, code in zip(one, row[:3]):
                place = place * table.sizes[attribute] + code
            assert out[at + place] == row["count"], (one, row)
    told["counts"] = "equal to Spark's in all of these GROUP BYs"
    table.close()

    # One process, without Spark.
    import pyarrow.parquet
    request = {**table.encoder}
    blocks = []

    def read():
        encoder = _blocks.Encoder(request)
        for file in sorted(raw.glob("*.parquet")):
            for batch in pyarrow.parquet.ParquetFile(file).iter_batches(65_536, use_threads=False):
                blocks.append(encoder.block(batch))

    timed("one process: Parquet, read and encoded", read)

    def counted():
        counter = _blocks.Counter(table.sizes, pairs + triples)
        for block in blocks:
            counter.add(block)
        return counter.counts()

    assert timed("one process: all pairs and triples", counted)[:] == out[:]
    spark.stop()
    part = folder / "rows.csv"
    if not part.exists():
        import pyarrow.csv
        with pyarrow.csv.CSVWriter(part, pyarrow.parquet.ParquetFile(
                sorted(raw.glob("*.parquet"))[0]).schema_arrow) as writer:
            for file in sorted(raw.glob("*.parquet")):
                for batch in pyarrow.parquet.ParquetFile(file).iter_batches(65_536):
                    writer.write_batch(batch)
    timed("one process: CSV, a release of single columns", lambda: tandem.synthesize(
        part, schema=schema, epsilon=1, mechanism="independent", rows=100, threads=1))
    return told


def persons(folder, count):
    """Rows of people by Zipf's law, at most three of each: on the cluster and in one process."""
    from pyspark.sql import functions as f
    import pyarrow.parquet
    told = {"rows": count, "columns": len(NAMES)}
    timed = Timer(told)
    schema = folder / "schema.toml"
    schema.write_text(schema_text())
    spark = session(folder)
    raw = folder / f"persons-{count}"
    if not raw.exists():
        made = rows(spark, count, 8)
        # The share of person k falls as 1/k: the first of a million has a fourteenth of all rows.
        made.withColumn("who", f.exp(f.rand(7) * math.log(count / 10)).cast("long")).write.parquet(
            str(raw))
    frame = spark.read.parquet(str(raw))
    told["rows of the first"] = frame.where("who = 1").count()
    ours = _spark.Session(spark)
    spark.range(0, 100).mapInArrow(lambda batches: batches, "id long").count()
    cliques = [[at] for at in range(len(NAMES))] + [[0, 1, 6]]
    counts = {}
    for person, what in ((None, "encoding and keeping"), ("who", "encoding, bounding and keeping")):
        table = _spark.Coded(ours, frame, str(schema), schema_columns(str(schema)), person, 3, None,
                             False, lambda stage: None)
        timed(f"tandem: {what}", table.make)
        out = (ctypes.c_int64 * sum(_spark.product(table.sizes, one) for one in cliques))()
        table.count(cliques, out)
        counts[person] = out[:]
        told[f"rows kept, {what}"] = table.rows
        table.close()
    encoder = _blocks.Encoder({**table.encoder})
    blocks = []

    def read():
        for file in sorted(raw.glob("*.parquet")):
            for batch in pyarrow.parquet.ParquetFile(file).iter_batches(65_536, use_threads=False):
                blocks.append(encoder.block(batch))

    timed("one process: Parquet, read and encoded", read)
    block = timed("one process: bounded", lambda: _blocks.bounded(blocks, 3))
    counter = _blocks.Counter(table.sizes, cliques)
    counter.add(block)
    assert counter.counts()[:] == counts["who"]
    told["counts"] = "equal in one process and on the cluster"
    spark.stop()
    return told


def release(folder, count):
    told = {"rows": count, "columns": len(NAMES)}
    schema = folder / "schema.toml"
    schema.write_text(schema_text())
    spark = session(folder)
    most = {"driver, Python": 0, "driver, JVM": 0}
    stop = threading.Event()
    java = next(pid for pid, fields in below().items() if int(fields[1]) == os.getpid())

    def watch():
        while not stop.wait(0.5):
            for what, pid in (("driver, Python", os.getpid()), ("driver, JVM", java)):
                try:
                    text = pathlib.Path(f"/proc/{pid}/status").read_text()
                except OSError:
                    continue
                kilo = int(text.split("VmRSS:")[1].split()[0])
                most[what] = max(most[what], kilo)

    threading.Thread(target=watch, daemon=True).start()
    stages, started = [], time.time()

    def heard(event):
        if event.get("stage") and (not stages or stages[-1][1] != event["stage"]):
            stages.append([round(time.time() - started, 1), event["stage"]])
            print(stages[-1], flush=True)

    made = Timer(told)("release", lambda: tandem.synthesize(
        rows(spark, count, 64), schema=schema, epsilon=1, progress=heard, memory_limit="1GB",
        rows="spark"))
    stop.set()
    told["stages"] = stages
    told["peak MB"] = {what: round(kilo / 1024) for what, kilo in most.items()}
    told["release"] = {"rows in the folder": made.document["rows"],
                       "mechanism": made.document["mechanism"],
                       "warnings": [one["text"] for one in made.warnings],
                       "certified": made.certified_error}
    spark.stop()
    return told


def main():
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    numbers = [int(float(one)) for one in sys.argv[3:]]
    if what == "counting":
        told = counting(folder, *(numbers + [10_000_000, 8][len(numbers):]))
    elif what == "persons":
        told = persons(folder, *(numbers or [2_000_000]))
    else:
        told = release(folder, *(numbers or [200_000_000]))
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
