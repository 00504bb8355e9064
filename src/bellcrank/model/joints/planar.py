"""The planar joint: Tx(x) Ty(y) Rz(angle), two slides and a hinge."""

from __future__ import annotations

from typing import Any

from bellcrank.base.keys import Keys
from bellcrank.math.arrays import Array
from bellcrank.math.tuples import Mat, transpose
from bellcrank.model.joints.joint import (
    ALONG,
    LIMITED,
    PLACED,
    Joint,
    Place,
    Plane,
    Side,
    Step,
    angle_about_z,
)
from bellcrank.model.joints.making import JointMethod
from bellcrank.model.joints.prismatic import SLIDE
from bellcrank.model.joints.revolute import HINGE

_X_TO_Z: Mat = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
_Y_TO_Z: Mat = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))


class Planar(Joint):
    """Two faces that slide on each other."""

    kind = "planar"
    keys = Keys("x [m], y [m] and angle [rad] in the plane normal to the axis.", *PLACED, ALONG, LIMITED)
    coordinates = speeds = ("x", "y", "angle")
    place = Place.ANYWHERE
    perpendicular = ((0, 2), (1, 2))
    offsets = (2,)
    plane = Plane.NORMAL

    def start(self, p: Array, R: Array) -> tuple[float, ...]:
        return (float(p[0]), float(p[1]), angle_about_z(R))

    def chain(self) -> list[Step]:
        x_axis: list[Step] = [_X_TO_Z, (SLIDE, ("x",)), transpose(_X_TO_Z)]
        y_axis: list[Step] = [_Y_TO_Z, (SLIDE, ("y",)), transpose(_Y_TO_Z)]
        return [*x_axis, *y_axis, (HINGE, ("angle",))]


class PlanarMethod(JointMethod):
    """Makes planar joints."""

    def planar(
        self,
        name: str,
        a: Side,
        b: Side,
        at: Any = None,
        axis: Any = None,
        cut: bool | None = None,
        limits: Any = None,
    ) -> Planar:
        """Motion `x` [m], `y` [m], `angle` [rad] in the plane normal to the axis.

        at: World point in the start pose [m], may be left out. a, b, axis, cut: As for :meth:`revolute`. limits: By
        coordinate, such as ``{"x": (-1, 1)}``.
        """
        return self._add_joint(Planar, name, a, b, at, axis, cut=cut, limits=limits)
