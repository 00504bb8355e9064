"""Finding events on the dense output of a step.

Event functions are sampled at five points of the step; a change of sign is closed in on by bracketing. A
double crossing between two samples shows as an extremum towards zero of the quartic through the samples,
which is then followed on the event function itself.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.arrays import Arrays
from bellcrank.integrate.crossings import (
    NOTHING,
    RATE,
    clear,
    deepest,
    dip,
    event_values,
    leaving_sign,
    locate,
)
from bellcrank.integrate.layout import (
    DEEPEST,
    DIRECTION,
    FIXED,
    FROM_HERE,
    H_OLD,
    H_STEP,
    HIT,
    INDEX,
    N_EVENTS,
    PIECES,
    RTOL,
    SAMPLES,
    SIGN,
    STARTED,
    THETA,
    THETA_EVENT,
    VALUE,
    WORK,
    Y_EVENT,
    T,
    Y,
)
from bellcrank.integrate.vectors import allowed, interpolate, rates
from bellcrank.program.loops import compiled, entry

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NO_NUMBER = 3.0
"""A fraction that marks an event function that is not a number."""
UNSOUND = 4.0
"""A fraction that marks a step whose dense output does not follow the equations up to the event."""
PASSED = 5.0
"""A fraction that marks a fixed step that passes over a contact."""
DEFECT = 1e3
"""Largest defect of the dense output over the tolerance of a step with an event; it is of lower order than the step."""
FLUNG = 1e5
"""Largest defect of the dense output over the tolerance of a step without an event."""
CRUDE = 0.1
"""Largest defect of the dense output over the state itself, however loose the tolerance."""
HALF = 0.5
"""Largest defect of the dense output of a fixed step over the rates."""
PACE = 0.7
"""Steps of a contact: its frequency times a fixed step. At this one Runge-Kutta 4 takes 1 % of the energy."""
LONGER = 2.0
"""A step so much longer than the last may miss what that one saw."""
PLACE = 0.382
"""Fraction of the time to an event at which the dense output is checked."""
AT_ONCE = 1e-6
"""Fraction of a step within which events count as simultaneous."""
NUDGE = 1e-3
"""Part of a step over which the slope of its dense output is taken."""
CLOCK = 3
"""Direction of a function of time alone: both crossings count, and they say nothing of the motion."""


@compiled
def sound(
    addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, theta: float, defect: float
) -> bool:
    """Whether the dense output satisfies the equations of motion before a fraction of the step.

    The error of a step that goes far beyond an event, as from free flight through a wall, is no measure. All stages may
    lie where there is no force, and the overlap between two of them. Only stages of the dense output, which the error
    does not contain, may lie in the wall and bend the flight before it. Only stages of weight zero may lie there and
    fling the others out of it. The check is not made at half the step, where such errors cancel by symmetry.
    """
    middle = PLACE * theta
    interpolate(ints, x, v, middle + NUDGE)
    for i in range(v.shape[1]):
        v[WORK, i] = x[1 + i]
    interpolate(ints, x, v, middle - NUDGE)
    for i in range(v.shape[1]):
        v[WORK, i] = (v[WORK, i] - x[1 + i]) * (0.5 / NUDGE)
    interpolate(ints, x, v, middle)
    x[0] = reals[T] + middle * reals[H_STEP]
    rates(addresses, ints, x, v, Y_EVENT)
    factor = min(defect, CRUDE / reals[RTOL])
    for i in range(v.shape[1]):
        slope = v[WORK, i]
        rate = reals[H_STEP] * v[Y_EVENT, i]
        v[WORK, i] = x[1 + i]
        most = factor * allowed(reals, v, i, WORK, WORK)
        if ints[FIXED] != 0:
            most = max(most, CRUDE * abs(x[1 + i] - v[FROM_HERE, i] * v[Y, i])) + HALF * max(
                abs(slope), abs(rate)
            )
        if not abs(slope - rate) <= most:
            return False
    return True


@compiled
def outpaced(ints: Ints, reals: Floats, g: Floats) -> int:
    """The contact whose force a fixed step is too long for, or -1.

    Where a force of frequency w stops a gap at a depth d, the rate of the gap changes by w^2 d h in a step h: over the
    depth, and times the step, the square of w h, and the contact lasts for 3 / w h steps. Gaps are functions that come
    with their rates.
    """
    for i in range(ints[N_EVENTS] - 1):
        if g[DIRECTION, i + 1] != RATE:
            continue
        if not g[STARTED, i] < 0.0:
            g[DEEPEST, i] = 0.0
            continue
        turned = 0.0
        for k in range(PIECES + 1):
            g[DEEPEST, i] = max(g[DEEPEST, i], -g[SAMPLES + k, i])
            turned = max(turned, g[SAMPLES + k, i + 1] - g[SAMPLES, i + 1])
        if reals[H_STEP] * turned > PACE * PACE * g[DEEPEST, i]:
            return i
    return -1


@compiled
def counts(direction: float, side: float) -> bool:
    """Whether a crossing away from a side of zero is an event."""
    return direction == 0.0 or direction == -side or direction == CLOCK


@compiled
def awaited(g: Floats, n_events: int, piece: int) -> bool:
    """Whether the motion itself meets an event in a piece of the step or later, by the samples."""
    for i in range(n_events):
        if g[DIRECTION, i] == RATE or g[DIRECTION, i] == CLOCK:
            continue
        for k in range(piece, PIECES + 1):
            if g[SIGN, i] * g[SAMPLES + k, i] <= 0.0:
                return True
    return False


@compiled
def left_out(
    addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, g: Floats
) -> tuple[float, int, bool]:
    """Whether a step without an event may have left one out: (fraction to make it again to, or NOTHING; event; over).

    Of functions that come with their rates. One beyond zero at the start may have been passed over by a step much
    longer than the last. One that would have been met at the rate of the start may have been evaded.
    """
    earliest = 1.0
    event = -1
    over = False
    for i in range(ints[N_EVENTS] - 1):
        if g[DIRECTION, i + 1] == RATE:
            if g[STARTED, i] <= 0.0:
                if reals[H_STEP] > LONGER * reals[H_OLD] and event < 0:
                    event = i
                    over = True
            else:
                closing = -reals[H_STEP] * g[SAMPLES, i + 1]
                if g[SAMPLES, i] < earliest * closing:
                    earliest = g[SAMPLES, i] / closing
                    event = i
                    over = False
    if event < 0 or sound(addresses, ints, reals, x, v, earliest, FLUNG):
        return NOTHING, event, over
    return (0.4 if over else earliest), event, over


@compiled
def unsound(ints: Ints, reals: Floats, g: Floats, theta: float, event: int, over: bool) -> float:
    """The step is to be made again, no longer than to that fraction; a fixed one that was over a contact cannot be."""
    reals[THETA_EVENT] = theta
    for i in range(ints[N_EVENTS]):
        g[SIGN, i] = g[STARTED, i]
    if over and ints[FIXED] != 0:
        ints[INDEX] = event
        return PASSED
    return UNSOUND


@compiled
def soonest(
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
    came: float,
) -> tuple[int, float, float]:
    """The event that comes first, its fraction, and the side of zero it comes from.

    One that is back before zero at the end of the piece may have come sooner; at the event that was found it shows.
    """
    while first >= 0:
        event_values(addresses, ints, reals, x, v, g, earliest, VALUE)
        other = -1
        for i in range(ints[N_EVENTS]):
            side = g[SIGN, i]
            towards = counts(g[DIRECTION, i], side)
            # Those beyond zero at the end of the piece were located already.
            before = side * g[SAMPLES + piece - 1, i] > 0.0 and side * g[SAMPLES + piece, i] >= 0.0
            if other < 0 and i != first and towards and before and side * g[VALUE, i] < 0.0:
                other = i
        if other < 0:
            break
        at_low = g[SAMPLES + piece - 1, other]
        found = locate(addresses, ints, reals, x, v, g, other, start, earliest, at_low, g[VALUE, other])
        # What is met as good as at once is one event: a function may have no value beyond what is found.
        if not found < earliest - AT_ONCE:
            break
        earliest = found
        first = other
        came = g[SIGN, other]
    return first, earliest, came


@compiled
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
    came: float,
) -> tuple[float, int, float]:
    """The earliest event, its number and its side of zero, with gaps that close within a piece and are open at its end.

    A gap of a sampled surface is valid up to where its samples are gathered anew, which is an event itself; the value
    at the end of the piece is then meaningless. Gaps are functions that come with their rates, and those behind
    these, which watch the same gap.
    """
    stale = True
    for i in range(ints[N_EVENTS]):
        side = g[SIGN, i]
        rated = i + 1 < ints[N_EVENTS] and g[DIRECTION, i + 1] == RATE
        gap = (rated or (i > 0 and g[DIRECTION, i - 1] == RATE)) and counts(g[DIRECTION, i], side)
        if i == first or side == 0.0 or not gap or side * g[SAMPLES + piece, i] < 0.0:
            continue
        if stale:
            event_values(addresses, ints, reals, x, v, g, earliest, VALUE)
            stale = False
        high = earliest
        if side * g[VALUE, i] >= 0.0:
            high = NOTHING
            if rated:
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
            came = side
    return earliest, first, came


@compiled
def next_event(addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, g: Floats) -> float:
    """Fraction of the step at which the next event lies, NOTHING, NO_NUMBER or UNSOUND; marks hits."""
    start = reals[THETA]
    n_events = ints[N_EVENTS]
    if start == 0.0:
        for i in range(n_events):
            g[STARTED, i] = g[SIGN, i]
    for k in range(PIECES + 1):
        event_values(addresses, ints, reals, x, v, g, start + (1.0 - start) * k / PIECES, SAMPLES + k)
    if start == 0.0 and ints[FIXED] != 0:
        event = outpaced(ints, reals, g)
        if event >= 0:
            return unsound(ints, reals, g, 1.0, event, True)
    for piece in range(1, PIECES + 1):
        a = start + (1.0 - start) * (piece - 1) / PIECES
        b = 1.0 if piece == PIECES else start + (1.0 - start) * piece / PIECES
        earliest = NOTHING
        first = -1
        came = 0.0
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
            if not crossing and side != 0.0 and not clear(ints, reals, g, i, piece, side):
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
                        # Only the crossing back counts.
                        low = high
                        at_low = at_high
                        high = b
                        at_high = g[SAMPLES + piece, i]
                        side = -side
            if crossing and counts(g[DIRECTION, i], side):
                if side * at_low < 0.0:
                    found = low
                else:
                    found = locate(addresses, ints, reals, x, v, g, i, low, high, at_low, at_high)
                if found < earliest:
                    earliest = found
                    first = i
                    came = side
        first, earliest, came = soonest(addresses, ints, reals, x, v, g, piece, a, first, earliest, came)
        if first >= 0:
            earliest, first, came = overtaken(
                addresses, ints, reals, x, v, g, piece, a, first, earliest, came
            )
            # The end of a step is known to its tolerance. A step whose event was reported is not made again.
            doubtful = start == 0.0 and earliest < 1.0
            if doubtful and g[DIRECTION, first] == CLOCK:
                doubtful = awaited(g, n_events, piece)
            if doubtful and not sound(addresses, ints, reals, x, v, earliest, DEFECT):
                return unsound(ints, reals, g, earliest, first, g[STARTED, first] <= 0.0)
            event_values(addresses, ints, reals, x, v, g, earliest, VALUE)
            for i in range(n_events):
                g[HIT, i] = 0.0
                if g[SIGN, i] * g[VALUE, i] < 0.0:
                    if counts(g[DIRECTION, i], g[SIGN, i]):
                        g[HIT, i] = 1.0
                    g[SIGN, i] = -g[SIGN, i]
            g[HIT, first] = 1.0
            g[SIGN, first] = -came
            return earliest
        for i in range(n_events):
            if math.isnan(g[SAMPLES + piece, i]):
                return NO_NUMBER
            if g[SAMPLES + piece, i] != 0.0:
                g[SIGN, i] = np.sign(g[SAMPLES + piece, i])
    if start == 0.0:
        again, event, over = left_out(addresses, ints, reals, x, v, g)
        if again <= 1.0:
            return unsound(ints, reals, g, again, event, over)
    return NOTHING


@entry
def search(run: Arrays) -> int:
    """Look for the next event in the rest of the step.

    1 where there is one, its fraction in THETA_EVENT; -1 where an event function is not a number, -2 where the step is
    to be made again, up to that fraction, -3 where it would have to but is fixed.
    """
    addresses, ints, reals, x, v, g, _, _, _, _, _ = run
    found = next_event(addresses, ints, reals, x, v, g)
    if found == UNSOUND:
        return -2
    if found == PASSED:
        return -3
    reals[THETA_EVENT] = found
    if found == NO_NUMBER:
        return -1
    return 1 if reals[THETA_EVENT] <= 1.0 else 0
