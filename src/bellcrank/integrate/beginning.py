"""Beginning a run, or beginning anew after the state or the parameters were changed from outside."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.arrays import Arrays
from bellcrank.integrate.layout import (
    ERROR_OLD,
    EVENTS,
    FACTORS_VALID,
    FRESH,
    H_OLD,
    HISTORY,
    HIT,
    INDEPENDENCE,
    INDEX,
    JACOBIAN_AGE,
    LAST_REJECTED,
    MAX_STEP,
    N_EVENTS,
    N_OUT,
    ORDER,
    OUT_NEXT,
    PIECES,
    RANK,
    RANK_BEST,
    RANK_START,
    SAMPLES,
    SCANNING,
    SIGN,
    T_STOP,
    TROUBLE,
    VALUE,
    WORK,
    F,
    H,
    N,
    T,
    Y,
)
from bellcrank.integrate.steps import CONSTRAINTS, EVENT_NOT_FINITE, NOT_FINITE, RUNNING
from bellcrank.integrate.vectors import allowed, load, magnitude, project, rates, store
from bellcrank.program.loops import call_at, compiled, entry

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AT_FIRST = 1e-6
"""First step over the time up to the next stop, where the rates are zero and give no step size."""


@compiled
def size(reals: Floats, v: Floats, row: int, other: int) -> float:
    """Root mean square of v[row] - v[other] over the tolerance at the present state; of v[row] where other < 0."""
    n = v.shape[1]
    total = 0.0
    for i in range(n):
        ratio = v[row, i]
        if other >= 0:
            ratio -= v[other, i]
        ratio = ratio / allowed(reals, v, i, Y, Y)
        total += ratio * ratio
    return math.sqrt(total / max(n, 1))


@compiled
def first_step(addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats) -> float:
    """A step size to begin with.

    Hairer, Norsett, Wanner, "Solving Ordinary Differential Equations I", II.4: an explicit Euler step estimates
    the second derivative.
    """
    total = 0.0
    for i in range(v.shape[1]):
        total += (magnitude(reals, v, i) / allowed(reals, v, i, Y, Y)) ** 2
    d0 = math.sqrt(total / max(v.shape[1], 1))
    d1 = size(reals, v, F, -1)
    remaining = reals[T_STOP] - reals[T]
    brief = AT_FIRST * (remaining if remaining > 0.0 else 1.0)
    h = brief
    if d0 >= 1e-5 and d1 >= 1e-5:
        h = 0.01 * d0 / d1
    h = min(h, min(remaining, reals[MAX_STEP]))
    if h == 0.0:
        h = brief
    x[0] = reals[T] + h
    for i in range(v.shape[1]):
        x[1 + i] = v[Y, i] + h * v[F, i]
    rates(addresses, ints, x, v, WORK)
    d2 = size(reals, v, WORK, F) / h
    if not math.isfinite(d2):
        return 1e-3 * h
    steepest = max(d1, d2)
    longer = max(brief, 1e-3 * h)
    if steepest > 1e-15:
        longer = (0.01 / steepest) ** (1.0 / (ints[ORDER] + 1.0))
    return min(100.0 * h, longer)


@compiled
def shares_hit(g: Floats, k: int) -> bool:
    """Whether an event was just hit, or another whose function is the same.

    The end of a contact stands at zero where its start was met, whatever side rounding leaves it on.
    """
    if g[HIT, k] != 0.0:
        return True
    for other in range(g.shape[1]):
        if g[HIT, other] != 0.0 and g[VALUE, other] == g[VALUE, k]:
            moved = 0.0
            same = True
            for row in range(SAMPLES, SAMPLES + PIECES + 1):
                moved = max(moved, abs(g[row, k]))
                same = same and g[row, other] == g[row, k]
            if same and moved > 0.0:
                return True
    return False


@entry
def begin(run: Arrays) -> int:
    """Project the state, take its rates, arm the events, write outputs due now; the step size is kept."""
    addresses, ints, reals, x, v, g, corrected, out_t, out_y, _, _ = run
    n = ints[N]
    load(x, reals[T], v, Y)
    if not project(addresses, ints, reals, x, corrected):
        ints[INDEX] = -1
        return CONSTRAINTS
    store(x, v, Y)
    rates(addresses, ints, x, v, F)
    for i in range(n):
        if not (math.isfinite(v[F, i]) and math.isfinite(v[Y, i])):
            ints[INDEX] = i
            return NOT_FINITE
    if ints[N_EVENTS] > 0:
        # An event just hit stands at zero up to rounding: its side is left open (0) until it moves away. Where what
        # was done about it has changed it by as much as it moved over the step, its side is known.
        call_at(addresses[EVENTS], x, 0, g, VALUE * ints[N_EVENTS])
        for k in range(ints[N_EVENTS]):
            if math.isnan(g[VALUE, k]):
                return EVENT_NOT_FINITE
            moved = 0.0
            for piece in range(PIECES + 1):
                moved = max(moved, abs(g[SAMPLES + piece, k]))
            stands = shares_hit(g, k) and not (moved > 0.0 and abs(g[VALUE, k]) > moved)
            g[SIGN, k] = 0.0 if stands else np.sign(g[VALUE, k])
    while ints[OUT_NEXT] < ints[N_OUT] and out_t[ints[OUT_NEXT]] <= reals[T]:
        for i in range(n):
            out_y[ints[OUT_NEXT], i] = v[Y, i]
        ints[OUT_NEXT] += 1
    if reals[H] <= 0.0:
        reals[H] = first_step(addresses, ints, reals, x, v)
    reals[ERROR_OLD] = 1e-4
    reals[H_OLD] = 0.0
    reals[RANK_START] = reals[RANK]
    # A run that begins beside a change point has not seen how far from it the loops can be.
    reals[RANK_BEST] = max(reals[RANK_BEST], reals[RANK] / reals[INDEPENDENCE])
    reals[INDEPENDENCE] = 1.0
    ints[FRESH] = 0
    ints[SCANNING] = 0
    ints[LAST_REJECTED] = 0
    ints[TROUBLE] = 0
    ints[JACOBIAN_AGE] = 0
    ints[FACTORS_VALID] = 0
    ints[HISTORY] = 0
    return RUNNING
