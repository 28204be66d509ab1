# SPDX-License-Identifier: Apache-2.0
"""The command `tandem`, which lies inside the package."""

import importlib.util
import os
import pathlib
import sys
import sysconfig


def parquet_reader():
    """The module of the duckdb that is installed here, which the command reads Parquet with, and with it
    the library of this Python, which the module asks for."""
    found = importlib.util.find_spec("_duckdb")
    return found.origin if found is not None else None


def python_library():
    """The shared library of this Python, which that module asks for, where it has one."""
    folder, name = map(sysconfig.get_config_var, ("LIBDIR", "INSTSONAME"))
    path = pathlib.Path(folder or "", name or "")
    return str(path) if path.suffixes and path.is_file() and ".so" in path.name else None


def main():
    command = pathlib.Path(__file__).resolve().parent / "bin" / "tandem"
    module = parquet_reader()
    if module is not None:
        os.environ.setdefault("TANDEM_DUCKDB", module)
        own = python_library()
        if own is not None:
            os.environ.setdefault("TANDEM_PYTHON_LIBRARY", own)
    os.execv(command, ["tandem", *sys.argv[1:]])
