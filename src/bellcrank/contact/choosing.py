"""Which samples that lie flat become contact points, and which may while others carry, in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.holding import LARGE, facing
from bellcrank.contact.meeting_layout import (
    FACING,
    HEIGHT,
    LIES,
    MARKS_A,
    MARKS_B,
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
from bellcrank.simulate.compiled import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

APART = 1.5
"""Held contact points keep at least so many distances of samples from each other."""
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
def next_lying(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, measures: Floats, count: int, lowest: int,
    slots: Floats, kept: Ints,
) -> int:  # fmt: skip
    """Of the samples that lie flat the next one to become a contact point, or -1.

    Either the one that may come down farthest below the points of its side before the next search, as the body turns
    about each of them, which finds corners and the ends of lines; or the lowest of a side that has none: the lower of
    the two. Between two points nothing touches first: such a one comes last.
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
        x = table_a[i, 0]
        y = table_a[i, 1]
        z = table_a[i, 2]
        apart = least_apart(given, marks_a, i)
        total = 0.0
        for s in range(points):
            if kept[points + s, PLACE] >= 0:
                far = away(slots[points + s], x, y, z)
                total += far - measures[k, HEIGHT] / given[FACING]
                if far < apart:
                    low[k, LIES] = 0
        if low[k, LIES] == 0 or not total > min(widest, widest_inner):
            continue
        facing(header, given, table_a, marks_b, i, low[k, PARTNER], pad)
        if low[k, LIES] == 1 and not same_side(
            slots, kept, points, pad[OUTWARD], pad[OUTWARD + 1], pad[OUTWARD + 2]
        ):
            continue
        if between(slots, kept, points, x, y, z, measures[k, HEIGHT], 0.5 * given[SPACING_A]):
            if total > widest_inner:
                widest_inner = total
                inner = k
        elif total > widest:
            widest = total
            spread = k
    if spread < 0:
        spread = inner
    for m in range(lowest):
        k = low[m, ORDER]
        if spread >= 0 and measures[spread, HEIGHT] <= measures[k, HEIGHT]:
            break
        if low[k, LIES] == 1:
            facing(header, given, table_a, marks_b, low[k, PLACE], low[k, PARTNER], pad)
            if not same_side(slots, kept, points, pad[OUTWARD], pad[OUTWARD + 1], pad[OUTWARD + 2]):
                return k  # type: ignore[no-any-return]
    return spread


__all__ = ["APART", "least_apart", "may_begin", "next_lying", "same_side"]
