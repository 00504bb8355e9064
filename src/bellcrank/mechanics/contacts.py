"""Contacts on links: gap, contact points, and the rows of the relative velocity there.

Source: Park, Yoo, Hwang, Yang (2000), equations 2 to 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bellcrank.contact.closest import Closest, closest
from bellcrank.contact.shapes import Stop
from bellcrank.contact.skin import SkinShape
from bellcrank.contact.spots import PairSpot
from bellcrank.errors import ModelError
from bellcrank.math.tuples import (
    UNIT,
    ZERO,
    Mat,
    Vec,
    add,
    cross,
    dot,
    mat,
    matmul,
    neg,
    scale,
    sub,
    tangents,
    times,
    transposed_times,
    vec,
)
from bellcrank.mechanics.constraints import (
    Constraint,
    Equation,
    Marker,
    Row,
    marker,
    over_speeds,
    twist_columns,
)
from bellcrank.mechanics.joint_coordinates import counted
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import Linkage
from bellcrank.program.derive import directional
from bellcrank.program.functions import sqrt, where
from bellcrank.program.trace import Expr, Scalar, compare

if TYPE_CHECKING:
    from bellcrank.model.contacts import Contact, PlacedShape


STILL = 1e-14
"""Keeps the direction of slip finite at rest: part of the unit of speed."""


@dataclass(frozen=True, eq=False)
class ContactPair:
    """A contact of a model on the links of a mechanism.

    length [m], speed [m/s]: What is small is small against these, see :mod:`bellcrank.impacts.units`. planar: Whether
    the shapes are plane curves: then there is one tangent instead of two.
    """

    contact: Contact
    a: Marker
    b: Marker
    base: int
    length: float = 1.0
    speed: float = 1.0
    planar: bool = False

    @property
    def time(self) -> float:
        """In which it moves by its length at its speed [s]."""
        return self.length / self.speed

    @property
    def still_squared(self) -> float:
        """Keeps the direction of slip finite at rest [m^2/s^2]."""
        return (STILL * self.speed) ** 2

    @property
    def yields(self) -> bool:
        """Whether one of the shapes is on a flexible body."""
        return any(side.frame.body.member is not None for side in (self.contact.a, self.contact.b))

    @property
    def lasting(self) -> bool:
        """Whether its place is always there."""
        return not isinstance(self.contact.a.shape, PairSpot)

    @staticmethod
    def of(contact: Contact, linkage: Linkage) -> ContactPair:
        """Place a contact on the links."""
        a, b = placed_marker(contact.a, linkage), placed_marker(contact.b, linkage)
        base, flat = linkage.common(a.link, b.link), contact.a.shape.planar
        return ContactPair(contact, a, b, base, planar=flat)

    def closest(self, kin: Kinematics) -> Closest:
        """Closest points, seen from the base; traced once."""
        known, name = kin.closest, self.contact.name
        if name not in known:
            R_a, p_a = self.seen(kin, self.a)
            R_b, p_b = self.seen(kin, self.b)
            a, b = self.contact.a.shape, self.contact.b.shape
            memory = [cell for cell in map(kin.number, self.contact.warm) if isinstance(cell, Expr)]
            found = closest(a, R_a, p_a, b, R_b, p_b, memory=memory)
            known[name] = found if self.contact.limits is None else self._counted(kin, found)
        return known[name]

    def _counted(self, kin: Kinematics, found: Closest) -> Closest:
        """A stop, with its angle counted over all turns where the joint is in the tree."""
        stop = self.contact.a.shape
        assert isinstance(stop, Stop)
        x = self.turned(kin)
        return found if x is None else with_turns(stop, found, x)

    def turned(self, kin: Kinematics) -> Scalar | None:
        """The angle that a stop measures, counted over all turns; None where there is none in the tree."""
        limits, stop = self.contact.limits, self.contact.a.shape
        if limits is None or not isinstance(stop, Stop) or not stop.lever:
            return None
        x = counted(kin.linkage, kin, limits.joint, limits.coordinate)
        if x is not None:
            return limits.sense * x
        if limits.turns:
            raise ModelError(
                f"limits {limits.name!r} leave a whole turn or more, and joint {limits.joint.name!r} closes a loop, "
                "where turns are not counted; keep it in the tree with cut=False"
            )
        return None

    def seen(self, kin: Kinematics, m: Marker) -> tuple[Mat, Vec]:
        """Rotation and origin of a side's frame."""
        pose = kin.pose(m.link, self.base)
        R = (kin.vector(m.R[0]), kin.vector(m.R[1]), kin.vector(m.R[2]))
        return matmul(pose.R, R), add(pose.p, times(pose.R, kin.vector(m.p)))

    def velocity_of(self, kin: Kinematics, link: int, point: Vec) -> Vec:
        """Of a link, where it passes a point, seen from the base [m/s]."""
        if link == self.base:
            return ZERO
        motion, pose = kin.motion(link, self.base), kin.pose(link, self.base)
        return add(motion.v, cross(motion.w, sub(point, pose.p)))

    @property
    def couples(self) -> bool:
        """Whether its normal force is a couple: that of the stop of an angle."""
        stop = self.contact.a.shape
        return isinstance(stop, Stop) and stop.lever > 0.0

    def couple(self, kin: Kinematics, found: Closest) -> Vec:
        """The moment on b of a unit normal force at the lever of a stop, seen from the base [m]."""
        return cross(sub(found.point_b, self.seen(kin, self.b)[1]), found.normal)

    def turning(self, kin: Kinematics, found: Closest) -> Equation:
        """The angular velocity of b against a along the couple of a stop, as a row."""
        moment = self.couple(kin, found)
        row: dict[int, tuple[Scalar, ...]] = {}
        for link, sign in ((self.a.link, -1.0), (self.b.link, 1.0)):
            for k in kin.linkage.path(link, self.base):
                columns = twist_columns(kin, k, self.base, found.point_b)
                row[k] = tuple(sign * dot(moment, w) for w, _ in columns)
        return Equation(found.held, row, self.base, on_b=(moment, ZERO))

    def equation(self, kin: Kinematics, found: Closest, direction: Vec, residual: Scalar) -> Equation:
        """The velocity of b against a at the contact along a direction, as a row."""
        row: dict[int, tuple[Scalar, ...]] = {}
        for link, point, sign in ((self.a.link, found.point_a, -1.0), (self.b.link, found.point_b, 1.0)):
            for k in kin.linkage.path(link, self.base):
                columns = twist_columns(kin, k, self.base, point)
                row[k] = tuple(sign * dot(direction, v) for _, v in columns)
        return Equation(residual, row, self.base, on_b=(ZERO, direction))

    def directions(self, found: Closest) -> list[Vec]:
        """The normal from a to b, then the tangents."""
        n = found.normal
        if self.planar:
            return [n, (-n[1], n[0], n[2])]
        first, second = tangents(n)
        return [n, first, second]

    def rows(self, kin: Kinematics) -> tuple[Closest, list[Equation]]:
        """Closest points, and the rows of normal and tangential velocity."""
        found = self.closest(kin)
        normal, *tangential = self.directions(found)
        first = self.turning(kin, found) if self.couples else self.equation(kin, found, normal, found.held)
        return found, [first, *(self.equation(kin, found, d, 0.0) for d in tangential)]


def with_turns(stop: Stop, found: Closest, angle: Scalar) -> Closest:
    """A stop whose angle is counted over all turns."""
    gap = stop.gap(angle)
    return replace(found, distance=gap, held=gap, point_a=sub(found.point_b, scale(gap, found.normal)))


def placed_marker(placed: PlacedShape, linkage: Linkage) -> Marker:
    """The frame of a shape on the links."""
    frame = placed.frame
    if isinstance(placed.shape, SkinShape):
        # In the axes of the member, whatever node it is said to stand at.
        return marker(linkage.placements[frame.body.name], UNIT, ZERO)
    return marker(linkage.seat(frame), mat(frame.rotation), vec(frame.position))


def sustained(
    linkage: Linkage,
    pair: ContactPair,
    sticking: bool,
    slip: float = 1.0,
    borne: Mapping[int, Sequence[tuple[ContactPair, float, float]]] | None = None,
) -> Constraint:
    """A lasting contact: gap held at zero; where it sticks, no tangential velocity either.

    Where it slides with friction, the force of friction goes with the normal force against the slip: of sign `slip` in
    the plane, along the tangential velocity in space.
    borne: Where contacts share, for a row the contacts that slide and bear of it: their slip and share.
    """
    count = 1 if not sticking else 2 if pair.planar else 3
    labels = ("gap", "first tangent", "second tangent")[:count]
    bodies = (pair.contact.a.frame.body.name, pair.contact.b.frame.body.name)

    def equations(kin: Kinematics, t: Scalar) -> list[Equation]:
        rows = pair.rows(kin)[1]
        if borne is not None:
            return [_shared(kin, row, borne.get(k, ())) for k, row in enumerate(rows[:count])]
        if sticking or not pair.contact.rubs:
            return rows[:count]
        if kin.u is None:
            return rows[:1]
        return [replace(rows[0], rubbing=_rubbing(kin, pair, rows[1:], slip))]

    def gammas(kin: Kinematics, t: Scalar) -> list[Scalar]:
        return [-rate_at_constant_speeds(kin, e) for e in pair.rows(kin)[1][:count]]

    def pushes(kin: Kinematics, t: Scalar) -> list[dict[str, tuple[Vec, Vec, Vec]]]:
        found = pair.closest(kin)
        normal, *tangential = pair.directions(found)
        acting: list[tuple[Vec, Vec]] = [(ZERO, d) for d in (normal, *tangential)[:count]]
        if pair.couples:
            acting[0] = pair.couple(kin, found), ZERO
        elif not sticking and pair.contact.rubs and kin.u is not None:
            rubbed = normal
            for share, d in zip(
                _rubbing_shares(kin, pair, pair.rows(kin)[1][1:], slip), tangential, strict=True
            ):
                rubbed = sub(rubbed, scale(share, d))
            acting[0] = ZERO, rubbed
        return [{a: (found.point_a, neg(n), neg(f)), b: (found.point_b, n, f)} for n, f in acting]

    name, (a, b) = pair.contact.name, bodies
    links = linkage.owning((*linkage.path(pair.a.link, pair.base), *linkage.path(pair.b.link, pair.base)))
    return Constraint(
        name,
        f"contact {name!r}",
        count,
        pair.base,
        links,
        labels,
        equations,
        gammas,
        (pair.a, pair.b),
        bodies,
        pushes=None if borne is not None else pushes,
    )


def _shared(
    kin: Kinematics, equation: Equation, borne: Sequence[tuple[ContactPair, float, float]]
) -> Equation:
    """The equation, with the friction of the contacts that bear its force."""
    if kin.u is None or not borne:
        return equation
    row: dict[int, tuple[Scalar, ...]] = {}
    for pair, slip, share in borne:
        rubbing = _rubbing(kin, pair, pair.rows(kin)[1][1:], slip)
        for k, entries in rubbing.items():
            before = row.get(k, (0.0,) * len(entries))
            row[k] = tuple(b + share * x for b, x in zip(before, entries, strict=True))
    return replace(equation, rubbing=row)


def _rubbing(kin: Kinematics, pair: ContactPair, tangential: Sequence[Equation], slip: float) -> Row:
    """- mu times the direction of slip, as a row."""
    shares = _rubbing_shares(kin, pair, tangential, slip)
    row: dict[int, tuple[Scalar, ...]] = {}
    for share, e in zip(shares, tangential, strict=True):
        for k, entries in e.row.items():
            before = row.get(k, (0.0,) * len(entries))
            row[k] = tuple(b - share * x for b, x in zip(before, entries, strict=True))
    return row


def _rubbing_shares(
    kin: Kinematics, pair: ContactPair, tangential: Sequence[Equation], slip: float
) -> list[Scalar]:
    """Friction over the normal force, against each tangent."""
    mu = kin.number(pair.contact.friction)
    if len(tangential) == 1:
        return [mu * slip]
    return [mu * x for x in rubbing_direction(kin, pair, [along(kin, e) for e in tangential])]


def rubbing_direction(kin: Kinematics, pair: ContactPair, slip: Sequence[Scalar]) -> list[Scalar]:
    """The unit vector of the slip in space, over the tangents, against which friction acts.

    Without a heading it is that of the slip. Slip that has passed its end and comes back against its heading rubs as
    before it: so slip goes through zero like any smooth function, and a step that goes beyond its end is as good as any
    other; that end is an event.
    """
    speed = sqrt(slip[0] * slip[0] + slip[1] * slip[1] + pair.still_squared)
    if pair.contact.heading is None:
        return [x / speed for x in slip]
    shrink = where(compare("lt", headway(kin, pair, slip), 0.0), -1.0, 1.0) / speed
    return [shrink * x for x in slip]


def headway(kin: Kinematics, pair: ContactPair, slip: Sequence[Scalar]) -> Scalar:
    """The speed of a slip in space along its heading [m/s]."""
    assert pair.contact.heading is not None
    heading = transposed_times(kin.pose(pair.base).R, kin.vector(pair.contact.heading))
    _, first, second = pair.directions(pair.closest(kin))
    return slip[0] * dot(first, heading) + slip[1] * dot(second, heading)


def along(kin: Kinematics, equation: Equation) -> Scalar:
    """row . u."""
    assert kin.u is not None
    speed: Scalar = 0.0
    for i, entry in over_speeds(kin, equation).items():
        speed = speed + entry * kin.u[i]
    return speed


def rate_at_constant_speeds(kin: Kinematics, equation: Equation) -> Scalar:
    """The rate of row . u along the motion while all speeds keep their values, by exact differentiation.

    The entries are differentiated one by one: their sum with dependent speeds in it may have folded to zero.
    """
    assert kin.u is not None
    moving = {q.id: rate for q, rate in zip(kin.q, kin.position_rates(), strict=True) if isinstance(q, Expr)}
    entries = {i: x for i, x in over_speeds(kin, equation).items() if isinstance(x, Expr)}
    total: Scalar = 0.0
    for i, rate in zip(entries, directional(list(entries.values()), moving), strict=True):
        total = total + rate * kin.u[i]
    return total


__all__ = [
    "ContactPair",
    "along",
    "headway",
    "placed_marker",
    "rate_at_constant_speeds",
    "rubbing_direction",
    "sustained",
    "with_turns",
]
