"""Members welded node to node keep the angle they are drawn at."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.flexible import Clamped, Material, NormalModes, beam, rectangle
from bellcrank.math.arrays import Array

STEEL = Material(2.1e11, density=7850.0, poisson=0.3)
QUARTER: Array = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def angle_frame(cut: bool) -> bc.System:
    """Two beams at a right angle, the first clamped to the ground."""
    member = beam("leg", 1.0, rectangle(0.02, 0.02), STEEL, 6).reduce(NormalModes(6), Clamped("start"))
    system = bc.System("angle", gravity=(0.0, -9.81, 0.0))
    first = system.flexible_body("first", member)
    second = system.flexible_body("second", member, at=(1.0, 0.0, 0.0), rotation=QUARTER)
    system.fixed("wall", system.ground.point(0.0, 0.0, 0.0), first.node("start"))
    if cut:
        system.free("anywhere", system.ground, second)
    system.fixed("corner", first.node("end"), second.node("start"), cut=cut or None)
    return system


@pytest.mark.parametrize("cut", [False, True])
def test_two_beams_welded_at_a_right_angle(cut: bool) -> None:
    run = angle_frame(cut).simulate(0.02, tolerance=1e-8, output=3)
    tip = run["second.end.position"].to_numpy()
    np.testing.assert_allclose(tip[0], (1.0, 1.0, 0.0), atol=1e-9)
    assert np.abs(tip[-1] - tip[0]).max() < 0.05
    assert np.ptp(run["energy.total"].to_numpy()) < 1e-6


def test_points_of_rigid_bodies_keep_the_drawn_angle_and_frames_coincide() -> None:
    system = bc.System("weld")
    for name in ("drawn", "framed"):
        body = system.body(name, mass=1.0, inertia=(1.0, 1.0, 1.0), rotation=QUARTER)
        at = system.ground.point(0.0, 0.0, 0.0)
        own = system.ground.frame(rotation=QUARTER.T)
        system.fixed(f"{name} weld", own if name == "framed" else at, body.point(0.0, 0.0, 0.0))
    np.testing.assert_allclose(np.array(system.joints["drawn weld"].b.rotation), QUARTER.T, atol=1e-12)
    np.testing.assert_allclose(np.array(system.joints["framed weld"].b.rotation), np.eye(3), atol=1e-12)
