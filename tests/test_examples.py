"""Every example runs and ends in a number that is right: each checks its own."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ELSEWHERE = {"elastic_discs", "elastic_sphere_on_wall", "elastic_link_on_stop"}
"""Run without their films and pictures by the tests of elastic contact."""
FOLDER = Path(__file__).parents[1] / "examples"
EXAMPLES = sorted(path for path in FOLDER.glob("*.py") if path.stem not in ELSEWHERE)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(
    path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where its pictures go
    monkeypatch.setattr("sys.argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_there_are_examples() -> None:
    names = {path.stem for path in EXAMPLES}
    assert {
        "slider_crank",
        "four_bar_full_turn",
        "full_car_bump",
        "parameter_sweep",
        "controller",
        "events",
    } <= names
