"""The contact points of a sampled surface and another shape in one piece of compiled code.

Low samples are found by the tree; from those that are no higher than their neighbours contact points begin, refined by
Newton's method and kept in slots. Where the surfaces are curved against each other a contact point is a pair of points
with opposed normals. On flat sides, along lines and at corners there is no such pair that would stay one: there the
points are held, at samples spread as widely as the contact reaches, so that a box rests on its corners.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.above import low_above, next_above, only_known
from bellcrank.contact.choosing import (
    least_apart,
    may_begin,
    next_lying,
    other_piece_first,
    part_in_pieces,
    same_side,
)
from bellcrank.contact.edge_search import beside_edges, edge_error, with_edges
from bellcrank.contact.facing import low_facing
from bellcrank.contact.holding import FLAT, LARGE, facing, hold_at, lies
from bellcrank.contact.lowest import EVEN, minima, spread
from bellcrank.contact.meeting_layout import (
    BAND,
    BULGE_A,
    BULGE_B,
    CLEARANCE,
    DEEPER,
    DOWN,
    ENDED,
    FOUND,
    FRUSTA,
    GONE,
    HEIGHT,
    HOLD,
    INSIDE,
    IS_BEHIND,
    LIES,
    LOST,
    LOW,
    MARKS_A,
    MARKS_B,
    NODES_A,
    NODES_B,
    ORDER,
    OUTWARD,
    OUTWARDS,
    PAD,
    PARTNER,
    PLACE,
    POINTS,
    SEEN,
    SEVERAL,
    SHARP,
    SPACING_A,
    STACK,
    TABLE_A,
    TABLE_B,
    TURNS_A,
    TURNS_B,
    UNCARRIED,
    UNFOLLOWED,
    UP,
    WAY,
    WHICH,
)
from bellcrank.contact.overlooked import LEAST, come_back_in_time, ended, overlaps, overlooked, sudden
from bellcrank.contact.patch_creases import beside_creases
from bellcrank.contact.refinement import BEHIND, BEYOND, CROSSING
from bellcrank.contact.refinement import FOUND as SETTLED
from bellcrank.contact.refinement import LOST as FAILED
from bellcrank.contact.single import apart_from_all, single
from bellcrank.contact.slots import (
    alone_levels,
    both_open,
    count_taken,
    farthest,
    free_slot,
    from_sample,
    remember,
    stay,
    take,
    tried,
)
from bellcrank.contact.smooth import FLAT as LEVEL_PLANE
from bellcrank.contact.smooth import SURFACE
from bellcrank.contact.tree_layout import KIND
from bellcrank.contact.uncarried import NEAR, OWN, before_others_touch, own_place, uncarried
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WALL = 0.3
"""Slope down to a neighbour beyond which a sample is one of a wall, which does not lie on the other shape."""


@part
def several(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, measures: Floats, count: int, lowest: int,
    slots: Floats, kept: Ints, neighbours: Ints, blank: Floats,
) -> None:  # fmt: skip
    """Up to so many contact points: those that carry stay, then the lowest, then those that lie flat, spread widely."""
    table_a, marks_a, table_b, marks_b = tables[TABLE_A], tables[MARKS_A], tables[TABLE_B], tables[MARKS_B]
    pad = scratch[PAD]
    points = header[POINTS]
    left = points
    for k in range(count):
        # Beside an edge that touches there are samples of the wall above it.
        low[k, LIES] = (
            1
            if measures[k, DOWN] < WALL
            and lies(header, given, table_a, marks_a, table_b, marks_b, low[k, PLACE], low[k, PARTNER], pad)
            else 0
        )
    # What carries stays: a change would jump.
    for s in range(points):
        if kept[s, PLACE] >= 0 and slots[s, 0] < 0.0:
            stay(slots, kept, points, s)
            left -= 1
    near = NEAR * given[SPACING_A]
    left -= beside_creases(header, given, tables, scratch, low, lowest, slots, kept, near, left)
    if left == 0:
        return
    parted = lowest > 1
    if parted:
        part_in_pieces(marks_a, low, count, neighbours, blank)
    for m in range(lowest):
        if left == 0:
            break
        if parted:
            other_piece_first(given, low, measures, lowest, m, kept, points, blank)
        k = low[m, ORDER]
        i = low[k, PLACE]
        j = low[k, PARTNER]
        # On flat sides all are minima: the deepest counts, the others are chosen by their places.
        alone = measures[k, UP] > EVEN * given[SPACING_A]
        if low[k, LIES] > 0 and m > 0 and not (alone and marks_a[i, SHARP] > 0.5):
            continue
        if (
            farthest(slots, kept, points, table_a[i, 0], table_a[i, 1], table_a[i, 2])
            < OWN * given[SPACING_A]
        ):
            continue
        if tried(header, given, tables, scratch, i, j, slots[2 * points]) == SETTLED:
            x = slots[2 * points, 4]
            y = slots[2 * points, 5]
            z = slots[2 * points, 6]
            if own_place(header, given, tables, scratch, slots, kept, False, alone) and may_begin(
                slots, kept, points
            ):
                take(slots, kept, points, free_slot(slots, kept, points, x, y, z), i, j)
                left -= 1
    while left > 0:
        best = next_lying(
            header, given, tables, scratch, low, measures, count, lowest, slots, kept, blank, parted
        )
        if best < 0:
            break
        i = low[best, PLACE]
        j = low[best, PARTNER]
        facing(header, given, table_a, marks_b, i, j, pad)
        elsewhere = not same_side(slots, kept, points, pad[OUTWARD], pad[OUTWARD + 1], pad[OUTWARD + 2])
        how = tried(header, given, tables, scratch, i, j, slots[2 * points])
        trial = slots[2 * points]
        if (
            how == SETTLED
            and low[best, LIES] == 1
            and elsewhere
            and same_side(slots, kept, points, -trial[1], -trial[2], -trial[3])
        ):
            # It is no side of its own, but leads down to one.
            low[best, LIES] = 2
            continue
        low[best, LIES] = 0
        wide = farthest(slots, kept, points, trial[4], trial[5], trial[6]) >= least_apart(given, marks_a, i)
        if how == SETTLED and trial[HOLD] < 1.5 and wide and may_begin(slots, kept, points):
            slot = free_slot(slots, kept, points, trial[4], trial[5], trial[6])
            take(slots, kept, points, slot, i, j)
            left -= 1
    for k in range(count):
        blank[low[k, PLACE]] = LARGE


@part
def as_a_line(
    header: Ints, given: Floats, tables: Any, scratch: Any, slots: Floats, kept: Ints, k: int
) -> int:
    """A free point that has come to lie along a line, held to its place on the line; FAILED where it has not."""
    i = kept[k, PLACE]
    j = kept[k, PARTNER]
    if slots[k, HOLD] < 1.5:
        return FAILED
    hold = hold_at(
        header, given, tables[TABLE_A], tables[MARKS_A], tables[TABLE_B], tables[MARKS_B], i, j, scratch[PAD]
    )
    if not 0.5 < hold < 1.9:
        return FAILED
    slots[k, HOLD] = 1.0
    for m in range(3):
        slots[k, HOLD + 1 + m] = scratch[PAD][WAY + m]
    return remember(header, given, tables, scratch, slots, kept, k)  # type: ignore[no-any-return]


@part
def corners(marks_a: Floats, low: Ints, measures: Floats, count: int) -> int:
    """Leave out low samples within straight edges and flat sides, whose corners lie as low above a plane; how many"""
    left = 0
    for k in range(count):
        if marks_a[low[k, PLACE], INSIDE] < 0.5:
            for m in range(LOW):
                low[left, m] = low[k, m]
            measures[left, HEIGHT] = measures[k, HEIGHT]
            left += 1
    return left


@part
def searched(
    header: Ints, given: Floats, tables: Any, scratch: Any, neighbours: Ints, blank: Floats, low: Ints,
    measures: Floats, slots: Floats, kept: Ints,
) -> int:  # fmt: skip
    """What :func:`search` does but for bodies behind open surfaces."""
    table_a, nodes_a, table_b, nodes_b = tables[TABLE_A], tables[NODES_A], tables[TABLE_B], tables[NODES_B]
    pad, stack = scratch[PAD], scratch[STACK]
    points = header[POINTS]
    start = -1
    partner = -1
    known = 0
    for k in range(points):
        kept[points + k, PLACE] = -1
        kept[points + k, PARTNER] = -1
        if kept[k, PLACE] >= 0:
            known += 1
            pad[CROSSING] = LARGE
            how = remember(header, given, tables, scratch, slots, kept, k)
            if how != SETTLED and how != BEYOND:
                how = as_a_line(header, given, tables, scratch, slots, kept, k)
            if how == SETTLED and not overlaps(header, given, tables, scratch, slots, k):
                kept[k, PLACE] = -1
            elif how == SETTLED:
                if start < 0:
                    start = kept[k, PLACE]
                    partner = kept[k, PARTNER]
            elif how == BEYOND:
                slots[k, 0] = LARGE
                ends = edge_error(given, pad)
                if ends != FOUND:
                    return ends  # type: ignore[no-any-return]
            else:
                kept[k, PLACE] = -1
                kept[k, PARTNER] = GONE
    alone_levels(header, given, tables, scratch, slots, kept, 0)
    count = 0
    level = header[KIND] == LEVEL_PLANE and points > 1
    if header[KIND] == SURFACE:
        # Of several points some may lie flat, where normals of samples tell nothing of what touches.
        flat = -LARGE if points == 1 else FLAT / given[SPACING_A]
        count = low_facing(
            header, given, table_a, nodes_a, tables[TURNS_A], table_b, nodes_b, tables[TURNS_B], given[BAND], flat, low,
            measures, pad, stack, slots, points,
        )  # fmt: skip
    else:
        count = low_above(
            header, given, table_a, nodes_a, tables[FRUSTA], given[BAND], False, low, measures, pad, stack,
            tables[TURNS_A], slots, points,
        )  # fmt: skip
        if level:
            count = corners(tables[MARKS_A], low, measures, count)
    if count == 0:
        apart_from_all(
            header, given, tables, scratch, neighbours, blank, low, measures, slots, kept, start, partner
        )
        edges = with_edges(header, given, tables, scratch, slots, kept)
        if edges != FOUND or points == 1:
            return edges  # type: ignore[no-any-return]
        missed = sudden(given, slots, kept, points, known, NEAR * given[SPACING_A])
        header[WHICH] = max(missed, 0)
        return UNFOLLOWED if missed >= 0 else FOUND
    clear = given[BAND] - given[BULGE_A] - given[BULGE_B]
    given[CLEARANCE] = clear
    lowest = minima(
        header,
        given,
        table_a,
        table_b,
        neighbours,
        blank,
        low,
        measures,
        count,
        header[OUTWARDS] != 0 or level,
        pad,
    )
    came = FOUND
    if points == 1:
        came = single(header, given, tables, scratch, low, measures, count, lowest, slots, kept)
        if came != FOUND and not (came == LOST and both_open(header)):
            return came
    else:
        spread(given, table_a, low, measures, lowest, points)
        several(header, given, tables, scratch, low, measures, count, lowest, slots, kept, neighbours, blank)
        if count_taken(kept, points) == 0 and pad[BEHIND] == LARGE:
            k = low[0, ORDER]
            i = low[k, PLACE]
            j = low[k, PARTNER]
            how = from_sample(header, given, tables, scratch, i, j, 0.0, 0.0, 0.0, 0.0, slots[2 * points], 0)
            if how == SETTLED:
                take(slots, kept, points, 0, i, j)
    edges = with_edges(header, given, tables, scratch, slots, kept)
    if edges != FOUND:
        return edges  # type: ignore[no-any-return]
    if came == LOST and kept[points, PLACE] < 0:
        # Of open surfaces beside each other nothing may be found; look again before something touches.
        if not measures[low[0, ORDER], HEIGHT] > 0.0:
            return LOST
        given[CLEARANCE] = min(
            given[CLEARANCE], max(measures[low[0, ORDER], HEIGHT], LEAST * given[SPACING_A])
        )
    missed = overlooked(header, given, tables, scratch, low, measures, lowest, slots, kept)
    if missed < 0:
        missed = sudden(given, slots, kept, points, known, NEAR * given[SPACING_A])
        if missed >= 0 and points > 1:
            header[WHICH] = missed
            return UNFOLLOWED
    if missed >= 0:
        header[WHICH] = missed
        header[SEEN] = 2
        return DEEPER if points > 1 else SEVERAL
    if points > 1 and ended(header, given, tables, scratch, slots, kept, NEAR * given[SPACING_A]):
        return ENDED
    more = uncarried(
        header, given, tables, scratch, neighbours, blank, low, measures, count, lowest, slots, kept
    )
    if more > 0:
        header[SEEN] = max(count_taken(kept, points) + more, points + 1)
        return SEVERAL if points == 1 else UNCARRIED
    before_others_touch(header, given, tables, scratch, low, measures, lowest, slots, kept)
    come_back_in_time(header, given, tables, scratch, low, measures, count, lowest, slots, kept)
    if header[OUTWARDS] == 2 and given[CLEARANCE] == clear:
        alone_levels(header, given, tables, scratch, slots, kept, points)
        if only_known(header, tables, low, count, slots, points, points, pad):
            # Then how low is the next? What waits in that search lies where low samples were.
            higher = next_above(header, given, tables, scratch, slots, points, points)
            given[CLEARANCE] = max(clear, higher - given[BULGE_A] - given[BULGE_B])
    return FOUND


@part
def search(
    header: Ints, given: Floats, tables: Any, scratch: Any, neighbours: Ints, blank: Floats, low: Ints,
    measures: Floats, slots: Floats, kept: Ints,
) -> int:  # fmt: skip
    """All contact points anew, those of before in their slots where they stay."""
    pad = scratch[PAD]
    pad[BEHIND] = LARGE
    came = searched(header, given, tables, scratch, neighbours, blank, low, measures, slots, kept)
    if pad[BEHIND] < LARGE and not (came == FOUND and beside_edges(header, given, tables, slots, kept)):
        if pad[BEHIND] < 0.0:
            return IS_BEHIND
        given[CLEARANCE] = min(given[CLEARANCE], pad[BEHIND])
        if came == LOST:
            came = FOUND
    return came


__all__ = ["search"]
