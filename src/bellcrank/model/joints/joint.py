"""Joints between two bodies, and the frames they are drawn from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bellcrank.errors import ModelError, unknown_name
from bellcrank.math.arrays import QUARTER_TURN_Y, Array, as_mat, as_vec, rotation_with_z_along, tidy
from bellcrank.math.tuples import UNIT, ZERO, Mat, Vec
from bellcrank.model import checks
from bellcrank.model.bodies import Body
from bellcrank.model.frames import Frame
from bellcrank.model.joint_kinds import CONTRACTS, JointContract, JointKind, Place
from bellcrank.program.trace import Expr, Scalar

__all__ = ["SAME_AXIS", "Joint", "JointKind", "make_joint"]

SAME_AXIS = 1e-9
"""Two axes with components this close are one: then the rotation coordinate compares the bodies' axes."""


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint from frame `a` to frame `b`; conventions in :mod:`bellcrank.model.joint_kinds`.

    cut: True closes a loop here, False keeps the joint in the tree, None leaves the choice to the
    analysis. pitch: Advance of a screw [m/rad].
    """

    name: str
    kind: JointKind
    a: Frame
    b: Frame
    cut: bool | None = None
    pitch: Scalar = 0.0

    @property
    def contract(self) -> JointContract:
        """What this kind of joint is."""
        return CONTRACTS[self.kind]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The names of the position coordinates (a quaternion has four)."""
        return self.contract.coordinates

    @property
    def scalar_coordinates(self) -> tuple[str, ...]:
        """The coordinates that can be driven, coupled and loaded: all but quaternions."""
        return self.contract.scalar_coordinates

    @property
    def speeds(self) -> tuple[str, ...]:
        """The names of the speeds, one for each degree of freedom."""
        return self.contract.speeds

    @property
    def dof(self) -> int:
        """Degrees of freedom left by the joint."""
        return len(self.contract.speeds)

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

    def start_keys(self) -> dict[str, int]:
        """What a start may say of it; 0 is a position or a pair with its rate, else so many numbers."""
        if self.kind is JointKind.FREE:
            return {"position": 3, "quaternion": 4, "velocity": 3, "angular_velocity": 3}
        if self.kind is JointKind.SPHERICAL:
            return {"quaternion": 4, "angular_velocity": 3}
        return dict.fromkeys(self.scalar_coordinates, 0)

    def _described(self) -> str:
        return "only a quaternion" if self.coordinates else "none at all"

    def start_relation(self) -> tuple[Array, Array]:
        """Position [m] and rotation of frame B in the axes of frame A, in the start pose."""
        Ra = self.a.start_rotation()
        offset = self.b.start_position() - self.a.start_position()
        return np.asarray(Ra.T @ offset), np.asarray(Ra.T @ self.b.start_rotation())

    def start_coordinates(self) -> tuple[float, ...]:
        """The coordinates [m, rad] that fit the start pose best; loops need not close on them."""
        return self.contract.start(*self.start_relation())


def make_joint(
    name: str,
    kind: JointKind,
    a: Body | Frame,
    b: Body | Frame,
    at: Any = None,
    axis: Any = None,
    axis_b: Any = None,
    cut: bool | None = None,
    pitch: Any = 0.0,
) -> Joint:
    """A checked joint, from bodies or frames and the drawing in the start pose."""
    who = f"{kind} joint {name!r}"
    body_a, body_b = (x.body if isinstance(x, Frame) else x for x in (a, b))
    if body_a is body_b:
        raise ModelError(f"{who} joins body {body_a.name!r} to itself; give it two different bodies")
    if cut not in (None, True, False):
        raise ModelError(f"cut of {who} must be True, False or None (choose for me), not {cut!r}")
    point_a, point_b = _points(who, kind, a, b, at)
    axes_a, axes_b = _axes(who, kind, a, b, axis, axis_b)
    joint = Joint(name, kind, Frame(body_a, point_a, axes_a), Frame(body_b, point_b, axes_b), cut, pitch)
    if kind is JointKind.SCREW and not (isinstance(a, Frame) and isinstance(b, Frame)):
        return _advanced(joint)
    return joint


def _advanced(screw: Joint) -> Joint:
    """The screw with B's point moved along the axis, so that the start angle is met by its advance."""
    (angle,) = screw.start_coordinates()
    if angle == 0.0:
        return screw
    advance = screw.pitch * angle
    x, y, z = (p + row[2] * advance for p, row in zip(screw.b.position, screw.b.rotation, strict=True))
    return replace(screw, b=replace(screw.b, position=(x, y, z)))


def _points(who: str, kind: JointKind, a: Body | Frame, b: Body | Frame, at: Any) -> tuple[Vec, Vec]:
    """The joint's point in both bodies."""
    if at is not None and (isinstance(a, Frame) or isinstance(b, Frame)):
        raise ModelError(f"{who} is placed twice, by at= and by a frame; leave one of them out")
    if isinstance(a, Frame) and isinstance(b, Frame):
        return a.position, b.position
    if isinstance(a, Frame) or isinstance(b, Frame):
        given = a if isinstance(a, Frame) else b
        other = b if isinstance(a, Frame) else a
        assert isinstance(given, Frame)
        assert isinstance(other, Body)
        if any(isinstance(x, Expr) for x in given.position):
            raise ModelError(
                f"{who} has a point with parameters on body {given.body.name!r}, so its place on body "
                f"{other.name!r} is not known; give a point there too: {other.name}.point(...)"
            )
        found = ZERO if kind is JointKind.FREE else as_vec(other.local(given.start_position()))
        return (given.position, found) if given is a else (found, given.position)
    assert isinstance(a, Body)
    assert isinstance(b, Body)
    place = CONTRACTS[kind].place
    if at is None and place is Place.REQUIRED:
        raise ModelError(f"{who} needs its place: at=(x, y, z), in world axes in the start pose")
    if at is None:
        world = np.array(a.position if b.is_ground else b.position)
    else:
        why = "a point in the start pose is made of plain numbers; use points of both bodies instead"
        world = checks.plain_vector(f"at of {who}", at, why)
    if place is Place.BODY:
        return ZERO, (ZERO if at is None else as_vec(b.local(world)))
    return as_vec(a.local(world)), as_vec(b.local(world))


def _axes(
    who: str, kind: JointKind, a: Body | Frame, b: Body | Frame, axis: Any, axis_b: Any
) -> tuple[Mat, Mat]:
    """The rotations of the joint's frames in both bodies."""
    drawn = [x for x in (a, b) if isinstance(x, Frame) and x.has_own_axes]
    if axis is not None or axis_b is not None:
        if drawn:
            raise ModelError(
                f"{who} is turned twice, by an axis and by the axes of a frame on body "
                f"{drawn[0].body.name!r}; leave one of them out"
            )
    elif isinstance(a, Frame) and isinstance(b, Frame):
        return a.rotation, b.rotation
    elif drawn:
        return _axes_from_one(who, kind, a, b, drawn[0])
    body_a, body_b = (x.body if isinstance(x, Frame) else x for x in (a, b))
    Ra, Rb = body_a.start_rotation(), body_b.start_rotation()
    if kind is JointKind.FIXED:
        return UNIT, as_mat(tidy(Rb.T @ Ra))
    if not CONTRACTS[kind].has_axis:
        return UNIT, UNIT
    why = "an axis in the start pose is made of plain numbers; use frames of both bodies instead"
    if kind is JointKind.UNIVERSAL:
        return _universal_axes(who, Ra, Rb, axis, axis_b, why)
    z = checks.axis(f"axis of {who}", "z" if axis is None else axis, why)
    in_a, in_b = tidy(Ra.T @ z), tidy(Rb.T @ z)
    local = rotation_with_z_along(in_a)
    compared = np.abs(in_a - in_b).max() <= SAME_AXIS and kind is not JointKind.PRISMATIC
    if compared or bool((Ra == Rb).all()):
        return as_mat(local), as_mat(local)
    return as_mat(local), as_mat(tidy(Rb.T @ Ra @ local))


def _axes_from_one(
    who: str, kind: JointKind, a: Body | Frame, b: Body | Frame, given: Frame
) -> tuple[Mat, Mat]:
    other = b if given is a else a
    body = other.body if isinstance(other, Frame) else other
    if any(isinstance(x, Expr) for row in given.rotation for x in row):
        raise ModelError(
            f"{who} has axes with parameters on body {given.body.name!r}, so those on body {body.name!r} "
            f"are not known; give a frame there too: {body.name}.frame(...)"
        )
    world = given.start_rotation()
    if kind is JointKind.UNIVERSAL:
        world = world @ (QUARTER_TURN_Y if given is a else QUARTER_TURN_Y.T)
    found = as_mat(tidy(body.start_rotation().T @ world))
    return (given.rotation, found) if given is a else (found, given.rotation)


def _universal_axes(who: str, Ra: Array, Rb: Array, axis_a: Any, axis_b: Any, why: str) -> tuple[Mat, Mat]:
    if axis_a is None or axis_b is None:
        raise ModelError(f"{who} needs axis_a= (fixed in the first body) and axis_b= (fixed in the second)")
    z = checks.axis(f"axis_a of {who}", axis_a, why)
    x = checks.axis(f"axis_b of {who}", axis_b, why)
    if abs(float(z @ x)) > SAME_AXIS:
        raise ModelError(
            f"axis_a and axis_b of {who} are {np.degrees(np.arccos(z @ x)):.6g} degrees apart; "
            "they must be perpendicular in the start pose"
        )
    world = tidy(np.column_stack([x, np.cross(z, x), z]))
    return as_mat(tidy(Ra.T @ world)), as_mat(tidy(Rb.T @ world @ QUARTER_TURN_Y))
