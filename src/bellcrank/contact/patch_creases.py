"""Contact beside creases of a surface of patches, in compiled code.

A crease may touch wherever normals point, so the lowest point of a surface often stands on one; yet where the foot of
the other shape lies on a face beside it, that is the contact point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.meeting_layout import (
    HOLD,
    MARKS_A,
    NEIGHBOURS,
    ORDER,
    PARTNER,
    PATCHES_A,
    PLACE,
    POINTS,
    SHARP,
)
from bellcrank.contact.refinement import FOUND
from bellcrank.contact.slots import farthest, free_slot, from_sample, take, tried
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@part
def on_crease(header: Ints, marks_a: Floats, i: int) -> bool:
    """Whether a point of a surface of patches stands on a crease."""
    return header[PATCHES_A] != 0 and marks_a[i, SHARP] > 0.5  # type: ignore[no-any-return]


@part
def beside_creases(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, lowest: int, slots: Floats, kept: Ints,
    near: float, left: int,
) -> int:  # fmt: skip
    """Take the free contact points that low points beside creases lead to, before the creases; how many."""
    marks_a = tables[MARKS_A]
    points = header[POINTS]
    creases = 0
    for m in range(lowest):
        if on_crease(header, marks_a, low[low[m, ORDER], PLACE]):
            creases += 1
    taken = 0
    for m in range(lowest):
        k = low[m, ORDER]
        i = low[k, PLACE]
        if creases == 0 or taken == left or on_crease(header, marks_a, i):
            continue
        how = tried(header, given, tables, scratch, i, low[k, PARTNER], slots[2 * points])
        trial = slots[2 * points]
        apart = farthest(slots, kept, points, trial[4], trial[5], trial[6]) >= near
        if how == FOUND and trial[HOLD] > 1.5 and apart:
            slot = free_slot(slots, kept, points, trial[4], trial[5], trial[6])
            take(slots, kept, points, slot, i, low[k, PARTNER])
            taken += 1
    return taken


@part
def nearer_beside(
    header: Ints, given: Floats, tables: Any, scratch: Any, neighbours: Ints, i: int, j: int, slots: Floats,
    kept: Ints,
) -> None:  # fmt: skip
    """Of bodies apart, the closest point beside the crease that the nearest point stands on, if it is closer."""
    marks_a = tables[MARKS_A]
    points = header[POINTS]
    if not on_crease(header, marks_a, i):
        return
    for m in range(NEIGHBOURS):
        k = neighbours[i, m]
        if not on_crease(header, marks_a, k):
            how = from_sample(header, given, tables, scratch, k, j, 2.0, 0.0, 0.0, 0.0, slots[2 * points], 0)
            if how == FOUND and slots[2 * points, 0] < slots[points, 0]:
                take(slots, kept, points, 0, k, j)


__all__ = ["beside_creases", "nearer_beside", "on_crease"]
