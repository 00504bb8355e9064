"""Fields, stress histories and deformed shapes of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.flexible import Clamped, NormalModes, beam, rectangle, solid
from bellcrank.view import animation
from bellcrank.view.scene import scene
from bellcrank.view.svg import mechanism
from flexible_dynamics.members import ALLOY, LENGTH, rod, slider_crank


def loaded(member: bc.flexible.Member, force: float) -> bc.System:
    system = bc.System("cantilever", gravity=(0.0, 0.0, 0.0))
    body = system.flexible_body("rod", member)
    system.fixed("wall", system.ground.point(0, 0, 0), body.node("start"))
    system.applied_force("load", body.node("end"), lambda t: (0.0, force, 0.0))
    return system


def test_root_stress_of_a_loaded_beam() -> None:
    """sigma = F L h / (2 I) where the modes hold the static shape, and E eps everywhere."""
    from bellcrank.flexible import AttachmentModes

    h, b, force = 0.02, 0.03, 1.0  # small, so that the closed form of the linear beam holds
    model = beam("rod", LENGTH, rectangle(h, b), ALLOY, 8)
    member = model.reduce(AttachmentModes({"end": "y"}), Clamped("start"))
    system = loaded(member, force)
    rest = system.equilibrium()
    expected = force * LENGTH * 0.5 * h / (b * h**3 / 12.0)
    assert np.abs(rest["rod.start.stress"]).max() == pytest.approx(expected, rel=1e-6)
    assert rest["rod.end.position"][1] == pytest.approx(
        force * LENGTH**3 / (3 * ALLOY.young * b * h**3 / 12), rel=1e-6
    )
    run = system.simulate(0.05, output=50)
    stress, strain = run.field("rod", "stress"), run.field("rod", "strain")
    assert stress.shape == (51, 4 * 9, 1)
    np.testing.assert_allclose(stress, ALLOY.young * strain, atol=1e-6)
    named = run["rod.start.stress"].to_numpy()
    np.testing.assert_allclose(named, stress.to_numpy()[:, :4, 0], atol=1e-6)
    history = run.history("rod", "stress", "start", "xx")
    assert np.abs(history).max() == pytest.approx(np.abs(stress).max())
    assert history.unit == "Pa"


def test_stress_of_a_solid_by_name() -> None:
    skfem = pytest.importorskip("skfem")
    grid = (np.linspace(0, LENGTH, 11), np.linspace(-0.05, 0.05, 3), np.linspace(-0.04, 0.04, 2))
    ends = {"start": lambda x: x[0] < 1e-9, "end": lambda x: x[0] > LENGTH - 1e-9, "top": (0.5, 0.05, 0.04)}
    body = solid("rod", skfem.MeshHex.init_tensor(*grid), ALLOY, ends, order=2, rigid=("start",))
    member = body.reduce(NormalModes(3), Clamped("start"))
    run = loaded(member, 100.0).simulate(0.01, output=10)
    at = run["rod.top.stress"]
    assert at.shape == (11, 6)
    np.testing.assert_allclose(at[:, 0], run.history("rod", "stress", (0.5, 0.05, 0.04), "xx"), atol=1e-6)
    drawn = scene(run)
    assert len(drawn.deforming) == 1
    assert drawn.deforming[0].lines.shape[1] == 2


def test_errors_name_what_there_is() -> None:
    run = slider_crank(rod("chord", 2, planar=True)).simulate(0.01, output=2)
    with pytest.raises(bc.BellcrankError, match="flexible bodies here: rod"):
        run.field("crank", "stress")
    with pytest.raises(bc.BellcrankError, match="stress"):
        run.field("rod", "stres")
    with pytest.raises(bc.BellcrankError, match="xx"):
        run.history("rod", "stress", "middle", "yy")
    with pytest.raises(bc.BellcrankError, match="middle"):
        run.history("rod", "stress", "midle", "xx")


def test_deformed_shape_passes_through_the_nodes_and_is_magnified() -> None:
    run = slider_crank(rod("chord", 3, planar=True)).simulate(0.1, output=20)
    shape, cells = run.deformed("rod")
    np.testing.assert_allclose(shape[:, 0], run["rod.start.position"], atol=1e-12)
    np.testing.assert_allclose(shape[:, 3], run["rod.middle.position"], atol=1e-12)
    assert cells.shape == (6, 2)
    flat, large = run.deformed("rod", 0.0)[0], run.deformed("rod", 50.0)[0]
    np.testing.assert_allclose(large - flat, 50.0 * (shape - flat), atol=1e-9)


def test_springs_are_drawn_between_deformed_points() -> None:
    system = bc.System("sprung")
    body = system.flexible_body("rod", rod("clamped", 3))
    system.revolute("pin", system.ground.point(0, 0, 0), body.node("start"), axis="z")
    system.spring("hold", system.ground.point(0.5, 0.5, 0.2), body.node("middle"), 1e4, free_length=0.4)
    run = system.simulate(0.02, output=10)
    drawn = scene(run)
    first = len(drawn.bodies) - len(drawn.links)
    (end,) = (first + k for k, link in enumerate(drawn.links) if link.from_b)
    (coil,) = (first + k for k, link in enumerate(drawn.links) if link.length > 0.0)
    np.testing.assert_allclose(drawn.positions[:, end], run["rod.middle.position"], atol=1e-12)
    reach = drawn.links[coil - first].length * np.array([[0.0, 0.0, 1.0]])
    for frame in range(11):
        seen = drawn.placed(coil, reach, frame)[0]
        np.testing.assert_allclose(seen, run["rod.middle.position"][frame], atol=1e-12)
    member = system.bodies["rod"].member
    still = member.node("middle").position
    near, far = (scene(run, magnified=factor).links[0].moving_b[7] - still for factor in (1.0, 5.0))
    assert np.abs(near).max() > 1e-6
    np.testing.assert_allclose(far, 5.0 * near, rtol=1e-9)


def test_pictures_show_the_deformed_shape(tmp_path: Path) -> None:
    run = slider_crank(rod("chord", 3, planar=True)).simulate(0.1, output=20)
    drawn = scene(run, magnified=30.0)
    (bent,) = drawn.deforming
    np.testing.assert_allclose(bent.points, run.deformed("rod", 30.0)[0])
    # A beam is a round bar about its points.
    (path,) = bent.paths
    bar = bent.skin(10)[bent.points.shape[1] :].reshape(len(path), -1, 3)
    np.testing.assert_allclose(bar.mean(axis=1), bent.points[10][path], atol=1e-12)
    np.testing.assert_allclose(
        np.linalg.norm(bar - bent.points[10][path][:, None], axis=2), 0.5 * bent.width, rtol=1e-9
    )
    assert mechanism(drawn, 10).count("<polygon") > len(bar)
    assert '"deforming"' in animation.page(run, [], 30.0)
    run.html(tmp_path / "rod.html", ["rod.middle.stress"], magnified=30.0)
    assert (tmp_path / "rod.html").stat().st_size > 1000
