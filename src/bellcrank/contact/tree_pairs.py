"""The places where samples of one surface are lowest above another, by their trees, in compiled code.

Pairs of nodes are opened in the order of their bounds, the least first, so that none is opened whose bound lies above
the answer; bounds are as tight as the curvature (:mod:`tree_domes`), so that a few pairs of each level are. Of sides
that follow each other, as parallel flat ones do, one place is as low as another: heights that are equal but for rounding end
the search, and where they differ by less than what is looked for, it gives up at LIMIT.

Sources: Larsen, Gottschalk, Lin, Manocha (2000) for the search of two trees; Hart, Nilsson, Raphael (1968) for the
order.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import (
    ACROSS,
    APART,
    BAND,
    BEND,
    BENT,
    BEST,
    CONE,
    DEEP,
    FACE,
    HEIGHTS,
    LEAVES_A,
    LEAVES_B,
    MEASURED,
    NORMAL,
    RADIUS,
    SLACK,
    SPACING_A,
    START_A,
    START_B,
    TOP,
    VISITED,
    WIDE_TOP,
    WIDTH_A,
    WIDTH_B,
)
from bellcrank.contact.tree_layout import AXIS, BALL, DRUM, HALF
from bellcrank.simulate.compiled import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PLACES = 8
"""Places that are refined at most."""
QUEUE = 16384
"""Pairs of nodes that wait at most."""
LIMIT = 40_000
"""Pairs of nodes that are looked at, at most: two milliseconds."""
PER_PAIR = 8
"""Samples measured in the time that a pair of nodes takes."""
SQUARE = 0.1
"""Cosine below which directions count as square to each other."""
EQUAL = 1e-9
"""Heights that differ by less, over the spacing, are the same."""


@part
def reaches(top: float, bend: float, radius: float, drum: float, c: float) -> float:
    """How far a dome reaches from its centre along a direction whose cosine with its axis is c > 0, at most."""
    tilt = math.sqrt(max(0.0, 1.0 - c * c)) / c
    rim = min(drum, tilt * radius)
    return c * (top + rim * (tilt - 0.5 * bend * rim))


@part
def least(nodes_a: Floats, i: int, nodes_b: Floats, j: int, given: Floats, bound: float) -> float:
    """No sample of a's node measures less above the quadrics of b's; looks no closer where that reaches the bound.

    Along any direction m that makes sharp angles with all normals of b's node, a sample p at the height h above the
    point f of a quadric has m . (p - f) = h m . n; so what parts the nodes along m bounds heights also below zero.
    """
    x = nodes_b[j, 0]
    y = nodes_b[j, 1]
    z = nodes_b[j, 2]
    dx = given[0] * x + given[1] * y + given[2] * z + given[9] - nodes_a[i, 0]
    dy = given[3] * x + given[4] * y + given[5] * z + given[10] - nodes_a[i, 1]
    dz = given[6] * x + given[7] * y + given[8] * z + given[11] - nodes_a[i, 2]
    square = dx * dx + dy * dy + dz * dz
    ball_a = nodes_a[i, BALL]
    ball_b = nodes_b[j, BALL] + nodes_b[j, ACROSS]
    deep = given[DEEP]
    enough = max(bound, deep)
    far = ball_a + ball_b + enough
    if square >= far * far:
        return math.sqrt(square) - ball_a - ball_b
    # The axes in the frame of a.
    ax = nodes_a[i, AXIS]
    ay = nodes_a[i, AXIS + 1]
    az = nodes_a[i, AXIS + 2]
    x = nodes_b[j, AXIS]
    y = nodes_b[j, AXIS + 1]
    z = nodes_b[j, AXIS + 2]
    bx = given[0] * x + given[1] * y + given[2] * z
    by = given[3] * x + given[4] * y + given[5] * z
    bz = given[6] * x + given[7] * y + given[8] * z
    # By the sum of the axes, half of which is the sine of half their angle from being opposed: exact where they are.
    x = ax + bx
    y = ay + by
    z = az + bz
    s = 0.25 * (x * x + y * y + z * z)
    facing = 2.0 * s - 1.0
    along_a = ax * dx + ay * dy + az * dz
    along_b = bx * dx + by * dy + bz * dz
    half_a = nodes_a[i, HALF]
    drum_a = nodes_a[i, DRUM]
    half_b = nodes_b[j, HALF] + nodes_b[j, ACROSS]
    drum_b = nodes_b[j, DRUM] + nodes_b[j, ACROSS]
    cone = nodes_b[j, CONE]
    c = math.sqrt(max(0.0, 1.0 - s))
    s = math.sqrt(s)
    sine = 2.0 * s * c
    if facing > -SQUARE:
        # Back to back, or so wide that they bend around each other: as drums.
        side_a = drum_a + min(ball_b, drum_b + sine * half_b)
        side_b = drum_b + min(ball_a, drum_a + sine * half_a)
        side_a = max(0.0, math.sqrt(max(0.0, square - along_a * along_a)) - side_a)
        side_b = max(0.0, math.sqrt(max(0.0, square - along_b * along_b)) - side_b)
        way_a = max(0.0, abs(along_a) - half_a - min(ball_b, abs(facing) * half_b + sine * drum_b))
        way_b = max(0.0, abs(along_b) - half_b - min(ball_a, abs(facing) * half_a + sine * drum_a))
        apart = math.sqrt(max(way_a * way_a + side_a * side_a, way_b * way_b + side_b * side_b))
        apart = max(apart, math.sqrt(square) - ball_a - ball_b)
        cone_a = nodes_a[i, CONE]
        if apart >= deep or facing > cone + cone_a + cone * cone_a:
            return apart
        return -deep
    top_a = nodes_a[i, TOP]
    bend_a = nodes_a[i, BEND]
    radius_a = nodes_a[i, RADIUS]
    top_b = nodes_b[j, WIDE_TOP]
    bend_b = nodes_b[j, BEND]
    radius_b = nodes_b[j, RADIUS]
    # Between both axes, where a tilt of both against each other costs least.
    tilt = s / c
    rim_a = min(drum_a, tilt * radius_a)
    rim_b = min(drum_b, tilt * radius_b)
    up = (along_a - along_b) / (2.0 * c)
    reach = top_a + rim_a * (tilt - 0.5 * bend_a * rim_a) + top_b + rim_b * (tilt - 0.5 * bend_b * rim_b)
    apart = up - c * reach
    height = -1e300
    # The least cosine of that direction with a normal of b.
    sharp = 1.0 - 0.5 * cone * cone
    least_cosine = c * sharp - s * cone
    if least_cosine > SQUARE:
        height = apart if apart >= 0.0 else apart / least_cosine
    if apart >= enough or height >= bound:
        return max(apart, height)
    # Tilted towards where the nearest rims of both are: m = n up + (d - n up) share, n = (A - B) / 2c.
    across = math.sqrt(max(0.0, square - up * up))
    rims = drum_a + drum_b
    if across > rims:
        share = 1.0 - rims / across
        stay = up * (1.0 - share) / (2.0 * c)
        inverse = 1.0 / math.sqrt(up * up + share * share * across * across)
        ca = inverse * (stay * (1.0 - facing) + share * along_a)
        cb = inverse * (stay * (1.0 - facing) - share * along_b)
        if ca > SQUARE and cb > SQUARE:
            way = inverse * (up * up + share * across * across)
            way -= reaches(top_a, bend_a, radius_a, drum_a, ca)
            way -= reaches(top_b, bend_b, radius_b, drum_b, cb)
            if way >= enough:
                return way
            apart = max(apart, way)
    # Apart along an axis and apart across it: both at once.
    side_a = drum_a + min(ball_b, drum_b + sine * half_b)
    side_b = drum_b + min(ball_a, drum_a + sine * half_a)
    side_a = max(0.0, math.sqrt(max(0.0, square - along_a * along_a)) - side_a)
    side_b = max(0.0, math.sqrt(max(0.0, square - along_b * along_b)) - side_b)
    tilt = -sine / facing
    rim_a = min(drum_a, tilt * radius_a)
    rim_b = min(drum_b, tilt * radius_b)
    way_a = along_a - top_a + facing * (top_b + rim_b * (tilt - 0.5 * bend_b * rim_b))
    way_b = -along_b - top_b + facing * (top_a + rim_a * (tilt - 0.5 * bend_a * rim_a))
    if sharp > SQUARE:
        height = max(height, way_b if way_b >= 0.0 else way_b / sharp)
    way_a = max(0.0, way_a)
    way_b = max(0.0, way_b)
    apart = max(apart, math.sqrt(max(way_a * way_a + side_a * side_a, way_b * way_b + side_b * side_b)))
    if height >= 0.0:
        return max(height, apart)
    if up < 0.0:
        # They look away from each other, or one is inside the other.
        apart = max(apart, math.sqrt(square) - ball_a - ball_b)
    height = max(height, -deep)
    # Beside the quadrics and deep inside only distances count.
    if side_b > -height * cone or apart >= deep:
        return apart
    return height


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
        mx = table_a[p, NORMAL]
        my = table_a[p, NORMAL + 1]
        mz = table_a[p, NORMAL + 2]
        fx = given[0] * mx + given[3] * my + given[6] * mz
        fy = given[1] * mx + given[4] * my + given[7] * mz
        fz = given[2] * mx + given[5] * my + given[8] * mz
        if fx * nx + fy * ny + fz * nz > 0.0:
            return math.sqrt(square)
    return height


@part
def seen_from_b(given: Floats, table: Floats, p: int, pad: Floats) -> None:
    """A sample of a in the frame of b."""
    x = table[p, 0] - given[9]
    y = table[p, 1] - given[10]
    z = table[p, 2] - given[11]
    pad[0] = given[0] * x + given[3] * y + given[6] * z
    pad[1] = given[1] * x + given[4] * y + given[7] * z
    pad[2] = given[2] * x + given[5] * y + given[8] * z


@part
def out_of_reach(nodes: Floats, j: int, given: Floats, bound: float, pad: Floats) -> bool:
    """Whether the point in the pad measures no less than the bound above all quadrics of a node."""
    dx = pad[0] - nodes[j, 0]
    dy = pad[1] - nodes[j, 1]
    dz = pad[2] - nodes[j, 2]
    up = dx * nodes[j, AXIS] + dy * nodes[j, AXIS + 1] + dz * nodes[j, AXIS + 2]
    above = up - nodes[j, WIDE_TOP]
    c = 1.0 - 0.5 * nodes[j, CONE] * nodes[j, CONE]
    if c > 0.0:
        height = above if above >= 0.0 else above / c
        if height >= bound:
            return True
    across = dx * dx + dy * dy + dz * dz - up * up
    drum = nodes[j, DRUM] + nodes[j, ACROSS] + max(bound, given[DEEP])
    return across >= drum * drum


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
def queued(pairs: Ints, bounds: Floats, waiting: int, i: int, j: int, bound: float) -> None:
    """Put a pair of nodes into the heap of those that wait."""
    k = waiting
    while k > 0:
        above = (k - 1) // 2
        if bounds[above] <= bound:
            break
        bounds[k] = bounds[above]
        pairs[2 * k] = pairs[2 * above]
        pairs[2 * k + 1] = pairs[2 * above + 1]
        k = above
    bounds[k] = bound
    pairs[2 * k] = i
    pairs[2 * k + 1] = j


@part
def unqueued(pairs: Ints, bounds: Floats, waiting: int) -> None:
    """Take the first pair of those that wait out of the heap."""
    last = waiting - 1
    bound = bounds[last]
    k = 0
    while 2 * k + 1 < last:
        below = 2 * k + 1
        if below + 1 < last and bounds[below + 1] < bounds[below]:
            below += 1
        if bounds[below] >= bound:
            break
        bounds[k] = bounds[below]
        pairs[2 * k] = pairs[2 * below]
        pairs[2 * k + 1] = pairs[2 * below + 1]
        k = below
    bounds[k] = bound
    pairs[2 * k] = pairs[2 * last]
    pairs[2 * k + 1] = pairs[2 * last + 1]


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
) -> int:
    """The samples of a lowest above b, those of b below them, and how many; -1 where the search ended at the limit."""
    leaves_a, leaves_b = header[LEAVES_A], header[LEAVES_B]
    width_a, width_b = header[WIDTH_A], header[WIDTH_B]
    equal = EQUAL * given[SPACING_A]
    slack = given[SLACK] - equal
    band = given[BAND]
    floor = band - equal
    visited = 1
    tried = 0
    count = 0
    pad[BEST] = 1e300
    if header[START_A] >= 0:
        seen_from_b(given, table_a, header[START_A], pad)
        h = measured(table_a, header[START_A], table_b, header[START_B], given, pad)
        count = taken(table_a, header[START_A], header[START_B], h, found, count, given, pad)
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
            if visited + tried // PER_PAIR > LIMIT or waiting >= QUEUE - 2:
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
                queued(pairs, bounds, waiting, i if not open_a else other, other if not open_a else j, high)
                waiting += 1
            if low < limit:
                # Among equals the way leads down, so that flat sides come to an end.
                if waiting == 0 or low <= bounds[0] + equal:
                    follow = True
                    here = low
                    if open_a:
                        i = first
                    else:
                        j = first
                else:
                    queued(
                        pairs, bounds, waiting, i if not open_a else first, first if not open_a else j, low
                    )
                    waiting += 1
        if not follow:
            if waiting == 0:
                break
            here = bounds[0]
            i = pairs[0]
            j = pairs[1]
            unqueued(pairs, bounds, waiting)
            waiting -= 1
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
