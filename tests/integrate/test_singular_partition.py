"""Outputs where the independent coordinates of a step no longer determine the dependent ones.

A point mass on a rod, in Cartesian coordinates: x is a good coordinate at the bottom, z where the rod is level, neither
everywhere. Between the ends of a step the one in use may pass its singular point, where the speed of the other is the
quotient of two zeros.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import bellcrank as bc

GRAVITY = 9.81
SQUARE = 0.5
"""Square of the sine of half the amplitude: the rod is released level."""


def pendulum() -> bc.System:
    system = bc.System("pendulum")
    bob = system.body("bob", system.parameter("mass", 1.0), (0.01, 0.01, 0.01), at=(1, 0, 0))
    system.planar("plane", system.ground, bob, axis="y")
    system.distance("rod", system.ground, bob, length=1.0)
    return system


def closed_form(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, z and the speed of a pendulum of length 1: sin(angle / 2) = k sn(K - w t)."""
    w = np.sqrt(GRAVITY)
    sn, cn, dn, _ = ellipj(ellipk(SQUARE) - w * t, SQUARE)
    half = np.sqrt(SQUARE) * sn
    return 2 * half * dn, 2 * half**2 - 1, 2 * np.sqrt(SQUARE) * w * np.abs(cn)


@pytest.mark.parametrize(
    ("method", "tolerance", "error"),
    [("runge_kutta5", 1e-6, 2e-3), ("runge_kutta5", 1e-4, 0.1), ("dop853", 1e-4, 0.1)],
)
def test_outputs_near_a_singular_partition(method: str, tolerance: float, error: float) -> None:
    run = pendulum().simulate(10.0, integrator=method, tolerance=tolerance, output=2001)
    x, z, speed = closed_form(run.time)
    assert run["bob.position.x"] == pytest.approx(x, abs=error)
    assert run["bob.position.z"] == pytest.approx(z, abs=error)
    assert np.hypot(run["bob.velocity.x"], run["bob.velocity.z"]) == pytest.approx(speed, abs=5 * error)


def test_the_same_in_the_lanes_of_a_batch() -> None:
    """The motion does not depend on the mass."""
    runs = bc.simulate_many(
        pendulum(),
        {"mass": [1.0, 2.0, 3.0, 4.0]},
        10.0,
        quantities=["bob.position", "bob.velocity"],
        integrator="runge_kutta5",
        tolerance=1e-6,
        output=2001,
    )
    x, z, speed = closed_form(np.asarray(runs.time))
    for row in range(4):
        position, velocity = runs["bob.position"][row], runs["bob.velocity"][row]
        assert position[:, 0] == pytest.approx(x, abs=2e-3)
        assert position[:, 2] == pytest.approx(z, abs=2e-3)
        assert np.hypot(velocity[:, 0], velocity[:, 2]) == pytest.approx(speed, abs=1e-2)
