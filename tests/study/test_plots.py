"""Pictures say what they show: names and units on every axis."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bellcrank.errors import ModelError
from bellcrank.study import Grid, LatinHypercube, OneAtATime
from bellcrank.study.files import load_study
from bellcrank.study.plots import search

EXAMPLE = Path(__file__).parents[2] / "examples" / "quarter_car.study"


def texts(figure) -> set[str]:
    found = set()
    for axis in figure.axes:
        found |= {axis.get_xlabel(), axis.get_ylabel(), *(t.get_text() for t in axis.get_yticklabels())}
    return found


@pytest.fixture(scope="module")
def study():
    return replace(load_study(EXAMPLE), duration=0.5, output=50)


def test_responses_and_surfaces(study, tmp_path: Path) -> None:
    outcome = replace(study, design=Grid(4)).run()
    shown = texts(outcome.plot("response", path=tmp_path / "response.png"))
    assert {"stiffness [N/m]", "damping [N·s/m]", "comfort [m/s²]", "travel [m]", "load [N]"} <= shown
    shown = texts(outcome.plot("surface", "stiffness", "damping", "comfort", path=tmp_path / "surface.png"))
    assert {"stiffness [N/m]", "damping [N·s/m]", "comfort [m/s²]"} <= shown
    assert (tmp_path / "response.png").stat().st_size > 5000
    with pytest.raises(ModelError, match="no kind of picture"):
        outcome.plot("pie")
    with pytest.raises(ModelError, match="one at a time"):
        outcome.plot("tornado")
    with pytest.raises(ModelError, match="did you mean 'comfort'"):
        outcome.plot("response", "comfrt")


def test_scatter_and_convergence(study, tmp_path: Path) -> None:
    outcome = replace(study, design=LatinHypercube(40)).run()
    assert {"stiffness [N/m]", "load [N]", "travel [m]"} <= texts(outcome.plot("scatter"))
    outcome.plot("scatter", "damping", "comfort", path=tmp_path / "scatter.png")
    shown = texts(outcome.plot("convergence", path=tmp_path / "convergence.png"))
    assert {"runs", "comfort [m/s²]"} <= shown
    shown = texts(outcome.plot("surface", "travel", path=tmp_path / "scattered.png"))
    assert "travel [m]" in shown


def test_tornado_puts_the_widest_on_top(study, tmp_path: Path) -> None:
    outcome = replace(study, design=OneAtATime(3)).run()
    figure = outcome.plot("tornado", "comfort", path=tmp_path / "tornado.png")
    (axis,) = figure.axes
    labels = [t.get_text() for t in axis.get_yticklabels()]
    spans = {}
    for k, name in enumerate(outcome.variables):
        values = outcome["comfort"][1 + 3 * k : 4 + 3 * k]
        spans[name] = values.max() - values.min()
    widest = max(spans, key=lambda name: spans[name])
    assert labels[-1].startswith(widest)
    assert axis.get_xlabel() == "comfort [m/s²]"


def test_searches(study, tmp_path: Path) -> None:
    found = study.optimise()
    shown = texts(search(found, tmp_path / "search.png"))
    assert {"comfort [m/s²]", "travel [m]", "stiffness [N/m]", "damping [N·s/m]", "points"} <= shown
    indices = study.sobol_indices(8)
    shown = texts(indices.plot("comfort", tmp_path / "indices.png"))
    assert "share of the variance of comfort" in shown
