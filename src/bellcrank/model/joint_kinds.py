"""The kinds of joints: what each one is called, what it leaves free, and how a start pose reads in it.

Every kind is one entry of :data:`CONTRACTS`. The convention is the transform from frame A to frame B,
with z of both frames along the joint axis:

============ =========================================================
fixed        identity
revolute     Rz(angle)
prismatic    Tz(displacement)
cylindrical  Rz(angle) Tz(displacement)
screw        Rz(angle) Tz(pitch * angle)
universal    Rz(angle_a) Ry(+90 deg) Rz(angle_b)
planar       Tx(x) Ty(y) Rz(angle)
spherical    rotation by a unit quaternion (w, x, y, z)
free         translation (x, y, z) in A's axes, then rotation by a unit quaternion
============ =========================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from bellcrank.math.arrays import QUARTER_TURN_Y, Array, quaternion_of_rotation, rotation_about_z


class JointKind(StrEnum):
    """The kinds of joints."""

    FIXED = "fixed"
    REVOLUTE = "revolute"
    PRISMATIC = "prismatic"
    CYLINDRICAL = "cylindrical"
    UNIVERSAL = "universal"
    SPHERICAL = "spherical"
    PLANAR = "planar"
    SCREW = "screw"
    FREE = "free"


QUATERNION = ("quaternion_w", "quaternion_x", "quaternion_y", "quaternion_z")
_TURNING = ("angular_velocity_x", "angular_velocity_y", "angular_velocity_z")


class Place(StrEnum):
    """What a joint built from bodies needs to know about its place."""

    REQUIRED = "required"
    """at= must be given."""
    ANYWHERE = "anywhere"
    """Only directions count; the origin of the moving body is taken where at= is missing."""
    BODY = "body"
    """The frames are the bodies' own; at= moves only the point of B whose position is the coordinate."""


@dataclass(frozen=True)
class JointContract:
    """What the description needs to know of one kind of joint.

    coordinates: Names of the position coordinates. speeds: Names of the speeds (as many as degrees of
    freedom). start: The coordinates that fit a relative position p and rotation R of B in A's axes best.
    """

    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    start: Callable[[Array, Array], tuple[float, ...]]
    place: Place
    has_axis: bool = True

    @property
    def scalar_coordinates(self) -> tuple[str, ...]:
        """The coordinates whose rate is a speed: those that can be driven, coupled and loaded."""
        return tuple(c for c in self.coordinates if c not in QUATERNION)


def _angle(R: Array) -> float:
    # Sum and difference over both columns: the best fit where z of the two frames do not coincide.
    return math.atan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])


def _universal(p: Array, R: Array) -> tuple[float, ...]:
    # z of B is (cos a, sin a, 0) in A; what remains is Rz(angle_b).
    a = math.atan2(R[1, 2], R[0, 2])
    return (a, _angle(QUARTER_TURN_Y.T @ rotation_about_z(-a) @ R))


def _quaternion(R: Array) -> tuple[float, ...]:
    return tuple(float(x) for x in quaternion_of_rotation(R))


CONTRACTS: dict[JointKind, JointContract] = {
    JointKind.FIXED: JointContract((), (), lambda p, R: (), Place.ANYWHERE, has_axis=False),
    JointKind.REVOLUTE: JointContract(("angle",), ("angle",), lambda p, R: (_angle(R),), Place.REQUIRED),
    JointKind.PRISMATIC: JointContract(
        ("displacement",), ("displacement",), lambda p, R: (float(p[2]),), Place.ANYWHERE
    ),
    JointKind.CYLINDRICAL: JointContract(
        ("angle", "displacement"),
        ("angle", "displacement"),
        lambda p, R: (_angle(R), float(p[2])),
        Place.REQUIRED,
    ),
    JointKind.UNIVERSAL: JointContract(
        ("angle_a", "angle_b"), ("angle_a", "angle_b"), _universal, Place.REQUIRED
    ),
    JointKind.SPHERICAL: JointContract(
        QUATERNION, _TURNING, lambda p, R: _quaternion(R), Place.REQUIRED, has_axis=False
    ),
    JointKind.PLANAR: JointContract(
        ("x", "y", "angle"),
        ("x", "y", "angle"),
        lambda p, R: (float(p[0]), float(p[1]), _angle(R)),
        Place.ANYWHERE,
    ),
    JointKind.SCREW: JointContract(("angle",), ("angle",), lambda p, R: (_angle(R),), Place.REQUIRED),
    JointKind.FREE: JointContract(
        ("x", "y", "z", *QUATERNION),
        ("x", "y", "z", *_TURNING),
        lambda p, R: (*(float(c) for c in p), *_quaternion(R)),
        Place.BODY,
        has_axis=False,
    ),
}
