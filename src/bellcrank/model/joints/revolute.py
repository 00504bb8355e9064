"""The revolute joint: Rz(angle)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import Keys
from bellcrank.math.arrays import Array
from bellcrank.math.rotations import AxisTurn, FullTurn, Turn, snapped, zxz_angles
from bellcrank.math.tuples import ZERO, Mat, Vec, cross, numeric, scale, sub, times
from bellcrank.model.joints.elementary import Elementary, Laid, Twist, Wrench, settled_sum
from bellcrank.model.joints.joint import ALONG, LIMITED, PLACED, Joint, Mark, Plane, Side, Step, angle_about_z
from bellcrank.model.joints.making import JointMethod
from bellcrank.program.functions import cos, sin
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.frames import FrameSite, RawLink
    from bellcrank.mechanics.inertia import Inertia
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Link


class AboutZ(Elementary):
    """A rotation about z, with or without an advance; the link's frame is laid by Denavit and Hartenberg's choice."""

    def frame(self, site: FrameSite) -> tuple[Mat, Vec]:
        return site.along_common_normal(), site.level_with_next()

    def laid(self, T: Mat, r: Vec, raw: RawLink) -> Laid:
        turns, offset = turns_and_offset(T, raw.G)
        return Laid(settled_sum(r, times(T, raw.s), raw.s), turns, offset=offset)

    def transform(
        self, kin: Kinematics, link: Link, fixed: tuple[Turn, ...], r: Vec
    ) -> tuple[tuple[Turn, ...], Vec]:
        if link.index in kin.unturned:
            return fixed, r
        return (*fixed, AxisTurn(2, *cosine_and_sine(kin.q[link.q], link.offset))), r

    def spin(self, kin: Kinematics, link: Link, w: Vec) -> Vec:
        return (w[0], w[1], w[2] + kin.speed(link))

    def accelerated(
        self, kin: Kinematics, link: Link, du: Sequence[Scalar], w: Vec, alpha: Vec, a: Vec
    ) -> tuple[Vec, Vec]:
        u = kin.speed(link)
        return (alpha[0] + w[1] * u, alpha[1] - w[0] * u, alpha[2] + du[link.u]), a


class Hinge(AboutZ):
    """Rotation about z."""

    name = "revolute"
    spins = True

    def motion(self, kin: Kinematics, link: Link, base: int) -> Twist:
        return scale(kin.speed(link), self.axis_seen(kin, link, base)), ZERO

    def columns(self, kin: Kinematics, link: Link, base: int, point: Vec) -> list[Twist]:
        arm = sub(point, kin.pose(link.index, base).p)
        z = self.axis_seen(kin, link, base)
        return [(z, cross(z, arm))]

    def forces(self, kin: Kinematics, link: Link, wrench: Wrench) -> tuple[Scalar, ...]:
        return (wrench[0][2],)

    def velocity(self, kin: Kinematics, link: Link, u: Sequence[Scalar]) -> Twist:
        return (0.0, 0.0, u[0]), ZERO

    def unfelt(self, inertia: Inertia) -> Inertia:
        return inertia.axis_part()

    def unit_directions(self, link: Link) -> tuple[int, ...]:
        return (2,)

    def given_way(self, wrench: Wrench, rhs: Sequence[Scalar]) -> Wrench:
        (x, y, _), f = wrench
        return (x, y, rhs[0]), f


def cosine_and_sine(q: Scalar, offset: float) -> tuple[Scalar, Scalar]:
    """cos and sin of q + offset; quarter turns cost nothing."""
    quarter = round(offset / (0.5 * math.pi))
    if abs(offset - quarter * 0.5 * math.pi) < 1e-15:
        c, s = cos(q), sin(q)
        return ((c, s), (-s, c), (-c, -s), (s, -c))[quarter % 4]
    return cos(q + offset), sin(q + offset)


def turns_and_offset(T: Mat, G: Mat) -> tuple[tuple[Turn, ...], float]:
    """Constant turns about z and x, and the rest about z as an offset of the angle."""
    if not numeric(*(x for row in T for x in row)):
        return (FullTurn(T),), 0.0
    beta, alpha, delta = zxz_angles(T)  # type: ignore[arg-type]
    phi = math.atan2(float(G[1][0]), float(G[0][0]))
    fixed = (AxisTurn(2, math.cos(beta), math.sin(beta)), AxisTurn(0, math.cos(alpha), math.sin(alpha)))
    turns = []
    for turn in fixed:
        c, s = (snapped(((float(turn.c), float(turn.s), 0.0),) * 3))[0][:2]
        if not (c == 1.0 and s == 0.0):
            turns.append(AxisTurn(turn.axis, c, s))
    offset = math.remainder(delta + phi, 2.0 * math.pi)
    return tuple(turns), 0.0 if abs(offset) < 1e-15 else offset


HINGE = Hinge()


class Revolute(Joint):
    """A hinge."""

    kind = "revolute"
    keys = Keys("Rotation angle [rad] about the axis.", *PLACED, ALONG, LIMITED)
    coordinates = speeds = ("angle",)
    coincident = True
    perpendicular = ((0, 2), (1, 2))
    plane = Plane.NORMAL
    marks = (Mark.PIN, Mark.SUPPORT)

    def start(self, p: Array, R: Array) -> tuple[float, ...]:
        return (angle_about_z(R),)

    def chain(self) -> list[Step]:
        return [(HINGE, self.coordinates)]


class RevoluteMethod(JointMethod):
    """Makes revolute joints."""

    def revolute(
        self,
        name: str,
        a: Side,
        b: Side,
        at: Any = None,
        axis: Any = None,
        cut: bool | None = None,
        limits: Any = None,
    ) -> Revolute:
        """A hinge: rotation `angle` [rad] about the axis.

        a, b: Bodies, their names, or points or frames of them. at: World point [m] and axis: world direction ("x", "y",
        "z" or a vector; "z" where missing), both in the start pose. cut: True closes a loop here, False keeps the joint
        in the tree, None lets the analysis choose. limits: (low, high) [rad], None for a side without: stops that are
        struck; :class:`bellcrank.Limits` gives their restitution, or stiffness and damping.
        """
        return self._add_joint(Revolute, name, a, b, at, axis, cut=cut, limits=limits)
