"""Derivatives of runs with contacts that hand over from one place to another: refused, and right up to there."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank.integrate import SimulationError
from bellcrank.model import System

STEP = 1e-5


def over_an_edge(s: float, stiffness: float = 1e5) -> System:
    """A box on a box s times as large as one of 0.2 m, which will slide over its edge."""
    system = System("edge", gravity=(0.0, 0.0, -9.81))
    weight = system.parameter("weight", 1.0)
    below = system.ground.box(0.3 * s, 0.3 * s, 0.1 * s, at=(0.0, 0.0, -0.1 * s))
    mass, inertia = weight * s**3, (0.01 * s**5,) * 3
    depth = (9.81 / (4.0 * stiffness)) ** (2.0 / 3.0)
    box = system.body("box", mass=mass, inertia=inertia, at=(0.15 * s, 0.03 * s, (0.1 - depth) * s))
    system.free("flight", system.ground, box)
    slow = math.sqrt(s)
    system.contact("under", below, box.box(0.1 * s, 0.1 * s, 0.1 * s), treatment="continuous", restitution=0.5,
                   stiffness=stiffness * s**1.5, approach_speed=slow)  # fmt: skip
    system.initial("flight", {"velocity": (slow, 0.0, 0.0)})
    return system


@pytest.mark.parametrize(("s", "stiffness"), [(1.0, 1e5), (1e-6, 1e8)])
def test_a_corner_that_passes_over_an_edge_is_refused(s: float, stiffness: float) -> None:
    with pytest.raises(
        SimulationError, match=r"contact 'under \d+' passes over an edge and hands over"
    ) as raised:
        over_an_edge(s, stiffness).sensitivity(0.1 * math.sqrt(s), outputs=["box.position.z"], output=5)
    assert "Take differences of runs instead" in str(raised.value)


def test_derivatives_are_those_of_runs_up_to_there() -> None:
    system, name = over_an_edge(1.0), "box.position.z"
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
