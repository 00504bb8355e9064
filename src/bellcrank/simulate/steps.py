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
    INDEX,
    LAST_REJECTED,
    MARGIN,
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
from bellcrank.simulate.vectors import copy, first_not_finite, load, project, rates, store

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


@part
def close_step(addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, corrected: Floats) -> bool:
    """Bring the new state onto the constraints and take the rates there; False where either is impossible."""
    load(x, reals[T_NEW], v, Y_NEW)
    if not project(addresses, ints, reals, x, corrected):
        ints[TROUBLE] = CONSTRAINTS
        return False
    store(x, v, Y_NEW)
    rates(addresses, ints, x, v, F_NEW)
    ints[INDEX] = first_not_finite(v, F_NEW)
    if ints[INDEX] >= 0:
        ints[TROUBLE] = NOT_FINITE
        return False
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
    copy(v, Y_NEW, Y)
    copy(v, F_NEW, F)
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
