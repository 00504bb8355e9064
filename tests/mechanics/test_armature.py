"""Armatures against rotors that are bodies of their own, closed forms, and each other in all formulations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bellcrank import ModelError, System
from bellcrank.errors import AssemblyError, SingularMechanism
from bellcrank.files import dumps, loads
from bellcrank.formulations.registry import FORMULATIONS
from bellcrank.mechanism import Mechanism
from bellcrank.model.joints import Joint
from flexible_dynamics.members import rod

G = 9.81
PLACE = (0.4, 0.1, -0.2)


def pendulum(J: Any = 0.3) -> System:
    system = System("pendulum", gravity=(0.0, 0.0, -G))
    rod = system.body("rod", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0.0, 0.0))
    system.revolute("pin", system.ground, rod, at=(0.0, 0.0, 0.0), axis="y")
    system.armature("rotor", "pin", inertia=J)
    return system


def falling(mechanism: Mechanism) -> float:
    return float(mechanism.simulate(1e-9, output=1)["pin.angle_acceleration"][0])


def arm(geared: bool) -> System:
    """Two links with rotors on both joints: as armatures, or as flywheels on the ground behind a coupling."""
    system = System("arm", gravity=(0.0, 0.0, -G))
    one = system.body("one", mass=2.0, inertia=(0.1, 0.2, 0.3), at=(0.5, 0.0, 0.0))
    two = system.body("two", mass=1.0, inertia=(0.1, 0.1, 0.05), at=(1.3, 0.0, 0.2))
    system.revolute("shoulder", system.ground, one, at=(0.0, 0.0, 0.0), axis="y")
    system.revolute("elbow", one, two, at=(1.0, 0.0, 0.0), axis=(0.3, 1.0, 0.0))
    for joint, J in (("shoulder", 0.7), ("elbow", 0.4)):
        if geared:
            wheel = system.body(f"wheel {joint}", mass=0.0, inertia=(J, J, J))
            system.revolute(f"bearing {joint}", system.ground, wheel, at=(0.0, 0.0, 0.0), axis="z")
            system.coupling(f"gear {joint}", {f"bearing {joint}": 1.0, joint: -1.0})
        else:
            system.armature(f"rotor {joint}", joint, inertia=J)
    return system


def test_a_pendulum_falls_as_its_moments_of_inertia_add_up() -> None:
    fall = falling(pendulum().mechanism())
    assert fall == pytest.approx(2.0 * G * 0.5 / (0.1 + 2.0 * 0.25 + 0.3), rel=1e-14)


@pytest.mark.parametrize("formulation", [f.value for f in FORMULATIONS])
def test_an_armature_is_a_geared_rotor(formulation: str) -> None:
    start = {"shoulder": {"angle_rate": 2.0}, "elbow": {"angle_rate": -3.0}}
    runs = [
        arm(geared)
        .mechanism(formulation=formulation, initial=start)
        .simulate(1.0, output=20, tolerance=1e-12)
        for geared in (False, True)
    ]
    for name in ("shoulder.angle", "elbow.angle", "energy.kinetic", "shoulder.force", "elbow.force"):
        assert np.allclose(runs[0][name], runs[1][name], rtol=1e-9, atol=1e-9), name


def linkage(formulation: str, cut: bool) -> System:
    """A four-bar whose crank and rocker carry rotors; the loop closes at the coupler."""
    system = System("four-bar", gravity=(0.0, 0.0, -G))
    points = np.array([[0.0, 0, 0], [0.2, 0, 0.3], [1.0, 0, 0.6], [1.1, 0, 0]])
    sides: list[Any] = [system.ground]
    for k, name in enumerate(("crank", "coupler", "rocker")):
        sides.append(system.body(name, 1.0, (0.01, 0.02, 0.03), at=0.5 * (points[k] + points[k + 1])))
    for k, point in enumerate(points):
        system.revolute(
            f"pin {k}", sides[k], sides[(k + 1) % 4], at=point, axis="y", cut=True if k == 2 else None
        )
    system.armature("motor", "pin 0", inertia=0.5)
    system.armature("fan", "pin 2" if cut else "pin 3", inertia=0.2)
    return system


@pytest.mark.parametrize("formulation", [f.value for f in FORMULATIONS])
def test_loops_keep_their_energy(formulation: str) -> None:
    mechanism = linkage(formulation, False).mechanism(
        formulation=formulation, initial={"pin 0": {"angle_rate": 3.0}}
    )
    result = mechanism.simulate(1.0, output=50, tolerance=1e-11)
    energy = np.asarray(result["energy.total"])
    assert np.ptp(energy) < 1e-8
    crank, rocker = (np.asarray(result[f"pin {k}.angle_rate"]) for k in (0, 3))
    assert np.max(np.abs(rocker)) > 0.1
    bare = linkage(formulation, False)
    for name in ("motor", "fan"):
        del bare.forces[name]
    without = bare.mechanism(initial={"pin 0": {"angle_rate": 3.0}}).simulate(1e-9, output=1)
    more = 0.5 * 0.5 * crank[0] ** 2 + 0.5 * 0.2 * rocker[0] ** 2
    assert result["energy.kinetic"][0] - without["energy.kinetic"][0] == pytest.approx(more, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "given", "diagonal"),
    [
        (lambda s, b: s.prismatic("j", s.ground, b, axis=(1.0, 2.0, 0.0)), {"mass": 3.0}, [3.0]),
        (
            lambda s, b: s.cylindrical("j", s.ground, b, at=PLACE, axis="x"),
            {"mass": 3.0, "inertia": 0.5},
            [3.0, 0.5],
        ),
        (lambda s, b: s.cylindrical("j", s.ground, b, at=PLACE, axis="x"), {"mass": 3.0}, [3.0, 0.0]),
        (lambda s, b: s.screw("j", s.ground, b, at=PLACE, axis="x", pitch=0.01), {"inertia": 0.5}, [0.5]),
        (lambda s, b: s.planar("j", s.ground, b, axis="x"), {"mass": 3.0, "inertia": 0.5}, [3.0, 3.0, 0.5]),
        (
            lambda s, b: s.planar("j", s.ground, b, axis="x"),
            {"mass": 3.0, "coordinate": "y"},
            [0.0, 3.0, 0.0],
        ),
        (
            lambda s, b: s.universal("j", s.ground, b, at=PLACE, axis_a="x", axis_b="y"),
            {"inertia": 0.5},
            [0.5, 0.5],
        ),
        (lambda s, b: s.spherical("j", s.ground, b, at=PLACE), {"inertia": 0.5}, [0.5, 0.5, 0.5]),
    ],
)
def test_it_adds_to_the_mass_of_each_coordinate(
    make: Callable[[System, Any], Joint], given: dict[str, Any], diagonal: list[float]
) -> None:
    def mass(armed: bool) -> Any:
        system = System("one", gravity=(0.0, 0.0, 0.0))
        body = system.body("b", mass=1.0, inertia=(0.1, 0.2, 0.3), at=PLACE)
        make(system, body)
        if armed:
            system.armature("more", "j", **given)
        return system.mechanism().mass_matrix()

    assert mass(True) - mass(False) == pytest.approx(np.diag(diagonal), abs=1e-13)


def test_a_body_that_floats_with_mass_against_newton() -> None:
    """A dumb-bell with the mass of the armature at its origin, 0.3 m off its centre of mass; no weight of it."""
    system = System("float", gravity=(0.0, 0.0, -G))
    body = system.body("b", mass=2.0, inertia=(0.1, 0.2, 0.25), center_of_mass=(0.3, 0.0, 0.0))
    system.free("flight", system.ground, body)
    system.armature("more", "flight", mass=1.5, inertia=0.4)
    spin, slide = np.array([1.0, -2.0, 0.5]), np.array([0.3, 0.2, -0.4])
    start = {"flight": {"angular_velocity": spin, "velocity": slide}}
    result = system.mechanism(initial=start).simulate(0.5, output=50, tolerance=1e-12)
    # Momentum of all in world axes, and about the world's origin; the weight acts on 2 kg at the centre.
    R, p = np.asarray(result["b.rotation"]).reshape(-1, 3, 3), np.asarray(result["b.position"])
    w, v = np.asarray(result["b.angular_velocity"]), np.asarray(result["b.velocity"])
    arm = R @ np.array([0.3, 0.0, 0.0])
    center, speed = p + arm, v + np.cross(w, arm)
    momentum = 2.0 * speed + 1.5 * v
    inertia = np.einsum("nij,j,nkj->nik", R, [0.1, 0.2, 0.25], R)
    angular = (
        np.einsum("nij,nj->ni", inertia, w) + 0.4 * w + 2.0 * np.cross(center, speed) + 1.5 * np.cross(p, v)
    )
    t = np.asarray(result.time)
    weight = np.array([0.0, 0.0, -2.0 * G])
    assert momentum - momentum[0] == pytest.approx(t[:, None] * weight, abs=1e-9)
    turned = np.array(
        [np.trapezoid(np.cross(center, weight)[: k + 1], t[: k + 1], axis=0) for k in range(len(t))]
    )
    assert angular - angular[0] == pytest.approx(turned, abs=1e-3)
    assert np.ptp(np.asarray(result["energy.total"])) < 1e-10


def test_a_massless_shaft_moves_its_rotor() -> None:
    system = System("shaft", gravity=(0.0, 0.0, 0.0))
    shaft = system.body("shaft", mass=0.0)
    system.revolute("pin", system.ground, shaft, at=(0.0, 0.0, 0.0), axis="y")
    system.joint_force("drive", "pin", lambda t: 6.0)
    with pytest.raises(SingularMechanism, match="shaft"):
        system.mechanism()
    system.armature("rotor", "pin", inertia=2.0)
    assert falling(system.mechanism()) == pytest.approx(3.0, rel=1e-14)


def test_sizes_are_parameters_and_files_keep_them() -> None:
    system = System("pendulum", gravity=(0.0, 0.0, -G))
    rod = system.body("rod", mass=2.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0.0, 0.0))
    system.revolute("pin", system.ground, rod, at=(0.0, 0.0, 0.0), axis="y")
    ratio = system.parameter("ratio", 10.0)
    system.armature("rotor", "pin", inertia=0.003 * ratio**2)
    again = loads(dumps(system))
    for found in (system, again):
        for n in (10.0, 20.0):
            fall = falling(found.mechanism(parameters={"ratio": n}))
            assert fall == pytest.approx(2.0 * G * 0.5 / (0.6 + 0.003 * n**2), rel=1e-13)


def test_it_stays_in_the_tree_or_says_why_not() -> None:
    tree = linkage("auto", False).mechanism().tree
    assert [joint.name for joint in tree.cuts] == ["pin 2"]
    with pytest.raises(AssemblyError, match=r"armature 'fan' is on joint 'pin 2'.*massless body"):
        linkage("auto", True).mechanism()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "neither inertia= nor mass="),
        ({"mass": 1.0}, "has mass=, but the revolute joint 'pin' has no displacement"),
        ({"inertia": -1.0}, "inertia of force 'more'"),
        ({"inertia": math.nan}, "inertia of force 'more'"),
        ({"inertia": 1.0, "coordinate": "angel"}, "angle"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        pendulum().armature("more", "pin", **given)


def test_the_mass_of_a_body_that_floats_against_another_is_refused() -> None:
    system = arm(False)
    three = system.body("three", mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.free("apart", system.bodies["two"], three)
    with pytest.raises(ModelError, match="floats against 'two', which moves"):
        system.armature("more", "apart", mass=1.0)
    system.armature("more", "apart", inertia=1.0)
    assert system.mechanism().degrees_of_freedom == 8


def bending(geared: bool) -> System:
    """A flexible arm on a motor whose rotor turns as the joint does."""
    system = System("bending", gravity=(0.0, 0.0, -G))
    member = rod("clamped", modes=8)
    flexible = system.flexible_body("arm", member)
    system.revolute("pin", system.ground, flexible, at=(0.0, 0.0, 0.0), axis="y")
    if geared:
        wheel = system.body("wheel", mass=0.0, inertia=(0.2, 0.2, 0.2))
        system.revolute("bearing", system.ground, wheel, at=(0.0, 0.0, 0.0), axis="z")
        system.coupling("gear", {"bearing": 1.0, "pin": -1.0})
    else:
        system.armature("rotor", "pin", inertia=0.2)
    return system


@pytest.mark.parametrize("formulation", [f.value for f in FORMULATIONS])
def test_a_flexible_arm_on_its_rotor(formulation: str) -> None:
    """With so many modes that these are eliminated first, where that is cheaper."""
    runs = [
        bending(geared).mechanism(formulation=formulation).simulate(0.05, output=5, tolerance=1e-10)
        for geared in (False, True)
    ]
    for name in ("pin.angle", "pin.angle_rate", "arm.end.position", "energy.kinetic"):
        assert np.allclose(runs[0][name], runs[1][name], rtol=1e-7, atol=1e-10), name
