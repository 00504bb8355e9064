"""Coordinates of joints, in the tree or cut: their values, rates and directions of load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bellcrank.math.tuples import Vec, dot, mat, sub, vec
from bellcrank.mechanics.constraints import Marker, Seen, marker
from bellcrank.mechanics.kinematics import Kinematics
from bellcrank.mechanics.links import Link, Linkage
from bellcrank.model.joints.joint import SHIFTS
from bellcrank.program.functions import atan2
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.model.joints import Joint


def markers(linkage: Linkage, joint: Joint) -> tuple[Marker, Marker]:
    """The two frames of a joint on their links."""
    found = [marker(linkage.seat(f), mat(f.rotation), vec(f.position)) for f in (joint.a, joint.b)]
    return found[0], found[1]


def joint_coordinate(linkage: Linkage, kin: Kinematics, joint: Joint, name: str) -> tuple[Scalar, Scalar]:
    """Value and rate of a joint's coordinate.

    In the tree it is read off; at a cut joint it is measured between the two frames, angles in (-pi, pi].
    """
    link = _own_link(linkage, joint, name)
    if link is not None:
        return kin.q[link.q], kin.speed(link)
    A, B, base = _seen(linkage, kin, joint)
    w = sub(kin.motion(B.link, base).w, kin.motion(A.link, base).w)
    if name in SHIFTS:
        i = SHIFTS[name]
        d, rate = sub(B.point, A.point), sub(B.velocity(), A.velocity())
        return dot(A.axis(i), d), dot(A.axis(i), rate) + dot(A.axis_rate(i), d)
    axis, c, s = joint.turn(A, B, name)
    return atan2(s, c), dot(axis, w)


def loaded_direction(
    linkage: Linkage, kin: Kinematics, joint: Joint, name: str
) -> tuple[int, int, int, Vec, Vec, bool]:
    """Links a and b, base, point, direction, and whether a load along a coordinate is a torque."""
    A, B, base = _seen(linkage, kin, joint)
    if name in SHIFTS:
        return A.link, B.link, base, B.point, A.axis(SHIFTS[name]), False
    if name in joint.measures:
        axis = joint.turn(A, B, name)[0]
    else:
        axis = B.axis(2) if joint.turns_with_b(name) else A.axis(2)
    return A.link, B.link, base, B.point, axis, True


def in_tree(linkage: Linkage, joint: Joint, name: str) -> bool:
    """Whether a coordinate is one of the tree, so that its turns are counted."""
    return _own_link(linkage, joint, name) is not None


def counted(linkage: Linkage, kin: Kinematics, joint: Joint, name: str) -> Scalar | None:
    """Value of a joint's coordinate in the tree, None of any other; speeds need not be known."""
    link = _own_link(linkage, joint, name)
    return None if link is None else kin.q[link.q]


def _own_link(linkage: Linkage, joint: Joint, name: str) -> Link | None:
    """The link whose only position a coordinate is."""
    found = (k for k in linkage.links if k.joint == joint.name and name in k.coordinates)
    return next((k for k in found if not k.kind.has_quaternion), None)


def _seen(linkage: Linkage, kin: Kinematics, joint: Joint) -> tuple[Seen, Seen, int]:
    a, b = markers(linkage, joint)
    base = linkage.common(a.link, b.link)
    return Seen(kin, a, base), Seen(kin, b, base), base
