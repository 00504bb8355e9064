"""The methods of a system that make forces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bellcrank.errors import ModelError
from bellcrank.math.arrays import as_vec
from bellcrank.model import checks
from bellcrank.model.forces import (
    AppliedForce,
    AppliedTorque,
    Axes,
    Bushing,
    Force,
    GroundSpring,
    JointForce,
    LineForce,
    Six,
    Spring,
    TorsionSpring,
)
from bellcrank.model.frames import Frame
from bellcrank.model.functions import UserFunction, user_function
from bellcrank.model.joints import Joint, Side
from bellcrank.model.registry import Registry
from bellcrank.program.trace import Expr, Scalar

F = TypeVar(
    "F", LineForce, Spring, JointForce, TorsionSpring, Bushing, AppliedForce, AppliedTorque, GroundSpring
)
POINT_ARGUMENTS = ("t", "position", "velocity", "rotation", "angular_velocity")


class ForceMethods(Registry):
    """Forces. Where a point is asked for, a body stands for its own origin."""

    def spring(
        self,
        name: str,
        a: Side,
        b: Side,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        free_length: Any = None,
    ) -> Spring:
        """A spring and damper between two points: stiffness [N/m], damping [N s/m], free_length [m].

        a, b: Points of two bodies; a body stands for its origin.
        """
        name, who = self._force_name(name)
        if free_length is None:
            if isinstance(stiffness, Expr) or stiffness != 0.0:
                raise ModelError(f"{who} has a stiffness but no length at rest; give free_length=")
            free_length = 0.0
        frame_a, frame_b = self._two_points(who, a, b)
        number = self._numbers(who)
        length = checks.at_least_zero(f"free_length of {who}", free_length, self.parameters)
        k, c = number("stiffness", stiffness), number("damping", damping)
        return self._add_force(Spring(name, frame_a, frame_b, k, c, length))

    def force(
        self,
        name: str,
        a: Side,
        b: Side,
        function: Callable[..., Any],
        energy: Callable[..., Any] | None = None,
    ) -> LineForce:
        """A force along the line between two points: function(length, rate, t) [N] pushes them apart.

        a, b: Points of two bodies. function: Of any of length [m], rate [m/s] and t [s], on NumPy's functions.
        energy: Potential energy [J] of length [m], for the energy balance, where there is one.
        """
        name, who = self._force_name(name)
        frame_a, frame_b = self._two_points(who, a, b)
        law = user_function(who, function, ("length", "rate", "t"), self.parameters)
        stored = None
        if energy is not None:
            stored = user_function(f"the energy of {who}", energy, ("length",), self.parameters)
        return self._add_force(LineForce(name, frame_a, frame_b, law, stored))

    def torsion_spring(
        self,
        name: str,
        joint: Joint | str,
        stiffness: Any = 0.0,
        damping: Any = 0.0,
        free_angle: Any = 0.0,
        coordinate: str | None = None,
    ) -> TorsionSpring:
        """A spring and damper on a joint coordinate: stiffness [N m/rad], damping [N m s/rad], free_angle [rad].

        On a displacement the units are N/m, N s/m and m. coordinate: Which one, where the joint has several.
        """
        name, who = self._force_name(name)
        found = self._joint(who, joint)
        number = self._numbers(who)
        k, c = number("stiffness", stiffness), number("damping", damping)
        rest = number("free_angle", free_angle)
        return self._add_force(TorsionSpring(name, found, found.coordinate(coordinate), k, c, rest))

    def joint_force(
        self, name: str, joint: Joint | str, function: Callable[..., Any], coordinate: str | None = None
    ) -> JointForce:
        """function(coordinate, rate, t): Force [N] or torque [N m] on the joint's second body, opposite on
        its first, along a coordinate [m or rad], at its rate [m/s or rad/s], at time t [s].

        coordinate: Which one, where the joint has several.
        """
        name, who = self._force_name(name)
        found = self._joint(who, joint)
        law = user_function(who, function, ("coordinate", "rate", "t"), self.parameters)
        return self._add_force(JointForce(name, found, found.coordinate(coordinate), law))

    def bushing(self, name: str, a: Side, b: Side, stiffness: Any, damping: Any = (0.0,) * 6) -> Bushing:
        """Six springs and dampers between two frames `a` and `b`, along and about the axes of `a`.

        stiffness: 3 [N/m] and 3 [N m/rad]. damping: 3 [N s/m] and 3 [N m s/rad].
        """
        name, who = self._force_name(name)
        frame_a, frame_b = self._frame(who, a), self._frame(who, b)
        self._two_bodies(who, frame_a, frame_b)
        k, c = self._six(f"stiffness of {who}", stiffness), self._six(f"damping of {who}", damping)
        return self._add_force(Bushing(name, frame_a, frame_b, k, c))

    def applied_force(
        self, name: str, frame: Side, function: Any, axes: str | Axes = "world"
    ) -> AppliedForce:
        """A force [N] at a point: a function that returns three numbers, or three constant numbers.

        frame: The point. function: Of any of t [s], position [m], velocity [m/s] and angular_velocity [rad/s], all (3,)
        in world axes, and rotation (3, 3), from body to world. axes: Of the force, "world" or "body".
        """
        name, who = self._force_name(name)
        found, law, told = self._applied(who, frame, function, axes)
        return self._add_force(AppliedForce(name, found, law, told))

    def applied_torque(
        self, name: str, frame: Side, function: Any, axes: str | Axes = "world"
    ) -> AppliedTorque:
        """A torque [N m] on a body; frame, function and axes as for :meth:`applied_force`."""
        name, who = self._force_name(name)
        found, law, told = self._applied(who, frame, function, axes)
        return self._add_force(AppliedTorque(name, found, law, told))

    def ground_spring(
        self,
        name: str,
        frame: Side,
        axis: Any,
        radius: Any,
        stiffness: Any,
        damping: Any = 0.0,
        longitudinal: Any = 0.0,
        lateral: Any = 0.0,
        reference_load: Any = 1.0,
        road: Callable[..., Any] | None = None,
    ) -> GroundSpring:
        """A wheel on a road; see :class:`~bellcrank.model.forces.GroundSpring` for the law.

        frame: The wheel centre. axis: Spin axis in body axes ("x", "y", "z" or a vector). radius: [m]. stiffness:
        [N/m]. damping: [N s/m]. longitudinal, lateral: Slip forces over slip speed at the reference load [N s/m].
        reference_load: [N]. road(x, y, t): Height [m] at a place [m] and time [s]; flat ground at 0 where missing.
        """
        name, who = self._force_name(name)
        found = self._frame(who, frame)
        why = "the spin axis is made of plain numbers"
        law = None
        if road is not None:
            law = user_function(f"the road of {who}", road, ("x", "y", "t"), self.parameters)
        number = self._numbers(who)
        return self._add_force(
            GroundSpring(
                name,
                found,
                as_vec(checks.axis(f"axis of {who}", axis, why)),
                checks.positive(f"radius of {who}", radius, self.parameters),
                number("stiffness", stiffness),
                number("damping", damping),
                number("longitudinal", longitudinal),
                number("lateral", lateral),
                checks.positive(f"reference_load of {who}", reference_load, self.parameters),
                law,
            )
        )

    def _force_name(self, name: Any) -> tuple[str, str]:
        checked = self._new_name("force", name)
        return checked, f"force {checked!r}"

    def _add_force(self, force: F) -> F:
        stored: Force = force
        self.forces[force.name] = stored
        return force

    def _numbers(self, who: str) -> Callable[[str, Any], Scalar]:
        return lambda what, given: checks.number(f"{what} of {who}", given, self.parameters)

    def _six(self, what: str, given: Any) -> Six:
        items = checks.sequence(what, given, 6, "(kx, ky, kz, kxx, kyy, kzz)")
        a, b, c, d, e, f = (checks.number(what, x, self.parameters) for x in items)
        return (a, b, c, d, e, f)

    def _two_bodies(self, who: str, a: Frame, b: Frame) -> None:
        if a.body is b.body:
            raise ModelError(f"{who} acts from body {a.body.name!r} on itself; give it two different bodies")

    def _two_points(self, who: str, a: Any, b: Any) -> tuple[Frame, Frame]:
        frame_a, frame_b = self._frame(who, a), self._frame(who, b)
        self._two_bodies(who, frame_a, frame_b)
        return frame_a, frame_b

    def _applied(
        self, who: str, frame: Any, function: Any, axes: str | Axes
    ) -> tuple[Frame, UserFunction, Axes]:
        found = self._frame(who, frame)
        if found.body.is_ground:
            raise ModelError(f"{who} acts on the ground, which never moves; give it a point of a body")
        told = Axes(checks.choice(f"axes for {who}", axes, [a.value for a in Axes]))
        if not callable(function) and hasattr(function, "__len__"):
            constant = checks.vector(f"components of {who}", function, self.parameters)
            function = lambda: constant  # noqa: E731
        return found, user_function(who, function, POINT_ARGUMENTS, self.parameters, count=3), told
