"""Domes over the nodes of a sampled surface: bounds as tight as its curvature, in compiled code.

The samples of a node, at heights z along its axis and distances r across it from its centre, lie under a paraboloid,

    z <= top - bend r^2 / 2,   bend >= 0,

which on a convex piece follows the surface: along a direction tilted against the axis by the sine s and cosine c they
reach no farther than c top + max over r of (s r - c bend r^2 / 2). A drum of the same piece reaches farther by half its
thickness at the rim, which lets four times as many pairs of nodes through. On flat and hollow pieces bend is zero.

The surface between the samples is that of their quadrics, each out to FACE from its sample q: points
f = q + t + h n with t across the normal n, |t| <= FACE, and h = t . H t / 2, but no more than FACE. With
w = axis + bend r the dome rises for them by FACE |w across n| + FACE^2 (bend + largest of H) / 2, and by terms of
fourth order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import (
    ACROSS,
    BENT,
    COLUMNS,
    CONE,
    FACE,
    NORMAL,
    REACH,
    SAMPLE,
    WEIGHT,
    WIDE_TOP,
)
from bellcrank.contact.tree_layout import AXIS, BEND, DRUM, HALF, RADIUS, ROUND, TOP
from bellcrank.contact.units import Unit, matrix, part, vector

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TRIALS = 5
"""Curvatures of domes that are tried: so many equal parts of the mean one."""


@part
def bend_of(points: Floats, nodes: Floats, k: int, first: int, last: int, pad: Floats) -> float:
    """The curvature of the dome that reaches least on the whole, for tilts up to those of the rim and beyond.

    The tops of the trials stand in the pad.
    """
    x = nodes[k, 0]
    y = nodes[k, 1]
    z = nodes[k, 2]
    ax = nodes[k, AXIS]
    ay = nodes[k, AXIS + 1]
    az = nodes[k, AXIS + 2]
    mean_up = 0.0
    mean_square = 0.0
    share = 1.0 / (last - first)
    for i in range(first, last):
        dx = points[i, 0] - x
        dy = points[i, 1] - y
        dz = points[i, 2] - z
        up = ax * dx + ay * dy + az * dz
        mean_up += share * up
        mean_square += share * (dx * dx + dy * dy + dz * dz - up * up)
    both = 0.0
    alone = 0.0
    for i in range(first, last):
        dx = points[i, 0] - x
        dy = points[i, 1] - y
        dz = points[i, 2] - z
        up = ax * dx + ay * dy + az * dz
        off = dx * dx + dy * dy + dz * dz - up * up - mean_square
        both += off * (up - mean_up)
        alone += off * off
    drum = nodes[k, DRUM]
    if not both < 0.0 or not alone > 0.0 or not drum > 0.0:
        return 0.0
    whole = -2.0 * both / alone
    for m in range(TRIALS + 1):
        pad[m] = -1e300
    for i in range(first, last):
        dx = points[i, 0] - x
        dy = points[i, 1] - y
        dz = points[i, 2] - z
        up = ax * dx + ay * dy + az * dz
        across = 0.5 * whole * (dx * dx + dy * dy + dz * dz - up * up) / TRIALS
        for m in range(TRIALS + 1):
            pad[m] = max(pad[m], up + m * across)
    best = 0.0
    least = 1e300
    for m in range(TRIALS + 1):
        bend = whole * m / TRIALS
        reach = 4.0 * pad[m]
        for tilt in range(1, 4):
            s = 0.5 * tilt * whole * drum
            if s < bend * drum:
                reach += 0.5 * s * s / bend
            else:
                reach += s * drum - 0.5 * bend * drum * drum
        if reach < least:
            least = reach
            best = bend
    return best


@part
def little_more(nodes: Floats, k: int) -> float:
    """What a dome is to be higher than it is, so that rounding never leaves a sample out."""
    return (ROUND - 1.0) * (nodes[k, HALF] + nodes[k, DRUM])  # type: ignore[no-any-return]


@part
def domed(points: Floats, nodes: Floats, k: int, first: int, last: int, pad: Floats) -> None:
    """The dome over the samples [first, last) of a node."""
    bend = bend_of(points, nodes, k, first, last, pad)
    top = -1e300
    for i in range(first, last):
        dx = points[i, 0] - nodes[k, 0]
        dy = points[i, 1] - nodes[k, 1]
        dz = points[i, 2] - nodes[k, 2]
        up = nodes[k, AXIS] * dx + nodes[k, AXIS + 1] * dy + nodes[k, AXIS + 2] * dz
        top = max(top, up + 0.5 * bend * max(0.0, dx * dx + dy * dy + dz * dz - up * up))
    nodes[k, TOP] = top + little_more(nodes, k)
    nodes[k, BEND] = bend
    nodes[k, RADIUS] = 1.0 / max(bend, 1e-300)


@part
def widened(table: Floats, nodes: Floats, k: int, first: int, last: int) -> None:
    """Cone and dome of a node over the quadrics of its samples."""
    x = nodes[k, 0]
    y = nodes[k, 1]
    z = nodes[k, 2]
    ax = nodes[k, AXIS]
    ay = nodes[k, AXIS + 1]
    az = nodes[k, AXIS + 2]
    bend = nodes[k, BEND]
    weight = 0.0
    cone = 0.0
    across = 0.0
    wide = -1e300
    for i in range(first, last):
        dx = table[i, 0] - x
        dy = table[i, 1] - y
        dz = table[i, 2] - z
        up = ax * dx + ay * dy + az * dz
        square = max(0.0, dx * dx + dy * dy + dz * dz - up * up)
        dome = up + 0.5 * bend * square
        nx = table[i, NORMAL]
        ny = table[i, NORMAL + 1]
        nz = table[i, NORMAL + 2]
        c = nx * ax + ny * ay + nz * az
        s = math.sqrt(max(0.0, 1.0 - c * c))
        face = table[i, FACE]
        # Along tangents H bends as it does without its part along the normal.
        xx = table[i, BENT]
        yy = table[i, BENT + 1]
        zz = table[i, BENT + 2]
        xy = table[i, BENT + 3]
        xz = table[i, BENT + 4]
        yz = table[i, BENT + 5]
        hx = xx * nx + xy * ny + xz * nz
        hy = xy * nx + yy * ny + yz * nz
        hz = xz * nx + yz * ny + zz * nz
        nn = nx * hx + ny * hy + nz * hz
        trace = xx + yy + zz - nn
        size = xx * xx + yy * yy + zz * zz + 2.0 * (xy * xy + xz * xz + yz * yz)
        size = size - 2.0 * (hx * hx + hy * hy + hz * hz) + nn * nn
        apart = math.sqrt(max(0.0, 0.5 * size - 0.25 * trace * trace))
        largest = 0.5 * trace + apart
        steepest = max(largest, apart - 0.5 * trace)
        h = 0.5 * face * face * steepest
        rise = 0.5 * face * face * (bend + c * largest)
        if h > face or c < 0.0:
            rise = 0.5 * face * face * bend + min(h, face)
        h = min(h, face)
        wx = ax + bend * (dx - up * ax)
        wy = ay + bend * (dy - up * ay)
        wz = az + bend * (dz - up * az)
        w = wx * nx + wy * ny + wz * nz
        tilt = math.sqrt(max(0.0, wx * wx + wy * wy + wz * wz - w * w))
        rise = face * tilt + max(0.0, rise)
        rise += bend * h * (s * (math.sqrt(square) + face) + 0.5 * h)
        weight = max(weight, table[i, REACH])
        cone = max(cone, (nx - ax) * (nx - ax) + (ny - ay) * (ny - ay) + (nz - az) * (nz - az))
        wide = max(wide, dome + rise)
        across = max(across, face + h)
    nodes[k, WEIGHT] = weight
    nodes[k, CONE] = ROUND * math.sqrt(cone)
    nodes[k, ACROSS] = across
    nodes[k, WIDE_TOP] = wide + little_more(nodes, k)


@Unit
def widen(
    header_at: Any,
    unused_0: Any,
    table_at: Any,
    nodes_at: Any,
    unused_1: Any,
    unused_2: Any,
    unused_3: Any,
    unused_4: Any,
    unused_5: Any,
    unused_6: Any,
    unused_7: Any,
) -> int:
    """Wider domes over all nodes."""
    header = vector(header_at, 2)
    leaves = header[0]
    number = leaves * header[1]
    table = matrix(table_at, 0, number, SAMPLE)
    nodes = matrix(nodes_at, 0, 2 * leaves - 1, COLUMNS)
    level = leaves
    while level > 0:
        share = number // level
        for k in range(level):
            widened(table, nodes, level - 1 + k, k * share, (k + 1) * share)
        level = level // 2
    return 0


def cover(table: Floats, nodes: Floats, leaves: int, width: int) -> None:
    """Write what the quadrics of samples add to the nodes of a tree with that many leaves and samples on each."""
    spare, sizes = np.zeros(1), np.array([leaves, width])
    widen(sizes, sizes, table, nodes, *7 * (spare,))


__all__ = ["cover", "domed"]
