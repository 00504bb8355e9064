"""The reference itself against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.model import System
from reference.engine import Singular, turn
from reference.newton_euler import accelerations, residuals, solve
from reference.states import (
    assemble,
    coordinates,
    project_velocities,
    random_state,
    relative_motion,
    start_poses,
)

G = 9.81
UP_Y = (0.0, -G, 0.0)


def planar(angle: float) -> np.ndarray:
    return turn(np.array([0.0, 0.0, angle]))


def state_of(system: System, **speeds: float) -> tuple[dict, dict]:
    """The start pose with the velocities that give the named joints these rates."""
    for name, rate in speeds.items():
        start = system.joints[name].start_coordinates()[0]
        system.driver(name, lambda t, rate=rate, start=start: start + rate * t, name=f"drive {name}")
    poses = start_poses(system)
    zero = {name: (np.zeros(3), np.zeros(3)) for name in poses}
    velocities = project_velocities(system, None, 0.0, poses, zero)
    for name in speeds:
        del system.drivers[f"drive {name}"]
    return poses, velocities


def test_pendulum() -> None:
    m, length, J, angle, rate = 2.0, 0.7, 0.3, 0.4, 1.3
    system = System("pendulum", gravity=UP_Y)
    bob = system.body("bob", mass=m, inertia=(J, J, J), center_of_mass=(length, 0, 0), angle=angle)
    system.revolute("hinge", system.ground, bob, at=(0, 0, 0), axis="z")
    poses, velocities = state_of(system, hinge=rate)
    solution = solve(system, None, 0.0, poses, velocities)
    expected = -m * G * length * np.cos(angle) / (J + m * length**2)
    assert solution.accelerations["bob"][1] == pytest.approx([0, 0, expected], rel=1e-13, abs=1e-13)
    # The hinge carries weight and centripetal force: the multipliers of its point are that force on ground.
    a = (
        expected * length * np.array([-np.sin(angle), np.cos(angle), 0])
        - rate**2 * length * planar(angle)[:, 0]
    )
    carried = m * (a + np.array([0, G, 0]))
    assert -solution.multipliers[:3] == pytest.approx(carried, rel=1e-12, abs=1e-12)


def test_double_pendulum() -> None:
    m1, m2, l1, a1, a2, w1, w2 = 1.3, 0.8, 0.9, -1.1, -0.3, 0.7, -1.9
    c1, c2, J1, J2 = 0.4, 0.5, 0.11, 0.07
    system = System("double pendulum", gravity=UP_Y)
    tip = l1 * planar(a1)[:, 0]
    upper = system.body("upper", m1, (J1, J1, J1), (c1, 0, 0), angle=a1)
    lower = system.body("lower", m2, (J2, J2, J2), (c2, 0, 0), at=tip, angle=a2)
    system.revolute("shoulder", system.ground, upper, at=(0, 0, 0))
    system.revolute("elbow", upper, lower, at=tip)
    poses, velocities = state_of(system, shoulder=w1, elbow=w2 - w1)
    found = accelerations(system, None, 0.0, poses, velocities)
    d = a1 - a2
    M = np.array(
        [
            [J1 + m1 * c1**2 + m2 * l1**2, m2 * l1 * c2 * np.cos(d)],
            [m2 * l1 * c2 * np.cos(d), J2 + m2 * c2**2],
        ]
    )
    f = np.array(
        [
            -m2 * l1 * c2 * np.sin(d) * w2**2 - (m1 * c1 + m2 * l1) * G * np.cos(a1),
            m2 * l1 * c2 * np.sin(d) * w1**2 - m2 * c2 * G * np.cos(a2),
        ]
    )
    expected = np.linalg.solve(M, f)
    assert [found["upper"][1][2], found["lower"][1][2]] == pytest.approx(expected, rel=1e-12)


def four_bar() -> tuple[System, np.ndarray, np.ndarray, tuple[float, ...]]:
    a, b, c, d, angle = 0.3, 0.9, 0.7, 1.0, 0.8
    coupler_angle, rocker_angle = (float(x.real) for x in four_bar_angles(angle, a, b, c, d))
    masses, moments = np.array([0.7, 1.1, 0.9]), np.array([0.02, 0.09, 0.05])
    B = a * planar(angle)[:, 0]
    D = np.array([d, 0.0, 0.0])
    C = D + c * planar(rocker_angle)[:, 0]
    system = System("four-bar", gravity=UP_Y)
    drawn = [("crank", a, (0, 0, 0), angle), ("coupler", b, B, coupler_angle), ("rocker", c, D, rocker_angle)]
    for (name, length, at, turned), m, J in zip(drawn, masses, moments, strict=True):
        system.body(name, m, (J, J, J), (length / 2, 0, 0), at=at, angle=turned)
    system.revolute("A", "ground", "crank", at=(0, 0, 0))
    system.revolute("B", "crank", "coupler", at=B)
    system.revolute("C", "coupler", "rocker", at=C)
    system.revolute("D", "ground", "rocker", at=D)
    return system, masses, moments, (a, b, c, d, angle)


def four_bar_angles(angle: complex, a: float, b: float, c: float, d: float) -> tuple[complex, complex]:
    """Coupler and rocker angles of the open branch, analytic in the crank angle."""
    x, y = d - a * np.cos(angle), -a * np.sin(angle)
    diagonal = np.sqrt(x * x + y * y)
    rocker = np.pi + np.arctan(y / x) - np.arccos((diagonal**2 + c**2 - b**2) / (2 * diagonal * c))
    coupler = np.arctan((y + c * np.sin(rocker)) / (x + c * np.cos(rocker)))
    return coupler, rocker


def test_four_bar_of_spatial_joints_against_its_minimal_form() -> None:
    system, masses, moments, (a, b, c, d, angle) = four_bar()
    rate = 2.1
    poses, velocities = state_of(system, A=rate)

    def effective(theta: complex) -> tuple[complex, complex]:
        """Reduced moment of inertia, and height of the centre of mass times mass."""
        p, r = four_bar_angles(theta, a, b, c, d)
        kp = a / b * np.sin(r - theta) / np.sin(p - r)
        kr = a / c * np.sin(theta - p) / np.sin(r - p)
        coupler = np.array(
            [
                -a * np.sin(theta) - b / 2 * kp * np.sin(p),
                a * np.cos(theta) + b / 2 * kp * np.cos(p),
            ]
        )
        J = (
            moments[0] + masses[0] * a * a / 4
            + moments[1] * kp**2 + masses[1] * (coupler @ coupler)
            + (moments[2] + masses[2] * c * c / 4) * kr**2
        )  # fmt: skip
        height = (
            masses[0] * a / 2 * np.sin(theta)
            + masses[1] * (a * np.sin(theta) + b / 2 * np.sin(p))
            + masses[2] * c / 2 * np.sin(r)
        )
        return J, height

    step = 1e-20
    J, height = effective(angle + 1j * step)
    expected = (-G * height.imag / step - 0.5 * J.imag / step * rate**2) / J.real
    solution = solve(system, None, 0.0, poses, velocities)
    assert solution.accelerations["crank"][1][2] == pytest.approx(expected, rel=1e-11)
    assert solution.jacobian.shape[0] - solution.rank == 3


def test_free_top_follows_euler() -> None:
    J = np.diag([0.3, 0.5, 0.7])
    system = System("top", gravity=(0, 0, -G))
    top = system.body("top", 2.0, J, rotation=turn(np.array([0.3, -0.7, 0.5])))
    system.free("float", system.ground, top)
    w = np.array([1.0, -2.0, 3.0])
    R = np.array(top.rotation)
    found = accelerations(system, None, 0.0, start_poses(system), {"top": (np.zeros(3), R @ w)})["top"]
    assert found[0] == pytest.approx([0, 0, -G])
    assert found[1] == pytest.approx(R @ np.linalg.solve(J, -np.cross(w, J @ w)), rel=1e-13)


def test_offset_origin_of_a_free_body() -> None:
    c = np.array([0.2, -0.1, 0.4])
    system = System("thrown", gravity=(0, 0, 0))
    system.body("stone", 2.0, (0.3, 0.3, 0.3), center_of_mass=c)
    system.free("float", "ground", "stone")
    w = np.array([1.0, -2.0, 3.0])
    a, alpha = accelerations(
        system, None, 0.0, start_poses(system), {"stone": (np.array([1.0, 2, 3]), w)}
    )["stone"]  # fmt: skip
    assert alpha == pytest.approx([0, 0, 0], abs=1e-13)
    assert a + np.cross(w, np.cross(w, c)) == pytest.approx([0, 0, 0], abs=1e-12)


def test_gear_and_rack() -> None:
    system = System("gears", gravity=(0, 0, 0))
    system.body("pinion", 1.0, (1.0, 1.0, 0.2))
    system.body("wheel", 1.0, (1.0, 1.0, 0.9), at=(1, 0, 0))
    system.body("rack", 3.0, (1.0, 1.0, 1.0), at=(0, 0.1, 0))
    system.revolute("fast", "ground", "pinion", at=(0, 0, 0))
    system.revolute("slow", "ground", "wheel", at=(1, 0, 0))
    system.prismatic("guide", "ground", "rack", axis="x")
    system.gear("mesh", "fast", "slow", -4.0)
    system.rack_and_pinion("rack mesh", "guide", "fast", 0.1)
    system.joint_force("motor", "fast", lambda t: 0.5)
    poses = start_poses(system)
    rest = {name: (np.zeros(3), np.zeros(3)) for name in poses}
    found = accelerations(system, None, 0.0, poses, rest)
    expected = 0.5 / (0.2 + 0.9 / 16 + 3.0 * 0.01)
    assert found["pinion"][1][2] == pytest.approx(expected, rel=1e-12)
    assert found["wheel"][1][2] == pytest.approx(-expected / 4, rel=1e-12)
    assert found["rack"][0][0] == pytest.approx(0.1 * expected, rel=1e-12)


def test_driver_prescribes_the_second_derivative() -> None:
    system = System("driven", gravity=UP_Y)
    system.body("arm", 1.0, (1, 1, 1), (0.5, 0, 0))
    system.revolute("hinge", "ground", "arm", at=(0, 0, 0))
    speed = system.parameter("speed", 3.0, "rad/s")
    system.driver("hinge", lambda t: 0.1 * np.sin(speed * t))
    t = 0.4
    poses = assemble(system, None, t, start_poses(system))
    rest = {"arm": (np.zeros(3), np.zeros(3))}
    velocities = project_velocities(system, None, t, poses, rest)
    assert velocities["arm"][1][2] == pytest.approx(0.3 * np.cos(1.2))
    assert accelerations(system, None, t, poses, velocities)["arm"][1][2] == pytest.approx(-0.9 * np.sin(1.2))


def test_screw_advances() -> None:
    pitch, m, J = 0.05, 2.0, 0.3
    system = System("screw", gravity=(0, 0, -G))
    system.body("nut", m, (J, J, J), rotation=planar(0.4))
    system.screw("thread", "ground", "nut", at=(0, 0, 0), axis="z", pitch=pitch)
    poses = start_poses(system)
    assert (
        max(np.abs(r).max() for r, _ in residuals(system, None, 0.0, poses, state_of(system)[1]).values())
        < 1e-15
    )
    found = accelerations(system, None, 0.0, poses, state_of(system)[1])["nut"]
    assert found[1][2] == pytest.approx(-m * G * pitch / (J + m * pitch**2), rel=1e-12)


def test_massless_rod_carries_no_inertia() -> None:
    """A point mass on a massless two-part rod is a pendulum."""
    system = System("massless", gravity=UP_Y)
    system.body("rod", 0.0)
    system.body("bob", 2.0, at=(1, 0, 0))
    system.revolute("hinge", "ground", "rod", at=(0, 0, 0))
    system.fixed("weld", "rod", "bob", at=(1, 0, 0))
    poses, velocities = state_of(system, hinge=1.0)
    found = accelerations(system, None, 0.0, poses, velocities)
    assert found["rod"][1][2] == pytest.approx(-G, rel=1e-12)
    assert found["bob"][0] == pytest.approx([-1.0, -G, 0], rel=1e-12)


def test_undetermined_motion_is_refused() -> None:
    system = System("dangling")
    system.body("nothing", 0.0)
    system.revolute("hinge", "ground", "nothing", at=(0, 0, 0))
    poses, velocities = state_of(system)
    with pytest.raises(Singular):
        accelerations(system, None, 0.0, poses, velocities)


def test_joint_coordinates_of_a_universal_joint() -> None:
    system = System("cardan")
    system.body("shaft", 1.0, (1, 1, 1))
    system.universal("cross", "ground", "shaft", at=(0, 0, 0), axis_a="z", axis_b="x")
    a, b = 0.3, -0.8
    frame = np.array(system.joints["cross"].a.rotation), np.array(system.joints["cross"].b.rotation)
    quarter = turn(np.array([0, np.pi / 2, 0]))
    C = planar(a) @ quarter @ planar(b)
    poses = {"shaft": (np.zeros(3), frame[0] @ C @ frame[1].T)}
    velocities = {"shaft": (np.zeros(3), frame[0] @ (np.array([0, 0, 1.1]) - 0.7 * C[:, 2]))}
    read = coordinates(system, None, 0.0, poses, velocities)
    assert read["cross", "angle_a"][:2] == pytest.approx((a, 1.1), rel=1e-13)
    assert read["cross", "angle_b"][:2] == pytest.approx((b, -0.7), rel=1e-13)
    seen = relative_motion(system, None, poses, velocities, system.joints["cross"])
    assert seen.angular_velocity == pytest.approx(frame[0].T @ velocities["shaft"][1], rel=1e-13)


def test_random_state_is_consistent() -> None:
    system = four_bar()[0]
    poses, velocities = random_state(system, None, 0.0, np.random.default_rng(3), 0.3)
    for position, velocity in residuals(system, None, 0.0, poses, velocities).values():
        assert np.abs(position).max() < 1e-12
        assert np.abs(velocity).max() < 1e-12
