"""Bounding-volume trees over samples.

Samples are halved again and again across the direction they are spread most along; every node is bounded by a ball and,
along the mean normal of its samples, by a flat drum, which on a smooth surface is thin by the square of its width, and
by a dome (:mod:`tree_domes`). Without drums, two surfaces that nearly touch would open a number of nodes that grows
with the root of the number of samples. A drum at a rim or across an edge sticks out by a share of its width, for which
as many nodes along the rim would be opened as grow with the fourth root; such nodes have a box besides
(:mod:`tree_boxes`), one side of which follows the rim, or two of which are those of the edge.
:mod:`tree_search` looks for samples in them.
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

    order: Which sample stands in each place. points: (number, 3). nodes: (number of nodes, NODE), as :mod:`tree_layout`
    tells.
    leaves: Number of them. width: Samples on each; a few stand twice, so that all are full.
    """

    order: Ints
    points: Floats
    nodes: Floats
    leaves: int
    width: int

    @staticmethod
    def over(points: Floats, normals: Floats, rims: Ints | None = None) -> Tree:
        """A tree over points (number, 3) with their normals; rims: The samples on rims."""
        number = len(points)
        leaves = 1
        while leaves * LEAF < number:
            leaves *= 2
        width = -(-number // leaves)
        # Some samples stand twice, so that all leaves are full.
        order = np.arange(leaves * width) * number // (leaves * width)
        header = np.array([leaves, width])
        ordered, pad, spare = points[order], np.empty(PAD), np.zeros(1)
        halve(header, order, ordered, np.empty(len(order)), pad, np.ones(len(order)), *5 * (spare,))
        on_rim = np.zeros(number)
        on_rim[[] if rims is None else rims] = 1.0
        nodes = np.zeros((2 * leaves - 1, NODE))
        enclose(header, order, ordered, normals[order], nodes, on_rim[order], pad, *4 * (spare,))
        return Tree(order, ordered, nodes, leaves, width)

    @cached_property
    def places(self) -> Ints:
        """A place where each sample stands."""
        found = np.empty(int(self.order.max()) + 1, np.int64)
        found[self.order] = np.arange(len(self.order))
        return found


__all__ = ["AXIS", "BALL", "DRUM", "HALF", "LEAF", "NODE", "ROUND", "Tree"]
