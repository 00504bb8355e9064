"""A sampled surface as compiled searches take it: samples in the order of its tree, and widened nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.tree import AXIS, BALL, DRUM, HALF, NODE, ROUND

if TYPE_CHECKING:
    from bellcrank.contact.sampled import Sampled

Floats = NDArray[np.float64]

COVER = 0.6
"""Distance of any point of a surface from its nearest sample over the distance of a sixth neighbour, at most."""

# columns of nodes behind those of trees: the largest radius of a weight, the normals' largest distance from the axis,
# then ball and drum widened by the surface between the samples
WEIGHT = NODE
CONE = NODE + 1
WIDE_BALL = NODE + 2
WIDE_HALF = NODE + 3
WIDE_DRUM = NODE + 4
COLUMNS = NODE + 5
# columns of samples: position, normal, six of H, radius of the weight (0 for one that stands there twice), how far
# from it points are measured above its quadric
NORMAL = 3
BENT = 6
REACH = 12
FACE = 13
SAMPLE = 14

# header
LEAVES_A = 0
WIDTH_A = 1
LEAVES_B = 2
WIDTH_B = 3
START_A = 4
START_B = 5
VISITED = 6
MEASURED = 7
COUNT = 8
HEADER = 9
# given: pose of b seen from a (rotation by rows, origin), then
SLACK = 12
BAND = 13
DEEP = 14
APART = 15
SPACING_A = 16
SPACING_B = 17
GIVEN = 18
# pad: point seen from b, best height, then the heights of places; then slopes of two surfaces
BEST = 3
HEIGHTS = 4
SLOPES = 16
MIDDLES = 32
MIDDLE = 40
PAD = 48
# answer, for each place: gap, normal (3), x (3), y (3), whether Newton's method settled, height
ANSWER = 12


@dataclass(frozen=True, eq=False)
class Pieces:
    """A sampled surface as the compiled search takes it: the samples in the order of its tree, and widened nodes."""

    table: Floats
    nodes: Floats

    @staticmethod
    def of(surface: Sampled) -> Pieces:
        """Those of a surface."""
        tree = surface.tree
        far, n, H = surface._fitted
        order = tree.order
        table = np.zeros((len(order), SAMPLE))
        table[:, :3], table[:, NORMAL:BENT] = surface.points[order], n[order]
        table[:, BENT:REACH] = H[order][:, (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]
        table[:, REACH] = surface.reach[order]
        table[:, FACE] = far[order]
        _, once = np.unique(order, return_index=True)
        twice = np.ones(len(order), dtype=bool)
        twice[once] = False
        table[twice, REACH] = 0.0
        cover = COVER * far[order]
        # Corners stick out themselves, and what the quadrics tell of them is no matter.
        steep = np.where(surface.sharp, 0.0, np.abs(H).sum(axis=2).max(axis=1))[order]
        bulge = np.minimum(0.5 * steep * cover * cover, cover)
        nodes = np.zeros((len(tree.nodes), COLUMNS))
        nodes[:, :NODE] = tree.nodes
        level = tree.leaves
        while level:
            here = slice(level - 1, 2 * level - 1)
            across, up = cover.reshape(level, -1).max(axis=1), bulge.reshape(level, -1).max(axis=1)
            axis = nodes[here, AXIS : AXIS + 3]
            off = n[order].reshape(level, -1, 3) - axis[:, None]
            cone = np.sqrt(np.einsum("ijk,ijk->ij", off, off).max(axis=1))
            nodes[here, CONE] = ROUND * cone
            nodes[here, WIDE_BALL] = nodes[here, BALL] + across
            nodes[here, WIDE_DRUM] = nodes[here, DRUM] + across
            # Near a rim of the node the surface goes on along its tangent there.
            nodes[here, WIDE_HALF] = nodes[here, HALF] + up + across * cone
            nodes[here, WEIGHT] = table[:, REACH].reshape(level, -1).max(axis=1)
            level //= 2
        return Pieces(table, nodes)


__all__ = ["Pieces"]
