"""Low samples of a surface above a smooth shape, in compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.alone import alone, sample_alone
from bellcrank.contact.feet import begin_feet
from bellcrank.contact.heights import above_smooth, node_above, sample_above
from bellcrank.contact.meeting_layout import HEIGHT, PARTNER, PLACE
from bellcrank.contact.pieces import REACH
from bellcrank.contact.smooth import ROUND
from bellcrank.contact.tree_layout import KIND, LEAVES_A, LOOKED, WIDTH_A
from bellcrank.simulate.compiled import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@part
def low_above(
    header: Ints,
    given: Floats,
    table: Floats,
    nodes: Floats,
    frusta: Floats,
    bound: float,
    far: bool,
    low: Ints,
    measures: Floats,
    pad: Floats,
    stack: Ints,
    turns: Floats,
    slots: Floats,
    known: int,
) -> int:
    """All samples less than the bound above a smooth shape, or, where that is far away, away from it; how many.

    known: Contact points of before, beside which those are left out that are none (:mod:`alone`).
    """
    leaves, width = header[LEAVES_A], header[WIDTH_A]
    count = 0
    top = 1
    stack[0] = 0
    begin_feet(pad)
    while top > 0:
        top -= 1
        k = stack[top]
        header[LOOKED] += 1
        if alone(given, nodes, turns, k, slots, known, pad):
            continue
        if node_above(header, given, nodes, frusta, k, bound, far, pad) >= bound:
            continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                if table[i, REACH] > 0.0 and not sample_alone(table, turns, k, i, slots, known, pad):
                    h = bound
                    # Beside the ends of a solid of revolution its slope tells nothing.
                    if far or header[KIND] == ROUND:
                        h = sample_above(header, given, table, frusta, i, bound, pad)
                    if not far and (h < bound or header[KIND] != ROUND):
                        h = above_smooth(header, given, table, i, pad)
                    if h < bound:
                        low[count, PLACE] = i
                        low[count, PARTNER] = -1
                        measures[count, HEIGHT] = h
                        count += 1
            continue
        stack[top] = 2 * k + 2
        stack[top + 1] = 2 * k + 1
        top += 2
    return count


__all__ = ["low_above"]
