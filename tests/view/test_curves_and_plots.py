"""Curves keep their peaks, axes carry units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import UnknownName
from bellcrank.view.curves import MARKS, marks, panels, pretty, thin, ticks
from bellcrank.view.svg import chart, tick_labels


def test_grouped_by_unit_in_the_order_asked_for(crank: bc.Result) -> None:
    made = panels(crank, ["slider.velocity.x", "energy.total", "crank.velocity", "energy.kinetic"])
    assert [p.unit for p in made] == ["m/s", "J"]
    assert [c.name for c in made[0].curves] == [
        "slider.velocity.x",
        "crank.velocity.x",
        "crank.velocity.y",
        "crank.velocity.z",
    ]
    assert np.array_equal(made[1].curves[0].values, crank["energy.total"])


def test_marks_of_many_impacts_go_along_the_whole_axis() -> None:
    system = bc.System("rattle", gravity=(0.0, 0.0, 0.0))
    ball = system.body("ball", mass=1.0)
    system.prismatic("rail", system.ground, ball, axis="x", limits=bc.Limits(-0.01, 0.01, restitution=1.0))
    result = system.simulate(1.0, initial={"rail": (0.0, 20.0)}, output=10)
    assert len(result.impacts) > 2 * MARKS
    events, impacts = marks(result)
    assert events == []
    assert set(impacts) <= set(result.impacts.times)
    assert 0.9 * MARKS < len(impacts) <= MARKS + 1
    assert max(np.diff(impacts)) < 3.0 / MARKS


def test_thinning_keeps_peaks_and_ends() -> None:
    values = np.zeros(100_000)
    values[51_234], values[777] = 5.0, -3.0
    kept = thin(values, 400)
    assert len(kept) <= 402
    assert {0, 777, 51_234, 99_999} <= set(kept.tolist())


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.2e-7, 1.1e-6), (5599.0, 5601.0), (-1e12, 3e12)])
def test_ticks_are_round_and_inside(low: float, high: float) -> None:
    marks = ticks(low, high)
    assert 2 <= len(marks) <= 11
    assert marks.min() >= low - 1e-9 * (high - low)
    assert marks.max() <= high + 1e-9 * (high - low)
    labels, _ = tick_labels(marks)
    assert len(set(labels)) == len(labels)


def test_chart_of_a_constant_and_of_gaps(crank: bc.Result) -> None:
    for name in ("slider.position.y", "energy.total"):
        assert "nan" not in chart(panels(crank, [name])[0])


def test_plot(crank: bc.Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    figure = crank.plot("slider.velocity.x", "energy.total", "energy.kinetic", path=tmp_path / "curves.png")
    assert (tmp_path / "curves.png").stat().st_size > 10_000
    assert [axis.get_ylabel() for axis in figure.axes] == ["[m/s]", "[J]"]
    assert [len(axis.lines) for axis in figure.axes] == [1, 2]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    assert figure.axes[0].get_shared_x_axes().joined(*figure.axes)


def test_plot_of_names_with_signs(evil: bc.Result, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    evil.plot(path=tmp_path / "curves.png")


def test_unknown_names_are_told(crank: bc.Result) -> None:
    with pytest.raises(UnknownName, match=r"slider\.velocity"):
        panels(crank, ["slider.velocit"])


def test_units() -> None:
    assert pretty("m/s^2") == "m/s²"
    assert pretty("N m") == "N·m"


def test_plotly_draws_the_same_curves(crank: bc.Result, tmp_path: Path) -> None:
    names = ("slider.velocity.x", "energy.total")
    figure = crank.plot(*names, library="plotly", path=tmp_path / "curves.html")
    assert [trace.name for trace in figure.data] == list(names)
    (values,) = (np.asarray(t.y) for t in figure.data if t.name == names[0])
    assert values == pytest.approx(np.asarray(crank[names[0]]))
    assert "<script src" not in (tmp_path / "curves.html").read_text(encoding="utf-8")
    with pytest.raises(bc.ModelError, match=r"saved as \.html"):
        crank.plot(library="plotly", path=tmp_path / "curves.png")
    with pytest.raises(bc.ModelError, match="plotly"):
        crank.plot(library="plotli")
