"""Building trees over samples, in compiled code: halving the samples, and what bounds the nodes.

A node is cut in two equal parts across the direction its samples are spread most along. On a surface of a million
samples, where arrays of a level at a time took seconds, this takes tenths of one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.tree_domes import domed
from bellcrank.contact.tree_layout import (
    ALONG,
    AXIS,
    BALL,
    DRUM,
    HALF,
    INNER,
    NODE,
    ON_RIM,
    OUTER,
    ROUND,
    SIDE,
)
from bellcrank.simulate.compiled import Unit, matrix, part, vector

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TURNS = 12
"""Power iterations for the direction of the widest spread; it need not be exact."""
# header
LEAVES = 0
WIDTH = 1
SIZES = 2
STEEP = 0.1
"""Sine of the angle between the axis of a node and its rim, below which the box would not follow the rim."""
# pad: mean, covariance (xx, yy, zz, xy, xz, yz), direction
SPREAD = 3
WAY = 9
PAD = 12


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
def spread(points: Floats, weights: Floats, first: int, last: int, pad: Floats) -> None:
    """The direction samples are spread most along, into the pad; those without weight do not count."""
    for k in range(PAD):
        pad[k] = 0.0
    total = 0.0
    for i in range(first, last):
        total += weights[i]
    share = 1.0 / total
    for i in range(first, last):
        for k in range(3):
            pad[k] += share * weights[i] * points[i, k]
    for i in range(first, last):
        x = points[i, 0] - pad[0]
        y = points[i, 1] - pad[1]
        z = points[i, 2] - pad[2]
        w = weights[i]
        pad[SPREAD] += w * x * x
        pad[SPREAD + 1] += w * y * y
        pad[SPREAD + 2] += w * z * z
        pad[SPREAD + 3] += w * x * y
        pad[SPREAD + 4] += w * x * z
        pad[SPREAD + 5] += w * y * z
    # From the axis along which they are spread most, tilted so that it is not square to what is looked for.
    widest = 0
    for k in range(1, 3):
        if pad[SPREAD + k] > pad[SPREAD + widest]:
            widest = k
    x = 0.1
    y = 0.07
    z = 0.03
    if widest == 0:
        x = 1.0
    elif widest == 1:
        y = 1.0
    else:
        z = 1.0
    for _ in range(TURNS):
        u = pad[SPREAD] * x + pad[SPREAD + 3] * y + pad[SPREAD + 4] * z
        v = pad[SPREAD + 3] * x + pad[SPREAD + 1] * y + pad[SPREAD + 5] * z
        w = pad[SPREAD + 4] * x + pad[SPREAD + 5] * y + pad[SPREAD + 2] * z
        size = math.sqrt(u * u + v * v + w * w)
        if size > 0.0:
            x = u / size
            y = v / size
            z = w / size
    pad[WAY] = x
    pad[WAY + 1] = y
    pad[WAY + 2] = z


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


@part
def boxed(points: Floats, on_rim: Floats, nodes: Floats, k: int, first: int, last: int, pad: Floats) -> None:
    """How many samples of a rim a node has; of two or more, a box one side of which follows the line through them."""
    count = 0.0
    for i in range(first, last):
        count += on_rim[i]
    nodes[k, ON_RIM] = count
    if count < 1.5:
        return
    spread(points, on_rim, first, last, pad)
    ax = nodes[k, AXIS]
    ay = nodes[k, AXIS + 1]
    az = nodes[k, AXIS + 2]
    # Across the rim and the axis; which way is no matter.
    x = pad[WAY + 1] * az - pad[WAY + 2] * ay
    y = pad[WAY + 2] * ax - pad[WAY] * az
    z = pad[WAY] * ay - pad[WAY + 1] * ax
    size = math.sqrt(x * x + y * y + z * z)
    if not size > STEEP:
        return
    x /= size
    y /= size
    z /= size
    inner = -1e300
    outer = -1e300
    along = 0.0
    for i in range(first, last):
        dx = points[i, 0] - nodes[k, 0]
        dy = points[i, 1] - nodes[k, 1]
        dz = points[i, 2] - nodes[k, 2]
        out = x * dx + y * dy + z * dz
        inner = max(inner, -out)
        outer = max(outer, out)
        beside = (ay * z - az * y) * dx + (az * x - ax * z) * dy + (ax * y - ay * x) * dz
        along = max(along, abs(beside))
    nodes[k, SIDE] = x
    nodes[k, SIDE + 1] = y
    nodes[k, SIDE + 2] = z
    little = (ROUND - 1.0) * nodes[k, DRUM]
    nodes[k, INNER] = inner + little
    nodes[k, OUTER] = outer + little
    nodes[k, ALONG] = along + little


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
            boxed(points, on_rim, nodes, level - 1 + k, first, last, pad)
        level = level // 2
    return 0


__all__ = ["enclose", "halve"]
