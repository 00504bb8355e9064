"""The places where two closed sampled surfaces that are apart come closest, in compiled code.

As in :mod:`bellcrank.contact.descent`, samples of one are measured above the quadrics of the other: from the two
nearest samples Newton's method would not always come to where the surfaces are closest. Quadrics go on beyond rims and
stick out of edges: surfaces with those are searched by their nearest samples.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.meeting_layout import (
    BAND,
    BOUNDS,
    CURVED,
    DESCENT,
    HEIGHT,
    NEAR_A,
    NODES_A,
    NODES_B,
    ORDER,
    PAD,
    PARTNER,
    PLACE,
    POSE,
    QUEUE,
    TABLE_A,
    TABLE_B,
)
from bellcrank.contact.pieces import BEST, HEIGHTS, START_A, START_B, VISITED
from bellcrank.contact.tree_layout import BOUND, LOOKED, N_A
from bellcrank.contact.tree_pairs import lowest_places
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@part
def lowest_apart(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, measures: Floats, start: int, partner: int
) -> int:  # fmt: skip
    """The places, the lowest first in order, and how many; given[BOUND] is the height of the lowest.

    None of surfaces that are open, have edges or are of patches, that are not farther apart than the band, or where the
    search gave up.
    """
    table_a, nodes_a, table_b, nodes_b = tables[TABLE_A], tables[NODES_A], tables[TABLE_B], tables[NODES_B]
    pad, found = scratch[PAD], scratch[NEAR_A]
    sizes, pose = scratch[DESCENT], scratch[POSE]
    if header[CURVED] == 0:
        return 0
    for k in range(12):
        pose[k] = given[k]
    sizes[START_A] = start if partner >= 0 else -1
    sizes[START_B] = partner if start >= 0 else -1
    count = lowest_places(
        sizes, pose, table_a, nodes_a, table_b, nodes_b, found, pad, scratch[QUEUE], scratch[BOUNDS], 2 * header[N_A]
    )  # fmt: skip
    header[LOOKED] += sizes[VISITED]
    if count < 1 or not pad[BEST] > given[BAND]:
        return 0
    given[BOUND] = pad[BEST]
    # What waited is of no use any more: low samples lie in its place.
    for k in range(count):
        low[k, PLACE] = found[2 * k]
        low[k, PARTNER] = found[2 * k + 1]
        measures[k, HEIGHT] = pad[HEIGHTS + k]
        m = k
        while m > 0 and measures[low[m - 1, ORDER], HEIGHT] > measures[k, HEIGHT]:
            low[m, ORDER] = low[m - 1, ORDER]
            m -= 1
        low[m, ORDER] = k
    return count


__all__ = ["lowest_apart"]
