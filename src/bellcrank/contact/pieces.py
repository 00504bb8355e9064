"""A sampled surface as compiled searches take it: samples in the order of its tree, and widened nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.rims import FOLLOWED, NOTCH, ROW
from bellcrank.contact.tree_layout import NODE

if TYPE_CHECKING:
    from bellcrank.contact.sampled import Sampled

Floats = NDArray[np.float64]

BACK = -0.3
"""Cosine between normals of samples below which they belong to two sides of a thin body."""
COVER = 1.0
"""How far from a sample points are measured above its quadric, over the distance of its sixth neighbour."""

# columns of nodes behind those of trees: the largest radius of a weight, the normals' largest distance from the axis,
# how much wider the quadrics are than the samples, and the top of the dome over them
WEIGHT = NODE
CONE = NODE + 1
ACROSS = NODE + 2
WIDE_TOP = NODE + 3
COLUMNS = NODE + 4
# columns of samples: position, normal, six of H, radius of the weight (0 for one that stands there twice), how far
# from it points are measured above its quadric, and the row of its rim, behind those of all samples (-1 for none, -2
# for all samples of a closed surface)
NORMAL = 3
BENT = 6
REACH = 12
FACE = 13
RIM = 14
SAMPLE = 15

# header
LEAVES_A = 0
WIDTH_A = 1
LEAVES_B = 2
WIDTH_B = 3
START_A = 4
START_B = 5
VISITED = 6
MEASURED = 7
FOLLOW = 8  # whether the last answer is to be followed
PATCHES_A = 9  # what settles on surfaces of patches; 0 for others
PATCHES_B = 10
HEADER = 11
# given: pose of b seen from a (rotation by rows, origin), then
SLACK = 12
BAND = 13
DEEP = 14
APART = 15
SPACING_A = 16
SPACING_B = 17
SIZE_B = 18  # no point of b lies further from the origin of its frame
GIVEN = 19
# pad: point seen from b, best height, then the heights of places; then slopes of two surfaces
BEST = 3
HEIGHTS = 4
SLOPES = 16
MIDDLES = 32
PAD = 48
# answer, for each place: gap, normal (3), x (3), y (3), whether Newton's method settled, height
ANSWER = 12


@dataclass(frozen=True, eq=False)
class Pieces:
    """A sampled surface as the compiled search takes it: the samples in the order of its tree, and widened nodes.

    table: In memory the rows of its rims stand behind those of the samples.
    """

    table: Floats
    nodes: Floats

    @staticmethod
    def of(surface: Sampled) -> Pieces:
        """Those of a surface."""
        from bellcrank.contact.tree_domes import cover

        tree = surface.tree
        far, n, H = surface._fitted
        order = tree.order
        table = np.empty((len(order), SAMPLE))
        table[:, RIM] = -2.0
        table[:, :3], table[:, NORMAL:BENT] = tree.points, n[order]
        for column, (row, other) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
            table[:, BENT + column] = H[:, row, other][order]
        twice = tree.places[order] != np.arange(len(order))
        table[:, REACH] = np.where(twice, 0.0, surface.reach[order])
        table[:, FACE] = COVER * far[order]
        nodes = np.zeros((len(tree.nodes), COLUMNS))
        nodes[:, :NODE] = tree.nodes
        cover(table, nodes, tree.leaves, tree.width)
        return Pieces(_with_rims(surface, table)[: len(order)], nodes)


def _with_rims(surface: Sampled, table: Floats) -> Floats:
    """The table with the rows of rims behind it; a closed surface has none."""
    rim, order = surface.rim, surface.tree.order
    if not len(rim.rows):
        return table
    first = rim.first(len(surface.points))[order]
    table[:, RIM] = np.where(first < 0, -1.0, first + len(order))
    behind = np.zeros((len(rim.rows), SAMPLE))
    behind[:, :ROW], behind[:, NOTCH] = rim.rows, rim.notches
    behind[:-1, FOLLOWED] = rim.samples[1:] == rim.samples[:-1]
    behind[:, RIM] = -2.0
    return np.concatenate([table, behind])


__all__ = ["Pieces"]
