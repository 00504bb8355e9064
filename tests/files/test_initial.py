"""Described starts, in Python and in files, against closed forms and against what a run is told."""

from __future__ import annotations

import math
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml

from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads, schema
from bellcrank.flexible import STEEL, Clamped, NormalModes, beam, rectangle
from bellcrank.model import System

HEAD = """
bellcrank: 1
name: starts
gravity: [0, 0, -9.81]
parameters: {speed: 2}
bodies:
  ball: {mass: 1, inertia: [1, 2, 3], at: [1, 2, 3]}
  rod: {mass: 1, inertia: [1, 1, 1], at: [0, 1, 0]}
  puck: {mass: 1, inertia: [1, 1, 1]}
  top: {mass: 1, inertia: [1, 2, 3]}
  base: {mass: 1, inertia: [1, 1, 1]}
joints:
  flight: {kind: free, a: ground, b: ball}
  pin: {kind: revolute, a: ground, b: rod, at: [0, 0, 0], axis: x}
  plane: {kind: planar, a: ground, b: puck, axis: z}
  ball joint: {kind: spherical, a: ground, b: top, at: [0, 0, 0]}
  bolt: {kind: fixed, a: ground, b: base}
states:
  filtered: {rate: 0 - filtered}
initial:
"""


def described(*lines: str) -> System:
    return loads(HEAD + "".join(f"  {line}\n" for line in lines))


def test_a_thrown_ball_flies_as_galileo_says() -> None:
    run = described("flight: {position: [1, 2, 3], velocity: [speed, 0, 5]}").simulate(1.5, output=30)
    t = run.time
    np.testing.assert_allclose(run["ball.position.x"], 1 + 2 * t, atol=1e-9)
    np.testing.assert_allclose(run["ball.position.z"], 3 + 5 * t - 0.5 * 9.81 * t**2, atol=1e-9)


def test_a_loop_closes_around_the_described_speed() -> None:
    """Slider-crank: x = r cos a + sqrt(rod^2 - r^2 sin^2 a), and its rate by hand."""
    r, rod, a, rate = 0.3, 1.0, 0.7, 4.0
    system = System("slider crank", gravity=(0, 0, 0))
    pin = (r * math.cos(0.2), r * math.sin(0.2), 0.0)
    end = (pin[0] + math.sqrt(rod**2 - pin[1] ** 2), 0.0, 0.0)
    for name, at in (("crank", (0, 0, 0)), ("rod", pin), ("slider", end)):
        system.body(name, mass=1.0, inertia=(1, 1, 1), at=at)
    system.revolute("bearing", system.ground, "crank", at=(0, 0, 0))
    system.revolute("crank pin", "crank", "rod", at=pin)
    system.revolute("wrist pin", "rod", "slider", at=end)
    system.prismatic("guide", system.ground, "slider", axis="x")
    system.initial("bearing", (a - 0.2, rate))
    run = loads(dumps(system)).simulate(0.1, output=2)
    root = math.sqrt(rod**2 - (r * math.sin(a)) ** 2)
    assert run["slider.position.x"][0] == pytest.approx(r * math.cos(a) + root, abs=1e-10)
    slope = -r * math.sin(a) - r * r * math.sin(a) * math.cos(a) / root
    assert run["slider.velocity.x"][0] == pytest.approx(slope * rate, abs=1e-9)


STARTS: dict[str, tuple[str, Any]] = {
    "pin": ("pin: [pi / 6, speed]", (math.pi / 6, 2.0)),
    "a position alone": ("pin: 0.5", 0.5),
    "plane": ("plane: {x: [1, 2], angle: 0.3}", {"x": (1.0, 2.0), "angle": 0.3}),
    "flight": (
        "flight: {quaternion: [0.6, 0, 0.8, 0], velocity: [1, 2, 3], angular_velocity: [3, 2, 1]}",
        {"quaternion": (0.6, 0, 0.8, 0), "velocity": (1, 2, 3), "angular_velocity": (3, 2, 1)},
    ),
    "ball joint": ("ball joint: {angular_velocity: [0, speed, 1]}", {"angular_velocity": (0, 2, 1)}),
}


@pytest.mark.parametrize("case", STARTS)
def test_the_file_starts_where_a_run_would_be_told_to(case: str) -> None:
    line, values = STARTS[case]
    joint = line.split(":")[0]
    system, plain = described(line), described()
    told = plain.mechanism(initial={joint: values}).start
    start = system.mechanism().start
    assert np.array_equal(start.q, told.q)
    assert np.array_equal(start.u, told.u)
    assert not np.array_equal(start.q, plain.mechanism().start.q) or np.any(start.u)
    text = dumps(system)
    jsonschema.Draft202012Validator(schema()).validate(yaml.safe_load(text))
    assert dumps(loads(text)) == text
    again = loads(text).mechanism().start
    assert np.array_equal(again.q, start.q)
    assert np.array_equal(again.u, start.u)


def test_a_run_has_the_last_word_coordinate_by_coordinate() -> None:
    system = described("pin: [0.5, 3]", "plane: {x: [1, 2], y: 4}")
    run = system.simulate(0.1, initial={"pin": 0.7, "plane": {"x": (5.0, 6.0)}}, output=1)
    assert (run["pin.angle"][0], run["pin.angle_rate"][0]) == (0.7, 3.0)
    assert (run["plane.x"][0], run["plane.x_rate"][0], run["plane.y"][0]) == (5.0, 6.0, 4.0)


def test_a_start_follows_its_parameters() -> None:
    """x = 1 + speed t, so its slope by the speed is t; and in a batch every row has its own."""
    system = described("flight: {velocity: [speed, 0, 0]}")
    slope = system.sensitivity(2.0, outputs=["ball.position.x"], by=["speed"], output=4)
    np.testing.assert_allclose(slope["ball.position.x", "speed"], slope.result.time, atol=1e-9)
    speeds = np.array([1.0, 2.0, 3.5])
    many = system.simulate_many({"speed": speeds}, 2.0, quantities=["ball.position.x"], output=1)
    np.testing.assert_allclose(many["ball.position.x"][:, -1], 1 + 2 * speeds, rtol=1e-9)
    assert system.simulate(1.0, parameters={"speed": -1.0})["ball.position.x"][-1] == pytest.approx(
        0.0, abs=1e-9
    )


def test_modes_start_as_described() -> None:
    """A clamped member let go in its first mode swings at the frequency of the mode."""
    member = beam("blade", 1.0, rectangle(0.01, 0.05), STEEL, elements=6, planar=True).reduce(
        NormalModes(count=1), Clamped("start")
    )
    system = System("blade", gravity=(0, 0, 0))
    blade = system.flexible_body("blade", member)
    system.fixed("root", system.ground, blade.node("start"))
    system.initial(blade, {"mode 1": 1e-6})
    period = 1.0 / member.frequencies[0]
    run = loads(dumps(system)).simulate(period, output=4, tolerance=1e-10)
    np.testing.assert_allclose(run.q[:, -1], 1e-6 * np.array([1, 0, -1, 0, 1]), atol=1e-12)


WRONG = {
    "pinn: 1": "no joint or flexible body named 'pinn'; did you mean 'pin'?",
    "pin: [1, 2, 3]": "start of 'pin' must be a list of 1 or 2 numbers, not 3",
    "pin: {angel: 1}": "did you mean 'angle'?",
    "pin: {}": "start of 'pin' says nothing",
    "pin: sped": "did you mean 'speed'?",
    "flight: [1, 2]": "must be a mapping of position, quaternion, velocity, angular_velocity",
    "flight: {velocity: [1, 2]}": "must be a list of 3 numbers, not 2",
    "flight: {quaternion: [0, 0, 0, 0]}": "quaternion of the start of 'flight' is zero",
    "ball joint: {position: [0, 0, 0]}": "has no key 'position'",
    "plane: 3": "start of 'plane' must be a mapping of x, y, angle",
    "bolt: 1": "fixed joint 'bolt' has no coordinate",
    "rod: 1": "give the start of one of them: pin",
    "filtered: 1": "state 'filtered' starts from an initial of its own",
}


@pytest.mark.parametrize("line", WRONG)
def test_mistakes_are_told_with_their_line(line: str) -> None:
    with pytest.raises(ModelError) as error:
        described(line)
    assert WRONG[line] in str(error.value)
    assert str(error.value).startswith(f"model:{len(HEAD.splitlines()) + 1}:")


def test_a_cut_joint_has_nothing_to_start_from() -> None:
    system = System("loop")
    system.body("rod", mass=1.0, inertia=(1, 1, 1))
    system.revolute("kept", system.ground, "rod", at=(0, 0, 0))
    system.revolute("closing", system.ground, "rod", at=(0, 0, 1), cut=True)
    system.initial("closing", 0.1)
    with pytest.raises(ModelError, match="joint 'closing' closes a loop here"):
        system.mechanism()
