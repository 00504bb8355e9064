"""The methods of a system that make joints."""

from __future__ import annotations

from typing import Any, TypeAlias

from bellcrank.errors import ModelError
from bellcrank.model import checks
from bellcrank.model.bodies import Body
from bellcrank.model.frames import Frame
from bellcrank.model.joint_kinds import JointKind
from bellcrank.model.joints import Joint, make_joint
from bellcrank.model.registry import Registry

Side: TypeAlias = Body | Frame | str


class JointMethods(Registry):
    """Joints between `a` and `b`: bodies (or their names), or points and frames of bodies.

    From bodies, `at` is the joint's world point [m] and `axis` its world direction ("x", "y", "z" or a
    vector; "z" where missing), both in the start pose. From points the place is theirs and `axis` gives
    the direction; from frames with axes of their own, z of the frames is the joint axis. `cut=True` closes
    a loop at this joint, `cut=False` keeps it in the tree, None leaves the choice to the analysis.
    """

    def fixed(self, name: str, a: Side, b: Side, at: Any = None, cut: bool | None = None) -> Joint:
        """Weld two bodies together.

        a, b: Bodies, their names, or points or frames of them. at: World point at which reactions are told [m], in the
        start pose. cut: True closes a loop here, False keeps the joint in the tree, None lets the analysis choose.
        """
        return self._add_joint(name, JointKind.FIXED, a, b, at, cut=cut)

    def revolute(
        self, name: str, a: Side, b: Side, at: Any = None, axis: Any = None, cut: bool | None = None
    ) -> Joint:
        """A hinge: rotation `angle` [rad] about the axis.

        a, b: Bodies, their names, or points or frames of them. at: World point [m] and axis: world direction ("x", "y",
        "z" or a vector; "z" where missing), both in the start pose. cut: True closes a loop here, False keeps the joint
        in the tree, None lets the analysis choose.
        """
        return self._add_joint(name, JointKind.REVOLUTE, a, b, at, axis, cut=cut)

    def prismatic(
        self, name: str, a: Side, b: Side, at: Any = None, axis: Any = None, cut: bool | None = None
    ) -> Joint:
        """A slider: `displacement` [m] along the axis.

        a, b: Bodies, their names, or points or frames of them. at: World point [m], may be left out; axis: world
        direction ("x", "y", "z" or a vector; "z" where missing), both in the start pose. cut: True closes a loop here,
        False keeps the joint in the tree, None lets the analysis choose.
        """
        return self._add_joint(name, JointKind.PRISMATIC, a, b, at, axis, cut=cut)

    def cylindrical(
        self, name: str, a: Side, b: Side, at: Any = None, axis: Any = None, cut: bool | None = None
    ) -> Joint:
        """Rotation `angle` [rad] about the axis and `displacement` [m] along it.

        a, b, at, axis, cut: As for :meth:`revolute`.
        """
        return self._add_joint(name, JointKind.CYLINDRICAL, a, b, at, axis, cut=cut)

    def universal(
        self,
        name: str,
        a: Side,
        b: Side,
        at: Any = None,
        axis_a: Any = None,
        axis_b: Any = None,
        cut: bool | None = None,
    ) -> Joint:
        """A cardan joint: `angle_a` [rad] about axis_a (fixed in a), `angle_b` [rad] about axis_b (fixed in b).

        The two axes, world directions in the start pose, are perpendicular; both angles are zero there. at: World point
        [m]. a, b, cut: As for :meth:`revolute`.
        """
        return self._add_joint(name, JointKind.UNIVERSAL, a, b, at, axis_a, axis_b, cut=cut)

    def spherical(self, name: str, a: Side, b: Side, at: Any = None, cut: bool | None = None) -> Joint:
        """A ball joint; its coordinates are the quaternion (w, x, y, z) of B's axes in A's.

        at: World point in the start pose [m]. a, b, cut: As for :meth:`revolute`.
        """
        return self._add_joint(name, JointKind.SPHERICAL, a, b, at, cut=cut)

    def planar(
        self, name: str, a: Side, b: Side, at: Any = None, axis: Any = None, cut: bool | None = None
    ) -> Joint:
        """Motion `x` [m], `y` [m], `angle` [rad] in the plane normal to the axis.

        at: World point in the start pose [m], may be left out. a, b, axis, cut: As for :meth:`revolute`.
        """
        return self._add_joint(name, JointKind.PLANAR, a, b, at, axis, cut=cut)

    def screw(
        self,
        name: str,
        a: Side,
        b: Side,
        at: Any = None,
        axis: Any = None,
        pitch: Any = None,
        cut: bool | None = None,
    ) -> Joint:
        """Rotation `angle` [rad] about the axis with an advance of `pitch` [m/rad] along it.

        a, b, at, axis, cut: As for :meth:`revolute`.
        """
        who = f"screw joint {name!r}"
        if pitch is None:
            raise ModelError(f"{who} needs pitch=, the advance in metres per radian")
        pitch = checks.number(f"pitch of {who}", pitch, self.parameters)
        if self.parameters.value(pitch) == 0.0:
            raise ModelError(f"pitch of {who} is zero; give metres per radian, or use system.revolute")
        return self._add_joint(name, JointKind.SCREW, a, b, at, axis, cut=cut, pitch=pitch)

    def free(self, name: str, a: Side, b: Side, at: Any = None, cut: bool | None = None) -> Joint:
        """No connection at all: `b` floats; its coordinates are position [m] and quaternion (w, x, y, z) in a's axes.

        at: World point whose position is told [m], b's origin where missing. a, cut: As for :meth:`revolute`.
        """
        return self._add_joint(name, JointKind.FREE, a, b, at, cut=cut)

    def _add_joint(
        self,
        name: str,
        kind: JointKind,
        a: Side,
        b: Side,
        at: Any,
        axis: Any = None,
        axis_b: Any = None,
        *,
        cut: bool | None,
        pitch: Any = 0.0,
    ) -> Joint:
        name = self._new_name("joint", name)
        who = f"{kind} joint {name!r}"
        side_a, side_b = self._body_or_frame(who, a), self._body_or_frame(who, b)
        joint = make_joint(name, kind, side_a, side_b, at, axis, axis_b, cut, pitch)
        self.joints[name] = joint
        return joint
