"""A system and the one read from its file: the same description, the same program, the same numbers."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.files import dumps, load, loads, save
from bellcrank.mechanism import analyse
from bellcrank.model import System
from bellcrank.model.functions import SHAPES
from bellcrank.model.parameters import ParameterTable, value
from bellcrank.program.count import count
from bellcrank.program.evaluate import evaluate
from bellcrank.program.functions import where
from bellcrank.program.graph import Graph
from bellcrank.program.tables import smooth_table
from bellcrank.program.trace import Expr
from bellcrank.verify.full_car import full_car_system
from reference.mechanisms import FAMILIES, mechanism

KINDS = ("parameters", "bodies", "joints", "drivers", "couplings", "forces")


def facts(thing):
    """Everything a description says, as nested tuples; expressions by their value, functions left out."""
    if isinstance(thing, ParameterTable) or callable(thing):
        return None
    if is_dataclass(thing):
        said = [f.name for f in fields(thing) if f.name != "parameters"]
        return (type(thing), *(facts(getattr(thing, name)) for name in said))
    if isinstance(thing, tuple):
        return tuple(facts(x) for x in thing)
    return repr(thing) if isinstance(thing, float) else ("expression" if isinstance(thing, Expr) else thing)


def assert_same_description(a: System, b: System) -> None:
    assert a.name == b.name
    assert facts(a.gravity) == facts(b.gravity)
    for kind in KINDS:
        assert list(getattr(a, kind)) == list(getattr(b, kind))
        for name, thing in getattr(a, kind).items():
            assert facts(thing) == facts(getattr(b, kind)[name]), name


def assert_same_program(a: System, b: System, formulation: str = "recursive") -> None:
    first, second = (analyse(s).traced(formulation).accelerations for s in (a, b))
    assert dict(count(first).operations) == dict(count(second).operations)
    x = np.random.default_rng(7).uniform(0.1, 1.0, (len(first.inputs), 5))
    assert [e.args for e in first.inputs] == [e.args for e in second.inputs]
    np.testing.assert_array_equal(evaluate(first, x), evaluate(second, x))


def functions(system: System):
    """Every user function of a system, by the name of its owner and its own."""
    for name, thing in (*system.drivers.items(), *system.forces.items()):
        for key in ("function", "energy", "road"):
            if getattr(thing, key, None) is not None:
                yield f"{name}.{key}", getattr(thing, key)


def traced(function, graph: Graph) -> list:
    """The nodes of a function on inputs of `graph`; equal functions give the very same nodes."""
    given = {}
    for name in function.arguments:
        shape = SHAPES.get(name, ())
        cells = np.empty(shape, dtype=object)
        for index in np.ndindex(shape):
            cells[index] = graph.input(f"{name}{index}.")
        given[name] = cells if shape else cells[()]
    result = function(**given)
    return [graph.bring(x) for x in (result if function.count else (result,))]


def assert_same_functions(a: System, b: System) -> None:
    graph = Graph()
    found, again = dict(functions(a)), dict(functions(b))
    assert list(found) == list(again)
    for name, function in found.items():
        for x, y in zip(traced(function, graph), traced(again[name], graph), strict=True):
            assert x is y or (isinstance(x, float) and repr(x) == repr(y)), name


@pytest.mark.parametrize("scenario", [None, "bump", "steer"])
def test_the_car(scenario: str | None) -> None:
    car = full_car_system(scenario)
    again = loads(dumps(car))
    assert_same_description(car, again)
    assert_same_functions(car, again)
    assert_same_program(car, again)
    assert dumps(again) == dumps(car)


def test_the_bump_is_the_same_under_the_wheels() -> None:
    car, again = full_car_system("bump"), loads(dumps(full_car_system("bump")))
    before, after = car.forces["FL_tyre"].road, again.forces["FL_tyre"].road
    heights = [before(x, 0.7, 0.0) for x in np.linspace(2.6, 4.9, 9)]
    assert min(heights) > 0.0
    assert heights == pytest.approx([after(x, 0.7, 0.0) for x in np.linspace(2.6, 4.9, 9)], rel=1e-14)


@pytest.mark.parametrize("family", FAMILIES)
def test_random_mechanisms(family: str) -> None:
    system = mechanism(family, 4, forces=6)
    again = loads(dumps(system))
    assert_same_description(system, again)
    assert_same_functions(system, again)
    assert_same_program(system, again)


def everything() -> System:
    """Parameters in every place that takes them, names that need quotes, functions of all kinds."""
    system = System("every 'thing': #1")
    k = system.parameter("stiffness", 300.0, "N/m")
    t = system.parameter("t", 0.3)
    pi = system.parameter("pi", 0.7)
    odd = system.parameter('odd "name": \\ [x], {y} # Ω', 1.25)
    length = system.parameter("length", 0.8, "m")
    mass = k / 100 + t * t
    system.gravity = (0.0, pi, -9.81 * odd)
    arm = np.array([np.cos(length), np.sin(length), -0.0])
    J = mass * length**2
    one = system.body("one", mass, (J, J, J), arm * length, at=(0.1, 0.2, 0.3), angle=0.7)
    two = system.body(
        "yes", 2.0, ((2, 0.1, 0), (0.1, 2, k / 1e4), (0, k / 1e4, 2)), quaternion=(0.6, 0, 0.8, 0)
    )
    turn = ((np.cos(t), -np.sin(t), 0.0), (np.sin(t), np.cos(t), 0.0), (0.0, 0.0, 1.0))
    hinge = system.revolute("1", system.ground.frame((length, 0, 0), turn), one.point(arm * odd))
    system.screw("null", one.point(length, t, 0), two.frame((0, 0, 1e-5), turn), pitch=odd / 7, cut=False)
    system.driver(two.frame((1, 2, 3), name="tip"), lambda t: 0.1 * t**3 + k, axis="x", name="lift")
    system.coupling("couple", {"1": k, "null": -2.0 * odd}, length)
    wave = smooth_table([0.0, 1.0, 2.5, 4.0], [0.0, 0.3, -0.2, 0.1])

    def law(length_, rate, time):
        stretched = length_ - length
        return where((stretched > 0) & (rate != 0.5), -k * stretched, 0.0) + wave(time) - 3 * rate**5 + t

    system.force("bumper", one, two.point(0, 0, odd), lambda length, rate, t: law(length, rate, t),
                 energy=lambda length: k * length**2 / 2)  # fmt: skip
    system.spring("soft", one.frame((0, 0, 1), name="eye"), two, k, 0.5 * k, length)
    system.bushing("rubber", one.frame((0, 1, 0), turn), two, (k, 1, 2, 3, 4, odd), (0, 0, 0, t, 0, 1e-30))
    system.torsion_spring("coil", hinge, k, 1 / k, t)
    system.joint_force("motor", hinge, lambda coordinate, rate, t: np.clip(t, 0, 1) - rate * coordinate * k)
    system.applied_force("weight", two, (0.0, -k, 1.5))
    system.applied_torque(
        "drag", one.point(1, 0, 0),
        lambda t, rotation, angular_velocity: -pi * rotation @ angular_velocity * t, axes="body",
    )  # fmt: skip
    system.ground_spring(
        "tyre", two, (1, 2, -0.5), odd, k, road=lambda x, y, t: np.hypot(x, y) * pi + (x > 1) * 2
    )
    return system


def test_everything_the_model_can_say() -> None:
    system = everything()
    again = loads(dumps(system))
    assert_same_description(system, again)
    assert dumps(loads(dumps(again))) == dumps(again)
    rng = np.random.default_rng(3)
    for name, force in system.forces.items():
        other = again.forces[name]
        for key in ("function", "energy", "road"):
            if getattr(force, key, None) is not None:
                assert_same_function(system, getattr(force, key), getattr(other, key), rng)
    assert_same_function(system, system.drivers["lift"].function, again.drivers["lift"].function, rng)


def assert_same_function(system, before, after, rng) -> None:
    shapes = {"rotation": (3, 3), "position": (3,), "velocity": (3,), "angular_velocity": (3,)}
    for _ in range(5):
        given = {a: rng.uniform(0, 2, shapes.get(a, ())) for a in before.arguments}
        given = {a: x if x.shape else float(x) for a, x in given.items()}
        results = [np.atleast_1d(np.array(f(**given), dtype=object)) for f in (before, after)]
        numbers = [[value(x, system.parameters) for x in result] for result in results]
        np.testing.assert_allclose(numbers[0], numbers[1], rtol=1e-14, atol=1e-14)


def test_expressions_of_parameters_stay_expressions() -> None:
    system, again = everything(), loads(dumps(everything()))
    changed = {name: 1.1 * p.value for name, p in system.parameters.items()}
    for name, body in system.bodies.items():
        other = again.bodies[name]
        for a, b in ((body.mass, other.mass), (body.center_of_mass[0], other.center_of_mass[0])):
            assert value(a, changed) == value(b, changed)
    assert isinstance(again.bodies["one"].mass, Expr)


def test_shared_expressions_of_numbers_are_written_once() -> None:
    system = System("chain")
    x = system.parameter("x", 0.3)
    for n in range(60):
        x = np.sin(x) * x + x
        system.body(f"body {n}", x + 1.0)
    assert len(dumps(system)) < 60 * 200
    again = loads(dumps(system))
    assert value(again.bodies["body 59"].mass, {"x": 0.4}) == value(system.bodies["body 59"].mass, {"x": 0.4})


def test_files(tmp_path) -> None:
    path = tmp_path / "car.yaml"
    save(full_car_system("steer"), path)
    assert_same_description(load(path), full_car_system("steer"))


def test_what_cannot_be_written_is_said() -> None:
    system = System("bad")
    body = system.body("b", 1.0, (1, 1, 1))
    system.free("f", system.ground, body)
    system.joint_force("nan", "f", lambda coordinate: coordinate + float("nan"), "x")
    with pytest.raises(ModelError, match="NaN"):
        dumps(system)
