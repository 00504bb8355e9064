"""Surfaces of patches in compiled searches: the foot of a point, the normal and the curvature there, and the piece.

A search knows such a surface by points spread over it (:mod:`bellcrank.contact.covering`), which lead to the patches
around a place. Newton's method finds the foot of a point on a patch; of the patches around it the one that comes
nearest with what it covers is taken. Behind the table of samples stand the sizes of patches, the patch and the
parameters of every sample, and the patches themselves.

Source: Farin (2002), Curves and Surfaces for CAGD, sections 5.1 (Bernstein polynomials), 14.6 (tensor products), 19.3
(curvature).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import COLUMNS, PAD, REACH, SAMPLE, SLOPES
from bellcrank.contact.settling import CROWD, gathered
from bellcrank.contact.tree import BALL
from bellcrank.simulate.compiled import Unit, matrix, part, vector

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STEPS = 30
"""Newton steps for a foot at most."""
EXACT = 1e-12
"""Last Newton step in parameters."""
SAME = 1e-9
"""Parameters that differ by less are the same: a rim is not left, and a patch not changed, by less."""
CHANGES = 8
"""How often a patch is changed in one search of a point before seams that are no smooth ones stop it."""
HYSTERESIS = 0.6
"""How far, in parameters, a point may then lie beyond what a patch covers."""
WINDOW = 0.5
"""How far, in parameters, a contact point may move before its patch is told anew; a program's foot begins there."""
INNER = 0.05
"""How far it may move at least, where no rim follows."""
LARGE = 1e300
ORDER = 8
"""Control points of a patch along one side at most."""

# behind the samples: sizes of patches and the sign of their normals, then for each place of the tree patch, u and v
ROWS = 0
NET = 1
SIGN = 2
SIZES = 4
PLACE = 3
# rows of patches: limits of u and v, where there are rims (LARGE for none), control points
RIMS = 4
CONTROL = 8
# counts, behind those of samples gathered: what a call is about, and changes of patches on each side
LEAVES = 2
WIDTH = 3
SIDE = 4
WRITES = 5
CHANGED = 6
# pad, behind what kernels of a smooth shape take: for each side patch, u, v, how far beyond a rim in parameters and
# [m], H (6); the same of a trial; polynomials and their derivatives; the point of a patch and its derivatives
PATCHED = PAD + 16
U = 1
V = 2
OVER = 3
WAY = 4
BENDS = 5
STATE = 12
TRIAL = PATCHED + 2 * STATE
BASIS = TRIAL + STATE
AT = BASIS + 6 * ORDER
BEYOND_BY = AT + 18
PADDED = BEYOND_BY + 1


@part
def bernstein(degree: int, t: float, pad: Floats, at: int) -> None:
    """The polynomials of a degree at t, and their first and second derivatives, ORDER numbers each."""
    for i in range(3 * ORDER):
        pad[at + i] = 0.0
    pad[at] = 1.0
    for level in range(1, degree + 1):
        for i in range(degree + 1):
            below = pad[at + i - 1] if i > 0 else 0.0
            if level == degree:
                pad[at + ORDER + i] = degree * (below - pad[at + i])
            if level == degree - 1:
                lowest = pad[at + i - 2] if i > 1 else 0.0
                pad[at + 2 * ORDER + i] = degree * (degree - 1) * (lowest - 2.0 * below + pad[at + i])
        for back in range(level + 1):
            i = level - back
            below = pad[at + i - 1] if i > 0 else 0.0
            pad[at + i] = (1.0 - t) * pad[at + i] + t * below


@part
def evaluated(nets: Floats, patch: int, rows: int, columns: int, u: float, v: float, pad: Floats) -> None:
    """The point of a patch, its derivatives by u and v, and by uu, uv, vv, into pad[AT]."""
    bernstein(rows - 1, u, pad, BASIS)
    bernstein(columns - 1, v, pad, BASIS + 3 * ORDER)
    for k in range(18):
        pad[AT + k] = 0.0
    for i in range(rows):
        value = pad[BASIS + i]
        slope = pad[BASIS + ORDER + i]
        bend = pad[BASIS + 2 * ORDER + i]
        for c in range(3):
            along = 0.0
            by_v = 0.0
            by_vv = 0.0
            for j in range(columns):
                x = nets[patch, CONTROL + 3 * (i * columns + j) + c]
                along += pad[BASIS + 3 * ORDER + j] * x
                by_v += pad[BASIS + 4 * ORDER + j] * x
                by_vv += pad[BASIS + 5 * ORDER + j] * x
            pad[AT + c] += value * along
            pad[AT + 3 + c] += slope * along
            pad[AT + 6 + c] += value * by_v
            pad[AT + 9 + c] += bend * along
            pad[AT + 12 + c] += slope * by_v
            pad[AT + 15 + c] += value * by_vv


@part
def dots(pad: Floats, first: int, second: int) -> float:
    """Of two derivatives in pad[AT]."""
    return (  # type: ignore[no-any-return]
        pad[AT + first] * pad[AT + second]
        + pad[AT + first + 1] * pad[AT + second + 1]
        + pad[AT + first + 2] * pad[AT + second + 2]
    )


@part
def foot(
    nets: Floats, patch: int, rows: int, columns: int, x: float, y: float, z: float, pad: Floats, at: int
) -> None:
    """The parameters at pad[at + U] of the point of a patch nearest to another one, from those that stand there."""
    for _ in range(STEPS):
        u = pad[at + U]
        v = pad[at + V]
        evaluated(nets, patch, rows, columns, u, v, pad)
        rx = pad[AT] - x
        ry = pad[AT + 1] - y
        rz = pad[AT + 2] - z
        g1 = pad[AT + 3] * rx + pad[AT + 4] * ry + pad[AT + 5] * rz
        g2 = pad[AT + 6] * rx + pad[AT + 7] * ry + pad[AT + 8] * rz
        m11 = dots(pad, 3, 3)
        m12 = dots(pad, 3, 6)
        m22 = dots(pad, 6, 6)
        h11 = m11 + pad[AT + 9] * rx + pad[AT + 10] * ry + pad[AT + 11] * rz
        h12 = m12 + pad[AT + 12] * rx + pad[AT + 13] * ry + pad[AT + 14] * rz
        h22 = m22 + pad[AT + 15] * rx + pad[AT + 16] * ry + pad[AT + 17] * rz
        flat = m11 * m22 - m12 * m12
        det = h11 * h22 - h12 * h12
        if not (det > 0.1 * flat and h11 > 0.0):
            # Far from the surface the second derivatives may turn the step round: Gauss and Newton's then.
            h11 = m11
            h12 = m12
            h22 = m22
            det = flat
        # Where a side of the patch is a single point nothing changes along it.
        soft = 1e-14 * (h11 + h22)
        det = max(det + soft * (h11 + h22), 1e-300)
        du = ((h22 + soft) * g1 - h12 * g2) / det
        dv = ((h11 + soft) * g2 - h12 * g1) / det
        size = max(abs(du), abs(dv))
        if not math.isfinite(size):
            return
        share = min(1.0, 0.5 / max(size, 1e-300))
        pad[at + U] = min(max(u - share * du, -1.0), 2.0)
        pad[at + V] = min(max(v - share * dv, -1.0), 2.0)
        if size < EXACT:
            return


@part
def over(nets: Floats, patch: int, u: float, v: float) -> float:
    """How far parameters lie beyond what a patch covers."""
    first = max(max(nets[patch, 0], 0.0) - u, u - min(nets[patch, 1], 1.0))
    second = max(max(nets[patch, 2], 0.0) - v, v - min(nets[patch, 3], 1.0))
    return max(max(first, second), 0.0)  # type: ignore[no-any-return]


@part
def missed(
    nets: Floats, patch: int, rows: int, columns: int, x: float, y: float, z: float, pad: Floats, at: int
) -> float:
    """Square of the distance of a point from what a patch covers, nearest to the foot."""
    u = min(max(pad[at + U], max(nets[patch, 0], 0.0)), min(nets[patch, 1], 1.0))
    v = min(max(pad[at + V], max(nets[patch, 2], 0.0)), min(nets[patch, 3], 1.0))
    evaluated(nets, patch, rows, columns, u, v, pad)
    dx = pad[AT] - x
    dy = pad[AT + 1] - y
    dz = pad[AT + 2] - z
    return dx * dx + dy * dy + dz * dz  # type: ignore[no-any-return]


@part
def nearest(
    table: Floats, nodes: Floats, leaves: int, width: int, x: float, y: float, z: float, stack: Ints
) -> int:
    """The sample nearest to a point."""
    best = 0
    least = LARGE
    top = 1
    stack[0] = 0
    while top > 0:
        top -= 1
        k = stack[top]
        dx = x - nodes[k, 0]
        dy = y - nodes[k, 1]
        dz = z - nodes[k, 2]
        far = math.sqrt(dx * dx + dy * dy + dz * dz) - nodes[k, BALL]
        if far > 0.0 and far * far >= least:
            continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                dx = x - table[i, 0]
                dy = y - table[i, 1]
                dz = z - table[i, 2]
                square = dx * dx + dy * dy + dz * dz
                if table[i, REACH] > 0.0 and square < least:
                    least = square
                    best = i
            continue
        # The nearer child comes first.
        left = 2 * k + 1
        ax = x - nodes[left, 0]
        ay = y - nodes[left, 1]
        az = z - nodes[left, 2]
        bx = x - nodes[left + 1, 0]
        by = y - nodes[left + 1, 1]
        bz = z - nodes[left + 1, 2]
        first = left
        if ax * ax + ay * ay + az * az > bx * bx + by * by + bz * bz:
            first = left + 1
        stack[top] = 2 * left + 1 - first
        stack[top + 1] = first
        top += 2
    return best


@part
def begin(
    places: Floats, nets: Floats, rows: int, columns: int, i: int, x: float, y: float, z: float, pad: Floats
) -> None:
    """The foot of a point on the patch of a sample, as a trial."""
    pad[TRIAL] = places[i, 0]
    pad[TRIAL + U] = places[i, 1]
    pad[TRIAL + V] = places[i, 2]
    foot(nets, int(places[i, 0]), rows, columns, x, y, z, pad, TRIAL)


@part
def keep(pad: Floats, at: int) -> None:
    """The trial is better."""
    for k in range(3):
        pad[at + k] = pad[TRIAL + k]


@part
def choose(
    table: Floats, nodes: Floats, leaves: int, width: int, places: Floats, nets: Floats, rows: int, columns: int,
    x: float, y: float, z: float, pad: Floats, at: int, stack: Ints, near: Ints,
) -> None:  # fmt: skip
    """The patch that comes nearest to a point with what it covers, and the foot on it."""
    best = LARGE
    if pad[at] >= 0.0:
        best = missed(nets, int(pad[at]), rows, columns, x, y, z, pad, at)
    i = nearest(table, nodes, leaves, width, x, y, z, stack)
    if places[i, 0] != pad[at]:
        begin(places, nets, rows, columns, i, x, y, z, pad)
        far = missed(nets, int(pad[TRIAL]), rows, columns, x, y, z, pad, TRIAL)
        if far < best:
            best = far
            keep(pad, at)
    patch = int(pad[at])
    if over(nets, patch, pad[at + U], pad[at + V]) <= SAME:
        return
    first = places[i, 0]
    count = gathered(table, nodes, leaves, width, x, y, z, table[i, REACH], stack, near)
    if count < 0:
        count = CROWD
    for k in range(count):
        own = places[near[k], 0]
        if own == first or own == pad[at]:
            continue
        # Of each patch its sample nearest to the point.
        dx = x - table[near[k], 0]
        dy = y - table[near[k], 1]
        dz = z - table[near[k], 2]
        square = dx * dx + dy * dy + dz * dz
        leads = True
        for m in range(count):
            if places[near[m], 0] == own and m != k:
                dx = x - table[near[m], 0]
                dy = y - table[near[m], 1]
                dz = z - table[near[m], 2]
                other = dx * dx + dy * dy + dz * dz
                if other < square or (other == square and m < k):
                    leads = False
                    break
        if leads:
            begin(places, nets, rows, columns, near[k], x, y, z, pad)
            far = missed(nets, int(own), rows, columns, x, y, z, pad, TRIAL)
            if far < best:
                best = far
                keep(pad, at)


@part
def told(
    nets: Floats, patch: int, rows: int, columns: int, sign: float, pad: Floats, at: int, to: int
) -> None:
    """Point and normal at the parameters into pad[to], curvature and how far beyond a rim they lie beside them."""
    u = pad[at + U]
    v = pad[at + V]
    evaluated(nets, patch, rows, columns, u, v, pad)
    for k in range(3):
        pad[to + 4 + k] = pad[AT + k]
    first = max(max(nets[patch, RIMS] - u, u - nets[patch, RIMS + 1]), 0.0)
    second = max(max(nets[patch, RIMS + 2] - v, v - nets[patch, RIMS + 3]), 0.0)
    pad[at + OVER] = max(first, second)
    E = dots(pad, 3, 3)
    F = dots(pad, 3, 6)
    G = dots(pad, 6, 6)
    pad[at + WAY] = math.sqrt(first * first * E + second * second * G)
    if E * G - F * F <= 1e-20 * (E + G) * (E + G):
        # A side of the patch is a single point: what is beside it tells the normal.
        evaluated(nets, patch, rows, columns, u + 1e-4 * (0.5 - u), v + 1e-4 * (0.5 - v), pad)
        E = dots(pad, 3, 3)
        F = dots(pad, 3, 6)
        G = dots(pad, 6, 6)
    det = 1.0 / max(E * G - F * F, 1e-300)
    size = sign * math.sqrt(det)
    nx = size * (pad[AT + 4] * pad[AT + 8] - pad[AT + 5] * pad[AT + 7])
    ny = size * (pad[AT + 5] * pad[AT + 6] - pad[AT + 3] * pad[AT + 8])
    nz = size * (pad[AT + 3] * pad[AT + 7] - pad[AT + 4] * pad[AT + 6])
    pad[to + 1] = nx
    pad[to + 2] = ny
    pad[to + 3] = nz
    # H = L a a' + M (a b' + b a') + N b b' with the dual tangents a, b.
    L = nx * pad[AT + 9] + ny * pad[AT + 10] + nz * pad[AT + 11]
    M = nx * pad[AT + 12] + ny * pad[AT + 13] + nz * pad[AT + 14]
    N = nx * pad[AT + 15] + ny * pad[AT + 16] + nz * pad[AT + 17]
    ax = det * (G * pad[AT + 3] - F * pad[AT + 6])
    ay = det * (G * pad[AT + 4] - F * pad[AT + 7])
    az = det * (G * pad[AT + 5] - F * pad[AT + 8])
    bx = det * (E * pad[AT + 6] - F * pad[AT + 3])
    by = det * (E * pad[AT + 7] - F * pad[AT + 4])
    bz = det * (E * pad[AT + 8] - F * pad[AT + 5])
    pad[at + BENDS] = L * ax * ax + 2.0 * M * ax * bx + N * bx * bx
    pad[at + BENDS + 1] = L * ay * ay + 2.0 * M * ay * by + N * by * by
    pad[at + BENDS + 2] = L * az * az + 2.0 * M * az * bz + N * bz * bz
    pad[at + BENDS + 3] = L * ax * ay + M * (ax * by + bx * ay) + N * bx * by
    pad[at + BENDS + 4] = L * ax * az + M * (ax * bz + bx * az) + N * bx * bz
    pad[at + BENDS + 5] = L * ay * az + M * (ay * bz + by * az) + N * by * bz


@part
def write(nets: Floats, patch: int, numbers: int, pad: Floats, at: int, to: int, piece: Floats) -> None:
    """The patch as the equations of motion take it: point, u, v, their limits until it is told anew, control points."""
    for k in range(3):
        piece[k] = pad[to + 4 + k]
    for k in range(2):
        own = pad[at + U + k]
        piece[3 + k] = own
        low = max(nets[patch, 2 * k], own - WINDOW)
        high = min(nets[patch, 2 * k + 1], own + WINDOW)
        # A point on a rim leaves it at the next step; one between patches has some room.
        piece[5 + 2 * k] = min(low, own - (SAME if nets[patch, RIMS + 2 * k] > -LARGE else INNER))
        piece[6 + 2 * k] = max(high, own + (SAME if nets[patch, RIMS + 2 * k + 1] < LARGE else INNER))
    for k in range(numbers):
        piece[9 + k] = nets[patch, CONTROL + k]


@Unit
def settle_patch(
    near_at: Any,
    counts_at: Any,
    table_at: Any,
    nodes_at: Any,
    pad_at: Any,
    piece_at: Any,
    unused_0: Any,
    unused_1: Any,
    unused_2: Any,
    stack_at: Any,
    unused_3: Any,
) -> int:
    """Pull a point of one side in the pad onto its surface of patches, with normal and curvature, or write its piece.

    Like :func:`bellcrank.contact.settling.settle`; where counts has -1 of a side, its patch is looked for anew.
    """
    counts = vector(counts_at, CHANGED + 2)
    leaves, width, side = counts[LEAVES], counts[WIDTH], counts[SIDE]
    number = leaves * width
    near = vector(near_at, CROWD)
    stack = vector(stack_at, 1)
    pad = vector(pad_at, PADDED)
    table = matrix(table_at, 0, number, SAMPLE)
    nodes = matrix(nodes_at, 0, 2 * leaves - 1, COLUMNS)
    sizes = matrix(table_at, SAMPLE * number, 1, SIZES)
    rows = int(sizes[0, ROWS])
    columns = int(sizes[0, NET])
    numbers = 3 * rows * columns
    places = matrix(table_at, SAMPLE * number + SIZES, number, PLACE)
    nets = matrix(table_at, (SAMPLE + PLACE) * number + SIZES, 1, CONTROL + numbers)
    at = PATCHED + STATE * side
    to = SLOPES + 8 * side
    x = pad[to + 4]
    y = pad[to + 5]
    z = pad[to + 6]
    if counts[side] < 0:
        counts[side] = 1
        counts[CHANGED + side] = 0
        pad[at] = -1.0
    far = LARGE
    if pad[at] >= 0.0:
        foot(nets, int(pad[at]), rows, columns, x, y, z, pad, at)
        far = over(nets, int(pad[at]), pad[at + U], pad[at + V])
    if far > (SAME if counts[CHANGED + side] < CHANGES else HYSTERESIS):
        before = pad[at]
        choose(table, nodes, leaves, width, places, nets, rows, columns, x, y, z, pad, at, stack, near)
        if pad[at] != before:
            counts[CHANGED + side] += 1
    patch = int(pad[at])
    told(nets, patch, rows, columns, sizes[0, SIGN], pad, at, to)
    if counts[WRITES] == 1:
        write(nets, patch, numbers, pad, at, to, vector(piece_at, 9 + numbers))
    return 0


__all__ = ["settle_patch"]
