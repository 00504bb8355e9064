"""Building trees over samples, in compiled code: halving the samples, and what bounds the nodes.

A node is cut in two equal parts across the direction its samples are spread most along. On a surface of a million
samples, where arrays of a level at a time took seconds, this takes tenths of one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.tree_boxes import PAD, WAY, across_edge, along_rim, boxed, spread
from bellcrank.contact.tree_domes import domed
from bellcrank.contact.tree_layout import AXIS, BALL, DRUM, HALF, NODE, ROUND
from bellcrank.contact.units import Unit, matrix, part, vector

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# header
LEAVES = 0
WIDTH = 1
SIZES = 2


@part
def swapped(points: Floats, keys: Floats, order: Ints, a: int, b: int) -> None:
    """Two samples change places."""
    k = order[a]
    order[a] = order[b]
    order[b] = k
    x = keys[a]
    keys[a] = keys[b]
    keys[b] = x
    for c in range(3):
        x = points[a, c]
        points[a, c] = points[b, c]
        points[b, c] = x


@part
def parted_at(points: Floats, keys: Floats, order: Ints, first: int, last: int, middle: int) -> None:
    """Bring the samples with the least keys of [first, last) before `middle` (quickselect)."""
    low = first
    high = last - 1
    while low < high:
        # The median of three as pivot: sorted samples are common.
        m = low + (high - low) // 2
        if keys[m] < keys[low]:
            swapped(points, keys, order, m, low)
        if keys[high] < keys[low]:
            swapped(points, keys, order, high, low)
        if keys[high] < keys[m]:
            swapped(points, keys, order, high, m)
        pivot = keys[m]
        i = low
        j = high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while pivot < keys[j]:
                j -= 1
            if i <= j:
                swapped(points, keys, order, i, j)
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@part
def enclosed(points: Floats, normals: Floats, nodes: Floats, k: int, first: int, last: int) -> None:
    """The ball and the drum around the samples [first, last)."""
    ax = 0.0
    ay = 0.0
    az = 0.0
    for i in range(first, last):
        ax += normals[i, 0]
        ay += normals[i, 1]
        az += normals[i, 2]
    size = math.sqrt(ax * ax + ay * ay + az * az)
    if size > 1e-9:
        ax /= size
        ay /= size
        az /= size
    else:
        ax = 0.0
        ay = 0.0
        az = 1.0
    nodes[k, AXIS] = ax
    nodes[k, AXIS + 1] = ay
    nodes[k, AXIS + 2] = az
    low = 1e300
    high = -1e300
    for c in range(3):
        least = 1e300
        most = -1e300
        for i in range(first, last):
            least = min(least, points[i, c])
            most = max(most, points[i, c])
        nodes[k, c] = 0.5 * (least + most)
    for i in range(first, last):
        along = (
            (points[i, 0] - nodes[k, 0]) * ax
            + (points[i, 1] - nodes[k, 1]) * ay
            + (points[i, 2] - nodes[k, 2]) * az
        )
        low = min(low, along)
        high = max(high, along)
    nodes[k, 0] += 0.5 * (low + high) * ax
    nodes[k, 1] += 0.5 * (low + high) * ay
    nodes[k, 2] += 0.5 * (low + high) * az
    ball = 0.0
    half = 0.0
    drum = 0.0
    for i in range(first, last):
        x = points[i, 0] - nodes[k, 0]
        y = points[i, 1] - nodes[k, 1]
        z = points[i, 2] - nodes[k, 2]
        square = x * x + y * y + z * z
        along = x * ax + y * ay + z * az
        ball = max(ball, square)
        half = max(half, abs(along))
        drum = max(drum, square - along * along)
    # A little more than they are, so that rounding never leaves a sample out.
    nodes[k, BALL] = ROUND * math.sqrt(ball)
    nodes[k, HALF] = ROUND * half
    nodes[k, DRUM] = ROUND * math.sqrt(drum)


@Unit
def halve(
    header_at: Any,
    order_at: Any,
    points_at: Any,
    keys_at: Any,
    pad_at: Any,
    ones_at: Any,
    unused_0: Any,
    unused_1: Any,
    unused_2: Any,
    unused_3: Any,
    unused_4: Any,
) -> int:
    """Bring samples into the order of the tree: every node's stand together, its first half before its second."""
    header = vector(header_at, SIZES)
    number = header[LEAVES] * header[WIDTH]
    order = vector(order_at, number)
    points = matrix(points_at, 0, number, 3)
    keys = vector(keys_at, number)
    ones = vector(ones_at, number)
    pad = vector(pad_at, PAD)
    share = number
    while share > header[WIDTH]:
        first = 0
        while first < number:
            spread(points, ones, first, first + share, pad)
            for i in range(first, first + share):
                keys[i] = pad[WAY] * points[i, 0] + pad[WAY + 1] * points[i, 1] + pad[WAY + 2] * points[i, 2]
            parted_at(points, keys, order, first, first + share, first + share // 2)
            first += share
        share = share // 2
    return 0


@Unit
def enclose(
    header_at: Any,
    unused_0: Any,
    points_at: Any,
    normals_at: Any,
    nodes_at: Any,
    on_rim_at: Any,
    pad_at: Any,
    unused_1: Any,
    unused_2: Any,
    unused_3: Any,
    unused_4: Any,
) -> int:
    """Bound every node of samples that stand in the order of the tree."""
    header = vector(header_at, SIZES)
    leaves = header[LEAVES]
    number = leaves * header[WIDTH]
    points = matrix(points_at, 0, number, 3)
    normals = matrix(normals_at, 0, number, 3)
    nodes = matrix(nodes_at, 0, 2 * leaves - 1, NODE)
    on_rim = vector(on_rim_at, number)
    pad = vector(pad_at, PAD)
    level = leaves
    while level > 0:
        share = number // level
        for k in range(level):
            first = k * share
            last = first + share
            enclosed(points, normals, nodes, level - 1 + k, first, last)
            domed(points, nodes, level - 1 + k, first, last, pad)
            if along_rim(points, on_rim, nodes, level - 1 + k, first, last, pad) or across_edge(
                normals, nodes, level - 1 + k, first, last, pad
            ):
                boxed(points, nodes, level - 1 + k, first, last, pad)
        level = level // 2
    return 0


__all__ = ["PAD", "enclose", "halve"]
