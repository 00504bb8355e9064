"""The universal joint: Rz(angle_a) Ry(+90 deg) Rz(angle_b), two hinges across each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.base.keys import AXIS, Keys, may
from bellcrank.errors import ModelError
from bellcrank.math.arrays import QUARTER_TURN_Y, Array, as_mat, rotation_about_z, tidy
from bellcrank.math.tuples import ZERO, Mat, Vec, dot
from bellcrank.model import checks
from bellcrank.model.joints.joint import (
    FROM_AXES,
    LIMITED,
    PLACED,
    SAME_AXIS,
    Displaced,
    Joint,
    Mark,
    Side,
    Step,
    angle_about_z,
)
from bellcrank.model.joints.making import JointMethod
from bellcrank.model.joints.revolute import HINGE
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.constraints import Seen

_Y_QUARTER: Mat = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))


class Universal(Joint):
    """A cardan joint."""

    kind = "universal"
    keys = Keys(
        "angle_a [rad] about axis_a, fixed in a; angle_b [rad] about axis_b, fixed in b.",
        *PLACED,
        may("axis_a", AXIS, "Axis fixed in a."),
        may("axis_b", AXIS, "Axis fixed in b, perpendicular to axis_a."),
        LIMITED,
    )
    coordinates = speeds = ("angle_a", "angle_b")
    coincident = True
    perpendicular = ((2, 2),)
    marks = (Mark.BALL, Mark.SUPPORT)

    def start(self, p: Array, R: Array) -> tuple[float, ...]:
        # z of B is (cos a, sin a, 0) in A; what remains is Rz(angle_b).
        a = math.atan2(R[1, 2], R[0, 2])
        return (a, angle_about_z(QUARTER_TURN_Y.T @ rotation_about_z(-a) @ R))

    def chain(self) -> list[Step]:
        return [(HINGE, ("angle_a",)), _Y_QUARTER, (HINGE, ("angle_b",))]

    def displaced(self, coordinates: Mapping[str, float]) -> Displaced:
        return Displaced(ZERO, *(rotation_about_z(coordinates[name]) for name in self.coordinates))

    def turns_with_b(self, coordinate: str) -> bool:
        return coordinate == "angle_b"

    def turn(self, A: Seen, B: Seen, coordinate: str) -> tuple[Vec, Scalar, Scalar]:
        if coordinate == "angle_a":
            return A.axis(2), dot(A.axis(0), B.axis(2)), dot(A.axis(1), B.axis(2))
        # At angle_b = 0 the axis of a lies along -x of b.
        return B.axis(2), -dot(B.axis(0), A.axis(2)), dot(B.axis(1), A.axis(2))

    @classmethod
    def axes(cls, who: str, Ra: Array, Rb: Array, axis: Any, axis_b: Any) -> tuple[Mat, Mat]:
        if axis is None or axis_b is None:
            raise ModelError(
                f"{who} needs axis_a= (fixed in the first body) and axis_b= (fixed in the second)"
            )
        z = checks.axis(f"axis_a of {who}", axis, FROM_AXES)
        x = checks.axis(f"axis_b of {who}", axis_b, FROM_AXES)
        if abs(float(z @ x)) > SAME_AXIS:
            raise ModelError(
                f"axis_a and axis_b of {who} are {np.degrees(np.arccos(z @ x)):.6g} degrees apart; "
                "they must be perpendicular in the start pose"
            )
        world = tidy(np.column_stack([x, np.cross(z, x), z]))
        return as_mat(tidy(Ra.T @ world)), as_mat(tidy(Rb.T @ world @ QUARTER_TURN_Y))

    @classmethod
    def between(cls) -> Array:
        return QUARTER_TURN_Y


class UniversalMethod(JointMethod):
    """Makes universal joints."""

    def universal(
        self,
        name: str,
        a: Side,
        b: Side,
        at: Any = None,
        axis_a: Any = None,
        axis_b: Any = None,
        cut: bool | None = None,
        limits: Any = None,
    ) -> Universal:
        """A cardan joint: `angle_a` [rad] about axis_a (fixed in a), `angle_b` [rad] about axis_b (fixed in b).

        The two axes, world directions in the start pose, are perpendicular; both angles are zero there. at: World point
        [m]. a, b, cut: As for :meth:`revolute`. limits: By coordinate, such as ``{"angle_a": (-1, 1)}``.
        """
        return self._add_joint(Universal, name, a, b, at, axis_a, axis_b, cut=cut, limits=limits)
