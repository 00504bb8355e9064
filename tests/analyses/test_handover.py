"""Derivatives of runs with contacts that end abruptly, as at the rim of a surface: refused, and right up to there."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank.contact import Sampled
from bellcrank.integrate import SimulationError
from bellcrank.model import System

STEP = 1e-5


def over_a_rim(s: float, stiffness: float = 1e5) -> System:
    """A ball of radius 0.05 s on a plate of samples, over whose rim it will roll while it presses."""
    system = System("rim", gravity=(0.0, 0.0, -9.81))
    weight = system.parameter("weight", 1.0)
    t = np.linspace(-0.2 * s, 0.2 * s, 9)
    x, y = np.meshgrid(t, t, indexing="ij")
    plate = Sampled.from_grid(np.stack([x, y, np.zeros_like(x)], axis=2))
    mass, inertia = weight * s**3, (0.01 * s**5,) * 3
    depth = (9.81 / stiffness) ** (2.0 / 3.0)
    ball = system.body("ball", mass=mass, inertia=inertia, at=(0.15 * s, 0.03 * s, (0.05 - depth) * s))
    system.free("flight", system.ground, ball)
    slow = math.sqrt(s)
    system.contact("under", system.ground.shape(plate), ball.sphere(0.05 * s), treatment="continuous",
                   restitution=0.5, stiffness=stiffness * s**1.5, approach_speed=slow)  # fmt: skip
    system.initial("flight", {"velocity": (slow, 0.0, 0.0)})
    return system


@pytest.mark.parametrize(("s", "stiffness"), [(1.0, 1e5), (1e-6, 1e8)])
def test_a_ball_that_leaves_a_rim_is_refused(s: float, stiffness: float) -> None:
    with pytest.raises(SimulationError, match=r"contact 'under' passes over an edge") as raised:
        over_a_rim(s, stiffness).sensitivity(0.2 * math.sqrt(s), outputs=["ball.position.z"], output=5)
    assert "Take differences of runs instead" in str(raised.value)


def test_derivatives_are_those_of_runs_up_to_there() -> None:
    system, name = over_a_rim(1.0), "ball.position.z"
    found = system.sensitivity(0.04, outputs=[name], output=4, tolerance=1e-11)
    ends = [
        system.simulate(0.04, output=4, tolerance=1e-12, parameters={"weight": 1.0 + way * STEP})[
            name
        ].to_numpy()
        for way in (-1.0, 1.0)
    ]
    expected = (ends[1] - ends[0]) / (2.0 * STEP)
    derivative = np.asarray(found[name, "weight"])
    np.testing.assert_allclose(derivative, expected, rtol=1e-5, atol=1e-9)
    assert np.abs(expected).max() > 1e-5
