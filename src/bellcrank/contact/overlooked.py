"""What the contact points that were found may overlook, in compiled code.

Only so many points are followed. Where a sample lies deeper in the other shape than all of them, what they tell is
wrong, and nobody would notice: the body sinks. So every search compares; and where there are more low places than
points, the next search comes before one of them can touch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.curving import POINT, VALUES
from bellcrank.contact.heights import above_quadric, nearest_below, seen_at
from bellcrank.contact.holding import LARGE, hold_at
from bellcrank.contact.meeting_layout import (
    BAND,
    BULGE_A,
    BULGE_B,
    CLEARANCE,
    GONE,
    HEIGHT,
    HOLD,
    MARKS_A,
    MARKS_B,
    NODES_B,
    ORDER,
    PAD,
    PARTNER,
    PLACE,
    POINTS,
    SHARP,
    SLOPE,
    SLOT,
    SPACING_A,
    SPOT,
    STACK,
    TABLE_A,
    TABLE_B,
    WITHIN,
)
from bellcrank.contact.pieces import SLOPES
from bellcrank.contact.refinement import BEYOND
from bellcrank.contact.refinement import FOUND as SETTLED
from bellcrank.contact.slots import away, between, farthest, refine_from, tried
from bellcrank.contact.smooth import SURFACE
from bellcrank.contact.tree_layout import KIND
from bellcrank.contact.units import part
from bellcrank.program.loops import call_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SHARE = 0.1
"""Of a depth: heights of samples and gaps of contact points are told in two ways, which differ by less."""
LEAST = 0.05
"""Motion to the next search over the distance of samples, at least."""
ALONG = 0.25
"""The same where surfaces touch along a line: its ends change places as a body tilts or rolls."""
SUDDEN = 1e-6
"""Depth at which a contact point may turn up, over the distance of samples: no more than rounding."""
FREED = 5e-3
"""What the gap of a held point may be off that of the free one it becomes, over the distance of samples."""
ENDS = 5e-3
"""Depth from which on a contact point may not be lost, over the distance of samples."""
ONE = 1e-3
"""Contact points nearer to each other, over the distance of samples, are at one place,"""
ALIKE = 0.999
"""where the cosine between their normals is more than this."""
TRIED = 8
"""Low samples of which it is found out where they lead to, at most."""
HELD = 0.5
"""The same where a point is held on a surface that is curved there, so that it would rise as the body rolls."""


@part
def overlooked(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, measures: Floats, lowest: int, slots: Floats,
    kept: Ints,
) -> int:  # fmt: skip
    """The place of a sample that lies deeper than all contact points, or -1. Beyond a rim there is no contact."""
    points = header[POINTS]
    deepest = 0.0
    for k in range(points):
        if kept[points + k, PLACE] >= 0:
            deepest = min(deepest, slots[points + k, 0])
    slack = given[BULGE_A] + given[BULGE_B] + 1e-6 * given[SPACING_A]
    for m in range(lowest):
        k = low[m, ORDER]
        height = measures[k, HEIGHT]
        if not (1.0 - SHARE) * height < deepest - slack:
            break
        if tried(header, given, tables, scratch, low[k, PLACE], low[k, PARTNER], slots[2 * points]) != BEYOND:
            return low[k, PLACE]  # type: ignore[no-any-return]
    return -1


@part
def overlaps(header: Ints, given: Floats, tables: Any, scratch: Any, slots: Floats, k: int) -> bool:
    """Whether there is something of the other shape at a point of before that is deep.

    Points with opposed normals are closest ones, or deepest ones, or belong to bodies that have passed each other.
    """
    pad = scratch[PAD]
    table_b = tables[TABLE_B]
    deep = -slots[k, 0]
    if not deep > given[BAND]:
        return True
    seen_at(given, slots[k, 4], slots[k, 5], slots[k, 6], pad, SPOT)
    if header[KIND] != SURFACE:
        for m in range(3):
            pad[POINT + m] = pad[SPOT + m]
        call_at(header[SLOPE], pad, POINT, pad, VALUES)
        return pad[VALUES] < 0.0  # type: ignore[no-any-return]
    pad[WITHIN] = LARGE
    j = nearest_below(header, given, table_b, tables[NODES_B], -1, pad, scratch[STACK], 0)
    return j < 0 or above_quadric(table_b, j, pad, SPOT) < 0.0


@part
def sudden(given: Floats, slots: Floats, kept: Ints, points: int, known: int, near: float) -> int:
    """The place of a contact point that is deep already though none was there before, or -1: its force would begin with
    a jump, since it was not followed as it touched.

    known: How many points there were before. Of the first search, which knows none, nothing is said.
    """
    if known == 0:
        return -1
    depth = SUDDEN * given[SPACING_A]
    for k in range(points):
        row = slots[points + k]
        if kept[points + k, PLACE] >= 0 and row[0] < -depth:
            follows = False
            for m in range(points):
                if kept[m, PLACE] >= 0 or kept[m, PARTNER] == GONE:
                    same = away(slots[m], row[4], row[5], row[6]) < near
                    lost = kept[m, PLACE] < 0 or slots[m, 0] == LARGE
                    # One that was held on a curved surface may move now.
                    freed = slots[m, HOLD] < 0.5 and row[HOLD] > 1.5
                    allowed = FREED * given[SPACING_A] if freed else depth
                    if same and (lost or abs(slots[m, 0] - row[0]) < allowed):
                        follows = True
            if not follows:
                return kept[points + k, PLACE]  # type: ignore[no-any-return]
    return -1


@part
def ended(
    header: Ints, given: Floats, tables: Any, scratch: Any, slots: Floats, kept: Ints, near: float
) -> bool:
    """Whether a free contact point that presses has no place of its own any more; where it was last goes to the trial.

    Where two of them run together, as those of a ball in a groove that becomes wider, one is lost, or both press at the
    same place with twice the stiffness: either way the force jumps.
    """
    points = header[POINTS]
    pad = scratch[PAD]
    trial = slots[2 * points]
    for k in range(points):
        if kept[k, PARTNER] == GONE and slots[k, HOLD] > 1.5:
            goes_on = False
            for m in range(points):
                anew = kept[points + m, PLACE] >= 0 and kept[m, PLACE] < 0
                if anew and away(slots[points + m], slots[k, 4], slots[k, 5], slots[k, 6]) < near:
                    goes_on = True
            if not goes_on:
                # How deep it is where it was last.
                for m in range(3):
                    pad[SLOPES + 4 + m] = slots[k, 4 + m]
                    pad[SLOPES + 12 + m] = slots[k, 7 + m]
                how = refine_from(header, given, tables, scratch, 0.0, 0.0, 0.0, 0.0, trial, 0)
                if how == SETTLED and trial[0] < -ENDS * given[SPACING_A]:
                    return True
    for k in range(points):
        for m in range(k):
            one = slots[points + k]
            other = slots[points + m]
            if (
                kept[points + k, PLACE] >= 0
                and kept[points + m, PLACE] >= 0
                and min(one[HOLD], other[HOLD]) > 1.5
                and max(one[0], other[0]) < 0.0
                and away(one, other[4], other[5], other[6]) < ONE * given[SPACING_A]
                and one[1] * other[1] + one[2] * other[2] + one[3] * other[3] > ALIKE
            ):
                for c in range(SLOT):
                    trial[c] = one[c]
                return True
    return False


@part
def before_edges_touch(
    header: Ints,
    given: Floats,
    tables: Any,
    low: Ints,
    measures: Floats,
    count: int,
    slots: Floats,
    kept: Ints,
) -> None:
    """Shorten the way to the next search to before a corner of an edge without a point touches, such as the next of a
    round rim that rolls. Between two points none touches first.
    """
    table_a, marks_a = tables[TABLE_A], tables[MARKS_A]
    points = header[POINTS]
    spacing = given[SPACING_A]
    for k in range(count):
        i = low[k, PLACE]
        height = measures[k, HEIGHT]
        if marks_a[i, SHARP] < 0.5 or height < 0.0 or not height < given[CLEARANCE]:
            continue
        x = table_a[i, 0]
        y = table_a[i, 1]
        z = table_a[i, 2]
        if farthest(slots, kept, points, x, y, z) > 0.5 * spacing and not between(
            slots, kept, points, x, y, z, height, 0.5 * spacing
        ):
            given[CLEARANCE] = max(height, LEAST * spacing)


@part
def come_back_in_time(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, measures: Floats, count: int, lowest: int,
    slots: Floats, kept: Ints,
) -> None:  # fmt: skip
    """Shorten the way to the next search where not all low places have a point, or one is held on a curved surface.

    Places between the points sink no deeper than these.
    """
    table_a, marks_a, table_b, marks_b = tables[TABLE_A], tables[MARKS_A], tables[TABLE_B], tables[MARKS_B]
    points = header[POINTS]
    spacing = given[SPACING_A]
    taken = 0
    x = 0.0
    y = 0.0
    z = 0.0
    for k in range(points):
        i = kept[points + k, PLACE]
        if i >= 0:
            taken += 1
            x += slots[points + k, 4]
            y += slots[points + k, 5]
            z += slots[points + k, 6]
            j = kept[points + k, PARTNER]
            moves = hold_at(header, given, table_a, marks_a, table_b, marks_b, i, j, scratch[PAD]) > 0.5
            if 0.5 < slots[points + k, HOLD] < 1.5:
                given[CLEARANCE] = min(given[CLEARANCE], ALONG * spacing)
            if moves and slots[points + k, HOLD] < 0.5:
                given[CLEARANCE] = min(given[CLEARANCE], HELD * spacing)
    if taken < points:
        return
    before_edges_touch(header, given, tables, low, measures, count, slots, kept)
    share = 1.0 / taken
    widest = 0.0
    for k in range(points):
        widest = max(widest, away(slots[points + k], share * x, share * y, share * z))
    slack = given[BULGE_A] + given[BULGE_B]
    looked = 0
    for m in range(lowest):
        k = low[m, ORDER]
        i = low[k, PLACE]
        room = max(measures[k, HEIGHT] - slack, LEAST * spacing)
        if not room < given[CLEARANCE]:
            break
        dx = table_a[i, 0] - share * x
        dy = table_a[i, 1] - share * y
        dz = table_a[i, 2] - share * z
        outside = dx * dx + dy * dy + dz * dz > (widest + spacing) * (widest + spacing)
        if (
            outside
            and farthest(slots, kept, points, table_a[i, 0], table_a[i, 1], table_a[i, 2]) > 4.0 * spacing
        ):
            # The lowest of a few samples on a slope may be no place of its own: where does it lead to?
            own = True
            if looked < TRIED:
                looked += 1
                how = tried(header, given, tables, scratch, i, low[k, PARTNER], slots[2 * points])
                there = slots[2 * points]
                if how == SETTLED:
                    own = farthest(slots, kept, points, there[4], there[5], there[6]) > 4.0 * spacing
            if own:
                given[CLEARANCE] = room
                break


__all__ = ["come_back_in_time", "ended", "overlaps", "overlooked", "sudden"]
