"""The places where samples of one surface are lowest above another, by their trees, in compiled code.

Pairs of nodes are opened in the order of their bounds, the least first, so that none is opened whose bound lies above
the answer; bounds are as tight as the curvature (:mod:`tree_bounds`), so that a few pairs of each level are. Of sides
that follow each other, as parallel flat ones do, one place is as low as another: heights that are equal but for
rounding end the search, and where they differ by less than what is looked for, it gives up at LIMIT.

Sources: Larsen, Gottschalk, Lin, Manocha (2000) for the search of two trees; Hart, Nilsson, Raphael (1968) for the
order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import (
    APART,
    BAND,
    BENT,
    BEST,
    DEEP,
    FACE,
    HEIGHTS,
    LEAVES_A,
    LEAVES_B,
    MEASURED,
    NORMAL,
    SLACK,
    SPACING_A,
    START_A,
    START_B,
    VISITED,
    WIDTH_A,
    WIDTH_B,
)
from bellcrank.contact.tree_bounds import least, out_of_reach
from bellcrank.contact.tree_layout import BALL
from bellcrank.contact.tree_queue import queued, unqueued
from bellcrank.contact.turning import brought_back, turned_back
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PLACES = 8
"""Places that are refined at most."""
QUEUE = 16384
"""Pairs of nodes that wait at most."""
BRIEF = 48
"""Pairs of nodes that a search from a start looks at for each level of both trees before it puts them in order."""
LIMIT = 40_000
"""Pairs of nodes that are looked at, at most: two milliseconds."""
PER_PAIR = 8
"""Samples measured in the time that a pair of nodes takes."""
EQUAL = 1e-9
"""Heights that differ by less, over the spacing, are the same."""


@part
def seen_from_b(given: Floats, table: Floats, p: int, pad: Floats) -> None:
    """A sample of a in the frame of b."""
    x, y, z = brought_back(given, table[p, 0], table[p, 1], table[p, 2])
    pad[0] = x
    pad[1] = y
    pad[2] = z


@part
def measured(table_a: Floats, p: int, table_b: Floats, q: int, given: Floats, pad: Floats) -> float:
    """The height of a sample of a, in pad, above the quadric of one of b, or their distance where it is off it."""
    dx = pad[0] - table_b[q, 0]
    dy = pad[1] - table_b[q, 1]
    dz = pad[2] - table_b[q, 2]
    nx = table_b[q, NORMAL]
    ny = table_b[q, NORMAL + 1]
    nz = table_b[q, NORMAL + 2]
    square = dx * dx + dy * dy + dz * dz
    high = nx * dx + ny * dy + nz * dz
    side = square - high * high
    face = table_b[q, FACE]
    if side > face * face:
        return math.sqrt(square)
    tx = dx - high * nx
    ty = dy - high * ny
    tz = dz - high * nz
    bent = 0.5 * (
        table_b[q, BENT] * tx * tx + table_b[q, BENT + 1] * ty * ty + table_b[q, BENT + 2] * tz * tz
    ) + (table_b[q, BENT + 3] * tx * ty + table_b[q, BENT + 4] * tx * tz + table_b[q, BENT + 5] * ty * tz)
    # What quadrics tell of edges and corners is no matter beyond this.
    height = high - min(face, max(-face, bent))
    if height < 0.0:
        if square > given[DEEP] * given[DEEP]:
            return math.sqrt(square)
        # Inside is where the sides face each other; the back of a thin body does not count.
        fx, fy, fz = turned_back(given, table_a[p, NORMAL], table_a[p, NORMAL + 1], table_a[p, NORMAL + 2])
        if fx * nx + fy * ny + fz * nz > 0.0:
            return math.sqrt(square)
    return height  # type: ignore[no-any-return]


@part
def taken(
    table: Floats, p: int, q: int, h: float, found: Ints, count: int, given: Floats, pad: Floats
) -> int:
    """Put a pair among the places, the lowest of each neighbourhood; how many there are."""
    if h < pad[BEST]:
        pad[BEST] = h
    worst = 0
    for k in range(count):
        s = found[2 * k]
        dx = table[p, 0] - table[s, 0]
        dy = table[p, 1] - table[s, 1]
        dz = table[p, 2] - table[s, 2]
        if dx * dx + dy * dy + dz * dz < given[APART] * given[APART]:
            if h < pad[HEIGHTS + k]:
                found[2 * k] = p
                found[2 * k + 1] = q
                pad[HEIGHTS + k] = h
            return count
        if pad[HEIGHTS + k] > pad[HEIGHTS + worst]:
            worst = k
    place = count
    if count >= PLACES:
        place = worst
        if h >= pad[HEIGHTS + worst]:
            return count
    found[2 * place] = p
    found[2 * place + 1] = q
    pad[HEIGHTS + place] = h
    return min(count + 1, PLACES)


@part
def lowest_places(
    header: Ints,
    given: Floats,
    table_a: Floats,
    nodes_a: Floats,
    table_b: Floats,
    nodes_b: Floats,
    found: Ints,
    pad: Floats,
    pairs: Ints,
    bounds: Floats,
    room: int,
) -> int:
    """The samples of a lowest above b, those of b below them, and how many; -1 where the search ended at the limit.

    room: Pairs of nodes that may wait.
    """
    leaves_a, leaves_b = header[LEAVES_A], header[LEAVES_B]
    width_a, width_b = header[WIDTH_A], header[WIDTH_B]
    equal = EQUAL * given[SPACING_A]
    slack = given[SLACK] - equal
    # What lies so near the least bound is looked at in any case.
    near = max(equal, slack)
    band = given[BAND]
    floor = band - equal
    ordered = True
    visited = 1
    tried = 0
    count = 0
    pad[BEST] = 1e300
    if header[START_A] >= 0:
        seen_from_b(given, table_a, header[START_A], pad)
        h = measured(table_a, header[START_A], table_b, header[START_B], given, pad)
        # From samples that still face each other the least height is about known, and the order, which takes a third of
        # the time, gains nothing.
        x = pad[0] - table_b[header[START_B], 0]
        y = pad[1] - table_b[header[START_B], 1]
        z = pad[2] - table_b[header[START_B], 2]
        ordered = h * h >= x * x + y * y + z * z
        count = taken(table_a, header[START_A], header[START_B], h, found, count, given, pad)
    brief = 0
    k = leaves_a * leaves_b
    while k > 0:
        k = k // 2
        brief += BRIEF
    waiting = 0
    i = 0
    j = 0
    here = -1e300
    while True:
        limit = max(pad[BEST] + slack, band)
        if here >= limit:
            break
        leaf_i = i >= leaves_a - 1
        leaf_j = j >= leaves_b - 1
        follow = False
        if leaf_i and leaf_j:
            a = i - (leaves_a - 1)
            b = j - (leaves_b - 1)
            for p in range(a * width_a, (a + 1) * width_a):
                seen_from_b(given, table_a, p, pad)
                if out_of_reach(nodes_b, j, given, limit, pad):
                    continue
                h = 1e300
                q = 0
                for m in range(b * width_b, (b + 1) * width_b):
                    one = measured(table_a, p, table_b, m, given, pad)
                    if one < h:
                        h = one
                        q = m
                tried += width_b
                if h < limit:
                    count = taken(table_a, p, q, h, found, count, given, pad)
                    limit = max(pad[BEST] + slack, band)
        else:
            # The larger node is opened; of its parts the one with the lower bound is gone on with, if it comes first.
            visited += 2
            if visited + tried // PER_PAIR > LIMIT or waiting >= room - 2:
                header[VISITED] = visited
                header[MEASURED] = tried
                return -1
            first = 2 * i + 1
            other = 2 * i + 2
            open_a = leaf_j or (not leaf_i and nodes_a[i, BALL] >= nodes_b[j, BALL])
            if not open_a:
                first = 2 * j + 1
                other = 2 * j + 2
            low = least(nodes_a, first if open_a else i, nodes_b, j if open_a else first, given, limit)
            high = least(nodes_a, other if open_a else i, nodes_b, j if open_a else other, given, limit)
            if high < low:
                k = first
                first = other
                other = k
                h = low
                low = high
                high = h
            # What lies below the band is looked at in any case, and in any order.
            low = max(low, max(here, floor))
            high = max(high, max(here, floor))
            if high < limit:
                queued(
                    pairs,
                    bounds,
                    waiting,
                    i if not open_a else other,
                    other if not open_a else j,
                    high,
                    ordered,
                )
                waiting += 1
            if low < limit:
                # Among equals the way leads down, so that flat sides come to an end.
                if not ordered or waiting == 0 or low <= bounds[0] + near:
                    follow = True
                    here = low
                    if open_a:
                        i = first
                    else:
                        j = first
                else:
                    queued(
                        pairs,
                        bounds,
                        waiting,
                        i if not open_a else first,
                        first if not open_a else j,
                        low,
                        True,
                    )
                    waiting += 1
        if not ordered and visited > brief:
            # The start was not that near.
            ordered = True
            for k in range(waiting):
                queued(pairs, bounds, k, pairs[2 * k], pairs[2 * k + 1], bounds[k], True)
            if follow:
                queued(pairs, bounds, waiting, i, j, here, True)
                waiting += 1
                follow = False
        if not follow and ordered:
            if waiting == 0:
                break
            here = bounds[0]
            i = pairs[0]
            j = pairs[1]
            unqueued(pairs, bounds, waiting)
            waiting -= 1
        elif not follow:
            limit = max(pad[BEST] + slack, band)
            waiting -= 1
            while waiting >= 0 and bounds[waiting] >= limit:
                waiting -= 1
            if waiting < 0:
                break
            here = bounds[waiting]
            i = pairs[2 * waiting]
            j = pairs[2 * waiting + 1]
    header[VISITED] = visited
    header[MEASURED] = tried
    kept = 0
    for k in range(count):
        if pad[HEIGHTS + k] <= max(pad[BEST] + given[SLACK], band):
            found[2 * kept] = found[2 * k]
            found[2 * kept + 1] = found[2 * k + 1]
            pad[HEIGHTS + kept] = pad[HEIGHTS + k]
            kept += 1
    return kept


__all__ = ["PLACES", "QUEUE", "lowest_places", "measured", "seen_from_b"]
