# SPDX-License-Identifier: Apache-2.0
"""Blocks of codes: what the library makes of record batches, bounds per person, and counts.

A block is bytes, so it travels through any engine. Its layout is in tandem_c.h; here it is taken
apart only to divide rows among persons.
"""

import ctypes
import json
import struct

from ._errors import InternalError, error_of
from ._library import library

HEADER = struct.Struct("<4sIQ")  # magic, columns, rows


def asked(name, *arguments):
    """One call whose last argument is the answer: the answer's document, or what is wrong."""
    answer = ctypes.c_void_p()
    code = getattr(library(), name)(*arguments, ctypes.byref(answer))
    try:
        text = ctypes.string_at(answer.value) if answer.value else b"{}"
    finally:
        library().tandem_free(answer)
    document = json.loads(text.decode())
    if code != 0:
        if "error" not in document:
            raise InternalError("The library gave no answer; please report it.")
        raise error_of(document["error"])
    return document


def taken(block, size):
    """The bytes of a block that the library made."""
    try:
        return ctypes.string_at(block.value, size.value)
    finally:
        library().tandem_free(block)


def pointer_of(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


class Encoder:
    """A schema's columns from record batches to blocks."""

    def __init__(self, request):
        self.handle = ctypes.c_void_p()
        self.told = asked("tandem_encoder_new", json.dumps(request).encode(),
                          ctypes.byref(self.handle))

    def block(self, batch):
        """The block of a pyarrow.RecordBatch."""
        schema, array = batch.__arrow_c_array__()
        block, size = ctypes.c_void_p(), ctypes.c_uint64()
        asked("tandem_encode", self.handle, pointer_of(array, b"arrow_array"),
              pointer_of(schema, b"arrow_schema"), ctypes.byref(block), ctypes.byref(size))
        return taken(block, size)

    def __del__(self):
        if getattr(self, "handle", None):
            library().tandem_encoder_free(self.handle)


class Counter:
    """Counts of cliques over blocks, in 64 bits."""

    def __init__(self, sizes, cliques):
        self.handle = ctypes.c_void_p()
        request = {"sizes": sizes, "cliques": cliques, "threads": 1}
        self.cells = asked("tandem_counter_new", json.dumps(request).encode(),
                           ctypes.byref(self.handle))["cells"]

    def add(self, block):
        asked("tandem_counter_add", self.handle, block, len(block))

    def counts(self):
        """All cells, clique after clique, as an array of ctypes."""
        counts = (ctypes.c_int64 * self.cells)()
        asked("tandem_counter_read", self.handle, counts, self.cells)
        return counts

    def __del__(self):
        if getattr(self, "handle", None):
            library().tandem_counter_free(self.handle)


def bounded(blocks, rows_per_person, seal=""):
    """A block with at most so many rows of each person, who have all their rows in these blocks. `seal`
    is what their keys were sealed with."""
    count = len(blocks)
    texts = (ctypes.c_char_p * count)(*blocks)
    sizes = (ctypes.c_uint64 * count)(*[len(block) for block in blocks])
    block, size = ctypes.c_void_p(), ctypes.c_uint64()
    asked("tandem_bound_persons", json.dumps({"rows_per_person": rows_per_person, "seal": seal}).encode(), texts,
          sizes, count, ctypes.byref(block), ctypes.byref(size))
    return taken(block, size)


def rows_of_model(model, request):
    """Rows of a model, as the text of a CSV file."""
    text, size = ctypes.c_void_p(), ctypes.c_uint64()
    asked("tandem_make_rows", json.dumps(request).encode(), model, len(model), ctypes.byref(text),
          ctypes.byref(size))
    return taken(text, size)


def padded(size):
    return (size + 7) // 8 * 8


def rows_of(block):
    return HEADER.unpack_from(block)[2]


def divided(blocks, parts):
    """(part, rows, block) for the rows of these blocks, by person: all rows of a person have one part,
    whichever block they are in. Rows that name nobody have part 0."""
    import pyarrow
    import pyarrow.compute as compute
    if not blocks:
        return
    magic, columns, _ = HEADER.unpack_from(blocks[0])
    widths = list(blocks[0][HEADER.size:HEADER.size + columns])
    start = padded(HEADER.size + columns + 1)
    kinds = {1: pyarrow.uint8(), 2: pyarrow.uint16(), 4: pyarrow.uint32(), 8: pyarrow.uint64()}
    read = [[] for _ in range(columns + 2)]
    for block in blocks:
        rows, at, whole = rows_of(block), start, pyarrow.py_buffer(block)
        for column, width in zip(read, [*widths, 8, 8]):
            column.append(pyarrow.Array.from_buffers(kinds[width], rows,
                                                     [None, whole.slice(at, rows * width)]))
            at += padded(rows * width)
    arrays = [pyarrow.concat_arrays(column) for column in read]
    high = arrays[columns]
    # Its leading bits, as a signed number that the arithmetic below can not overflow.
    leading = compute.shift_right(high, pyarrow.scalar(32, pyarrow.uint64())).cast(pyarrow.int64())
    part = compute.shift_right(compute.multiply(leading, pyarrow.scalar(parts, pyarrow.int64())),
                               pyarrow.scalar(32, pyarrow.int64()))
    order = compute.sort_indices(part)
    sorted_part = part.take(order)
    arrays = [array.take(order) for array in arrays]
    ends = compute.run_end_encode(sorted_part, run_end_type=pyarrow.int64())
    first = 0
    head = bytes([*widths, 1])
    for value, end in zip(ends.values.to_pylist(), ends.run_ends.to_pylist()):
        rows = end - first
        pieces = [HEADER.pack(magic, columns, rows), head,
                  bytes(start - HEADER.size - columns - 1)]
        for array, width in zip(arrays, [*widths, 8, 8]):
            size = rows * width
            pieces.append(array.buffers()[1].slice(first * width, size).to_pybytes())
            pieces.append(bytes(padded(size) - size))
        yield value, rows, b"".join(pieces)
        first = end
