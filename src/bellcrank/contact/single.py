"""The one contact point of a sampled surface and another shape: the closest of those that the lowest samples lead to.

Where they touch at more places than one, or along a line, one point does not do, which is told.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.above import low_above
from bellcrank.contact.apart import lowest_apart
from bellcrank.contact.heights import above_quadric, lowest_above, seen
from bellcrank.contact.holding import LARGE
from bellcrank.contact.lines import along_a_line, lies_along
from bellcrank.contact.lowest import minima
from bellcrank.contact.meeting_layout import (
    BAND,
    BOUNDS,
    BULGE_A,
    BULGE_B,
    CLEARANCE,
    FOUND,
    FRUSTA,
    HEIGHT,
    HOLD,
    LIFT,
    LOST,
    MARKS_A,
    NEAR_A,
    NODES_A,
    NODES_B,
    ORDER,
    PAD,
    PARTNER,
    PLACE,
    POINTS,
    QUEUE,
    SEEN,
    SEVERAL,
    SPACING_A,
    SPACING_B,
    SPOT,
    STACK,
    TABLE_A,
    TABLE_B,
    TURNS_A,
    WHICH,
)
from bellcrank.contact.patch_creases import nearer_beside, on_crease
from bellcrank.contact.pieces import RIM
from bellcrank.contact.refinement import BEHIND, BEYOND
from bellcrank.contact.refinement import FOUND as SETTLED
from bellcrank.contact.rim_numbers import CLOSED, between_normals, beyond_sample
from bellcrank.contact.slots import (
    BACKWARDS,
    from_sample,
    take,
    tried,
)
from bellcrank.contact.smooth import SURFACE
from bellcrank.contact.tree_layout import BOUND, KIND, N_A
from bellcrank.contact.tree_nearest import nearest_pair, shorter
from bellcrank.contact.turning import turned
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BESIDE = 0.7
"""How far beside a sample of one flat side the nearest one of another may lie, over the distance of samples."""
AHEAD = 0.05
"""How far before it comes upon an open surface from behind a body is stopped, over the distance of samples."""
TRIES = 8
"""Lowest samples that the closest point is looked for from, at most."""


@part
def as_one(header: Ints, given: Floats, tables: Any, scratch: Any, i: int, j: int, slot: Floats) -> int:
    """The one contact point that a sample leads to, free where the gap is not flat."""
    if lies_along(header, given, tables, scratch, i, j):
        return tried(header, given, tables, scratch, i, j, slot)  # type: ignore[no-any-return]
    return from_sample(header, given, tables, scratch, i, j, 2.0, 0.0, 0.0, 0.0, slot, 0)  # type: ignore[no-any-return]


@part
def off_open(table: Floats, i: int, x: float, y: float, z: float, pad: Floats) -> float:
    """How far a point is off an open surface, within its rims; LARGE where it is not. i: The nearest sample."""
    beyond = table[i, RIM] >= 0.0 and beyond_sample(table, i, x, y, z) > 0.0
    if not table[i, RIM] > CLOSED or beyond:
        return LARGE
    pad[SPOT] = x
    pad[SPOT + 1] = y
    pad[SPOT + 2] = z
    return abs(above_quadric(table, i, pad, SPOT))


@part
def from_behind(header: Ints, given: Floats, tables: Any, scratch: Any, i: int, j: int) -> None:
    """Remember how near the nearest samples of two surfaces are that face the same way, one of which is open.

    There a body comes upon that from behind, or sticks through it, and neither is looked at for contact points.
    """
    table_a, table_b = tables[TABLE_A], tables[TABLE_B]
    pad = scratch[PAD]
    if not between_normals(given, table_a, i, table_b, j) > -BACKWARDS:
        return
    seen(given, table_a, i, pad, SPOT)
    off = off_open(table_b, j, pad[SPOT], pad[SPOT + 1], pad[SPOT + 2], pad)
    x, y, z = turned(given, table_b[j, 0], table_b[j, 1], table_b[j, 2])
    off = min(off, off_open(table_a, i, x + given[9], y + given[10], z + given[11], pad))
    off -= given[BULGE_A] + given[BULGE_B] + AHEAD * given[SPACING_A]
    if off < pad[BEHIND]:
        pad[BEHIND] = off
        header[WHICH] = i


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
        from_behind(header, given, tables, scratch, i, j)
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
        how = from_sample(header, given, tables, scratch, i, j, 0.0, 0.0, 0.0, 0.0, slots[2 * points], 0)
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
            header, given, table_a, nodes_a, tables[FRUSTA], bound, True, low, measures, pad, stack,
            tables[TURNS_A], slots, 0,
        )  # fmt: skip
        lowest = minima(header, given, table_a, table_b, neighbours, blank, low, measures, count, False, pad)
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
            how = from_sample(header, given, tables, scratch, i, j, 0.0, 0.0, 0.0, 0.0, slots[2 * points], 0)
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
        end = along_a_line(header, given, tables, scratch, low, measures, count, slots)
        if end >= 0:
            header[WHICH] = end
            header[SEEN] = 2
            return SEVERAL
    return FOUND


__all__ = ["apart_from_all", "single"]
