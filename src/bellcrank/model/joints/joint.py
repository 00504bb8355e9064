"""What a joint is: a kind of joint answers for itself all that the package asks of it.

The convention of a kind is the transform from frame A to frame B, with z of both frames along the joint axis. A kind
says in its file: its coordinates and how a start pose reads in them, the chain of elementary joints that it is in the
tree, its equations where it closes a loop, its keys in model files, its picture, and the method that makes it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from bellcrank.base.keys import AXIS, LIMITS, SIDE, TRUTH_OR_NULL, VECTOR3, Keys, may, must
from bellcrank.errors import ModelError, unknown_name
from bellcrank.math.arrays import (
    Array,
    as_mat,
    rotation_about_z,
    rotation_of_quaternion,
    rotation_with_z_along,
    tidy,
)
from bellcrank.math.tuples import UNIT, Mat, Vec, add, dot, is_zero, matmul, numeric, sub, times
from bellcrank.model import checks
from bellcrank.model.bodies import Body
from bellcrank.model.frames import Frame
from bellcrank.model.joints.elementary import Elementary
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.mechanics.constraints import Equation, Pair, Seen

Side: TypeAlias = Body | Frame | str
Step: TypeAlias = "tuple[Elementary, tuple[str, ...]] | Mat"
"""An elementary joint with the names of its coordinates, or a constant rotation between two of them."""

QUATERNION = ("quaternion_w", "quaternion_x", "quaternion_y", "quaternion_z")
TURNING = ("angular_velocity_x", "angular_velocity_y", "angular_velocity_z")
SHIFTS = {"displacement": 2, "x": 0, "y": 1, "z": 2}
"""Coordinates that are lengths, by the axis of frame A along which they are measured; all others are angles."""
AXES = "xyz"
SAME_AXIS = 1e-9
"""Two axes with components this close are one: then the rotation coordinate compares the bodies' axes."""
ROUNDING = 64.0 * float(np.finfo(float).eps)
"""Of a coordinate in the start pose, over 1 rad or the places that it comes from: a product of four rotations and a sum
of four places round by some ten units in the last place."""

PLACED = (
    must("a", SIDE, "First side: a body, or a point or frame of one."),
    must("b", SIDE, "Second side."),
    may("at", VECTOR3, "World point of the joint in the start pose [m]; plain numbers."),
    may(
        "cut",
        TRUTH_OR_NULL,
        "true closes a loop here, false keeps the joint in the tree, null leaves the choice to the analysis.",
    ),
)
"""Keys of a joint that is placed by a point."""
LIMITED = may(
    "limits",
    LIMITS,
    "Of its coordinate, a list of low and high (null for none) or a mapping; of several, a mapping of these by name.",
)
"""The key of a joint whose coordinates may have limits."""
ALONG = may("axis", AXIS, "Joint axis in the start pose: x, y, z or a world vector.")


class Zero(StrEnum):
    """Where the coordinates of joints are zero."""

    AXES = "axes"
    """Where the two frames of the joint coincide; those of angles are along the axes of the bodies where these share
    the axis of the joint."""
    DESCRIBED = "described"
    """In the described pose, whatever the joint is made of."""


class Place(StrEnum):
    """What a joint built from bodies needs to know about its place."""

    REQUIRED = "required"
    """at= must be given."""
    ANYWHERE = "anywhere"
    """Only directions count; the origin of the moving body is taken where at= is missing."""
    BODY = "body"
    """The frames are the bodies' own; at= moves only the point of B whose position is the coordinate."""


class Plane(StrEnum):
    """What a joint says of the plane that a mechanism moves in."""

    NORMAL = "normal"
    """Its axis is the normal of the plane."""
    ALONG = "along"
    """Its axis lies in the plane."""
    ANY = "any"
    """Nothing."""
    NONE = "none"
    """With it motion is spatial."""


class Mark(StrEnum):
    """What the picture of a joint is made of."""

    PIN = "pin"
    """A cylinder along the axis."""
    BALL = "ball"
    """A ball at the point of B."""
    ROD = "rod"
    """A line between the points of both frames."""
    SUPPORT = "support"
    """A bearing where one side is the ground."""
    GUIDE = "guide"
    """A rail along the axis where one side is the ground."""


@dataclass(frozen=True)
class JointQuantity:
    """A quantity of a joint besides its coordinates, force and torque.

    value: Of the direction from A to B in world axes, their distance [m], its rate [m/s] and the force on B [N] in
    world axes. unit: Of the value. reaction: Whether it needs the force.
    """

    value: Callable[[Vec, Scalar, Scalar, Callable[[], Vec]], Scalar]
    unit: str
    reaction: bool = False


@dataclass(frozen=True, eq=False)
class Displaced:
    """The transform T(shift) left Z right from frame A to frame B, Z being the one where all coordinates are zero."""

    shift: Vec
    left: Array
    right: Array


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint from frame `a` to frame `b`.

    cut: True closes a loop here, False keeps the joint in the tree, None leaves the choice to the analysis.

    Each kind is a class of its own. kind: Its name. keys: Its keys in model files. measures: Names of angles between
    its frames that are no coordinates. coordinates: Names of the position coordinates (a quaternion has four). speeds:
    Names of the speeds, one for each degree of freedom. place, has_axis: What it is drawn from. coincident,
    perpendicular, offsets: Its equations where it closes a loop, by the primitives of
    :mod:`bellcrank.mechanics.constraints`: whether the points of A and B coincide, which axes of A and B are
    perpendicular, along which axes of A the point of B has no offset. marks: Its picture. plane: What it says of plane
    motion. slider: Whether a body on it looks like a sliding block. cut_first: Whether it is cut rather than others
    with as many equations. in_tree: Whether it can carry a body in the tree.
    """

    kind: ClassVar[str]
    keys: ClassVar[Keys]
    measures: ClassVar[tuple[str, ...]] = ()
    coordinates: ClassVar[tuple[str, ...]] = ()
    speeds: ClassVar[tuple[str, ...]] = ()
    place: ClassVar[Place] = Place.REQUIRED
    has_axis: ClassVar[bool] = True
    coincident: ClassVar[bool] = False
    perpendicular: ClassVar[tuple[tuple[int, int], ...]] = ()
    offsets: ClassVar[tuple[int, ...]] = ()
    marks: ClassVar[tuple[Mark, ...]] = (Mark.SUPPORT,)
    plane: ClassVar[Plane] = Plane.NONE
    slider: ClassVar[bool] = False
    cut_first: ClassVar[bool] = False
    in_tree: ClassVar[bool] = True

    name: str
    a: Frame
    b: Frame
    cut: bool | None = None

    @property
    def scalar_coordinates(self) -> tuple[str, ...]:
        """The coordinates that can be driven, coupled and loaded: all but quaternions."""
        return tuple(c for c in self.coordinates if c not in QUATERNION)

    @property
    def has_quaternion(self) -> bool:
        """Whether its rotation is a quaternion."""
        return QUATERNION[0] in self.coordinates

    @property
    def drives(self) -> bool:
        """Whether it asks for motion where it closes a loop, so that it is no lock."""
        return False

    @property
    def dof(self) -> int:
        """Degrees of freedom left by the joint."""
        return len(self.speeds)

    @property
    def constraints(self) -> int:
        """Equations the joint imposes where it closes a loop."""
        return 6 - self.dof

    def coordinate(self, name: str | None = None) -> str:
        """The coordinate called `name`, or the only one there is."""
        known = self.scalar_coordinates
        who = f"{self.kind} joint {self.name!r}"
        if name is None:
            if len(known) == 1:
                return known[0]
            if not known:
                raise ModelError(f"{who} has no coordinate that could be used; it has {self._described()}")
            raise ModelError(f"{who} has several coordinates; name one with coordinate=: {', '.join(known)}")
        if name in known:
            return name
        if name in self.coordinates:
            raise ModelError(
                f"coordinate {name!r} of {who} is part of a quaternion and has no rate of its own; "
                "drive a point of the body, or build the rotation from revolute joints"
            )
        if not known:
            raise ModelError(f"{who} has no coordinate {name!r}; it has {self._described()}")
        raise unknown_name(f"coordinate of {who}", name, known)

    def measure(self, name: str | None = None) -> str:
        """As :meth:`coordinate`, or one of the angles besides."""
        if name in self.measures:
            assert name is not None
            return name
        if self.measures and not self.scalar_coordinates:
            who = f"{self.kind} joint {self.name!r}"
            if name is None:
                raise ModelError(f"{who} has several angles; name one: {', '.join(self.measures)}")
            raise unknown_name(f"angle of {who}", name, self.measures)
        return self.coordinate(name)

    def _described(self) -> str:
        return "only a quaternion" if self.coordinates else "none at all"

    def start_keys(self) -> dict[str, int]:
        """What a start may say of it; 0 is a position or a pair with its rate, else so many numbers."""
        rates = {f"{name}_rate": 1 for name in self.scalar_coordinates}
        return dict.fromkeys(self.scalar_coordinates, 0) | rates

    def start_relation(self) -> tuple[Array, Array]:
        """Position [m] and rotation of frame B in the axes of frame A, in the start pose."""
        Ra = self.a.start_rotation()
        offset = self.b.start_position() - self.a.start_position()
        return np.asarray(Ra.T @ offset), np.asarray(Ra.T @ self.b.start_rotation())

    def start_coordinates(self) -> tuple[float, ...]:
        """The coordinates [m, rad] that fit the start pose best; loops need not close on them."""
        return self.start(*self.start_relation())

    def joined_relation(self) -> tuple[Array, Array]:
        """The relation that the joint makes of the start pose: frames that it holds together are together."""
        moved = self.displaced(dict(zip(self.coordinates, self.start_coordinates(), strict=True)))
        return np.array(moved.shift), np.asarray(moved.left @ self.between() @ moved.right)

    def start(self, p: Array, R: Array) -> tuple[float, ...]:
        """The coordinates that fit a relative position p and rotation R of B in A's axes best."""
        raise NotImplementedError

    def displaced(self, coordinates: Mapping[str, float]) -> Displaced:
        """What the coordinates do beyond the transform at zero."""
        shift = [0.0, 0.0, 0.0]
        for name in self.scalar_coordinates:
            if name in SHIFTS:
                shift[SHIFTS[name]] = coordinates[name]
        turn = np.eye(3)
        if self.has_quaternion:
            turn = rotation_of_quaternion(np.array([coordinates[name] for name in QUATERNION]))
        elif "angle" in coordinates:
            turn = rotation_about_z(coordinates["angle"])
        return Displaced((shift[0], shift[1], shift[2]), np.eye(3), turn)

    def counted_from_start(self) -> Joint:
        """The same joint with frames that make every coordinate zero in the start pose.

        With the motion T(shift) Rl (zero) Rr of the start pose the frame of A is turned by Rl and that of B back by Rr.
        One of the two points takes the shift: that of B along the axis of a turn, else that of A, so that the place of
        the same point of B is the coordinate. A point on a node of a flexible body stays there: between two nodes
        that lie apart the joint stays as it is.
        """
        if not self.coordinates:
            return self
        # A rotation matrix may be given to nine digits; then the second pass leaves only rounding.
        return self._counted()._counted()

    def _counted(self) -> Joint:
        start = self._start_without_rounding()
        if not any(start[name] for name in self.coordinates if name != QUATERNION[0]):
            return self
        moved = self.displaced(start)
        shift = moved.shift
        axes_a = _turned(self.a.rotation, moved.left)
        axes_b = _turned(self.b.rotation, moved.right.T)
        a, b = replace(self.a, rotation=axes_a), replace(self.b, rotation=axes_b)
        if is_zero(shift):
            return replace(self, a=a, b=b)
        rigid = [frame.body.member is None for frame in (self.a, self.b)]
        if not any(rigid):
            return self
        along = not self.has_quaternion and is_zero((shift[0], shift[1], 0.0))
        if rigid[1] and (along or not rigid[0]):
            b = replace(b, position=sub(self.b.position, times(axes_b, shift)))
        else:
            a = replace(a, position=add(self.a.position, times(self.a.rotation, shift)))
        return replace(self, a=a, b=b)

    def _start_without_rounding(self) -> dict[str, float]:
        """Coordinates in the start pose; what is rounding of zero is zero, so that no frame is made twice."""
        found = dict(zip(self.coordinates, self.start_coordinates(), strict=True))
        size = sum(
            float(np.abs(x).max())
            for frame in (self.a, self.b)
            for x in (checks.numeric(frame.position, frame.body.parameters), frame.body.position)
        )
        for name, x in found.items():
            if abs(x) <= ROUNDING * (size if name in SHIFTS else 1.0):
                found[name] = 0.0
        return found

    def chain(self) -> list[Step]:
        """The elementary joints between frame a and frame b; matrices are constant rotations between."""
        raise NotImplementedError

    def labels(self) -> list[str]:
        """Its equations in words where it closes a loop."""
        found = [f"{c} of the point" for c in AXES] if self.coincident else []
        found += [f"axes {AXES[i]}, {AXES[j]} perpendicular" for i, j in self.perpendicular]
        return found + [f"offset along {AXES[i]}" for i in self.offsets]

    def equations(self, pair: Pair, t: Scalar) -> list[Equation]:
        """Its equations where it closes a loop (Table 1 of Ahn and Lee 1994)."""
        found = pair.sphr() if self.coincident else []
        found += [pair.dot1(i, j) for i, j in self.perpendicular]
        return found + [pair.dot2(i) for i in self.offsets]

    def gammas(self, pair: Pair, t: Scalar) -> list[Scalar]:
        """The right-hand sides of their acceleration equations."""
        found = pair.sphr_gamma() if self.coincident else []
        found += [pair.dot1_gamma(i, j) for i, j in self.perpendicular]
        return found + [pair.dot2_gamma(i) for i in self.offsets]

    def turns_with_b(self, coordinate: str) -> bool:
        """Whether the axis of an angle is fixed in B; in A otherwise."""
        return False

    def turn(self, A: Seen, B: Seen, coordinate: str) -> tuple[Vec, Scalar, Scalar]:
        """Axis, cosine and sine of an angle between the two frames."""
        return A.axis(2), dot(A.axis(0), B.axis(0)), dot(A.axis(1), B.axis(0))

    def quantities(self) -> dict[str, JointQuantity]:
        """Its quantities besides coordinates, force and torque."""
        return {}

    @classmethod
    def axes(cls, who: str, Ra: Array, Rb: Array, axis: Any, axis_b: Any) -> tuple[Mat, Mat]:
        """Rotations of the frames in both bodies, from the axis in the start pose and the bodies' rotations there."""
        if not cls.has_axis:
            return UNIT, UNIT
        z = checks.axis(f"axis of {who}", "z" if axis is None else axis, FROM_AXES)
        in_a, in_b = tidy(Ra.T @ z), tidy(Rb.T @ z)
        local = rotation_with_z_along(in_a)
        compared = np.abs(in_a - in_b).max() <= SAME_AXIS and cls.compares_axes()
        if compared or bool((Ra == Rb).all()):
            return as_mat(local), as_mat(local)
        return as_mat(local), as_mat(tidy(Rb.T @ Ra @ local))

    @classmethod
    def compares_axes(cls) -> bool:
        """Whether its angle compares the axes of the bodies where the joint axis is the same in both."""
        return True

    @classmethod
    def between(cls) -> Array:
        """Rotation from frame A to frame B where all coordinates are zero."""
        return np.eye(3)

    def settled(self) -> Joint:
        """The joint with what follows from its start pose, where it was drawn from bodies."""
        return self


def _turned(axes: Mat, R: Array) -> Mat:
    """Axes of a frame after a turn in them."""
    if bool((np.eye(3) == R).all()):
        return axes
    turned = matmul(axes, as_mat(R))
    return as_mat(tidy(np.array(turned))) if numeric(*(x for row in turned for x in row)) else turned


FROM_AXES = "an axis in the start pose is made of plain numbers; use frames of both bodies instead"


def angle_about_z(R: Array) -> float:
    """The angle of a rotation about z: the best fit where z of the two frames do not coincide."""
    return math.atan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])
