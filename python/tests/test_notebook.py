# SPDX-License-Identifier: Apache-2.0
"""The notebook runs from its first cell to its last."""
import os
import pathlib

import pytest

import tandem

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def executed(name, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    package = str(pathlib.Path(tandem.__file__).parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([package, os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3",
                            resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    return notebook


def test_the_census_notebook(monkeypatch):
    notebook = executed("census.ipynb", monkeypatch)
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    pages = "".join(output.data.get("text/html", "") for output in shown if "data" in output)
    for words in ("noise of a count", "guarantee", "ci95_low", "register 2020", "INTERNAL"):
        assert words in pages, words
    assert not [output for output in shown if output.output_type == "error"]
