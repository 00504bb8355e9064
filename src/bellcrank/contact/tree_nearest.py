"""The nearest samples of two trees, in compiled code.

They go down the trees, nearest part first, and leave out parts that cannot hold a better sample (branch and bound).
Bounds are looser than the truth by the square of the size of nodes, at rims too, so that of each level as many pairs of
nodes are opened: their number grows with the logarithm of that of the samples.

Sources: Larsen, Gottschalk, Lin, Manocha (2000) for the search of two trees; Hart, Nilsson, Raphael (1968) for the
order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.tree import AXIS, BALL, HALF
from bellcrank.contact.tree_heights import SQUARE, reach, reach_towards
from bellcrank.contact.tree_layout import BOUND, LEAVES_A, LEAVES_B, LOOKED, ROOM, WIDTH_A, WIDTH_B
from bellcrank.contact.tree_queue import queued, unqueued
from bellcrank.contact.turning import brought_back, turned, turned_back
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHARE = 0.01
"""Of a distance: no more is left of it for samples that do not stand opposite each other."""


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
    nodes_a: Floats, i: int, nodes_b: Floats, j: int, given: Floats, dx: float, dy: float, dz: float, x: float,
    y: float, z: float,
) -> float:  # fmt: skip
    """How far two nodes lie apart along the unit vector (x, y, z) from a to b, their centres by (dx, dy, dz)."""
    bx, by, bz = turned_back(given, x, y, z)
    way = x * dx + y * dy + z * dz
    return way - reach_towards(nodes_a, i, x, y, z) - reach_towards(nodes_b, j, -bx, -by, -bz)


@part
def between(
    nodes_a: Floats, i: int, nodes_b: Floats, j: int, given: Floats, enough: float, pad: Floats
) -> float:
    """The least distance that samples of two nodes can have: the most of what a few directions tell.

    Towards each other's centres, between their axes, and along each of them. enough: No more is asked for.
    """
    seen_from_a(given, nodes_b, j, pad, 0)
    dx = pad[0] - nodes_a[i, 0]
    dy = pad[1] - nodes_a[i, 1]
    dz = pad[2] - nodes_a[i, 2]
    size = math.sqrt(dx * dx + dy * dy + dz * dz)
    best = size - nodes_a[i, BALL] - nodes_b[j, BALL]
    if best >= enough:
        return best  # type: ignore[no-any-return]
    if size > 0.0:
        x = dx / size
        y = dy / size
        z = dz / size
        best = max(best, apart(nodes_a, i, nodes_b, j, given, dx, dy, dz, x, y, z))
        if best >= enough:
            return best  # type: ignore[no-any-return]
    ax = nodes_a[i, AXIS]
    ay = nodes_a[i, AXIS + 1]
    az = nodes_a[i, AXIS + 2]
    bx, by, bz = turned(given, nodes_b[j, AXIS], nodes_b[j, AXIS + 1], nodes_b[j, AXIS + 2])
    x = ax - bx
    y = ay - by
    z = az - bz
    size = math.sqrt(x * x + y * y + z * z)
    if size > SQUARE:
        x /= size
        y /= size
        z /= size
        best = max(best, apart(nodes_a, i, nodes_b, j, given, dx, dy, dz, x, y, z))
    if best >= enough:
        return best  # type: ignore[no-any-return]
    best = max(best, apart(nodes_a, i, nodes_b, j, given, dx, dy, dz, ax, ay, az))
    return max(best, apart(nodes_a, i, nodes_b, j, given, dx, dy, dz, -bx, -by, -bz))  # type: ignore[no-any-return]


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
def off_centre(nodes: Floats, i: int, pad: Floats) -> float:
    """The square of the distance of a node's centre from that of the other one, which stands in the pad."""
    x = pad[0] - nodes[i, 0]
    y = pad[1] - nodes[i, 1]
    z = pad[2] - nodes[i, 2]
    return x * x + y * y + z * z  # type: ignore[no-any-return]


@part
def nearest_on_leaves(
    header: Ints, given: Floats, points_a: Floats, i: int, points_b: Floats, j: int, found: Ints, pad: Floats
) -> int:
    """The nearest samples of two leaves, where they are nearer than given[BOUND], which is lowered; 1 or 0."""
    width_a, width_b = header[WIDTH_A], header[WIDTH_B]
    a = i - (header[LEAVES_A] - 1)
    b = j - (header[LEAVES_B] - 1)
    count = 0
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
    return count


@part
def opens_a(header: Ints, nodes_a: Floats, i: int, nodes_b: Floats, j: int) -> bool:
    """Whether of a pair of nodes, not both leaves, that of a is opened: the larger one."""
    if j >= header[LEAVES_B] - 1:
        return True
    return i < header[LEAVES_A] - 1 and nodes_a[i, BALL] >= nodes_b[j, BALL]  # type: ignore[no-any-return]


@part
def nearest_within(
    header: Ints, given: Floats, points_a: Floats, nodes_a: Floats, i: int, points_b: Floats, nodes_b: Floats, j: int,
    found: Ints, stack: Ints, pad: Floats,
) -> int:  # fmt: skip
    """As :func:`nearest_pair`, within two nodes and depth first, which takes no room."""
    count = 0
    top = 2
    stack[0] = i
    stack[1] = j
    while top > 0:
        top -= 2
        i = stack[top]
        j = stack[top + 1]
        header[LOOKED] += 1
        if between(nodes_a, i, nodes_b, j, given, given[BOUND], pad) >= given[BOUND]:
            continue
        if i >= header[LEAVES_A] - 1 and j >= header[LEAVES_B] - 1:
            count = max(count, nearest_on_leaves(header, given, points_a, i, points_b, j, found, pad))
            continue
        open_a = opens_a(header, nodes_a, i, nodes_b, j)
        for side in range(1, 3):
            stack[top] = 2 * i + side if open_a else i
            stack[top + 1] = j if open_a else 2 * j + side
            top += 2
    return count


@part
def shorter(distance: float, beside: float) -> float:
    """How much shorter a distance would be to what lies opposite, not so much beside; no more than a share of it."""
    return min(0.5 * beside * beside / distance, SHARE * distance) if distance > 0.0 else 0.0


@part
def nearest_pair(
    header: Ints, given: Floats, points_a: Floats, nodes_a: Floats, points_b: Floats, nodes_b: Floats, found: Ints,
    stack: Ints, pad: Floats, queue: Ints, bounds: Floats, room: int, beside: float,
) -> int:  # fmt: skip
    """The places of the two samples nearest to each other and nearer than given[BOUND], which is lowered; 1 or 0.

    Pairs of nodes are opened in the order of their bounds, so that none is whose bound lies above the answer. room: How
    many may wait; where there are more, the rest goes depth first. beside: Samples that would be nearer only for
    standing opposite each other, not so much beside, need not be found: of parallel flat sides there are as many as of
    samples. No sample is then nearer than the distance less what :func:`shorter` tells.
    """
    count = 0
    waiting = 0
    i = 0
    j = 0
    here = -math.inf
    while here < given[BOUND] - shorter(given[BOUND], beside):
        if i >= header[LEAVES_A] - 1 and j >= header[LEAVES_B] - 1:
            count = max(count, nearest_on_leaves(header, given, points_a, i, points_b, j, found, pad))
        elif waiting + 2 > room:
            below = nearest_within(
                header, given, points_a, nodes_a, i, points_b, nodes_b, j, found, stack, pad
            )
            count = max(count, below)
        else:
            open_a = opens_a(header, nodes_a, i, nodes_b, j)
            m = 2 * i + 1 if open_a else i
            n = j if open_a else 2 * j + 1
            p = m + 1 if open_a else i
            q = j if open_a else n + 1
            header[LOOKED] += 2
            equal = shorter(given[BOUND], beside)
            low = max(here, between(nodes_a, m, nodes_b, n, given, given[BOUND], pad))
            aside = off_centre(nodes_a, m, pad)
            high = max(here, between(nodes_a, p, nodes_b, q, given, given[BOUND], pad))
            aside -= off_centre(nodes_a, p, pad)
            # Of flat sides all bounds are the same, though parts of them do not lie opposite each other.
            if high < low - equal or (high <= low + equal and aside > 0.0):
                m, n, p, q = p, q, m, n
                low, high = high, low
            within = given[BOUND] - equal
            if high < within:
                queued(queue, bounds, waiting, p, q, high, True)
                waiting += 1
            if low < within and (waiting == 0 or low <= bounds[0] + equal):
                # Among equals the way leads down, so that flat sides come to an end.
                i = m
                j = n
                here = low
                continue
            if low < within:
                queued(queue, bounds, waiting, m, n, low, True)
                waiting += 1
        if waiting == 0:
            break
        here = bounds[0]
        i = queue[0]
        j = queue[1]
        unqueued(queue, bounds, waiting)
        waiting -= 1
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
        bx, by, bz = brought_back(given, nodes_a[k, 0], nodes_a[k, 1], nodes_a[k, 2])
        pad[4] = given[BOUND] + nodes_a[k, BALL]
        if nearest_in_b(header, given, bx, by, bz, points_b, nodes_b, stack, top + 2, pad) < 0:
            continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                bx, by, bz = brought_back(given, points_a[i, 0], points_a[i, 1], points_a[i, 2])
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


__all__ = ["near_samples", "nearest_in_b", "nearest_pair", "shorter"]
