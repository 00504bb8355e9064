"""The cylindrical joint: Rz(angle) Tz(displacement), a slide and a hinge on one axis."""

from __future__ import annotations

from typing import Any

from bellcrank.base.keys import Keys
from bellcrank.math.arrays import Array
from bellcrank.model.joints.joint import ALONG, LIMITED, PLACED, Joint, Mark, Side, Step, angle_about_z
from bellcrank.model.joints.making import JointMethod
from bellcrank.model.joints.prismatic import SLIDE
from bellcrank.model.joints.revolute import HINGE


class Cylindrical(Joint):
    """A sleeve on a shaft."""

    kind = "cylindrical"
    keys = Keys("angle [rad] about the axis and displacement [m] along it.", *PLACED, ALONG, LIMITED)
    coordinates = speeds = ("angle", "displacement")
    perpendicular = ((0, 2), (1, 2))
    offsets = (0, 1)
    marks = (Mark.PIN, Mark.GUIDE)

    def start(self, p: Array, R: Array) -> tuple[float, ...]:
        return (angle_about_z(R), float(p[2]))

    def chain(self) -> list[Step]:
        return [(SLIDE, ("displacement",)), (HINGE, ("angle",))]


class CylindricalMethod(JointMethod):
    """Makes cylindrical joints."""

    def cylindrical(
        self,
        name: str,
        a: Side,
        b: Side,
        at: Any = None,
        axis: Any = None,
        cut: bool | None = None,
        limits: Any = None,
    ) -> Cylindrical:
        """Rotation `angle` [rad] about the axis and `displacement` [m] along it.

        a, b, at, axis, cut: As for :meth:`revolute`. limits: By coordinate, such as ``{"angle": (-1, 1)}``.
        """
        return self._add_joint(Cylindrical, name, a, b, at, axis, cut=cut, limits=limits)
