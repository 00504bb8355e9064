"""Anti-roll bars: two levers on a torsion spring, each with a drop link to the suspension, all without mass.

With P the end of a link on the suspension, seen from the foot c of its lever on the axis of the bar, E(theta) the end
of the lever and d = P - E, the length of the link holds the angle theta of the lever:

    |P - E(theta)| = L,   theta-dot = d . v_P / (d . E'(theta)).

The torque M = stiffness (theta_left - theta_right) + damping (its rate) pulls along the links: the force on the left
one is -M d / (d . E'), on the right one its counterpart, and the bar on its body takes both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.keys import AXIS, NUMBER, SIDE, Keys, list_of, may, must
from bellcrank.errors import ModelError
from bellcrank.math.arrays import Array, as_vec
from bellcrank.math.tuples import Vec, dot, scale, sub
from bellcrank.model import checks
from bellcrank.model.forces.element import ForceElement, ForceMethod, ForceQuantity
from bellcrank.model.frames import Frame
from bellcrank.model.joints import Side
from bellcrank.program.functions import atan2, clip, maximum, sqrt, where
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.constraints import Seen
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.loads import Loads
    from bellcrank.quantities.snapshot import Snapshot

FLAT = 0.05
"""Sine of the angle between link and lever below which the link pulls as at this angle: at some 3 degrees the force of
a torque is twenty times that of a right angle, and grows without bound towards the dead point."""


@dataclass(frozen=True)
class Lever:
    """One side in the start pose, in axes of the body: foot on the axis, directions along and across the lever, its
    radius, length of the link [m], and on which side of the lever the link lies."""

    foot: Vec
    along: Vec
    across: Vec
    radius: float
    length: float
    side: float


@dataclass(frozen=True, eq=False)
class AntiRollBar(ForceElement):
    """A torsion bar with two levers and drop links.

    bar: A point on its axis, on the body that carries it. levers: Ends of the levers on the same body in the start
    pose, left and right, where the bar is not twisted. links: Ends of the drop links on the suspension. stiffness:
    [N m/rad]. damping: [N m s/rad]. axis: Of the bar, in axes of the frame `bar`.
    """

    kind = "anti_roll_bar"
    keys = Keys(
        "A torsion bar with two levers and drop links, without mass.",
        must("bar", SIDE, "A point on the axis of the bar, on the body that carries it."),
        must(
            "levers",
            list_of(SIDE, 2),
            "Ends of the left and the right lever in the start pose, on that body.",
        ),
        must("links", list_of(SIDE, 2), "Ends of the left and the right drop link on the suspension."),
        must("stiffness", NUMBER, "[N m/rad]."),
        may("damping", NUMBER, "[N m s/rad]; 0 where missing."),
        may("axis", AXIS, "Of the bar, in axes of the frame `bar`; y where missing."),
    )

    name: str
    bar: Frame
    levers: tuple[Frame, Frame]
    links: tuple[Frame, Frame]
    stiffness: Scalar
    damping: Scalar = 0.0
    axis: Vec = (0.0, 1.0, 0.0)

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.bar, *self.links)

    @property
    def held_at(self) -> tuple[Frame, ...]:
        return self.links

    @cached_property
    def sides(self) -> tuple[Lever, ...]:
        """Left and right, in the start pose."""
        return tuple(self._lever(*ends) for ends in zip(self.levers, self.links, strict=True))

    def _lever(self, lever: Frame, link: Frame) -> Lever:
        def local(frame: Frame) -> Array:
            return self.bar.start_rotation().T @ (frame.start_position() - self.bar.start_position())

        axis, end, point = np.array(self.axis, dtype=float), local(lever), local(link)
        foot = axis * (axis @ end)
        r, L = float(np.linalg.norm(end - foot)), float(np.linalg.norm(point - end))
        if not r > 0.0 or not L > 0.0:
            what = (
                "lever has no length: its end lies on the axis" if not r > 0.0 else "drop link has no length"
            )
            raise ModelError(f"a {what} of force {self.name!r}")
        along = (end - foot) / r
        across = np.cross(axis, along)
        lean = float((point - end) @ across) / L
        if abs(lean) < FLAT:
            raise ModelError(
                f"a drop link of force {self.name!r} lies in the plane of its lever and the axis, where it cannot turn "
                "the bar; let it leave the lever at an angle"
            )
        return Lever(as_vec(foot), as_vec(along), as_vec(across), r, L, float(np.sign(lean)))

    def load(self, act: Acting, loads: Loads) -> None:
        bar, sides = self._sides(act)
        torque = self._torque(act, sides)
        for link, (seen, base, _, _, pull), sign in zip(self.links, sides, (-1.0, 1.0), strict=True):
            loads.among(self.bar.body.name, link.body.name)
            place = seen.point
            loads.between(bar, seen.link, base, place, place, scale(sign * torque, pull))

    def _sides(self, act: Acting) -> tuple[int, list[tuple[Seen, int, Scalar, Scalar, Vec]]]:
        """The link of the bar; and of each side where the drop link ends, the base, angle, rate, pull of 1 N m."""
        found = []
        for frame, side in zip(self.links, self.sides, strict=True):
            A, B, base = act.ends(self.bar, frame)
            d = sub(B.point, A.point)
            x, y, z = (A.axis(k) for k in range(3))
            v = sub(B.velocity(), A.velocity())
            w = act.kin.motion(A.link, base).w
            turned = (
                v[0] - (w[1] * d[2] - w[2] * d[1]),
                v[1] - (w[2] * d[0] - w[0] * d[2]),
                v[2] - (w[0] * d[1] - w[1] * d[0]),
            )
            local = sub((dot(x, d), dot(y, d), dot(z, d)), side.foot)
            angle, pull = _held(side, local)
            rate = dot(pull, (dot(x, turned), dot(y, turned), dot(z, turned)))
            in_base = (
                x[0] * pull[0] + y[0] * pull[1] + z[0] * pull[2],
                x[1] * pull[0] + y[1] * pull[1] + z[1] * pull[2],
                x[2] * pull[0] + y[2] * pull[1] + z[2] * pull[2],
            )
            found.append((B, base, angle, rate, in_base))
        return A.link, found

    def _torque(self, act: Acting, sides: Sequence[tuple[Seen, int, Scalar, Scalar, Vec]]) -> Scalar:
        (_, _, left, left_rate, _), (_, _, right, right_rate, _) = sides
        k, c = act.kin.number(self.stiffness), act.kin.number(self.damping)
        return k * (left - right) + c * (left_rate - right_rate)

    def stored(self, s: Snapshot) -> Scalar:
        twist = self._twist(s.acting)[0]
        return 0.5 * s.kin.number(self.stiffness) * (twist * twist)

    def _twist(self, act: Acting) -> tuple[Scalar, Scalar]:
        (_, _, left, left_rate, _), (_, _, right, right_rate, _) = self._sides(act)[1]
        return left - right, left_rate - right_rate

    def power(self, s: Snapshot) -> Scalar:
        sides = self._sides(s.acting)[1]
        return -self._torque(s.acting, sides) * (sides[0][3] - sides[1][3])

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        act = s.acting
        return {
            "twist": ForceQuantity(lambda: [self._twist(act)[0]], "rad"),
            "torque": ForceQuantity(lambda: [self._torque(act, self._sides(act)[1])], "N m"),
        }


def _held(side: Lever, p: Vec) -> tuple[Scalar, Vec]:
    """Angle of a lever whose link ends at p, seen from its foot, and its gradient by p.

    A cos(theta) + B sin(theta) = C with A, B of p along and across the lever; where the link is too long or too short
    to reach, the lever points as near to it as it can.
    """
    A, B = dot(p, side.along), dot(p, side.across)
    r, L = side.radius, side.length
    reach = A * A + B * B + (1e-9 * r) ** 2
    far = sqrt(reach)
    C = clip((dot(p, p) + r * r - L * L) / (2.0 * r), -far, far)
    off = side.side * sqrt(maximum(reach - C * C, 0.0))
    c, s = (A * C + B * off) / reach, (B * C - A * off) / reach
    end = tuple(r * (c * a + s * b) for a, b in zip(side.along, side.across, strict=True))
    turning = tuple(r * (c * b - s * a) for a, b in zip(side.along, side.across, strict=True))
    d = sub(p, (end[0], end[1], end[2]))
    arm = dot(d, (turning[0], turning[1], turning[2]))
    least = FLAT * r * L
    arm = where(arm * side.side > least, arm, side.side * least)
    return atan2(s, c), scale(1.0 / arm, d)


class AntiRollBarMethod(ForceMethod):
    """Makes anti-roll bars."""

    def anti_roll_bar(
        self,
        name: str,
        bar: Side,
        levers: Sequence[Side],
        links: Sequence[Side],
        stiffness: Any,
        damping: Any = 0.0,
        axis: Any = "y",
    ) -> AntiRollBar:
        """A torsion bar with two levers and drop links to the suspension, all without mass.

        bar: A point on its axis, on the body that carries it. levers: Ends of the left and right lever in the start
        pose, on the same body; there the bar is not twisted. links: Ends of the drop links on the suspension.
        stiffness: [N m/rad]. damping: [N m s/rad]. axis: Of the bar in axes of `bar` ("x", "y", "z" or a vector).
        """
        name, who = self._force_name(name)
        seat = self._frame(who, bar)
        ends = [
            self._frame(who, end) for end in checks.sequence(f"levers of {who}", levers, 2, "(left, right)")
        ]
        hung = [
            self._frame(who, end) for end in checks.sequence(f"links of {who}", links, 2, "(left, right)")
        ]
        for frame in ends:
            if frame.body is not seat.body:
                raise ModelError(
                    f"levers of {who} are points of {frame.body.name!r}; give them on {seat.body.name!r}, which "
                    "carries the bar, where they are in the start pose"
                )
        for frame in hung:
            if frame.body is seat.body:
                raise ModelError(f"a drop link of {who} ends on {seat.body.name!r}, which carries the bar")
        k = checks.at_least_zero(f"stiffness of {who}", stiffness, self.parameters)
        c = checks.at_least_zero(f"damping of {who}", damping, self.parameters)
        turn = as_vec(checks.axis(f"axis of {who}", axis, "the axis of a bar is made of plain numbers"))
        made = AntiRollBar(name, seat, (ends[0], ends[1]), (hung[0], hung[1]), k, c, turn)
        assert len(made.sides) == 2
        return self._add_force(made)


__all__ = ["AntiRollBar", "AntiRollBarMethod"]
