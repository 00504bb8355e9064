"""Low samples of a surface above a smooth shape, and the next that may touch it, in compiled code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.alone import alone, around, beside, sample_alone
from bellcrank.contact.curving import VALUES
from bellcrank.contact.feet import begin_feet
from bellcrank.contact.heights import above_smooth, node_above, sample_above
from bellcrank.contact.holding import FLAT as NOT_FLAT
from bellcrank.contact.holding import NOISE
from bellcrank.contact.meeting_layout import (
    BAND,
    BENDS_B,
    BOUNDS,
    FACING,
    FRUSTA,
    HEIGHT,
    INNER,
    LIFT,
    NODES_A,
    OUTWARDS,
    PAD,
    PARTNER,
    PLACE,
    QUEUE,
    SPACING_A,
    SURE,
    TABLE_A,
    TURN,
    TURNS_A,
)
from bellcrank.contact.pieces import REACH, RIM
from bellcrank.contact.smooth import FLAT, ROUND, SURFACE
from bellcrank.contact.tree_layout import AXIS, BALL, KIND, LEAVES_A, LOOKED, ON_RIM, WIDTH_A
from bellcrank.contact.tree_queue import queued, unqueued
from bellcrank.contact.turning import turned
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TILTED = 0.45
"""How far normals of samples that lie flat on another shape differ from being opposed: cosines below OPPOSED."""
FARTHEST = 0.5
"""Heights that are looked for, over the size of the surface, at most."""
LARGE = 1e300


@part
def facing_away(
    header: Ints, given: Floats, nodes: Floats, turns: Floats, k: int, points: int, pad: Floats
) -> bool:
    """Whether a node holds no contact point for its normals, which are not opposed to those of a plane or a ball.

    Bodies turn before the next search, which is given room for. What lies flat may be tilted more. Of a flat side on a
    plane, the places to hold several points at are those of its outline, which are lower and farther apart.
    """
    # Of a node whose middle is inside a ball normals may turn by any angle.
    if given[BENDS_B] < 0.0 or (pad[VALUES] < 0.0 and given[BENDS_B] > 0.0):
        return False
    if header[KIND] == FLAT and points > 1 and turns[k, INNER] > 0.5:
        return True
    room = given[FACING]
    if not turns[k, SURE] > NOT_FLAT / given[SPACING_A] + NOISE * given[BENDS_B]:
        room = max(room, TILTED)
    turn = turns[k, TURN] + room + given[BENDS_B] * (nodes[k, BALL] + given[BAND])
    # |n + m|^2 = 2 + 2 n . m
    return 2.0 + 2.0 * opposition(given, nodes, k, pad) > turn * turn  # type: ignore[no-any-return]


@part
def opposition(given: Floats, nodes: Floats, k: int, pad: Floats) -> float:
    """The cosine between the axis of a node and the other shape's normal at its middle, whose slope is in the pad."""
    x = pad[VALUES + 1]
    y = pad[VALUES + 2]
    z = pad[VALUES + 3]
    mx, my, mz = turned(given, x, y, z)
    cosine = nodes[k, AXIS] * mx + nodes[k, AXIS + 1] * my + nodes[k, AXIS + 2] * mz
    return cosine / math.sqrt(max(1e-300, x * x + y * y + z * z))  # type: ignore[no-any-return]


@part
def none_in(
    header: Ints, given: Floats, nodes: Floats, turns: Floats, k: int, slots: Floats, known: int, pad: Floats
) -> bool:
    """Whether a node, at whose middle the slope of the other shape is in the pad, holds no contact point.

    Of an open surface also that shape must be in front of it: bodies that are behind are looked for.
    """
    if header[OUTWARDS] == 1:
        turn = turns[k, TURN] + max(0.0, given[BENDS_B]) * (nodes[k, BALL] + given[BAND])
        if given[BENDS_B] < 0.0 or not opposition(given, nodes, k, pad) + turn < 0.0:
            return False
        if alone(nodes, turns, k, slots, 0, known, pad):
            return True
    return facing_away(header, given, nodes, turns, k, known, pad)


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

    The bound is that of rims; elsewhere less of the surface comes out of its samples. known: Contact points of before,
    beside which those are left out that are none (:mod:`alone`).
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
        if header[OUTWARDS] == 2 and alone(nodes, turns, k, slots, 0, known, pad):
            continue
        # To ask a shape for its slope takes longer than to part a node.
        if not (header[OUTWARDS] == 2 and around(nodes, turns, k, slots, 0, known, pad)):
            within = bound
            if not nodes[k, ON_RIM] > 0.0:
                within -= given[LIFT]
            if node_above(header, given, nodes, frusta, k, within, far, pad) >= within:
                continue
            if known > 0 and none_in(header, given, nodes, turns, k, slots, known, pad):
                continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                if table[i, REACH] > 0.0 and not (
                    header[OUTWARDS] == 2 and sample_alone(table, turns, k, i, slots, 0, known, pad)
                ):
                    within = bound
                    if table[i, RIM] < 0.0:
                        within -= given[LIFT]
                    h = within
                    # Beside the ends of a solid of revolution its slope tells nothing.
                    if far or header[KIND] == ROUND:
                        h = sample_above(header, given, table, frusta, i, within, pad)
                    if not far and (h < within or header[KIND] != ROUND):
                        h = above_smooth(header, given, table, i, pad)
                    if h < within:
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
    """How high the lowest sample lies above another shape that may be a contact point besides those in the slots.

    No more than FARTHEST is asked for. Nodes are opened in the order of their bounds. Above a sampled body it is only
    told whether there is such a sample: less than any height if so.
    """
    table, nodes, turns, frusta = tables[TABLE_A], tables[NODES_A], tables[TURNS_A], tables[FRUSTA]
    pad, queue, bounds = scratch[PAD], scratch[QUEUE], scratch[BOUNDS]
    leaves, width = header[LEAVES_A], header[WIDTH_A]
    sampled = header[KIND] == SURFACE
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
                    best = -LARGE if sampled else min(best, above_smooth(header, given, table, i, pad))
        else:
            for child in range(2 * k + 1, 2 * k + 3):
                if not alone(nodes, turns, child, slots, first, points, pad):
                    bound = here
                    if not sampled and not around(nodes, turns, child, slots, first, points, pad):
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
