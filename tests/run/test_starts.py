"""Where runs start and end: states and start values together, rates alone, a sample at the event that ends a run."""

from __future__ import annotations

import math

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.files import dumps, loads
from mechanism.linkages import four_bar


def pendulum() -> bc.System:
    system = bc.System("pendulum", gravity=(0, -9.81, 0))
    rod = system.body("rod", mass=2.0, inertia=(0, 1 / 6, 1 / 6), at=(0.5, 0, 0))
    system.revolute("pin", system.ground, rod, at=(0, 0, 0))
    return system


def first(result: bc.Result) -> tuple[float, float]:
    return float(result["pin.angle"][0]), float(result["pin.angle_rate"][0])


@pytest.mark.parametrize("kind", ["state", "equilibrium", "word"])
def test_an_equilibrium_and_then_a_speed(kind: str) -> None:
    system = pendulum()
    found = system.equilibrium(initial={"pin": -1.0})
    start = {"state": found.state, "equilibrium": found, "word": "equilibrium"}[kind]
    given = {"pin": {"angle_rate": 2.0}} if kind != "word" else {"pin": (-1.0, 2.0)}
    result = system.simulate(0.1, start=start, initial=given, output=1)
    assert first(result) == pytest.approx((-math.pi / 2, 2.0), abs=1e-12)
    assert system.linearize(start, initial=given).state.u == pytest.approx([2.0])


def test_start_values_over_a_state_close_the_loops() -> None:
    system = four_bar()
    joint = next(iter(system.joints))
    before = system.mechanism(initial={joint: (0.2, 1.5)})
    moved = before.starting(before.start, {joint: (0.5, 1.5)})
    name = before.speed_names.index(f"{joint}.angle")
    loops = moved.loop_state().rows(moved.start.q)
    assert moved.start.u[name] == 1.5
    assert np.abs(loops.residual).max() < 1e-10
    assert np.abs(loops.J @ moved.start.u - loops.nu).max() < 1e-10
    assert moved.start.q == pytest.approx(system.mechanism(initial={joint: 0.5}).start.q, abs=1e-9)


def test_a_mechanism_keeps_its_own_start_and_parameters() -> None:
    system = pendulum()
    load = system.parameter("load", 1.0)
    system.joint_force("motor", "pin", lambda coordinate, rate, t: load)
    mechanism = system.mechanism(initial={"pin": 0.7}, parameters={"load": 3.0})
    result = mechanism.simulate(0.1, initial={"pin": {"angle_rate": 2.0}}, output=1)
    assert first(result) == (0.7, 2.0)
    assert result.parameters[0].tolist() == [3.0]
    other = mechanism.simulate(0.1, formulation="lagrange", initial={"pin": 0.1}, output=1)
    again = mechanism.simulate(0.1, formulation="lagrange", output=1)
    assert (first(other), first(again)) == ((0.1, 0.0), (0.7, 0.0))


def test_a_rate_alone_leaves_the_position() -> None:
    system = pendulum()
    system.initial("pin", (0.4, 1.0))
    assert first(system.simulate(0.1, initial={"pin": {"angle_rate": 2.0}}, output=1)) == (0.4, 2.0)
    system.initial("pin", {"angle_rate": 3.0})
    assert first(loads(dumps(system)).simulate(0.1, output=1)) == (0.0, 3.0)
    with pytest.raises(bc.ModelError, match="rate of 'angle' twice"):
        system.simulate(0.1, initial={"pin": {"angle": (0.1, 1.0), "angle_rate": 2.0}})
    with pytest.raises(bc.ModelError, match="rate of 'angle' twice"):
        system.initial("pin", {"angle": (0.1, 1.0), "angle_rate": 2.0})


@pytest.mark.parametrize(
    ("start", "said"),
    [
        (bc.State(0.0, np.zeros(3), np.zeros(1)), "3 positions"),
        (bc.State(0.0, np.array([np.nan]), np.zeros(1)), "not finite"),
        ("equilibirum", "did you mean 'equilibrium'"),
    ],
)
def test_starts_that_do_not_fit(start: bc.State | str, said: str) -> None:
    with pytest.raises(bc.ModelError, match=said):
        pendulum().simulate(0.1, start=start)


def test_speeds_on_an_equilibrium_that_moves_have_no_derivatives() -> None:
    system = pendulum()
    system.parameter("load", 1.0)
    with pytest.raises(bc.ModelError, match="leave out the speeds"):
        system.sensitivity(
            0.1, outputs=["pin.angle"], start="equilibrium", initial={"pin": {"angle_rate": 1.0}}
        )


def test_a_result_ends_with_a_sample_at_the_event_that_stops_it() -> None:
    system = pendulum()
    low = bc.Event("low", lambda m: m["pin.angle"] + 0.3, stops=True)
    for output in (10, [0.5, 1.0]):
        result = system.simulate(1.0, events=[low], output=output)
        assert result.time[-1] == result.events[-1].time
        assert result["pin.angle"][-1] == pytest.approx(-0.3, abs=1e-12)
    many = system.simulate_many({"pin.angle": [0.0]}, 1.0, quantities=["pin.angle"], events=[low], output=10)
    reached = np.isfinite(many["pin.angle"][0])
    assert reached.tolist() == [True] * 3 + [False] * 8


def test_a_run_with_contacts_ends_with_one_sample_at_the_event() -> None:
    system = bc.System("ball", gravity=(0, 0, -9.81))
    ball = system.body("ball", mass=1.0, inertia=(0.1,) * 3, at=(0, 0, 1.1))
    system.free("flight", system.ground, ball)
    system.contact("floor", system.ground.plane(), ball.sphere(0.1), restitution=0.5)
    top = bc.Event("top", lambda m: m["ball.velocity.z"], direction=-1, stops=True)
    result = system.simulate(3.0, events=[top], output=[0.25, 3.0], initial={"flight": {"z_rate": -1.0}})
    # The impact in between ends a part of the run, but not the run: it adds no sample.
    assert len(result.impacts) == 1
    assert result.time.tolist() == [0.25, result.events[-1].time]
    assert abs(result["ball.velocity.z"][-1]) < 1e-9
