"""Bounding-volume trees over samples.

Samples are halved again and again across the direction they are spread most along; every node is bounded by a ball and,
along the mean normal of its samples, by a flat drum, which on a smooth surface is thin by the square of its width.
Without drums, two surfaces that nearly touch would open a number of nodes that grows with the root of the number of
samples. :mod:`tree_search` looks for samples in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.tree_build import PAD, enclose, halve
from bellcrank.contact.tree_layout import AXIS, BALL, DRUM, HALF, NODE, ROUND

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAF = 8
"""About so many samples hang on a leaf."""


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
        header = np.array([leaves, width])
        ordered, spare = points[order], np.zeros(1)
        halve(header, order, ordered, np.empty(len(order)), np.empty(PAD), *6 * (spare,))
        nodes = np.empty((2 * leaves - 1, NODE))
        enclose(header, order, ordered, normals[order], nodes, *6 * (spare,))
        return Tree(order, ordered, nodes, leaves, width)

    @cached_property
    def places(self) -> Ints:
        """A place where each sample stands."""
        found = np.empty(int(self.order.max()) + 1, np.int64)
        found[self.order] = np.arange(len(self.order))
        return found


__all__ = ["AXIS", "BALL", "DRUM", "HALF", "LEAF", "NODE", "ROUND", "Tree"]
