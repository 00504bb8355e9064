"""Samples of one tree by their height above a plane or a segment, in compiled code."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.tree_layout import (
    AXIS,
    BALL,
    BEND,
    BOUND,
    DRUM,
    HALF,
    INNER,
    KIND,
    LEAVES_A,
    LOOKED,
    OTHER,
    OUTER,
    PLANE,
    RADIUS,
    ROOM,
    SIDES,
    TOP,
    WIDTH_A,
)
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SQUARE = 0.1
"""Cosine below which directions count as square to each other."""


@part
def from_segment(given: Floats, x: float, y: float, z: float) -> tuple[float, float, float, float]:
    """The way from the nearest point of a segment, and the square of half its length, which is zero for a ball."""
    dx = x - given[OTHER]
    dy = y - given[OTHER + 1]
    dz = z - given[OTHER + 2]
    ux = given[OTHER + 3]
    uy = given[OTHER + 4]
    uz = given[OTHER + 5]
    square = ux * ux + uy * uy + uz * uz
    if square > 0.0:
        along = min(1.0, max(-1.0, (dx * ux + dy * uy + dz * uz) / square))
        dx -= along * ux
        dy -= along * uy
        dz -= along * uz
    return dx, dy, dz, square


@part
def height(given: Floats, kind: int, x: float, y: float, z: float) -> float:
    """How far a point of a's frame lies above the other body: a plane, or a segment with a radius around it."""
    if kind == PLANE:
        return given[OTHER] * x + given[OTHER + 1] * y + given[OTHER + 2] * z - given[OTHER + 3]  # type: ignore[no-any-return]
    dx, dy, dz, _ = from_segment(given, x, y, z)
    return math.sqrt(dx * dx + dy * dy + dz * dz) - given[OTHER + 6]  # type: ignore[no-any-return]


@part
def reach(nodes: Floats, k: int, x: float, y: float, z: float) -> float:
    """How far the samples of a node reach from its centre along a unit vector, at most."""
    c = x * nodes[k, AXIS] + y * nodes[k, AXIS + 1] + z * nodes[k, AXIS + 2]
    drum = abs(c) * nodes[k, HALF] + math.sqrt(max(0.0, 1.0 - c * c)) * nodes[k, DRUM]
    return min(drum, nodes[k, BALL])  # type: ignore[no-any-return]


@part
def reaches(top: float, bend: float, radius: float, drum: float, c: float) -> float:
    """How far a dome reaches from its centre along a direction whose cosine with its axis is c > 0, at most."""
    tilt = math.sqrt(max(0.0, 1.0 - c * c)) / c
    rim = min(drum, tilt * radius)
    return c * (top + rim * (tilt - 0.5 * bend * rim))


@part
def reach_towards(nodes: Floats, k: int, x: float, y: float, z: float) -> float:
    """As :func:`reach`, by all that bounds a node: also by its dome, and by its box where it has one."""
    c = x * nodes[k, AXIS] + y * nodes[k, AXIS + 1] + z * nodes[k, AXIS + 2]
    most = reach(nodes, k, x, y, z)
    if c > SQUARE:
        most = min(most, reaches(nodes[k, TOP], nodes[k, BEND], nodes[k, RADIUS], nodes[k, DRUM], c))
    sx = nodes[k, SIDES]
    sy = nodes[k, SIDES + 1]
    sz = nodes[k, SIDES + 2]
    if sx * sx + sy * sy + sz * sz > 0.0:
        # By what (x, y, z) is made of along the normals of the sides.
        box = 0.0
        for m in range(3):
            row = SIDES + 3 * m
            out = nodes[k, row] * x + nodes[k, row + 1] * y + nodes[k, row + 2] * z
            box += out * nodes[k, OUTER + m] if out > 0.0 else -out * nodes[k, INNER + m]
        most = min(most, box)
    return most


@part
def node_height(given: Floats, kind: int, nodes: Floats, k: int) -> float:
    """No sample of a node lies lower than this above the other body."""
    x = nodes[k, 0]
    y = nodes[k, 1]
    z = nodes[k, 2]
    if kind == PLANE:
        below = reach(nodes, k, given[OTHER], given[OTHER + 1], given[OTHER + 2])
        return height(given, kind, x, y, z) - below
    dx, dy, dz, square = from_segment(given, x, y, z)
    size = math.sqrt(dx * dx + dy * dy + dz * dz)
    if not size > 0.0:
        return -given[OTHER + 6] - nodes[k, BALL]  # type: ignore[no-any-return]
    if square > 0.0:
        # Other points of the segment see the node from elsewhere.
        return size - given[OTHER + 6] - nodes[k, BALL]  # type: ignore[no-any-return]
    return size - given[OTHER + 6] - reach(nodes, k, dx / size, dy / size, dz / size)  # type: ignore[no-any-return]


@part
def low_samples(
    header: Ints,
    given: Floats,
    points: Floats,
    nodes: Floats,
    every: bool,
    found: Ints,
    heights: Floats,
    stack: Ints,
) -> int:
    """The places of samples less than given[BOUND] above the other body; how many, also beyond the room.

    every: All of them, or the lowest alone; given[BOUND] is then lowered to its height.
    """
    leaves, width, kind = header[LEAVES_A], header[WIDTH_A], header[KIND]
    count = 0
    top = 1
    stack[0] = 0
    while top > 0:
        top -= 1
        k = stack[top]
        header[LOOKED] += 1
        if node_height(given, kind, nodes, k) >= given[BOUND]:
            continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                h = height(given, kind, points[i, 0], points[i, 1], points[i, 2])
                if h < given[BOUND]:
                    if not every:
                        count = 0
                        given[BOUND] = h
                    if count < header[ROOM]:
                        found[count] = i
                        heights[count] = h
                    count += 1
            continue
        left = 2 * k + 1
        right = 2 * k + 2
        nearer = node_height(given, kind, nodes, left) <= node_height(given, kind, nodes, right)
        stack[top] = right if nearer else left
        stack[top + 1] = left if nearer else right
        top += 2
    return count
