"""Finding events on the dense output of a step.

Event functions are sampled at five points of the step; a change of sign is closed in on by bracketing. A
double crossing between two samples shows as an extremum towards zero of the quartic through the samples,
which is then followed on the event function itself.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.simulate.compiled import Unit, matrix, part, vector
from bellcrank.simulate.layout import (
    ADDRESSES,
    ATOL,
    DIRECTION,
    EVENT_ROWS,
    EVENTS,
    FIXED,
    H_OLD,
    H_STEP,
    HIT,
    INTS,
    LOOSE,
    N_EVENTS,
    PIECES,
    REALS,
    ROWS,
    RTOL,
    SAMPLES,
    SIGN,
    T_NEW,
    THETA,
    THETA_EVENT,
    VALUE,
    WORK,
    Y_EVENT,
    Y_NEW,
    N,
    T,
)
from bellcrank.simulate.vectors import interpolate, load, rates
from bellcrank.simulate.vocabulary import call_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NOTHING = 2.0
"""A fraction of a step beyond its end: no event."""
NO_NUMBER = 3.0
"""A fraction that tells of an event function that is not a number."""
UNSOUND = 4.0
"""A fraction that tells of a step that does not follow the equations up to the event."""
DEFECT = 1e3
"""How much the dense output may miss the equations by over a step, over its tolerance; it is of lower order."""
FLUNG = 1e5
"""The same for the first step after an event, where there is no other to tell."""
PLACE = 0.382
"""Part of the way to an event at which the dense output is looked at."""
NUDGE = 1e-3
"""Part of a step over which the slope of its dense output is taken."""
RATE = 2
"""Direction of a function that is no event itself but the rate of the event function before it."""


@part
def event_values(
    addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, g: Floats, theta: float, row: int
) -> None:
    """g[row] = event functions at the fraction theta of the step."""
    if theta >= 1.0:
        load(x, reals[T_NEW], v, Y_NEW)
    else:
        interpolate(ints, x, v, theta)
        x[0] = reals[T] + theta * reals[H_STEP]
    call_at(addresses[EVENTS], x, 0, g, row * g.shape[1])


@part
def locate(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    g: Floats,
    event: int,
    low: float,
    high: float,
    at_low: float,
    at_high: float,
) -> float:
    """The far end of the smallest bracket of the zero of one event function between two fractions of the
    step.

    Illinois' false position, kept half a tolerance away from both ends as in Brent's method, so that the
    bracket closes from both sides; bisection where a round has not halved it. The far end is returned
    because there the function has already crossed.
    """
    tolerance = 4.0e-16 * max(abs(reals[T_NEW]), abs(reals[T])) / reals[H_STEP] + 2.0e-16
    side = 0
    width = high - low
    bisect = False
    for count in range(200):
        if high - low <= tolerance:
            break
        if bisect or at_low == at_high:
            middle = 0.5 * (low + high)
        else:
            middle = low - at_low * (high - low) / (at_high - at_low)
            middle = min(max(middle, low + 0.5 * tolerance), high - 0.5 * tolerance)
        if not low < middle < high:
            break
        event_values(addresses, ints, reals, x, v, g, middle, VALUE)
        value = g[VALUE, event]
        # A value of exactly zero counts as before the crossing, so that the far end is always beyond it.
        if value * at_high > 0.0:
            high = middle
            at_high = value
            if side == 1:
                at_low *= 0.5
            side = 1
        else:
            low = middle
            at_low = value
            if side == -1:
                at_high *= 0.5
            side = -1
        bisect = False
        if count % 3 == 2:
            bisect = high - low > 0.5 * width
            width = high - low
    return high


@part
def leaving_sign(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    g: Floats,
    event: int,
    start: float,
    end: float,
) -> tuple[float, float, float]:
    """To which side an event function leaves zero after a restart: (fraction, value there, side).

    Looks at points ever farther from the start until the function has grown steadily, with the first or
    second power of the distance, over three of them: rounding does not do that. The first points are so near
    that even the tiny flights at the end of a bouncing are longer.
    """
    event_values(addresses, ints, reals, x, v, g, start, VALUE)
    at_start = g[VALUE, event]
    value = at_start
    fraction = start
    before = 0.0
    steady = 0
    for k in range(40, -1, -1):
        fraction = start + (end - start) * 0.5**k
        event_values(addresses, ints, reals, x, v, g, fraction, VALUE)
        value = g[VALUE, event]
        moved = value - at_start
        ratio = moved / before if before != 0.0 else 0.0
        steady = steady + 1 if 1.5 < ratio < 5.0 else 0
        if steady >= 2 and moved * value > 0.0:
            break
        before = moved
    return fraction, value, np.sign(value - at_start)


@part
def dip(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    g: Floats,
    event: int,
    piece: int,
    start: float,
    side: float,
) -> float:
    """A fraction within a piece at which an event function is beyond zero although both ends are before it.

    The quartic through the samples tells, without further calls, whether there is an extremum towards zero
    in the piece; only then is the event function itself followed there, by parabolas. NOTHING where it stays
    before zero.
    """
    g0, g1, g2, g3, g4 = (
        g[SAMPLES, event],
        g[SAMPLES + 1, event],
        g[SAMPLES + 2, event],
        g[SAMPLES + 3, event],
        g[SAMPLES + 4, event],
    )
    # Newton's divided differences at 0, 1, 2, 3, 4
    c1 = g1 - g0
    c2 = (g2 - 2.0 * g1 + g0) / 2.0
    c3 = (g3 - 3.0 * g2 + 3.0 * g1 - g0) / 6.0
    c4 = (g4 - 4.0 * g3 + 6.0 * g2 - 4.0 * g1 + g0) / 24.0
    left = side * g[SAMPLES + piece - 1, event]
    right = side * g[SAMPLES + piece, event]
    lowest = min(left, right)
    best = -1.0
    for k in range(1, 16):
        u = piece - 1 + k / 16.0
        value = side * (g0 + u * (c1 + (u - 1.0) * (c2 + (u - 2.0) * (c3 + (u - 3.0) * c4))))
        if value < lowest:
            lowest = value
            best = u
    if best < 0.0:
        return NOTHING
    stretch = (1.0 - start) / PIECES
    a = start + stretch * (piece - 1)
    b = start + stretch * piece
    m = start + stretch * best
    at_a = left
    at_b = right
    for _ in range(6):
        event_values(addresses, ints, reals, x, v, g, m, VALUE)
        at_m = side * g[VALUE, event]
        if at_m < 0.0:
            return m
        if not at_m < min(at_a, at_b):
            return NOTHING
        p = (m - a) * (at_m - at_b)
        q = (m - b) * (at_m - at_a)
        if p == q:
            return NOTHING
        vertex = m - 0.5 * ((m - a) * p - (m - b) * q) / (p - q)
        if not a < vertex < b or abs(vertex - m) < 1e-9 * stretch:
            return NOTHING
        if vertex > m:
            a = m
            at_a = at_m
        else:
            b = m
            at_b = at_m
        m = vertex
    return NOTHING


@part
def deepest(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    g: Floats,
    event: int,
    low: float,
    high: float,
    at_low: float,
    at_high: float,
    side: float,
) -> float:
    """A fraction at which an event function is beyond zero, by its rate, which comes next among the functions.

    Closes in on the zero of the rate between two fractions, by regula falsi (Illinois) and bisection in turns.
    However short the time beyond zero, it holds the smallest value. NOTHING where that is before zero.
    """
    for count in range(100):
        middle = 0.5 * (low + high)
        if count % 2 == 0 and at_low != at_high:
            middle = min(max(low - at_low * (high - low) / (at_high - at_low), low), high)
        if not low < middle < high or high - low < 1e-15:
            break
        event_values(addresses, ints, reals, x, v, g, middle, VALUE)
        if side * g[VALUE, event] < 0.0:
            return middle
        rate = g[VALUE, event + 1]
        if side * rate < 0.0:
            low = middle
            at_low = rate
        else:
            high = middle
            at_high = rate
    return NOTHING


@part
def sound(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    start: float,
    theta: float,
    defect: float,
) -> bool:
    """Whether the dense output on the way to an event moves as the equations tell.

    Where a step goes far beyond an event, as from free flight through a wall, its error tells nothing: all stages may
    lie where there is no force, and the overlap between two of them. Or only stages of the dense output, of which the
    error knows nothing, lie in the wall, and bend the flight before it. Not half way: there things are symmetric.
    """
    middle = start + PLACE * (theta - start)
    interpolate(ints, x, v, middle + NUDGE)
    for i in range(v.shape[1]):
        v[WORK, i] = x[1 + i]
    interpolate(ints, x, v, middle - NUDGE)
    for i in range(v.shape[1]):
        v[WORK, i] = (v[WORK, i] - x[1 + i]) * (0.5 / NUDGE)
    interpolate(ints, x, v, middle)
    x[0] = reals[T] + middle * reals[H_STEP]
    rates(addresses, ints, x, v, Y_EVENT)
    for i in range(v.shape[1]):
        allowed = defect * (v[ATOL, i] + reals[RTOL] * abs(x[1 + i]))
        if not abs(v[WORK, i] - reals[H_STEP] * v[Y_EVENT, i]) <= allowed:
            return False
    return True


@part
def overtaken(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    g: Floats,
    piece: int,
    start: float,
    first: int,
    earliest: float,
) -> tuple[float, int]:
    """The earliest event and its number, where gaps that do not show it at the end of a piece may close before.

    A gap on a surface of data is known up to where its samples are gathered anew, which is an event itself; behind it,
    at the end of the piece, the gap tells nothing. Gaps are functions that come with their rates.
    """
    stale = True
    for i in range(ints[N_EVENTS] - 1):
        side = g[SIGN, i]
        counts = g[DIRECTION, i + 1] == RATE and (g[DIRECTION, i] == 0.0 or g[DIRECTION, i] == -side)
        if i == first or side == 0.0 or not counts or side * g[SAMPLES + piece, i] < 0.0:
            continue
        if stale:
            event_values(addresses, ints, reals, x, v, g, earliest, VALUE)
            stale = False
        high = earliest
        if side * g[VALUE, i] >= 0.0:
            high = NOTHING
            falls = g[SAMPLES + piece - 1, i + 1]
            rises = g[VALUE, i + 1]
            if side * falls < 0.0 and side * rises > 0.0:
                high = deepest(addresses, ints, reals, x, v, g, i, start, earliest, falls, rises, side)
                stale = True
        if high > earliest:
            continue
        low = start
        at_low = g[SAMPLES + piece - 1, i]
        if side * at_low <= 0.0:
            low, at_low, side = leaving_sign(addresses, ints, reals, x, v, g, i, start, high)
        event_values(addresses, ints, reals, x, v, g, high, VALUE)
        at_high = g[VALUE, i]
        stale = True
        if side != g[SIGN, i] or side * at_low <= 0.0 or side * at_high >= 0.0:
            continue
        found = locate(addresses, ints, reals, x, v, g, i, low, high, at_low, at_high)
        if found < earliest:
            earliest = found
            first = i
            g[HIT, i] = side
    return earliest, first


@part
def next_event(addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, g: Floats) -> float:
    """Fraction of the step at which the next event lies, NOTHING, NO_NUMBER or UNSOUND; marks hits."""
    start = reals[THETA]
    n_events = ints[N_EVENTS]
    for k in range(PIECES + 1):
        event_values(addresses, ints, reals, x, v, g, start + (1.0 - start) * k / PIECES, SAMPLES + k)
    for piece in range(1, PIECES + 1):
        a = start + (1.0 - start) * (piece - 1) / PIECES
        b = 1.0 if piece == PIECES else start + (1.0 - start) * piece / PIECES
        earliest = NOTHING
        first = -1
        for i in range(n_events):
            if g[DIRECTION, i] == RATE:
                continue
            low = a
            at_low = g[SAMPLES + piece - 1, i]
            side = g[SIGN, i]
            if side == 0.0:
                low, at_low, side = leaving_sign(addresses, ints, reals, x, v, g, i, a, b)
                g[SIGN, i] = side
            high = b
            at_high = g[SAMPLES + piece, i]
            crossing = side * at_high < 0.0
            if not crossing and side != 0.0:
                high = dip(addresses, ints, reals, x, v, g, i, piece, start, side)
                if high > 1.0 and i + 1 < n_events and g[DIRECTION, i + 1] == RATE:
                    falls = g[SAMPLES + piece - 1, i + 1]
                    rises = g[SAMPLES + piece, i + 1]
                    if side * falls < 0.0 and side * rises > 0.0:
                        high = deepest(addresses, ints, reals, x, v, g, i, a, b, falls, rises, side)
                crossing = high <= 1.0 and high > low
                if crossing:
                    event_values(addresses, ints, reals, x, v, g, high, VALUE)
                    at_high = g[VALUE, i]
                    if g[DIRECTION, i] == side:
                        # Only the way back counts.
                        low = high
                        at_low = at_high
                        high = b
                        at_high = g[SAMPLES + piece, i]
                        side = -side
            if crossing and (g[DIRECTION, i] == 0.0 or g[DIRECTION, i] == -side):
                if side * at_low < 0.0:
                    found = low
                else:
                    found = locate(addresses, ints, reals, x, v, g, i, low, high, at_low, at_high)
                if found < earliest:
                    earliest = found
                    first = i
                    g[HIT, i] = side
        if first >= 0:
            earliest, first = overtaken(addresses, ints, reals, x, v, g, piece, a, first, earliest)
            # The end of a step is known to its tolerance. A step of which an event was told is not made again.
            doubtful = start == 0.0 and ints[LOOSE] == 1 and ints[FIXED] == 0 and earliest < 1.0
            if doubtful and not sound(addresses, ints, reals, x, v, start, earliest, DEFECT):
                reals[THETA_EVENT] = earliest
                return UNSOUND
            side = g[HIT, first]
            event_values(addresses, ints, reals, x, v, g, earliest, VALUE)
            for i in range(n_events):
                g[HIT, i] = 0.0
                if g[SIGN, i] * g[VALUE, i] < 0.0:
                    if g[DIRECTION, i] == 0.0 or g[DIRECTION, i] == -g[SIGN, i]:
                        g[HIT, i] = 1.0
                    g[SIGN, i] = -g[SIGN, i]
            g[HIT, first] = 1.0
            g[SIGN, first] = -side
            return earliest
        for i in range(n_events):
            if math.isnan(g[SAMPLES + piece, i]):
                return NO_NUMBER
            if g[SAMPLES + piece, i] != 0.0:
                g[SIGN, i] = np.sign(g[SAMPLES + piece, i])
    # The stages of a step just after a touch may fling the bodies apart, where they see no force, and by their weights
    # leave no trace of it.
    struck = 0
    for i in range(n_events):
        if g[HIT, i] != 0.0:
            struck += 1
    first_step = start == 0.0 and reals[H_OLD] == 0.0
    doubtful = struck > 0 and first_step and ints[LOOSE] == 1 and ints[FIXED] == 0
    if doubtful and not sound(addresses, ints, reals, x, v, start, 1.0, FLUNG):
        reals[THETA_EVENT] = 0.4
        return UNSOUND
    return NOTHING


@Unit
def search(
    addresses_at: Any,
    ints_at: Any,
    reals_at: Any,
    x_at: Any,
    v_at: Any,
    g_at: Any,
    corrected_at: Any,
    out_t_at: Any,
    out_y_at: Any,
    own_ints_at: Any,
    own_reals_at: Any,
) -> int:
    """Look for the next event in the rest of the step.

    1 where there is one, its fraction in THETA_EVENT; -1 where an event function is not a number, -2 where the step is
    to be made again, up to that fraction.
    """
    addresses = vector(addresses_at, ADDRESSES)
    ints = vector(ints_at, INTS)
    reals = vector(reals_at, REALS)
    x = vector(x_at, 1 + ints[N])
    v = matrix(v_at, 0, ints[ROWS], ints[N])
    g = matrix(g_at, 0, EVENT_ROWS, ints[N_EVENTS])
    found = next_event(addresses, ints, reals, x, v, g)
    if found == UNSOUND:
        return -2
    reals[THETA_EVENT] = found
    if found == NO_NUMBER:
        return -1
    return 1 if reals[THETA_EVENT] <= 1.0 else 0
