"""What reaches from one body to another: where it is over the frames, and how long."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.normals import across
from bellcrank.view.placing import quaternions

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Link:
    """What carries a spring, a damper or a rod: a frame at a point of one body, its z axis towards a point of another.

    a, b: Numbers of the bodies, -1 for the ground; at_a, at_b: Points in their axes [m]. moving_a, moving_b: Those
    points over the frames, (n, 3) [m], on bodies that deform. from_b: Whether the frame sits at b instead of a.
    length: [m] of what it carries, which is drawn out to reach from a to b; 0 for a part of fixed length.
    """

    a: int
    at_a: Array
    b: int
    at_b: Array
    from_b: bool = False
    length: float = 0.0
    moving_a: Array | None = None
    moving_b: Array | None = None


def along(directions: Array) -> Array:
    """Quaternions (n, 4) of frames whose z axis has the directions (n, 3), turned about it as little as may be."""
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    known = np.flatnonzero(lengths[:, 0] > 0.0)
    if not len(known):
        return np.tile([1.0, 0.0, 0.0, 0.0], (len(directions), 1))
    # Points that coincide keep the direction of the frame before.
    last = np.maximum.accumulate(np.where(lengths[:, 0] > 0.0, np.arange(len(lengths)), -1))
    rows = np.where(last >= 0, last, known[0])
    d = directions[rows] / lengths[rows]
    first = d[0]
    x, y = across(first)
    start = quaternions(np.column_stack([x, y, first])[None])[0]
    w = 1.0 + d @ first
    turn = np.column_stack([w, np.cross(first, d)])
    turn[w < 1e-9] = [0.0, *x]
    turn /= np.linalg.norm(turn, axis=1, keepdims=True)
    return _product(turn, start)


def _product(a: Array, b: Array) -> Array:
    (w, v), (s, u) = (a[:, :1], a[:, 1:]), (b[0], b[1:])
    return np.column_stack([w * s - v @ u[:, None], w * u + s * v + np.cross(v, u)])


def matrices(q: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    w, x, y, z = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))
