"""Which colliders of groups may be near each other: sweep and prune along the axis on which they are spread most.

Source: Cohen, Lin, Manocha, Ponamgi (1995), "I-COLLIDE". The order is kept from step to step, so sorting takes about as
long as reading. Differs in: the sweep goes through strips across the axis on which they are spread next, a box or two
wide, so that in a heap as wide as long each collider meets its neighbours, and not all that lie level with it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from bellcrank.impacts.colliders import Collider, Frames
from bellcrank.program.loops import Ints, Ints2, Reals, Reals2, Records, compiled, reals


class Broad(NamedTuple):
    """Colliders of groups.

    bounded, endless: Their numbers, of those with a ball around them in their order along each of the three axes. low,
    high: Of each collider along the axes [m]. first, strips: Where each strip begins, and the colliders in it. rule:
    For two kinds the number of their rule, or -1. excluded: For the colliders from `begin` on, others with which they
    never collide: of the same body, of one joined to it, and pairs with a contact of their own. found: The pairs.
    inputs: Where the inputs of their kernels begin.
    """

    bounded: Ints2
    endless: Ints
    low: Reals2
    high: Reals2
    first: Ints
    strips: Ints
    rule: Ints2
    begin: Ints
    excluded: Ints
    found: Ints2
    inputs: int


@compiled
def meets(w: Broad, a: int, b: int, kind_a: int, kind_b: int) -> bool:
    """Whether two colliders may collide at all."""
    if w.rule[min(kind_a, kind_b), max(kind_a, kind_b)] < 0:
        return False
    k = w.begin[a]
    while k < w.begin[a + 1] and w.excluded[k] != b:
        k += 1
    free: bool = k == w.begin[a + 1]
    return free


@compiled
def bound(w: Broad, f: Frames, y: Reals, colliders: Records[Collider], time: float, margin: float) -> None:
    """Boxes of all bounded colliders, with what they may move in a time [s]."""
    for k in range(w.bounded.shape[1]):
        number = w.bounded[0, k]
        c = colliders[number]
        more = c.reach + time * (f.moved[c.frame, 1] + f.moved[c.frame, 0] * c.reach) + margin * c.length
        for m in range(3):
            x = y[f.first[c.frame] + 9 + m]
            w.low[number, m], w.high[number, m] = x - more, x + more


@compiled
def spread(w: Broad, axis: int) -> float:
    """The variance of the colliders along an axis [m^2]."""
    count = w.bounded.shape[1]
    mean, square = 0.0, 0.0
    for k in range(count):
        x = w.low[w.bounded[0, k], axis]
        mean += x / count
        square += x * x / count
    return square - mean * mean


@compiled
def sort(w: Broad, axis: int) -> None:
    """Sort the colliders along an axis, those that begin at one place by their numbers."""
    for k in range(1, w.bounded.shape[1]):
        moved = w.bounded[axis, k]
        at, low = k, w.low[moved, axis]
        while at > 0:
            before = w.bounded[axis, at - 1]
            if w.low[before, axis] < low or (w.low[before, axis] == low and before < moved):
                break
            w.bounded[axis, at] = before
            at -= 1
        w.bounded[axis, at] = moved


@compiled
def strip_of(x: float, begin: float, wide: float, count: int) -> int:
    """The strip in which a coordinate lies; the first one where it is no number."""
    if count == 1 or not x >= begin:
        return 0
    return min(max(int((x - begin) / wide), 0), count - 1)


@compiled
def lay_in_strips(w: Broad, axis: int, across: int) -> tuple[int, float, float]:
    """Lay the colliders, as they follow each other along an axis, in strips across another one.

    The number of strips, where the first one begins, and how wide they are [m]: twice as wide as the mean of the
    boxes, so that a box lies in two or three.
    """
    count = w.bounded.shape[1]
    begin, end, wide = math.inf, -math.inf, 0.0
    for k in range(count):
        number = w.bounded[axis, k]
        begin, end = min(begin, w.low[number, across]), max(end, w.high[number, across])
        wide += 2.0 * (w.high[number, across] - w.low[number, across]) / count
    strips = 1
    # A place that is no number leaves one strip: how many colliders lie in several is bounded by their mean width.
    if wide > 0.0 and end - begin < math.inf:
        wide = max(wide, (end - begin) / count)
        strips = min(1 + int((end - begin) / wide), count)
    for t in range(strips + 1):
        w.first[t] = 0
    for k in range(count):
        number = w.bounded[axis, k]
        last = strip_of(w.high[number, across], begin, wide, strips)
        for t in range(strip_of(w.low[number, across], begin, wide, strips), last + 1):
            w.first[t] += 1
    total = 0
    for t in range(strips):
        total += w.first[t]
        w.first[t] = total
    w.first[strips] = total
    for back in range(count):
        number = w.bounded[axis, count - 1 - back]
        last = strip_of(w.high[number, across], begin, wide, strips)
        for t in range(strip_of(w.low[number, across], begin, wide, strips), last + 1):
            w.first[t] -= 1
            w.strips[w.first[t]] = number
    return strips, begin, wide


@compiled
def candidates(
    w: Broad, f: Frames, y: Reals, colliders: Records[Collider], time: float, margin: float
) -> int:
    """The pairs that may be near within a time [s]; their number, more than there is room for where it is too small."""
    count, room = w.bounded.shape[1], w.found.shape[0]
    if count == 0:
        return 0
    bound(w, f, y, colliders, time, margin)
    along = reals(3)
    for m in range(3):
        along[m] = spread(w, m)
    axis, second, third = 0, 1, 2
    if along[1] > along[0]:
        axis, second = 1, 0
    if along[2] > along[second]:
        second, third = 2, second
    if along[second] > along[axis]:
        axis, second = second, axis
    sort(w, axis)
    strips, begin, wide = lay_in_strips(w, axis, second)
    found = 0
    for t in range(strips):
        for k in range(w.first[t], w.first[t + 1]):
            a = w.strips[k]
            for m in range(k + 1, w.first[t + 1]):
                b = w.strips[m]
                if w.low[b, axis] > w.high[a, axis]:
                    break
                if w.low[b, second] > w.high[a, second] or w.low[a, second] > w.high[b, second]:
                    continue
                if w.low[b, third] > w.high[a, third] or w.low[a, third] > w.high[b, third]:
                    continue
                # Two that lie in several strips together meet in the first of them.
                if strip_of(max(w.low[a, second], w.low[b, second]), begin, wide, strips) != t:
                    continue
                if meets(w, a, b, colliders[a].kind, colliders[b].kind):
                    if found < room:
                        w.found[found, 0], w.found[found, 1] = min(a, b), max(a, b)
                    found += 1
    for k in range(count):
        a = w.bounded[axis, k]
        for n in range(len(w.endless)):
            b = w.endless[n]
            if meets(w, a, b, colliders[a].kind, colliders[b].kind):
                if found < room:
                    w.found[found, 0], w.found[found, 1] = min(a, b), max(a, b)
                found += 1
    return found


__all__ = ["Broad", "candidates"]
