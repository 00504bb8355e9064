"""Constraints beside joints: one file a kind, with all that the package needs of it.

A new kind is a file here, and a line each in :class:`ConstraintMethods` and :data:`KINDS`.
"""

from bellcrank.model.constraints.constraint import Constraint, Effort
from bellcrank.model.constraints.knife_edge import KnifeEdge, KnifeEdgeMethod
from bellcrank.model.constraints.own import Own, OwnMethod
from bellcrank.model.constraints.rolling import Rolling, RollingMethod


class ConstraintMethods(OwnMethod, RollingMethod, KnifeEdgeMethod):
    """Constraints. Where a frame is asked for, a body stands for its own."""


KINDS: tuple[type[Constraint], ...] = (Own, Rolling, KnifeEdge)
"""All kinds of constraints, in the order of pages and schemas."""

__all__ = ["KINDS", "Constraint", "ConstraintMethods", "Effort", "Own"]
