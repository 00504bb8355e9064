"""Constraint equations of cut joints, drivers and couplings (paper B, equations 9 to 15 and 20 to 22).

Cut joints are put together from three primitives: SPHR (two points coincide), DOT1 (two directions are
perpendicular) and DOT2 (a direction is perpendicular to the line between two points), as in Table 1 of
paper B. Each equation gives its residual, its row of the velocity Jacobian, and the right-hand sides of
the velocity and acceleration equations. Everything is seen from the lowest common link of the two sides.

Differs from the paper in: rows are taken with respect to speeds, not position coordinates; a
prismatic joint needs no third point; the screw joint closes its angle through sine and cosine, so that it
may turn more than once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

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
    scale,
    settled,
    sub,
    times,
)
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import Linkage, Placement
from bellcrank.mechanics.node import ModalNode
from bellcrank.model.joints import JointKind
from bellcrank.program.functions import cos, sin
from bellcrank.program.trace import Scalar

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


@dataclass(frozen=True, eq=False)
class Constraint:
    """A cut joint, driver or coupling: `size` equations between the speeds of `links`.

    equations: residuals and rows from positions alone. gammas: right-hand sides of the acceleration
    equations, which need the speeds. sides, bodies: where its forces act, for constraints that act between
    two bodies rather than on coordinates.
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
        for side, change in ((self.A, of_a), (self.B, of_b)):
            for k in self.kin.linkage.path(side.link, self.base):
                columns = twist_columns(self.kin, k, self.base, side.point)
                row[k] = tuple(change(w, v) for w, v in columns)
        return row

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


_DOT1: Mapping[JointKind, tuple[tuple[int, int], ...]] = {
    JointKind.FIXED: ((0, 1), (1, 2), (2, 0)),
    JointKind.REVOLUTE: ((0, 2), (1, 2)),
    JointKind.PRISMATIC: ((0, 1), (1, 2), (2, 0)),
    JointKind.CYLINDRICAL: ((0, 2), (1, 2)),
    JointKind.SCREW: ((0, 2), (1, 2)),
    JointKind.UNIVERSAL: ((2, 2),),
    JointKind.PLANAR: ((0, 2), (1, 2)),
    JointKind.SPHERICAL: (),
    JointKind.FREE: (),
}
_DOT2: Mapping[JointKind, tuple[int, ...]] = {
    JointKind.PRISMATIC: (0, 1),
    JointKind.CYLINDRICAL: (0, 1),
    JointKind.SCREW: (0, 1),
    JointKind.PLANAR: (2,),
}
_SPHR = frozenset({JointKind.FIXED, JointKind.REVOLUTE, JointKind.UNIVERSAL, JointKind.SPHERICAL})
AXES = "xyz"


def cut_joint(
    linkage: Linkage, name: str, kind: JointKind, a: Marker, b: Marker, pitch: Scalar
) -> Constraint:
    """The equations that a joint of this kind, cut open, imposes (Table 1)."""
    base = linkage.common(a.link, b.link)
    labels = [f"{c} of the point" for c in AXES] if kind in _SPHR else []
    labels += [f"axes {AXES[i]}, {AXES[j]} perpendicular" for i, j in _DOT1[kind]]
    labels += [f"offset along {AXES[i]}" for i in _DOT2.get(kind, ())]
    if kind is JointKind.SCREW:
        labels.append("advance by turning")

    def equations(kin: Kinematics, t: Scalar) -> list[Equation]:
        pair = Pair(kin, a, b, base)
        found = pair.sphr() if kind in _SPHR else []
        found += [pair.dot1(i, j) for i, j in _DOT1[kind]]
        found += [pair.dot2(i) for i in _DOT2.get(kind, ())]
        return [*found, _screw(pair, kin.number(pitch))] if kind is JointKind.SCREW else found

    def gammas(kin: Kinematics, t: Scalar) -> list[Scalar]:
        pair = Pair(kin, a, b, base)
        found = pair.sphr_gamma() if kind in _SPHR else []
        found += [pair.dot1_gamma(i, j) for i, j in _DOT1[kind]]
        found += [pair.dot2_gamma(i) for i in _DOT2.get(kind, ())]
        return [*found, _screw_gamma(pair, kin.number(pitch))] if kind is JointKind.SCREW else found

    links = linkage.owning((*linkage.path(a.link, base), *linkage.path(b.link, base)))
    what = f"cut joint {name!r}"
    return Constraint(name, what, len(labels), base, links, tuple(labels), equations, gammas, (a, b))


def _screw(pair: Pair, h: Scalar) -> Equation:
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
    on_b = (scale(k_t, z), scale(k_z, z))
    return Equation(h * (s * ct - c * st), row, pair.base, on_b=on_b)


def _screw_gamma(pair: Pair, h: Scalar) -> Scalar:
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
