"""The screw joint: Rz(angle) Tz(pitch * angle)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bellcrank.math.rotations import Turn, out
from bellcrank.math.tuples import Vec, add, cross, scale, sub
from bellcrank.model.joints.elementary import Twist, Wrench
from bellcrank.model.joints.revolute import AboutZ
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.kinematics import Kinematics
    from bellcrank.mechanics.links import Link


@dataclass(frozen=True, eq=False)
class Thread(AboutZ):
    """Rotation about z with an advance of `pitch` [m/rad] along it."""

    name = "screw"
    pitch: Scalar = 0.0

    def transform(
        self, kin: Kinematics, link: Link, fixed: tuple[Turn, ...], r: Vec
    ) -> tuple[tuple[Turn, ...], Vec]:
        turns, r = super().transform(kin, link, fixed, r)
        return turns, add(r, out(fixed, (0.0, 0.0, kin.number(self.pitch) * kin.q[link.q])))

    def motion(self, kin: Kinematics, link: Link, base: int) -> Twist:
        turn = scale(kin.speed(link), self.axis_seen(kin, link, base))
        return turn, scale(kin.number(self.pitch), turn)

    def slide(self, kin: Kinematics, link: Link, v: Vec) -> Vec:
        return (v[0], v[1], v[2] + kin.number(self.pitch) * kin.speed(link))

    def accelerated(
        self, kin: Kinematics, link: Link, du: Sequence[Scalar], w: Vec, alpha: Vec, a: Vec
    ) -> tuple[Vec, Vec]:
        alpha, a = super().accelerated(kin, link, du, w, alpha, a)
        h = kin.number(self.pitch)
        twice = 2.0 * (h * kin.speed(link))
        return alpha, (a[0] + twice * w[1], a[1] - twice * w[0], a[2] + h * du[link.u])

    def columns(self, kin: Kinematics, link: Link, base: int, point: Vec) -> list[Twist]:
        arm = sub(point, kin.pose(link.index, base).p)
        z = self.axis_seen(kin, link, base)
        v = cross(z, arm)
        return [(z, add(v, scale(kin.number(self.pitch), z)))]

    def forces(self, kin: Kinematics, link: Link, wrench: Wrench) -> tuple[Scalar, ...]:
        n, f = wrench
        return (n[2] + kin.number(self.pitch) * f[2],)

    def velocity(self, kin: Kinematics, link: Link, u: Sequence[Scalar]) -> Twist:
        return (0.0, 0.0, u[0]), (0.0, 0.0, kin.number(self.pitch) * u[0])
