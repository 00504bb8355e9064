"""Exact distances from the triangles of a mesh: a tree of boxes, searched from the nearest triangle of the last point.

Source: Ericson (2005), Real-Time Collision Detection, sections 5.1 and 6.2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.vectors import Vector
from bellcrank.program.loops import Reals, Reals2, Records, compiled, entry, ints, reals

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

LEAF = 2
"""Triangles in a box without boxes, at most: one is tested in about the time of two boxes."""
DEEPEST = 64
"""Boxes that wait: at most one for each level, of which there are fewer than bits in the number of triangles."""


class Triangle(NamedTuple):
    """Three corners."""

    a: Vector
    b: Vector
    c: Vector

    def square_of_distance(self, p: Vector) -> float:
        """Of a point; a triangle without area is its sides."""
        ab, bc, ca = self.b - self.a, self.c - self.b, self.a - self.c
        pa, pb, pc = p - self.a, p - self.b, p - self.c
        n = bc.cross(ca)
        size = n.square
        if size > 0.0 and (
            ab.cross(pa).dot(n) >= 0.0 and bc.cross(pb).dot(n) >= 0.0 and ca.cross(pc).dot(n) >= 0.0
        ):
            return pa.dot(n) ** 2 / size
        return min(_beside(ab, pa), min(_beside(bc, pb), _beside(ca, pc)))


class Box(NamedTuple):
    """Corners of a box along the axes."""

    low: Vector
    high: Vector

    def square_of_distance(self, p: Vector) -> float:
        """Of a point; 0 within."""
        x = max(max(self.low.x - p.x, p.x - self.high.x), 0.0)
        y = max(max(self.low.y - p.y, p.y - self.high.y), 0.0)
        z = max(max(self.low.z - p.z, p.z - self.high.z), 0.0)
        return x * x + y * y + z * z


class Tree(NamedTuple):
    """Boxes around triangles. Box 1 holds all, boxes 2k and 2k + 1 share what is in box k.

    leaves: The first of the boxes without boxes; there are as many. size: Triangles in each of those.
    """

    boxes: Records[Box]
    triangles: Records[Triangle]
    leaves: int
    size: int


@compiled
def _beside(side: Vector, p: Vector) -> float:
    """The square of the distance from a side, given from its beginning."""
    square = side.square
    along = min(max(side.dot(p) / square, 0.0), 1.0) if square > 0.0 else 0.0
    return (p - side * along).square


@entry
def _distances(tree: Tree, points: Reals2, out: Reals) -> int:
    waiting = ints(DEEPEST)
    least = reals(DEEPEST)
    nearest = 0
    for n in range(len(out)):
        p = Vector(points[n, 0], points[n, 1], points[n, 2])
        # The nearest triangle of the last point, a neighbour as a rule, leaves few boxes to look into.
        best = tree.triangles[nearest].square_of_distance(p)
        waiting[0], least[0] = 1, 0.0
        count = 1
        while count > 0:
            count -= 1
            k = waiting[count]
            if least[count] >= best:
                continue
            if k >= tree.leaves:
                first = (k - tree.leaves) * tree.size
                for t in range(first, first + tree.size):
                    d = tree.triangles[t].square_of_distance(p)
                    if d < best:
                        best, nearest = d, t
                continue
            near, far = 2 * k, 2 * k + 1
            d_near, d_far = tree.boxes[near].square_of_distance(p), tree.boxes[far].square_of_distance(p)
            if d_far < d_near:
                near, far, d_near, d_far = far, near, d_far, d_near
            if d_far < best:
                waiting[count], least[count] = far, d_far
                count += 1
            if d_near < best:
                waiting[count], least[count] = near, d_near
                count += 1
        out[n] = math.sqrt(best)
    return 0


def tree_of(v: Array, f: Indices) -> Tree:
    """A tree of triangles, by halves along the longest side of the box around their middles."""
    corners = v[f]
    middles = np.ascontiguousarray(corners.mean(axis=1).T)
    leaves = 2 ** max(math.ceil(math.log2(len(f) / LEAF)), 0)
    size = -(-len(f) // leaves)
    # The last triangle fills the boxes up.
    order = np.minimum(np.arange(leaves * size), len(f) - 1)
    for boxes in (2**level for level in range(leaves.bit_length() - 1)):
        parts = order.reshape(boxes, -1)
        x = middles[:, parts]
        axis = np.argmax(np.ptp(x, axis=2), axis=0)
        halves = np.argsort(x[axis, np.arange(boxes)], axis=1, kind="stable")
        order = np.take_along_axis(parts, halves, axis=1).reshape(-1)
    corners = corners[order]
    lows, highs = np.zeros((2 * leaves, 3)), np.zeros((2 * leaves, 3))
    each = corners.reshape(leaves, 3 * size, 3)
    here = slice(leaves, 2 * leaves)
    lows[here], highs[here] = each[:, 0], each[:, 0]
    for k in range(1, 3 * size):
        np.minimum(lows[here], each[:, k], out=lows[here])
        np.maximum(highs[here], each[:, k], out=highs[here])
    for first in (leaves >> level for level in range(1, leaves.bit_length())):
        below = slice(2 * first, 4 * first)
        lows[first : 2 * first] = np.minimum(lows[below][::2], lows[below][1::2])
        highs[first : 2 * first] = np.maximum(highs[below][::2], highs[below][1::2])
    triangles = Records.columns(Triangle, *(corners[:, k] for k in range(3)))
    return Tree(Records.columns(Box, lows, highs), triangles, leaves, size)


def distances(tree: Tree, points: Array) -> Array:
    """Of points (n, 3) from the triangles; quickest where neighbours in the list are neighbours in space."""
    given = np.ascontiguousarray(points, np.float64)
    out = np.empty(len(given))
    _distances(tree, given, out)
    return out


__all__ = ["Tree", "distances", "tree_of"]
