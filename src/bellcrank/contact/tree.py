"""Bounding-volume trees over samples.

Samples are halved again and again across their longest side; every node is bounded by a ball and,
along the mean normal of its samples, by a flat drum, which on a smooth surface is thin by the square of its width.
Without drums, two surfaces that nearly touch would open a number of nodes that grows with the root of the number of
samples. :mod:`tree_search` looks for samples in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAF = 8
"""About so many samples hang on a leaf."""
# columns of nodes, behind the centre
BALL = 3
AXIS = 4
HALF = 7
DRUM = 8
NODE = 9
ROUND = 1.0 + 1e-12


@dataclass(frozen=True, eq=False)
class Tree:
    """Samples in the order of the tree and what bounds its nodes: children of k are 2k + 1 and 2k + 2.

    order: Which sample stands in each place. points: (number, 3). nodes: Centre (3), radius of the ball, axis (3),
    half thickness and radius of the drum: (number of nodes, 9).
    leaves: Number of them. width: Samples on each; a few stand twice, so that all are full.
    """

    order: Ints
    points: Floats
    nodes: Floats
    leaves: int
    width: int

    @staticmethod
    def over(points: Floats, normals: Floats) -> Tree:
        """A tree over points (number, 3) with their normals."""
        number = len(points)
        leaves = 1
        while leaves * LEAF < number:
            leaves *= 2
        width = -(-number // leaves)
        # Some samples stand twice, so that all leaves are full.
        order = np.arange(leaves * width) * number // (leaves * width)
        level = 1
        while level < leaves:
            cut = order.reshape(level, -1)
            x = points[cut]
            widest = np.argmax(np.ptp(x, axis=1), axis=1)
            key = np.take_along_axis(x, widest[:, None, None], axis=2)[:, :, 0]
            half = np.argpartition(key, cut.shape[1] // 2, axis=1)
            order = np.take_along_axis(cut, half, axis=1).ravel()
            level *= 2
        nodes = np.empty((2 * leaves - 1, NODE))
        p, n = np.ascontiguousarray(points[order]), normals[order]
        level = leaves
        while level:
            x, m = p.reshape(level, -1, 3), n.reshape(level, -1, 3)
            axis = m.sum(axis=1)
            size = np.linalg.norm(axis, axis=1)[:, None]
            axis = np.where(size > 1e-9, axis / np.maximum(size, 1e-300), [[0.0, 0.0, 1.0]])
            middle = 0.5 * (x.min(axis=1) + x.max(axis=1))
            along = np.einsum("ijk,ik->ij", x - middle[:, None], axis)
            middle = middle + (0.5 * (along.min(axis=1) + along.max(axis=1)))[:, None] * axis
            d = x - middle[:, None]
            along = np.einsum("ijk,ik->ij", d, axis)
            square = np.einsum("ijk,ijk->ij", d, d)
            here = slice(level - 1, 2 * level - 1)
            nodes[here, :3], nodes[here, AXIS : AXIS + 3] = middle, axis
            # A little more than they are, so that rounding never leaves a sample out.
            nodes[here, BALL] = ROUND * np.sqrt(square.max(axis=1))
            nodes[here, HALF] = ROUND * np.abs(along).max(axis=1)
            across = np.maximum(square - along * along, 0.0)
            nodes[here, DRUM] = ROUND * np.sqrt(across.max(axis=1))
            level //= 2
        return Tree(order.astype(np.int64), p, nodes, leaves, width)

    @cached_property
    def places(self) -> Ints:
        """A place where each sample stands."""
        found = np.empty(int(self.order.max()) + 1, np.int64)
        found[self.order] = np.arange(len(self.order))
        return found
