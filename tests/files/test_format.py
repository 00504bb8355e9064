"""The schema says what the reader reads, and the examples are good files."""

from __future__ import annotations

import math
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml

from bellcrank.errors import ModelError
from bellcrank.files import dumps, load, loads, schema
from bellcrank.mechanism import analyse
from bellcrank.verify.full_car_bump import driving_car
from files.test_round_trip import everything
from reference.mechanisms import mechanism

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.yaml"))
VALIDATOR = jsonschema.Draft202012Validator(schema())


def check(text: str) -> None:
    VALIDATOR.validate(yaml.safe_load(text))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kind: revolute", "kind: hinge"),
        ("kind: revolute", "kind: revolute, axes: x"),
        ("a: ground, ", ""),
        ("mass: 1.0", "mass: [1.0]"),
        ("mass: 1.0", "at: [0, 0, 0]"),
        ("bellcrank: 1", "bellcrank: 2"),
        ("name: one", "name: ''"),
        ("[0.1, 0.1, 0.1]", "[0.1, 0.1]"),
        ("joint: pin", "point: rod"),
        ("bodies:", "bodys:"),
        ("restitution: 0.5", "law: bounce"),
        ("kind: sphere, body: rod, radius: 0.1", "kind: sphere, body: rod"),
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(old: str, new: str) -> None:
    text = """bellcrank: 1
name: one
bodies: {rod: {mass: 1.0, inertia: [0.1, 0.1, 0.1]}}
joints: {pin: {a: ground, b: rod, kind: revolute}}
drivers: {motor: {joint: pin, function: t}}
contacts: {stop: {a: {kind: sphere, body: rod, radius: 0.1}, b: {kind: plane, body: ground}, restitution: 0.5}}
"""
    check(text)
    wrong = text.replace(old, new)
    assert wrong != text
    with pytest.raises(jsonschema.ValidationError):
        check(wrong)
    with pytest.raises(ModelError):
        loads(wrong)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_examples_fit_the_schema_and_can_be_analysed(path: Path) -> None:
    check(path.read_text())
    freedoms = {
        "pendulum": 1,
        "slider_crank": 1,
        "four_bar": 1,
        "full_car": 15,
        "flexible_slider_crank": 5,
        "quarter_car": 2,
        "ball_on_ground": 3,
        "slider_crank_impact": 2,
        "two_pendulums": 2,
        "two_balls": 12,
        "spatial_pendulums": 6,
        "bat_and_ball": 12,
    }
    assert analyse(load(path)).degrees_of_freedom == freedoms[path.stem]
    check(dumps(load(path)))


def test_what_is_written_fits_the_schema() -> None:
    check(dumps(everything()))
    for family in ("driven", "coupled", "chain"):
        check(dumps(mechanism(family, 2, forces=8)))


def test_the_car_file_is_the_car() -> None:
    path = next(p for p in EXAMPLES if p.stem == "full_car")
    assert dumps(load(path)) == dumps(driving_car())


def test_energy_of_the_slider_crank_is_the_published_one() -> None:
    """Paper A, example 1: crank rate 1 rad/s at 30 degrees; 61.728486536 J (independent solution)."""
    system = load(next(p for p in EXAMPLES if p.stem == "slider_crank"))
    y = 3 * math.sin(math.pi / 6)
    rod = math.asin(y / 4)
    rates = {"crank": 1.0, "rod": -3 * math.cos(math.pi / 6) / (4 * math.cos(rod)), "slider": 0.0}
    pin = np.array([-y, 3 * math.cos(math.pi / 6), 0.0])
    slide = np.array([-y + y * rates["rod"], 0.0, 0.0])
    velocities = {"crank": pin / 2, "rod": (pin + slide) / 2, "slider": slide}
    energy = 0.0
    for name, body in system.bodies.items():
        v, w = velocities[name], rates[name]
        energy += body.mass * (v @ v) / 2 + body.inertia[2][2] * w**2 / 2
        energy -= body.mass * float(np.dot(system.gravity, body.position))
    assert energy == pytest.approx(61.728486536, abs=1e-8)


def test_joints_by_place_and_couplings_by_kind() -> None:
    """The short forms mean what the methods of a system mean."""
    system = loads(
        """
bellcrank: 1
name: gears
parameters: {teeth: 2}
bodies:
  wheel: {mass: 1, inertia: [1, 1, 1]}
  pinion: {mass: 1, inertia: [1, 1, 1], at: [1, 0, 0]}
  rack: {mass: 1, inertia: [1, 1, 1]}
joints:
  w: {kind: revolute, a: ground, b: wheel, at: [0, 0, 0], axis: [0, 0, 2]}
  p: {kind: cylindrical, a: ground, b: pinion, at: [1, 0, 0]}
  r:
    kind: prismatic
    a: {body: ground, at: [0, 1, 0]}
    b: {body: rack, position: [0, 1, 0]}
    axis: x
    cut: false
couplings:
  mesh: {kind: gear, a: w, b: {joint: p, coordinate: angle}, ratio: -teeth}
  teeth on rack: {kind: rack_and_pinion, prismatic: r, revolute: w, radius: 0.5}
forces:
  stop:
    kind: joint_force
    joint: p
    coordinate: displacement
    function: {let: {d: coordinate - 1}, value: -d * 3}
"""
    )
    assert system.joints["w"].a.rotation == ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    assert system.joints["r"].cut is False
    assert system.joints["p"].start_coordinates() == (0.0, 0.0)
    (_, _, one), (_, name, factor) = system.couplings["mesh"].terms
    assert (one, name, system.parameters.value(factor)) == (1.0, "angle", 2.0)
    assert system.couplings["teeth on rack"].terms[1][2] == -0.5
    assert system.forces["stop"].function(3.0, 0.0, 0.0) == -6.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "bodies: {rod: {mass: 1, position: [0, 0, 0]}}",
            "body 'rod' has no key 'position'; did you mean 'at'?",
        ),
        ("bodies: {rod: {mass: 1, orientation: 0}}", "did you mean 'rotation'?"),
        ("joints: {pin: {kind: revolute, parent: ground, b: ground}}", "did you mean 'a'?"),
    ],
)
def test_words_of_other_packages_are_known(text: str, said: str) -> None:
    with pytest.raises(ModelError) as raised:
        loads(f"bellcrank: 1\nname: model\n{text}\n")
    assert said in str(raised.value)
