"""Fixed steps that are too long for a contact stop with its name; those that go through are right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.integrate import SimulationError, Status
from bellcrank.model import System
from bellcrank.result.result import Result

START: dict[str, Any] = {"flight": {"angular_velocity": (1.0, 0.5, 0.2)}}


def bouncing(shape: str, restitution: float = 1.0, friction: float = 0.0) -> System:
    """Dropped by 50 mm, the ball for 13 ms on the floor, each corner of the box for 7 ms."""
    system = System("bouncing")
    body = system.body("body", mass=1.0, inertia=(4e-3,) * 3, at=(0.0, 0.0, 0.15))
    system.free("flight", system.ground, body)
    placed = body.sphere(0.1) if shape == "ball" else body.box(0.1, 0.06, 0.05)
    floor = system.ground.plane()
    system.contact("floor", floor, placed, restitution, friction, treatment="continuous", stiffness=1e6)
    return system


def kept(run: Result) -> float:
    """How far the energy of the end is from that of the beginning."""
    energy = np.asarray(run["energy.total"])
    return float(abs(energy[-1] / energy[0] - 1.0))


@pytest.mark.parametrize("shape", ["ball", "box"])
def test_steps_too_long_for_a_contact_say_so(shape: str) -> None:
    """The ball lost 19 % of its energy with 200 steps, the box 6 % with 500, without a word."""
    system = bouncing(shape)
    for steps in (200, 300, 500) if shape == "box" else (150, 200, 300):
        with pytest.raises(
            SimulationError, match=r"at 'floor.*too long for a contact.*shorter step"
        ) as stopped:
            system.simulate(1.0, integrator="runge_kutta4", step=1.0 / steps, output=20, initial=START)
        assert stopped.value.status is Status.PASSED_OVER


@pytest.mark.parametrize("shape", ["ball", "box"])
@pytest.mark.parametrize("integrator", ["runge_kutta4", "dormand_prince5", "dop853"])
def test_what_goes_through_keeps_its_energy(shape: str, integrator: str) -> None:
    """Whatever the step is: several contacts of an elastic body take less than 1 % of it, or the run stops."""
    system, through = bouncing(shape), 0
    for steps in (120, 250, 400, 600, 800, 1200, 2000, 4000):
        try:
            run = system.simulate(0.6, integrator=integrator, step=1.0 / steps, output=20, initial=START)
        except SimulationError as error:
            assert error.status is Status.PASSED_OVER  # noqa: PT017
            continue
        through += 1
        assert kept(run) < 0.01
    assert through >= 3


@pytest.mark.parametrize("shape", ["ball", "box"])
def test_friction_that_comes_to_stick_and_rest_are_no_alarm(shape: str) -> None:
    system = bouncing(shape, 0.5, 0.3)
    reference = system.simulate(1.0, tolerance=1e-9, output=20, initial=START)
    run = system.simulate(1.0, integrator="runge_kutta4", step=5e-4, output=20, initial=START)
    # Where it comes to rest.
    place, right = (float(r["body.position.z"][-1]) for r in (run, reference))
    assert place == pytest.approx(right, abs=1e-6)


@pytest.mark.parametrize("shape", ["ball", "box"])
def test_a_body_that_is_laid_down_is_no_alarm(shape: str) -> None:
    """It begins to press by its weight alone, from no overlap on; 2e-3 s are a sixth of its period."""
    system = bouncing(shape, 0.5)
    start = {"flight": {"position": (0.0, 0.0, 0.1 if shape == "ball" else 0.05)}}
    run = system.simulate(0.6, integrator="runge_kutta4", step=2e-3, output=20, initial=start)
    points = 1 if shape == "ball" else 4
    sunk = (9.81 / points / 1e6) ** (2.0 / 3.0)
    least = 0.1 if shape == "ball" else 0.05
    assert float(run["body.position.z"][-1]) == pytest.approx(least - sunk, abs=2e-5)


@pytest.mark.parametrize("shape", ["ball", "box"])
def test_a_body_put_on_the_floor_is_damped_by_the_speed_at_which_it_sinks_in(shape: str) -> None:
    """sqrt(g d) with the static depth d, for one point and for four; what is laid down then comes to rest."""
    system = bouncing(shape, 0.5)
    least, points = (0.1, 1) if shape == "ball" else (0.05, 4)
    run = system.simulate(0.6, output=20, initial={"flight": {"position": (0.0, 0.0, least)}})
    kept = run.mechanism.mechanics.parameters
    speeds = [run.parameters[-1][kept.index(name)] for name in kept if name.endswith("approach speed")]
    sunk = (9.81 / points / 1e6) ** (2.0 / 3.0)
    pressed = [speed for speed in speeds if speed != 1.0]
    assert pressed == pytest.approx([np.sqrt(9.81 * sunk)] * points, rel=1e-6)
    assert abs(float(run["body.velocity.z"][-1])) < 1e-6


def test_it_does_not_matter_how_deep_a_body_is_put_into_the_floor() -> None:
    """A flat face is a linear spring: what it has, sqrt(2 U / m), and what it lacks make up sqrt(g d)."""
    ends, speeds = [], []
    for into in (0.0, 1e-9, 2e-7, 6e-7):
        system = bc.System("laid")
        body = system.body("body", mass=0.5, inertia=(1e-3,) * 3, at=(0.0, 0.0, 0.05 - into))
        system.free("flight", system.ground, body)
        how = {"treatment": "continuous", "method": "field", "young": 1e8}
        system.contact("floor", system.ground.plane(), body.box(0.05, 0.05, 0.05), 0.3, **how)
        run = system.simulate(0.05, output=20)
        kept = run.mechanism.mechanics.parameters.index("floor approach speed")
        speeds.append(run.parameters[-1][kept])
        ends.append(0.05 - float(run["body.position.z"][-1]))
        assert abs(float(run["body.velocity.z"][-1])) < 1e-7
    assert max(ends) > 7e-7
    assert ends == pytest.approx([ends[0]] * len(ends), rel=1e-6)
    assert speeds == pytest.approx([np.sqrt(9.81 * ends[0])] * len(ends), rel=1e-4)
