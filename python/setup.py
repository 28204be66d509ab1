# SPDX-License-Identifier: Apache-2.0
"""One wheel for every Python: the shared library and the command lie inside the package.

Both come from the folder that TANDEM_BUILD names (scripts/python.sh does), or are built here with
CMake from the sources around this folder.
"""

import os
import pathlib
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

HERE = pathlib.Path(__file__).resolve().parent


def built():
    """The folder with libtandem_c.so and tandem."""
    if named := os.environ.get("TANDEM_BUILD"):
        return pathlib.Path(named)
    folder = HERE.parent / "build" / "wheel"
    jobs = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "-S", HERE.parent, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                    "-DTANDEM_TESTS=OFF"], check=True)
    subprocess.run(["cmake", "--build", folder, "-j", jobs, "--target", "tandem", "tandem_c"],
                   check=True)
    return folder


class WithLibrary(build_py):
    def run(self):
        super().run()
        folder = built()
        target = pathlib.Path(self.build_lib) / "tandem"
        (target / "bin").mkdir(parents=True, exist_ok=True)
        for source, place in (("libtandem_c.so", target), ("tandem", target / "bin")):
            shutil.copy2(folder / source, place / source)
            if strip := shutil.which("strip"):
                subprocess.run([strip, "--strip-unneeded", place / source], check=False)


class ForEveryPython(bdist_wheel):
    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class WithBinaries(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": WithLibrary, "bdist_wheel": ForEveryPython}, distclass=WithBinaries)
