"""The screw joint: Rz(angle) Tz(pitch * angle)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import NUMBER, Keys, must
from bellcrank.errors import ModelError
from bellcrank.math.arrays import Array
from bellcrank.math.rotations import Turn, out
from bellcrank.math.tuples import Vec, add, cross, dot, scale, sub
from bellcrank.model import checks
from bellcrank.model.joints.elementary import Twist, Wrench
from bellcrank.model.joints.joint import (
    ALONG,
    LIMITED,
    PLACED,
    Displaced,
    Joint,
    Mark,
    Side,
    Step,
    angle_about_z,
)
from bellcrank.model.joints.making import JointMethod
from bellcrank.model.joints.revolute import AboutZ
from bellcrank.program.functions import cos, sin
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.constraints import Equation, Pair
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


@dataclass(frozen=True, eq=False)
class Screw(Joint):
    """A screw with an advance of `pitch` [m/rad].

    Where it closes a loop, its angle is closed through sine and cosine, so that it may turn more than once.
    """

    kind = "screw"
    keys = Keys(
        "angle [rad] about the axis with an advance along it.",
        *PLACED,
        ALONG,
        LIMITED,
        must("pitch", NUMBER, "Advance [m/rad]."),
    )
    coordinates = speeds = ("angle",)
    perpendicular = ((0, 2), (1, 2))
    offsets = (0, 1)
    marks = (Mark.PIN, Mark.SUPPORT)

    pitch: Scalar = 0.0

    def start(self, p: Array, R: Array) -> tuple[float, ...]:
        return (angle_about_z(R),)

    def settled(self) -> Screw:
        """B's point moved along the axis, so that the start angle is met by its advance."""
        (angle,) = self.start_coordinates()
        if angle == 0.0:
            return self
        advance = self.pitch * angle
        x, y, z = (p + row[2] * advance for p, row in zip(self.b.position, self.b.rotation, strict=True))
        return replace(self, b=replace(self.b, position=(x, y, z)))

    def displaced(self, coordinates: Mapping[str, float]) -> Displaced:
        return replace(super().displaced(coordinates), shift=(0.0, 0.0, self.pitch * coordinates["angle"]))

    def chain(self) -> list[Step]:
        return [(Thread(self.pitch), self.coordinates)]

    def labels(self) -> list[str]:
        return [*super().labels(), "advance by turning"]

    def equations(self, pair: Pair, t: Scalar) -> list[Equation]:
        return [*super().equations(pair, t), self._advance(pair, pair.kin.number(self.pitch))]

    def gammas(self, pair: Pair, t: Scalar) -> list[Scalar]:
        return [*super().gammas(pair, t), self._advance_gamma(pair, pair.kin.number(self.pitch))]

    def _advance(self, pair: Pair, h: Scalar) -> Equation:
        """h sin(z / h - theta) = 0 with cos(theta) = x_a . x_b, sin(theta) = y_a . x_b."""
        A, B = pair.A, pair.B
        d = sub(B.point, A.point)
        z, x = A.axis(2), B.axis(0)
        advance = dot(z, d)
        s, c = sin(advance / h), cos(advance / h)
        ct, st = dot(A.axis(0), x), dot(A.axis(1), x)
        # The lever of the turn: derivative of the residual by a turn of b about z, minus h on the thread.
        k_z, k_t = c * ct + s * st, -h * (s * st + c * ct)
        n = cross(z, d)
        row = pair.row(
            lambda w, v: k_z * (dot(w, n) - dot(z, v)) - k_t * dot(w, z),
            lambda w, v: k_z * dot(z, v) + k_t * dot(w, z),
        )
        return pair.equation(h * (s * ct - c * st), row, on_b=(scale(k_t, z), scale(k_z, z)))

    def _advance_gamma(self, pair: Pair, h: Scalar) -> Scalar:
        """On the thread: minus the second rate of z . d - h theta at constant speeds."""
        A, B = pair.A, pair.B
        kin, base = pair.kin, pair.base
        d, rate = sub(B.point, A.point), sub(B.velocity(), A.velocity())
        along = dot(A.axis_bias(2), d) + 2.0 * dot(A.axis_rate(2), rate)
        along = along + dot(A.axis(2), sub(B.bias(), A.bias()))
        w = sub(kin.motion(B.link, base).w, kin.motion(A.link, base).w)
        turn_bias = sub(kin.bias(B.link, base).w, kin.bias(A.link, base).w)
        turning = dot(A.axis_rate(2), w) + dot(A.axis(2), turn_bias)
        return -(along - h * turning)


class ScrewMethod(JointMethod):
    """Makes screw joints."""

    def screw(
        self,
        name: str,
        a: Side,
        b: Side,
        at: Any = None,
        axis: Any = None,
        pitch: Any = None,
        cut: bool | None = None,
        limits: Any = None,
    ) -> Screw:
        """Rotation `angle` [rad] about the axis with an advance of `pitch` [m/rad] along it.

        a, b, at, axis, cut, limits: As for :meth:`revolute`.
        """
        who = f"screw joint {name!r}"
        if pitch is None:
            raise ModelError(f"{who} needs pitch=, the advance in metres per radian")
        pitch = checks.number(f"pitch of {who}", pitch, self.parameters)
        if self.parameters.value(pitch) == 0.0:
            raise ModelError(f"pitch of {who} is zero; give metres per radian, or use system.revolute")
        return self._add_joint(Screw, name, a, b, at, axis, cut=cut, limits=limits, pitch=pitch)
