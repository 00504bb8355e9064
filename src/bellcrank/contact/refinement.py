"""Newton's method for the closest points of two sampled surfaces, in compiled code.

The equations are those of :mod:`bellcrank.contact.local`; here the samples whose weights reach a point are gathered on
the way, from the tree, and only as many steps are made as it takes.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import (
    BENT,
    LEAVES_A,
    LEAVES_B,
    MIDDLES,
    NORMAL,
    REACH,
    SLACK,
    SLOPES,
    SPACING_A,
    SPACING_B,
    WEIGHT,
    WIDTH_A,
    WIDTH_B,
)
from bellcrank.contact.tree import BALL
from bellcrank.simulate.compiled import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ITERATIONS = 60
"""Newton steps at most; six or so are enough."""
SETTLED = 1e-12
"""Last Newton step over the spacing."""
CROWD = 256
"""Samples gathered around a point at most."""
NEAR_SAMPLE = 1e-10
"""Square of a distance over the radius of its weight that counts as on the sample."""
SPARE = 1e-12
"""Weight of the nearest quadric where no other weight reaches."""


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
    return count


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
def refined(
    header: Ints,
    given: Floats,
    table_a: Floats,
    nodes_a: Floats,
    table_b: Floats,
    nodes_b: Floats,
    p: int,
    q: int,
    pad: Floats,
    stack: Ints,
    near_a: Ints,
    near_b: Ints,
    counts: Ints,
    answer: Floats,
    at: int,
) -> None:
    """Newton's method from a pair of samples; the points are written to the answer."""
    leaves_a, leaves_b = header[LEAVES_A], header[LEAVES_B]
    width_a, width_b = header[WIDTH_A], header[WIDTH_B]
    margin_a = 0.25 * given[SPACING_A]
    margin_b = 0.25 * given[SPACING_B]
    longest = min(given[SPACING_A], given[SPACING_B])
    a = SLOPES
    b = SLOPES + 8
    ma = MIDDLES
    mb = MIDDLES + 3
    for k in range(3):
        pad[a + 4 + k] = table_a[p, k]
        pad[b + 4 + k] = table_b[q, k]
    counts[0] = -1
    counts[1] = -1
    answer[at + 10] = 0.0
    rest = 2
    for k in range(ITERATIONS):
        i = settle(table_a, nodes_a, leaves_a, width_a, margin_a, pad, a, ma, counts, 0, stack, near_a)
        j = settle(table_b, nodes_b, leaves_b, width_b, margin_b, pad, b, mb, counts, 1, stack, near_b)
        if i < 0 or j < 0:
            return
        nx = pad[a + 1]
        ny = pad[a + 2]
        nz = pad[a + 3]
        x = pad[b + 1]
        y = pad[b + 2]
        z = pad[b + 3]
        bx = given[0] * x + given[1] * y + given[2] * z
        by = given[3] * x + given[4] * y + given[5] * z
        bz = given[6] * x + given[7] * y + given[8] * z
        x = pad[b + 4]
        y = pad[b + 5]
        z = pad[b + 6]
        rx = given[0] * x + given[1] * y + given[2] * z + given[9] - pad[a + 4]
        ry = given[3] * x + given[4] * y + given[5] * z + given[10] - pad[a + 5]
        rz = given[6] * x + given[7] * y + given[8] * z + given[11] - pad[a + 6]
        d = nx * rx + ny * ry + nz * rz
        if rest == 0:
            # Normals must be opposed, and the place that of the samples.
            if nx * bx + ny * by + nz * bz > 0.0 or abs(d - answer[at + 11]) > longest + 4.0 * given[SLACK]:
                return
            answer[at] = d
            answer[at + 1] = nx
            answer[at + 2] = ny
            answer[at + 3] = nz
            for m in range(3):
                answer[at + 4 + m] = pad[a + 4 + m]
                answer[at + 7 + m] = pad[b + 4 + m]
            answer[at + 10] = 1.0
            return
        # Two unit vectors across the normal, as in `frame`.
        s = -1.0 if nz < 0.0 else 1.0
        w = -1.0 / (s + nz)
        e = nx * ny * w
        ux = 1.0 + s * nx * nx * w
        uy = s * e
        uz = -s * nx
        vx = e
        vy = s + ny * ny * w
        vz = -ny
        r1 = ux * rx + uy * ry + uz * rz
        r2 = vx * rx + vy * ry + vz * rz
        s1 = ux * bx + uy * by + uz * bz
        s2 = vx * bx + vy * by + vz * bz
        a11 = bending(table_a, i, ux, uy, uz, ux, uy, uz)
        a12 = bending(table_a, i, ux, uy, uz, vx, vy, vz)
        a22 = bending(table_a, i, vx, vy, vz, vx, vy, vz)
        fx = given[0] * ux + given[3] * uy + given[6] * uz
        fy = given[1] * ux + given[4] * uy + given[7] * uz
        fz = given[2] * ux + given[5] * uy + given[8] * uz
        gx = given[0] * vx + given[3] * vy + given[6] * vz
        gy = given[1] * vx + given[4] * vy + given[7] * vz
        gz = given[2] * vx + given[5] * vy + given[8] * vz
        b11 = bending(table_b, j, fx, fy, fz, fx, fy, fz)
        b12 = bending(table_b, j, fx, fy, fz, gx, gy, gz)
        b22 = bending(table_b, j, gx, gy, gz, gx, gy, gz)
        A11 = a11 + b11 + d * (b11 * a11 + b12 * a12)
        A12 = a12 + b12 + d * (b11 * a12 + b12 * a22)
        A21 = a12 + b12 + d * (b12 * a11 + b22 * a12)
        A22 = a22 + b22 + d * (b12 * a12 + b22 * a22)
        w1 = b11 * r1 + b12 * r2 - s1
        w2 = b12 * r1 + b22 * r2 - s2
        determinant = A11 * A22 - A12 * A21
        # Flat against each other, or a saddle: no closest pair that Newton's method could find.
        if not determinant > 0.0 or not A11 + A22 > 0.0:
            return
        t1 = (A22 * w1 - A12 * w2) / determinant
        t2 = (A11 * w2 - A21 * w1) / determinant
        size = math.sqrt(t1 * t1 + t2 * t2)
        share = 1.0
        if size > longest:
            share = longest / size
        t1 *= share
        t2 *= share
        k1 = t1 + d * (a11 * t1 + a12 * t2) - r1
        k2 = t2 + d * (a12 * t1 + a22 * t2) - r2
        pad[a + 4] += t1 * ux + t2 * vx
        pad[a + 5] += t1 * uy + t2 * vy
        pad[a + 6] += t1 * uz + t2 * vz
        pad[b + 4] += k1 * fx + k2 * gx
        pad[b + 5] += k1 * fy + k2 * gy
        pad[b + 6] += k1 * fz + k2 * gz
        if size < SETTLED * longest and abs(k1) + abs(k2) < 4.0 * SETTLED * longest:
            rest = 0
        elif k > 12 and size < 1e3 * SETTLED * longest:
            # Rounding ends it before.
            rest -= 1


__all__ = ["refined"]
