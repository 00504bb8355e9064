"""The nearest samples of two trees, in compiled code.

They go down the trees, nearest part first, and leave out parts that cannot hold a better sample (branch and bound).

Source: Larsen, Gottschalk, Lin, Manocha (2000) for the search of two trees.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.tree import AXIS, BALL, HALF
from bellcrank.contact.tree_heights import reach
from bellcrank.contact.tree_layout import BOUND, LEAVES_A, LEAVES_B, LOOKED, ROOM, WIDTH_A, WIDTH_B
from bellcrank.simulate.compiled import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@part
def seen_from_a(given: Floats, p: Floats, row: int, out: Floats, at: int) -> None:
    """A point of b in the frame of a."""
    for j in range(3):
        out[at + j] = (
            given[3 * j] * p[row, 0]
            + given[3 * j + 1] * p[row, 1]
            + given[3 * j + 2] * p[row, 2]
            + given[9 + j]
        )


@part
def apart(
    nodes_a: Floats,
    i: int,
    nodes_b: Floats,
    j: int,
    given: Floats,
    dx: float,
    dy: float,
    dz: float,
    x: float,
    y: float,
    z: float,
) -> float:
    """How far two nodes lie apart along the unit vector (x, y, z), their centres by (dx, dy, dz)."""
    bx = given[0] * x + given[3] * y + given[6] * z
    by = given[1] * x + given[4] * y + given[7] * z
    bz = given[2] * x + given[5] * y + given[8] * z
    way = x * dx + y * dy + z * dz
    return abs(way) - reach(nodes_a, i, x, y, z) - reach(nodes_b, j, bx, by, bz)


@part
def between(nodes_a: Floats, i: int, nodes_b: Floats, j: int, given: Floats, pad: Floats) -> float:
    """The least distance that samples of two nodes can have: the most of what three directions tell."""
    seen_from_a(given, nodes_b, j, pad, 0)
    dx = pad[0] - nodes_a[i, 0]
    dy = pad[1] - nodes_a[i, 1]
    dz = pad[2] - nodes_a[i, 2]
    size = math.sqrt(dx * dx + dy * dy + dz * dz)
    best = -nodes_a[i, BALL] - nodes_b[j, BALL]
    if size > 0.0:
        best = apart(nodes_a, i, nodes_b, j, given, dx, dy, dz, dx / size, dy / size, dz / size)
    x = nodes_a[i, AXIS]
    y = nodes_a[i, AXIS + 1]
    z = nodes_a[i, AXIS + 2]
    best = max(best, apart(nodes_a, i, nodes_b, j, given, dx, dy, dz, x, y, z))
    x = nodes_b[j, AXIS]
    y = nodes_b[j, AXIS + 1]
    z = nodes_b[j, AXIS + 2]
    ax = given[0] * x + given[1] * y + given[2] * z
    ay = given[3] * x + given[4] * y + given[5] * z
    az = given[6] * x + given[7] * y + given[8] * z
    return max(best, apart(nodes_a, i, nodes_b, j, given, dx, dy, dz, ax, ay, az))  # type: ignore[no-any-return]


@part
def point_to_node(nodes: Floats, k: int, x: float, y: float, z: float) -> float:
    """The least distance a point can have from the samples of a node."""
    dx = x - nodes[k, 0]
    dy = y - nodes[k, 1]
    dz = z - nodes[k, 2]
    size = math.sqrt(dx * dx + dy * dy + dz * dz)
    if not size > 0.0:
        return -nodes[k, BALL]  # type: ignore[no-any-return]
    way = abs(dx * nodes[k, AXIS] + dy * nodes[k, AXIS + 1] + dz * nodes[k, AXIS + 2]) - nodes[k, HALF]
    return max(way, size - reach(nodes, k, dx / size, dy / size, dz / size))  # type: ignore[no-any-return]


@part
def nearest_in_b(
    header: Ints,
    given: Floats,
    x: float,
    y: float,
    z: float,
    points: Floats,
    nodes: Floats,
    stack: Ints,
    base: int,
    pad: Floats,
) -> int:
    """The place of the sample of b nearest to a point of b's frame and nearer than pad[4], which is lowered."""
    leaves, width = header[LEAVES_B], header[WIDTH_B]
    best = -1
    top = base + 1
    stack[base] = 0
    while top > base:
        top -= 1
        k = stack[top]
        if point_to_node(nodes, k, x, y, z) >= pad[4]:
            continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                dx = points[i, 0] - x
                dy = points[i, 1] - y
                dz = points[i, 2] - z
                d = math.sqrt(dx * dx + dy * dy + dz * dz)
                if d < pad[4]:
                    pad[4] = d
                    best = i
            continue
        left = 2 * k + 1
        right = 2 * k + 2
        to_left = point_to_node(nodes, left, x, y, z)
        to_right = point_to_node(nodes, right, x, y, z)
        stack[top] = right if to_left <= to_right else left
        stack[top + 1] = left if to_left <= to_right else right
        top += 2
    return best


@part
def nearest_pair(
    header: Ints,
    given: Floats,
    points_a: Floats,
    nodes_a: Floats,
    points_b: Floats,
    nodes_b: Floats,
    found: Ints,
    stack: Ints,
    pad: Floats,
) -> int:
    """The places of the two samples nearest to each other and nearer than given[BOUND], which is lowered."""
    leaves_a, leaves_b = header[LEAVES_A], header[LEAVES_B]
    width_a, width_b = header[WIDTH_A], header[WIDTH_B]
    top = 2
    stack[0] = 0
    stack[1] = 0
    count = 0
    while top > 0:
        top -= 2
        i = stack[top]
        j = stack[top + 1]
        header[LOOKED] += 1
        if between(nodes_a, i, nodes_b, j, given, pad) >= given[BOUND]:
            continue
        leaf_i = i >= leaves_a - 1
        leaf_j = j >= leaves_b - 1
        if leaf_i and leaf_j:
            a = i - (leaves_a - 1)
            b = j - (leaves_b - 1)
            for m in range(b * width_b, (b + 1) * width_b):
                seen_from_a(given, points_b, m, pad, 0)
                for k in range(a * width_a, (a + 1) * width_a):
                    dx = pad[0] - points_a[k, 0]
                    dy = pad[1] - points_a[k, 1]
                    dz = pad[2] - points_a[k, 2]
                    d = math.sqrt(dx * dx + dy * dy + dz * dz)
                    if d < given[BOUND]:
                        given[BOUND] = d
                        found[0] = k
                        found[1] = m
                        count = 1
            continue
        # The larger node is opened, its nearer part looked at first.
        if leaf_j or (not leaf_i and nodes_a[i, BALL] >= nodes_b[j, BALL]):
            d1 = between(nodes_a, 2 * i + 1, nodes_b, j, given, pad)
            d2 = between(nodes_a, 2 * i + 2, nodes_b, j, given, pad)
            stack[top] = 2 * i + 2 if d1 <= d2 else 2 * i + 1
            stack[top + 1] = j
            stack[top + 2] = 2 * i + 1 if d1 <= d2 else 2 * i + 2
            stack[top + 3] = j
        else:
            d1 = between(nodes_a, i, nodes_b, 2 * j + 1, given, pad)
            d2 = between(nodes_a, i, nodes_b, 2 * j + 2, given, pad)
            stack[top] = i
            stack[top + 1] = 2 * j + 2 if d1 <= d2 else 2 * j + 1
            stack[top + 2] = i
            stack[top + 3] = 2 * j + 1 if d1 <= d2 else 2 * j + 2
        top += 4
    return count


@part
def near_samples(
    header: Ints,
    given: Floats,
    points_a: Floats,
    nodes_a: Floats,
    points_b: Floats,
    nodes_b: Floats,
    found: Ints,
    far: Floats,
    stack: Ints,
    pad: Floats,
) -> int:
    """All samples of a nearer than given[BOUND] to one of b: their places, and that of the nearest one each."""
    leaves, width = header[LEAVES_A], header[WIDTH_A]
    count = 0
    top = 1
    stack[0] = 0
    while top > 0:
        top -= 1
        k = stack[top]
        # The ball of the node, seen from b: is any sample of b near enough?
        x = nodes_a[k, 0] - given[9]
        y = nodes_a[k, 1] - given[10]
        z = nodes_a[k, 2] - given[11]
        bx = given[0] * x + given[3] * y + given[6] * z
        by = given[1] * x + given[4] * y + given[7] * z
        bz = given[2] * x + given[5] * y + given[8] * z
        pad[4] = given[BOUND] + nodes_a[k, BALL]
        if nearest_in_b(header, given, bx, by, bz, points_b, nodes_b, stack, top + 2, pad) < 0:
            continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                x = points_a[i, 0] - given[9]
                y = points_a[i, 1] - given[10]
                z = points_a[i, 2] - given[11]
                bx = given[0] * x + given[3] * y + given[6] * z
                by = given[1] * x + given[4] * y + given[7] * z
                bz = given[2] * x + given[5] * y + given[8] * z
                pad[4] = given[BOUND]
                near = nearest_in_b(header, given, bx, by, bz, points_b, nodes_b, stack, top + 2, pad)
                if near >= 0:
                    if count < header[ROOM]:
                        found[2 * count] = i
                        found[2 * count + 1] = near
                        far[count] = pad[4]
                    count += 1
            continue
        stack[top] = 2 * k + 2
        stack[top + 1] = 2 * k + 1
        top += 2
    return count


__all__ = ["near_samples", "nearest_in_b", "nearest_pair"]
