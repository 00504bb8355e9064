"""Low samples of a surface above a smooth shape, in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.alone import alone, beside, sample_alone
from bellcrank.contact.feet import begin_feet
from bellcrank.contact.heights import above_smooth, node_above, sample_above
from bellcrank.contact.meeting_layout import (
    BOUNDS,
    FRUSTA,
    HEIGHT,
    NODES_A,
    PAD,
    PARTNER,
    PLACE,
    QUEUE,
    TABLE_A,
    TURNS_A,
)
from bellcrank.contact.pieces import REACH
from bellcrank.contact.smooth import ROUND
from bellcrank.contact.tree_layout import BALL, KIND, LEAVES_A, LOOKED, WIDTH_A
from bellcrank.contact.tree_pairs import queued, unqueued
from bellcrank.simulate.compiled import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FARTHEST = 0.5
"""Heights that are looked for, over the size of the surface, at most."""
LARGE = 1e300


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
        if alone(given, nodes, turns, k, slots, 0, known, pad):
            continue
        if node_above(header, given, nodes, frusta, k, bound, far, pad) >= bound:
            continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                if table[i, REACH] > 0.0 and not sample_alone(table, turns, k, i, slots, 0, known, pad):
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


@part
def only_known(
    header: Ints, tables: Any, low: Ints, count: int, slots: Floats, first: int, points: int, pad: Floats
) -> bool:
    """Whether all low samples belong to the contact points in the slots."""
    table, turns = tables[TABLE_A], tables[TURNS_A]
    for m in range(count):
        i = low[m, PLACE]
        k = header[LEAVES_A] - 1 + i // header[WIDTH_A]
        if not sample_alone(table, turns, k, i, slots, first, points, pad) and not beside(
            table, turns, k, i, slots, first, points, pad
        ):
            return False
    return True


@part
def next_above(
    header: Ints, given: Floats, tables: Any, scratch: Any, slots: Floats, first: int, points: int
) -> float:
    """How high the lowest sample lies above a smooth shape that may be a contact point besides those in the slots.

    No more than FARTHEST is asked for. Nodes are opened in the order of their bounds.
    """
    table, nodes, turns, frusta = tables[TABLE_A], tables[NODES_A], tables[TURNS_A], tables[FRUSTA]
    pad, queue, bounds = scratch[PAD], scratch[QUEUE], scratch[BOUNDS]
    leaves, width = header[LEAVES_A], header[WIDTH_A]
    best = FARTHEST * nodes[0, BALL]
    begin_feet(pad)
    waiting = 0
    k = 0
    here = -LARGE
    while here < best:
        header[LOOKED] += 1
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                if not sample_alone(table, turns, k, i, slots, first, points, pad) and not beside(
                    table, turns, k, i, slots, first, points, pad
                ):
                    best = min(best, above_smooth(header, given, table, i, pad))
        else:
            for child in range(2 * k + 1, 2 * k + 3):
                if not alone(given, nodes, turns, child, slots, first, points, pad):
                    bound = node_above(header, given, nodes, frusta, child, best, False, pad)
                    if bound < best:
                        queued(queue, bounds, waiting, child, 0, bound, True)
                        waiting += 1
        if waiting == 0:
            break
        here = bounds[0]
        k = queue[0]
        unqueued(queue, bounds, waiting)
        waiting -= 1
    return best  # type: ignore[no-any-return]


__all__ = ["low_above", "next_above", "only_known"]
