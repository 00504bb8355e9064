"""Couplings as constraint equations: sum factor * coordinate = offset.

A coordinate of the tree is read off. One of a cut joint, or a place of a free one, is measured between its two
frames; an angle is then closed through sine and cosine, so that it may turn more than once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from bellcrank.math.tuples import dot
from bellcrank.mechanics.constraints import Constraint, Equation, Marker, Pair
from bellcrank.mechanics.drivers import turn_bias
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND, Linkage
from bellcrank.model.joints.joint import SHIFTS
from bellcrank.program.functions import cos, sin
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.model.joints import Joint


@dataclass(frozen=True)
class Counted:
    """A coordinate of the tree: that of a link with one speed."""

    link: int
    factor: Scalar


@dataclass(frozen=True)
class Measured:
    """A coordinate between the two frames of a joint."""

    joint: Joint
    a: Marker
    b: Marker
    coordinate: str
    factor: Scalar

    @property
    def is_angle(self) -> bool:
        """Whether it is an angle, known up to full turns only."""
        return self.coordinate not in SHIFTS


def coupling(
    linkage: Linkage, name: str, counted: Sequence[Counted], measured: Sequence[Measured], offset: Scalar
) -> Constraint:
    """sum factor q = offset, with at most one measured angle."""
    angle = next((m for m in measured if m.is_angle), None)
    shifts = [m for m in measured if not m.is_angle]
    # One base for all of them, in whose axes the rows are written.
    base = (
        reduce(linkage.common, [m.link for term in measured for m in (term.a, term.b)])
        if measured
        else GROUND
    )

    def equations(kin: Kinematics, t: Scalar) -> list[Equation]:
        residual: Scalar = -kin.number(offset)
        row: dict[int, tuple[Scalar, ...]] = {}

        def put(link: int, entries: Sequence[Scalar], factor: Scalar) -> None:
            before = row.get(link, (0.0,) * len(entries))
            row[link] = tuple(x + factor * y for x, y in zip(before, entries, strict=True))

        for term in counted:
            f = kin.number(term.factor)
            residual = residual + f * kin.q[linkage.links[term.link].q]
            put(term.link, (1.0,), f)
        for m in shifts:
            f = kin.number(m.factor)
            shift = Pair(kin, m.a, m.b, base).dot2(SHIFTS[m.coordinate])
            residual = residual + f * shift.residual
            for link, entries in shift.row.items():
                put(link, entries, f)
        if angle is not None:
            f = kin.number(angle.factor)
            pair = Pair(kin, angle.a, angle.b, base)
            z, c, s = angle.joint.turn(pair.A, pair.B, angle.coordinate)
            x = -residual / f
            residual = f * (s * cos(x) - c * sin(x))
            for link, entries in pair.row(lambda w, _: -dot(w, z), lambda w, _: dot(w, z)).items():
                put(link, entries, f)
        return [Equation(residual, row, base)]

    def gammas(kin: Kinematics, t: Scalar) -> list[Scalar]:
        gamma: Scalar = 0.0
        for m in measured:
            pair = Pair(kin, m.a, m.b, base)
            f = kin.number(m.factor)
            if m.is_angle:
                gamma = gamma - f * turn_bias(pair, m.joint.turns_with_b(m.coordinate))
            else:
                gamma = gamma + f * pair.dot2_gamma(SHIFTS[m.coordinate])
        return [gamma]

    seen = [k for m in measured for side in (m.a, m.b) for k in linkage.path(side.link, base)]
    links = linkage.owning([*(term.link for term in counted), *seen])
    return Constraint(name, f"coupling {name!r}", 1, base, links, ("sum",), equations, gammas)
