"""The spherical joint: rotation by a unit quaternion (w, x, y, z)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.keys import Keys
from bellcrank.math.arrays import quaternion_of_rotation
from bellcrank.math.rotations import (
    FullTurn,
    Turn,
    direction,
    from_quaternion,
    half_turn,
    quaternion_rate,
    to_quaternion,
)
from bellcrank.math.tuples import UNIT, ZERO, Mat, Vec, add, cross, dot, sub, times, transposed_times
from bellcrank.model.joints.elementary import Array, Elementary, JointFrames, Laid, Twist, Wrench
from bellcrank.model.joints.joint import LIMITED, PLACED, QUATERNION, TURNING, Joint, Mark, Side, Step
from bellcrank.model.joints.making import JointMethod
from bellcrank.program.functions import sqrt
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.constraints import Seen
    from bellcrank.mechanics.frames import FrameSite, RawLink
    from bellcrank.mechanics.inertia import Inertia
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Link


class Ball(Elementary):
    """Rotation about a point; the speeds are the angular velocity in the link's axes."""

    name = "ball"
    positions = 4
    turning = (True, True, True)
    has_quaternion = True
    rows_in_base = True

    def frame(self, site: FrameSite) -> tuple[Mat, Vec]:
        return site.along_children(), ZERO

    def laid(self, T: Mat, r: Vec, raw: RawLink) -> Laid:
        return Laid(r)

    def transform(
        self, kin: Kinematics, link: Link, fixed: tuple[Turn, ...], r: Vec
    ) -> tuple[tuple[Turn, ...], Vec]:
        return (FullTurn(from_quaternion(kin.q[link.q : link.q + 4])),), r

    def motion(self, kin: Kinematics, link: Link, base: int) -> Twist:
        return times(kin.pose(link.index, base).R, kin.three_speeds(link)), ZERO

    def spin(self, kin: Kinematics, link: Link, w: Vec) -> Vec:
        return add(w, kin.three_speeds(link))

    def accelerated(
        self, kin: Kinematics, link: Link, du: Sequence[Scalar], w: Vec, alpha: Vec, a: Vec
    ) -> tuple[Vec, Vec]:
        rate = (du[link.u], du[link.u + 1], du[link.u + 2])
        return add(add(alpha, cross(w, kin.three_speeds(link))), rate), a

    def columns(self, kin: Kinematics, link: Link, base: int, point: Vec) -> list[Twist]:
        """Turns about the axes of the base, which needs no arithmetic."""
        arm = sub(point, kin.pose(link.index, base).p)
        return [(e, cross(e, arm)) for e in UNIT]

    def own_axes(self, kin: Kinematics, link: Link, base: int, entries: Sequence[Scalar]) -> Sequence[Scalar]:
        x, y, z = entries
        return transposed_times(kin.pose(link.index, base).R, (x, y, z))

    def works(
        self, kin: Kinematics, link: Link, base: int, at: Vec, force: Vec, moment: Vec
    ) -> Sequence[Scalar]:
        pose = kin.pose(link.index, base)
        return transposed_times(pose.R, add(moment, cross(sub(at, pose.p), force)))

    def forces(self, kin: Kinematics, link: Link, wrench: Wrench) -> tuple[Scalar, ...]:
        return wrench[0]

    def velocity(self, kin: Kinematics, link: Link, u: Sequence[Scalar]) -> Twist:
        return (u[0], u[1], u[2]), ZERO

    def unfelt(self, inertia: Inertia) -> Inertia:
        return inertia.point_part()

    def unit_directions(self, link: Link) -> tuple[int, ...]:
        return (0, 1, 2)

    def given_way(self, wrench: Wrench, rhs: Sequence[Scalar]) -> Wrench:
        return (rhs[0], rhs[1], rhs[2]), wrench[1]

    def position_rates(self, kin: Kinematics, link: Link) -> Sequence[Scalar]:
        return quaternion_rate(kin.q[link.q : link.q + 4], kin.three_speeds(link))

    def corrected(self, kin: Kinematics, link: Link) -> Sequence[Scalar]:
        return corrected_quaternion(kin.q[link.q : link.q + 4], kin.three_speeds(link))

    def moved(self, q: Array, du: Array) -> Array:
        return turned_quaternion(q, du)

    def rate_matrix(self, q: Array) -> Array:
        return quaternion_rates(q)

    def inverse_rate(self, q: Array, q_dot: Array, u: Array) -> Array:
        return 4.0 * quaternion_rates(q_dot).T

    def to_joint(self, frames: JointFrames, q: Array) -> Array:
        R = frames.left.T @ matrix(q) @ frames.right.T
        return np.array(to_quaternion((R.T if frames.reverse else R).tolist()))

    def from_joint(self, frames: JointFrames, given: Array) -> Array:
        R = matrix(given / np.linalg.norm(given))
        return np.array(to_quaternion((frames.left @ (R.T if frames.reverse else R) @ frames.right).tolist()))

    def start_values(self, link: Link, x: Array) -> dict[str, Any]:
        return {"quaternion": x}

    def speed_names(self, link: Link, of_joint: Sequence[str]) -> Sequence[str]:
        return of_joint


def matrix(quaternion: Array) -> Array:
    """The rotation matrix of a unit quaternion of numbers."""
    return np.array(from_quaternion(quaternion.tolist()), dtype=float)


def corrected_quaternion(quaternion: Sequence[Scalar], step: Vec) -> list[Scalar]:
    """A quaternion after a small turn about its own axes, at unit length."""
    moved = [a + b for a, b in zip(quaternion, quaternion_rate(quaternion, step), strict=True)]
    shrink = 1.0 / sqrt(moved[0] * moved[0] + moved[1] * moved[1] + moved[2] * moved[2] + moved[3] * moved[3])
    return [a * shrink for a in moved]


def turned_quaternion(quaternion: Array, rotation: Array) -> Array:
    """A quaternion of numbers turned by a rotation vector in its own axes."""
    angle = float(np.linalg.norm(rotation))
    half = 0.5 * np.sinc(0.5 * angle / np.pi) * rotation
    w, v = np.cos(0.5 * angle), half
    a, b = quaternion[0], quaternion[1:]
    result = np.array([a * w - b @ v, *(a * v + w * b + np.cross(b, v))])
    return np.asarray(result / np.linalg.norm(result))


def quaternion_rates(quaternion: Array) -> Array:
    """Rates of a quaternion of numbers by the angular velocity in its own axes, (4, 3)."""
    columns = [quaternion_rate(quaternion.tolist(), (a, b, c)) for a, b, c in np.eye(3).tolist()]
    return np.array(columns, dtype=float).T


BALL = Ball()


class Spherical(Joint):
    """A ball joint."""

    kind = "spherical"
    keys = Keys(
        "A ball joint. Its angles: turn, the whole rotation from one frame to the other, and tilt, between their z "
        "axes [rad].",
        *PLACED,
        LIMITED,
    )
    measures = ("turn", "tilt")
    coordinates, speeds = QUATERNION, TURNING
    has_axis = False
    coincident = True
    cut_first = True
    marks = (Mark.BALL, Mark.SUPPORT)

    def start_keys(self) -> dict[str, int]:
        return {"quaternion": 4, "angular_velocity": 3}

    def start(self, p: Array, R: Array) -> tuple[float, ...]:
        return tuple(float(x) for x in quaternion_of_rotation(R))

    def chain(self) -> list[Step]:
        return [(BALL, self.coordinates)]

    def turn(self, A: Seen, B: Seen, coordinate: str) -> tuple[Vec, Scalar, Scalar]:
        a, b = [A.axis(k) for k in range(3)], [B.axis(k) for k in range(3)]
        if coordinate == "tilt":
            c, sine = dot(a[2], b[2]), cross(a[2], b[2])
        else:
            c, sine = half_turn(a, b)
        axis, s = direction(sine)
        return axis, c, s


class SphericalMethod(JointMethod):
    """Makes spherical joints."""

    def spherical(
        self, name: str, a: Side, b: Side, at: Any = None, cut: bool | None = None, limits: Any = None
    ) -> Spherical:
        """A ball joint; its coordinates are the quaternion (w, x, y, z) of B's axes in A's.

        at: World point in the start pose [m]. a, b, cut: As for :meth:`revolute`. limits: Of its angles `turn`, the
        whole rotation, and `tilt`, between the z axes of its frames: ``{"tilt": (None, 0.5)}`` is a cone.
        """
        return self._add_joint(Spherical, name, a, b, at, cut=cut, limits=limits)
