"""The smooth surface through samples around a point: gathered from the tree, pulled onto, and its curvature."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import BACK, BENT, NORMAL, REACH, WEIGHT
from bellcrank.contact.tree import BALL
from bellcrank.contact.turning import turned
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CROWD = 256
"""Samples gathered around a point at most."""
NEAR_SAMPLE = 1e-10
"""Square of a distance over the radius of its weight that counts as on the sample."""
SPARE = 1e-12
"""Weight of the nearest quadric where no other weight reaches."""


@part
def nearest_of(table: Floats, near: Ints, count: int, x: float, y: float, z: float) -> int:
    """The sample nearest to a point, of those gathered around it; -1 where there is none."""
    first = -1
    least = 1e300
    for k in range(count):
        i = near[k]
        dx = x - table[i, 0]
        dy = y - table[i, 1]
        dz = z - table[i, 2]
        square = dx * dx + dy * dy + dz * dz
        if square < least:
            least = square
            first = i
    return first


@part
def on_one_side(table: Floats, near: Ints, count: int, x: float, y: float, z: float) -> int:
    """Leave out samples that face away from the nearest one: those of the other side of a thin body; how many stay."""
    first = nearest_of(table, near, count, x, y, z)
    kept = 0
    for k in range(count):
        i = near[k]
        cosine = (
            table[i, NORMAL] * table[first, NORMAL]
            + table[i, NORMAL + 1] * table[first, NORMAL + 1]
            + table[i, NORMAL + 2] * table[first, NORMAL + 2]
        )
        if cosine >= BACK:
            near[kept] = i
            kept += 1
    return kept


@part
def gathered(
    table: Floats,
    nodes: Floats,
    leaves: int,
    width: int,
    x: float,
    y: float,
    z: float,
    margin: float,
    stack: Ints,
    near: Ints,
) -> int:
    """The samples whose weights reach into the margin around a point; how many, or -1 where there are too many."""
    count = 0
    top = 1
    stack[0] = 0
    while top > 0:
        top -= 1
        k = stack[top]
        dx = x - nodes[k, 0]
        dy = y - nodes[k, 1]
        dz = z - nodes[k, 2]
        far = nodes[k, BALL] + nodes[k, WEIGHT] + margin
        if dx * dx + dy * dy + dz * dz > far * far:
            continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                dx = x - table[i, 0]
                dy = y - table[i, 1]
                dz = z - table[i, 2]
                far = table[i, REACH] + margin
                if table[i, REACH] > 0.0 and dx * dx + dy * dy + dz * dz < far * far:
                    if count >= CROWD:
                        return -1
                    near[count] = i
                    count += 1
            continue
        stack[top] = 2 * k + 2
        stack[top + 1] = 2 * k + 1
        top += 2
    return on_one_side(table, near, count, x, y, z)


@part
def steepness(
    table: Floats, near: Ints, count: int, x: float, y: float, z: float, pad: Floats, at: int
) -> int:
    """f and its slope at a point, into pad; the nearest sample, or -1 beyond the rim."""
    total = 0.0
    value = 0.0
    tx = 0.0
    ty = 0.0
    tz = 0.0
    vx = 0.0
    vy = 0.0
    vz = 0.0
    nearest = 1e300
    first = -1
    for k in range(count):
        i = near[k]
        dx = x - table[i, 0]
        dy = y - table[i, 1]
        dz = z - table[i, 2]
        square = dx * dx + dy * dy + dz * dz
        if square < nearest:
            nearest = square
            first = i
        narrow = 1.0 / (table[i, REACH] * table[i, REACH])
        s = square * narrow
        if s >= 1.0:
            continue
        hx = table[i, BENT] * dx + table[i, BENT + 3] * dy + table[i, BENT + 4] * dz
        hy = table[i, BENT + 3] * dx + table[i, BENT + 1] * dy + table[i, BENT + 5] * dz
        hz = table[i, BENT + 4] * dx + table[i, BENT + 5] * dy + table[i, BENT + 2] * dz
        nx = table[i, NORMAL]
        ny = table[i, NORMAL + 1]
        nz = table[i, NORMAL + 2]
        q = nx * dx + ny * dy + nz * dz - 0.5 * (dx * hx + dy * hy + dz * hz)
        left = 1.0 - s
        inverse = 1.0 / (s + NEAR_SAMPLE)
        both = left * left * inverse
        w = both * left
        steep = -2.0 * narrow * (3.0 * both + w * inverse)
        total += w
        value += w * q
        tx += steep * dx
        ty += steep * dy
        tz += steep * dz
        vx += w * (nx - hx) + steep * q * dx
        vy += w * (ny - hy) + steep * q * dy
        vz += w * (nz - hz) + steep * q * dz
    if first < 0 or nearest > table[first, REACH] * table[first, REACH]:
        return -1
    i = first
    dx = x - table[i, 0]
    dy = y - table[i, 1]
    dz = z - table[i, 2]
    hx = table[i, BENT] * dx + table[i, BENT + 3] * dy + table[i, BENT + 4] * dz
    hy = table[i, BENT + 3] * dx + table[i, BENT + 1] * dy + table[i, BENT + 5] * dz
    hz = table[i, BENT + 4] * dx + table[i, BENT + 5] * dy + table[i, BENT + 2] * dz
    nx = table[i, NORMAL]
    ny = table[i, NORMAL + 1]
    nz = table[i, NORMAL + 2]
    total += SPARE
    value += SPARE * (nx * dx + ny * dy + nz * dz - 0.5 * (dx * hx + dy * hy + dz * hz))
    vx += SPARE * (nx - hx)
    vy += SPARE * (ny - hy)
    vz += SPARE * (nz - hz)
    f = value / total
    pad[at] = f
    pad[at + 1] = (vx - f * tx) / total
    pad[at + 2] = (vy - f * ty) / total
    pad[at + 3] = (vz - f * tz) / total
    return first


@part
def settle(
    table: Floats,
    nodes: Floats,
    leaves: int,
    width: int,
    margin: float,
    pad: Floats,
    at: int,
    middle: int,
    counts: Ints,
    which: int,
    stack: Ints,
    near: Ints,
) -> int:
    """Pull the point at pad[at + 4] onto its surface; the unit normal goes to pad[at + 1]; the nearest sample, or -1.

    The samples around it are gathered anew where it has left the margin around the last middle.
    """
    x = pad[at + 4]
    y = pad[at + 5]
    z = pad[at + 6]
    dx = x - pad[middle]
    dy = y - pad[middle + 1]
    dz = z - pad[middle + 2]
    if counts[which] < 0 or dx * dx + dy * dy + dz * dz > margin * margin:
        counts[which] = gathered(table, nodes, leaves, width, x, y, z, margin, stack, near)
        pad[middle] = x
        pad[middle + 1] = y
        pad[middle + 2] = z
    if counts[which] < 1:
        return -1
    first = steepness(table, near, counts[which], x, y, z, pad, at)
    if first < 0:
        return -1
    gx = pad[at + 1]
    gy = pad[at + 2]
    gz = pad[at + 3]
    inverse = 1.0 / math.sqrt(max(1e-300, gx * gx + gy * gy + gz * gz))
    gx *= inverse
    gy *= inverse
    gz *= inverse
    way = pad[at] * inverse
    pad[at + 1] = gx
    pad[at + 2] = gy
    pad[at + 3] = gz
    pad[at + 4] = x - way * gx
    pad[at + 5] = y - way * gy
    pad[at + 6] = z - way * gz
    return first


@part
def bending(table: Floats, i: int, ux: float, uy: float, uz: float, vx: float, vy: float, vz: float) -> float:
    """u . K v of the quadric of a sample, K = -H."""
    hx = table[i, BENT] * vx + table[i, BENT + 3] * vy + table[i, BENT + 4] * vz
    hy = table[i, BENT + 3] * vx + table[i, BENT + 1] * vy + table[i, BENT + 5] * vz
    hz = table[i, BENT + 4] * vx + table[i, BENT + 5] * vy + table[i, BENT + 2] * vz
    return -(ux * hx + uy * hy + uz * hz)  # type: ignore[no-any-return]


@part
def tangents(nx: float, ny: float, nz: float) -> tuple[float, float, float, float, float, float]:
    """Two unit vectors across a unit vector, as in :func:`bellcrank.contact.steps.frame`."""
    s = -1.0 if nz < 0.0 else 1.0
    w = -1.0 / (s + nz)
    e = nx * ny * w
    return 1.0 + s * nx * nx * w, s * e, -s * nx, e, s + ny * ny * w, -ny


@part
def between_points(given: Floats, pad: Floats, a: int, b: int) -> tuple[float, float, float]:
    """The way from the surface's point at pad[a + 4] to the other's at pad[b + 4], in the surface's frame."""
    x, y, z = turned(given, pad[b + 4], pad[b + 5], pad[b + 6])
    return x + given[9] - pad[a + 4], y + given[10] - pad[a + 5], z + given[11] - pad[a + 6]


__all__ = [
    "CROWD",
    "bending",
    "between_points",
    "gathered",
    "nearest_of",
    "settle",
    "tangents",
]
