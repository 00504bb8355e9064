"""Boxes of nodes at rims and across edges, oblique or not, in compiled code.

A drum sticks out of a rim, and out of the sides of an edge, by a share of its width; a box with sides along these does
by the square of it. With the normals a, b, c of three sides a direction is m = u a + v b + w c, and along it samples
reach no farther than the sum of u, v and w times what they reach along a, b and c.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.tree_layout import AXIS, BALL, INNER, ON_RIM, OUTER, ROUND, SIDES
from bellcrank.contact.units import part

Floats = NDArray[np.float64]

TURNS = 12
"""Power iterations for the direction of the widest spread; it need not be exact."""
STEEP = 0.1
"""Sine of the angle between the sides of a box, or between the axis of a node and its rim, at least."""
EDGE = 0.8
"""Cosine between normals of a node below which there may be an edge."""
HALF_EDGE = math.sqrt(0.5 + 0.5 * EDGE)
"""That of half the angle, by which they all differ from their mean, at most."""
CORNER = 0.3
"""Cosine between a normal and the way along an edge from which on there may be a corner."""
# pad: mean, covariance (xx, yy, zz, xy, xz, yz), direction; three normals of a box
SPREAD = 3
WAY = 9
FIRST = 12
SECOND = 15
THIRD = 18
PAD = 21


@part
def spread(points: Floats, weights: Floats, first: int, last: int, pad: Floats) -> None:
    """The direction samples are spread most along, into the pad; those without weight do not count."""
    for k in range(FIRST):
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
def along_rim(
    points: Floats, on_rim: Floats, nodes: Floats, k: int, first: int, last: int, pad: Floats
) -> bool:
    """The axis, and a direction across the rim, as normals of a box; False where a node has no two samples of a rim."""
    count = 0.0
    for i in range(first, last):
        count += on_rim[i]
    nodes[k, ON_RIM] = count
    if count < 1.5:
        return False
    spread(points, on_rim, first, last, pad)
    for c in range(3):
        pad[FIRST + c] = nodes[k, AXIS + c]
    # Across the line through the samples of the rim; which way is no matter.
    return crossed(pad, FIRST, WAY, SECOND) and crossed(pad, FIRST, SECOND, THIRD)


@part
def crossed(pad: Floats, a: int, b: int, to: int) -> bool:
    """The unit vector across two of them in the pad; False where these are nearly the same."""
    x = pad[a + 1] * pad[b + 2] - pad[a + 2] * pad[b + 1]
    y = pad[a + 2] * pad[b] - pad[a] * pad[b + 2]
    z = pad[a] * pad[b + 1] - pad[a + 1] * pad[b]
    size = math.sqrt(x * x + y * y + z * z)
    if not size > STEEP:
        return False
    pad[to] = x / size
    pad[to + 1] = y / size
    pad[to + 2] = z / size
    return True


@part
def take_normal(normals: Floats, i: int, pad: Floats, to: int) -> None:
    """The unit normal of a sample, into the pad."""
    size = 0.0
    for c in range(3):
        size += normals[i, c] * normals[i, c]
    for c in range(3):
        pad[to + c] = normals[i, c] / math.sqrt(size)


@part
def farthest_normal(
    normals: Floats, first: int, last: int, x: float, y: float, z: float, both: bool, pad: Floats, to: int
) -> float:
    """The normal that is turned farthest from a direction, or from both ways along it, and the cosine between them."""
    found = first
    least = 1e300
    for i in range(first, last):
        size = 0.0
        for c in range(3):
            size += normals[i, c] * normals[i, c]
        cosine = (normals[i, 0] * x + normals[i, 1] * y + normals[i, 2] * z) / math.sqrt(size)
        if both:
            cosine = -abs(cosine)
        if cosine < least:
            least = cosine
            found = i
    take_normal(normals, found, pad, to)
    return least


@part
def across_edge(normals: Floats, nodes: Floats, k: int, first: int, last: int, pad: Floats) -> bool:
    """Normals on both sides of an edge, and a third at a corner, as those of a box; False where there is no edge."""
    x = nodes[k, AXIS]
    y = nodes[k, AXIS + 1]
    z = nodes[k, AXIS + 2]
    if farthest_normal(normals, first, last, x, y, z, False, pad, FIRST) > HALF_EDGE:
        return False
    x = pad[FIRST]
    y = pad[FIRST + 1]
    z = pad[FIRST + 2]
    if farthest_normal(normals, first, last, x, y, z, False, pad, SECOND) > EDGE or not crossed(
        pad, FIRST, SECOND, THIRD
    ):
        return False
    x = pad[THIRD]
    y = pad[THIRD + 1]
    z = pad[THIRD + 2]
    # The least of both ways along it is the one that lies across most.
    if farthest_normal(normals, first, last, x, y, z, True, pad, THIRD) > -CORNER:
        pad[THIRD] = x
        pad[THIRD + 1] = y
        pad[THIRD + 2] = z
    return True


@part
def dual(nodes: Floats, k: int, row: int, pad: Floats, a: int, b: int, c: int) -> None:
    """What tells the part of a direction along the vector at a of three in the pad."""
    x = pad[b + 1] * pad[c + 2] - pad[b + 2] * pad[c + 1]
    y = pad[b + 2] * pad[c] - pad[b] * pad[c + 2]
    z = pad[b] * pad[c + 1] - pad[b + 1] * pad[c]
    volume = x * pad[a] + y * pad[a + 1] + z * pad[a + 2]
    nodes[k, row] = x / volume
    nodes[k, row + 1] = y / volume
    nodes[k, row + 2] = z / volume


@part
def boxed(points: Floats, nodes: Floats, k: int, first: int, last: int, pad: Floats) -> None:
    """The box of a node with sides across three unit vectors in the pad."""
    dual(nodes, k, SIDES, pad, FIRST, SECOND, THIRD)
    dual(nodes, k, SIDES + 3, pad, SECOND, THIRD, FIRST)
    dual(nodes, k, SIDES + 6, pad, THIRD, FIRST, SECOND)
    little = (ROUND - 1.0) * nodes[k, BALL]
    for c in range(3):
        at = FIRST + 3 * c
        inner = -1e300
        outer = -1e300
        for i in range(first, last):
            out = (
                (points[i, 0] - nodes[k, 0]) * pad[at]
                + (points[i, 1] - nodes[k, 1]) * pad[at + 1]
                + (points[i, 2] - nodes[k, 2]) * pad[at + 2]
            )
            inner = max(inner, -out)
            outer = max(outer, out)
        nodes[k, INNER + c] = inner + little
        nodes[k, OUTER + c] = outer + little


__all__ = ["PAD", "WAY", "across_edge", "along_rim", "boxed", "spread"]
