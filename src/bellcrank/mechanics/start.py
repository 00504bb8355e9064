"""Between a user's joint coordinates, body poses and the positions of links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.mechanics.links import Link, Linkage
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
        if link.joint in system.constraints:
            starts = {x.name: x.start for x in system.constraints[link.joint].unknowns()}
            q[link.q] = starts[link.coordinates[0]]
        elif not link.kind.modal:
            joint = system.joints[link.joint]
            coordinates = dict(zip(joint.coordinates, joint.start_coordinates(), strict=True))
            given = np.array([coordinates[name] for name in link.coordinates])
            if link.kind.has_quaternion:
                given = from_joint(linkage, link, given, parameters)
            q[link.q : link.q + link.kind.positions] = given
    q[linkage.positions - len(linkage.states) :] = [system.states[name].initial for name in linkage.states]
    return q


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
