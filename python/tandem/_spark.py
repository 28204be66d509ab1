# SPDX-License-Identifier: Apache-2.0
"""Private rows on a Spark cluster. They are encoded, bounded and counted inside its executors by the
library itself; the driver runs mechanism, gate and ledger, and counts alone come back to it.

Only operations on DataFrames, so that it is the same over Spark Connect, and no accumulators: these
count twice what a lost executor or a second action runs again. Counts are rows of a DataFrame.
"""

import atexit
import base64
import contextlib
import ctypes
import functools
import hashlib
import json
import os
import pathlib
import re
import secrets
import shutil
import sys
import tempfile
import uuid
import zipfile

from ._columns import columns_of_schema
from ._errors import Error, InternalError, SourceError, UsageError
from ._executor import marked
from ._library import COUNT, call, library_path, shown
from ._made import batches_of, kept_type
from ._tables import Shape, need_pyarrow, require_names

CELLS = 8 << 20        # counts of one job: 64 MB, some times over on the driver, twice in a task
CHUNK = 1 << 17        # counts that travel together: 1 MB
BLOCKS = 32 << 20      # bytes of blocks that a task reads at a time
BATCH = 16 << 20       # bytes of rows that it encodes at a time, about
PERSON_ROWS = 250_000  # of the persons that are bounded together
TASK_ROWS = 25_000_000  # counted by one task where a cluster has fewer tasks than that
PUBLIC_ROWS = 5_000_000
MADE_ROWS = 1_000_000  # on the driver; executors make others
PART_ROWS = 250_000    # made by one task

# Types whose cells are one plain value. All others are refused by name.
PLAIN = ("string", "char", "varchar", "boolean", "tinyint", "smallint", "int", "bigint", "float",
         "double", "decimal", "date", "timestamp", "timestamp_ntz", "void")


# Failures ------------------------------------------------------------------------------------

# What may go wrong with a cluster, whatever its rows are: known by words of Spark's own text where no
# private row was near, and by error classes alone where one was.
VERSIONS = ("The executors run another version of Python than the driver; set PYSPARK_PYTHON to the same "
            "one for both.")
NO_PYARROW = ("The executors have no pyarrow that Spark can use; install it there, or set PYSPARK_PYTHON "
              "to a Python that has it.")
NO_PYTHON = "The executors can't start Python; set PYSPARK_PYTHON to one that they have."
RESULTS = ("The driver did not take the counts of one job, up to 64 MB; raise "
           "spark.driver.maxResultSize.")
MEMORY = ("Spark ran out of memory; give the driver or the executors more (spark.driver.memory, "
          "spark.executor.memory, spark.executor.memoryOverhead).")
DISK = ("A disk of the cluster is full; free some space, or set spark.local.dir to another one.")
LOST = ("Spark lost the executors or the driver that held the rows, and did not get them back; see its "
        "own log.")
OTHER = ("Spark could not read or count the rows: a job failed. Its own message is not shown, for it may "
         "quote rows; try the DataFrame by hand, such as with .count().")
WORDS = [
    (r"PYTHON_VERSION_MISMATCH|Python in worker has different version", VERSIONS),
    (r"No module named 'pyarrow'|PyArrow >= [0-9.]+ must be installed|PACKAGE_NOT_INSTALLED|"
     r"UNSUPPORTED_PACKAGE_VERSION", NO_PYARROW),
    (r"Cannot run program|CANNOT_RUN_PROGRAM", NO_PYTHON),
]
CLASSES = {
    "PYTHON_VERSION_MISMATCH": VERSIONS, "PACKAGE_NOT_INSTALLED": NO_PYARROW,
    "UNSUPPORTED_PACKAGE_VERSION": NO_PYARROW, "CANNOT_RUN_PROGRAM": NO_PYTHON,
    "Total size of serialized results": RESULTS, "TaskResultLost": RESULTS,
    "OutOfMemoryError": MEMORY, "MemoryError": MEMORY, "No space left on device": DISK,
    "ExecutorLostFailure": LOST, "FetchFailed": LOST, "FetchFailedException": LOST,
    "Py4JNetworkError": LOST, "ConnectionRefusedError": LOST, "ConnectionResetError": LOST,
    "UNAVAILABLE": LOST, "SESSION_CLOSED": LOST, "SESSION_CHANGED": LOST, "SESSION_NOT_FOUND": LOST,
    "SparkContext was shut down": LOST, "stopped SparkContext": LOST, "Master removed": LOST,
    "All masters are unresponsive": LOST,
}
# Where Spark's own text begins with what it says of a failure: nothing of a row can stand before it.
LEAD = r"(?:An error occurred while calling [\w.]+\n?:? ?|\([\w.$]+\) |\[[A-Z_.]+\] |[\w.$]+: )*"
FAILED = re.compile(
    LEAD + r"(?:Job aborted due to stage failure: (?:"
    r"(?:Task \d+|ShuffleMapStage \d+|ResultStage \d+)[^:\n]*: (?:Lost task [\d.]+ in stage [\d.]+ "
    r"\(TID \d+\) \([^()\n]*\): )?(?P<class>[\w.$]+)(?:: (?P<disk>No space left on device))?"
    r"|(?P<words>Total size of serialized results|Master removed|All masters are unresponsive))"
    r"|Job \d+ cancelled because (?P<stopped>SparkContext was shut down)"
    r"|Cannot call methods on a (?P<gone>stopped SparkContext))")


def classes_of(error):
    """What kind of error it is, as Python, Spark and Java name it: never a word of its text but where
    Spark's own words begin it."""
    found, seen = [], 0
    while error is not None and seen < 10:
        seen += 1
        found.append(type(error).__name__)
        for name in ("getCondition", "getErrorClass", "code"):
            with contextlib.suppress(Exception):
                told = getattr(error, name)()
                found.append(getattr(told, "name", told))
        java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
        for _ in range(10):
            with contextlib.suppress(Exception):
                found.append(java.getClass().getSimpleName())
                java = java.getCause()
        begun = FAILED.match(str(error))
        if begun:
            found += [one.rpartition(".")[2] for one in begun.groups() if one]
        error = error.__cause__ or error.__context__
    return [part for one in found if isinstance(one, str) for part in (one, *one.split("."))]


def told_by(error, mark, public=False):
    """One sentence for whatever Spark raised. Its own text may quote rows, and is not shown; what
    executors say in our words stands between marks that this run drew. Where no private row was near
    (`public`), words of the text choose the sentence, too."""
    text = f"{type(error).__name__}: {error}"
    own = re.search(f"{mark}:([A-Za-z0-9+/=]*):{mark}", text)
    if own:
        with contextlib.suppress(ValueError):
            return base64.b64decode(own[1], validate=True).decode()
    for pattern, sentence in WORDS if public else []:
        if re.search(pattern, text):
            return sentence
    return next((CLASSES[one] for one in classes_of(error) if one in CLASSES), OTHER)


def trying(work, mark, public=False):
    """What `work` gives, or a SourceError with one sentence, nothing chained to it."""
    try:
        return work()
    except Error:
        raise
    except Exception as error:
        sentence = told_by(error, mark, public)
    raise SourceError(sentence)


def lies_nowhere(error):
    """Whether Spark says that there is nothing to read: no such path, or a folder without files."""
    for name in ("getCondition", "getErrorClass"):
        with contextlib.suppress(Exception):
            return getattr(error, name)() in ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA")
    return False


# The library on its way ------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def kept_folder():
    """A folder of this process: a classic driver serves files from it as long as it lives."""
    folder = tempfile.mkdtemp(prefix="tandem-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return pathlib.Path(folder)


def zipped(name, files):
    """An archive of {path inside: file}, whose name has a digest of its content."""
    digest = hashlib.sha256()
    for inside, file in sorted(files.items()):
        content = pathlib.Path(file).read_bytes()
        digest.update(f"{inside}\0{len(content)}\0".encode() + content)
    path = kept_folder() / f"{name}-{digest.hexdigest()[:24]}.zip"
    if not path.exists():
        part = path.with_suffix(f".{uuid.uuid4().hex}")
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for inside, file in sorted(files.items()):
                archive.write(file, inside)
        os.replace(part, path)
    return path


@functools.lru_cache(maxsize=None)
def package():
    """This package as an archive: its modules, the library, and the libraries that came with it in
    the wheel."""
    here = pathlib.Path(__file__).resolve().parent
    files = {f"tandem/{one.name}": one for one in here.glob("*.py")}
    files["tandem/libtandem_c.so"] = library_path()
    for beside in here.parent.glob("tandem_dp.libs/*"):
        files[f"tandem_dp.libs/{beside.name}"] = beside
    return zipped("tandem", files)


def worker(archive, extra, name, request, mark):
    """The function that executors run. Nested, so that it travels by value; it imports this
    package from the archive under a name of its own, whatever else they have installed."""
    missing = marked(mark, "The executors did not receive the archive of tandem's package; let executors "
                     "fetch files from the driver.")

    def run(batches):
        import base64
        import importlib.util
        import platform
        import sys

        from pyspark import SparkFiles

        called = archive.replace("-", "_").replace(".", "_")
        if called not in sys.modules:
            folder = SparkFiles.get(archive) + "/tandem"
            try:
                spec = importlib.util.spec_from_file_location(
                    called, folder + "/__init__.py", submodule_search_locations=[folder])
                module = importlib.util.module_from_spec(spec)
                sys.modules[called] = module
                spec.loader.exec_module(module)
                importlib.import_module(called + "._library").library()
            except Exception as error:
                sys.modules.pop(called, None)
                unlike = (f"The executors ({platform.machine()}, {' '.join(platform.libc_ver())}, Python "
                          f"{platform.python_version()}) can't load tandem's library; they need the "
                          "architecture of the driver, and a C library no older than the one that the "
                          "package was built for.")
                raise RuntimeError(missing if isinstance(error, FileNotFoundError) else
                                   f"{mark}:{base64.b64encode(unlike.encode()).decode()}:{mark}") from None
        work = getattr(importlib.import_module(called + "._executor"), name)
        asked = {**request, "mark": mark}
        if extra:
            asked["folder"] = SparkFiles.get(extra)
        yield from work(asked, batches)

    return run


# A session ---------------------------------------------------------------------------------------

class Session:
    """What differs between a classic session and Spark Connect, and between versions."""

    def __init__(self, spark):
        self.spark = spark
        self.connect = ".connect." in type(spark).__module__
        self.tag = f"tandem-{uuid.uuid4().hex[:16]}"
        self.mark = secrets.token_hex(16)  # of what executors say in our words; no row can know it
        self.sent = set()

    def trying(self, work, public=False):
        return trying(work, self.mark, public)

    def probe(self):
        """Runs the library in the executors once, without a row: whatever keeps them from it is then said
        in full."""
        found = self.spark.range(0, self.parallelism, 1, self.parallelism).mapInArrow(
            self.worker("probe", {}), "part int")
        self.trying(found.collect, public=True)

    def send(self, archive):
        """An archive to all executors, those included that come later."""
        if archive.name not in self.sent:
            if self.connect:
                self.trying(lambda: self.spark.addArtifacts(str(archive), archive=True), public=True)
            else:
                self.trying(lambda: self.spark.sparkContext.addArchive(str(archive)), public=True)
            self.sent.add(archive.name)
        return archive.name

    def worker(self, name, request, extra=None):
        return worker(self.send(package()), extra and self.send(extra), name, request, self.mark)

    @contextlib.contextmanager
    def tagged(self, what):
        """Jobs that are started here by this thread can be cancelled together."""
        if self.connect:
            self.spark.addTag(self.tag)
        else:
            context = self.spark.sparkContext
            before = {key: context.getLocalProperty(key) for key in
                      ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")}
            context.setJobGroup(self.tag, f"tandem: {what}", interruptOnCancel=True)
        try:
            yield
        finally:
            with contextlib.suppress(Exception):  # the session may be gone
                if self.connect:
                    self.spark.removeTag(self.tag)
                else:
                    for key, value in before.items():
                        context.setLocalProperty(key, value)

    def cancel(self):
        with contextlib.suppress(Exception):
            if self.connect:
                self.spark.interruptTag(self.tag)
            else:
                self.spark.sparkContext.cancelJobGroup(self.tag)

    @contextlib.contextmanager
    def records(self, most):
        """Spark hands at most so many records to Python at a time."""
        key = "spark.sql.execution.arrow.maxRecordsPerBatch"
        before = self.spark.conf.get(key, "10000")
        self.spark.conf.set(key, str(max(1, int(most))))
        try:
            yield
        finally:
            with contextlib.suppress(Exception):
                self.spark.conf.set(key, before)

    @functools.cached_property
    def parallelism(self):
        """How many tasks run at a time, as Spark itself divides a range."""
        from pyspark.sql import functions
        made = self.spark.range(0, 10_000).select(
            functions.spark_partition_id().alias("part")).agg(functions.max("part"))
        return max(1, made.collect()[0][0] + 1)

    def has(self, path):
        """Whether a table lies there, and holds rows."""
        try:
            return bool(self.spark.read.parquet(path).take(1))
        except Exception as error:
            if lies_nowhere(error):
                return False
        raise SourceError("The folder of coded rows (coded) can't be looked into: what is in it is no "
                          "table, or Spark may not read it; name another one.")

    def delete(self, path, parts):
        """Parts of a folder of this package's own, and the folder if nothing else is in it.
        Over Connect empty tables are written over them: there is no other way to files from
        there."""
        if self.connect:
            for part in parts:
                empty = self.spark.createDataFrame([], "gone int")
                empty.write.mode("overwrite").parquet(f"{path}/{part}")
            return
        name = self.spark._jvm.org.apache.hadoop.fs.Path
        folder = name(path)
        system = folder.getFileSystem(self.spark._jsparkSession.sessionState().newHadoopConf())
        for part in parts:
            system.delete(name(f"{path}/{part}"), True)
        with contextlib.suppress(Exception):  # not empty
            system.delete(folder, False)


# The coded table ---------------------------------------------------------------------------------

def plain_columns(frame, what):
    """(position, name, simple type) of the columns."""
    names = list(frame.columns)
    require_names(names, what)
    return {name: (at, field.dataType.simpleString())
            for at, (name, field) in enumerate(zip(names, frame.schema.fields))}


def chosen(frame, columns, person):
    """The frame's columns that the schema names, and the person's: the only ones that are read.
    Timestamps with a zone become the wall time of the session's zone, as in every frame."""
    what = "The private data"
    there = plain_columns(frame, "the private data")
    wanted = [name for name, column in columns.items() if not column.derived]
    for name in wanted:
        if name not in there:
            raise UsageError(f"{what} has no column {name!r}, which the schema names; add it, or take "
                             "it out of the schema.")
    if person is not None and person not in there:
        raise UsageError(f"{what} has no column {person!r}, named as the person column; check its "
                         "name.")
    if person is not None and person not in wanted:
        wanted.append(person)
    # By position: Spark takes names without their case, and dots in them as something else.
    placed = frame.toDF(*[f"c{at}" for at in range(len(frame.columns))])
    picked = []
    for name in wanted:
        at, kind = there[name]
        require_plain(name, kind, what)
        cell = placed[f"c{at}"]
        if kind == "timestamp":
            cell = cell.cast("timestamp_ntz")
        elif kind == "void":
            cell = cell.cast("string")
        picked.append(cell.alias(f"c{at}"))
    return placed.select(*picked), wanted


def require_plain(name, kind, what):
    if kind.split("(")[0] not in PLAIN:
        shown_kind = kind if len(kind) <= 40 else kind[:37] + "..."
        raise UsageError(f"{what} has the column {name!r} of type {shown_kind}; give one plain value a "
                         "cell, such as by a cast.")


class Coded:
    """Rows as blocks of codes on the cluster, for the time of a run."""

    def __init__(self, session, frame, schema, columns, person, rows_per_person, folder, resume,
                 tell):
        self.session = session
        self.tell = tell
        self.frame, self.names = chosen(frame, columns, person)
        self.person = person
        self.rows_per_person = rows_per_person
        self.resume = resume
        self.encoder = {"schema": pathlib.Path(schema).read_text(encoding="utf-8"),
                        "kind": "toml" if schema.endswith(".toml") else "json",
                        "person": person or ""}
        # In the folder that was named, one of our own: whatever else is in it stays as it is.
        self.folder = folder and f"{folder.rstrip('/')}/tandem-{self.digest()[:24]}"
        self.sizes, self.bytes_per_row = described(self.encoder)
        self.rows = None
        self.blocks = None     # a DataFrame with the column `block`
        self.singles = None    # counts of each column by itself, once they are known
        self.written = False

    def make(self):
        """Pass 0: encoded, bounded, kept, and held against Spark's own count of the same rows."""
        with self.session.tagged("encoding rows"):
            self.tell("encoding rows on the cluster")
            if self.folder is not None and self.claimed():
                return
            self.made()

    def made(self):
        from pyspark import StorageLevel
        session = self.session
        # Where the plan can be looked at, it says so itself; else two counts differ, or two passes.
        if not session.connect and not session.trying(
                lambda: self.frame._jdf.queryExecution().optimizedPlan().deterministic()):
            raise UsageError("The private data is a DataFrame that need not give the same rows twice "
                             "(rand(), uuid()); write it to a table first, and give that.")
        session.probe()
        counted = session.trying(self.frame.count)
        made = self.encoded(counted)
        rows_at_once = min(max(BATCH // (16 * max(1, len(self.names))), 1000), 65_536)
        with session.records(rows_at_once):
            if self.folder is None:
                self.blocks = made.persist(StorageLevel.MEMORY_AND_DISK)
            else:
                self.write(made, "blocks")
                self.blocks = session.spark.read.parquet(f"{self.folder}/blocks")
            self.rows, read = self.sums("rows", "read" if self.person else "rows")
        if read != counted:
            raise SourceError(
                "The private data is a DataFrame that gives other rows each time it is read (rand(), a "
                "sample, or a table that grows): two counts of it differ. Write it to a table first, "
                "and give that; nothing was spent.")
        if self.folder is not None:
            self.write(session.spark.createDataFrame([(self.rows,)], "rows long"), "whole")

    def write(self, table, part):
        self.session.trying(lambda: table.write.mode("overwrite").parquet(f"{self.folder}/{part}"))

    def claimed(self):
        """Makes the folder this run's own; whether it has its coded rows already, from before it was
        interrupted."""
        session, spark = self.session, self.session.spark
        begun, blocks = f"{self.folder}/begun", f"{self.folder}/blocks"
        if session.has(begun):
            same = [row[0] for row in session.trying(spark.read.parquet(begun).collect)] == [self.digest()]
            if not (same and self.resume):
                raise UsageError("The folder of coded rows (coded) belongs to another run; choose "
                                 "another one, or resume that run.")
            self.written = True
            if session.has(f"{self.folder}/whole"):
                kept, = session.trying(spark.read.parquet(f"{self.folder}/whole").collect)
                self.blocks = spark.read.parquet(blocks)
                self.rows, = self.sums("rows")
                if self.rows == kept["rows"]:
                    return True
        elif session.has(blocks):
            raise UsageError("The folder of coded rows (coded) holds something else; choose another "
                             "one.")
        self.written = True
        self.write(spark.createDataFrame([(self.digest(),)], "digest string"), "begun")
        return False

    def encoded(self, counted):
        session = self.session
        # Whose rows they are lies on disks of the cluster while people's rows are brought together.
        seal = secrets.token_hex(16) if self.person else ""
        request = {"encoder": {**self.encoder, "seal": seal}, "columns": self.names}
        if self.person is None:
            return self.frame.mapInArrow(session.worker("encode", request),
                                         "rows long, block binary")
        # All rows of a person in one task, some persons at a time: by a hash of the person, so
        # that a task that runs again has the same ones. rand() would not.
        tasks = max(2 * session.parallelism, 1)
        parts = min(max(4 * tasks, -(-counted // PERSON_ROWS)), 100_000)
        request["parts"] = parts
        divided = self.frame.mapInArrow(session.worker("encode_persons", request),
                                        "part int, rows long, block binary")
        together = divided.repartition(max(tasks, parts // 64), "part").sortWithinPartitions("part")
        return together.mapInArrow(
            session.worker("bound", {"rows_per_person": self.rows_per_person, "seal": seal}),
            "rows long, read long, block binary")

    def sums(self, *names):
        from pyspark.sql import functions
        found = self.session.trying(lambda: self.blocks.agg(
            *[functions.sum(name) for name in names]).collect())[0]
        return [value or 0 for value in found]

    def digest(self):
        told = json.dumps([self.encoder, self.rows_per_person, package().name])
        return hashlib.sha256(told.encode()).hexdigest()

    def close(self):
        """Nothing private stays behind, whatever happened."""
        with contextlib.suppress(Exception):
            if self.folder is None and self.blocks is not None:
                self.blocks.unpersist()
        if self.folder is not None and self.written:
            try:
                self.session.delete(self.folder, ["blocks", "whole", "begun"])
            except Exception:
                print("tandem: the folder of coded rows could not be removed; remove it by hand: it "
                      "holds private rows.", file=sys.stderr)

    def count(self, cliques, out):
        """Counts of all cells of these cliques into `out`, clique after clique."""
        if not any(cliques):  # how many rows there are is known
            out[:] = [self.rows] * len(cliques)
            return len(cliques)
        at = 0
        for some in portions(cliques, self.sizes):
            self.tell("counting on the cluster")
            at += self.count_portion(some, out, at)
        return at

    def count_portion(self, cliques, out, at):
        """One job. Every column by itself is counted again beside them: rows that change between
        two passes are found by it."""
        singles = [[column] for column in range(len(self.sizes))]
        asked = cliques + singles
        cells = [product(self.sizes, clique) for clique in asked]
        session = self.session
        request = {"sizes": self.sizes, "cliques": asked, "chunk": CHUNK}
        chunks = -(-sum(cells) // CHUNK)
        tasks = max(3 * session.parallelism, -(-self.rows // TASK_ROWS))
        per_block = max(1, self.bytes_per_row) * (65_536 if self.person is None else 2 * PERSON_ROWS)
        with session.tagged("counting"), session.records(min(BLOCKS // min(per_block, BLOCKS), 64)):
            partial = self.blocks.select("block").coalesce(tasks).mapInArrow(
                session.worker("count", request), "chunk int, counts binary")
            sums = partial.repartition(min(chunks, 2 * session.parallelism), "chunk").mapInArrow(
                session.worker("add", {}), "chunk int, counts binary")
            rows = session.trying(sums.collect)
        flat = (ctypes.c_int64 * sum(cells))()
        for chunk, counts in rows:
            ctypes.memmove(ctypes.addressof(flat) + chunk * CHUNK * 8, bytes(counts), len(counts))
        self.check(flat, cells, len(cliques))
        wanted = sum(cells[:len(cliques)])
        ctypes.memmove(ctypes.addressof(out) + at * 8, flat, wanted * 8)
        return wanted

    def check(self, flat, cells, first_single):
        import pyarrow
        import pyarrow.compute as compute
        array = pyarrow.Array.from_buffers(pyarrow.int64(), len(flat),
                                           [None, pyarrow.py_buffer(flat)])
        at = 0
        for size in cells:
            if (compute.sum(array.slice(at, size)).as_py() or 0) != self.rows:
                raise SourceError(CHANGED)
            at += size
        singles = bytes(memoryview(flat).cast("B")[8 * sum(cells[:first_single]):])
        digest = hashlib.sha256(singles).digest()
        if self.singles is None:
            self.singles = digest
        elif self.singles != digest:
            raise SourceError(CHANGED)


CHANGED = ("The rows on the cluster are not the same in two passes: what was lost was read again, and "
           "the DataFrame then gave other rows. Write it to a table first, or name a folder for the "
           "coded rows (coded).")


def product(sizes, clique):
    cells = 1
    for attribute in clique:
        cells *= sizes[attribute]
    return cells


def portions(cliques, sizes):
    """Cliques in lists of at most CELLS cells; a larger one is by itself."""
    held, cells = [], 0
    for clique in cliques:
        more = product(sizes, clique)
        if held and cells + more > CELLS:
            yield held
            held, cells = [], 0
        held.append(clique)
        cells += more
    if held:
        yield held


def described(request):
    """Codes of each attribute, and bytes of a row of codes."""
    from ._blocks import Encoder
    told = Encoder(request).told
    return told["sizes"], told["bytes_per_row"]


def shape_like(frame):
    """The Shape of a DataFrame whose types made rows are to have."""
    return Shape("spark", {name: kind for name, (_, kind) in plain_columns(frame, "like").items()},
                 frame.sparkSession)


# A run -------------------------------------------------------------------------------------------

def require_readable(frame, what):
    """UsageError for a DataFrame whose rows can not be read to an end."""
    need_pyarrow("A Spark DataFrame")
    if not hasattr(frame, "toArrow"):
        raise UsageError(f"{what} is a DataFrame of an old Spark; this needs pyspark 4.0 or newer.")
    try:
        streaming = frame.isStreaming
    except Exception:
        streaming = None
    if streaming is None:
        raise UsageError(f"{what} is a DataFrame that Spark can't analyze; try it by hand, such as with "
                         ".printSchema().")
    if streaming:
        raise UsageError(f"{what} is a streaming DataFrame, which has no end; write it to a table, and "
                         "give that.")


def synthesize(frame, request, schema, columns, *, coded, names, progress):
    """One run of the gate over rows on a cluster: the answer, and the shape of the frame."""
    require_readable(frame, "the private data")
    session = Session(frame.sparkSession)
    settings = request["settings"]
    progress = shown(progress)

    def tell(stage):
        if progress is not None:
            progress({"stage": stage})

    shape = Shape("spark", session=session.spark)
    table = Coded(session, frame, schema, columns, settings.get("person"),
                  settings["rows-per-person"], coded and os.fspath(coded), request["resume"], tell)
    try:
        try:
            table.make()
        except KeyboardInterrupt:
            session.cancel()
            raise KeyboardInterrupt("Stopped while rows were encoded; nothing was spent.") from None
        request["counted"] = {"rows": table.rows, "most-rows": MADE_ROWS}

        def counting(raised):
            def count(_user, asked, out, cells):
                try:
                    cliques = json.loads(asked)["cliques"]
                    place = (ctypes.c_int64 * cells).from_address(
                        ctypes.cast(out, ctypes.c_void_p).value)
                    if table.count(cliques, place) != cells:
                        raise InternalError("The counts of a cluster do not fit what was asked for; "
                                            "please report it.")
                    return 0
                except BaseException as error:  # it must not be lost in C
                    raised.append(error)
                    return 1
            return COUNT(count)

        answer = call("tandem_synthesize_counted", request, names, progress, counting,
                      interrupted=session.cancel)
    finally:
        table.close()
    return answer, shape


# Public rows, and rows that were made ------------------------------------------------------------

def collected(frame, what):
    """A public DataFrame of Spark as a pyarrow.Table on the driver."""
    require_readable(frame, what)
    for name, (_, kind) in plain_columns(frame, what).items():
        require_plain(name, kind, what)
    placed = frame.toDF(*[f"c{at}" for at in range(len(frame.columns))])
    placed = placed.select(*[
        placed[name].cast("timestamp_ntz").alias(name) if kind == "timestamp" else placed[name]
        for name, kind in placed.dtypes])
    some = placed.limit(PUBLIC_ROWS + 1)
    table = trying(some.toArrow, secrets.token_hex(16), public=True)
    if table.num_rows > PUBLIC_ROWS:
        raise UsageError(f"{what} has more than {PUBLIC_ROWS:,} rows, too many for the driver; give a "
                         "sample of it, such as .sample(0.01).")
    return table.rename_columns(list(frame.columns))


def release_types(release):
    """Its schema's columns, the format of its file, and a type of Spark for each of its columns."""
    document = release.schema.document
    columns = columns_of_schema(document)
    text_format = {**document.get("csv", {}), **release.document.get("text", {})}
    declared = release._shape.types if release._shape and release._shape.kind == "spark" else {}
    comma = text_format.get("decimal", ".") == ","
    return columns, text_format, {
        name: kept_type(declared.get(name), column, comma) for name, column in columns.items()}


def placed_types(kinds):
    """Types of the columns as they are made: a timestamp is made as its wall time."""
    return ", ".join(f"c{at} {'timestamp_ntz' if kind == 'timestamp' else kind}"
                     for at, kind in enumerate(kinds.values()))


def named(frame, kinds):
    return frame.select(*[frame[f"c{at}"].cast(kind).alias(name)
                          for at, (name, kind) in enumerate(kinds.items())])


def rows_of_release(release, spark):
    """The rows in the folder, as a DataFrame of Spark."""
    pyarrow = need_pyarrow("A Spark DataFrame")
    columns, text_format, kinds = release_types(release)
    path = release.path / "synthetic.csv"
    if not path.exists():
        raise UsageError(f"{release.path} holds no rows; it is a release of answers.")
    table = pyarrow.Table.from_batches(batches_of(path, text_format, columns, kinds))
    schema = placed_types(kinds)
    return named(spark.createDataFrame(table, schema), kinds)


def made(release, spark, rows, seed):
    """Other rows of the same model, made on the executors: a seed for each partition, so that one
    that runs again makes the same rows."""
    if rows <= 0:
        raise UsageError(f"rows is {rows}; give how many rows to make.")
    session = Session(spark)
    need_pyarrow("A Spark DataFrame")
    if not (release.path / "model.bin").exists():
        raise UsageError(f"{release.path} has no model to make rows from; it is a release of answers.")
    _, _, kinds = release_types(release)
    archive = zipped("release", {"model.bin": release.path / "model.bin"})
    parts = max(min(session.parallelism, rows // 1000 + 1), -(-rows // PART_ROWS))
    schema = next(release.path.glob("schema.*"))
    request = {"rows": rows, "parts": parts, "kinds": kinds, "document": release.schema.document,
               "schema": {"schema": schema.read_text(encoding="utf-8"), "kind": schema.suffix[1:]},
               "seed": secrets.randbits(63) if seed is None else seed}
    frame = spark.range(0, parts, 1, parts).mapInArrow(
        session.worker("make", request, archive), placed_types(kinds))
    return named(frame, kinds)
