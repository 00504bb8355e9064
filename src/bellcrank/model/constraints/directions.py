"""Constraints between directions of two bodies: parallel, perpendicular, and turning at the same speed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bellcrank.base.keys import SIDE, Keys, must
from bellcrank.math.tuples import dot
from bellcrank.model.constraints.constraint import BetweenFrames, ConstraintMethod, Effort
from bellcrank.model.joints import Side
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting

_SIDES = (
    must("a", SIDE, "First side: z of this frame counts."),
    must("b", SIDE, "Second side."),
)


@dataclass(frozen=True, eq=False)
class Parallel(BetweenFrames):
    """z of frame b stays along z of frame a."""

    kind = "parallel"
    keys = Keys("z of two frames stay parallel.", *_SIDES)

    def position_efforts(self) -> Sequence[Effort]:
        return (Effort("torque_1", "N m"), Effort("torque_2", "N m"))

    def positions(self, act: Acting) -> Sequence[Scalar]:
        A, B, _ = act.ends(self.a, self.b)
        return dot(A.axis(0), B.axis(2)), dot(A.axis(1), B.axis(2))


@dataclass(frozen=True, eq=False)
class Perpendicular(BetweenFrames):
    """z of frame b stays perpendicular to z of frame a."""

    kind = "perpendicular"
    keys = Keys("z of two frames stay perpendicular.", *_SIDES)

    def position_efforts(self) -> Sequence[Effort]:
        return (Effort("effort", "N m"),)

    def positions(self, act: Acting) -> Sequence[Scalar]:
        A, B, _ = act.ends(self.a, self.b)
        return (dot(A.axis(2), B.axis(2)),)


@dataclass(frozen=True, eq=False)
class ConstantVelocity(BetweenFrames):
    """Two shafts, along z of their frames, turn by the same angle whatever the angle between them.

    The rotation from a to b is one about an axis perpendicular to both shafts: its matrix C has C_xy = C_yx.
    """

    kind = "constant_velocity"
    keys = Keys("Two shafts along z turn at the same speed, whatever the angle between them.", *_SIDES)

    def position_efforts(self) -> Sequence[Effort]:
        return (Effort("effort", "N m"),)

    def positions(self, act: Acting) -> Sequence[Scalar]:
        A, B, _ = act.ends(self.a, self.b)
        return (dot(A.axis(0), B.axis(1)) - dot(A.axis(1), B.axis(0)),)


class DirectionMethods(ConstraintMethod):
    """Makes constraints between directions."""

    def parallel(self, name: str, a: Side, b: Side) -> Parallel:
        """Keep z of frame b along z of frame a, whatever their points do: two equations.

        a, b: Bodies or frames of them.
        """
        name, who = self._constraint_name(name)
        return self._add_constraint(Parallel(name, *self._two_frames(who, a, b)))

    def perpendicular(self, name: str, a: Side, b: Side) -> Perpendicular:
        """Keep z of frame b perpendicular to z of frame a, whatever their points do: one equation.

        a, b: Bodies or frames of them.
        """
        name, who = self._constraint_name(name)
        return self._add_constraint(Perpendicular(name, *self._two_frames(who, a, b)))

    def constant_velocity(self, name: str, a: Side, b: Side) -> ConstantVelocity:
        """Let two shafts along z of their frames turn at the same speed, whatever the angle between them.

        One equation between rotations: with a spherical joint between the shafts it is a constant velocity joint. Where
        the shafts are in line, x and y of the frames agree. a, b: Frames of the two shafts.
        """
        name, who = self._constraint_name(name)
        return self._add_constraint(ConstantVelocity(name, *self._two_frames(who, a, b)))
