"""Where the origin lies does not matter: the same steps and errors of the order of the tolerance far away from it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank.batch import simulate_many
from bellcrank.integrate import METHODS
from bellcrank.model import System

ADAPTIVE = [name for name in METHODS if name not in ("runge_kutta4", "generalised_alpha")]
FAR = (0.0, 1e3, 1e6, -1e6)


def falling(shift: float, fall: float = 0.0) -> System:
    """A ball of 1 kg and 0.1 m at 1 m/s onto an elastic floor, from 50 mm above it and more."""
    system = System("ball", gravity=(0.0, 0.0, 0.0))
    ball = system.body("ball", mass=1.0, inertia=(4e-3,) * 3, at=(shift, 0.0, shift + 0.15 + fall))
    system.free("flight", system.ground, ball)
    system.initial("flight", {"velocity": (0.0, 0.0, -1.0)})
    floor = system.ground.plane(at=(0.0, 0.0, shift))
    system.contact("floor", floor, ball.sphere(0.1), law="hertz", treatment="continuous", stiffness=1e7)
    return system


@pytest.mark.parametrize("integrator", ADAPTIVE)
@pytest.mark.parametrize("tolerance", [1e-3, 1e-4, 1e-6])
def test_a_ball_bounces_alike_everywhere(tolerance: float, integrator: str) -> None:
    """An elastic impact gives the speed back; the step counts differ by what rounding of 1e6 m makes of 1e-3 m."""
    runs = [falling(x).simulate(0.1, tolerance=tolerance, output=[0.1], integrator=integrator) for x in FAR]
    steps = [run.run.steps for run in runs]
    assert steps[1] == pytest.approx(steps[0], rel=0.05)
    assert max(steps) - min(steps) <= 0.1 * steps[0]
    for run in runs:
        # An error of one step is a mean over 13 entries of the state, and there are a dozen steps in the contact.
        assert run["ball.velocity.z"][-1] == pytest.approx(1.0, abs=100.0 * tolerance)


@pytest.mark.parametrize("integrator", ["auto", "radau"])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-4])
@pytest.mark.parametrize("shift", FAR)
def test_a_ball_bounces_as_well_after_a_long_way(shift: float, tolerance: float, integrator: str) -> None:
    run = falling(shift, 1e6).simulate(1e6 + 0.1, tolerance=tolerance, output=1, integrator=integrator)
    assert run["ball.velocity.z"][-1] == pytest.approx(1.0, abs=100.0 * tolerance)


def coupled(shift: float) -> System:
    """Two bodies of 1 kg on a spring of 1 m, 0.1 m too short at the start: 10 rad/s."""
    system = System("coupled", gravity=(0.0, 0.0, 0.0))
    bodies = [
        system.body(name, mass=1.0, inertia=(0.1,) * 3, at=(shift + x, -shift, 0.0))
        for name, x in (("one", 0.0), ("other", 0.9))
    ]
    for body in bodies:
        system.free(f"flight of {body.name}", system.ground, body)
    system.spring("spring", *bodies, stiffness=system.parameter("stiffness", 50.0), free_length=1.0)
    return system


@pytest.mark.parametrize("shift", FAR)
def test_an_oscillation_is_as_good_everywhere(shift: float) -> None:
    end = 0.3 * math.pi
    run = coupled(shift).simulate(end, tolerance=1e-6, output=[end])
    way = run["other.position.x"][-1] - run["one.position.x"][-1]
    assert way == pytest.approx(1.0 - 0.1 * math.cos(10.0 * end), abs=1e-5)
    assert run.run.steps == pytest.approx(coupled(0.0).simulate(end, tolerance=1e-6).run.steps, abs=2)


def test_runs_four_at_a_time_do_not_mind_the_origin() -> None:
    """Against the closed form, four stiffnesses at once."""
    stiffness = np.array([50.0, 60.0, 70.0, 80.0])
    for shift in (0.0, 1e6):
        system = coupled(shift)
        names = ["one.position.x", "other.position.x"]
        many = simulate_many(
            system, {"stiffness": stiffness}, 0.3, quantities=names, tolerance=1e-6, output=1
        )
        way = many[names[1]][:, -1] - many[names[0]][:, -1]
        assert way == pytest.approx(1.0 - 0.1 * np.cos(np.sqrt(2.0 * stiffness) * 0.3), abs=1e-5)
