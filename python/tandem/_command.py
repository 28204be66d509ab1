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


def main():
    command = pathlib.Path(__file__).resolve().parent / "bin" / "tandem"
    module = parquet_reader()
    if module is not None:
        os.environ.setdefault("TANDEM_DUCKDB", module)
        own = sysconfig.get_config_var("LIBDIR")
        if own:  # where the module's Python is looked for last
            os.environ["LD_LIBRARY_PATH"] = ":".join(
                [one for one in (os.environ.get("LD_LIBRARY_PATH"), own) if one])
    os.execv(command, ["tandem", *sys.argv[1:]])
