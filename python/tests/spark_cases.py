# SPDX-License-Identifier: Apache-2.0
"""What test_spark.py looks at: releases made on a cluster, in a process of its own for each kind of
cluster, since two kinds of session do not get along in one. Run as

    python spark_cases.py cluster|standalone|connect|narrow FOLDER [CASE...]

with everything on loopback. It writes what it found to FOLDER/found.json.
"""
import contextlib
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback

import pandas

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "build" / "sample"
SCHEMA = ROOT / "examples" / "population" / "schema.toml"
DATA = pathlib.Path(os.environ.get("TANDEM_DATA", "/nowhere"))
KIND, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"

import tandem  # noqa: E402
from tandem import _library  # noqa: E402

CONFIG = {
    "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.memory": "1g",
    "spark.driver.bindAddress": "127.0.0.1", "spark.sql.shuffle.partitions": "4",
    "spark.eventLog.enabled": "true", "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
    "spark.speculation": "true", "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.1", "spark.speculation.minTaskRuntime": "1s",
    "spark.speculation.interval": "50ms", "spark.local.dir": None, "spark.eventLog.dir": None,
    "spark.sql.warehouse.dir": None, "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
}


def session(master, **more):
    from pyspark.sql import SparkSession
    config = {**CONFIG, **more}
    for key, value in config.items():
        if value is None:
            config[key] = str(FOLDER / key)
            os.makedirs(config[key], exist_ok=True)
    builder = SparkSession.builder
    builder = builder.remote(master) if KIND == "connect" else builder.master(master)
    for key, value in config.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


class Standalone:
    """A master and two workers: processes of their own, which end with this one."""

    def __enter__(self):
        import pyspark
        home = pathlib.Path(pyspark.__file__).parent
        log = open(FOLDER / "daemons.log", "w")
        environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m"}

        def start(what, host, *arguments):
            return subprocess.Popen(
                [home / "bin" / "spark-class", f"org.apache.spark.deploy.{what}", "--host", host,
                 "--webui-port", "0", *arguments],
                env={**environment, "SPARK_LOCAL_IP": host}, stdout=log, stderr=log)
        self.running = [start("master.Master", "127.0.0.1", "--port", "0")]
        url = None
        while url is None:
            assert self.running[0].poll() is None
            time.sleep(0.2)
            words = (FOLDER / "daemons.log").read_text().split()
            url = next((one for one in words if one.startswith("spark://")), None)
        # On two addresses of the loopback: a speculative copy runs on another host than the first.
        for host in ("127.0.0.1", "127.0.0.2"):
            self.running.append(start("worker.Worker", host, "--cores", "1", "--memory", "1g",
                                      "--work-dir", str(FOLDER / "work"), url))
        self.url = url
        return self

    def __exit__(self, *_):
        for one in self.running:
            one.terminate()
        for one in self.running:
            one.wait(30)


def digest(release):
    return [hashlib.sha256((release.path / name).read_bytes()).hexdigest()
            for name in ("measurements.json", "synthetic.csv")]


def executors(spark):
    """The processes of the executors."""
    def where(batches):
        import os
        import pathlib
        import pyarrow
        # A worker's parent is the daemon that forked it, and its parent the executor's JVM.
        daemon = os.getppid()
        status = pathlib.Path(f"/proc/{daemon}/status").read_text()
        parent = int(status.split("PPid:")[1].split()[0])
        for _ in batches:
            yield pyarrow.RecordBatch.from_arrays([pyarrow.array([parent])], names=["pid"])
    return sorted({row[0] for row in
                   spark.range(0, 8, 1, 8).mapInArrow(where, "pid long").collect()})


def slowed(flag):
    """Rows as they are; the first partition waits while it is not a copy and the file is there."""
    def run(batches):
        import os
        import time
        from pyspark import TaskContext
        task = TaskContext.get()
        if os.path.exists(flag) and task.partitionId() == 0 and task.attemptNumber() == 0:
            time.sleep(15)  # less, once its copy is done
        yield from batches
    return run


def deadly(flag):
    """Rows as they are; while the file is there, an executor that reads them dies."""
    def run(batches):
        import os
        import pathlib
        import signal
        if os.path.exists(flag):
            status = pathlib.Path(f"/proc/{os.getppid()}/status").read_text()
            os.kill(int(status.split("PPid:")[1].split()[0]), signal.SIGKILL)
        yield from batches
    return run


def cpu():
    """CPU time of this process and of all below it, in seconds."""
    parents = {}
    for one in pathlib.Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                fields = (one / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append((int(one.name), fields))
    ticks, new = sum(os.times()[:2]) * os.sysconf("SC_CLK_TCK"), [os.getpid()]
    while new:
        for pid, fields in parents.get(new.pop(), []):
            ticks += sum(map(int, fields[11:15]))  # its own, and of children that have ended
            new.append(pid)
    return ticks / os.sysconf("SC_CLK_TCK")


class Cases:
    def __init__(self, spark):
        self.spark = spark
        self.found = {}
        self.reference = {}

    def run(self, *names):
        for name in names:
            started = time.time()
            try:
                self.found[name] = getattr(self, name)()
            except Exception:
                self.found[name] = {"failed": traceback.format_exc()}
            print(f"{KIND} {name}: {time.time() - started:.1f} s", flush=True)
            (FOLDER / "found.json").write_text(json.dumps(self.found))

    def sample(self):
        return self.spark.read.csv(str(SAMPLE / "private.csv"), header=True)

    def settings(self, **more):
        return {**dict(epsilon=1, schema=SCHEMA, mechanism="mst", seed=5), **more}

    def of_sample(self, frame=None, **more):
        return tandem.synthesize(self.sample() if frame is None else frame, **self.settings(**more))

    def from_csv(self):
        if "sample" not in self.reference:
            self.reference["sample"] = digest(tandem.synthesize(SAMPLE / "private.csv",
                                                                **self.settings()))
        return self.reference["sample"]

    # The same from CSV and from here, however the rows are divided.
    def same(self):
        return {"csv": self.from_csv(), "spark": digest(self.of_sample()),
                "divided": digest(self.of_sample(self.sample().repartition(5)))}

    def answers(self):
        given = dict(schema=SCHEMA, epsilon=1, seed=3, workload=tandem.Workload.from_marginals(
            [["sex"], ["age", "region"]]))
        made = [tandem.answer(rows, **given) for rows in (SAMPLE / "private.csv", self.sample())]
        csv, spark = [(one.path / "answers.csv").read_text() for one in made]
        return {"csv": csv, "spark": spark}

    def titanic(self):
        data = DATA / "jam" / "titanic"
        given = dict(public=data / "pub.csv", schema=data / "domain.json", epsilon=1, seed=2)
        rows = self.spark.read.csv(str(data / "priv.csv"), header=True, inferSchema=True)
        public = self.spark.read.csv(str(data / "pub.csv"), header=True, inferSchema=True)
        return {"csv": digest(tandem.synthesize(data / "priv.csv", **given)),
                "spark": digest(tandem.synthesize(rows, **given)),
                "divided": digest(tandem.synthesize(rows.repartition(3),
                                                    **{**given, "public": public}))}

    def acs(self):
        data = DATA / "acs"
        given = dict(schema=tandem.Schema.draft(data / "ma2018.csv"), epsilon=1, seed=2,
                     mechanism="mst")
        texts = self.spark.read.csv(str(data / "ma2019.csv"), header=True)
        typed = self.spark.createDataFrame(pandas.read_csv(data / "ma2019.csv"))
        return {"csv": digest(tandem.synthesize(data / "ma2019.csv", **given)),
                "spark": digest(tandem.synthesize(texts, **given)),
                "divided": digest(tandem.synthesize(typed.repartition(4), **given))}

    # Persons with a skew: the first has a tenth of all rows.
    def persons(self):
        draw = random.Random(3)
        rows = pandas.read_csv(SAMPLE / "private.csv", dtype=str, keep_default_na=False)
        rows = rows.head(20_000)
        weights = [1 / (rank + 1) for rank in range(8_000)]
        rows["who"] = [f"p{one}" for one in draw.choices(range(8_000), weights, k=len(rows))]
        rows.to_csv(FOLDER / "persons.csv", index=False)
        given = self.settings(person="who", rows_per_person=3)
        frame = self.spark.read.csv(str(FOLDER / "persons.csv"), header=True)
        return {"csv": digest(tandem.synthesize(FOLDER / "persons.csv", **given)),
                "spark": digest(tandem.synthesize(frame, **given)),
                "divided": digest(tandem.synthesize(frame.repartition(6), **given))}

    # Many rows, few counts: what came back is in the event log.
    def results(self):
        from pyspark.sql import functions
        many = self.sample().withColumn("copy", functions.explode(
            functions.sequence(functions.lit(1), functions.lit(50))))
        rows = many.count()
        for description, work in (("the release begins", lambda: None), ("the release ends", lambda:
                                  self.of_sample(many, mechanism="independent", rows=100))):
            work()
            self.spark.sparkContext.setJobDescription(description)
            self.spark.range(1).count()
        self.spark.sparkContext.setJobDescription(None)
        return {"rows": rows}

    # What all pairs and triples cost, in CPU time of all processes: one pass over the coded table,
    # and a GROUP BY for each (some are run) over the same rows kept by Spark.
    def cost(self):
        import ctypes
        import itertools
        from pyspark.sql import functions
        from tandem import _spark
        from tandem._objects import schema_columns
        many = self.sample().withColumn("copy", functions.explode(
            functions.sequence(functions.lit(1), functions.lit(50)))).drop("copy")
        found = {"rows": 1_000_000}

        def timed(what, work):
            before = cpu()
            given = work()
            found[what] = round(cpu() - before, 2)
            return given

        table = _spark.Coded(_spark.Session(self.spark), many, str(SCHEMA),
                             schema_columns(str(SCHEMA)), None, 1, None, False, lambda stage: None)
        timed("count, encode and keep", table.make)
        asked = [list(one) for size in (2, 3)
                 for one in itertools.combinations(range(len(table.sizes)), size)]
        cells = sum(_spark.product(table.sizes, one) for one in asked)
        out = (ctypes.c_int64 * cells)()
        timed("pairs and triples, first", lambda: table.count(asked, out))
        timed("pairs and triples", lambda: table.count(asked, out))
        table.close()
        texts = ["sex", "region", "origin", "education", "marital", "household", "occupation"]
        kept = many.select(texts).persist()
        timed("keep for GROUP BY", kept.count)
        kept.groupBy("sex").count().collect()
        some = [texts[at:at + 3] for at in range(4)]
        rows = timed("4 GROUP BY", lambda: [kept.groupBy(*one).count().collect() for one in some])
        kept.unpersist()
        found.update(asked=len(asked), cells=cells, sums=[sum(row["count"] for row in one)
                                                           for one in rows])
        return found

    def folder(self):
        """Coded rows in a folder: of a run that dies in the middle, found again, and removed."""
        folder, out = FOLDER / "coded", FOLDER / "kept"
        script = ("import sys, spark_cases as s, os\n"
                  "made = s.Cases(s.session(sys.argv[3]))\n"
                  "seen = []\n"
                  "def die(event):\n"
                  "    seen.append(event.get('stage'))\n"
                  "    if seen.count('counting on the cluster') == 2: os._exit(9)\n"
                  f"made.of_sample(coded={str(folder)!r}, out={str(out)!r}, progress=die)\n")
        died = subprocess.run([sys.executable, "-c", script, "local", str(FOLDER), "local[1]"],
                              env={**os.environ, "PYTHONPATH": os.pathsep.join(
                                  [str(pathlib.Path(__file__).parent),
                                   os.environ.get("PYTHONPATH", "")])},
                              capture_output=True, text=True)
        (folder / "blocks").mkdir(parents=True, exist_ok=True)  # somebody's own
        (folder / "blocks" / "thesis").write_text("years of work")
        left = [sorted(os.listdir(one)) for one in folder.glob("tandem-*")] or died.stderr[-2000:]
        refused = self.refusal(lambda: self.of_sample(coded=folder))
        (begun,) = folder.glob("tandem-*/begun")
        begun.rename(folder / "aside")
        begun.mkdir()
        (begun / "part-0.parquet").write_text("no table")
        forbidden = self.refusal(lambda: self.of_sample(coded=folder))
        shutil.rmtree(begun)
        (folder / "aside").rename(begun)
        release = self.of_sample(coded=folder, out=out, resume=True)
        return {"died": died.returncode, "left": left, "refused": refused, "forbidden": forbidden,
                "csv": self.from_csv(),
                "spark": digest(release), "gone": not list(folder.glob("tandem-*")),
                "kept": (folder / "blocks" / "thesis").read_text()}

    def refusal(self, work):
        try:
            work()
        except tandem.Error as error:
            return [type(error).__name__, str(error), error.__cause__ is None]
        except KeyboardInterrupt as error:
            return ["KeyboardInterrupt", str(error), True]
        return None

    # An executor dies while rows are counted; what it held is read again.
    def killed(self):
        struck = []

        def strike(event):
            if event.get("stage") == "counting on the cluster" and not struck:
                struck.append(executors_now[0])
                threading.Timer(0.3, os.kill, (executors_now[0], signal.SIGKILL)).start()
        executors_now = executors(self.spark)
        release = self.of_sample(self.sample().repartition(4), progress=strike)
        return {"csv": self.from_csv(), "spark": digest(release), "struck": len(struck),
                "before": executors_now, "after": executors(self.spark)}

    def speculative(self):
        flag = FOLDER / "slow"
        flag.write_text("")
        frame = self.sample().repartition(4)
        frame = frame.mapInArrow(slowed(str(flag)), frame.schema)
        return {"csv": self.from_csv(), "spark": digest(self.of_sample(frame))}

    # Whoever reads the rows again dies: the run stops, and goes on once they can be read.
    def lost(self):
        flag, out = FOLDER / "deadly", FOLDER / "lost"
        ledger = tandem.Ledger.create(FOLDER / "lost.ledger", dataset="sample", epsilon=3)
        frame = self.sample().repartition(2)
        frame = frame.mapInArrow(deadly(str(flag)), frame.schema)
        seen = []

        def strike(event):
            seen.append(event.get("stage"))
            if seen.count("counting on the cluster") == 2 and not flag.exists():
                flag.write_text("")
                for one in executors(self.spark):
                    os.kill(one, signal.SIGKILL)
                time.sleep(1)
        refused = self.refusal(lambda: self.of_sample(frame, out=out, ledger=ledger, seed=None,
                                                      progress=strike))
        held = ledger.show()
        flag.unlink()
        release = self.of_sample(frame, out=out, ledger=ledger, seed=None, resume=True)
        return {"refused": refused, "held": held, "rows": release.document["rows"],
                "ledger": ledger.show()}

    def stopped(self):
        out = FOLDER / "stopped"
        seen = []

        def strike(event):
            seen.append(event.get("stage"))
            if seen.count("counting on the cluster") == 2 and "struck" not in seen:
                seen.append("struck")
                threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        refused = self.refusal(lambda: self.of_sample(out=out, progress=strike))
        release = self.of_sample(out=out, resume=True)
        return {"refused": refused, "csv": self.from_csv(), "spark": digest(release)}

    def odd(self):
        from pyspark.sql import functions
        from pyspark.sql.types import StringType

        # Other rows each time, and nobody says so: what two counts find.
        fickle = functions.udf(lambda text: __import__("random").choice("ab"), StringType())
        sample = self.sample()
        frames = {
            "nested": sample.withColumn("sex", functions.array("sex")),
            "binary": sample.withColumn("sex", sample["sex"].cast("binary")),
            "missing": sample.drop("sex"),
            "streaming": self.spark.readStream.schema(sample.schema).csv(str(FOLDER)),
            "fickle": sample.where(fickle(sample["sex"]) == "a"),
            "failing": sample.withColumn("sex", functions.raise_error(
                functions.concat(functions.lit("secret"), sample["sex"]))),
            "empty": sample.limit(0),
        }
        if KIND != "connect":
            frames["rand"] = sample.where(functions.rand() < 0.5)
        ledger = tandem.Ledger.create(FOLDER / "odd.ledger", dataset="sample", epsilon=3)
        refused = {name: self.refusal(lambda frame=frame: self.of_sample(
            frame, ledger=ledger, seed=None)) for name, frame in frames.items()}
        refused["evaluate"] = self.refusal(lambda: tandem.evaluate(
            sample, SAMPLE / "public.csv", schema=SCHEMA, internal=True))
        refused["coded"] = self.refusal(lambda: tandem.synthesize(
            {"a": [1]}, schema=SCHEMA, epsilon=1, coded="x"))
        return {"refused": refused, "ledger": ledger.show()}

    # Rows made on the executors, in the types that came in.
    def made(self):
        from pyspark.sql import functions
        typed = self.sample().withColumn("age", functions.col("age").cast("smallint"))
        typed = typed.withColumn("moved_in", functions.to_date("moved_in"))
        release = self.of_sample(typed, rows="spark")
        rows = release.rows
        other = release.to_spark(self.spark, 3_000, seed=4)
        once = sorted(map(str, other.collect()))
        return {"count": rows.count(), "types": dict(rows.dtypes),
                "like": dict(release.like(typed).rows.dtypes), "folder": release.document["rows"],
                "repeats": once == sorted(map(str, other.collect())), "some": len(set(once)),
                "in_folder": release.to_spark(self.spark).count(),
                "sexes": sorted(row[0] for row in other.select("sex").distinct().collect())}


# Sessions that can't: too little for counts on the driver, and executors without pyarrow.
def narrow():
    found = {}
    spark = session("local[1]", **{"spark.driver.maxResultSize": "12k"})
    cases = Cases(spark)
    found["driver"] = cases.refusal(lambda: cases.of_sample())
    # A library that this machine can't load, as one of another architecture is.
    from tandem import _spark
    (FOLDER / "other.so").write_bytes(b"\x7fELF" + bytes(60))
    _spark.package.cache_clear()
    _spark.library_path = lambda: FOLDER / "other.so"
    found["library"] = cases.refusal(lambda: cases.of_sample())
    _spark.package.cache_clear()
    _spark.library_path = _library.library_path
    spark.stop()
    bare = FOLDER / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    import pyspark
    os.environ["PYSPARK_PYTHON"] = str(bare / "bin" / "python")
    os.environ["PYTHONPATH"] = str(pathlib.Path(pyspark.__file__).parent.parent / "none")
    spark = session("local[1]")
    cases = Cases(spark)
    found["pyarrow"] = cases.refusal(lambda: cases.of_sample())
    spark.stop()
    (FOLDER / "found.json").write_text(json.dumps(found))


def main():
    both = ["same", "titanic", "acs"] if (DATA / "jam").exists() else ["same"]
    cases = {"cluster": [*both, "persons", "answers", "results", "cost", "killed", "made", "odd", "stopped", "lost"],
             "standalone": [*both, "speculative", "killed", "folder"],
             "connect": [*both, "persons", "made", "odd", "stopped"]}
    if KIND == "narrow":
        narrow()
        return
    with contextlib.ExitStack() as held:
        master = (held.enter_context(Standalone()).url if KIND == "standalone"
                  else "local-cluster[2,1,1024]")
        made = Cases(session(master, **{"spark.executor.memory": "512m"}))
        made.run(*(sys.argv[3:] or cases[KIND]))
        made.spark.stop()


if __name__ == "__main__":
    main()
