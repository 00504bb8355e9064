"""The notebooks of the documentation run, and show what they promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
SHOWN = {
    "four_bar": ["<iframe srcdoc", "<iframe srcdoc", "image/png"],
    "suspension": ["<iframe srcdoc", "image/png", "image/gif"],
    "flexible_crank": [
        "<iframe srcdoc",
        "application/vnd.plotly",
        "image/png",
        '<iframe src="http://127.0.0.1',
    ],
}


def test_every_notebook_is_here() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == set(SHOWN)


def outputs(book: Any) -> list[str]:
    """What cells show, as one text each."""
    return [
        " ".join(f"{kind} {content}" for kind, content in output["data"].items())
        for cell in book.cells
        for output in cell.get("outputs", ())
        if "data" in output
    ]


@pytest.mark.parametrize("name", SHOWN)
def test_notebooks_run(name: str, tmp_path: Path) -> None:
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in book.cells), "outputs are not kept in the repository"
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = iter(outputs(book))
    for expected in SHOWN[name]:
        assert any(expected in found for found in shown), f"{expected} is missing, or not in its place"
