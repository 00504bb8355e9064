"""Recursive elimination along the tree, over groups: cost linear in the length of a chain.

Links whose speeds go together in closed loops form one node; any other link is a node of its own. From the
tips inwards every node is eliminated against the link it hangs on, leaving there an articulated inertia and
a force (Featherstone's articulated-body method with a node in the place of a joint); outwards again, the
accelerations of the base give those of the node. Loops stay local to their node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.formulations.algebra import LDL
from bellcrank.formulations.equations import Equations
from bellcrank.formulations.modal import ModesFirst, armature_rows, modes_first
from bellcrank.math.rotations import into
from bellcrank.math.tuples import ZERO, Vec, add, cross, dot, is_zero, scale
from bellcrank.mechanics.articulated import Articulated
from bellcrank.mechanics.dynamics import (
    Column,
    added,
    armature_masses,
    carried,
    deformed,
    modal_product,
    modal_wrench,
    on_links,
    regrouped,
    sum_of_products,
)
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND, Link, Linkage
from bellcrank.model.joints.elementary import Wrench
from bellcrank.program.trace import Scalar

Motion = tuple[Vec, Vec]


@dataclass(frozen=True)
class Node:
    """Links that are eliminated together, outer ones last, and the columns they carry."""

    links: tuple[int, ...]
    columns: tuple[int, ...]
    base: int


def accelerations(eq: Equations) -> list[Scalar]:
    """The rates of all speeds."""
    with eq.graph.counting("loops"):
        columns = eq.loops.columns()
    forces = eq.forces_inwards()
    nodes = find_nodes(eq.mechanics.linkage, columns)
    with eq.graph.counting("elimination"):
        steps = _Elimination(eq, columns, nodes)
        for node in reversed(nodes):
            steps.inwards(node, forces(node.links[0], node.columns))
    with eq.graph.counting("solve"):
        for node in nodes:
            steps.outwards(node)
        independent = {i: steps.x[n] for n, i in enumerate(eq.partition.independent)}
        return eq.loops.accelerations(independent)


def find_nodes(linkage: Linkage, columns: Sequence[Column]) -> list[Node]:
    """Nodes in order outwards: links joined by a column, and all links between them and their base."""
    leader = list(range(len(linkage.links)))

    def find(k: int) -> int:
        while leader[k] != k:
            leader[k] = leader[leader[k]]
            k = leader[k]
        return k

    def join(a: int, b: int) -> bool:
        a, b = find(a), find(b)
        leader[max(a, b)] = min(a, b)
        return a != b

    for column in columns:
        first, *rest = sorted(column.links)
        for k in rest:
            join(first, k)
    changed = True
    while changed:
        changed = False
        members: dict[int, list[int]] = {}
        for k in range(len(linkage.links)):
            members.setdefault(find(k), []).append(k)
        for group in members.values():
            if len(group) > 1:
                base = _base(linkage, group)
                for k in group:
                    for inner in linkage.path(k, base):
                        changed |= join(group[0], inner)
    by_leader: dict[int, list[int]] = {}
    for k in range(len(linkage.links)):
        by_leader.setdefault(find(k), []).append(k)
    carried_by: dict[int, list[int]] = {}
    for n, column in enumerate(columns):
        carried_by.setdefault(find(min(column.links)), []).append(n)
    return [
        Node(tuple(group), tuple(carried_by.get(head, ())), _base(linkage, group))
        for head, group in sorted(by_leader.items())
    ]


def _base(linkage: Linkage, group: Sequence[int]) -> int:
    base = linkage.links[group[0]].parent
    for k in group[1:]:
        base = linkage.common(base, linkage.links[k].parent)
    return base


@dataclass
class _Kept:
    """What the outward sweep needs of an eliminated node."""

    y: dict[int, Scalar]
    U: dict[int, Wrench]


class _Elimination:
    """Articulated inertias and forces on all links while nodes are taken out from the tips inwards."""

    def __init__(self, eq: Equations, columns: Sequence[Column], nodes: Sequence[Node]) -> None:
        self.kin: Kinematics = eq.level
        self.links = eq.mechanics.linkage.links
        self.columns = columns
        self.sample = eq.sample
        bent = frozenset(k for node in nodes if self._modes(node) for k in node.links)
        inertias = on_links(self.kin, regrouped(eq.mechanics.linkage, bent))
        for link in self.links:
            if link.shape is not None:
                inertias[link.index] = inertias[link.index] + deformed(self.kin, link).inertia()
        self.inertia = [Articulated.rigid(p) for p in inertias]
        self.force: dict[int, Wrench] = {}
        self.kept: dict[Node, _Kept] = {}
        self.x: dict[int, Scalar] = {}
        self.motion: dict[int, Motion] = {}

    def inwards(self, node: Node, rhs: dict[int, Scalar]) -> None:
        """Take a node out: its mass, its forces on the base, and what remains there."""
        single = len(node.links) == 1
        F_at: list[dict[int, Wrench]] = [{} for _ in node.links]
        place = {k: n for n, k in enumerate(node.links)}
        M: dict[tuple[int, int], Scalar] = {}
        tau = {c: rhs[c] for c in node.columns}
        at_base: dict[int, Wrench] = {}
        modal = self._modes_first(node)
        for k in reversed(node.links):
            link = self.links[k]
            here = F_at[place[k]]
            touching = [c for c in node.columns if k in self.columns[c].speeds]
            if link.shape is not None:
                self._bend(link, node, here, None if modal else M)
            own = {
                c: self.inertia[k].force(*link.kind.velocity(self.kin, link, self.columns[c].speeds[k]))
                for c in touching
            }
            self._masses(link, touching, own, here, None if modal else M, tau)
            if single:
                break
            inner = at_base if link.parent == node.base else F_at[place[link.parent]]
            for c, wrench in here.items():
                inner[c] = added(inner.get(c, (ZERO, ZERO)), carried(self.kin, k, wrench))
            if link.parent != GROUND:
                self._push(k, self.inertia[k], self.force.get(k))
        factors = modal or LDL.of(M, node.columns)
        y = factors.solve(tau)
        F = F_at[0] if single else at_base
        if node.base == GROUND:
            self.kept[node] = _Kept(y, {})
            return
        U = _solve_wrenches(factors, F, node.columns)
        self.kept[node] = _Kept(y, U)
        target = node.links[0] if single else node.base
        gone = _gone(self.links[target], self.columns, node) if single else frozenset[int]()
        ordered = [c for c in node.columns if c in F]
        remaining = self.inertia[target].less([F[c] for c in ordered], [U[c] for c in ordered], gone)
        pull = self.force.get(target, (ZERO, ZERO))
        for c in ordered:
            pull = added(pull, (scale(y[c], F[c][0]), scale(y[c], F[c][1])))
        if single:
            self._push(
                target, remaining, _given_way(self.links[target], pull, [rhs[c] for c in node.columns])
            )
        else:
            self.inertia[target] = remaining
            self.force[target] = pull

    def _modes(self, node: Node) -> bool:
        return any(self.columns[c].modal for c in node.columns)

    def _modes_first(self, node: Node) -> ModesFirst | None:
        """The node's mass matrix factorised modes first, where it has modes and that is cheaper.

        Only on the ground: what a node leaves to a moving base is a small difference of large inertias, which
        needs wrenches and masses that were rounded alike.
        """
        if not self._modes(node) or node.base != GROUND:
            return None
        inertias = {k: self.inertia[k] for k in node.links}
        columns = {c: self.columns[c] for c in node.columns}
        squares = armature_rows(self.kin, node.links, columns)
        return modes_first(self.kin, node.links, inertias, columns, self.sample, squares=squares)

    def _bend(
        self, link: Link, node: Node, here: dict[int, Wrench], M: dict[tuple[int, int], Scalar] | None
    ) -> None:
        """Modal masses and wrenches of a flexible member (see dynamics.mass_matrix)."""
        member = deformed(self.kin, link)
        rates = {
            c: self.columns[c].modal[link.index] for c in node.columns if link.index in self.columns[c].modal
        }
        for c, own in rates.items():
            here[c] = added(here.get(c, (ZERO, ZERO)), modal_wrench(member, own))
            if M is None:
                continue
            for d, other in rates.items():
                if d <= c:
                    M[c, d] = M.get((c, d), 0.0) + modal_product(member, own, other)

    def _masses(
        self,
        link: Link,
        touching: Sequence[int],
        own: dict[int, Wrench],
        here: dict[int, Wrench],
        M: dict[tuple[int, int], Scalar] | None,
        tau: dict[int, Scalar],
    ) -> None:
        """Entries of the node's mass matrix and forces that arise at one link (see dynamics.mass_matrix)."""
        k = link.index
        if k in self.force:
            felt = link.kind.forces(self.kin, link, self.force[k])
            for c in touching:
                tau[c] = tau[c] - sum_of_products(self.columns[c].speeds[k], felt)
        beyond = {c: link.kind.forces(self.kin, link, here[c]) for c in touching if c in here}
        for c, wrench in own.items():
            here[c] = added(here.get(c, (ZERO, ZERO)), wrench)
        if not touching or M is None:
            return
        if link.armature is not None:
            armature_masses(self.kin, link, {c: self.columns[c] for c in touching}, M)
        total = {d: link.kind.forces(self.kin, link, wrench) for d, wrench in here.items()}
        for c in touching:
            b = self.columns[c].speeds[k]
            for d in here:
                if d in own and d > c:
                    continue
                work = sum_of_products(b, total[d])
                if d in own and c in beyond:
                    work = work + sum_of_products(self.columns[d].speeds[k], beyond[c])
                key = (max(c, d), min(c, d))
                M[key] = M.get(key, 0.0) + work

    def _push(self, k: int, inertia: Articulated, force: Wrench | None) -> None:
        """Hand inertia and force of a link on to its parent."""
        parent = self.links[k].parent
        self.inertia[parent] = self.inertia[parent] + inertia.moved(self.kin.turns[k], self.kin.r[k])
        if force is not None:
            inner = self.force.get(parent, (ZERO, ZERO))
            self.force[parent] = added(inner, carried(self.kin, k, force))

    def outwards(self, node: Node) -> None:
        """Accelerations of a node from those of its base."""
        kept = self.kept[node]
        single = len(node.links) == 1
        seat = self._arrived(node.links[0]) if single else self.motion.get(node.base, (ZERO, ZERO))
        for c in node.columns:
            x = kept.y[c]
            if c in kept.U:
                n, f = kept.U[c]
                x = x - (dot(n, seat[0]) + dot(f, seat[1]))
            self.x[c] = x
        for k in node.links:
            link = self.links[k]
            speeds: list[Scalar] = [0.0] * link.kind.speeds
            for c in node.columns:
                if k in self.columns[c].speeds:
                    speeds = [
                        s + b * self.x[c] for s, b in zip(speeds, self.columns[c].speeds[k], strict=True)
                    ]
            alpha, a = seat if single else self._arrived(k)
            w, v = link.kind.velocity(self.kin, link, speeds)
            self.motion[k] = (add(alpha, w), add(a, v))

    def _arrived(self, k: int) -> Motion:
        """Acceleration that a link takes over from its parent, in its own axes."""
        alpha, a = self.motion.get(self.links[k].parent, (ZERO, ZERO))
        if is_zero(alpha) and is_zero(a):
            return ZERO, ZERO
        turns, r = self.kin.turns[k], self.kin.r[k]
        return into(turns, alpha), into(turns, add(a, cross(alpha, r)))


def _solve_wrenches(
    factors: LDL | ModesFirst, F: dict[int, Wrench], columns: Sequence[int]
) -> dict[int, Wrench]:
    """M^-1 F^T, six right-hand sides at once."""
    if len(columns) == 1 and isinstance(factors, LDL):
        (c,) = columns
        inverse = factors.inverse[c]
        return {c: (scale(inverse, F[c][0]), scale(inverse, F[c][1]))} if c in F else {}
    solved: list[dict[int, Scalar]] = []
    for part in range(2):
        for i in range(3):
            solved.append(factors.solve({c: F[c][part][i] if c in F else 0.0 for c in columns}))
    return {
        c: ((solved[0][c], solved[1][c], solved[2][c]), (solved[3][c], solved[4][c], solved[5][c]))
        for c in columns
    }


def _gone(link: Link, columns: Sequence[Column], node: Node) -> frozenset[int]:
    """Directions in which a link without loops moves freely: they carry no inertia inwards."""
    if len(node.columns) != link.kind.speeds or link.armature is not None:
        return frozenset()
    return frozenset(link.kind.unit_directions(link))


def _given_way(link: Link, pull: Wrench, rhs: Sequence[Scalar]) -> Wrench:
    """The force handed on; along the joint's own directions it is the generalised force itself."""
    free = len(rhs) == link.kind.speeds and link.armature is None
    return link.kind.given_way(pull, rhs) if free else pull
