"""Which samples that lie flat become contact points, and which may while others carry, in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.holding import LARGE, facing
from bellcrank.contact.lowest import EVEN
from bellcrank.contact.meeting_layout import (
    FACING,
    HEIGHT,
    INSIDE,
    LIES,
    MARKS_A,
    MARKS_B,
    NEIGHBOURS,
    NEXT,
    ORDER,
    OUTWARD,
    PAD,
    PARTNER,
    PLACE,
    POINTS,
    SHARP,
    SPACING_A,
    TABLE_A,
)
from bellcrank.contact.slots import away, between
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

APART = 1.5
"""Held contact points keep at least so many distances of samples from each other."""
CORNERS = 4
"""Points that stand for a side, before others get some."""
SAME = 0.97
"""Cosine between normals of the other shape below which places belong to two sides of it."""


@part
def may_begin(slots: Floats, kept: Ints, points: int) -> bool:
    """Whether the trial may become a contact point: one that lies in the other shape already would begin with a jump.

    Where others carry it is let be as long as one of them is as deep.
    """
    trial = slots[2 * points]
    if not trial[0] < 0.0:
        return True
    deepest = 0.0
    for s in range(points):
        if kept[s, PLACE] >= 0:
            deepest = min(deepest, slots[s, 0])
    return deepest == 0.0 or trial[0] < deepest  # type: ignore[no-any-return]


@part
def same_side(slots: Floats, kept: Ints, points: int, x: float, y: float, z: float) -> bool:
    """Whether a contact point that is taken is on the side of the other shape with this outward normal."""
    for s in range(points):
        if kept[points + s, PLACE] >= 0:
            row = slots[points + s]
            # Normals of slots point to the other shape.
            if row[1] * x + row[2] * y + row[3] * z < -SAME:
                return True
    return False


@part
def least_apart(given: Floats, marks_a: Floats, i: int) -> float:
    """How far a sample must be from a contact point to become another; on an edge every sample is a corner."""
    return (0.5 if marks_a[i, SHARP] > 0.5 else APART) * given[SPACING_A]  # type: ignore[no-any-return]


@part
def root(low: Ints, k: int) -> int:
    """The low sample that stands for the piece a low sample is in."""
    while low[k, NEXT] != k:
        low[k, NEXT] = low[low[k, NEXT], NEXT]
        k = low[k, NEXT]
    return k


@part
def join(low: Ints, blank: Floats, k: int, p: int) -> None:
    """Let a low sample and one that may be low be in one piece."""
    if blank[p] < LARGE:
        low[root(low, int(blank[p])), NEXT] = root(low, k)


@part
def part_in_pieces(marks_a: Floats, low: Ints, count: int, neighbours: Ints, blank: Floats) -> None:
    """Join low samples that are neighbours into pieces, as of several feet; also beyond one that is no corner.

    blank: LARGE for every sample; afterwards the number of a low one among them.
    """
    for k in range(count):
        blank[low[k, PLACE]] = k
        low[k, NEXT] = k
    for k in range(count):
        for m in range(NEIGHBOURS):
            p = neighbours[low[k, PLACE], m]
            join(low, blank, k, p)
            if marks_a[p, INSIDE] > 0.5:
                for n in range(NEIGHBOURS):
                    join(low, blank, k, neighbours[p, n])


@part
def points_in_piece(low: Ints, blank: Floats, kept: Ints, points: int, k: int) -> int:
    """How many contact points that are taken stand in the piece of a low sample."""
    own = root(low, k)
    found = 0
    for s in range(points):
        p = kept[points + s, PLACE]
        if p >= 0 and blank[p] < LARGE and root(low, int(blank[p])) == own:
            found += 1
    return found


@part
def touches_first(
    given: Floats, low: Ints, measures: Floats, blank: Floats, slots: Floats, kept: Ints, points: int, k: int
) -> bool:
    """Whether no contact point in the piece of a low sample is as low as that."""
    own = root(low, k)
    limit = measures[k, HEIGHT] + EVEN * given[SPACING_A]
    for s in range(points):
        p = kept[points + s, PLACE]
        if p >= 0 and blank[p] < LARGE and root(low, int(blank[p])) == own and slots[points + s, 0] <= limit:
            return False
    return True


@part
def other_piece_first(
    given: Floats, low: Ints, measures: Floats, lowest: int, m: int, kept: Ints, points: int, blank: Floats
) -> None:
    """Put a minimum in a piece without a contact point before one that is as low in a piece with one."""
    k = low[m, ORDER]
    if points_in_piece(low, blank, kept, points, k) == 0:
        return
    limit = measures[k, HEIGHT] + EVEN * given[SPACING_A]
    n = m + 1
    while n < lowest and measures[low[n, ORDER], HEIGHT] <= limit:
        if points_in_piece(low, blank, kept, points, low[n, ORDER]) == 0:
            low[m, ORDER] = low[n, ORDER]
            low[n, ORDER] = k
            return
        n += 1


@part
def total_distance(
    given: Floats, table_a: Floats, low: Ints, measures: Floats, k: int, slots: Floats, kept: Ints, points: int,
    apart: float,
) -> float:  # fmt: skip
    """How far a low sample may come down below the contact points, all together; -LARGE where it is too near to one."""
    i = low[k, PLACE]
    total = 0.0
    for s in range(points):
        if kept[points + s, PLACE] >= 0:
            far = away(slots[points + s], table_a[i, 0], table_a[i, 1], table_a[i, 2])
            total += far - measures[k, HEIGHT] / given[FACING]
            if far < apart:
                return -LARGE
    return total


@part
def inside(
    given: Floats,
    table_a: Floats,
    low: Ints,
    measures: Floats,
    k: int,
    slots: Floats,
    kept: Ints,
    points: int,
) -> bool:
    """Whether a low sample lies between two contact points, where nothing touches first."""
    i = low[k, PLACE]
    x = table_a[i, 0]
    y = table_a[i, 1]
    z = table_a[i, 2]
    return between(slots, kept, points, x, y, z, measures[k, HEIGHT], 0.5 * given[SPACING_A])  # type: ignore[no-any-return]


@part
def in_another_piece(
    given: Floats, table_a: Floats, low: Ints, measures: Floats, count: int, chosen: int, slots: Floats, kept: Ints,
    points: int, blank: Floats,
) -> int:  # fmt: skip
    """A sample in a piece without a contact point instead of one that is chosen in a piece with some, as low as that.

    Or of any height from which it may come down, where the piece has as many as a side has corners.
    """
    there = points_in_piece(low, blank, kept, points, chosen)
    if there == 0:
        return chosen
    limit = measures[chosen, HEIGHT] + EVEN * given[SPACING_A]
    widest = -LARGE
    if there >= CORNERS:
        limit = LARGE
        widest = 0.0
    for k in range(count):
        if low[k, LIES] == 1 and measures[k, HEIGHT] < limit:
            total = total_distance(given, table_a, low, measures, k, slots, kept, points, 0.0)
            if (
                total > widest
                and points_in_piece(low, blank, kept, points, k) == 0
                and not inside(given, table_a, low, measures, k, slots, kept, points)
            ):
                widest = total
                chosen = k
    return chosen


@part
def next_lying(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, measures: Floats, count: int, lowest: int,
    slots: Floats, kept: Ints, blank: Floats, parted: bool,
) -> int:  # fmt: skip
    """Of the samples that lie flat the next one to become a contact point, or -1.

    Either the one that may come down farthest below the points of its side before the next search, as the body turns
    about each of them, which finds corners and the ends of lines, and of those as low one in a piece that has no point;
    or the lowest of a side that has none, or of a piece without one as low: the lower of the two. Between two points
    nothing touches first: such a one comes last. parted: Whether it is known which pieces there are.
    """
    table_a, marks_a, marks_b = tables[TABLE_A], tables[MARKS_A], tables[MARKS_B]
    pad = scratch[PAD]
    points = header[POINTS]
    spread = -1
    widest = -LARGE
    inner = -1
    widest_inner = -LARGE
    for k in range(count):
        if low[k, LIES] == 0:
            continue
        i = low[k, PLACE]
        apart = least_apart(given, marks_a, i)
        total = total_distance(given, table_a, low, measures, k, slots, kept, points, apart)
        if total == -LARGE:
            low[k, LIES] = 0
        if low[k, LIES] == 0 or not total > min(widest, widest_inner):
            continue
        facing(header, given, table_a, marks_b, i, low[k, PARTNER], pad)
        if low[k, LIES] == 1 and not same_side(
            slots, kept, points, pad[OUTWARD], pad[OUTWARD + 1], pad[OUTWARD + 2]
        ):
            continue
        if inside(given, table_a, low, measures, k, slots, kept, points):
            if total > widest_inner:
                widest_inner = total
                inner = k
        elif total > widest:
            widest = total
            spread = k
    if spread < 0:
        spread = inner
    if parted and spread >= 0:
        spread = in_another_piece(given, table_a, low, measures, count, spread, slots, kept, points, blank)
    for m in range(lowest):
        k = low[m, ORDER]
        if spread >= 0 and measures[spread, HEIGHT] <= measures[k, HEIGHT]:
            break
        if low[k, LIES] == 1:
            facing(header, given, table_a, marks_b, low[k, PLACE], low[k, PARTNER], pad)
            if not same_side(slots, kept, points, pad[OUTWARD], pad[OUTWARD + 1], pad[OUTWARD + 2]):
                return k  # type: ignore[no-any-return]
            if (
                parted
                and touches_first(given, low, measures, blank, slots, kept, points, k)
                and not inside(given, table_a, low, measures, k, slots, kept, points)
            ):
                return k  # type: ignore[no-any-return]
    return spread


__all__ = [
    "APART",
    "least_apart",
    "may_begin",
    "next_lying",
    "other_piece_first",
    "part_in_pieces",
    "same_side",
]
