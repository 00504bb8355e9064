"""Reactions of joints and efforts of drivers, by the equilibrium of everything beyond each joint.

The wrench a tree joint transmits is what the bodies beyond it need: their inertia forces, less the applied
loads and the forces of cut joints on them. Springs, motors and drivers that sit in the joint itself are
part of what it transmits. Cut joints give theirs by their multipliers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bellcrank.math.tuples import (
    ZERO,
    Vec,
    add,
    cross,
    neg,
    scale,
    sub,
    times,
    transposed_times,
)
from bellcrank.mechanics.constraints import Constraint, Seen
from bellcrank.mechanics.dynamics import added, carried
from bellcrank.mechanics.forces import effect, stretch
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND
from bellcrank.mechanics.loads import Loads
from bellcrank.model.drivers import CoordinateTarget
from bellcrank.model.joints.elementary import Wrench
from bellcrank.program.trace import Scalar
from bellcrank.quantities.snapshot import Snapshot

if TYPE_CHECKING:
    from bellcrank.model.joints import Joint


class BodyLoads(Loads):
    """Loads as wrenches on bodies, in the axes of their links."""

    def __init__(self, kin: Kinematics) -> None:
        super().__init__(kin)
        self.on_bodies: dict[str, Wrench] = {}
        self.bodies: tuple[str, str] = ("", "")
        self.last: tuple[int, Vec, Vec] = (GROUND, ZERO, ZERO)

    def among(self, a: str, b: str) -> None:
        """The bodies that what follows acts between."""
        self.bodies = (a, b)

    def put(self, body: str, base: int, at: Vec, force: Vec, moment: Vec) -> None:
        """A force at a point and a moment, seen from `base`, on a body, in the axes of the body's link."""
        seen, own = self.kin.pose(base), self.kin.pose(self.kin.linkage.placements[body].link)
        f = transposed_times(own.R, times(seen.R, force))
        n = transposed_times(own.R, times(seen.R, moment))
        place = sub(add(seen.p, times(seen.R, at)), own.p)
        wrench = (add(n, cross(transposed_times(own.R, place), f)), f)
        self.on_bodies[body] = added(self.on_bodies.get(body, (ZERO, ZERO)), wrench)

    def between(
        self, a: int, b: int, base: int, at_a: Vec, at_b: Vec, force: Vec, moment: Vec = ZERO
    ) -> None:
        """A force and moment on b, the opposite on a."""
        self.last = (base, moment, force)
        self.put(self.bodies[1], base, at_b, force, moment)
        self.put(self.bodies[0], base, at_a, neg(force), neg(moment))

    def along_line(self, a: int, b: int, base: int, at_a: Vec, at_b: Vec, force: Vec) -> None:
        """A force on b, the opposite on a."""
        self.between(a, b, base, at_a, at_b, force)

    def line(self, A: Seen, B: Seen, base: int, law: Callable[[Scalar, Scalar], Scalar]) -> None:
        """A force along the line between two points."""
        e, length, rate = stretch(self.kin, A, B)
        self.along_line(A.link, B.link, base, A.point, B.point, scale(law(length, rate), e))

    def on_link(self, link: int, point: Vec, force: Vec, moment: Vec = ZERO) -> None:
        """A force and moment in the link's own axes."""
        self.put(self.bodies[0], link, point, force, moment)

    def seen_from(self, link: int, base: int, at: Vec, force: Vec, moment: Vec = ZERO) -> None:
        """A force and moment given in the axes of an inner link."""
        self.put(self.bodies[0], base, at, force, moment)


class Reactions:
    """The wrenches all joints transmit in one traced state."""

    def __init__(self, s: Snapshot) -> None:
        self.s = s
        self.loads = BodyLoads(s.kin)
        self.beside: dict[str, Wrench] = {}
        for force in s.system.forces.values():
            joint = force.in_joint
            frames = force.frames if joint is None else (joint.a, joint.b)
            names = [f.body.name for f in frames]
            self.loads.bodies = (names[0], names[-1])
            self.loads.last = (GROUND, ZERO, ZERO)
            effect(force, s.linkage)(s.kin, s.t, self.loads)
            if joint is not None:
                self._in_joint(joint.name, *self.loads.last)
        for contact in s.contacts.values():
            self.loads.bodies = contact.bodies
            contact.load(self.loads)
        for name, (pushed, moment) in s.collided.items():
            self.loads.put(s.system.colliding[name].body.name, GROUND, ZERO, pushed, moment)
        first = 0
        for c in s.mechanics.constraints:
            if c.pushes is None and c.sides is not None and c.bodies is not None:
                self._between(c, first)
            elif c.pushes is not None:
                for e, by_body in enumerate(c.pushes(s.kin, s.t), first):
                    for body, (at, n, f) in by_body.items():
                        self.loads.put(body, c.base, at, scale(s.mu[e], f), scale(s.mu[e], n))
            first += c.size
        self.total = self._totals()

    def _between(self, c: Constraint, first: int) -> None:
        """Forces of a cut joint or a measured driver on its two bodies, from the multipliers."""
        s = self.s
        assert c.sides is not None
        assert c.bodies is not None
        n, f = ZERO, ZERO
        for e in range(first, first + c.size):
            torque, force = s.equations[e].on_b
            n, f = add(n, scale(s.mu[e], torque)), add(f, scale(s.mu[e], force))
        b = c.sides[1]
        at = Seen(s.kin, b, c.base).point
        self.loads.put(c.bodies[1], c.base, at, f, n)
        self.loads.put(c.bodies[0], c.base, at, neg(f), neg(n))
        driver = s.system.drivers.get(c.name)
        if c.name in s.system.joints:
            self._in_joint(c.name, c.base, n, f)
        elif driver is not None and isinstance(driver.target, CoordinateTarget):
            self._in_joint(driver.target.joint.name, c.base, n, f)

    def _in_joint(self, joint: str, base: int, n: Vec, f: Vec) -> None:
        """A wrench on b at b's point, seen from `base`, that a joint transmits beside the tree."""
        R = self.s.kin.pose(base).R
        here = (times(R, n), times(R, f))
        self.beside[joint] = added(self.beside.get(joint, (ZERO, ZERO)), here)

    def _totals(self) -> dict[str, Wrench]:
        """For every body the wrench its tree joint must bring, in the axes of its link."""
        s = self.s
        total: dict[str, Wrench] = {}
        for name in s.system.bodies:
            n, f = self.loads.on_bodies.get(name, (ZERO, ZERO))
            total[name] = added(s.inertia_wrench(name), (neg(n), neg(f)))
        for branch in reversed(s.mechanism_tree.links):
            if branch.parent.name not in total:
                continue
            link = s.linkage.placements[branch.body.name].link
            target = s.linkage.placements[branch.parent.name].link
            wrench = total[branch.body.name]
            while link != target:
                wrench = carried(s.kin, link, wrench)
                link = s.linkage.links[link].parent
            total[branch.parent.name] = added(total[branch.parent.name], wrench)
        return total

    def joint(self, joint: Joint) -> Wrench:
        """Moment about b's point and force that the joint exerts on b, in world axes."""
        s = self.s
        beside = self.beside.get(joint.name, (ZERO, ZERO))
        branch = next((x for x in s.mechanism_tree.links if x.joint.name == joint.name), None)
        if branch is None:
            return beside
        seat = s.linkage.placements[branch.body.name]
        n, f = self.total[branch.body.name]

        R, origin = s.kin.pose(seat.link).R, s.kin.pose(seat.link).p
        n, f = times(R, n), times(R, f)
        at = s.point(joint.b).position()
        n = add(n, cross(sub(origin, at), f))
        return added((n, f) if branch.forward else (neg(n), neg(f)), beside)


__all__ = ["BodyLoads", "Reactions"]
