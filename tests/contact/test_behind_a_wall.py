"""A stiff contact as a wall: implicit steps into it and out of it, with the Jacobian of the program or differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bellcrank.integrate import integrate
from bellcrank.mechanism import analyse
from bellcrank.model import System
from bellcrank.run.run import Run
from bellcrank.run.simulation import stepping

SPEED, GAP = 1.0, 1e-3


def ball(stiffness: float) -> System:
    """It flies at a wall; what is left of its speed follows from the restitution, whatever the stiffness."""
    system = System("wall", gravity=(0.0, 0.0, 0.0))
    body = system.body("ball", mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, 0.1 + GAP))
    system.free("flight", system.ground, body)
    system.contact("wall", system.ground.plane(), body.sphere(0.1), treatment="continuous", restitution=0.7,
                   stiffness=stiffness, approach_speed=SPEED)  # fmt: skip
    system.initial("flight", {"velocity": (0.1, 0.0, -SPEED)})
    return system


@pytest.mark.parametrize("stiffness", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("differences", [False, True])
def test_radau_bounces_from_a_wall(stiffness: float, differences: bool) -> None:
    """No event tells where the wall begins: steps meet it as they come, and those that reach into it are made anew."""
    mechanism = analyse(ball(stiffness))
    run, start = Run(mechanism, "radau", (), ()), mechanism.start
    problem = run.problem(start.q, start.u, 0.0, np.array(mechanism.parameter_values))
    if differences:
        problem = replace(problem, tangent=0, make_tangent=None)
    found = integrate(problem, "radau", np.array([0.03]), stepping(mechanism, 1e-7, 0.0, GAP))
    velocity = found.y[-1][mechanism.linkage.positions :]
    assert velocity[5] == pytest.approx(0.7 * SPEED, abs=2e-5)
    assert velocity[3] == pytest.approx(0.1, abs=1e-9)
    assert np.abs(velocity[:3]).max() < 1e-9
