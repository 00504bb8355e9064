"""The examples run and end in their numbers."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_discs() -> None:
    assert runpy.run_path(str(EXAMPLES / "elastic_discs.py"))["main"]() < 1e-10


def test_figures_of_the_paper(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run = runpy.run_path(str(EXAMPLES / "elastic_sphere_on_wall.py"))["figures"](tmp_path)
    assert run.peak()[0] == pytest.approx(2799.0, rel=0.015)
    assert (tmp_path / "figures.png").stat().st_size > 10_000
