"""Suspensions on the rig against plane geometry, virtual work, linear elasticity of rods, and a car built otherwise."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError
from bellcrank.vehicles import (
    Axle,
    SuspensionReport,
    Unsprung,
    double_wishbone,
    kinematics_and_compliance,
    mcpherson,
    multi_link,
    solid_axle,
    steering_rack,
    twist_beam,
)
from bellcrank.verify.full_car import full_car_system

RADIUS = 0.3
LIGHT = Unsprung(knuckle=1e-3, knuckle_inertia=(1e-5,) * 3, wheel=1e-3, wheel_inertia=(1e-5,) * 3, arm=1e-3)


def chassis() -> tuple[bc.System, bc.Body]:
    system = bc.System("car")
    body = system.body("chassis", mass=1250.0, inertia=(480.0, 1950.0, 2150.0), at=(0, 0, 0.56))
    system.free("motion", system.ground, body)
    return system, body


def rig(axle: Axle, **options: object) -> SuspensionReport:
    return kinematics_and_compliance(axle.system, axle.chassis, axle, radius=RADIUS, **options)


INNER_L, OUTER_L, INNER_U, OUTER_U = (0.35, 0.24), (0.7, 0.2), (0.42, 0.5), (0.65, 0.48)
WHEEL = (0.76, 0.3)


def at(x: float, yz: tuple[float, float]) -> tuple[float, float, float]:
    return (x, *yz)


@cache
def plane() -> SuspensionReport:
    """A double wishbone in the plane across the car; its tie rod lies on the lower wishbone and never steers."""
    system, body = chassis()
    points = {
        "lower_front": at(0.2, INNER_L), "lower_rear": at(-0.2, INNER_L), "lower_outer": at(0.0, OUTER_L),
        "upper_front": at(0.2, INNER_U), "upper_rear": at(-0.2, INNER_U), "upper_outer": at(0.0, OUTER_U),
        "tie_inner": at(-0.15, INNER_L), "tie_outer": at(-0.15, OUTER_L), "wheel": at(0.0, WHEEL),
    }  # fmt: skip
    return rig(double_wishbone(system, body, "front", points), points=11, compliance=False)


def four_bar(turn: float) -> tuple[float, np.ndarray]:
    """Rotation of the coupler and place of the wheel for a turn of the lower arm, by the intersection of circles."""
    il, ol, iu, ou, w = (np.array(p) for p in (INNER_L, OUTER_L, INNER_U, OUTER_U, WHEEL))
    c, s = np.cos(turn), np.sin(turn)
    low = il + np.array([[c, -s], [s, c]]) @ (ol - il)
    r1, r2 = np.linalg.norm(ou - iu), np.linalg.norm(ou - ol)
    d = low - iu
    D = np.linalg.norm(d)
    a = (r1**2 - r2**2 + D**2) / (2.0 * D)
    h = np.sqrt(r1**2 - a**2)
    tops = [iu + a * d / D + sign * h * np.array([-d[1], d[0]]) / D for sign in (1, -1)]
    up = min(tops, key=lambda p: np.linalg.norm(p - ou))
    v, v0 = up - low, ou - ol
    angle = np.arctan2(v0[0] * v[1] - v0[1] * v[0], v0 @ v)
    c, s = np.cos(angle), np.sin(angle)
    return float(angle), low + np.array([[c, -s], [s, c]]) @ (w - ol)


def test_camber_and_track_of_a_double_wishbone_are_those_of_a_four_bar() -> None:
    turns = np.linspace(-0.4, 0.4, 801)
    bars = [four_bar(turn) for turn in turns]
    z = np.array([place[1] for _, place in bars]) - WHEEL[1]
    report = plane().heave
    # Rotation about x, to the left seen from the front, leans the top of the left wheel inwards.
    camber = -np.interp(report.over, z, [angle for angle, _ in bars])
    assert report["left.camber"] == pytest.approx(camber, abs=1e-6)
    assert report["right.camber"] == pytest.approx(report["left.camber"], abs=1e-12)
    assert np.abs(report["left.toe"]).max() < 1e-12
    y = np.interp(report.over, z, [place[0] for _, place in bars])
    assert report["left.centre.y"] == pytest.approx(y, abs=1e-6)


def test_the_roll_centre_lies_where_the_lines_of_the_wishbones_say() -> None:
    il, ol, iu, ou = (np.array(p) for p in (INNER_L, OUTER_L, INNER_U, OUTER_U))
    s = np.linalg.solve(np.column_stack([ol - il, -(ou - iu)]), iu - il)
    pole = il + s[0] * (ol - il)
    contact = np.array([WHEEL[0], WHEEL[1] - RADIUS])
    centre = contact[1] + (pole - contact)[1] / (pole - contact)[0] * (0.0 - contact[0])
    assert plane().heave.at("roll_centre") == pytest.approx(centre, abs=2e-5)
    assert plane().figures["camber over travel"][0] == pytest.approx(-1.0 / (WHEEL[0] - pole[0]), rel=1e-4)
    # In roll the road turns about the roll centre, so that the contact does not slide to first order.
    lifted = plane().roll
    assert lifted.slope("track") == pytest.approx(0.0, abs=1e-9)


def test_a_swing_axle_by_virtual_work() -> None:
    system, body = chassis()
    wheels = []
    pivot, seat, top = np.array([0.1, 0.25]), np.array([0.45, 0.28]), np.array([0.42, 0.7])
    for side, sign in (("left", 1.0), ("right", -1.0)):
        arm = system.body(f"{side} arm", mass=1e-3, inertia=(1e-5,) * 3, at=(0, 0.4 * sign, 0.28))
        wheel = system.body(
            f"{side} wheel", mass=1e-3, inertia=(1e-5,) * 3, at=(0, WHEEL[0] * sign, WHEEL[1])
        )
        system.revolute(f"{side} pivot", body, arm, at=(0, pivot[0] * sign, pivot[1]), axis="x")
        system.revolute(f"{side} hub", arm, wheel, at=(0, WHEEL[0] * sign, WHEEL[1]), axis="y")
        ends = body.point_at((0, top[0] * sign, top[1])), arm.point_at((0, seat[0] * sign, seat[1]))
        system.strut(f"{side} strut", *ends, stiffness=3e4, free_length=0.5)
        wheels.append(wheel)
    found = kinematics_and_compliance(
        system, body, wheels, radius=RADIUS, travel=0.06, points=13, compliance=False
    )

    def placed(turn: float) -> tuple[float, float]:
        R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        length = np.linalg.norm(top - pivot - R @ (seat - pivot))
        return float((R @ (np.array(WHEEL) - pivot))[1] + pivot[1] - WHEEL[1]), float(
            0.5 * 3e4 * (length - 0.5) ** 2
        )

    turns = np.linspace(-0.15, 0.15, 2001)
    z, energy = np.array([placed(turn) for turn in turns]).T
    force = np.gradient(energy, turns) / np.gradient(z, turns)
    assert found.heave["left.force"] == pytest.approx(np.interp(found.heave.over, z, force), abs=0.05)
    rate = np.gradient(force, turns) / np.gradient(z, turns)
    inner = np.abs(found.heave.over) < 0.05
    expected = np.interp(found.heave.over, z, rate)[inner]
    assert found.heave["left.wheel_rate"][inner] == pytest.approx(expected, rel=2e-4)
    assert found.heave.at("roll_centre") == pytest.approx(0.25 * WHEEL[0] / (WHEEL[0] - 0.1), abs=1e-4)


def test_a_mcpherson_axle_is_that_of_the_full_car() -> None:
    """The car has the same points in bodies: an arm, a knuckle, a strut in a guide, tie rods on universal joints."""
    other = kinematics_and_compliance(
        full_car_system(),
        "chassis",
        ("FL_wheel", "FR_wheel"),
        rack="rack guide",
        travel=0.05,
        points=5,
        compliance=False,
    )
    system, body = chassis()
    rack, guide = steering_rack(system, body, "rack", (1.105, 0, 0.275))
    seat, axis = np.array([1.225, 0.36, 0.235]), np.array([0.9995920864606948, 0.0, -0.028559773898876952])
    points = {
        "lower_front": seat + 0.2 * axis, "lower_rear": seat - 0.2 * axis, "lower_outer": (1.255, 0.7, 0.205),
        "tie_inner": (1.105, 0.345, 0.275), "tie_outer": (1.115, 0.675, 0.265), "wheel": (1.25, 0.765, 0.305),
        "strut_upper": (1.222, 0.575, 0.86), "strut_lower": (1.243, 0.645, 0.4),
    }  # fmt: skip
    spring = {"stiffness": 24000.0, "damping": 1600.0, "free_length": 0.61}
    masses = Unsprung(12.0, (0.2, 0.15, 0.1), 19.0, (0.75, 1.25, 0.75), 6.0)
    axle = mcpherson(system, body, "front", points, rack=rack, spring=spring, unsprung=masses)
    found = kinematics_and_compliance(
        system, body, axle.wheels, rack=guide.name, travel=0.05, points=5, radius=0.323, compliance=False
    )
    for mine, theirs in zip(found.sweeps, other.sweeps, strict=True):
        for name in ("left.toe", "left.camber", "right.angle", "left.contact.x", "track"):
            assert mine[name] == pytest.approx(theirs[name], abs=1e-9), name
    # The car carries a strut of 5 kg, and the arm its mass elsewhere; the springs are the same.
    assert found.figures["wheel rate"][0] == pytest.approx(other.figures["wheel rate"][0], rel=0.02)
    assert found.heave.slope("left.braking_support") != 0.0


LINKS = {
    "front lower": ((0.25, 0.35, 0.22), (0.02, 0.7, 0.2)),
    "rear lower": ((-0.25, 0.33, 0.21), (-0.03, 0.69, 0.19)),
    "front upper": ((0.2, 0.4, 0.5), (0.02, 0.65, 0.48)),
    "rear upper": ((-0.2, 0.42, 0.49), (-0.02, 0.66, 0.47)),
    "tie": ((-0.2, 0.36, 0.3), (-0.18, 0.7, 0.29)),
}


def test_compliance_of_elastic_rods_by_linear_algebra() -> None:
    system, body = chassis()
    k = 2e8
    system.gravity = (0.0, 0.0, 0.0)
    soft = {name: {"stiffness": k} for name in LINKS}
    axle = multi_link(system, body, "rear", {"wheel": at(0.0, WHEEL)}, LINKS, compliance=soft)
    found = rig(axle, points=5, travel=0.01)
    w = np.array(at(0.0, WHEEL))
    K = np.zeros((6, 6))
    for inner, outer in LINKS.values():
        e = (np.array(outer) - inner) / np.linalg.norm(np.array(outer) - inner)
        p = np.concatenate([e, np.cross(np.array(outer) - w, e)])
        K += k * np.outer(p, p)
    # The rig holds the height of the wheel's centre.
    free = [0, 1, 3, 4, 5]
    for load, point, force in (
        ("lateral", (0, 0, -RADIUS), (0, 1, 0)),
        ("braking", (0, 0, -RADIUS), (-1, 0, 0)),
        ("driving", (0, 0, 0), (1, 0, 0)),
    ):
        wrench = np.concatenate([force, np.cross(point, force)])
        moved = np.zeros(6)
        moved[free] = np.linalg.solve(K[np.ix_(free, free)], wrench[free])
        assert found.compliance[f"{load}.left.toe"] == pytest.approx(-moved[5], rel=2e-3), load
        assert found.compliance[f"{load}.left.camber"] == pytest.approx(-moved[3], rel=2e-3), load
        assert found.compliance[f"{load}.left.centre.y"] == pytest.approx(moved[1], rel=2e-3), load


def test_a_twist_beam_turns_about_its_pivots_and_the_middle_of_its_beam() -> None:
    system, body = chassis()
    pivot, beam, wheel = np.array([0.4, 0.55, 0.32]), np.array([0.25, 0.0, 0.35]), np.array(at(0.0, WHEEL))
    torsion = 2000.0
    points = {"pivot": pivot, "beam": beam, "wheel": wheel}
    found = rig(
        twist_beam(system, body, "rear", points, torsion, unsprung=LIGHT),
        points=11,
        travel=0.04,
        compliance=False,
    )
    heave, roll = found.heave, found.roll
    assert np.abs(heave["left.camber"]).max() < 1e-9
    radius = np.hypot(*(wheel - pivot)[[0, 2]])
    moved = np.stack([heave["left.centre.x"] - pivot[0], heave["left.centre.z"] - pivot[2]], axis=1)
    assert np.linalg.norm(moved, axis=1) == pytest.approx(np.full(len(moved), radius), abs=1e-9)
    axis = beam - pivot
    turning = axis / np.cross(axis, wheel - pivot)[2]
    assert roll.slope("left.camber") == pytest.approx(-turning[0], rel=1e-4)
    assert roll.slope("left.toe") == pytest.approx(-turning[2], rel=1e-4)
    # Two forces on their travels do the work of the torsion on the twist, which is twice the turn of one side.
    assert roll.slope("left.force") == pytest.approx(torsion * (2.0 * turning[1]) ** 2 / 2.0, rel=1e-3)


def test_a_solid_axle_rolls_about_its_panhard_rod() -> None:
    system, body = chassis()
    links = {
        "lower left": ((0.6, 0.4, 0.25), (0.0, 0.4, 0.25)),
        "lower right": ((0.6, -0.4, 0.25), (0.0, -0.4, 0.25)),
        "upper": ((0.5, 0.0, 0.45), (0.0, 0.0, 0.45)),
        "panhard": ((-0.1, 0.5, 0.35), (-0.1, -0.5, 0.35)),
    }
    spring = {"stiffness": 3e4, "damping": 2e3, "free_length": 0.4}
    points = {"wheel": at(0.0, WHEEL), "spring_upper": (0, 0.5, 0.7), "spring_lower": (0, 0.5, 0.35)}
    found = rig(
        solid_axle(system, body, "rear", points, links, spring=spring),
        points=9,
        travel=0.05,
        compliance=False,
    )
    assert found.roll.slope("left.camber") == pytest.approx(-1.0 / WHEEL[0], rel=1e-3)
    assert found.heave.slope("left.force") == pytest.approx(3e4, rel=1e-3)
    assert found.roll.slope("left.force") == pytest.approx(3e4 * (0.5 / WHEEL[0]) ** 2, rel=0.15)


def test_a_car_on_templates_drives_and_a_missing_point_is_named() -> None:
    system, body = chassis()
    points = {"wheel": at(0.0, WHEEL)}
    with pytest.raises(ModelError, match="needs the hard points lower_front"):
        double_wishbone(system, body, "front", points)
    with pytest.raises(ModelError, match="4 links"):
        multi_link(system, body, "front", points, dict(list(LINKS.items())[:4]))
    with pytest.raises(ModelError, match="whel"):
        multi_link(system, body, "front", {"whel": at(0.0, WHEEL)}, LINKS)
    with pytest.raises(ModelError, match="has no tyre"):
        kinematics_and_compliance(*chassis(), ["chassis", "chassis"])
