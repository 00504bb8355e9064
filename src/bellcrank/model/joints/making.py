"""Joints from bodies or frames and the drawing in the start pose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from bellcrank.errors import ModelError
from bellcrank.math.arrays import as_mat, as_vec, tidy
from bellcrank.math.tuples import ZERO, Mat, Vec
from bellcrank.model import checks
from bellcrank.model.bodies import Body
from bellcrank.model.frames import Frame
from bellcrank.model.joints.joint import Joint, Place, Side, Zero
from bellcrank.program.trace import Expr

if TYPE_CHECKING:
    from bellcrank.model.parameters import ParameterTable

_Kind = TypeVar("_Kind", bound=Joint)


def make_joint(
    kind: type[_Kind],
    name: str,
    a: Body | Frame,
    b: Body | Frame,
    at: Any = None,
    axis: Any = None,
    axis_b: Any = None,
    cut: bool | None = None,
    **more: Any,
) -> _Kind:
    """A checked joint, from bodies or frames and the drawing in the start pose; `more` are fields of its kind."""
    who = f"{kind.kind} joint {name!r}"
    body_a, body_b = (x.body if isinstance(x, Frame) else x for x in (a, b))
    if body_a is body_b:
        raise ModelError(f"{who} joins body {body_a.name!r} to itself; give it two different bodies")
    if cut not in (None, True, False):
        raise ModelError(f"cut of {who} must be True, False or None (choose for me), not {cut!r}")
    point_a, point_b = _points(who, kind, a, b, at)
    axes_a, axes_b = _axes(who, kind, a, b, axis, axis_b)
    joint = kind(name, Frame(body_a, point_a, axes_a), Frame(body_b, point_b, axes_b), cut, **more)
    return joint if isinstance(a, Frame) and isinstance(b, Frame) else cast(_Kind, joint.settled())


def _points(who: str, kind: type[Joint], a: Body | Frame, b: Body | Frame, at: Any) -> tuple[Vec, Vec]:
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
        found = ZERO if kind.place is Place.BODY else as_vec(other.local(given.start_position()))
        return (given.position, found) if given is a else (found, given.position)
    assert isinstance(a, Body)
    assert isinstance(b, Body)
    if at is None and kind.place is Place.REQUIRED:
        raise ModelError(f"{who} needs its place: at=(x, y, z), in world axes in the start pose")
    if at is None:
        world = np.array(a.position if b.is_ground else b.position)
    else:
        why = "a point in the start pose is made of plain numbers; use points of both bodies instead"
        world = checks.plain_vector(f"at of {who}", at, why)
    if kind.place is Place.BODY:
        return ZERO, (ZERO if at is None else as_vec(b.local(world)))
    return as_vec(a.local(world)), as_vec(b.local(world))


def _axes(
    who: str, kind: type[Joint], a: Body | Frame, b: Body | Frame, axis: Any, axis_b: Any
) -> tuple[Mat, Mat]:
    """The rotations of the joint's frames in both bodies."""
    said = axis is not None or axis_b is not None
    # A node has the axes of its section without being asked: what is said comes first.
    drawn = [x for x in (a, b) if isinstance(x, Frame) and x.has_own_axes and not (said and x.is_node)]
    if said:
        if drawn:
            raise ModelError(
                f"{who} is turned twice, by an axis and by the axes of a frame on body "
                f"{drawn[0].body.name!r}; leave one of them out"
            )
    elif isinstance(a, Frame) and isinstance(b, Frame) and (drawn or kind.has_axis):
        return a.rotation, b.rotation
    elif drawn:
        return _axes_from_one(who, kind, a, b, drawn[0])
    body_a, body_b = (x.body if isinstance(x, Frame) else x for x in (a, b))
    return kind.axes(who, body_a.start_rotation(), body_b.start_rotation(), axis, axis_b)


def _axes_from_one(
    who: str, kind: type[Joint], a: Body | Frame, b: Body | Frame, given: Frame
) -> tuple[Mat, Mat]:
    other = b if given is a else a
    body = other.body if isinstance(other, Frame) else other
    if any(isinstance(x, Expr) for row in given.rotation for x in row):
        raise ModelError(
            f"{who} has axes with parameters on body {given.body.name!r}, so those on body {body.name!r} "
            f"are not known; give a frame there too: {body.name}.frame(...)"
        )
    world = given.start_rotation()
    world = world @ (kind.between() if given is a else kind.between().T)
    found = as_mat(tidy(body.start_rotation().T @ world))
    return (given.rotation, found) if given is a else (found, given.rotation)


class JointMethod:
    """What the methods of a system that make joints stand on; see :class:`bellcrank.model.joints.JointMethods`."""

    parameters: ParameterTable
    joints: dict[str, Joint]
    _zero: Zero | None = None

    if TYPE_CHECKING:

        def _new_name(self, kind: str, name: Any) -> str: ...

        def _body_or_frame(self, who: str, given: Any) -> Body | Frame: ...

        def _limit(self, joint: Joint, given: Any) -> None: ...

    @property
    def zero(self) -> Zero:
        """Where the coordinates of its joints are zero."""
        return self._zero or Zero.AXES

    @property
    def zero_is_said(self) -> bool:
        """Whether the description says where coordinates are zero."""
        return self._zero is not None

    def _add_joint(
        self,
        kind: type[_Kind],
        name: str,
        a: Side,
        b: Side,
        at: Any = None,
        axis: Any = None,
        axis_b: Any = None,
        *,
        cut: bool | None,
        limits: Any = None,
        **more: Any,
    ) -> _Kind:
        name = self._new_name("joint", name)
        who = f"{kind.kind} joint {name!r}"
        side_a, side_b = self._body_or_frame(who, a), self._body_or_frame(who, b)
        joint = make_joint(kind, name, side_a, side_b, at, axis, axis_b, cut, **more)
        if self.zero is Zero.DESCRIBED:
            joint = cast(_Kind, joint.counted_from_start())
        self.joints[name] = joint
        if limits is not None:
            try:
                self._limit(joint, limits)
            except ModelError:
                del self.joints[name]
                raise
        return joint
