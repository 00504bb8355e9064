"""Axes that stay level along runs of hinges on parallel axes.

The dynamics of a link may be written in any axes. Behind a hinge they need not turn with the link: where one hinge
follows another on a parallel axis, inertias, forces and accelerations then pass from link to link without being turned
at all, and only what belongs to one link (its centre of mass, the place of the next hinge, its loads) is turned, by the
sum of the angles. A chain in a plane has no turn left in its recursions: half their operations, and half the time that
each step waits for the one before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.math.rotations import AxisTurn, Turn, out, symmetric_out
from bellcrank.math.tuples import Vec
from bellcrank.mechanics.inertia import Inertia
from bellcrank.mechanics.kinematics import Kinematics, Motion, Pose
from bellcrank.mechanics.links import GROUND, Link
from bellcrank.model.joints.elementary import Wrench
from bellcrank.model.joints.revolute import cosine_and_sine
from bellcrank.program.trace import Scalar


@dataclass(frozen=True, eq=False)
class _Run:
    """A link of a run: the sum of the angles up to it, and whether nothing before the run turns."""

    angle: Scalar
    offset: float
    flat: bool

    @property
    def turn(self) -> AxisTurn:
        """From the link's own axes to those of the run."""
        return AxisTurn(2, *cosine_and_sine(self.angle, self.offset))


class LevelKinematics(Kinematics):
    """A motion by links whose axes in runs of parallel hinges are those of the run; speeds are known already."""

    def __init__(self, seen: Kinematics) -> None:
        self.__dict__ |= seen.__dict__
        self.seen = seen
        self.turns, self.r = list(seen.turns), list(seen.r)
        self._w, self._v = {}, {}
        self.runs: dict[int, _Run] = {}
        members = _members(seen)
        for link in self.linkage.links:
            if link.index in members:
                self._enter(link)
        self.level = {k: run.turn for k, run in self.runs.items()}
        for link in self.linkage.links:
            if link.parent in self.level:
                self.r[link.index] = self.level[link.parent].out(seen.r[link.index])

    def _enter(self, link: Link) -> None:
        """Lay the axes of a link of a run."""
        k, before = link.index, self.runs.get(link.parent)
        fixed = self.seen.turns[k][:-1]
        if before is None:
            self.turns[k] = fixed
            flat = not any(any(self.linkage.links[j].kind.turning) for j in self.linkage.path(k)[1:])
            self.runs[k] = _Run(self.q[link.q], link.offset, flat)
            return
        self.turns[k] = ()
        offset = math.remainder(before.offset + _bend(fixed) + link.offset, 2.0 * math.pi)
        self.runs[k] = _Run(before.angle + self.q[link.q], offset, before.flat)

    def inertia_of(self, link: int, own: Inertia) -> Inertia:
        if link not in self.level:
            return own
        turn, J = (self.level[link],), own.J
        if self.runs[link].flat:
            # In motion about z alone only the sum of the moments in the plane is felt.
            half = 0.5 * (J[0] + J[1])
            return Inertia(
                own.m, out(turn, own.h), (half, half, J[2], 0.0, *out(turn, (J[4], J[5], 0.0))[:2])
            )
        return Inertia(own.m, out(turn, own.h), symmetric_out(turn, J))

    def wrench_on(self, link: int, own: Wrench) -> Wrench:
        turn = self.level.get(link)
        return own if turn is None else (turn.out(own[0]), turn.out(own[1]))

    def pose(self, link: int, base: int = GROUND) -> Pose:
        return self.seen.pose(link, base)

    def motion(self, link: int, base: int = GROUND) -> Motion:
        return self.seen.motion(link, base)

    def bias(self, link: int, base: int = GROUND) -> Motion:
        return self.seen.bias(link, base)

    def axis(self, link: Link) -> Vec:
        return self.seen.axis(link)


def _members(kin: Kinematics) -> set[int]:
    """The links of all runs: hinges behind which all joints are hinges on parallel axes, two or more in a row."""
    links = kin.linkage.links
    beyond: dict[int, list[Link]] = {}
    for link in links:
        beyond.setdefault(link.parent, []).append(link)
    able = {
        link.index
        for link in links
        if _turns_freely(kin, link) and all(_is_parallel(kin, c) for c in beyond.get(link.index, ()))
    }
    follows = {k for k in able if links[k].parent in able}
    return follows | {links[k].parent for k in follows}


def _turns_freely(kin: Kinematics, link: Link) -> bool:
    return link.kind.spins and link.shape is None and link.index not in kin.unturned


def _is_parallel(kin: Kinematics, link: Link) -> bool:
    """Whether a link is a hinge about the z of its parent."""
    if not _turns_freely(kin, link):
        return False
    fixed = kin.turns[link.index][:-1]
    return all(isinstance(t, AxisTurn) and t.axis == 2 and isinstance(t.c, float) for t in fixed)


def _bend(fixed: Sequence[Turn]) -> float:
    """The angle of constant turns about z."""
    return sum(math.atan2(float(t.s), float(t.c)) for t in fixed if isinstance(t, AxisTurn))  # type: ignore[arg-type]
