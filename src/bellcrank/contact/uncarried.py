"""Places where bodies overlap and no contact point is, which would carry nothing without a word, in compiled code.

A place of its own is where the gap has a minimum besides those of the contact points: at a free point that is not one
of them, or on a side, a line or an edge that no contact point stands on. Of flat sides and lines a few points stand for
all that overlaps in one piece: from each of them it is followed from sample to sample.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.curving import settle_on_patch
from bellcrank.contact.heights import above_quadric, nearest_below, sample_above, seen
from bellcrank.contact.holding import LARGE, hold_at
from bellcrank.contact.lowest import EVEN
from bellcrank.contact.meeting_layout import (
    BULGE_A,
    BULGE_B,
    CLEARANCE,
    COUNTS,
    FRUSTA,
    HEIGHT,
    HOLD,
    MARKS_A,
    MARKS_B,
    MOST_POINTS,
    NEAR_A,
    NEIGHBOURS,
    NEXT,
    NODES_A,
    NODES_B,
    ORDER,
    PAD,
    PARTNER,
    PARTNER_OF_NEXT,
    PATCHES_A,
    PLACE,
    POINTS,
    SLOT,
    SPACING_A,
    SPOT,
    STACK,
    TABLE_A,
    TABLE_B,
    WHICH,
    WITHIN,
)
from bellcrank.contact.pieces import MIDDLES, SLOPES
from bellcrank.contact.refinement import FOUND as SETTLED
from bellcrank.contact.settling import settle
from bellcrank.contact.slots import away, between, farthest, refine_from, tried
from bellcrank.contact.smooth import SURFACE
from bellcrank.contact.tree_layout import KIND, LEAVES_A, WIDTH_A
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEAR = 4.0
"""Contact points closer than so many distances of samples are one, unless the gap rises between them."""
RISE = 0.02
"""By so much, over the distance of samples."""
ALIKE = 0.97
"""Cosine between their normals below which they are two places, as of a ball in a groove."""
SAME = 0.5
"""Contact points closer than this are one in any case."""
OWN = 0.75
"""Samples so near to a contact point lead to it."""
TOUCHING = 1e-9
"""Overlap over the distance of samples that is more than rounding."""
SOON = 1e-4
"""Motion to the next search over the distance of samples, at least, where a place without a point may touch."""
ALONG = 0.5
"""Steps on the way from place to place over the distance of samples."""
ASIDE = 0.5
"""How far beside the straight way the surface may be, over the distance of samples."""
PULLS = 4
"""Steps by which a point comes onto the surface."""
PASSED = -1.0
"""Mark of a sample that overlaps in one piece with a contact point."""


@part
def on_the_surface(header: Ints, given: Floats, tables: Any, scratch: Any, spare: Floats) -> bool:
    """Pull the point in the pad onto the surface; whether that is near it."""
    table_a, nodes_a = tables[TABLE_A], tables[NODES_A]
    pad, stack, near_a, counts = scratch[PAD], scratch[STACK], scratch[NEAR_A], scratch[COUNTS]
    a = SLOPES
    x = pad[a + 4]
    y = pad[a + 5]
    z = pad[a + 6]
    counts[0] = -1
    for _ in range(PULLS):
        if header[PATCHES_A] != 0:
            settle_on_patch(
                header[PATCHES_A], table_a, nodes_a, header[LEAVES_A], header[WIDTH_A], 0, pad, counts, stack, near_a,
                spare, 0,
            )  # fmt: skip
        elif (
            settle(
                table_a, nodes_a, header[LEAVES_A], header[WIDTH_A], 0.25 * given[SPACING_A], pad, a, MIDDLES, counts,
                0, stack, near_a,
            ) < 0
        ):  # fmt: skip
            return False
    x -= pad[a + 4]
    y -= pad[a + 5]
    z -= pad[a + 6]
    return x * x + y * y + z * z < ASIDE * ASIDE * given[SPACING_A] * given[SPACING_A]  # type: ignore[no-any-return]


@part
def gap_between(
    header: Ints, given: Floats, tables: Any, scratch: Any, slots: Floats, one: int, other: int, share: float
) -> float:
    """The gap on the way from one contact point to another, LARGE where there is no surface; behind the trial."""
    pad = scratch[PAD]
    spare = 2 * header[POINTS] + 1
    for k in range(3):
        pad[SLOPES + 4 + k] = slots[one, 4 + k] + share * (slots[other, 4 + k] - slots[one, 4 + k])
        pad[SLOPES + 12 + k] = slots[one, 7 + k] + share * (slots[other, 7 + k] - slots[one, 7 + k])
    if not on_the_surface(header, given, tables, scratch, slots[spare]):
        return LARGE
    how = refine_from(header, given, tables, scratch, 0.0, 0.0, 0.0, 0.0, slots[spare], 0)
    return slots[spare, 0] if how == SETTLED else LARGE  # type: ignore[no-any-return]


@part
def own_place(
    header: Ints,
    given: Floats,
    tables: Any,
    scratch: Any,
    slots: Floats,
    kept: Ints,
    pressing: bool,
    corners: bool,
) -> bool:
    """Whether the trial is none of the contact points that are taken, nor as good as one.

    pressing: Whether free ones that are near count only where they overlap apart, and all that are held do.
    corners: Whether a corner may be near another.
    """
    points = header[POINTS]
    trial = slots[2 * points]
    spacing = given[SPACING_A]
    for s in range(points):
        if kept[points + s, PLACE] >= 0:
            row = slots[points + s]
            far = away(row, trial[4], trial[5], trial[6])
            if far < SAME * spacing:
                return False
            if far < NEAR * spacing:
                if min(row[HOLD], trial[HOLD]) < 1.5:
                    if pressing or (corners and max(row[HOLD], trial[HOLD]) < 0.5):
                        continue
                    return False
                if row[1] * trial[1] + row[2] * trial[2] + row[3] * trial[3] < ALIKE:
                    continue
                rises = gap_between(header, given, tables, scratch, slots, points + s, 2 * points, 0.5)
                least = max(row[0], trial[0]) + RISE * spacing
                if rises < (max(least, 0.0) if pressing else least):
                    return False
    return True


@part
def overlap_between(
    header: Ints, given: Floats, tables: Any, scratch: Any, slots: Floats, one: int, other: int
) -> bool:
    """Whether the bodies overlap all the way from one contact point to another, straight ahead."""
    steps = (
        int(away(slots[one], slots[other, 4], slots[other, 5], slots[other, 6]) / (ALONG * given[SPACING_A]))
        + 2
    )
    for k in range(1, steps):
        if (
            gap_between(header, given, tables, scratch, slots, one, other, k / steps)
            > EVEN * given[SPACING_A]
        ):
            return False
    return True


@part
def stands(given: Floats, slots: Floats, kept: Ints, slot: int) -> bool:
    """Whether a contact point presses, or one of a side or a line does but for ripples of the surface."""
    if kept[slot, PLACE] < 0:
        return False
    return slots[slot, 0] < (0.0 if slots[slot, HOLD] > 1.5 else EVEN * given[SPACING_A])  # type: ignore[no-any-return]


@part
def on_the_way(
    header: Ints, given: Floats, tables: Any, scratch: Any, i: int, j: int, height: float, slack: float
) -> bool:
    """Whether bodies overlap at a sample, or beside it where that is one of a line."""
    if height < 0.0:
        return True
    if not height < slack:
        return False
    table_a, marks_a, table_b, marks_b = tables[TABLE_A], tables[MARKS_A], tables[TABLE_B], tables[MARKS_B]
    hold = hold_at(header, given, table_a, marks_a, table_b, marks_b, i, j, scratch[PAD])
    return 0.5 < hold < 1.9  # type: ignore[no-any-return]


@part
def pieces_of_points(
    header: Ints, given: Floats, tables: Any, scratch: Any, neighbours: Ints, blank: Floats, low: Ints,
    measures: Floats, count: int, slots: Floats, kept: Ints,
) -> int:  # fmt: skip
    """Mark all samples that overlap in one piece with a contact point; how many there are, in the order of NEXT.

    blank: LARGE for every sample. Afterwards the number among the low ones of a low sample, PASSED of one in a piece.
    """
    table_a, table_b = tables[TABLE_A], tables[TABLE_B]
    pad = scratch[PAD]
    points = header[POINTS]
    slack = given[BULGE_A] + given[BULGE_B]
    for k in range(count):
        blank[low[k, PLACE]] = k
    found = 0
    for s in range(points):
        p = kept[points + s, PLACE]
        if stands(given, slots, kept, points + s) and blank[p] != PASSED:
            blank[p] = PASSED
            low[found, NEXT] = p
            low[found, PARTNER_OF_NEXT] = kept[points + s, PARTNER]
            found += 1
    looked = 0
    while looked < found:
        p = low[looked, NEXT]
        partner = low[looked, PARTNER_OF_NEXT]
        looked += 1
        for m in range(NEIGHBOURS):
            q = neighbours[p, m]
            if blank[q] == PASSED:
                continue
            j = partner
            height = 0.0
            if blank[q] < LARGE:
                k = int(blank[q])
                j = low[k, PARTNER]
                height = measures[k, HEIGHT]
            elif header[KIND] == SURFACE:
                seen(given, table_a, q, pad, SPOT)
                pad[WITHIN] = LARGE
                j = nearest_below(header, given, table_b, tables[NODES_B], partner, pad, scratch[STACK], 0)
                height = above_quadric(table_b, j, pad, SPOT)
            else:
                height = sample_above(header, given, table_a, tables[FRUSTA], q, slack, pad)
            if on_the_way(header, given, tables, scratch, q, j, height, slack):
                blank[q] = PASSED
                low[found, NEXT] = q
                low[found, PARTNER_OF_NEXT] = j
                found += 1
    return found


@part
def in_a_piece(header: Ints, given: Floats, tables: Any, scratch: Any, slots: Floats, kept: Ints) -> bool:
    """Whether the trial, on a side, a line or an edge, overlaps in one piece with a contact point straight ahead."""
    points = header[POINTS]
    for s in range(points):
        if stands(given, slots, kept, points + s) and overlap_between(
            header, given, tables, scratch, slots, points + s, 2 * points
        ):
            return True
    return False


@part
def counted(given: Floats, slots: Floats, points: int, number: int) -> int:
    """Put the trial to the places without a point, where it is none of them; how many there are."""
    first = 2 * points + 2
    trial = slots[2 * points]
    for k in range(number):
        if away(slots[first + k], trial[4], trial[5], trial[6]) < NEAR * given[SPACING_A]:
            return number
    for k in range(SLOT):
        slots[first + number, k] = trial[k]
    return number + 1


@part
def uncarried(
    header: Ints, given: Floats, tables: Any, scratch: Any, neighbours: Ints, blank: Floats, low: Ints,
    measures: Floats, count: int, lowest: int, slots: Floats, kept: Ints,
) -> int:  # fmt: skip
    """At how many places bodies overlap without a contact point; the sample of the first goes to the header."""
    table_a, marks_a, table_b, marks_b = tables[TABLE_A], tables[MARKS_A], tables[TABLE_B], tables[MARKS_B]
    points = header[POINTS]
    spacing = given[SPACING_A]
    slack = given[BULGE_A] + given[BULGE_B]
    passed = -1
    number = 0
    for m in range(lowest):
        k = low[m, ORDER]
        i = low[k, PLACE]
        j = low[k, PARTNER]
        if measures[k, HEIGHT] > slack or number == MOST_POINTS:
            break
        if farthest(slots, kept, points, table_a[i, 0], table_a[i, 1], table_a[i, 2]) < OWN * spacing:
            continue
        hold = hold_at(header, given, table_a, marks_a, table_b, marks_b, i, j, scratch[PAD])
        if hold < 0.5 and not measures[k, HEIGHT] < 0.0:
            continue
        # Where many lie flat it is known already which belong together.
        if passed >= 0 and hold < 1.9 and blank[i] == PASSED:
            continue
        how = tried(header, given, tables, scratch, i, j, slots[2 * points])
        trial = slots[2 * points]
        if how != SETTLED or not trial[0] < -TOUCHING * spacing:
            continue
        if not own_place(header, given, tables, scratch, slots, kept, True, False):
            continue
        if trial[HOLD] < 1.5:
            if passed < 0:
                passed = pieces_of_points(
                    header, given, tables, scratch, neighbours, blank, low, measures, count, slots, kept
                )
            if blank[i] == PASSED or in_a_piece(header, given, tables, scratch, slots, kept):
                continue
        if number == 0:
            header[WHICH] = i
        number = counted(given, slots, points, number)
    if passed >= 0:
        for k in range(count):
            blank[low[k, PLACE]] = LARGE
        for k in range(passed):
            blank[low[k, NEXT]] = LARGE
    return number


@part
def before_others_touch(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, measures: Floats, lowest: int, slots: Floats,
    kept: Ints,
) -> None:  # fmt: skip
    """Shorten the way to the next search to before a place without a contact point touches, where all are taken."""
    table_a, marks_a, table_b, marks_b = tables[TABLE_A], tables[MARKS_A], tables[TABLE_B], tables[MARKS_B]
    points = header[POINTS]
    spacing = given[SPACING_A]
    slack = given[BULGE_A] + given[BULGE_B]
    for s in range(points):
        if kept[points + s, PLACE] < 0:
            return
    for m in range(lowest):
        k = low[m, ORDER]
        i = low[k, PLACE]
        height = measures[k, HEIGHT]
        if not max(height - slack, SOON * spacing) < given[CLEARANCE]:
            break
        x = table_a[i, 0]
        y = table_a[i, 1]
        z = table_a[i, 2]
        if farthest(slots, kept, points, x, y, z) < OWN * spacing:
            continue
        j = low[k, PARTNER]
        hold = hold_at(header, given, table_a, marks_a, table_b, marks_b, i, j, scratch[PAD])
        if hold < 0.5:
            inner = between(slots, kept, points, x, y, z, height, 0.5 * spacing)
            if height > 0.0 and not inner:
                given[CLEARANCE] = min(given[CLEARANCE], max(height, SOON * spacing))
        elif tried(header, given, tables, scratch, i, j, slots[2 * points]) == SETTLED:
            gap = slots[2 * points, 0]
            if gap > 0.0 and own_place(header, given, tables, scratch, slots, kept, True, False):
                given[CLEARANCE] = min(given[CLEARANCE], max(gap, SOON * spacing))


__all__ = ["before_others_touch", "own_place", "uncarried"]
