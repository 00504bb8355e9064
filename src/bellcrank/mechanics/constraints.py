"""Constraint equations of cut joints, drivers and couplings (Ahn and Lee 1994, equations 9 to 15 and 20 to 22).

Cut joints are put together, each in its own file, from three primitives: SPHR (two points coincide), DOT1 (two
directions are perpendicular) and DOT2 (a direction is perpendicular to the line between two points), as in Table 1 of
Ahn and Lee 1994. Each equation gives its residual, its row of the velocity Jacobian, and the right-hand sides of
the velocity and acceleration equations. Everything is seen from the lowest common link of the two sides.

Differs from the paper in: rows are taken with respect to speeds, not position coordinates; a
prismatic joint needs no third point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias

from bellcrank.math.tuples import (
    UNIT,
    ZERO,
    Mat,
    Vec,
    add,
    column,
    cross,
    dot,
    matmul,
    neg,
    settled,
    sub,
    times,
)
from bellcrank.mechanics.functions import time_rates
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import Linkage, Placement
from bellcrank.mechanics.node import ModalNode
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.model.joints import Joint

Row: TypeAlias = Mapping[int, tuple[Scalar, ...]]
"""A row of the Jacobian: for each link the derivative by its speeds.

The three entries of a ball link are by its angular velocity in the axes of the constraint's base link,
not in its own: see :class:`Equation`.
"""


@dataclass(frozen=True, eq=False)
class Marker:
    """A point and three directions fixed on a link."""

    link: int
    R: Mat
    p: Vec


@dataclass(frozen=True, eq=False)
class Equation:
    """One constraint equation in one state, seen from link `base`.

    nu: right-hand side of the velocity equation. on_b: moment and force on side b, at its point, for a unit
    multiplier. rubbing: what sliding friction adds to the row where it acts as a force; only the full multiplier
    system can take it.
    """

    residual: Scalar
    row: Row
    base: int
    nu: Scalar = 0.0
    on_b: tuple[Vec, Vec] = (ZERO, ZERO)
    rubbing: Row | None = None


def comparable(constraints: Iterable[Constraint]) -> list[int]:
    """For each equation the number of a set with which it shares a unit: points of a constraint, or its directions.

    Equations of one point count together, because one of them may vanish in line with an axis.
    """
    return [2 * k + label.startswith("axes") for k, c in enumerate(constraints) for label in c.labels]


@dataclass(frozen=True, eq=False)
class Constraint:
    """A cut joint, driver or coupling: `size` equations between the speeds of `links`.

    equations: residuals and rows from positions alone. gammas: right-hand sides of the acceleration
    equations, which need the speeds. sides, bodies: where its forces act, for constraints that act between
    two bodies rather than on coordinates. nonholonomic: which of its equations are of velocities alone; their residual
    is zero and positions are not corrected for them. drives: whether it asks for motion, so that it is no lock.
    pushes: for each equation the point, moment and force of a unit multiplier on each body, seen from the base. turns:
    links whose rotation counts.
    """

    name: str
    what: str
    size: int
    base: int
    links: frozenset[int]
    labels: tuple[str, ...]
    equations: Callable[[Kinematics, Scalar], list[Equation]]
    gammas: Callable[[Kinematics, Scalar], list[Scalar]]
    sides: tuple[Marker, Marker] | None = None
    bodies: tuple[str, str] | None = None
    nonholonomic: frozenset[int] = frozenset()
    drives: bool = False
    pushes: Callable[[Kinematics, Scalar], list[dict[str, tuple[Vec, Vec, Vec]]]] | None = None
    turns: frozenset[int] = frozenset()


def marker(placement: Placement, rotation: Mat, position: Vec) -> Marker:
    """A frame of a body as a marker on the body's link."""
    p = add(placement.p, times(placement.r, position))
    return Marker(placement.link, matmul(placement.r, rotation), settled(p, placement.p, position))


class Seen:
    """A marker seen from a base link: where it is, how it moves."""

    def __init__(self, kin: Kinematics, m: Marker, base: int) -> None:
        self.kin, self.base, self.link = kin, base, m.link
        pose = kin.pose(m.link, base)
        self.arm = times(pose.R, kin.vector(m.p))
        self.point = add(pose.p, self.arm)
        self._R, self._pose_R = m.R, pose.R
        self._axes: dict[int, Vec] = {}

    def axis(self, j: int) -> Vec:
        """The j-th direction of the marker in the axes of the base."""
        if j not in self._axes:
            local = column(self._R, j)
            self._axes[j] = times(self._pose_R, self.kin.vector(local))
        return self._axes[j]

    def velocity(self) -> Vec:
        """Velocity of the point."""
        m = self.kin.motion(self.link, self.base)
        return add(m.v, cross(m.w, self.arm))

    def bias(self) -> Vec:
        """Acceleration of the point with constant speeds."""
        w, b = self.kin.motion(self.link, self.base).w, self.kin.bias(self.link, self.base)
        return add(b.v, add(cross(b.w, self.arm), cross(w, cross(w, self.arm))))

    def axis_rate(self, j: int) -> Vec:
        """Rate of the j-th direction."""
        return cross(self.kin.motion(self.link, self.base).w, self.axis(j))

    def axis_bias(self, j: int) -> Vec:
        """Second rate of the j-th direction with constant speeds."""
        w, b = self.kin.motion(self.link, self.base).w, self.kin.bias(self.link, self.base)
        return add(cross(b.w, self.axis(j)), cross(w, self.axis_rate(j)))


def over_speeds(
    kin: Kinematics, equation: Equation, turned: frozenset[int] = frozenset()
) -> dict[int, Scalar]:
    """A row of the Jacobian by speed of the tree.

    Balls in their own axes unless `turned`; nodes of flexible members through the modal rates.
    """
    row: dict[int, Scalar] = {}
    entries: Iterable[Scalar]
    for k, given in equation.row.items():
        link = kin.linkage.links[k]
        if isinstance(link.kind, ModalNode):
            first, entries = link.eta_u, link.kind.by_modes(kin, link, given)
        else:
            first = link.u
            entries = given if k in turned else link.kind.own_axes(kin, link, equation.base, given)
        for j, entry in enumerate(entries):
            row[first + j] = row.get(first + j, 0.0) + entry
    return {s: x for s, x in row.items() if not (isinstance(x, float) and x == 0.0)}


def twist_columns(kin: Kinematics, link: int, base: int, point: Vec) -> list[tuple[Vec, Vec]]:
    """For each speed of a link: angular velocity and velocity of a point carried by it, from the base."""
    this = kin.linkage.links[link]
    return this.kind.columns(kin, this, base, point)


def _component(i: int, sign: float, w: Vec, v: Vec) -> Scalar:
    return sign * v[i]


@dataclass
class Pair:
    """The two sides of a cut joint in one state, and the primitives between them."""

    kin: Kinematics
    a: Marker
    b: Marker
    base: int
    A: Seen = field(init=False)
    B: Seen = field(init=False)

    def __post_init__(self) -> None:
        self.A = Seen(self.kin, self.a, self.base)
        self.B = Seen(self.kin, self.b, self.base)

    def row(self, of_a: Callable[[Vec, Vec], Scalar], of_b: Callable[[Vec, Vec], Scalar]) -> Row:
        """A row from what a twist (w, v at the point) of either side does to the residual."""
        row: dict[int, tuple[Scalar, ...]] = {}
        for columns, change in zip(self._columns, (of_a, of_b), strict=True):
            for k, own in columns:
                row[k] = tuple([change(w, v) for w, v in own])
        return row

    @cached_property
    def _columns(self) -> list[list[tuple[int, list[tuple[Vec, Vec]]]]]:
        """For both sides the links on the path from the base, and the twists that their speeds give to the point."""
        return [
            [
                (k, twist_columns(self.kin, k, self.base, side.point))
                for k in self.kin.linkage.path(side.link, self.base)
            ]
            for side in (self.A, self.B)
        ]

    def equation(
        self, residual: Scalar, row: Row, nu: Scalar = 0.0, on_b: tuple[Vec, Vec] = (ZERO, ZERO)
    ) -> Equation:
        """An equation between the two sides."""
        return Equation(residual, row, self.base, nu, on_b)

    def in_time(self, value: Scalar | Callable[[Scalar], Scalar], t: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """A number of the model or a function of time, with its first and second rate."""
        return time_rates(value, t, self.kin) if callable(value) else (self.kin.number(value), 0.0, 0.0)

    def sphr(self) -> list[Equation]:
        """SPHR (9): the points coincide."""
        gap = sub(self.A.point, self.B.point)
        return [
            Equation(
                gap[i],
                self.row(partial(_component, i, 1.0), partial(_component, i, -1.0)),
                self.base,
                on_b=(ZERO, neg(UNIT[i])),
            )
            for i in range(3)
        ]

    def sphr_gamma(self) -> list[Scalar]:
        """- (a_A - a_B) at constant speeds."""
        return list(sub(self.B.bias(), self.A.bias()))

    def dot1(self, i: int, j: int) -> Equation:
        """DOT1 (10): axis i of a is perpendicular to axis j of b."""
        g, h = self.A.axis(i), self.B.axis(j)
        n = cross(g, h)
        row = self.row(lambda w, v: dot(w, n), lambda w, v: -dot(w, n))
        return Equation(dot(g, h), row, self.base, on_b=(neg(n), ZERO))

    def dot1_gamma(self, i: int, j: int) -> Scalar:
        """Minus the second rate of g_A . g_B at constant speeds."""
        A, B = self.A, self.B
        rates = dot(A.axis_rate(i), B.axis_rate(j))
        return -(dot(A.axis_bias(i), B.axis(j)) + 2.0 * rates + dot(A.axis(i), B.axis_bias(j)))

    def dot2(self, i: int) -> Equation:
        """DOT2 (11): axis i of a is perpendicular to the line from a's point to b's."""
        g, d = self.A.axis(i), sub(self.B.point, self.A.point)
        n = cross(g, d)
        row = self.row(lambda w, v: dot(w, n) - dot(g, v), lambda w, v: dot(g, v))
        return Equation(dot(g, d), row, self.base, on_b=(ZERO, g))

    def dot2_gamma(self, i: int) -> Scalar:
        """Minus the second rate of g . d at constant speeds."""
        A, B = self.A, self.B
        d, rate = sub(B.point, A.point), sub(B.velocity(), A.velocity())
        bias = sub(B.bias(), A.bias())
        return -(dot(A.axis_bias(i), d) + 2.0 * dot(A.axis_rate(i), rate) + dot(A.axis(i), bias))


def cut_joint(linkage: Linkage, joint: Joint, a: Marker, b: Marker) -> Constraint:
    """The equations that a joint, cut open, imposes between its frames."""
    base = linkage.common(a.link, b.link)
    labels = tuple(joint.labels())
    links = linkage.owning((*linkage.path(a.link, base), *linkage.path(b.link, base)))
    return Constraint(
        joint.name,
        f"cut joint {joint.name!r}",
        len(labels),
        base,
        links,
        labels,
        lambda kin, t: joint.equations(Pair(kin, a, b, base), t),
        lambda kin, t: joint.gammas(Pair(kin, a, b, base), t),
        (a, b),
        (joint.a.body.name, joint.b.body.name),
        drives=joint.drives,
    )
