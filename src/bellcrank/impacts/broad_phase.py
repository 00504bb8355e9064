"""Which colliders of groups may be near each other: sweep and prune along the axis on which they are spread most.

Source: Cohen, Lin, Manocha, Ponamgi (1995), "I-COLLIDE". The order is kept from step to step, so sorting takes about as
long as reading. Differs in: one axis instead of three, with a test of the other two.
"""

from __future__ import annotations

from typing import NamedTuple

from bellcrank.impacts.colliders import Collider, Frames
from bellcrank.program.loops import Ints, Ints2, Reals, Reals2, Records, compiled


class Broad(NamedTuple):
    """Colliders of groups.

    bounded, endless: Their numbers, of those with a ball around them in the present order. low, high: Of each collider
    along the three axes [m]. rule: For two kinds the number of their rule, or -1. excluded: For the colliders
    from `begin` on, others with which they never collide: of the same body, of one joined to it, and pairs with a
    contact of their own. found: The pairs. inputs: Where the inputs of their kernels begin.
    """

    bounded: Ints
    endless: Ints
    low: Reals2
    high: Reals2
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
def bound(w: Broad, f: Frames, y: Reals, colliders: Records[Collider], time: float, margin: float) -> int:
    """Boxes of all bounded colliders, with what they may move in a time [s]; the axis of their greatest spread."""
    count = len(w.bounded)
    axis, widest = 0, -1.0
    for k in range(count):
        number = w.bounded[k]
        c = colliders[number]
        more = c.reach + time * (f.moved[c.frame, 1] + f.moved[c.frame, 0] * c.reach) + margin * c.length
        for m in range(3):
            x = y[f.first[c.frame] + 9 + m]
            w.low[number, m], w.high[number, m] = x - more, x + more
    for m in range(3):
        mean, square = 0.0, 0.0
        for k in range(count):
            x = w.low[w.bounded[k], m]
            mean += x / count
            square += x * x / count
        if square - mean * mean > widest:
            axis, widest = m, square - mean * mean
    return axis


@compiled
def candidates(
    w: Broad, f: Frames, y: Reals, colliders: Records[Collider], time: float, margin: float
) -> int:
    """The pairs that may be near within a time [s]; their number, more than there is room for where it is too small."""
    count, room = len(w.bounded), w.found.shape[0]
    if count == 0:
        return 0
    axis = bound(w, f, y, colliders, time, margin)
    for k in range(1, count):
        moved = w.bounded[k]
        at = k
        while at > 0 and w.low[w.bounded[at - 1], axis] > w.low[moved, axis]:
            w.bounded[at] = w.bounded[at - 1]
            at -= 1
        w.bounded[at] = moved
    found = 0
    second, third = (axis + 1) % 3, (axis + 2) % 3
    for k in range(count):
        a = w.bounded[k]
        kind = colliders[a].kind
        m = k + 1
        while m < count and w.low[w.bounded[m], axis] <= w.high[a, axis]:
            b = w.bounded[m]
            m += 1
            if w.low[b, second] > w.high[a, second] or w.low[a, second] > w.high[b, second]:
                continue
            if w.low[b, third] > w.high[a, third] or w.low[a, third] > w.high[b, third]:
                continue
            if meets(w, a, b, kind, colliders[b].kind):
                if found < room:
                    w.found[found, 0], w.found[found, 1] = min(a, b), max(a, b)
                found += 1
        for n in range(len(w.endless)):
            b = w.endless[n]
            if meets(w, a, b, kind, colliders[b].kind):
                if found < room:
                    w.found[found, 0], w.found[found, 1] = min(a, b), max(a, b)
                found += 1
    return found


__all__ = ["Broad", "candidates"]
