"""The lowest of low samples, those no higher than their neighbours, in order, in compiled code."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.heights import above_quadric, above_smooth, seen
from bellcrank.contact.meeting_layout import (
    DOWN,
    HEIGHT,
    NEIGHBOURS,
    ORDER,
    OUT,
    PARTNER,
    PLACE,
    SPACING_A,
    SPOT,
    STEPPED,
    UP,
)
from bellcrank.contact.smooth import SURFACE
from bellcrank.contact.tree_layout import KIND
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STEP = 1e-6
"""Heights that differ by less, over the distance of samples, are the same."""
EVEN = 1e-3
"""Heights that differ by less, over the distance of samples, are as good as the same."""
WHOLE = 6755399441055744.0
"""1.5 * 2^52: added and taken away again, it leaves whole numbers."""
LARGE = 1e300


@part
def comes_first(measures: Floats, i: int, j: int) -> bool:
    """The lower first; of those equally low, as on a flat side, the outer, then the earlier one."""
    if measures[i, STEPPED] != measures[j, STEPPED]:
        return measures[i, STEPPED] < measures[j, STEPPED]  # type: ignore[no-any-return]
    if measures[i, OUT] != measures[j, OUT]:
        return measures[i, OUT] > measures[j, OUT]  # type: ignore[no-any-return]
    return i < j


@part
def sift(low: Ints, measures: Floats, first: int, count: int) -> None:
    """Let one entry of the heap sink, the last in order on top."""
    k = first
    while 2 * k + 1 < count:
        m = 2 * k + 1
        if m + 1 < count and comes_first(measures, low[m, ORDER], low[m + 1, ORDER]):
            m += 1
        if not comes_first(measures, low[k, ORDER], low[m, ORDER]):
            return
        other = low[k, ORDER]
        low[k, ORDER] = low[m, ORDER]
        low[m, ORDER] = other
        k = m


@part
def least_unseen(
    header: Ints, given: Floats, table: Floats, table_b: Floats, p: int, partner: int, neighbours: Ints,
    blank: Floats, pad: Floats,
) -> float:  # fmt: skip
    """The height of the lowest neighbour that was left out, since it is no contact point itself; LARGE without any."""
    least = LARGE
    for m in range(NEIGHBOURS):
        q = neighbours[p, m]
        if blank[q] == LARGE:
            if header[KIND] == SURFACE:
                seen(given, table, q, pad, SPOT)
                least = min(least, above_quadric(table_b, partner, pad, SPOT))
            else:
                least = min(least, above_smooth(header, given, table, q, pad))
    return least


@part
def minima(
    header: Ints,
    given: Floats,
    table: Floats,
    table_b: Floats,
    neighbours: Ints,
    blank: Floats,
    low: Ints,
    measures: Floats,
    count: int,
    unseen: bool,
    pad: Floats,
) -> int:
    """The low samples that are no higher than their neighbours, in order (a heapsort); how many. Slopes of all of them.

    blank: LARGE for every sample, and again afterwards. unseen: Whether low samples may have been left out.
    """
    for k in range(count):
        blank[low[k, PLACE]] = measures[k, HEIGHT]
    kept = 0
    mx = 0.0
    my = 0.0
    mz = 0.0
    for k in range(count):
        p = low[k, PLACE]
        mx += table[p, 0]
        my += table[p, 1]
        mz += table[p, 2]
        least = LARGE
        steepest = 0.0
        for m in range(NEIGHBOURS):
            q = neighbours[p, m]
            least = min(least, blank[q])
            fall = measures[k, HEIGHT] - blank[q]
            if fall > 0.0:
                dx = table[q, 0] - table[p, 0]
                dy = table[q, 1] - table[p, 1]
                dz = table[q, 2] - table[p, 2]
                steepest = max(steepest, fall / math.sqrt(max(1e-300, dx * dx + dy * dy + dz * dz)))
        measures[k, DOWN] = steepest
        same = 1e-12 * given[SPACING_A]
        if unseen and measures[k, HEIGHT] <= least + same:
            hidden = least_unseen(header, given, table, table_b, p, low[k, PARTNER], neighbours, blank, pad)
            if hidden < measures[k, HEIGHT] - same:
                continue
            least = min(least, hidden)
        measures[k, UP] = least - measures[k, HEIGHT]
        if measures[k, HEIGHT] <= least + same:
            low[kept, ORDER] = k
            kept += 1
    for k in range(count):
        blank[low[k, PLACE]] = LARGE
    number = 1.0 / max(count, 1)
    for m in range(kept):
        k = low[m, ORDER]
        p = low[k, PLACE]
        dx = table[p, 0] - number * mx
        dy = table[p, 1] - number * my
        dz = table[p, 2] - number * mz
        measures[k, OUT] = math.sqrt(dx * dx + dy * dy + dz * dz)
        measures[k, STEPPED] = (measures[k, HEIGHT] / (STEP * given[SPACING_A]) + WHOLE) - WHOLE
    first = kept
    while first > 0:
        first -= 1
        sift(low, measures, first, kept)
    last = kept - 1
    while last > 0:
        other = low[0, ORDER]
        low[0, ORDER] = low[last, ORDER]
        low[last, ORDER] = other
        sift(low, measures, 0, last)
        last -= 1
    return kept


@part
def spread(given: Floats, table: Floats, low: Ints, measures: Floats, lowest: int, points: int) -> None:
    """Put as many of the lowest first as there are points, of those equally low the one farthest from the ones before.

    Where a whole ring lies on a plane the points stand around it, by the largest product of distances (Leja).
    """
    for m in range(1, min(lowest, points)):
        best = m
        widest = -1.0
        limit = measures[low[m, ORDER], HEIGHT] + EVEN * given[SPACING_A]
        n = m
        while n < lowest and measures[low[n, ORDER], HEIGHT] <= limit:
            p = low[low[n, ORDER], PLACE]
            total = 1.0
            for b in range(m):
                q = low[low[b, ORDER], PLACE]
                dx = table[q, 0] - table[p, 0]
                dy = table[q, 1] - table[p, 1]
                dz = table[q, 2] - table[p, 2]
                total *= math.sqrt(dx * dx + dy * dy + dz * dz) / given[SPACING_A]
            if total > widest:
                widest = total
                best = n
            n += 1
        # The others keep their order.
        chosen = low[best, ORDER]
        while best > m:
            low[best, ORDER] = low[best - 1, ORDER]
            best -= 1
        low[m, ORDER] = chosen


__all__ = ["minima", "spread"]
