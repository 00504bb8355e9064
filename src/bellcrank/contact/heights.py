"""Samples of a surface by their height above another shape, in compiled code.

A smooth shape is known by f and its slope g. Where f is convex the shape lies behind the plane through the foot of
the slope, so no sample of a node lies nearer than f / |g| less what the node reaches towards it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.meeting_layout import (
    HEIGHT,
    LENGTH,
    LOOKED,
    PARTNER,
    PLACE,
    RADIUS,
    SLOPE,
    SPOT,
    STEEP,
    WITHIN,
)
from bellcrank.contact.pieces import BENT, NORMAL, REACH
from bellcrank.contact.refinement import POINT, VALUES
from bellcrank.contact.smooth import DISTANCE, FLAT, GAUGE, ROUND
from bellcrank.contact.tree import BALL
from bellcrank.contact.tree_heights import reach
from bellcrank.contact.tree_layout import BOUND, KIND, LEAVES_A, WIDTH_A
from bellcrank.contact.tree_search import nearest_in_b
from bellcrank.simulate.compiled import part
from bellcrank.simulate.vocabulary import call_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@part
def seen(given: Floats, rows: Floats, k: int, pad: Floats, at: int) -> None:
    """A point of the surface in the frame of the other shape."""
    x = rows[k, 0] - given[9]
    y = rows[k, 1] - given[10]
    z = rows[k, 2] - given[11]
    pad[at] = given[0] * x + given[3] * y + given[6] * z
    pad[at + 1] = given[1] * x + given[4] * y + given[7] * z
    pad[at + 2] = given[2] * x + given[5] * y + given[8] * z


@part
def above_smooth(header: Ints, given: Floats, table: Floats, i: int, pad: Floats) -> float:
    """The height of a sample above a smooth shape, to second order in it."""
    seen(given, table, i, pad, POINT)
    call_at(header[SLOPE], pad, POINT, pad, VALUES)
    gx = pad[VALUES + 1]
    gy = pad[VALUES + 2]
    gz = pad[VALUES + 3]
    return pad[VALUES] / math.sqrt(max(1e-300, gx * gx + gy * gy + gz * gz))  # type: ignore[no-any-return]


@part
def node_above(header: Ints, given: Floats, nodes: Floats, k: int, pad: Floats) -> float:
    """No sample of a node is nearer to a smooth shape than this, nor deeper inside it."""
    seen(given, nodes, k, pad, POINT)
    kind = header[KIND]
    ball = nodes[k, BALL]
    z = pad[POINT + 2]
    size = math.sqrt(pad[POINT] * pad[POINT] + pad[POINT + 1] * pad[POINT + 1] + z * z)
    outside = size - given[RADIUS] - ball
    if kind == ROUND and (z < ball or z > given[LENGTH] - ball):
        return outside  # type: ignore[no-any-return]
    call_at(header[SLOPE], pad, POINT, pad, VALUES)
    f = pad[VALUES]
    if kind == ROUND:
        return max(outside, f / given[STEEP] - ball)  # type: ignore[no-any-return]
    if f < 0.0 and kind != FLAT:
        deep = -given[RADIUS]
        if kind == DISTANCE:
            deep = f
        if kind == GAUGE and f > -0.999:
            # The way out along the ray from the middle.
            deep = size - size / (1.0 + f)
        return deep - ball  # type: ignore[no-any-return]
    gx = pad[VALUES + 1]
    gy = pad[VALUES + 2]
    gz = pad[VALUES + 3]
    inverse = 1.0 / math.sqrt(max(1e-300, gx * gx + gy * gy + gz * gz))
    x = inverse * (given[0] * gx + given[1] * gy + given[2] * gz)
    y = inverse * (given[3] * gx + given[4] * gy + given[5] * gz)
    z = inverse * (given[6] * gx + given[7] * gy + given[8] * gz)
    return max(outside, f * inverse - reach(nodes, k, x, y, z))  # type: ignore[no-any-return]


@part
def lowest_above(
    header: Ints, given: Floats, table: Floats, nodes: Floats, start: int, pad: Floats, stack: Ints
) -> int:
    """The place of the sample lowest above a smooth shape; given[BOUND] is its height. start: Near it, or -1."""
    leaves, width = header[LEAVES_A], header[WIDTH_A]
    best = max(start, 0)
    given[BOUND] = above_smooth(header, given, table, best, pad)
    top = 1
    stack[0] = 0
    while top > 0:
        top -= 1
        k = stack[top]
        header[LOOKED] += 1
        if node_above(header, given, nodes, k, pad) >= given[BOUND]:
            continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                h = above_smooth(header, given, table, i, pad)
                if h < given[BOUND]:
                    given[BOUND] = h
                    best = i
            continue
        to_left = node_above(header, given, nodes, 2 * k + 1, pad)
        to_right = node_above(header, given, nodes, 2 * k + 2, pad)
        stack[top] = 2 * k + 2 if to_left <= to_right else 2 * k + 1
        stack[top + 1] = 2 * k + 1 if to_left <= to_right else 2 * k + 2
        top += 2
    return best


@part
def low_above(
    header: Ints,
    given: Floats,
    table: Floats,
    nodes: Floats,
    bound: float,
    low: Ints,
    measures: Floats,
    pad: Floats,
    stack: Ints,
) -> int:
    """All samples less than the bound above a smooth shape; how many."""
    leaves, width = header[LEAVES_A], header[WIDTH_A]
    count = 0
    top = 1
    stack[0] = 0
    while top > 0:
        top -= 1
        k = stack[top]
        header[LOOKED] += 1
        if node_above(header, given, nodes, k, pad) >= bound:
            continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                if table[i, REACH] > 0.0:
                    h = above_smooth(header, given, table, i, pad)
                    if h < bound:
                        low[count, PLACE] = i
                        low[count, PARTNER] = -1
                        measures[count, HEIGHT] = h
                        count += 1
            continue
        stack[top] = 2 * k + 2
        stack[top + 1] = 2 * k + 1
        top += 2
    return count


@part
def above_quadric(table: Floats, j: int, pad: Floats, at: int) -> float:
    """The height of a point above the quadric of a sample."""
    dx = pad[at] - table[j, 0]
    dy = pad[at + 1] - table[j, 1]
    dz = pad[at + 2] - table[j, 2]
    hx = table[j, BENT] * dx + table[j, BENT + 3] * dy + table[j, BENT + 4] * dz
    hy = table[j, BENT + 3] * dx + table[j, BENT + 1] * dy + table[j, BENT + 5] * dz
    hz = table[j, BENT + 4] * dx + table[j, BENT + 5] * dy + table[j, BENT + 2] * dz
    up = table[j, NORMAL] * dx + table[j, NORMAL + 1] * dy + table[j, NORMAL + 2] * dz
    return up - 0.5 * (dx * hx + dy * hy + dz * hz)  # type: ignore[no-any-return]


@part
def nearest_below(
    header: Ints, given: Floats, table: Floats, nodes: Floats, last: int, pad: Floats, stack: Ints, base: int
) -> int:
    """The other's sample nearest to the point in pad[SPOT], within pad[WITHIN]; -1 for none. last: A guess, or -1."""
    x = pad[SPOT]
    y = pad[SPOT + 1]
    z = pad[SPOT + 2]
    best = -1
    if last >= 0:
        dx = x - table[last, 0]
        dy = y - table[last, 1]
        dz = z - table[last, 2]
        far = math.sqrt(dx * dx + dy * dy + dz * dz)
        if far < pad[WITHIN]:
            pad[WITHIN] = far
            best = last
    nearer = nearest_in_b(header, given, x, y, z, table, nodes, stack, base, pad)
    return nearer if nearer >= 0 else best


__all__ = ["above_smooth", "low_above", "lowest_above", "seen"]
