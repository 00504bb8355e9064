"""Between the steps, the same for every method: beginning anew, moving on, giving up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.simulate.compiled import part
from bellcrank.simulate.layout import (
    BUDGET,
    F_NEW,
    FIXED,
    H_OLD,
    H_STEP,
    LAST_REJECTED,
    MARGIN,
    MAX_STEP,
    MAX_STEPS,
    REJECTED,
    SCANNING,
    STEP_MARGIN,
    STEPS,
    T_NEW,
    T_STOP,
    THETA,
    THRESHOLD,
    TROUBLE,
    Y_NEW,
    F,
    H,
    T,
    Y,
)
from bellcrank.simulate.vectors import project, rates

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# The codes of Status, as the compiled loops return them; GO_ON stays inside.
GO_ON = -1
DONE = 0
RUNNING = 1
REPARTITION = 3
CONSTRAINTS = 4
STEP_UNDERFLOW = 5
NOT_FINITE = 6
TOO_MANY_STEPS = 7
NEWTON_FAILED = 8
STIFF = 9
NONSTIFF = 10


@part
def plan_step(reals: Floats) -> float:
    """The step to make: the proposed one, cut to the largest step and to the next stop."""
    h: float = min(reals[H], reals[MAX_STEP])
    remaining = reals[T_STOP] - reals[T]
    # Stretching by up to a hundredth spares a sliver of a step before the stop.
    if 1.01 * h >= remaining:
        h = remaining
        reals[T_NEW] = reals[T_STOP]
    else:
        reals[T_NEW] = reals[T] + h
    reals[H_STEP] = h
    return h


@part
def next_step(ints: Ints, reals: Floats, h: float) -> None:
    """Propose a step: no growth right after a rejection, and no loss where a stop cut the last one short."""
    if ints[LAST_REJECTED] != 0:
        h = min(h, reals[H_STEP])
    reals[H] = h if reals[H_STEP] >= min(reals[H], reals[MAX_STEP]) else max(reals[H], h)


@part
def close_step(addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, corrected: Floats) -> bool:
    """Bring the new state, given in x, onto the constraints and take the rates there.

    False where either is impossible. This comes before the error estimate, which then sees the state that
    the run goes on from.
    """
    x[0] = reals[T_NEW]
    if not project(addresses, ints, reals, x, corrected):
        ints[TROUBLE] = CONSTRAINTS
        return False
    rates(addresses, ints, x, v, F_NEW)
    # One sum instead of n tests: infinities and not-a-numbers survive a multiplication by zero.
    total = 0.0
    for i in range(v.shape[1]):
        v[Y_NEW, i] = x[1 + i]
        total += 0.0 * v[F_NEW, i]
    if total != 0.0:
        ints[TROUBLE] = NOT_FINITE
        return False
    ints[TROUBLE] = 0
    return True


@part
def accept(ints: Ints, reals: Floats) -> None:
    """The step stands; its outputs and events come next."""
    ints[STEPS] += 1
    ints[SCANNING] = 1
    ints[TROUBLE] = 0
    ints[LAST_REJECTED] = 0
    reals[STEP_MARGIN] = reals[MARGIN]
    reals[THETA] = 0.0


@part
def move_on(ints: Ints, reals: Floats, v: Floats) -> int:
    """The end of the step becomes the start of the next."""
    reals[T] = reals[T_NEW]
    reals[H_OLD] = reals[H_STEP]
    for i in range(v.shape[1]):
        v[Y, i] = v[Y_NEW, i]
        v[F, i] = v[F_NEW, i]
    ints[BUDGET] -= 1
    if reals[T] >= reals[T_STOP]:
        return DONE
    if reals[STEP_MARGIN] < reals[THRESHOLD]:
        return REPARTITION
    if ints[STEPS] + ints[REJECTED] >= ints[MAX_STEPS]:
        return TOO_MANY_STEPS
    if ints[BUDGET] <= 0:
        return RUNNING
    return GO_ON


@part
def reject(ints: Ints, reals: Floats, h: float, factor: float) -> int:
    """Try again with a smaller step, unless time no longer moves with it."""
    ints[REJECTED] += 1
    ints[LAST_REJECTED] = 1
    reals[H] = h * factor
    if ints[FIXED] != 0 or reals[H] <= 1e-15 * abs(reals[T]) or reals[H] < 1e-290:
        return ints[TROUBLE] if ints[TROUBLE] != 0 else STEP_UNDERFLOW
    if ints[STEPS] + ints[REJECTED] >= ints[MAX_STEPS]:
        return TOO_MANY_STEPS
    return GO_ON
