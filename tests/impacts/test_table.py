"""The table of impacts: what it shows, what joints took, and that it survives a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bellcrank
from bellcrank.files import dumps, loads
from bellcrank.result.result import Result
from bellcrank.verify import ball_on_ground, slider_crank_impact
from impacts.models import TIGHT, G, disc


@pytest.fixture(scope="module")
def struck() -> Result:
    return slider_crank_impact.run()


def test_joints_take_their_share(struck: Result) -> None:
    """Momentum of every body changes by the impulses of its joints and of the contact."""
    (impact,) = struck.impacts
    jumps = {}
    for name in ("crank", "rod", "slider", "block"):
        at = [_velocity(struck, impact.q, u, name) for u in (impact.speeds_before, impact.speeds_after)]
        jumps[name] = at[1] - at[0]
    joint = {name: block[0] for name, block in struck.impacts.joint_impulses.items()}
    hit = impact.contacts[0].on_b
    assert 2.0 * jumps["crank"] == pytest.approx(joint["main bearing"] - joint["crank pin"], abs=1e-9)
    assert 3.0 * jumps["rod"] == pytest.approx(joint["crank pin"] - joint["wrist pin"], abs=1e-9)
    assert 4.0 * jumps["slider"] == pytest.approx(joint["wrist pin"] + joint["guide"] - hit, abs=1e-9)
    assert 5.0 * jumps["block"] == pytest.approx(joint["rail"] + hit, abs=1e-9)
    assert struck.impacts.joint_moments["main bearing"][0] == pytest.approx([0, 0, 0], abs=1e-9)


def _velocity(result: Result, q: np.ndarray, u: np.ndarray, body: str) -> np.ndarray:
    from dataclasses import replace

    one = {"time": np.zeros(1), "q": q[None], "u": u[None], "du": 0.0 * u[None]}
    rows = {"parameters": np.zeros((1, 0)), "contact_forces": None, "breaks": None, "_computed": {}}
    return np.asarray(replace(result, **one, **rows)[f"{body}.velocity"])[0]


def test_table_reads_well(struck: Result) -> None:
    text = str(struck.impacts)
    assert "2.85668512" in text
    assert "bump" in text
    assert "1 impacts, 4.3611 J lost" in text
    assert str(struck.impacts[:0]) == "no impacts"
    frame = struck.impacts.to_pandas(joints=True)
    assert frame["impulse [N s]"][0] == pytest.approx(16.6775376419, rel=1e-8)
    assert frame["wrist pin.x [N s]"][0] == pytest.approx(
        4.0 * (1.243546222278 - 2.614951632628) + 16.6775376419
    )
    assert isinstance(struck.impacts[0].time, float)
    assert [r.time for r in struck.impacts] == list(struck.impacts.times)


def test_contact_quantities_by_name(struck: Result) -> None:
    names = struck.names
    for key in ("gap", "point", "normal", "slip", "force", "normal_force", "friction_force", "power"):
        assert f"bump.{key}" in names
    assert "bump.force.x" in struck
    assert struck["bump.gap"][0] == pytest.approx(7.0 - struck["slider.position.x"][0] - 0.2)


def test_results_survive_a_file(tmp_path: Path) -> None:
    result = ball_on_ground.run(0.5, 3.0)
    result.save(tmp_path / "ball.h5")
    loaded = bellcrank.load_result(tmp_path / "ball.h5")
    assert str(loaded.impacts) == str(result.impacts)
    assert loaded.contact_changes == result.contact_changes
    for name in ("bounce.normal_force", "bounce.gap", "plane.force.y"):
        assert np.array_equal(loaded[name], result[name])
    assert loaded.ledger.relative_residual == result.ledger.relative_residual
    again = [block.tolist() for block in loaded.impacts.joint_impulses.values()]
    assert again == [block.tolist() for block in result.impacts.joint_impulses.values()]


def test_models_survive_a_file() -> None:
    text = dumps(slider_crank_impact.slider_crank_with_block())
    assert dumps(loads(text)) == text
    start = {"main bearing": (np.pi / 6.0, 1.0)}
    (impact,) = loads(text).simulate(3.0, initial=start, **TIGHT).impacts
    assert impact.time == pytest.approx(slider_crank_impact.run(0.8, 2.9).impacts[0].time, rel=1e-9)


def test_ledger_of_a_bouncing_rubbing_disc() -> None:
    """Thrown with backspin, it bounces, rubs and rolls; every joule is found again."""
    system = disc(0.3, 0.012, mass=2.0, restitution=0.6)
    start = {"plane": {"x": (0.0, 2.0), "y": (0.4, 0.0), "angle": (0.0, 30.0)}}
    result = system.simulate(3.0, initial=start, output=3000, **TIGHT)
    ledger = result.ledger
    assert ledger.relative_residual < 1e-8
    assert ledger.impacts[-1] == pytest.approx(-result.impacts.energy_lost, rel=1e-12)
    assert ledger.contacts[-1] <= 1e-15
    assert ledger.impacts[-1] < -2.0 * G * 0.4 * 0.3
    assert "lost in impacts" in str(ledger)


def test_impacts_are_marked_in_plots_and_told_in_reports(tmp_path: Path, struck: Result) -> None:
    figure = struck.plot("slider.velocity.x", path=tmp_path / "plot.png")
    marks = [line for line in figure.axes[0].lines if len(set(line.get_xdata())) == 1]
    assert [line.get_xdata()[0] for line in marks] == pytest.approx([struck.impacts[0].time])
    struck.report(tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "<h2>Impacts</h2>" in text
    assert "2.85668512" in text
