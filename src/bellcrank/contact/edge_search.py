"""Contact points of two edges among those of a search, in compiled code.

Where the rims of two open surfaces come near each other Newton's method leads to their closest points, which are put
among the others; how far the bodies may move before a pair of edges without a point could touch shortens the way to the
next search, and so does how far a point is from the end of its edge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.coming_around import edges_cut
from bellcrank.contact.edge_pairs import (
    ALONG_A,
    ALONG_B,
    APART,
    ON_A,
    ON_B,
    beside,
    near_pairs,
    put_chord_a,
    within_reach,
)
from bellcrank.contact.edges import ALONG_EACH_OTHER, GAP, OUT_A, OUT_B, PAST, SINE
from bellcrank.contact.edges import BEHIND_EDGE as FROM_BEHIND
from bellcrank.contact.edges import OFF_END as OVER_AN_END
from bellcrank.contact.holding import LARGE
from bellcrank.contact.meeting_layout import (
    BAND,
    BEHIND_EDGE,
    BULGE_A,
    BULGE_B,
    CHORDS,
    CHORDS_A,
    CHORDS_B,
    CLEARANCE,
    COUNTS,
    CROSSED,
    DEEPER,
    FOUND,
    HOLD,
    OFF_END,
    PAD,
    PAIR,
    PAIRS,
    PARTNER,
    PLACE,
    POINTS,
    SEVERAL,
    SPACING_A,
    SPACING_B,
    SPOT,
    TABLE_A,
    TABLE_B,
    WHICH,
)
from bellcrank.contact.pieces import SLOPES
from bellcrank.contact.refinement import CROSSING, TOLD, WHY
from bellcrank.contact.refinement import FOUND as SETTLED
from bellcrank.contact.rims import END, START
from bellcrank.contact.slots import away, both_open, farthest, free_slot, from_rims, stay, take
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BEGINS = 1e-3
"""Sine of the angle by which the direction leads out of one of the sheets, at least, for a contact of two edges to
begin: sheets that lie on each other touch with their sides."""
WITHIN = 1.0
"""How far from its rim Newton's method may begin, over the distance of samples."""
ONE = 0.5
"""Contact points nearer to each other, over the distance of samples, are the same."""
SAME = 1e-6
"""The same of points that Newton's method has led to twice,"""
ALIKE = 0.999
"""where the cosine between their normals is more than this."""
AROUND = 2.0
"""So far around a place where edges cross, over the distance of samples, sheets pass each other."""
ELSEWHERE = 4.0
"""Places farther apart are two, where there is one contact point."""
LEAST = 0.05
"""Motion to the next search over the distance of samples, at least."""
TOUCHES = 0.1
"""Distance of edges along each other, over that of samples, at which they touch along a line."""
PRESSES = 1e-6
"""Gaps that differ by no more are the same, over the distance of samples: of edges that touch, or of two points."""


@part
def edge_error(given: Floats, pad: Floats) -> int:
    """Whether two edges that were followed have come to an end though they touch: what to answer, or FOUND."""
    why = int(pad[WHY])
    if not pad[CROSSING] < LARGE:
        return FOUND
    if why == ALONG_EACH_OTHER:
        return CROSSED if pad[CROSSING] < TOUCHES * given[SPACING_A] else FOUND
    if not pad[CROSSING] < PRESSES * given[SPACING_A]:
        return FOUND
    if why == OVER_AN_END:
        return OFF_END
    return BEHIND_EDGE if why == FROM_BEHIND else FOUND


@part
def shorten(given: Floats, room: float) -> None:
    """No longer than this to the next search, nor shorter than need be."""
    given[CLEARANCE] = min(given[CLEARANCE], max(room, LEAST * given[SPACING_A]))


@part
def begin_pair(tables: Any, at: int, pad: Floats) -> None:
    """Where two chords are closest, into pad, for Newton's method to begin."""
    put_chord_a(tables, int(pad[at + ON_A]), pad)
    chords, table = tables[CHORDS_B], tables[TABLE_B]
    j = int(pad[at + ON_B])
    start = int(chords[j, START])
    end = int(chords[j, END])
    s = pad[at + ALONG_A]
    t = pad[at + ALONG_B]
    for m in range(3):
        pad[SLOPES + 4 + m] = pad[CHORDS + m] + s * (pad[CHORDS + 3 + m] - pad[CHORDS + m])
        pad[SLOPES + 12 + m] = table[start, m] + t * (table[end, m] - table[start, m])


@part
def only_one(header: Ints, given: Floats, slots: Floats, kept: Ints, i: int, j: int) -> int:
    """The trial as the one contact point, where it is the closest; SEVERAL where another one presses as well."""
    trial = slots[2]
    if kept[1, PLACE] < 0:
        take(slots, kept, 1, 0, i, j)
        return FOUND
    apart = away(slots[1], trial[4], trial[5], trial[6])
    if max(slots[1, 0], trial[0]) < -PRESSES * given[SPACING_A] and apart > ELSEWHERE * given[SPACING_A]:
        header[WHICH] = i
        return SEVERAL
    if trial[0] < slots[1, 0] + PRESSES * given[SPACING_A]:
        take(slots, kept, 1, 0, i, j)
    return FOUND


@part
def one_of_several(header: Ints, given: Floats, slots: Floats, kept: Ints, i: int, j: int) -> int:
    """The trial into a free slot, or into that of a point that is farther; DEEPER where all of them press."""
    points = header[POINTS]
    trial = slots[2 * points]
    for k in range(points):
        if (
            kept[points + k, PLACE] >= 0
            and away(slots[points + k], trial[4], trial[5], trial[6]) < ONE * given[SPACING_A]
        ):
            # Edges that cross are what touches there, not a place of one of them that is held.
            if trial[0] < slots[points + k, 0] + PRESSES * given[SPACING_A]:
                take(slots, kept, points, k, i, j)
            return FOUND
    slot = free_slot(slots, kept, points, trial[4], trial[5], trial[6])
    if slot < 0:
        for k in range(points):
            if slots[points + k, 0] > max(0.0, trial[0]) and (
                slot < 0 or slots[points + k, 0] > slots[points + slot, 0]
            ):
                slot = k
        if slot < 0:
            if trial[0] < 0.0:
                header[WHICH] = i
                return DEEPER
            shorten(given, trial[0])
            return FOUND
        shorten(given, slots[points + slot, 0])
    take(slots, kept, points, slot, i, j)
    return FOUND


@part
def is_taken(given: Floats, slots: Floats, kept: Ints, points: int) -> bool:
    """Whether the trial is one of the points that there are."""
    trial = slots[2 * points]
    for k in range(points):
        one = slots[points + k]
        if (
            kept[points + k, PLACE] >= 0
            and one[HOLD] > 1.5
            and away(one, trial[4], trial[5], trial[6]) < SAME * given[SPACING_A]
            and one[1] * trial[1] + one[2] * trial[2] + one[3] * trial[3] > ALIKE
        ):
            return True
    return False


@part
def cut_before(given: Floats, slots: Floats, kept: Ints, points: int, pad: Floats) -> bool:
    """Whether another contact is nearer to where two sheets cut each other, at pad[SLOPES + 4], than the trial is."""
    x = pad[SLOPES + 4]
    y = pad[SLOPES + 5]
    z = pad[SLOPES + 6]
    own = away(slots[2 * points], x, y, z)
    for k in range(points):
        touches = kept[points + k, PLACE] >= 0 and slots[points + k, 0] < PRESSES * given[SPACING_A]
        if touches and away(slots[points + k], x, y, z) < own:
            return True
    return False


@part
def stay_pressing(given: Floats, slots: Floats, kept: Ints, points: int) -> None:
    """Points of before that press stay in their slots, and no other one at the same place."""
    for k in range(points):
        if kept[k, PLACE] < 0 or not slots[k, 0] < 0.0:
            continue
        if kept[points + k, PLACE] < 0 or slots[points + k, 0] > slots[k, 0]:
            stay(slots, kept, points, k)
            for m in range(points):
                there = slots[points + m]
                same = away(slots[k], there[4], there[5], there[6]) < ONE * given[SPACING_A]
                if m != k and kept[points + m, PLACE] >= 0 and same:
                    kept[points + m, PLACE] = -1
                    kept[points + m, PARTNER] = -1


@part
def beside_edges(header: Ints, given: Floats, tables: Any, slots: Floats, kept: Ints) -> bool:
    """Whether what seems to be behind an open surface is beside a place where edges cross: sheets do so around it."""
    if not both_open(header):
        return False
    points = header[POINTS]
    table = tables[TABLE_A]
    i = header[WHICH]
    for k in range(points):
        if (
            kept[points + k, PLACE] >= 0
            and abs(slots[points + k, 0]) < given[BAND]
            and away(slots[points + k], table[i, 0], table[i, 1], table[i, 2]) < AROUND * given[SPACING_A]
        ):
            return True
    return False


@part
def with_edges(header: Ints, given: Floats, tables: Any, scratch: Any, slots: Floats, kept: Ints) -> int:
    """Put contacts of two edges among the points that were found; what comes of it."""
    if not both_open(header):
        return FOUND
    pad = scratch[PAD]
    points = header[POINTS]
    trial = slots[2 * points]
    slack = given[BULGE_A] + given[BULGE_B]
    stay_pressing(given, slots, kept, points)
    bound = given[BAND]
    best = LARGE
    for k in range(points):
        if kept[points + k, PLACE] >= 0:
            best = min(best, slots[points + k, 0])
    if best > bound:
        # Far apart the closest of all is looked for.
        bound = max(bound, min(best, within_reach(header, given, tables)))
    count = near_pairs(header, given, tables, bound, pad)
    shorten(given, pad[SPOT] - slack)
    for m in range(count):
        at = PAIRS + PAIR * m
        far = pad[at + APART]
        over = beside(tables[CHORDS_A], int(pad[at + ON_A]), pad[at + ALONG_A])
        other = beside(tables[CHORDS_B], int(pad[at + ON_B]), pad[at + ALONG_B])
        begin_pair(tables, at, pad)
        x = pad[SLOPES + 4]
        y = pad[SLOPES + 5]
        z = pad[SLOPES + 6]
        near = farthest(slots, kept, points, x, y, z) < ONE * given[SPACING_A]
        if min(over, other) < -1:
            # The end of an edge: it may touch in between.
            if not near:
                shorten(given, far - slack)
            continue
        pad[CROSSING] = LARGE
        how = from_rims(header, given, tables, scratch, WITHIN, trial)
        if how == SETTLED and max(pad[TOLD + OUT_A], pad[TOLD + OUT_B]) > BEGINS:
            i = scratch[COUNTS][2]
            j = scratch[COUNTS][3]
            # Edges slide by more than the bodies move, the more the less they cross.
            room = min(-pad[TOLD + PAST], min(given[SPACING_A], given[SPACING_B])) * pad[TOLD + SINE]
            # Whether they still cross matters where they touch.
            room = max(room, trial[0] - slack)
            if is_taken(given, slots, kept, points):
                shorten(given, room)
                continue
            if trial[0] < -given[BAND] or (
                trial[0] < 0.0
                and (
                    not edges_cut(header, given, tables, scratch)
                    or cut_before(given, slots, kept, points, pad)
                )
            ):
                # They have passed each other, or others are what crosses there.
                continue
            came = FOUND
            if points == 1:
                came = only_one(header, given, slots, kept, i, j)
            else:
                came = one_of_several(header, given, slots, kept, i, j)
            if came != FOUND:
                return came
            shorten(given, room)
        elif not near:
            along = pad[CROSSING] < LARGE and int(pad[WHY]) == ALONG_EACH_OTHER
            leads = min(pad[TOLD + OUT_A], pad[TOLD + OUT_B]) > BEGINS
            if along and leads and pad[TOLD + GAP] < TOUCHES * given[SPACING_A]:
                return CROSSED
            shorten(given, far - slack)
    return FOUND


__all__ = ["beside_edges", "edge_error", "with_edges"]
