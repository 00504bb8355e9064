"""Where an event function crosses zero within a step: brackets, extrema towards zero, the side it leaves zero to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.layout import (
    DIRECTION,
    EVENTS,
    H_STEP,
    N_EVENTS,
    PIECES,
    SAMPLES,
    T_NEW,
    VALUE,
    Y_NEW,
    T,
)
from bellcrank.integrate.vectors import interpolate, load
from bellcrank.program.loops import call_at, compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NOTHING = 2.0
"""A fraction of a step beyond its end: no event."""
RATE = 2
"""Direction of a function that is no event itself but the rate of the event function before it."""
STEEPER = 2.0
"""By which the rate of a gap may be steeper within a piece than at its ends. Between a fall and a rise at those rates
it comes half as near as that of one of them alone, so the whole piece at twice the rate is four times the need."""


@compiled
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


@compiled
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


@compiled
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
    that even the tiny flights at the end of a bouncing are longer. A function that what was done about the event has
    made a constant does not leave; one that has jumped over zero, and is farther from it than it moves, has left.
    """
    at_start = g[SAMPLES, event]
    constant = at_start != 0.0
    for k in range(1, PIECES + 1):
        constant = constant and g[SAMPLES + k, event] == at_start
    if constant:
        return start, at_start, np.sign(at_start)
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
    if value * at_start > 0.0 and abs(value - at_start) < abs(at_start):
        return fraction, value, np.sign(value)
    return fraction, value, np.sign(value - at_start)


@compiled
def clear(ints: Ints, reals: Floats, g: Floats, event: int, piece: int, side: float) -> bool:
    """Whether a gap stays on its side of zero throughout a piece of the step, by its rates at both ends.

    Gaps are functions that come with their rates, and those behind these, which watch the same gap.
    """
    rate = event + 1
    if rate >= ints[N_EVENTS] or g[DIRECTION, rate] != RATE:
        rate = event - 1
        if rate < 0 or g[DIRECTION, rate] != RATE:
            return False
    row = SAMPLES + piece
    nearest = min(side * g[row - 1, event], side * g[row, event])
    steepest = max(abs(g[row - 1, rate]), abs(g[row, rate]))
    return nearest > STEEPER * steepest * reals[H_STEP] / PIECES  # type: ignore[no-any-return]


@compiled
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

    The quartic through the samples shows, without further calls, whether there is an extremum towards zero
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


@compiled
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
