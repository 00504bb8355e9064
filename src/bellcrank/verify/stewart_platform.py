"""Stewart platform: six legs of given lengths carry a platform along a given motion.

The lengths |p + R b - a| of the legs follow from a motion of the platform; driven by them, it makes that motion. The
six forces in the legs give the platform its acceleration by Newton and Euler: a system of six equations.

Source: closed form; Stewart (1965), A Platform with Six Degrees of Freedom, Proc. Inst. Mech. Eng. 180.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.arrays import quaternion_of_rotation
from bellcrank.model import System
from bellcrank.program.functions import cos, sin, sqrt
from bellcrank.program.trace import Scalar
from bellcrank.verify.cases import Quantity

Array = NDArray[np.float64]

MASS, MOMENTS, G, DURATION = 40.0, (1.5, 1.8, 2.9), 9.81, 2.0


def ring(radius: float, spread: float, turned: float) -> list[tuple[float, float, float]]:
    """Six points in three pairs around a circle."""
    angles = [2.0 * math.pi * k / 3.0 + turned + side * spread for k in range(3) for side in (-1.0, 1.0)]
    return [(radius * math.cos(a), radius * math.sin(a), 0.0) for a in angles]


BASE = ring(0.8, 0.2, 0.0)
# A leg goes to the nearer point of the next pair.
ABOVE = ring(0.5, 0.2, math.pi / 3.0)
ABOVE = [ABOVE[-1], *ABOVE[:-1]]


def motion(t: Scalar) -> tuple[list[Scalar], Scalar]:
    """Place of the platform [m] and its angle about the vertical [rad]."""
    return [0.1 * sin(2.0 * t), 0.08 * sin(3.0 * t), 0.7 + 0.05 * (1.0 - cos(4.0 * t))], 0.2 * sin(2.5 * t)


def leg(k: int, t: Scalar) -> Scalar:
    """Length of a leg [m]."""
    p, angle = motion(t)
    x, y, _ = ABOVE[k]
    reach = (
        p[0] + cos(angle) * x - sin(angle) * y - BASE[k][0],
        p[1] + sin(angle) * x + cos(angle) * y - BASE[k][1],
        p[2],
    )
    return sqrt(reach[0] * reach[0] + reach[1] * reach[1] + reach[2] * reach[2])


def platform() -> System:
    """The platform on six driven distances."""
    system = System("platform", gravity=(0.0, 0.0, -G))
    top = system.body("top", mass=MASS, inertia=MOMENTS, at=(0.0, 0.0, 0.7))
    system.free("air", system.ground, top)
    for k in range(6):
        system.distance(
            f"leg {k}", system.ground.point(*BASE[k]), top.point(*ABOVE[k]), lambda t, k=k: leg(k, t)
        )
    return system


def moved(t: float) -> tuple[Array, float, Array, float]:
    """Place, angle, and their second rates, by hand."""
    p = np.array([0.1 * math.sin(2 * t), 0.08 * math.sin(3 * t), 0.7 + 0.05 * (1 - math.cos(4 * t))])
    a = np.array([-0.4 * math.sin(2 * t), -0.72 * math.sin(3 * t), 0.8 * math.cos(4 * t)])
    return p, 0.2 * math.sin(2.5 * t), a, -1.25 * math.sin(2.5 * t)


def tensions(t: float) -> Array:
    """Of all legs [N]."""
    p, angle, a, turning = moved(t)
    c, s = math.cos(angle), math.sin(angle)
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    columns = []
    for foot, head in zip(np.array(BASE), np.array(ABOVE), strict=True):
        arm = R @ head
        along = foot - (p + arm)
        along /= np.linalg.norm(along)
        columns.append(np.concatenate([along, np.cross(arm, along)]))
    wrench = np.array([*(MASS * (a - np.array([0.0, 0.0, -G]))), 0.0, 0.0, MOMENTS[2] * turning])
    return np.asarray(np.linalg.solve(np.array(columns).T, wrench))


def quantities() -> list[Quantity]:
    """Pose, rotation and leg forces along the motion."""
    system = platform()
    result = system.kinematics(DURATION, output=80)
    place, turn, force = 0.0, 0.0, 0.0
    found = np.stack([result[f"leg {k}.tension"] for k in range(6)], axis=1)
    for n, t in enumerate(result.time):
        p, angle, _, _ = moved(float(t))
        place = max(place, float(np.abs(result["top.position"][n] - p).max()))
        R = np.asarray(result["top.rotation"])[n].reshape(3, 3)
        turn = max(turn, abs(2.0 * math.asin(quaternion_of_rotation(R)[3]) - angle))
        force = max(force, float(np.abs(found[n] - tensions(float(t))).max()))
    return [
        Quantity("degrees_of_freedom", result.mechanism.degrees_of_freedom, 0, 0.0),
        Quantity("place_error", place, 0.0, 1e-10, "m"),
        Quantity("angle_error", turn, 0.0, 1e-9, "rad"),
        Quantity("force_error", force, 0.0, 1e-7, "N"),
    ]
