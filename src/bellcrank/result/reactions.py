"""Reactions of joints and efforts of drivers, by the equilibrium of everything beyond each joint.

The wrench a tree joint transmits is what the bodies beyond it need: their inertia forces, less the applied
loads and the forces of cut joints on them. Springs, motors and drivers that sit in the joint itself are
part of what it transmits. Cut joints give theirs by their multipliers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bellcrank.mechanics.constraints import Seen
from bellcrank.mechanics.dynamics import Wrench, added, carried
from bellcrank.mechanics.forces import effect
from bellcrank.mechanics.joint_coordinates import markers
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import GROUND
from bellcrank.mechanics.loads import Loads
from bellcrank.mechanics.vectors import (
    ZERO,
    Vec,
    add,
    cross,
    neg,
    scale,
    sub,
    times,
    transposed_times,
    vec,
)
from bellcrank.model.drivers import PointTarget
from bellcrank.result.snapshot import Snapshot

if TYPE_CHECKING:
    from bellcrank.model.joints import Joint


class BodyLoads(Loads):
    """Loads as wrenches on bodies, in the axes of their links."""

    def __init__(self, kin: Kinematics) -> None:
        super().__init__(kin)
        self.on_bodies: dict[str, Wrench] = {}
        self.bodies: tuple[str, str] = ("", "")

    def put(self, body: str, link: int, base: int, at: Vec, force: Vec, moment: Vec) -> None:
        """A force at a point and a moment, seen from `base`, on a body."""
        if link == GROUND and base == GROUND:
            wrench = (add(moment, cross(at, force)), force)
        else:
            pose = self.kin.pose(link, base)
            f, p = transposed_times(pose.R, force), transposed_times(pose.R, sub(at, pose.p))
            wrench = (add(transposed_times(pose.R, moment), cross(p, f)), f)
        self.on_bodies[body] = added(self.on_bodies.get(body, (ZERO, ZERO)), wrench)

    def between(self, a: int, b: int, base: int, at_a: Vec, at_b: Vec, force: Vec, moment: Vec = ZERO) -> None:
        """A force and moment on b, the opposite on a."""
        self.put(self.bodies[1], b, base, at_b, force, moment)
        self.put(self.bodies[0], a, base, at_a, neg(force), neg(moment))

    def along_line(self, a: int, b: int, base: int, at_a: Vec, at_b: Vec, force: Vec) -> None:
        """A force on b, the opposite on a."""
        self.between(a, b, base, at_a, at_b, force)

    def on_link(self, link: int, point: Vec, force: Vec, moment: Vec = ZERO) -> None:
        """A force and moment in the link's own axes."""
        if link != GROUND:
            wrench = (add(moment, cross(point, force)), force)
            self.on_bodies[self.bodies[0]] = added(self.on_bodies.get(self.bodies[0], (ZERO, ZERO)), wrench)

    def seen_from(self, link: int, base: int, at: Vec, force: Vec, moment: Vec = ZERO) -> None:
        """A force and moment given in the axes of an inner link."""
        self.put(self.bodies[0], link, base, at, force, moment)


class Reactions:
    """The wrenches all joints transmit in one traced state."""

    def __init__(self, s: Snapshot) -> None:
        self.s = s
        self.loads = BodyLoads(s.kin)
        for force in s.system.forces.values():
            frames = [getattr(force, key) for key in ("a", "b", "frame") if hasattr(force, key)]
            joint = getattr(force, "joint", None)
            if joint is not None:
                frames = [joint.a, joint.b]
            names = [f.body.name for f in frames]
            self.loads.bodies = (names[0], names[-1])
            effect(force, s.linkage)(s.kin, s.t, self.loads)
        self.cut: dict[str, Wrench] = {}
        self._cut_joints()
        self._point_drivers()
        self.total = self._totals()

    def _cut_joints(self) -> None:
        first = 0
        for c in self.s.mechanics.constraints:
            joint = self.s.system.joints.get(c.name)
            if joint is not None and c.what.startswith("cut joint"):
                self._cut_joint(joint, range(first, first + c.size), c.base)
            first += c.size

    def _cut_joint(self, joint: Joint, numbers: range, base: int) -> None:
        """Force and moment on b at b's point, in the axes of the base, from the multipliers."""
        n, f = ZERO, ZERO
        for e in numbers:
            torque, force = self.s.equations[e].on_b
            n, f = add(n, scale(self.s.mu[e], torque)), add(f, scale(self.s.mu[e], force))
        a, b = markers(self.s.linkage, joint)
        at = Seen(self.s.kin, b, base).point
        self.loads.put(joint.b.body.name, b.link, base, at, f, n)
        self.loads.put(joint.a.body.name, a.link, base, at, neg(f), neg(n))
        R = self.s.kin.pose(base).R
        self.cut[joint.name] = (times(R, n), times(R, f))

    def _point_drivers(self) -> None:
        first = 0
        for c in self.s.mechanics.constraints:
            driver = self.s.system.drivers.get(c.name) if c.what.startswith("driver") else None
            if driver is not None and isinstance(driver.target, PointTarget):
                axis = "xyz".index(driver.target.axis)
                push = [0.0, 0.0, 0.0]
                along = vec([self.s.mu[first] if i == axis else push[i] for i in range(3)])
                point = self.s.point(driver.target.frame)
                name = driver.target.frame.body.name
                self.loads.put(name, point.link, GROUND, point.position(), along, ZERO)
            first += c.size

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
        if joint.name in self.cut:
            return self.cut[joint.name]
        s = self.s
        branch = next((x for x in s.mechanism_tree.links if x.joint.name == joint.name), None)
        if branch is None:
            return ZERO, ZERO
        seat = s.linkage.placements[branch.body.name]
        n, f = self.total[branch.body.name]

        R, origin = s.kin.pose(seat.link).R, s.kin.pose(seat.link).p
        n, f = times(R, n), times(R, f)
        at = s.point(joint.b).position()
        n = add(n, cross(sub(origin, at), f))
        return (n, f) if branch.forward else (neg(n), neg(f))


__all__ = ["BodyLoads", "Reactions"]
