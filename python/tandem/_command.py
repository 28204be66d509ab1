# SPDX-License-Identifier: Apache-2.0
"""The command `tandem`, which lies inside the package."""

import os
import pathlib
import sys


def main():
    command = pathlib.Path(__file__).resolve().parent / "bin" / "tandem"
    os.execv(command, ["tandem", *sys.argv[1:]])
