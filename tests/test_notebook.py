"""The example notebook is executed by a kernel, in its running loop, and its outputs are what a reader expects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "examples" / "notebook.ipynb"


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    book = nbformat.read(NOTEBOOK, 4)
    where = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    nbclient.NotebookClient(book, timeout=240, kernel_name="python3", resources=where).execute()
    return [cell for cell in book.cells if cell.cell_type == "code"]


def shown(cell: dict[str, Any]) -> dict[str, str]:
    """Return what a cell shows, by kind."""
    data: dict[str, str] = {}
    for output in cell["outputs"]:
        data |= output.get("data", {})
    return data


@pytest.mark.heavy
def test_each_output_is_there(cells: list[dict[str, Any]]) -> None:
    by_name = {cell["metadata"]["name"]: shown(cell) for cell in cells if "name" in cell["metadata"]}
    assert "| drwell |" in by_name["run"]["text/markdown"]
    assert '<progress value="20" max="20">' in by_name["run"]["text/html"]
    assert "<iframe srcdoc=" in by_name["replay"]["text/html"]
    assert "Content-Security-Policy" in by_name["replay"]["text/html"]
    assert "95 % interval of the difference" in by_name["compare"]["text/markdown"]
    assert "message_tokens" in by_name["frames"]["text/html"] + by_name["frames"]["text/plain"]
    assert by_name["picture"]["image/png"]
    assert "```" in by_name["plan"]["text/markdown"]
    assert "## Mission" in by_name["prompt"]["text/markdown"]


def test_the_notebook_is_stored_without_outputs() -> None:
    book = json.loads(NOTEBOOK.read_text("utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
