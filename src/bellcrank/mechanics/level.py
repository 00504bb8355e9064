"""Axes that stay level along runs of hinges on parallel axes.

The dynamics of a link may be written in any axes. Behind a hinge they need not turn with the link: along a run
inertias, forces and accelerations then pass from link to link without being turned at all, and only what belongs to one
link (its centre of mass, the place of the next hinge, its loads) is turned, by the sum of the angles. A chain in a
plane has no turn left in its recursions: 69 operations a link in the place of 79, and fewer in a row.
"""

from __future__ import annotations

from bellcrank.math.rotations import out, symmetric_out
from bellcrank.math.tuples import Vec
from bellcrank.mechanics.inertia import Inertia
from bellcrank.mechanics.kinematics import Kinematics, Motion, Pose
from bellcrank.mechanics.links import GROUND, Link
from bellcrank.model.joints.elementary import Wrench


class LevelKinematics(Kinematics):
    """A motion by links whose axes in runs of parallel hinges are those of the run; speeds are known already."""

    def __init__(self, seen: Kinematics) -> None:
        self.__dict__ |= seen.__dict__
        self.seen = seen
        self.turns, self.r = list(seen.turns), list(seen.r)
        self._w, self._v = {}, {}
        for link in self.linkage.links:
            k, run, outer = link.index, self.runs.get(link.index), self.runs.get(link.parent)
            if outer is not None:
                self.turns[k], self.r[k] = (outer.turn, *seen.turns[k]), outer.turn.out(seen.r[k])
            if run is not None:
                self.turns[k] = run.fixed if run.first else ()

    def inertia_of(self, link: int, own: Inertia) -> Inertia:
        run = self.runs.get(link)
        if run is None:
            return own
        turn, J = (run.turn,), own.J
        if run.flat:
            # Only the sum of the moments in the plane is felt.
            half = 0.5 * (J[0] + J[1])
            x, y, _ = out(turn, (J[4], J[5], 0.0))
            return Inertia(own.m, out(turn, own.h), (half, half, J[2], 0.0, x, y))
        return Inertia(own.m, out(turn, own.h), symmetric_out(turn, J))

    def wrench_on(self, link: int, own: Wrench) -> Wrench:
        run = self.runs.get(link)
        return own if run is None else (run.turn.out(own[0]), run.turn.out(own[1]))

    def pose(self, link: int, base: int = GROUND) -> Pose:
        return self.seen.pose(link, base)

    def motion(self, link: int, base: int = GROUND) -> Motion:
        return self.seen.motion(link, base)

    def bias(self, link: int, base: int = GROUND) -> Motion:
        return self.seen.bias(link, base)

    def axis(self, link: Link) -> Vec:
        return self.seen.axis(link)
