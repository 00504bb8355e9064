"""Constraints beside joints: one file a kind, with all that the package needs of it.

A new kind is a file here, and a line each in :class:`ConstraintMethods` and :data:`KINDS`.
"""

from bellcrank.model.constraints.constraint import Constraint, Effort, Unknown
from bellcrank.model.constraints.curves import CurveMethods, CurveOnCurve, PointOnCurve, SplineCurve
from bellcrank.model.constraints.directions import ConstantVelocity, DirectionMethods, Parallel, Perpendicular
from bellcrank.model.constraints.knife_edge import KnifeEdge, KnifeEdgeMethod
from bellcrank.model.constraints.own import Own, OwnMethod
from bellcrank.model.constraints.points import PointMethods, PointOnLine, PointOnPlane, PointOnSurface
from bellcrank.model.constraints.rolling import Rolling, RollingMethod
from bellcrank.model.constraints.transmission import Transmission, TransmissionMethod


class ConstraintMethods(
    OwnMethod,
    RollingMethod,
    KnifeEdgeMethod,
    PointMethods,
    CurveMethods,
    DirectionMethods,
    TransmissionMethod,
):
    """Constraints. Where a frame is asked for, a body stands for its own."""


KINDS: tuple[type[Constraint], ...] = (
    *(Own, Rolling, KnifeEdge, PointOnLine, PointOnPlane, PointOnSurface, PointOnCurve, CurveOnCurve),
    *(Parallel, Perpendicular, ConstantVelocity, Transmission),
)
"""All kinds of constraints, in the order of pages and schemas."""

__all__ = ["KINDS", "Constraint", "ConstraintMethods", "Effort", "Own", "SplineCurve", "Unknown"]
