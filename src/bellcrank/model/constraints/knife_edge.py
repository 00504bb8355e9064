"""The knife edge: a blade or sharp wheel whose point moves along its own direction only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import AXIS, SIDE, Keys, must
from bellcrank.math.tuples import Vec, add, dot, scale, sub
from bellcrank.model import checks
from bellcrank.model.constraints.constraint import BetweenFrames, ConstraintMethod, Effort
from bellcrank.model.constraints.rolling import material_velocity
from bellcrank.model.joints import Side
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting


@dataclass(frozen=True, eq=False)
class KnifeEdge(BetweenFrames):
    """The point b has no velocity against a along `axis`, a direction fixed in b's body."""

    kind = "knife_edge"
    keys = Keys(
        "A blade that does not slip sideways.",
        must("a", SIDE, "What it moves on."),
        must("b", SIDE, "Point of the blade."),
        must("axis", AXIS, "Direction across the blade, in the axes of its body."),
    )

    axis: Vec

    def velocity_efforts(self) -> Sequence[Effort]:
        return (Effort("lateral_force", "N"),)

    def velocities(self, act: Acting) -> Sequence[Scalar]:
        A, B, _ = act.ends(self.a, self.b)
        R = act.kin.pose(B.link).R
        x, y, z = (tuple(row[j] for row in R) for j in range(3))
        n = add(add(scale(self.axis[0], x), scale(self.axis[1], y)), scale(self.axis[2], z))  # type: ignore[arg-type]
        return (dot(n, sub(B.velocity(), material_velocity(act, A, B.point))),)


class KnifeEdgeMethod(ConstraintMethod):
    """Makes knife edges."""

    def knife_edge(self, name: str, a: Side, b: Side, axis: Any) -> KnifeEdge:
        """Let a point of a blade move along the blade only, as a skate on ice or a sharp wheel.

        a: What it moves on. b: Point of the blade. axis: Direction across the blade, in which it does not slip, in the
        axes of its body: "x", "y", "z" or a vector.
        """
        name, who = self._constraint_name(name)
        frames = self._two_frames(who, a, b)
        x, y, z = checks.axis(
            f"axis of {who}", axis, "a direction of a blade is made of plain numbers"
        ).tolist()
        return self._add_constraint(KnifeEdge(name, *frames, (x, y, z)))
