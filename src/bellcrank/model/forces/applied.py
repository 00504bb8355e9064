"""Forces and torques applied at a point, with nothing that takes their reaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import SIDE, VECTOR_FUNCTION, Keys, may, must, words
from bellcrank.errors import ModelError
from bellcrank.math.tuples import ZERO, Vec, dot, times, transposed_times, vec
from bellcrank.model import checks
from bellcrank.model.forces.element import XYZ, ForceElement, ForceMethod, ForceQuantity
from bellcrank.model.frames import Frame
from bellcrank.model.functions import UserFunction, user_function
from bellcrank.model.joints import Side
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting
    from bellcrank.mechanics.loads import Loads
    from bellcrank.quantities.snapshot import Snapshot

ARGUMENTS = ("t", "position", "velocity", "rotation", "angular_velocity")
POINT = (
    must("point", SIDE, "The point.", python="frame"),
    may("axes", words("world", "body"), "Axes of the components."),
)


class Axes(StrEnum):
    """The axes the components of an applied force or torque refer to."""

    WORLD = "world"
    BODY = "body"


@dataclass(frozen=True, eq=False)
class Applied(ForceElement):
    """Three components in world or body axes at a point, as a function.

    function takes, by name, any of t, position, velocity, rotation, angular_velocity (of the point and
    its body, in world axes).
    """

    name: str
    frame: Frame
    function: Callable[..., Vec]
    axes: Axes = Axes.WORLD

    @property
    def frames(self) -> tuple[Frame, ...]:
        return (self.frame,)

    def wrench(self, values: Vec) -> tuple[Vec, Vec]:
        """Force and moment for the components."""
        raise NotImplementedError

    def load(self, act: Acting, loads: Loads) -> None:
        link, place = act.place(self.frame)
        given = self.function(**act.point_arguments(self.function, self.frame))
        values = vec([act.kin.number(x) for x in given])
        if self.axes == Axes.BODY:
            local = times(act.body_axes(self.frame), values)
        else:
            local = transposed_times(act.kin.pose(link).R, values)
        loads.on_link(link, act.kin.vector(place), *self.wrench(local))

    def in_world(self, s: Snapshot) -> Vec:
        """The components in world axes."""
        given = self.function(**s.acting.point_arguments(self.function, self.frame))
        values = s.kin.vector(given)
        if self.axes == Axes.WORLD:
            return values
        seat = s.linkage.seat(self.frame)
        return times(s.kin.pose(seat.link).R, times(s.matrix(seat.r), values))


@dataclass(frozen=True, eq=False)
class AppliedForce(Applied):
    """A force [N] on a point: three components in world or body axes.

    function takes, by name, any of t, position, velocity, rotation, angular_velocity (of the point and
    its body, in world axes).
    """

    kind = "applied_force"
    keys = Keys(
        "A force on a point.",
        *POINT,
        must(
            "function",
            VECTOR_FUNCTION,
            "Components [N], of t [s], position.x [m], velocity.x [m/s], rotation.xy (row, column), "
            "angular_velocity.x [rad/s] and their kin, in world axes.",
            of=ARGUMENTS,
        ),
    )

    def wrench(self, values: Vec) -> tuple[Vec, Vec]:
        return values, ZERO

    def power(self, s: Snapshot) -> Scalar:
        return dot(self.in_world(s), s.point(self.frame).velocity())

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        return {"force": ForceQuantity(lambda: self.in_world(s), "N", XYZ)}


@dataclass(frozen=True, eq=False)
class AppliedTorque(Applied):
    """A torque [N m] on a body; arguments as for :class:`AppliedForce`."""

    kind = "applied_torque"
    keys = Keys(
        "A torque on a body.",
        *POINT,
        must(
            "function",
            VECTOR_FUNCTION,
            "Components [N m]; arguments as for an applied force.",
            of=ARGUMENTS,
        ),
    )

    @property
    def held_at(self) -> tuple[Frame, ...]:
        return ()

    def wrench(self, values: Vec) -> tuple[Vec, Vec]:
        return ZERO, values

    def power(self, s: Snapshot) -> Scalar:
        return dot(self.in_world(s), s.angular_velocity(self.frame.body.name))

    def quantities(self, s: Snapshot) -> dict[str, ForceQuantity]:
        return {"torque": ForceQuantity(lambda: self.in_world(s), "N m", XYZ)}


class AppliedMethod(ForceMethod):
    """Makes applied forces and torques."""

    def applied_force(
        self, name: str, frame: Side, function: Any, axes: str | Axes = "world"
    ) -> AppliedForce:
        """A force [N] at a point: a function that returns three numbers, or three constant numbers.

        frame: The point. function: Of any of t [s], position [m], velocity [m/s] and angular_velocity [rad/s], all (3,)
        in world axes, and rotation (3, 3), from body to world. axes: Of the force, "world" or "body".
        """
        name, who = self._force_name(name)
        return self._add_force(AppliedForce(name, *self._applied(who, frame, function, axes)))

    def applied_torque(
        self, name: str, frame: Side, function: Any, axes: str | Axes = "world"
    ) -> AppliedTorque:
        """A torque [N m] on a body; frame, function and axes as for :meth:`applied_force`."""
        name, who = self._force_name(name)
        return self._add_force(AppliedTorque(name, *self._applied(who, frame, function, axes)))

    def _applied(
        self, who: str, frame: Any, function: Any, axes: str | Axes
    ) -> tuple[Frame, UserFunction, Axes]:
        found = self._frame(who, frame)
        if found.body.is_ground:
            raise ModelError(f"{who} acts on the ground, which never moves; give it a point of a body")
        chosen = Axes(checks.choice(f"axes for {who}", axes, [a.value for a in Axes]))
        if not callable(function) and hasattr(function, "__len__"):
            constant = checks.vector(f"components of {who}", function, self.parameters)
            function = lambda: constant  # noqa: E731
        return found, user_function(who, function, ARGUMENTS, self.parameters, count=3), chosen
