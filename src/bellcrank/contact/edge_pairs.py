"""Where the rims of two open surfaces come near each other, in compiled code: pairs of chords that are no farther apart
than their neighbours.

Chords lead from sample to sample of a rim. Balls around a few of them in a row leave out what is far away.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.meeting_layout import (
    BALLS_A,
    BALLS_B,
    CHORDS,
    CHORDS_A,
    CHORDS_B,
    EDGES_A,
    EDGES_B,
    MOST_PAIRS,
    PAIR,
    PAIRS,
    SPOT,
    TABLE_A,
    TABLE_B,
)
from bellcrank.contact.rims import AFTER, BEFORE, CHORD, END, START
from bellcrank.contact.turning import turned
from bellcrank.contact.units import part

if TYPE_CHECKING:
    from bellcrank.contact.sampled import Sampled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

IN_A_BALL = 8
"""Chords that a ball is around."""
BALL = 4
"""Columns of balls: middle and radius."""
LARGE = 1e300
SAME = 1e-12
"""Distances that differ by less of themselves are the same."""

# columns of pairs: distance, chords of both rims, and the way along each, from 0 to 1
APART = 0
ON_A = 1
ON_B = 2
ALONG_A = 3
ALONG_B = 4


def chords_of(surface: Sampled) -> tuple[Floats, Floats]:
    """Chords of the rims of a surface, their rows counted behind its samples (chords, CHORD); balls (balls, BALL)."""
    rim = surface.rim
    chords = rim.chords.astype(np.float64)
    chords[:, :BEFORE] += len(surface.tree.order)
    balls = np.zeros((-(-len(chords) // IN_A_BALL), BALL))
    for k in range(len(balls)):
        rows = rim.chords[IN_A_BALL * k : IN_A_BALL * (k + 1), :BEFORE]
        p = rim.rows[np.unique(rows), :3]
        balls[k, :3] = 0.5 * (p.min(axis=0) + p.max(axis=0))
        balls[k, 3] = np.linalg.norm(p - balls[k, :3], axis=1).max()
    return chords, balls


def edges_of(a: Sampled, b: Sampled) -> tuple[Floats, ...]:
    """Chords of both rims and the balls around them; none where one of the surfaces is closed."""
    if not (a.rims and b.rims):
        return ()
    (own, near), (other, nearby) = chords_of(a), chords_of(b)
    return own, other, near, nearby


@part
def put_chord_a(tables: Any, i: int, pad: Floats) -> None:
    """The ends of a chord of the surface, into pad."""
    chords = tables[CHORDS_A]
    table = tables[TABLE_A]
    start = int(chords[i, START])
    end = int(chords[i, END])
    for m in range(3):
        pad[CHORDS + m] = table[start, m]
        pad[CHORDS + 3 + m] = table[end, m]


@part
def put_chord_b(given: Floats, tables: Any, j: int, pad: Floats) -> None:
    """The ends of a chord of the other one, seen from the surface, into pad."""
    chords = tables[CHORDS_B]
    table = tables[TABLE_B]
    for e in range(2):
        row = int(chords[j, START + e])
        x, y, z = turned(given, table[row, 0], table[row, 1], table[row, 2])
        pad[CHORDS + 6 + 3 * e] = x + given[9]
        pad[CHORDS + 7 + 3 * e] = y + given[10]
        pad[CHORDS + 8 + 3 * e] = z + given[11]


@part
def chords_apart(pad: Floats) -> float:
    """The distance of the two chords in pad; where they are closest goes there too.

    Source: Ericson (2005), Real-Time Collision Detection, section 5.1.9.
    """
    a = 0.0
    e = 0.0
    f = 0.0
    c = 0.0
    b = 0.0
    for m in range(3):
        u = pad[CHORDS + 3 + m] - pad[CHORDS + m]
        v = pad[CHORDS + 9 + m] - pad[CHORDS + 6 + m]
        r = pad[CHORDS + m] - pad[CHORDS + 6 + m]
        a += u * u
        e += v * v
        f += v * r
        c += u * r
        b += u * v
    det = a * e - b * b
    s = 0.0
    if det > 1e-12 * a * e:
        s = min(1.0, max(0.0, (b * f - c * e) / det))
    t = (b * s + f) / e
    if t < 0.0:
        t = 0.0
        s = min(1.0, max(0.0, -c / a))
    elif t > 1.0:
        t = 1.0
        s = min(1.0, max(0.0, (b - c) / a))
    square = 0.0
    for m in range(3):
        x = pad[CHORDS + m] + s * (pad[CHORDS + 3 + m] - pad[CHORDS + m])
        y = pad[CHORDS + 6 + m] + t * (pad[CHORDS + 9 + m] - pad[CHORDS + 6 + m])
        square += (x - y) * (x - y)
    pad[CHORDS + 12] = s
    pad[CHORDS + 13] = t
    return math.sqrt(square)


@part
def pair_apart(given: Floats, tables: Any, i: int, j: int, pad: Floats) -> float:
    """The distance of a chord of each rim."""
    put_chord_a(tables, i, pad)
    put_chord_b(given, tables, j, pad)
    return chords_apart(pad)  # type: ignore[no-any-return]


@part
def beside(chords: Floats, i: int, along: float) -> int:
    """The chord that a place at an end of a chord is also on; -1 within it, -2 where a side of the rim ends."""
    if 0.0 < along < 1.0:
        return -1
    other = int(chords[i, AFTER]) if along >= 1.0 else int(chords[i, BEFORE])
    return other if other >= 0 else -2


@part
def lowest_pair(
    given: Floats, tables: Any, i: int, j: int, far: float, s: float, t: float, pad: Floats
) -> bool:
    """Whether two chords are no farther apart than those beside them; of equals the first one counts."""
    k = beside(tables[CHORDS_A], i, s)
    m = beside(tables[CHORDS_B], j, t)
    same = SAME * far
    if k >= 0:
        other = pair_apart(given, tables, k, j, pad)
        if other < far - same or (other <= far + same and s <= 0.0):
            return False
    if m >= 0:
        other = pair_apart(given, tables, i, m, pad)
        if other < far - same or (other <= far + same and t <= 0.0):
            return False
    return not (k >= 0 and m >= 0 and pair_apart(given, tables, k, m, pad) < far - same)


@part
def keep_pair(pad: Floats, count: int, far: float, i: int, j: int, s: float, t: float) -> int:
    """Put a pair among the nearest, in order; how many there are."""
    k = count
    if count == MOST_PAIRS:
        k = count - 1
        if not far < pad[PAIRS + PAIR * k + APART]:
            return count
    while k > 0 and far < pad[PAIRS + PAIR * (k - 1) + APART]:
        for m in range(PAIR):
            pad[PAIRS + PAIR * k + m] = pad[PAIRS + PAIR * (k - 1) + m]
        k -= 1
    at = PAIRS + PAIR * k
    pad[at + APART] = far
    pad[at + ON_A] = 1.0 * i
    pad[at + ON_B] = 1.0 * j
    pad[at + ALONG_A] = s
    pad[at + ALONG_B] = t
    return min(count + 1, MOST_PAIRS)


@part
def within_reach(header: Ints, given: Floats, tables: Any) -> float:
    """No farther apart than this are some chords of both rims."""
    balls_a, balls_b = tables[BALLS_A], tables[BALLS_B]
    least = LARGE
    for p in range((header[EDGES_B] + IN_A_BALL - 1) // IN_A_BALL):
        x, y, z = turned(given, balls_b[p, 0], balls_b[p, 1], balls_b[p, 2])
        for o in range((header[EDGES_A] + IN_A_BALL - 1) // IN_A_BALL):
            dx = balls_a[o, 0] - x - given[9]
            dy = balls_a[o, 1] - y - given[10]
            dz = balls_a[o, 2] - z - given[11]
            least = min(least, math.sqrt(dx * dx + dy * dy + dz * dz) + balls_a[o, 3] + balls_b[p, 3])
    return least


@part
def near_pairs(header: Ints, given: Floats, tables: Any, bound: float, pad: Floats) -> int:
    """Pairs of chords within a distance of each other that are no farther apart than those beside them, into pad, the
    nearest first; how many. No others are nearer than pad[SPOT].
    """
    balls_a, balls_b = tables[BALLS_A], tables[BALLS_B]
    chords_a, chords_b = header[EDGES_A], header[EDGES_B]
    count = 0
    beyond = LARGE
    for p in range((chords_b + IN_A_BALL - 1) // IN_A_BALL):
        x, y, z = turned(given, balls_b[p, 0], balls_b[p, 1], balls_b[p, 2])
        x += given[9]
        y += given[10]
        z += given[11]
        for o in range((chords_a + IN_A_BALL - 1) // IN_A_BALL):
            dx = balls_a[o, 0] - x
            dy = balls_a[o, 1] - y
            dz = balls_a[o, 2] - z
            least = math.sqrt(dx * dx + dy * dy + dz * dz) - balls_a[o, 3] - balls_b[p, 3]
            if least > bound:
                beyond = min(beyond, least)
                continue
            for j in range(IN_A_BALL * p, min(IN_A_BALL * (p + 1), chords_b)):
                for i in range(IN_A_BALL * o, min(IN_A_BALL * (o + 1), chords_a)):
                    far = pair_apart(given, tables, i, j, pad)
                    s = pad[CHORDS + 12]
                    t = pad[CHORDS + 13]
                    if far > bound:
                        beyond = min(beyond, far)
                    elif lowest_pair(given, tables, i, j, far, s, t, pad):
                        if count == MOST_PAIRS:
                            beyond = min(beyond, max(far, pad[PAIRS + PAIR * (count - 1) + APART]))
                        count = keep_pair(pad, count, far, i, j, s, t)
    pad[SPOT] = beyond
    return count


__all__ = ["BALL", "CHORD", "edges_of", "near_pairs", "within_reach"]
