"""The free joint: translation (x, y, z) in A's axes, then rotation by a unit quaternion (w, x, y, z)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.keys import Keys
from bellcrank.math.arrays import quaternion_of_rotation
from bellcrank.math.rotations import FullTurn, Turn, from_quaternion, out, quaternion_rate, to_quaternion
from bellcrank.math.tuples import ZERO, Mat, Vec, add, column, cross, is_zero, sub, times
from bellcrank.model.joints.elementary import Array, Elementary, JointFrames, Laid, Twist, Wrench
from bellcrank.model.joints.joint import LIMITED, PLACED, QUATERNION, TURNING, Joint, Place, Side, Step
from bellcrank.model.joints.making import JointMethod
from bellcrank.model.joints.spherical import (
    corrected_quaternion,
    matrix,
    quaternion_rates,
    turned_quaternion,
)
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.frames import FrameSite, RawLink
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Link


class SixSpeeds(Elementary):
    """Angular velocity and velocity of the origin, both in the link's own axes, as six speeds."""

    turning = (True, True, True, False, False, False)

    def motion(self, kin: Kinematics, link: Link, base: int) -> Twist:
        R = kin.pose(link.index, base).R
        return times(R, kin.three_speeds(link)), times(R, kin.three_speeds(link, 3))

    def bias(self, kin: Kinematics, link: Link, base: int, bias: Twist, relative: Twist) -> Twist:
        # The three linear speeds are components in the turning axes of the link itself.
        return bias[0], add(bias[1], cross(*relative))

    def spin(self, kin: Kinematics, link: Link, w: Vec) -> Vec:
        return add(w, kin.three_speeds(link))

    def slide(self, kin: Kinematics, link: Link, v: Vec) -> Vec:
        return add(v, kin.three_speeds(link, 3))

    def accelerated(
        self, kin: Kinematics, link: Link, du: Sequence[Scalar], w: Vec, alpha: Vec, a: Vec
    ) -> tuple[Vec, Vec]:
        spin, own = kin.three_speeds(link), kin.w(link.index)
        rate = (du[link.u], du[link.u + 1], du[link.u + 2])
        alpha = add(add(alpha, cross(w, spin)), rate)
        slide = kin.three_speeds(link, 3)
        push = (du[link.u + 3], du[link.u + 4], du[link.u + 5])
        turning = own if is_zero(w) else add(own, w)
        return alpha, add(add(a, cross(turning, slide)), push)

    def columns(self, kin: Kinematics, link: Link, base: int, point: Vec) -> list[Twist]:
        pose = kin.pose(link.index, base)
        arm = sub(point, pose.p)
        turns = [column(pose.R, j) for j in range(3)]
        return [(z, cross(z, arm)) for z in turns] + [(ZERO, z) for z in turns]

    def forces(self, kin: Kinematics, link: Link, wrench: Wrench) -> tuple[Scalar, ...]:
        return (*wrench[0], *wrench[1])

    def velocity(self, kin: Kinematics, link: Link, u: Sequence[Scalar]) -> Twist:
        return (u[0], u[1], u[2]), (u[3], u[4], u[5])


class Float(SixSpeeds):
    """Any motion; positions are the place in the parent's axes [m] and a quaternion."""

    name = "free"
    positions = 7
    lengths = (0, 1, 2)
    has_quaternion = True
    floats = True

    def frame(self, site: FrameSite) -> tuple[Mat, Vec]:
        return site.body_axes(), site.center or ZERO

    def laid(self, T: Mat, r: Vec, raw: RawLink) -> Laid:
        return Laid(r)

    def transform(
        self, kin: Kinematics, link: Link, fixed: tuple[Turn, ...], r: Vec
    ) -> tuple[tuple[Turn, ...], Vec]:
        x, y, z = kin.q[link.q : link.q + 3]
        return (FullTurn(from_quaternion(kin.q[link.q + 3 : link.q + 7])),), (x, y, z)

    def unit_directions(self, link: Link) -> tuple[int, ...]:
        return (0, 1, 2, 3, 4, 5)

    def position_rates(self, kin: Kinematics, link: Link) -> Sequence[Scalar]:
        place = out(kin.turns[link.index], kin.three_speeds(link, 3))
        return (*place, *quaternion_rate(kin.q[link.q + 3 : link.q + 7], kin.three_speeds(link)))

    def corrected(self, kin: Kinematics, link: Link) -> Sequence[Scalar]:
        here = kin.q[link.q : link.q + 7]
        move = out(kin.turns[link.index], kin.three_speeds(link, 3))
        place = [a + b for a, b in zip(here[:3], move, strict=True)]
        return [*place, *corrected_quaternion(here[3:], kin.three_speeds(link))]

    def moved(self, q: Array, du: Array) -> Array:
        return np.concatenate([q[:3] + matrix(q[3:]) @ du[3:], turned_quaternion(q[3:], du[:3])])

    def rate_matrix(self, q: Array) -> Array:
        G = np.zeros((7, 6))
        G[3:, :3], G[:3, 3:] = quaternion_rates(q[3:]), matrix(q[3:])
        return G

    def inverse_rate(self, q: Array, q_dot: Array, u: Array) -> Array:
        rate = np.zeros((6, 7))
        rate[:3, 3:] = 4.0 * quaternion_rates(q_dot[3:]).T
        rate[3:, :3] = np.cross(u[:3], np.eye(3)) @ matrix(q[3:]).T
        return rate

    def to_joint(self, frames: JointFrames, q: Array) -> Array:
        R_link = matrix(q[3:])
        R = frames.left.T @ R_link @ frames.right.T
        p = frames.left.T @ (q[:3] + R_link @ frames.on_link - frames.on_parent)
        if frames.reverse:
            R, p = R.T, -R.T @ p
        return np.array([*p, *to_quaternion(R.tolist())])

    def from_joint(self, frames: JointFrames, given: Array) -> Array:
        R, p = matrix(given[3:] / np.linalg.norm(given[3:])), given[:3]
        if frames.reverse:
            R, p = R.T, -R.T @ p
        R_link = frames.left @ R @ frames.right
        origin = frames.on_parent + frames.left @ p - R_link @ frames.on_link
        return np.array([*origin, *to_quaternion(R_link.tolist())])

    def start_values(self, link: Link, x: Array) -> dict[str, Any]:
        return {"position": x[:3], "quaternion": x[3:]}

    def speed_names(self, link: Link, of_joint: Sequence[str]) -> Sequence[str]:
        return (*of_joint[3:], *(f"velocity_{m}" for m in of_joint[:3]))


FLOAT = Float()


class Free(Joint):
    """No connection at all."""

    kind = "free"
    keys = Keys("No connection; position [m] and quaternion of b in the axes of a.", *PLACED, LIMITED)
    coordinates = ("x", "y", "z", *QUATERNION)
    speeds = ("x", "y", "z", *TURNING)
    place = Place.BODY
    has_axis = False
    marks = ()

    def start_keys(self) -> dict[str, int]:
        whole = {"position": 3, "quaternion": 4, "velocity": 3, "angular_velocity": 3}
        return whole | super().start_keys()

    def start(self, p: Array, R: Array) -> tuple[float, ...]:
        return (*(float(c) for c in p), *(float(x) for x in quaternion_of_rotation(R)))

    def chain(self) -> list[Step]:
        return [(FLOAT, self.coordinates)]


class FreeMethod(JointMethod):
    """Makes free joints."""

    def free(
        self, name: str, a: Side, b: Side, at: Any = None, cut: bool | None = None, limits: Any = None
    ) -> Free:
        """No connection at all: `b` floats; its coordinates are position [m] and quaternion (w, x, y, z) in a's axes.

        at: World point whose position is the coordinate [m], b's origin where missing. a, cut: As for :meth:`revolute`.
        limits: By coordinate, such as ``{"z": (0, None)}``.
        """
        return self._add_joint(Free, name, a, b, at, cut=cut, limits=limits)
