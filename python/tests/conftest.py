# SPDX-License-Identifier: Apache-2.0
import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import pytest

# What tests share is found by its name, however pytest imports them.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


class Postgres:
    """A PostgreSQL server of its own on loopback, which can be stopped and started again. Whoever
    connects gives a password, which the server does not ask for: tests look for where it might be
    left."""

    PASSWORD = "hunter2-planted"

    def __init__(self, programs, folder, as_user, psycopg):
        self.programs, self.folder, self.as_user, self.psycopg = programs, folder, as_user, psycopg
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        subprocess.run([*as_user, programs / "initdb", "-A", "trust", "-U", "steward", "-E", "UTF8",
                        "--locale", "C", "-D", folder / "db"], check=True, capture_output=True, cwd="/")
        self.running = None

    def start(self):
        self.running = subprocess.Popen(
            [*self.as_user, self.programs / "postgres", "-D", self.folder / "db", "-p", str(self.port),
             "-h", "127.0.0.1", "-k", self.folder, "-F"], cwd="/", stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        for _ in range(200):
            with contextlib.suppress(self.psycopg.OperationalError):
                self.connect().close()
                return
            time.sleep(0.1)
        raise RuntimeError("the server did not start")

    def stop(self):
        """At once, in the middle of whatever it does."""
        subprocess.run([*self.as_user, self.programs / "pg_ctl", "stop", "-m", "immediate", "-D",
                        self.folder / "db"], check=True, capture_output=True, cwd="/")
        self.running.wait(20)

    def connect(self):
        return self.psycopg.connect(host="127.0.0.1", port=self.port, user="steward",
                                    dbname="postgres", password=self.PASSWORD)


@pytest.fixture(scope="module")
def in_memory():
    """Where thousands of small releases are written, a disk would be waited for: memory serves."""
    before = tempfile.tempdir
    if os.access("/dev/shm", os.W_OK):
        tempfile.tempdir = "/dev/shm"
    yield
    tempfile.tempdir = before


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    psycopg = pytest.importorskip("psycopg")
    server = shutil.which("postgres") or next(
        iter(sorted(map(str, pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres")))), None)
    if server is None:
        pytest.skip("no PostgreSQL server on this machine: the package postgresql")
    folder = tmp_path_factory.mktemp("postgres")
    as_user = []
    if os.getuid() == 0:  # the server refuses to be root
        import pwd
        try:
            pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("no user postgres on this machine")
        for above in [folder, *folder.parents]:
            if above.name.startswith("pytest"):
                above.chmod(0o755)
        shutil.chown(folder, "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]
    found = Postgres(pathlib.Path(server).resolve().parent, folder, as_user, psycopg)
    found.start()
    yield found
    found.stop()


@pytest.fixture(scope="session")
def codes():
    """The codes of each row, as the library's encoder gives them: bytes of each column."""
    from tandem._library import library

    def of(stream, schema, kind="toml"):
        import pyarrow
        lib, pointer = library(), ctypes.byref
        encoder, answer = ctypes.c_void_p(), ctypes.c_void_p()
        request = json.dumps({"schema": schema, "kind": kind, "person": ""}).encode()
        assert lib.tandem_encoder_new(request, pointer(encoder), pointer(answer)) == 0, \
            ctypes.string_at(answer.value)
        layout = json.loads(ctypes.string_at(answer.value))
        lib.tandem_free(answer)
        lib.tandem_encoder_free.argtypes = [ctypes.c_void_p]
        found = [b""] * len(layout["names"])
        for batch in pyarrow.RecordBatchReader.from_stream(stream.opened()):
            array, types = ctypes.create_string_buffer(80), ctypes.create_string_buffer(72)
            batch._export_to_c(ctypes.addressof(array), ctypes.addressof(types))
            block, size, answer = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_void_p()
            assert lib.tandem_encode(encoder, array, types, pointer(block), pointer(size),
                                     pointer(answer)) == 0, ctypes.string_at(answer.value)
            data = ctypes.string_at(block.value, size.value)
            lib.tandem_free(block)
            lib.tandem_free(answer)
            columns, rows = int.from_bytes(data[4:8], "little"), int.from_bytes(data[8:16], "little")
            widths = data[16:16 + columns]
            at = -(-(17 + columns) // 8) * 8
            for column, width in enumerate(widths):
                found[column] += data[at:at + rows * width]
                at += -(-rows * width // 8) * 8
        lib.tandem_encoder_free(encoder)
        return found
    return of
