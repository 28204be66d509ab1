# SPDX-License-Identifier: Apache-2.0
"""The C library, by ctypes. Signatures stand here alone; a test holds them against tandem_c.h."""

import ctypes
import functools
import json
import os
import pathlib
import sys
import threading

from ._errors import Error, InternalError, SourceError, UsageError, error_of, sentence

VERSION = 2  # TANDEM_C_VERSION
CALLS = ["tandem_synthesize", "tandem_refit", "tandem_evaluate", "tandem_check",
         "tandem_draft_schema", "tandem_schema", "tandem_mechanisms", "tandem_ledger_create",
         "tandem_ledger_show", "tandem_ledger_verify", "tandem_plan", "tandem_foresee",
         "tandem_epsilon_for_error", "tandem_marginal", "tandem_answers", "tandem_estimate"]
PROGRESS = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
COUNT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p,
                         ctypes.POINTER(ctypes.c_int64), ctypes.c_uint64)
WORDS, PLACE = ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_void_p)
# Calls on blocks of codes: what they take before the place for the answer.
BLOCKS = {
    "tandem_encoder_new": [ctypes.c_char_p, PLACE],
    "tandem_encode": [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, PLACE, WORDS],
    "tandem_bound_persons": [ctypes.c_char_p, ctypes.POINTER(ctypes.c_char_p), WORDS,
                             ctypes.c_uint64, PLACE, WORDS],
    "tandem_counter_new": [ctypes.c_char_p, PLACE],
    "tandem_counter_add": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64],
    "tandem_counter_read": [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64), ctypes.c_uint64],
    "tandem_make_rows": [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, PLACE, WORDS],
    "tandem_synthesize_counted": [ctypes.c_char_p, ctypes.c_void_p, COUNT, ctypes.c_void_p],
}


class ArrowArrayStream(ctypes.Structure):
    """As Arrow's C stream interface has it."""

    _fields_ = [("get_schema", ctypes.c_void_p), ("get_next", ctypes.c_void_p),
                ("get_last_error", ctypes.c_void_p), ("release", ctypes.c_void_p),
                ("private_data", ctypes.c_void_p)]


OPEN = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ArrowArrayStream))


def candidates():
    here = pathlib.Path(__file__).resolve().parent
    if named := os.environ.get("TANDEM_LIBRARY"):
        return [pathlib.Path(named)]
    return [here / "libtandem_c.so", here.parent.parent / "build" / "release" / "libtandem_c.so"]


def library_path():
    for path in candidates():
        if path.exists():
            return path
    raise SourceError("libtandem_c.so can't be found; build it with './run python', or name it in the "
                      "environment variable TANDEM_LIBRARY.")


@functools.lru_cache(maxsize=None)
def library():
    path = library_path()
    found = ctypes.CDLL(str(path))
    found.tandem_c_version.restype = ctypes.c_int
    found.tandem_c_version.argtypes = []
    if found.tandem_c_version() != VERSION:
        raise InternalError(f"{path} has version {found.tandem_c_version()} of the C door and this "
                            f"package needs {VERSION}; install both from one release.")
    found.tandem_version.restype = ctypes.c_char_p
    found.tandem_version.argtypes = []
    found.tandem_free.restype = None
    found.tandem_free.argtypes = [ctypes.c_void_p]
    found.tandem_task_new.restype = ctypes.c_void_p
    found.tandem_task_new.argtypes = [PROGRESS, ctypes.c_void_p]
    for name in ("tandem_task_cancel", "tandem_task_free"):
        getattr(found, name).restype = None
        getattr(found, name).argtypes = [ctypes.c_void_p]
    streamed = found.tandem_synthesize_stream
    streamed.restype = ctypes.c_int
    streamed.argtypes = [ctypes.c_char_p, ctypes.c_void_p, OPEN, ctypes.c_void_p, PLACE]
    for name in CALLS:
        getattr(found, name).restype = ctypes.c_int
        getattr(found, name).argtypes = [ctypes.c_char_p, ctypes.c_void_p,
                                         ctypes.POINTER(ctypes.c_void_p)]
    for name, taken in BLOCKS.items():
        getattr(found, name).restype = ctypes.c_int
        getattr(found, name).argtypes = [*taken, ctypes.POINTER(ctypes.c_void_p)]
    for name in ("tandem_encoder_free", "tandem_counter_free"):
        getattr(found, name).restype = None
        getattr(found, name).argtypes = [ctypes.c_void_p]
    return found


def command():
    """The path of the command that belongs to the library."""
    here = pathlib.Path(__file__).resolve().parent
    for path in (here / "bin" / "tandem", here.parent.parent / "build" / "release" / "tandem"):
        if path.exists():
            return str(path)
    raise SourceError("The command tandem can't be found in the package; install it again.")


def shown(progress):
    """progress=True is a bar of tqdm where that is installed, and lines on stderr otherwise."""
    if progress is None or progress is False:
        return None
    if callable(progress):
        return progress
    try:
        from tqdm.auto import tqdm
    except ImportError:
        last = []

        def line(event):
            if event.get("stage") and event["stage"] != (last and last[-1]):
                last.append(event["stage"])
                print(f"tandem: {event['stage']}", file=sys.stderr)
        return line
    bar = tqdm(total=1.0, bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed}")

    def move(event):
        if event.get("stage"):
            bar.set_description_str(event["stage"], refresh=False)
            bar.n = max(bar.n, min(event.get("share", 0.0), 1.0))
            bar.refresh()
    return move


def json_of(request):
    """A request as the library reads it; numbers of numpy are numbers."""
    def plain(value):
        if getattr(value, "shape", None) == ():
            return value.item()
        raise TypeError
    try:
        return json.dumps(request, default=plain, allow_nan=False).encode()
    except (TypeError, ValueError):
        raise UsageError("An argument is neither a finite number, text, nor a list of these; give "
                         "one of them.") from None


STARTED_IN = os.getpid()
threads_were_used = []


def call(name, request, names=None, progress=None, opened=None, interrupted=lambda: None):
    """The answer of one call. It runs on a thread of its own, so that Ctrl-C reaches this one: it
    stops the work, waits until it has come to rest, and raises KeyboardInterrupt. `opened(raised)`
    makes the callback of a call that opens streams or counts; what it could not do goes into the
    list. `interrupted` stops what such a callback waits for."""
    if os.getpid() != STARTED_IN and threads_were_used:
        raise UsageError("tandem was used before this process was forked, and its threads did not "
                         "come along; start workers with multiprocessing's 'spawn'.")
    threads_were_used.append(name)
    lib = library()
    progress = shown(progress)
    text = json_of(request)
    raised = []
    answer = ctypes.c_void_p()
    codes = []

    def hear(_user, event):
        try:
            if progress is not None:
                heard = json.loads(event)
                if "note" in heard:
                    heard["note"] = sentence(heard["note"], names)
                progress(heard)
            return 0
        except BaseException as error:  # it must not be lost in C
            raised.append(error)
            return 1

    callback = PROGRESS(hear)
    task = lib.tandem_task_new(callback, None)
    more = [] if opened is None else [opened(raised), None]
    # Not the thread's own join: one that Ctrl-C interrupts may take a thread for ended (Python 3.11).
    rests = threading.Event()

    def work():
        try:
            codes.append(getattr(lib, name)(text, task, *more, ctypes.byref(answer)))
        finally:
            rests.set()

    worker = threading.Thread(target=work, daemon=True)
    interrupt = None
    while not rests.is_set():
        try:
            if worker.ident is None:
                worker.start()
            rests.wait(0.1)
        except KeyboardInterrupt as error:
            interrupt = error
            lib.tandem_task_cancel(task)
            interrupted()
    try:
        document = json.loads(ctypes.string_at(answer.value).decode()) if answer.value else None
    finally:
        lib.tandem_free(answer)
        lib.tandem_task_free(task)
    if interrupt is not None or raised:
        # What became of the run is said with whatever stopped it.
        told = sentence(document["error"]["marked"], names) if document and "error" in document else ""
        if interrupt is not None:
            raise KeyboardInterrupt(told) from None
        if isinstance(raised[0], SourceError):  # of rows that could not be opened
            raise SourceError(f"{raised[0]} {told.partition('. ')[2]}".strip()) from None
        if told and hasattr(raised[0], "add_note") and not isinstance(raised[0], Error):
            raised[0].add_note(told)
        raise raised[0]
    if codes == [0] and document is not None:
        return document
    if document is None:
        raise InternalError("The library gave no answer; please report it.")
    if document["error"]["kind"] == "cancelled":
        raise Error(sentence(document["error"]["marked"], names))
    raise error_of(document["error"], names)
