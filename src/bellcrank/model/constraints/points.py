"""A point of one body on a line, plane or surface of another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bellcrank.base.keys import FUNCTION, SIDE, Keys, must
from bellcrank.math.tuples import Vec, dot, sub
from bellcrank.model.constraints.constraint import BetweenFrames, ConstraintMethod, Effort
from bellcrank.model.frames import Frame
from bellcrank.model.functions import user_function
from bellcrank.model.joints import Side
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.forces import Acting

PLACE = ("x", "y", "z")
_POINT = must("b", SIDE, "The point.")


def place_in(act: Acting, a: Frame, b: Frame) -> Vec:
    """The point of b in the axes of frame a [m]."""
    A, B, _ = act.ends(a, b)
    d = sub(B.point, A.point)
    return dot(A.axis(0), d), dot(A.axis(1), d), dot(A.axis(2), d)


@dataclass(frozen=True, eq=False)
class PointOnLine(BetweenFrames):
    """On the z axis of frame a."""

    kind = "point_on_line"
    keys = Keys("A point on a line.", must("a", SIDE, "The line is z of this frame."), _POINT)

    def position_efforts(self) -> Sequence[Effort]:
        return (Effort("force_1", "N"), Effort("force_2", "N"))

    def positions(self, act: Acting) -> Sequence[Scalar]:
        return place_in(act, self.a, self.b)[:2]


@dataclass(frozen=True, eq=False)
class PointOnPlane(BetweenFrames):
    """On the plane z = 0 of frame a."""

    kind = "point_on_plane"
    keys = Keys("A point on a plane.", must("a", SIDE, "z of this frame is the normal of the plane."), _POINT)

    def position_efforts(self) -> Sequence[Effort]:
        return (Effort("normal_force", "N"),)

    def positions(self, act: Acting) -> Sequence[Scalar]:
        return (place_in(act, self.a, self.b)[2],)


@dataclass(frozen=True, eq=False)
class PointOnSurface(BetweenFrames):
    """On the surface of frame a where `surface` is zero."""

    kind = "point_on_surface"
    keys = Keys(
        "A point on a surface.",
        must("a", SIDE, "Frame of the surface."),
        _POINT,
        must("surface", FUNCTION, "Zero on the surface, of the place x, y, z [m] in frame a.", of=PLACE),
    )

    surface: Callable[..., Scalar]

    def position_efforts(self) -> Sequence[Effort]:
        return (Effort("effort", "J over the unit of the function"),)

    def positions(self, act: Acting) -> Sequence[Scalar]:
        return (act.kin.number(self.surface(*place_in(act, self.a, self.b))),)


class PointMethods(ConstraintMethod):
    """Makes constraints on points."""

    def point_on_line(self, name: str, a: Side, b: Side) -> PointOnLine:
        """Keep a point on a line: two equations.

        a: Body or frame; the line is its z axis. b: The point.
        """
        name, who = self._constraint_name(name)
        return self._add_constraint(PointOnLine(name, *self._two_frames(who, a, b)))

    def point_on_plane(self, name: str, a: Side, b: Side) -> PointOnPlane:
        """Keep a point on a plane: one equation.

        a: Body or frame; z is the normal of the plane through its origin. b: The point.
        """
        name, who = self._constraint_name(name)
        return self._add_constraint(PointOnPlane(name, *self._two_frames(who, a, b)))

    def point_on_surface(self, name: str, a: Side, b: Side, surface: Callable[..., Any]) -> PointOnSurface:
        """Keep a point on a curved surface: one equation.

        a: Body or frame of the surface. b: The point. surface: Function of x, y, z [m] in frame a that is zero on the
        surface, smooth and not flat across it, such as ``lambda x, y, z: z - 0.1 * np.sin(x)``.
        """
        name, who = self._constraint_name(name)
        frames = self._two_frames(who, a, b)
        law = user_function(f"surface of {who}", surface, PLACE, self.parameters)
        return self._add_constraint(PointOnSurface(name, *frames, law))
