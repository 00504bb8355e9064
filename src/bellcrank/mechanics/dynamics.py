"""Inertia forces and mass matrices on links (Kang and Yoon 2001, equations 17 to 19 and 33 to 36).

Both run over *columns*: a column is one independent speed and the speeds of all links that move with
it. In a tree every speed is a column of its own and this is the composite-body method; with closed
loops the columns hold the dependent speeds B_di as well, and what comes out is the reduced mass matrix
at once (the modified velocity transformation), each force carried inwards once a column instead of once
a coordinate.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bellcrank.math.rotations import out
from bellcrank.math.tuples import ZERO, add, cross, is_zero, scale
from bellcrank.mechanics.accelerations import Accelerations
from bellcrank.mechanics.flexible import DeformedMember, combination
from bellcrank.mechanics.inertia import (
    Inertia,
    without,
)
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND, Link, Linkage
from bellcrank.model.joints.elementary import Wrench
from bellcrank.program.trace import Scalar


@dataclass(frozen=True, eq=False)
class Column:
    """One independent speed: `speeds` of links and `modal` rates of flexible links that go with a unit of it."""

    speeds: Mapping[int, tuple[Scalar, ...]]
    modal: Mapping[int, tuple[Scalar, ...]] = field(default_factory=dict)

    @property
    def links(self) -> frozenset[int]:
        """All links it moves."""
        return frozenset(self.speeds) | frozenset(self.modal)


def regrouped(linkage: Linkage, keep: frozenset[int] = frozenset()) -> list[Inertia]:
    """Link inertias with everything a joint cannot feel moved to its parent, except from links to `keep`.

    Mass along the axis of a revolute joint, mass in the centre of a ball joint and the second moment of
    a sliding link act as if they belonged to the parent. The motion is the same, the arithmetic less; only
    reactions inside the joints would differ, and are not computed from these.
    """
    inertias = [link.inertia for link in linkage.links]
    for link in reversed(linkage.links):
        own = inertias[link.index]
        if link.index in keep:
            continue
        part = link.kind.unfelt(own)
        if part is None:
            continue
        inertias[link.index] = without(own, part)
        if link.parent != GROUND:
            moved = part.moved(link.turns, link.kind.unfelt_place(link))
            inertias[link.parent] = inertias[link.parent] + moved
    return inertias


def carried(kin: Kinematics, link: int, wrench: Wrench) -> Wrench:
    """A wrench on a link, in the axes and about the origin of its parent."""
    n, f = wrench
    f = out(kin.turns[link], f)
    return add(out(kin.turns[link], n), cross(kin.r[link], f)), f


def added(a: Wrench, b: Wrench) -> Wrench:
    """The sum of two wrenches about the same origin."""
    return add(a[0], b[0]), add(a[1], b[1])


class InertiaForces:
    """Generalised inertia forces, less those of the `loads` on links (18, 19), for speed rates `du`.

    They are gathered from the tips inwards, as far as they are asked for: an elimination that goes inwards too takes
    them link by link, so that neither waits for the other.
    """

    def __init__(
        self,
        kin: Kinematics,
        inertias: Sequence[Inertia],
        du: Sequence[Scalar],
        loads: Mapping[int, Wrench],
    ) -> None:
        self.kin, self.du = kin, du
        acc = Accelerations(kin, du)
        self.found: list[Scalar] = [0.0] * kin.linkage.all_speeds
        self.total: list[Wrench] = []
        for link, own in zip(kin.linkage.links, on_links(kin, inertias), strict=True):
            wrench = own.force(acc.a[link.index], acc.K[link.index])
            if link.shape is not None:
                member, modal = _member_forces(kin, link, acc, du)
                wrench = added(wrench, member)
                self.found[link.eta_u : link.eta_u + link.modes] = modal
            if link.index in loads:
                n, f = kin.wrench_on(link.index, loads[link.index])
                wrench = added(wrench, (scale(-1.0, n), scale(-1.0, f)))
            self.total.append(wrench)
        self.next = len(kin.linkage.links) - 1

    def down_to(self, last: int) -> list[Scalar]:
        """The forces of links from the tips inwards to this one; those of other links are not whole yet."""
        kin = self.kin
        for link in reversed(kin.linkage.links[last : self.next + 1]):
            own = slice(link.u, link.u + link.kind.speeds)
            self.found[own] = link.kind.forces(kin, link, self.total[link.index])
            if link.armature is not None:
                self.found[own] = map(operator.add, self.found[own], armature_forces(kin, link, self.du[own]))
            if link.parent != GROUND:
                inner = carried(kin, link.index, self.total[link.index])
                self.total[link.parent] = added(self.total[link.parent], inner)
        self.next = min(self.next, last - 1)
        return self.found

    def whole(self) -> list[Scalar]:
        """The forces for every speed of the tree; nodes hand theirs to the modes."""
        return self.kin.folded(self.down_to(0))


def _member_forces(
    kin: Kinematics, link: Link, acc: Accelerations, du: Sequence[Scalar]
) -> tuple[Wrench, list[Scalar]]:
    """Inertia forces of a flexible member on its floating frame and its modes."""
    k = link.index
    rates, accelerations = kin.eta_rates(link), du[link.eta_u : link.eta_u + link.modes]
    return deformed(kin, link).force(acc.of(k), rates, accelerations)


def deformed(kin: Kinematics, link: Link) -> DeformedMember:
    """The flexible member on a link in its present shape."""
    assert link.shape is not None
    return link.shape.deformed(kin.eta(link))


def brought(kin: Kinematics, inertia: Inertia) -> Inertia:
    """An inertia whose parameters are inputs of this trace."""
    J = tuple(kin.number(x) for x in inertia.J)
    return Inertia(kin.number(inertia.m), kin.vector(inertia.h), J)  # type: ignore[arg-type]


def on_links(kin: Kinematics, inertias: Sequence[Inertia]) -> list[Inertia]:
    """The inertias of all links in the axes of their dynamics."""
    return [kin.inertia_of(k, brought(kin, inertia)) for k, inertia in enumerate(inertias)]


def composites(kin: Kinematics, inertias: Sequence[Inertia], members: bool = True) -> list[Inertia]:
    """For every link the inertia of itself and all links beyond it, rigidly joined."""
    total = on_links(kin, inertias)
    for link in kin.linkage.links:
        if members and link.shape is not None:
            total[link.index] = total[link.index] + deformed(kin, link).inertia()
    for link in reversed(kin.linkage.links):
        if link.parent != GROUND:
            moved = total[link.index].moved(kin.turns[link.index], kin.r[link.index])
            total[link.parent] = total[link.parent] + moved
    return total


@dataclass(frozen=True, eq=False)
class Square:
    """Kinetic energy weight (row . u)^2 / 2 of the speeds u of one link; bias: rate of row . u at du = 0."""

    weight: Scalar
    row: tuple[Scalar, ...]
    bias: Scalar = 0.0

    def over(self, speeds: Sequence[Scalar]) -> Scalar:
        """row . speeds."""
        return sum_of_products(self.row, speeds)


def armature_squares(kin: Kinematics, link: Link, rates: bool = False) -> list[Square]:
    """The kinetic energy of the armature of a link, as its parent sees it, in the link's axes; with biases by `rates`.

    Only the velocity of a body that floats has one: its components are along axes that turn.
    """
    if link.armature is None:
        return []
    J, m = kin.number(link.armature.J), kin.number(link.armature.m)
    if link.kind.speeds == 1:
        return [Square(J if link.kind.turning[0] else m, (1.0,))]
    at = kin.vector(link.armature.at)
    units = [tuple(float(i == j) for j in range(link.kind.speeds)) for i in range(link.kind.speeds)]
    twists = [link.kind.velocity(kin, link, unit) for unit in units]
    found = [Square(J, tuple(w[i] for w, _ in twists)) for i in range(3)]
    if not _is_nothing(m):
        turned = ZERO
        if rates:
            spin, slide = kin.three_speeds(link), kin.three_speeds(link, 3)
            turned = cross(spin, add(slide, cross(spin, at)))
        moves = [add(v, cross(w, at)) for w, v in twists]
        found += [Square(m, tuple(v[i] for v in moves), turned[i]) for i in range(3)]
    return [square for square in found if not _is_nothing(square.weight)]


def armature_masses(
    kin: Kinematics, link: Link, columns: Mapping[int, Column], M: dict[tuple[int, int], Scalar]
) -> None:
    """Add the armature of a link to the mass matrix of some columns."""
    for square in armature_squares(kin, link):
        rows = {c: square.over(b) for c, column in columns.items() if (b := column.speeds.get(link.index))}
        weighted = {c: square.weight * x for c, x in rows.items()}
        for c in rows:
            for d in rows:
                if d <= c:
                    M[c, d] = M.get((c, d), 0.0) + weighted[c] * rows[d]


def armature_forces(kin: Kinematics, link: Link, du: Sequence[Scalar]) -> list[Scalar]:
    """Generalised inertia forces of the armature of a link at rates `du` of its speeds."""
    total: list[Scalar] = [0.0] * link.kind.speeds
    for square in armature_squares(kin, link, rates=True):
        push = square.weight * (square.over(du) + square.bias)
        total = [f + push * x for f, x in zip(total, square.row, strict=True)]
    return total


@dataclass
class _Forces:
    """What a column's motion asks of a link: its own share, and all that is carried in from outside."""

    own: Wrench
    sum: Wrench = field(default=(ZERO, ZERO))


def mass_matrix(
    kin: Kinematics, inertias: Sequence[Inertia], columns: Sequence[Column], members: bool = True
) -> dict[tuple[int, int], Scalar]:
    """M of the columns, as entries (i, j), i >= j; absent entries are zero. Flexible `members` may be left out.

    With f_k the composite inertia times a column's own joint motion at link k, and F_k the sum of the f
    of link k and all beyond: M_cd = sum_k b_k^c S_k^T F_k^d + b_k^d S_k^T (F_k^c - f_k^c). Armatures add to it.
    """
    links = kin.linkage.links
    total = composites(kin, inertias, members)
    forces: list[dict[int, _Forces]] = [{} for _ in links]
    touching: list[list[int]] = [[] for _ in links]
    bending: list[list[int]] = [[] for _ in links]
    for c, column in enumerate(columns):
        for k in column.speeds:
            touching[k].append(c)
        for k in column.modal:
            bending[k].append(c)
    M: dict[tuple[int, int], Scalar] = {}
    for link in reversed(links):
        k = link.index
        here = forces[k]
        if members and bending[k]:
            _bend(deformed(kin, link), {c: columns[c].modal[k] for c in bending[k]}, here, M)
        for c in touching[k]:
            own = total[k].momentum(*link.kind.velocity(kin, link, columns[c].speeds[k]))
            entry = here.setdefault(c, _Forces((ZERO, ZERO)))
            entry.own = own
            entry.sum = added(entry.sum, own)
        projected = {d: link.kind.forces(kin, link, f.sum) for d, f in here.items()} if touching[k] else {}
        for c in touching[k]:
            b = columns[c].speeds[k]
            for d in here:
                if d in touching[k] and d > c:
                    continue
                work = sum_of_products(b, projected[d])
                if d in touching[k]:
                    outer = forces[k][c]
                    beyond = _difference(kin, link, outer)
                    work = work + sum_of_products(columns[d].speeds[k], beyond)
                key = (max(c, d), min(c, d))
                M[key] = M.get(key, 0.0) + work
        if link.armature is not None:
            armature_masses(kin, link, {c: columns[c] for c in touching[k]}, M)
        if link.parent != GROUND:
            inner = forces[link.parent]
            for c, f in here.items():
                at_parent = carried(kin, k, f.sum)
                if c in inner:
                    inner[c].sum = added(inner[c].sum, at_parent)
                else:
                    inner[c] = _Forces((ZERO, ZERO), at_parent)
    return {key: value for key, value in M.items() if not _is_nothing(value)}


def _bend(
    member: DeformedMember,
    rates: Mapping[int, tuple[Scalar, ...]],
    here: dict[int, _Forces],
    M: dict[tuple[int, int], Scalar],
) -> None:
    """Modal masses, and the wrenches of modal motions on the floating frame, as if from a link beyond."""
    for c, own in rates.items():
        entry = here.setdefault(c, _Forces((ZERO, ZERO)))
        entry.sum = added(entry.sum, modal_wrench(member, own))
        for d, other in rates.items():
            if d <= c:
                M[c, d] = M.get((c, d), 0.0) + modal_product(member, own, other)


def modal_wrench(member: DeformedMember, rates: Sequence[Scalar]) -> Wrench:
    """Moment and force on the floating frame for a unit rate of a modal motion."""
    n = combination(rates, [p[0] for p in member.P])
    return n, combination(rates, [p[1] for p in member.P])


def modal_product(member: DeformedMember, a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """a^T m b."""
    total: Scalar = 0.0
    # Most columns are one mode alone.
    others = [(j, y) for j, y in enumerate(b) if not _is_nothing(y)]
    for k, x in enumerate(a):
        if not _is_nothing(x):
            for j, y in others:
                total = total + member.modal_mass(k, j) * (x * y)
    return total


def _difference(kin: Kinematics, link: Link, f: _Forces) -> tuple[Scalar, ...]:
    """S^T (F - f), without subtracting where nothing was carried in."""
    n = tuple(a - b for a, b in zip(f.sum[0], f.own[0], strict=True))
    g = tuple(a - b for a, b in zip(f.sum[1], f.own[1], strict=True))
    return link.kind.forces(kin, link, (n, g))  # type: ignore[arg-type]


def sum_of_products(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """sum a_i b_i."""
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def _is_nothing(x: Scalar) -> bool:
    return isinstance(x, float) and x == 0.0


def tree_columns(kin: Kinematics) -> list[Column]:
    """Every speed of the tree as a column of its own; modal rates move their nodes along."""
    found: list[Column] = []
    for link in kin.linkage.links:
        if not link.kind.modal:
            n = link.kind.speeds
            found += [Column({link.index: tuple(float(i == j) for j in range(n))}) for i in range(n)]
        elif link.shape is not None:
            found += [modal_column(kin, link, k) for k in range(link.modes)]
    return found


def modal_column(kin: Kinematics, owner: Link, mode: int) -> Column:
    """The motion of one modal coordinate: the member's own shape, and all its nodes."""
    speeds = {}
    for k, pose in kin.nodes.items():
        if kin.linkage.owners[k] == owner.index:
            w, v = pose.columns()[mode]
            if not (is_zero(w) and is_zero(v)):
                speeds[k] = (*w, *v)
    return Column(speeds, {owner.index: tuple(float(mode == j) for j in range(owner.modes))})
