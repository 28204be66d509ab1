# SPDX-License-Identifier: Apache-2.0
"""What runs inside the executors of a cluster: record batches in, record batches out.

No message from here holds anything of a row. What a caller may hear is raised as Told, whose text
the driver finds again in whatever Spark makes of an exception.
"""

import base64
import hashlib
import pathlib

from . import _blocks
from ._columns import columns_of_schema
from ._errors import Error
from ._made import batches_of

HELD = 64 << 20  # bytes of blocks that are divided among persons at a time


def marked(mark, sentence):
    """A sentence of ours as the driver finds it again, wherever Spark puts it: between marks that no
    row can know, and in letters that nothing else is put in."""
    return f"{mark}:{base64.b64encode(sentence.encode()).decode()}:{mark}"


class Told(RuntimeError):
    pass


def telling(work):
    """Batches of `work`, whose own sentences reach the driver and whose other failures say nothing."""
    def run(request, batches):
        told = None
        try:
            yield from work(request, batches)
        except Told:
            raise
        except Error as error:
            told = str(error)
        except MemoryError:
            told = ("A task ran out of memory; give executors more memory beside the JVM "
                    "(spark.executor.memoryOverhead), or fewer cores each.")
        if told is not None:
            raise Told(marked(request["mark"], told))
    return run


def record(names, *columns):
    import pyarrow
    kinds = {"block": pyarrow.binary(), "counts": pyarrow.binary(), "part": pyarrow.int32(),
             "chunk": pyarrow.int32()}
    return pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(column, kinds.get(name, pyarrow.int64()))
         for name, column in zip(names, columns)], names=list(names))


def coded(request, batches):
    """Rows as blocks, each with its number of rows. Columns come by position."""
    import pyarrow
    encoder = _blocks.Encoder(request["encoder"])
    names = request["columns"]
    for batch in batches:
        if batch.num_rows:
            named = pyarrow.RecordBatch.from_arrays(batch.columns, names=names)
            yield batch.num_rows, encoder.block(named)


@telling
def probe(_request, batches):
    """Nothing but that this runs: part."""
    for _ in batches:
        yield record(("part",), [0])


@telling
def encode(request, batches):
    """Rows to blocks: rows, block."""
    for rows, block in coded(request, batches):
        yield record(("rows", "block"), [rows], [block])


@telling
def encode_persons(request, batches):
    """Rows to blocks of some persons each: part, rows, block."""
    held, size = [], 0

    def divided():
        for part, rows, block in _blocks.divided(held, request["parts"]):
            yield record(("part", "rows", "block"), [part], [rows], [block])

    for _, block in coded(request, batches):
        held.append(block)
        size += len(block)
        if size >= HELD:
            yield from divided()
            held, size = [], 0
    yield from divided()


@telling
def bound(request, batches):
    """Blocks in the order of their parts to one block for each part: rows, read, block. All rows of
    a part are here."""
    part, held, read = None, [], 0

    def chosen():
        block = _blocks.bounded(held, request["rows_per_person"], request["seal"])
        return record(("rows", "read", "block"), [_blocks.rows_of(block)], [read], [block])

    for batch in batches:
        for one, rows, block in zip(*(batch.column(at).to_pylist() for at in range(3))):
            if held and one != part:
                yield chosen()
                held, read = [], 0
            part = one
            held.append(block)
            read += rows
    if held:
        yield chosen()


@telling
def count(request, batches):
    """Blocks to counts: chunk, counts. One partial of all cells for the whole task."""
    counter = _blocks.Counter(request["sizes"], request["cliques"])
    any_rows = False
    for batch in batches:
        for block in batch.column(0):
            counter.add(block.as_py())
            any_rows = True
    if not any_rows:
        return
    counts = memoryview(counter.counts()).cast("B")
    step = request["chunk"] * 8
    for chunk, first in enumerate(range(0, len(counts), step)):
        yield record(("chunk", "counts"), [chunk], [bytes(counts[first:first + step])])


@telling
def add(_request, batches):
    """Partial counts to their sums: chunk, counts. All partials of a chunk are here."""
    import pyarrow
    import pyarrow.compute as compute
    sums = {}
    for batch in batches:
        for chunk, counts in zip(batch.column(0).to_pylist(), batch.column(1)):
            buffer = counts.as_buffer()
            array = pyarrow.Array.from_buffers(pyarrow.int64(), buffer.size // 8, [None, buffer])
            # A copy, so that the batch it came in can go.
            sums[chunk] = compute.add_checked(sums[chunk], array) if chunk in sums else (
                compute.add_checked(array, pyarrow.scalar(0, pyarrow.int64())))
    for chunk, array in sums.items():
        buffer = array.buffers()[1].slice(array.offset * 8, len(array) * 8)
        yield record(("chunk", "counts"), [chunk], [buffer.to_pybytes()])


@telling
def make(request, batches):
    """Numbers of partitions to rows from the model in `folder`: each has a seed of its own."""
    columns = columns_of_schema(request["document"])
    model = (pathlib.Path(request["folder"]) / "model.bin").read_bytes()
    for batch in batches:
        for part in batch.column(0).to_pylist():
            rows = (request["rows"] * (part + 1) // request["parts"] -
                    request["rows"] * part // request["parts"])
            if rows == 0:
                continue
            digest = hashlib.sha256(f"{request['seed']} {part}".encode()).digest()
            text = _blocks.rows_of_model(model, {
                **request["schema"], "rows": rows, "seed": int.from_bytes(digest[:7], "big"),
                "threads": 1})
            yield from batches_of(text, {}, columns, request["kinds"])
