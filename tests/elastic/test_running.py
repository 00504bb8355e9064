"""Runs as a user meets them: series, fields, interruption, films, static contact, lazy imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bellcrank import elastic
from bellcrank.verify.hertz_static import CONTACT, PRESSURE, hertz_fit, pressed
from bellcrank.verify.sphere_on_wall import ball


@pytest.fixture(scope="module")
def run() -> elastic.ElasticResult:
    body = ball(4, 4.0)
    return elastic.simulate(
        body, elastic.Contact(body, elastic.RigidPlane(), friction=0.2), 2.0, 0.02, frames=10
    )


def test_series(run: elastic.ElasticResult) -> None:
    assert {"contact.force", "contact.area", "energy.kinetic", "energy.strain", "work.friction"} <= set(
        run.names
    )
    force = run["contact.force"]
    assert force.unit == "N"
    assert len(force) == len(run.time) == 101
    assert run["energy.total"][0] == pytest.approx(0.5 * run.bodies[0].total_mass)
    assert run["work.friction"][-1] < 0.0
    assert 0.0 < run["contact.area"].max() < 0.2 * 4.0 * np.pi * 64.0


def test_nodal_forces_sum_to_the_total(run: elastic.ElasticResult) -> None:
    for step in (10, 70):
        places, forces = run.nodal_forces(step)
        assert len(places) == len(forces) > 0
        assert forces[:, 1].sum() == pytest.approx(run["contact.force"][step])
        assert forces[:, 1].min() >= 0.0


def test_impulse_is_change_of_momentum(run: elastic.ElasticResult) -> None:
    """Weak check of the read-outs against each other: trapezoidal impulse against the mass centre."""
    force, velocity = np.asarray(run["contact.force"]), np.asarray(run["sphere.velocity"])[:, 1]
    impulse = 0.02 * (force[1:-1].sum() + 0.5 * force[-1])
    assert impulse == pytest.approx(run.bodies[0].total_mass * (velocity[-1] - velocity[0]), rel=0.01)


def test_fields(run: elastic.ElasticResult) -> None:
    middle = len(run.frame_times) // 2
    stress = run.stress(middle)
    pole = run.bodies[0].nodes[:, 1].argmin()
    assert stress.tensor[pole, 1, 1] < 0.0
    assert stress.von_mises.max() > 10.0
    assert run.displacement(0).max() == 0.0
    assert run.velocity(0)[:, 1] == pytest.approx(-1.0)


def test_interruption_keeps_what_there_is() -> None:
    def stop(share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    run = elastic.simulate(ball(4, 4.0), elastic.RigidPlane(), 1.0, 0.02, progress=stop)
    assert run.run.status == "interrupted"
    assert not run.finished
    assert 25 <= run.run.steps < 50
    assert len(run["contact.force"]) == run.run.steps + 1
    assert run.frame_times[-1] == run.time[-1]


def test_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    assert elastic.simulate(ball(4, 4.0), elastic.RigidPlane(), 0.1, 0.02, progress=True).finished


def test_same_run_same_bits(run: elastic.ElasticResult) -> None:
    body = ball(4, 4.0)
    again = elastic.simulate(body, elastic.Contact(body, elastic.RigidPlane(), friction=0.2), 2.0, 0.02)
    assert np.array_equal(run["contact.force"], again["contact.force"])


@pytest.mark.parametrize("suffix", [".gif", ".html"])
def test_film(run: elastic.ElasticResult, suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    film = run.animate(tmp_path / f"film{suffix}", frames=3)
    assert film.stat().st_size > 5000


def test_film_of_a_solid_body(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    box = elastic.block(
        (1.0, 1.0, 1.0),
        ball().material,
        element=elastic.Element.HEXAHEDRON27,
        divisions=(1, 1, 1),
        velocity=(0, 0, -1),
    )
    short = elastic.simulate(box, elastic.RigidPlane((0, 0, 0), (0, 0, 1)), 0.02, 0.002)
    assert short.animate(tmp_path / "box.gif", frames=2).exists()


def test_hertz_on_a_coarse_mesh() -> None:
    radius, pressure = hertz_fit(pressed(6))
    assert radius == pytest.approx(CONTACT, rel=0.02)
    assert pressure == pytest.approx(PRESSURE, rel=0.02)


def test_press_by_distance_and_by_force_agree() -> None:
    body = elastic.block((1.0, 1.0), ball().material, divisions=(4, 4))
    side = elastic.Support(lambda x: x[:, 0] < 1e-9, "x")
    top = elastic.Support(lambda x: x[:, 1] > 1.0 - 1e-9, "y", -1.0)
    body = elastic.block((1.0, 1.0), ball().material, divisions=(4, 4), supports=(side,))
    moved = elastic.press(body, elastic.RigidPlane(), top, approach=0.01)
    plane_modulus = 500.0 / (1.0 - 0.3**2)
    assert moved.force == pytest.approx(0.01 * plane_modulus, rel=1e-9)
    assert elastic.press(body, elastic.RigidPlane(), top, force=moved.force).approach == pytest.approx(
        0.01, rel=1e-8
    )
    assert moved.stress().tensor[:, 1, 1] == pytest.approx(-0.01 * plane_modulus, rel=1e-8)


def test_importing_the_package_does_not_load_scikit_fem() -> None:
    code = "import sys, bellcrank, bellcrank.elastic; print('skfem' in sys.modules, 'scipy' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.split() == ["False", "False"]


def test_sources_are_named(run: elastic.ElasticResult) -> None:
    assert any("Lee" in line for line in run.cite())
