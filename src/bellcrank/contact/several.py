"""The contact points of a sampled surface and another shape in one piece of compiled code.

Low samples are found by the tree; from those that are no higher than their neighbours contact points begin, refined by
Newton's method and kept in slots. Where the surfaces are curved against each other a contact point is a pair of points
with opposed normals. On flat sides, along lines and at corners there is no such pair that would stay one: there the
points are held, at samples spread as widely as the contact reaches, so that a box rests on its corners.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.apart import lowest_apart
from bellcrank.contact.choosing import least_apart, may_begin, next_lying, same_side
from bellcrank.contact.facing import low_facing
from bellcrank.contact.heights import low_above, lowest_above, seen
from bellcrank.contact.holding import FLAT, LARGE, facing, hold_at, lies, minima, spread
from bellcrank.contact.meeting_layout import (
    BAND,
    BOUNDS,
    BULGE_A,
    BULGE_B,
    CLEARANCE,
    CROSSED,
    DEEPER,
    DOWN,
    FOUND,
    FRUSTA,
    HEIGHT,
    HOLD,
    IS_BEHIND,
    LIES,
    LIFT,
    LOST,
    MARKS_A,
    MARKS_B,
    NEAR_A,
    NODES_A,
    NODES_B,
    ORDER,
    OUTWARD,
    PAD,
    PARTNER,
    PLACE,
    POINTS,
    QUEUE,
    SEVERAL,
    SHARP,
    SPACING_A,
    SPACING_B,
    SPOT,
    STACK,
    TABLE_A,
    TABLE_B,
    TURNS_A,
    TURNS_B,
    WAY,
    WHICH,
)
from bellcrank.contact.overlooked import come_back_in_time, overlooked, sudden
from bellcrank.contact.patch_creases import beside_creases, nearer_beside, on_crease
from bellcrank.contact.pieces import RIM
from bellcrank.contact.refinement import BEHIND, BEYOND, CROSSING
from bellcrank.contact.refinement import FOUND as SETTLED
from bellcrank.contact.refinement import LOST as FAILED
from bellcrank.contact.rim_numbers import CLOSED
from bellcrank.contact.slots import (
    away,
    farthest,
    free_slot,
    from_sample,
    remember,
    stay,
    take,
    tried,
)
from bellcrank.contact.smooth import SURFACE
from bellcrank.contact.tree_layout import BOUND, KIND, N_A
from bellcrank.contact.tree_nearest import nearest_pair, shorter
from bellcrank.simulate.compiled import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEAR = 4.0
"""Contact points closer than so many distances of samples are one."""
WALL = 0.3
"""Slope down to a neighbour beyond which a sample is one of a wall, which does not lie on the other shape."""
CROSSED_AT = 0.1
"""Distance of the rims of two open surfaces, over that of samples, at which they cross."""
BESIDE = 0.7
"""How far beside a sample of one flat side the nearest one of another may lie, over the distance of samples."""
TRIES = 8
"""Lowest samples that the closest point is looked for from, at most."""


@part
def lies_along(header: Ints, given: Floats, tables: Any, scratch: Any, i: int, j: int) -> bool:
    """Whether a sample that is none of an edge lies on the other shape, the gap being flat one way at least."""
    table_a, marks_a, table_b, marks_b = tables[TABLE_A], tables[MARKS_A], tables[TABLE_B], tables[MARKS_B]
    if marks_a[i, SHARP] > 0.5:
        return False
    return lies(header, given, table_a, marks_a, table_b, marks_b, i, j, scratch[PAD])  # type: ignore[no-any-return]


@part
def as_one(header: Ints, given: Floats, tables: Any, scratch: Any, i: int, j: int, slot: Floats) -> int:
    """The one contact point that a sample leads to, free where the gap is not flat."""
    if lies_along(header, given, tables, scratch, i, j):
        return tried(header, given, tables, scratch, i, j, slot)  # type: ignore[no-any-return]
    return from_sample(header, given, tables, scratch, i, j, 2.0, 0.0, 0.0, 0.0, slot)  # type: ignore[no-any-return]


@part
def along_a_line(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, measures: Floats, count: int, slots: Floats
) -> int:  # fmt: skip
    """Of the samples that lie along a line or on a side, half as deep as the contact point at least, the farthest.

    -1 where there is none. One point does not tell where the force of a line is: it would jump from end to end.
    """
    table_a = tables[TABLE_A]
    points = header[POINTS]
    found = -1
    widest = -1.0
    for k in range(count):
        i = low[k, PLACE]
        far = away(slots[points], table_a[i, 0], table_a[i, 1], table_a[i, 2])
        deep = measures[k, HEIGHT] < 0.5 * slots[points, 0]
        if deep and far > widest and lies_along(header, given, tables, scratch, i, low[k, PARTNER]):
            widest = far
            found = i
    return found


@part
def apart_from_all(
    header: Ints, given: Floats, tables: Any, scratch: Any, neighbours: Ints, blank: Floats, low: Ints,
    measures: Floats, slots: Floats, kept: Ints, start: int, partner: int,
) -> None:  # fmt: skip
    """The closest points where nothing is near; all other slots stay empty."""
    table_a, nodes_a, table_b, nodes_b = tables[TABLE_A], tables[NODES_A], tables[TABLE_B], tables[NODES_B]
    pad, stack, near_a = scratch[PAD], scratch[STACK], scratch[NEAR_A]
    points = header[POINTS]
    i = max(start, 0)
    j = -1
    least = 0.0
    miss = 0.0
    places = 0
    if header[KIND] == SURFACE:
        places = lowest_apart(header, given, tables, scratch, low, measures, start, partner)
    if places > 0:
        i = low[low[0, ORDER], PLACE]
        j = low[low[0, ORDER], PARTNER]
    elif header[KIND] == SURFACE:
        j = max(partner, 0)
        seen(given, table_a, i, pad, SPOT)
        dx = pad[SPOT] - table_b[j, 0]
        dy = pad[SPOT + 1] - table_b[j, 1]
        dz = pad[SPOT + 2] - table_b[j, 2]
        given[BOUND] = math.sqrt(dx * dx + dy * dy + dz * dz)
        miss = given[SPACING_B]
        beside = BESIDE * given[SPACING_B]
        if nearest_pair(
            header, given, table_a, nodes_a, table_b, nodes_b, near_a, stack, pad, scratch[QUEUE], scratch[BOUNDS],
            2 * header[N_A], beside,
        ) > 0:  # fmt: skip
            i = near_a[0]
            j = near_a[1]
        given[BOUND] -= shorter(given[BOUND], beside)
    else:
        i = lowest_above(
            header, given, table_a, nodes_a, tables[FRUSTA], start, pad, scratch[QUEUE], scratch[BOUNDS]
        )
    least = given[BOUND]
    given[CLEARANCE] = least - miss - given[BULGE_A] - given[BULGE_B]
    if not least > given[BAND] + miss:
        given[CLEARANCE] = 0.5 * (given[BAND] - given[LIFT])
    how = as_one(header, given, tables, scratch, i, j, slots[2 * points])
    if how != SETTLED and (how != BEYOND or on_crease(header, tables[MARKS_A], i)):
        how = from_sample(header, given, tables, scratch, i, j, 0.0, 0.0, 0.0, 0.0, slots[2 * points])
    if how != SETTLED:
        return
    if slots[2 * points, 0] < 0.0 and (table_a[0, RIM] > CLOSED or table_b[0, RIM] > CLOSED):
        # Behind an open surface.
        return
    take(slots, kept, points, 0, i, j)
    nearer_beside(header, given, tables, scratch, neighbours, i, j, slots, kept)
    best = slots[points, 0]
    if header[KIND] != SURFACE:
        # Between samples the surface may come closer elsewhere: all that may lead there are tried.
        bound = best + given[BULGE_A] + given[BULGE_B]
        count = low_above(
            header, given, table_a, nodes_a, tables[FRUSTA], bound, True, low, measures, pad, stack
        )
        lowest = minima(given, table_a, neighbours, blank, low, measures, count)
        closest(header, given, tables, scratch, low, measures, lowest, slots, kept, best)
    elif places > 1:
        closest(header, given, tables, scratch, low, measures, places, slots, kept, best)


@part
def closest(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, measures: Floats, lowest: int, slots: Floats,
    kept: Ints, best: float,
) -> bool:  # fmt: skip
    """The closest of what the lowest samples lead to, where it is closer than the best; False where that is a rim."""
    points = header[POINTS]
    slack = given[BULGE_A] + given[BULGE_B]
    within = True
    for m in range(min(lowest, TRIES)):
        k = low[m, ORDER]
        if measures[k, HEIGHT] > best + slack:
            break
        i = low[k, PLACE]
        j = low[k, PARTNER]
        if i == kept[points, PLACE]:
            continue
        how = as_one(header, given, tables, scratch, i, j, slots[2 * points])
        if how != SETTLED and on_crease(header, tables[MARKS_A], i):
            how = from_sample(header, given, tables, scratch, i, j, 0.0, 0.0, 0.0, 0.0, slots[2 * points])
        if m == 0 and how == BEYOND:
            within = False
        if how == SETTLED and slots[2 * points, 0] < best:
            best = slots[2 * points, 0]
            take(slots, kept, points, 0, i, j)
    return within


@part
def single(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, measures: Floats, count: int, lowest: int,
    slots: Floats, kept: Ints,
) -> int:  # fmt: skip
    """The one contact point: the closest of those that the lowest samples lead to."""
    table_a = tables[TABLE_A]
    points = header[POINTS]
    within = closest(header, given, tables, scratch, low, measures, lowest, slots, kept, LARGE)
    if kept[points, PLACE] < 0:
        # Along a line, on a flat side or at a corner there is no free point.
        k = low[0, ORDER]
        how = tried(header, given, tables, scratch, low[k, PLACE], low[k, PARTNER], slots[2 * points])
        if how != SETTLED or slots[2 * points, HOLD] < 0.5:
            return LOST if within or how == SETTLED else FOUND
        take(slots, kept, points, 0, low[k, PLACE], low[k, PARTNER])
    if slots[points, 0] < 0.0:
        slack = given[BULGE_A] + given[BULGE_B]
        end = along_a_line(header, given, tables, scratch, low, measures, count, slots)
        if end >= 0:
            header[WHICH] = end
            return SEVERAL
        far = NEAR * given[SPACING_A]
        looked = 0
        for m in range(lowest):
            k = low[m, ORDER]
            i = low[k, PLACE]
            if measures[k, HEIGHT] > slack or looked == TRIES:
                break
            if away(slots[points], table_a[i, 0], table_a[i, 1], table_a[i, 2]) <= far:
                continue
            looked += 1
            how = tried(header, given, tables, scratch, i, low[k, PARTNER], slots[2 * points])
            other = slots[2 * points]
            elsewhere = away(slots[points], other[4], other[5], other[6]) > far
            if how == SETTLED and elsewhere and other[0] < -1e-9 * given[SPACING_A]:
                header[WHICH] = i
                return SEVERAL
    return FOUND


@part
def several(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, measures: Floats, count: int, lowest: int,
    slots: Floats, kept: Ints,
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
    for m in range(lowest):
        if left == 0:
            break
        k = low[m, ORDER]
        i = low[k, PLACE]
        j = low[k, PARTNER]
        # On flat sides all are minima: the deepest counts, the others are chosen by their places.
        if low[k, LIES] > 0 and m > 0:
            continue
        if farthest(slots, kept, points, table_a[i, 0], table_a[i, 1], table_a[i, 2]) < near:
            continue
        if tried(header, given, tables, scratch, i, j, slots[2 * points]) == SETTLED:
            x = slots[2 * points, 4]
            y = slots[2 * points, 5]
            z = slots[2 * points, 6]
            if farthest(slots, kept, points, x, y, z) >= near and may_begin(slots, kept, points):
                take(slots, kept, points, free_slot(slots, kept, points, x, y, z), i, j)
                left -= 1
    while left > 0:
        best = next_lying(header, given, tables, scratch, low, measures, count, lowest, slots, kept)
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
def count_taken(kept: Ints, points: int) -> int:
    """How many contact points there are."""
    found = 0
    for k in range(points):
        if kept[points + k, PLACE] >= 0:
            found += 1
    return found


@part
def searched(
    header: Ints, given: Floats, tables: Any, scratch: Any, neighbours: Ints, blank: Floats, low: Ints,
    measures: Floats, slots: Floats, kept: Ints,
) -> int:  # fmt: skip
    """What :func:`search` does but for rims that cross, and bodies behind open surfaces."""
    table_a, nodes_a, table_b, nodes_b = tables[TABLE_A], tables[NODES_A], tables[TABLE_B], tables[NODES_B]
    pad, stack = scratch[PAD], scratch[STACK]
    points = header[POINTS]
    start = -1
    partner = -1
    for k in range(points):
        kept[points + k, PLACE] = -1
        kept[points + k, PARTNER] = -1
        if kept[k, PLACE] >= 0:
            how = remember(header, given, tables, scratch, slots, kept, k)
            if how != SETTLED and how != BEYOND:
                how = as_a_line(header, given, tables, scratch, slots, kept, k)
            if how == SETTLED:
                if start < 0:
                    start = kept[k, PLACE]
                    partner = kept[k, PARTNER]
            elif how == BEYOND:
                slots[k, 0] = LARGE
            else:
                kept[k, PLACE] = -1
    count = 0
    if header[KIND] == SURFACE:
        # Of several points some may lie flat, where normals of samples tell nothing of what touches.
        flat = -LARGE if points == 1 else FLAT / given[SPACING_A]
        count = low_facing(
            header, given, table_a, nodes_a, tables[TURNS_A], table_b, nodes_b, tables[TURNS_B], given[BAND], flat, low,
            measures, pad, stack,
        )  # fmt: skip
    else:
        count = low_above(
            header, given, table_a, nodes_a, tables[FRUSTA], given[BAND], False, low, measures, pad, stack
        )
    if count == 0:
        apart_from_all(
            header, given, tables, scratch, neighbours, blank, low, measures, slots, kept, start, partner
        )
        return FOUND
    given[CLEARANCE] = given[BAND] - given[BULGE_A] - given[BULGE_B]
    lowest = minima(given, table_a, neighbours, blank, low, measures, count)
    if points == 1:
        came = single(header, given, tables, scratch, low, measures, count, lowest, slots, kept)
        if came != FOUND:
            return came
    else:
        spread(given, table_a, low, measures, lowest, points)
        several(header, given, tables, scratch, low, measures, count, lowest, slots, kept)
        if count_taken(kept, points) == 0 and pad[BEHIND] == LARGE:
            k = low[0, ORDER]
            i = low[k, PLACE]
            j = low[k, PARTNER]
            how = from_sample(header, given, tables, scratch, i, j, 0.0, 0.0, 0.0, 0.0, slots[2 * points])
            if how == SETTLED:
                take(slots, kept, points, 0, i, j)
    missed = overlooked(header, given, tables, scratch, low, measures, lowest, slots, kept)
    if missed < 0:
        missed = sudden(given, slots, kept, points, NEAR * given[SPACING_A])
    if missed >= 0:
        header[WHICH] = missed
        return DEEPER if points > 1 else SEVERAL
    come_back_in_time(header, given, tables, scratch, low, measures, count, lowest, slots, kept)
    return FOUND


@part
def search(
    header: Ints, given: Floats, tables: Any, scratch: Any, neighbours: Ints, blank: Floats, low: Ints,
    measures: Floats, slots: Floats, kept: Ints,
) -> int:  # fmt: skip
    """All contact points anew, those of before in their slots where they stay."""
    pad = scratch[PAD]
    pad[CROSSING] = LARGE
    pad[BEHIND] = LARGE
    came = searched(header, given, tables, scratch, neighbours, blank, low, measures, slots, kept)
    apart = pad[CROSSING]
    if pad[BEHIND] < LARGE:
        if pad[BEHIND] < 0.0:
            return IS_BEHIND
        given[CLEARANCE] = min(given[CLEARANCE], pad[BEHIND])
        if came == LOST:
            came = FOUND
    if came == FOUND and apart < LARGE:
        if apart < CROSSED_AT * given[SPACING_A]:
            return CROSSED
        # Edges meet edges nowhere else: look again before these do.
        given[CLEARANCE] = min(given[CLEARANCE], apart)
    return came


__all__ = ["NEAR", "search"]
