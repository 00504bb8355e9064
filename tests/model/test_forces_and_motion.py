"""Forces, drivers, couplings and the functions of the user."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank.errors import ModelError, TracedBranch, UnknownName
from bellcrank.model import Axes, CoordinateTarget, PointTarget, System
from bellcrank.program.functions import where
from bellcrank.program.graph import Graph


@pytest.fixture
def system() -> System:
    result = System("rig")
    for name, x in (("crank", 0.0), ("rod", 1.0), ("block", 2.0)):
        result.body(name, mass=1, inertia=(1, 1, 1), at=(x, 0, 0), angle=0.5 * x)
    result.revolute("bearing", result.ground, "crank", at=(0, 0, 0))
    result.revolute("pin", "crank", "rod", at=(1, 0, 0))
    result.prismatic("rail", result.ground, "block", axis="x")
    result.cylindrical("sleeve", "rod", "block", at=(2, 0, 0))
    return result


def test_functions_may_name_what_they_need(system: System) -> None:
    rod, ground = system["rod"], system.ground
    k = system.parameter("k", 100.0)
    laws = {
        "all": lambda length, rate, t: 2 * length + 3 * rate + t,
        "some": lambda rate: 3 * rate,
        "keyword only": lambda *, t, length: length + t,
        "with a default": lambda length, stiffness=7: stiffness * length,
        "any": lambda *values: values[0] + 10 * values[1] + 100 * values[2],
        "constant": lambda: 4,
        "named": lambda **given: given["rate"],
    }
    expected = {
        "all": 17,
        "some": 9,
        "keyword only": 6,
        "with a default": 14,
        "any": 432,
        "constant": 4,
        "named": 3,
    }
    for name, law in laws.items():
        function = system.force(name, rod, ground, law).function
        assert function(2.0, 3.0, 4.0) == function(length=2.0, rate=3.0, t=4.0) == expected[name]
    assert system.forces["some"].function.wants == {"rate"}
    stop = system.force("stop", rod, ground, lambda length: -k * np.maximum(length - 1, 0))
    assert system.parameters.value(stop.function(3.0, 0.0, 0.0)) == -200.0


def test_vectors_arrive_as_arrays(system: System) -> None:
    drag = system.applied_force(
        "drag", "rod", lambda velocity, rotation, t: -2 * velocity + rotation @ (t, 0, 0)
    )
    identity = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    given = {"position": (0, 0, 0), "angular_velocity": (0, 0, 0), "rotation": identity}
    assert drag.function(t=5.0, velocity=(1.0, 2.0, 3.0), **given) == (3.0, -4.0, -6.0)
    graph = Graph()
    v = tuple(graph.input(f"v.{i}") for i in range(3))
    assert drag.function(t=0.0, velocity=v, **given)[1] is -2 * v[1]
    assert drag.axes is Axes.WORLD
    assert system.applied_torque("motor", "rod", (0, 0, 5), axes="body").function() == (0.0, 0.0, 5.0)


def test_branches_are_refused_where_the_function_is_given(system: System) -> None:
    rod, ground = system["rod"], system.ground
    calls = {
        "force 'f'": lambda: system.force("f", rod, ground, lambda length: 1.0 if length > 1 else 0.0),
        "driver 'f'": lambda: system.driver("bearing", lambda t: max(t, 1.0), name="f"),
        "force 'f'.*np.sin": lambda: system.joint_force("f", "pin", lambda t: math.sin(t)),
        "the road of force 'f'": lambda: system.ground_spring(
            "f", rod, axis="y", radius=1, stiffness=1, road=lambda x: 0.0 if x < 0 else 1.0
        ),
    }
    for who, call in calls.items():
        with pytest.raises(TracedBranch, match=who):
            call()
    assert "f" not in system
    system.force("f", rod, ground, lambda length: where(length > 1, 1.0, 0.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda s: s.force("f", "rod", "ground", 3.0),
            r"force 'f' needs a function of \(length, rate, t\), not 3",
        ),
        (lambda s: s.force("f", "rod", "ground", lambda lenght: 0), "'lenght'; did you mean 'length'"),
        (
            lambda s: s.force("f", "rod", "ground", lambda length, x: 0),
            "the function of force 'f': no argument named 'x'",
        ),
        (lambda s: s.force("f", "rod", "ground", lambda t: None), "is None; let it return a number"),
        (lambda s: s.force("f", "rod", "ground", lambda t: "1"), "must be a number"),
        (lambda s: s.force("f", "rod", "ground", lambda t: t > 1), "is a condition"),
        (lambda s: s.force("f", "rod", "ground", lambda t: math.inf), "is inf"),
        (
            lambda s: s.force("f", "rod", "ground", lambda t: t / 0),
            "failed when it was traced: ZeroDivisionError",
        ),
        (lambda s: s.force("f", "rod", "rod", lambda t: t), "from body 'rod' on itself"),
        (lambda s: s.force("f", "rod", "gruond", lambda t: t), "did you mean 'ground'"),
        (lambda s: s.applied_force("f", "rod", lambda t: t), "must be 3 numbers"),
        (lambda s: s.applied_force("f", "rod", lambda t: (t, t)), "must be 3 numbers"),
        (
            lambda s: s.applied_force("f", "rod", (0, 0, 1), axes="local"),
            "no axes for force 'f' named 'local'",
        ),
        (lambda s: s.applied_force("f", "ground", (0, 0, 1)), "acts on the ground"),
        (lambda s: s.spring("f", "rod", "ground", stiffness=1.0), "no length at rest; give free_length="),
        (lambda s: s.spring("f", "rod", "ground", 1.0, free_length=-1), "free_length of force 'f' is -1"),
        (lambda s: s.spring("f", "rod", "ground", math.nan, free_length=1), "stiffness of force 'f' is nan"),
        (lambda s: s.bushing("f", "rod", "ground", (1, 2, 3)), "stiffness of force 'f' must be 6 numbers"),
        (lambda s: s.torsion_spring("f", "pni", 1.0), "no joint named 'pni'; did you mean 'pin'"),
        (
            lambda s: s.torsion_spring("f", "pin", 1.0, coordinate="displacement"),
            "no coordinate of revolute joint",
        ),
        (
            lambda s: s.joint_force("f", "sleeve", lambda t: t),
            "name one with coordinate=: angle, displacement",
        ),
        (lambda s: s.joint_force("f", 3, lambda t: t), "needs a joint, not 3"),
        (lambda s: s.ground_spring("f", "rod", "y", radius=-1, stiffness=1), "radius of force 'f' is -1"),
        (
            lambda s: s.ground_spring("f", "rod", (0, 0, 0), radius=1, stiffness=1),
            "axis of force 'f' is the zero",
        ),
        (lambda s: s.driver("pin", 1.0), r"driver 'driver of pin' needs a function of \(t\)"),
        (lambda s: s.driver("pin", lambda t, x: t), "named 'x'"),
        (lambda s: s.driver("pin", lambda t: t, axis="x"), "axis= is for points"),
        (lambda s: s.driver(s["rod"].point(0, 0, 0), lambda t: t), "say along which world axis"),
        (lambda s: s.driver(s["rod"].point(0, 0, 0), lambda t: t, axis="w"), "named 'w'"),
        (lambda s: s.driver(s.ground.point(0, 0, 0), lambda t: t, axis="x"), "the ground, which never moves"),
        (lambda s: s.coupling("c", {}), "coupling 'c' needs factors by joint"),
        (lambda s: s.coupling("c", {"pin": 0.0}), "all factors of coupling 'c' are zero"),
        (lambda s: s.coupling("c", {"pin": 1, ("pin", "angle"): 2}), "names 'angle' of joint 'pin' twice"),
        (lambda s: s.coupling("c", {("pin", "angel"): 1}), "did you mean 'angle'"),
        (lambda s: s.gear("c", "pin", "bearing", 0), "ratio of coupling 'c' is zero"),
        (lambda s: s.rack_and_pinion("c", "rail", "pin", -1), "radius of coupling 'c' is -1.*turn the axis"),
        (lambda s: s.joint_force("f", _foreign_joint(), lambda t: t), "joint 'pin' of another system"),
    ],
)
def test_mistakes_are_refused_and_leave_nothing_behind(system: System, call, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        call(system)
    assert not system.forces
    assert not system.drivers
    assert not system.couplings


def _foreign_joint():
    other = System("other")
    return other.revolute("pin", other.ground, other.body("b", 1), at=(0, 0, 0))


def test_drivers_take_any_function_of_one_number(system: System) -> None:
    driver = system.driver("bearing", np.sin)
    assert driver.function(0.5) == math.sin(0.5)
    assert isinstance(driver.target, CoordinateTarget)
    assert (driver.target.joint.name, driver.target.coordinate) == ("bearing", "angle")
    lift = system.driver(system["block"].point(0, 0, 0), lambda time: 2 * time, axis="x", name="lift")
    assert isinstance(lift.target, PointTarget)
    assert lift.function(2.0) == 4.0
    assert system["lift"] is lift
    block = system["block"].point(0, 0, 0)
    assert [system.driver(block, np.cos, axis=axis).name for axis in "yz"] == [
        "driver of block y",
        "driver of block z",
    ]
    assert system.driver("sleeve", np.cos, coordinate="angle").name == "driver of sleeve angle"


def test_gears_mesh_in_the_start_pose(system: System) -> None:
    ratio = system.parameter("ratio", -2.0)
    for coupling in (
        system.gear("gear", "pin", ("sleeve", "angle"), ratio),
        system.rack_and_pinion("rack", "rail", "pin", 0.1),
    ):
        total = 0.0
        for joint, coordinate, factor in coupling.terms:
            start = joint.start_coordinates()[joint.coordinates.index(coordinate)]
            total += system.parameters.value(factor) * start
        assert total == pytest.approx(system.parameters.value(coupling.offset))
    assert system.coupling("plain", {"pin": 1.0}).offset == 0.0


def test_damping_may_be_negative_and_stiffness_a_parameter(system: System) -> None:
    k = system.parameter("k", 5.0)
    spring = system.spring("s", "rod", "ground", stiffness=k, damping=-1.0, free_length=0.0)
    assert spring.stiffness is k
    assert system.spring("damper", "rod", "ground", damping=3.0).free_length == 0.0
    assert system.torsion_spring("t", "pin", k, -2.0).damping == -2.0
    assert system.force_named("t") is system["t"]
    with pytest.raises(UnknownName, match="no force named 'tt'"):
        system.force_named("tt")


def test_a_system_without_bodies_is_refused_as_a_whole() -> None:
    with pytest.raises(ModelError, match="system 'empty' has no bodies"):
        System("empty").check()


def test_the_potential_of_a_joint_force_is_stored_energy() -> None:
    """A hardening torsion spring: the ledger has its energy, and no work of applied loads."""
    system = System("swing")
    arm = system.body("arm", 1.0, (0.1, 0.1, 0.1))
    system.revolute("hinge", system.ground, arm, at=(0.0, 0.0, 0.0), axis="z")
    system.joint_force(
        "spring",
        "hinge",
        lambda coordinate: -2.0 * coordinate - 5.0 * coordinate**3,
        energy=lambda coordinate: coordinate**2 + 1.25 * coordinate**4,
    )
    run = system.simulate(2.0, initial={"hinge": 0.7}, tolerance=1e-10)
    assert run["spring.energy"][0] == pytest.approx(0.7**2 + 1.25 * 0.7**4)
    assert np.ptp(run["energy.total"]) < 1e-8


def test_a_driver_with_its_name_first_is_told_its_form() -> None:
    system = System("one")
    system.revolute("pin", system.ground, system.body("rod", 1.0, (1, 1, 1)), at=(0, 0, 0), axis="z")
    with pytest.raises(ModelError, match=r"driver\('motor', lambda t: ..., name='motor'\)"):
        system.driver("motor", "pin", lambda t: t)
