"""How large a mechanism is: what its absolute tolerances of lengths go by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.formulations.loops import Partition
from bellcrank.mechanics.links import LinkKind
from bellcrank.model.frames import Frame

if TYPE_CHECKING:
    from bellcrank.mechanism import Mechanism
    from bellcrank.model.system import System

Array = NDArray[np.float64]

COUNTED = 10.0
"""A mechanism this many times smaller than a metre is taken for small: then its lengths are resolved more finely.

One this many times larger is taken for large: then lengths are not held against angles as they are.
"""

FAR = 1e3
"""Coordinates [m] from which on lengths are resolved less finely, in proportion: rounding is 1e-13 m there."""


def _points(system: System) -> Array:
    """Joints, centers of mass and points of forces in the start pose [m], shape (points, 3)."""
    points: list[Array] = []
    things = [*system.joints.values(), *system.forces.values()]
    for thing in things:
        frames = [getattr(thing, key, None) for key in ("a", "b", "frame")]
        points += [f.start_position() for f in frames if isinstance(f, Frame)]
    for body in system.bodies.values():
        if not body.is_ground:
            points.append(Frame(body, body.center_of_mass).start_position())
    return np.array(points).reshape(-1, 3)


def extent(system: System) -> float:
    """The longest side of the box around joints, centers of mass and points of forces in the start pose [m]."""
    points = _points(system)
    return float(np.ptp(points, axis=0).max()) if len(points) else 0.0


def length_scale(system: System) -> float:
    """What absolute tolerances of lengths are multiplied by: one, but less in mechanisms much smaller than a metre.

    More where coordinates are so large that their own rounding counts.
    """
    points = _points(system)
    if not len(points):
        return 1.0
    size, reach = float(np.ptp(points, axis=0).max()), float(np.abs(points).max())
    return max(min(1.0, COUNTED * size) if size > 0.0 else 1.0, reach / FAR)


def length_unit(system: System) -> float:
    """The length [m] that counts as much as a radian where pivots are compared: one, but more in large mechanisms."""
    return max(1.0, extent(system) / COUNTED)


def tolerance_scales(mechanism: Mechanism, partition: Partition) -> Array | None:
    """What the absolute tolerance of each entry of the integrator's state is multiplied by; angles by one.

    None where all are.
    """
    linkage = mechanism.linkage
    scale = mechanism.length_scale
    if scale == 1.0:
        return None
    q, u = np.ones(linkage.positions), np.ones(linkage.speeds)
    for link in linkage.links:
        if link.kind is LinkKind.PRISMATIC:
            q[link.q] = u[link.u] = scale
        elif link.kind is LinkKind.FREE:
            q[link.q : link.q + 3] = u[link.u + 3 : link.u + 6] = scale
    return np.concatenate([q, u[list(partition.independent)]])
