"""Contact points in their slots: begun at samples, followed, and put where the last one was nearest, in compiled code.

Slots of before come first, those of now behind them, and a trial behind all of them.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.coming_around import come_around
from bellcrank.contact.curving import off_a_patch, smooth_bending
from bellcrank.contact.edges import ON_RIM
from bellcrank.contact.feet import footed
from bellcrank.contact.heights import above_smooth, sample_above, seen
from bellcrank.contact.holding import FLAT, LARGE, NOISE, hold_at
from bellcrank.contact.meeting_layout import (
    BAND,
    BEND,
    COUNTS,
    EDGES_A,
    EDGES_B,
    FACING,
    FOOT,
    FRUSTA,
    HOLD,
    LEVELS,
    MARKS_A,
    MARKS_B,
    NEAR_A,
    NEAR_B,
    NODES_A,
    NODES_B,
    OUTWARDS,
    PAD,
    PARTNER,
    PATCHES_A,
    PATCHES_B,
    PLACE,
    POINTS,
    RIM,
    SLOPE,
    SLOT,
    SPACING_A,
    SPACING_B,
    SPOT,
    STACK,
    TABLE_A,
    TABLE_B,
    THROUGH,
    WAY,
    WHICH,
)
from bellcrank.contact.patch_points import BEYOND_BY
from bellcrank.contact.pieces import REACH, SLOPES
from bellcrank.contact.pieces import RIM as OF_RIM
from bellcrank.contact.refinement import BEHIND, BEYOND, LOST, RIMS, from_edge_to_edge, refined
from bellcrank.contact.refinement import FOUND as SETTLED
from bellcrank.contact.rim_numbers import CLOSED, inside_rim
from bellcrank.contact.settling import bending, tangents
from bellcrank.contact.smooth import ROUND, SURFACE
from bellcrank.contact.tree_layout import KIND, LEAVES_A, LEAVES_B, WIDTH_A, WIDTH_B
from bellcrank.contact.turning import turned_back
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BACKWARDS = -0.2
"""Cosine between a sample's normal and the way to the other body below which that is behind the surface."""
BETWEEN = 0.55
"""How far from the nearest sample a surface may be touched, over the radius of its weight."""
FALLS = 0.05
"""How much lower than its sample a contact point may be whose curvatures are learnt, over the distance of samples."""
LEVEL = 1e-6
"""Heights that differ by less, over the distance of samples, are the same."""


@part
def refine_from(
    header: Ints,
    given: Floats,
    tables: Any,
    scratch: Any,
    hold: float,
    hx: float,
    hy: float,
    hz: float,
    slot: Floats,
    learns: int,
) -> int:
    """Newton's method from the points in pad; the slot is written where it finds a point. learns: As of `refined`."""
    table_a, nodes_a, table_b, nodes_b = tables[TABLE_A], tables[NODES_A], tables[TABLE_B], tables[NODES_B]
    pad, stack, near_a, near_b, counts = (
        scratch[PAD],
        scratch[STACK],
        scratch[NEAR_A],
        scratch[NEAR_B],
        scratch[COUNTS],
    )
    how = refined(
        given, table_a, nodes_a, header[LEAVES_A], header[WIDTH_A], given[SPACING_A],
        table_b, nodes_b, header[LEAVES_B], header[WIDTH_B], given[SPACING_B], header[SLOPE], header[BEND],
        header[PATCHES_A], header[PATCHES_B], 1, hold, hx, hy, hz, pad, stack, near_a, near_b, counts, slot, 0,
        learns,
    )  # fmt: skip
    if how == SETTLED and header[KIND] == ROUND:
        # Its ends are no part of the smooth side, which would go on for ever.
        frusta = tables[FRUSTA]
        if slot[9] < frusta[0, 0] or slot[9] > frusta[0, 1]:
            return BEYOND
    if how == SETTLED:
        slot[HOLD] = hold
        slot[HOLD + 1] = hx
        slot[HOLD + 2] = hy
        slot[HOLD + 3] = hz
    if how == LOST and (
        (hold > 0.5 and off_a_patch(header[PATCHES_A], 0, 0.0, pad))
        or off_a_patch(header[PATCHES_B], 1, 0.0, pad)
    ):
        how = BEYOND
    if how == BEYOND and (header[PATCHES_A] != 0 or header[PATCHES_B] != 0):
        given[RIM] = min(given[RIM], pad[BEYOND_BY])
    return how


@part
def both_open(header: Ints) -> bool:
    """Whether both surfaces are open ones of samples, whose edges may meet."""
    return header[EDGES_A] > 0 and header[EDGES_B] > 0  # type: ignore[no-any-return]


@part
def from_rims(header: Ints, given: Floats, tables: Any, scratch: Any, within: float, slot: Floats) -> int:
    """Newton's method for two edges from the points in pad; the slot is written where they hold each other.

    within: How far the points are from their rims at most, over the spacing. LOST where something else may touch.
    """
    how = from_edge_to_edge(
        given, tables[TABLE_A], tables[NODES_A], header[LEAVES_A], header[WIDTH_A], given[SPACING_A], tables[TABLE_B],
        tables[NODES_B], header[LEAVES_B], header[WIDTH_B], given[SPACING_B], scratch[PAD], scratch[STACK],
        scratch[NEAR_A], scratch[NEAR_B], scratch[COUNTS], within, slot, 0,
    )  # fmt: skip
    if how == SETTLED:
        slot[HOLD] = 2.0
        for m in range(3):
            slot[HOLD + 1 + m] = 0.0
    return how  # type: ignore[no-any-return]


@part
def from_sample(
    header: Ints, given: Floats, tables: Any, scratch: Any, i: int, j: int, hold: float, hx: float, hy: float,
    hz: float, slot: Floats, learns: int,
) -> int:  # fmt: skip
    """Newton's method from a sample and the other's point below it. learns: As of `refined`."""
    table_a, table_b = tables[TABLE_A], tables[TABLE_B]
    pad = scratch[PAD]
    for k in range(3):
        pad[SLOPES + 4 + k] = table_a[i, k]
    if header[KIND] == SURFACE:
        for k in range(3):
            pad[SLOPES + 12 + k] = table_b[j, k]
    else:
        seen(given, table_a, i, pad, SLOPES + 12)
        if above_smooth(header, given, table_a, i, pad) > given[BAND] and footed(header):
            # From far away the way down the slope does not lead to the foot.
            sample_above(header, given, table_a, tables[FRUSTA], i, math.inf, pad)
            for k in range(3):
                pad[SLOPES + 12 + k] = pad[FOOT + k]
    how = refine_from(header, given, tables, scratch, hold, hx, hy, hz, slot, learns)
    if header[KIND] == SURFACE and how == SETTLED and table_b[0, OF_RIM] > CLOSED:
        # Through a body that is behind an open surface: the far side of that.
        far = -slot[0] > THROUGH * given[BAND] / given[FACING]
        if both_open(header) and not far and come_around(header, given, tables, scratch, slot):
            return BEYOND
        return LOST if far else how
    return how


@part
def foot_inside(tables: Any, scratch: Any) -> float:
    """How far the other's point lies within its rim."""
    return inside_rim(tables[TABLE_B], scratch[NEAR_B], scratch[COUNTS][1], scratch[PAD], SLOPES + 8, RIMS)  # type: ignore[no-any-return]


@part
def where_it_bends(
    header: Ints, given: Floats, tables: Any, scratch: Any, i: int, j: int, slot: Floats
) -> int:
    """A free contact point by learnt curvatures, where a surface begins to bend; LOST where it falls off an edge.

    Beside an edge the surface through samples bulges, and the lowest of that is no place of a contact point.
    """
    if from_sample(header, given, tables, scratch, i, j, 0.0, 0.0, 0.0, 0.0, slot, 0) != SETTLED:
        return LOST
    height = slot[0]
    how = from_sample(header, given, tables, scratch, i, j, 2.0, 0.0, 0.0, 0.0, slot, 1)
    fell = how == SETTLED and slot[0] < height - FALLS * given[SPACING_A]
    return LOST if fell else how


@part
def tried(header: Ints, given: Floats, tables: Any, scratch: Any, i: int, j: int, slot: Floats) -> int:
    """A contact point from a sample that moves as the gap is curved there, or is held where that fails."""
    table_a, marks_a, table_b, marks_b = tables[TABLE_A], tables[MARKS_A], tables[TABLE_B], tables[MARKS_B]
    pad = scratch[PAD]
    hold = hold_at(header, given, table_a, marks_a, table_b, marks_b, i, j, pad)
    how = BEYOND
    if hold > 1.5:
        how = from_sample(header, given, tables, scratch, i, j, 2.0, 0.0, 0.0, 0.0, slot, 0)
        if how == LOST:
            how = where_it_bends(header, given, tables, scratch, i, j, slot)
    if how != SETTLED and 0.5 < hold < 1.9:
        hx = pad[WAY]
        hy = pad[WAY + 1]
        hz = pad[WAY + 2]
        how = from_sample(header, given, tables, scratch, i, j, 1.0, hx, hy, hz, slot, 0)
    if hold < 0.5 or (how != SETTLED and how != BEYOND):
        how = from_sample(header, given, tables, scratch, i, j, 0.0, 0.0, 0.0, 0.0, slot, 0)
        has_rims = table_a[0, OF_RIM] > CLOSED or (header[KIND] == SURFACE and table_b[0, OF_RIM] > CLOSED)
        if how == SETTLED and has_rims:
            facing = marks_a[i, 0] * slot[1] + marks_a[i, 1] * slot[2] + marks_a[i, 2] * slot[3]
            if facing < BACKWARDS:
                if both_open(header) and foot_inside(tables, scratch) < abs(slot[0]):
                    # Beside an open surface, whose rim is nearer.
                    return BEYOND
                # Behind an open surface there is nothing to touch; between samples bodies may be nearer.
                height = abs(slot[0]) if header[KIND] == SURFACE else slot[0]
                height -= BETWEEN * table_a[i, REACH]
                if height < pad[BEHIND]:
                    pad[BEHIND] = height
                    header[WHICH] = i
                return BEYOND
    return how


@part
def away(slot: Floats, x: float, y: float, z: float) -> float:
    """How far a point of the surface lies from that of a slot."""
    dx = slot[4] - x
    dy = slot[5] - y
    dz = slot[6] - z
    return math.sqrt(dx * dx + dy * dy + dz * dz)


@part
def farthest(slots: Floats, kept: Ints, points: int, x: float, y: float, z: float) -> float:
    """The least distance of a point from those that are taken."""
    least = LARGE
    for k in range(points):
        if kept[points + k, PLACE] >= 0:
            least = min(least, away(slots[points + k], x, y, z))
    return least


@part
def between(
    slots: Floats, kept: Ints, points: int, x: float, y: float, z: float, height: float, near: float
) -> bool:
    """Whether a place lies between two contact points that are taken, near their line, and no lower than that."""
    for s in range(points):
        for r in range(s):
            if kept[points + s, PLACE] >= 0 and kept[points + r, PLACE] >= 0:
                one = slots[points + s]
                other = slots[points + r]
                wx = other[4] - one[4]
                wy = other[5] - one[5]
                wz = other[6] - one[6]
                dx = x - one[4]
                dy = y - one[5]
                dz = z - one[6]
                square = max(wx * wx + wy * wy + wz * wz, 1e-300)
                part_way = (dx * wx + dy * wy + dz * wz) / square
                ox = dx - part_way * wx
                oy = dy - part_way * wy
                oz = dz - part_way * wz
                beside = 0.0 < part_way < 1.0 and ox * ox + oy * oy + oz * oz < near * near
                if beside and height >= one[0] + part_way * (other[0] - one[0]) - LEVEL * near:
                    return True
    return False


@part
def free_slot(slots: Floats, kept: Ints, points: int, x: float, y: float, z: float) -> int:
    """The free slot whose last point was nearest."""
    best = -1
    least = math.inf
    for k in range(points):
        if kept[points + k, PLACE] < 0:
            way = LARGE
            if kept[k, PLACE] >= 0:
                way = away(slots[k], x, y, z)
            if way < least:
                least = way
                best = k
    return best


@part
def take(slots: Floats, kept: Ints, points: int, slot: int, i: int, j: int) -> None:
    """Put the trial, which stands behind all slots, into one."""
    for k in range(SLOT):
        slots[points + slot, k] = slots[2 * points, k]
    kept[points + slot, PLACE] = i
    kept[points + slot, PARTNER] = j


@part
def stay(slots: Floats, kept: Ints, points: int, slot: int) -> None:
    """A point of before, brought up to date, stays in its slot."""
    for k in range(SLOT):
        slots[points + slot, k] = slots[slot, k]
    kept[points + slot, PLACE] = kept[slot, PLACE]
    kept[points + slot, PARTNER] = kept[slot, PARTNER]


@part
def count_taken(kept: Ints, points: int) -> int:
    """How many contact points there are."""
    found = 0
    for k in range(points):
        if kept[points + k, PLACE] >= 0:
            found += 1
    return found


@part
def alone_levels(
    header: Ints, given: Floats, tables: Any, scratch: Any, slots: Floats, kept: Ints, first: int
) -> None:
    """Curvatures of the surface that are not flat against the other shape at each known point, into the pad.

    Points that are held, and those on shapes that are not convex, tell nothing. first: Slot of the first of them.
    """
    pad, table_b = scratch[PAD], tables[TABLE_B]
    for s in range(header[POINTS]):
        pad[LEVELS + s] = LARGE
        row = slots[first + s]
        if header[OUTWARDS] == 0 or kept[first + s, PLACE] < 0 or row[HOLD] < 1.5 or not row[0] < LARGE:
            continue
        ux, uy, uz, vx, vy, vz = tangents(row[1], row[2], row[3])
        fx, fy, fz = turned_back(given, ux, uy, uz)
        gx, gy, gz = turned_back(given, vx, vy, vz)
        b11 = 0.0
        b22 = 0.0
        if header[KIND] == SURFACE:
            j = kept[first + s, PARTNER]
            b11 = bending(table_b, j, fx, fy, fz, fx, fy, fz)
            b22 = bending(table_b, j, gx, gy, gz, gx, gy, gz)
        else:
            for k in range(3):
                pad[SPOT + k] = row[7 + k]
            b11, _mixed, b22 = smooth_bending(header[BEND], pad, SPOT, fx, fy, fz, gx, gy, gz)
        pad[LEVELS + s] = FLAT / given[SPACING_A] + 2.0 * NOISE * (abs(b11) + abs(b22))


@part
def remember(
    header: Ints, given: Floats, tables: Any, scratch: Any, slots: Floats, kept: Ints, k: int
) -> int:
    """The point of a slot as it is now."""
    pad = scratch[PAD]
    for m in range(3):
        pad[SLOPES + 4 + m] = slots[k, 4 + m]
        pad[SLOPES + 12 + m] = slots[k, 7 + m]
    if slots[k, HOLD] > 1.5 and both_open(header):
        how = from_rims(header, given, tables, scratch, ON_RIM, slots[k])
        if how != LOST:
            return how  # type: ignore[no-any-return]
    return refine_from(
        header, given, tables, scratch, slots[k, HOLD], slots[k, HOLD + 1], slots[k, HOLD + 2], slots[k, HOLD + 3],
        slots[k], 1,
    )  # fmt: skip


__all__ = [
    "alone_levels",
    "away",
    "between",
    "both_open",
    "count_taken",
    "farthest",
    "free_slot",
    "from_rims",
    "from_sample",
    "remember",
    "stay",
    "take",
    "tried",
]
