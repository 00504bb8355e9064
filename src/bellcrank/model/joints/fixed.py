"""The fixed joint: B stands still in A."""

from __future__ import annotations

from typing import Any

from bellcrank.base.keys import Keys
from bellcrank.math.arrays import Array, as_mat, tidy
from bellcrank.math.tuples import UNIT, Mat
from bellcrank.model.joints.joint import PLACED, Joint, Place, Plane, Side, Step
from bellcrank.model.joints.making import JointMethod


class Fixed(Joint):
    """A weld."""

    kind = "fixed"
    keys = Keys("Welds two bodies together.", *PLACED)
    place = Place.ANYWHERE
    has_axis = False
    coincident = True
    perpendicular = ((0, 1), (1, 2), (2, 0))
    plane = Plane.ANY
    marks = ()

    def start(self, p: Array, R: Array) -> tuple[float, ...]:
        return ()

    def chain(self) -> list[Step]:
        return []

    @classmethod
    def axes(cls, who: str, Ra: Array, Rb: Array, axis: Any, axis_b: Any) -> tuple[Mat, Mat]:
        return UNIT, as_mat(tidy(Rb.T @ Ra))


class FixedMethod(JointMethod):
    """Makes fixed joints."""

    def fixed(self, name: str, a: Side, b: Side, at: Any = None, cut: bool | None = None) -> Fixed:
        """Weld two bodies together.

        a, b: Bodies, their names, or points or frames of them. Frames with axes of their own are made to coincide;
        bodies, points and nodes keep the relative rotation of the start pose. at: World point [m] of the reactions, in
        the start pose.
        cut: True closes a loop here, False keeps the joint in the tree, None lets the analysis choose.
        """
        return self._add_joint(Fixed, name, a, b, at, cut=cut)
