"""How large a mechanism and its bodies are: what tolerances of lengths go by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.formulations.loops import Partition
from bellcrank.model import checks
from bellcrank.model.forces import ContactForce
from bellcrank.model.frames import Frame
from bellcrank.program.made import Table

if TYPE_CHECKING:
    from bellcrank.mechanism.mechanism import Mechanism
    from bellcrank.model.contacts import Contact, PlacedShape
    from bellcrank.model.system import System

Array = NDArray[np.float64]

COUNTED = 10.0
"""A mechanism this many times smaller than a metre is taken for small: then its lengths are resolved more finely.

One this many times larger is taken for large: then lengths are not held against angles as they are.
"""

FAR = 1e3
"""Coordinates [m] from which on lengths are resolved less finely, in proportion: rounding is 1e-13 m there."""


ROUNDED = 2e-5
"""Part of the coordinates [m] below which nothing is resolved by what is small against a length."""
ENDLESS = 1e100
"""Radius [m] around shapes without end, as planes."""


def _frames(system: System) -> list[Frame]:
    """The frames of all joints and forces."""
    found = [frame for joint in system.joints.values() for frame in (joint.a, joint.b)]
    return found + [frame for force in system.forces.values() for frame in force.frames]


def _points(system: System, moving: bool = False) -> Array:
    """Joints, centers of mass and points of forces in the start pose [m], shape (points, 3).

    moving: Only those of bodies that are not the ground.
    """
    points: list[Array] = []
    for frame in _frames(system):
        if not (moving and frame.body.is_ground):
            points.append(frame.start_position())
    for body in system.bodies.values():
        if not body.is_ground:
            points.append(Frame(body, body.center_of_mass).start_position())
    return np.array(points).reshape(-1, 3)


def extent(system: System, moving: bool = False) -> float:
    """The longest side of the box around joints, centers of mass and points of forces in the start pose [m].

    moving: Without the ground, from which a body may be far away.
    """
    points = _points(system, moving)
    return float(np.ptp(points, axis=0).max()) if len(points) else 0.0


def reach(system: System) -> float:
    """The largest coordinate of joints, centers of mass and points of forces in the start pose [m]."""
    return float(np.abs(_points(system)).max(initial=0.0))


def length_scale(system: System) -> float:
    """What the tolerance with which loops are closed is multiplied by.

    One, but less in mechanisms much smaller than a metre, and more where coordinates are so large that their own
    rounding counts.
    """
    return max(small(extent(system)), reach(system) / FAR)


def small(length: float) -> float:
    """One, but less where a mechanism of this size [m] is much smaller than a metre."""
    return min(1.0, COUNTED * length) if length > 0.0 else 1.0


def length_unit(system: System) -> float:
    """The length [m] that counts as much as a radian where pivots are compared.

    One, but more in large mechanisms and less in small ones.
    """
    return max(small(size(system)), extent(system, moving=True) / COUNTED)


def body_sizes(system: System) -> dict[str, float]:
    """Size of each body [m]: the largest distance from its center of mass to its joints, forces and shapes, and across
    these; zero for a body that has none of them."""
    found = {name: 0.0 for name, body in system.bodies.items() if not body.is_ground}

    def spread(frame: Frame, around: float = 0.0) -> None:
        if frame.body.name in found:
            center = checks.numeric(frame.body.center_of_mass, frame.body.parameters)
            offset = checks.numeric(frame.position, frame.body.parameters) - center
            found[frame.body.name] = max(found[frame.body.name], float(np.linalg.norm(offset)) + around)

    for frame in _frames(system):
        spread(frame)
    for contact in touching(system):
        for side in (contact.a, contact.b):
            spread(side.frame, _radius(side))
    for group in system.collisions.values():
        for side in group.shapes:
            spread(side.frame, _radius(side))
    return found


def size(system: System) -> float:
    """Size of the largest body, or of the mechanism where no body has one [m]; independent of the origin."""
    return max(body_sizes(system).values(), default=0.0) or extent(system, moving=True)


def contact_lengths(system: System, contacts: Sequence[Contact]) -> list[float]:
    """What is small where two bodies touch is small against this [m]: the size of the smaller one."""
    sizes = body_sizes(system)
    whole, least = extent(system, moving=True) or 1.0, ROUNDED * reach(system)
    found = []
    for contact in contacts:
        smaller = min((sizes[b] for b in _names(contact) if sizes.get(b)), default=0.0)
        found.append(max(smaller or whole, least))
    return found


def contact_length(system: System, contact: Contact) -> float:
    """The length of one contact [m]."""
    return contact_lengths(system, [contact])[0]


def _names(contact: Contact) -> tuple[str, str]:
    return contact.a.frame.body.name, contact.b.frame.body.name


def touching(system: System) -> list[Contact]:
    """All contacts, of both treatments."""
    pressed = [f.contact for f in system.forces.values() if isinstance(f, ContactForce)]
    return [*system.contacts.values(), *pressed]


def _radius(side: PlacedShape) -> float:
    """Of the ball around a shape [m]; zero of one without end."""
    found = side.frame.body.parameters.value(side.shape.bounding_radius())
    return found if found < ENDLESS else 0.0


SCALES: Table[tuple[Partition, tuple[float, ...]], tuple[Array | None, Array | None]] = Table(
    "tolerance scales"
)


def tolerance_scales(mechanism: Mechanism, partition: Partition) -> tuple[Array | None, Array | None]:
    """What the absolute tolerance of each entry of the integrator's state is multiplied by, angles by one; and the
    size against which errors of lengths are held, below zero for all else.

    The size of a length is that of the bodies its joint moves; that of the mechanism where these have none.
    None where all multipliers are one, where there are no lengths.
    """
    present = tuple(parameter.value for parameter in mechanism.system.parameters.values())
    return mechanism.compiled.once(
        SCALES, (partition, present), lambda: _tolerance_scales(mechanism, partition)
    )


def _tolerance_scales(mechanism: Mechanism, partition: Partition) -> tuple[Array | None, Array | None]:
    linkage, system = mechanism.linkage, mechanism.system
    of_body, whole = body_sizes(system), extent(system, moving=True)
    scale = max(small(size(system)), size(system) / COUNTED)
    q, u = np.ones(linkage.positions), np.ones(linkage.speeds)
    sizes = np.full(len(q) + len(partition.independent), -1.0)
    for link in linkage.links:
        positions, speeds = [link.q + k for k in link.kind.lengths], link.sliding_speeds
        joint = system.joints.get(link.joint)
        bodies = () if joint is None else (joint.a.body.name, joint.b.body.name)
        sizes[positions] = max((of_body.get(name, 0.0) for name in bodies), default=0.0) or whole
        q[positions] = u[speeds] = scale
    scales = None if scale == 1.0 else np.concatenate([q, u[list(partition.independent)]])
    return scales, sizes if np.any(sizes >= 0.0) else None
