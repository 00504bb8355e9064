"""Between a user's joint coordinates, body poses and the positions of links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.rotations import after
from bellcrank.math.tuples import UNIT
from bellcrank.mechanics.links import GROUND, Link, Linkage
from bellcrank.model.joints.elementary import JointFrames
from bellcrank.model.parameters import value

if TYPE_CHECKING:
    from bellcrank.model.system import System

Array = NDArray[np.float64]


def numbers(m: object, parameters: Mapping[str, float]) -> Array:
    """A vector or matrix of a model with its parameters at their values."""
    flat = np.array(m, dtype=object)
    return np.array([value(x, parameters) for x in flat.ravel()]).reshape(flat.shape)


def start_positions(system: System, linkage: Linkage, parameters: Mapping[str, float]) -> Array:
    """Positions of all links that fit the bodies' start poses best; loops need not close."""
    q = np.zeros(linkage.positions)
    for link in linkage.links:
        if link.kind.has_quaternion:
            q[link.q : link.q + link.kind.positions] = _from_poses(system, linkage, link, parameters)
        elif link.joint in system.constraints:
            starts = {x.name: x.start for x in system.constraints[link.joint].unknowns()}
            q[link.q] = starts[link.coordinates[0]]
        elif not link.kind.modal:
            joint = system.joints[link.joint]
            coordinates = dict(zip(joint.coordinates, joint.start_coordinates(), strict=True))
            q[link.q] = coordinates[link.coordinates[0]]
    q[linkage.positions - len(linkage.states) :] = [system.states[name].initial for name in linkage.states]
    return q


def _link_pose(
    system: System, linkage: Linkage, link: int, parameters: Mapping[str, float]
) -> tuple[Array, Array]:
    """Rotation and origin of a link in the world, from the start pose of a body that rides on it."""
    if link == GROUND:
        return np.eye(3), np.zeros(3)
    seats = [(name, place) for name, place in linkage.placements.items() if place.link == link]
    # Nodes stand where they are in the undeformed member.
    seats += [(name, place) for (name, _), place in linkage.nodes.items() if place.link == link]
    if not seats:
        return _under_member(system, linkage, link, parameters)
    name, place = seats[0]
    body = system.bodies[name]
    seat_R, seat_p = numbers(place.r, parameters), numbers(place.p, parameters)
    R = np.array(body.rotation, dtype=float) @ seat_R.T
    return R, np.array(body.position, dtype=float) - R @ seat_p


def _under_member(
    system: System, linkage: Linkage, link: int, parameters: Mapping[str, float]
) -> tuple[Array, Array]:
    """A link that only carries the node of a flexible member, undeformed."""
    beyond = next(k for k in linkage.links if k.parent == link and k.shape is not None)
    assert beyond.node is not None
    R_member, p_member = _link_pose(system, linkage, beyond.index, parameters)
    T = numbers(after(UNIT, beyond.turns), parameters)
    R = R_member @ T.T
    return R, p_member - R @ (numbers(beyond.r, parameters) - T @ numbers(beyond.node.s0, parameters))


def _from_poses(
    system: System, linkage: Linkage, link: Link, parameters: Mapping[str, float]
) -> Sequence[float]:
    R, p = _link_pose(system, linkage, link.index, parameters)
    R_in, p_in = _link_pose(system, linkage, link.parent, parameters)
    return link.kind.from_pose(R_in.T @ R, R_in.T @ (p - p_in))


def joint_frames(linkage: Linkage, link: Link, parameters: Mapping[str, float]) -> JointFrames:
    """The frames of a joint with a quaternion on its two links, in numbers."""
    map_, (on_parent, on_link) = linkage.maps[link.index], linkage.joint_frames[link.index]
    matrices = (numbers(map_.left, parameters), numbers(map_.right, parameters))
    places = (numbers(on_parent.p, parameters), numbers(on_link.p, parameters))
    return JointFrames(*matrices, map_.reverse, *places)


def to_joint(linkage: Linkage, link: Link, q: Array, parameters: Mapping[str, float]) -> Array:
    """The user's coordinates of a joint with a quaternion from its link's positions."""
    return link.kind.to_joint(joint_frames(linkage, link, parameters), q)


def from_joint(linkage: Linkage, link: Link, given: Array, parameters: Mapping[str, float]) -> Array:
    """The link's positions from the user's coordinates of a joint with a quaternion."""
    return link.kind.from_joint(joint_frames(linkage, link, parameters), given)
