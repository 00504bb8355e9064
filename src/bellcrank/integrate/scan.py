"""Passing over a computed step: outputs and events on its dense output."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.arrays import Arrays
from bellcrank.integrate.layout import (
    FIXED,
    H_STEP,
    MARGIN,
    N_OUT,
    OUT_NEXT,
    SCANNING,
    SEARCH,
    T_EVENT,
    T_NEW,
    THETA,
    THETA_EVENT,
    THRESHOLD,
    Y_EVENT,
    Y_NEW,
    T,
)
from bellcrank.integrate.vectors import interpolate, load, project, store
from bellcrank.program.loops import call_entry, compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AGAIN = -2
"""The step is not to be trusted up to an event or an output on it."""
DECAYED = 0.5
"""Margin of an output over the threshold of the partition below which the step ends before it.

Dependent speeds are the independent ones over the margin, and so is the error of the dense output. A step that ends
between this share of the threshold and the threshold itself asks for another partition. Halving a step that leads to
the singular point ends there, since the margin falls in proportion to the distance from it.
"""


@compiled
def scan(run: Arrays) -> int:
    """Write the outputs of the rest of the step up to its end or the next event.

    0: the end of the step is reached. 2: an event, with T_EVENT and Y_EVENT; calling again goes on behind it.
    4: an output state does not satisfy the constraints. 13: an event function is not a number. 14: a fixed step
    passes over a contact.
    AGAIN: the step is to be made again, no longer than to THETA_EVENT.
    Where the margin of the partition has decayed at an output, the step is made again too, and ends before it.
    """
    addresses, ints, reals, x, v, _, corrected, out_t, out_y, _, _ = run
    limit = reals[T_NEW]
    met = 0
    if addresses[SEARCH] != 0:
        met = call_entry(addresses[SEARCH], run)
        if met == -1:
            return 13
        if met == -3:
            return 14
        if met < 0:
            ints[SCANNING] = 0
            return AGAIN
    found = met != 0
    if found:
        theta = reals[THETA_EVENT]
        limit = reals[T] + theta * reals[H_STEP] if theta < 1.0 else reals[T_NEW]
    while True:
        k = ints[OUT_NEXT]
        due = k < ints[N_OUT] and out_t[k] <= limit
        if not (due or found):
            break
        t = out_t[k] if due else limit
        # An event is beyond its zero at the fraction where it was located, not at one worked out from its time.
        theta = (t - reals[T]) / reals[H_STEP] if due else reals[THETA_EVENT]
        if not output(addresses, ints, reals, x, v, corrected, t, theta):
            return 4
        if t < reals[T_NEW] and ints[FIXED] == 0 and reals[MARGIN] < DECAYED * reals[THRESHOLD]:
            reals[THETA_EVENT] = theta
            ints[SCANNING] = 0
            return AGAIN
        if not due:
            store(x, v, Y_EVENT)
            reals[THETA] = reals[THETA_EVENT]
            reals[T_EVENT] = limit
            return 2
        for i in range(v.shape[1]):
            out_y[k, i] = x[1 + i]
        ints[OUT_NEXT] = k + 1
    ints[SCANNING] = 0
    return 0


@compiled
def output(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    corrected: Floats,
    t: float,
    theta: float,
) -> bool:
    """State in x = the state at time t, a fraction theta of the step, on the constraints."""
    if t < reals[T_NEW]:
        interpolate(ints, x, v, theta)
        x[0] = t
        return project(addresses, ints, reals, x, corrected)
    load(x, reals[T_NEW], v, Y_NEW)
    return True
