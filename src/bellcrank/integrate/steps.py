"""Between the steps, the same for every method: beginning anew, moving on, giving up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.layout import (
    BUDGET,
    F_NEW,
    FIXED,
    FIXED_STEP,
    H_OLD,
    H_STEP,
    LAST_REJECTED,
    LEAPING,
    MARGIN,
    MAX_STEP,
    MAX_STEPS,
    NEARBY,
    RANK,
    RANK_BEST,
    RANK_START,
    REJECTED,
    RTOL,
    SCANNING,
    STEP_MARGIN,
    STEPS,
    T_NEW,
    T_STOP,
    THETA,
    THETA_EVENT,
    THRESHOLD,
    THRESHOLD_USUAL,
    TROUBLE,
    Y_NEW,
    F,
    H,
    T,
    Y,
)
from bellcrank.integrate.vectors import project, rates
from bellcrank.program.loops import compiled

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
CHANGE_POINT = 12
EVENT_NOT_FINITE = 13

ROUNDING = 2.2e-16
SHARE = 0.01
"""Of the rounding that theory grants, what is met with; energies kept or lost in slow passes of a parallelogram."""
CLOSE = 0.05
"""Rank over the best below which a fixed step is checked in its middle as well."""
ONCE = 1e-3
"""Part of SHARE that counts between the ends of a step, where outputs alone see what is lost and it does not add up."""
BESIDE = 0.3
"""Rank at an end of a step, over the best, below which stages without an error estimate are checked as well."""
CREEPING = 1000
"""Steps tried in a row beside a change point after which the run is taken to be stuck there."""
UNEVEN = 0.7
"""Part of a step that is made where its end would lie at a change point; another like it leads past."""


@compiled
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


@compiled
def next_step(ints: Ints, reals: Floats, h: float) -> None:
    """Propose a step: no growth right after a rejection, and no loss where a stop cut the last one short."""
    if ints[LAST_REJECTED] != 0:
        h = min(h, reals[H_STEP])
    reals[H] = h if reals[H_STEP] >= min(reals[H], reals[MAX_STEP]) else max(reals[H], h)


@compiled
def lost(reals: Floats) -> bool:
    """Whether the state just projected lies so close to a change point that its accelerations are lost in rounding.

    At the distance d dependent positions are known to rounding / d, speeds to rounding / d^2 and accelerations to
    rounding / d^3. A step that leads there has covered the distance at its start: over as much again they would change
    the speeds by that distance * rounding / d^3. Away from a change point a step may always lead.
    """
    reals[RANK_BEST] = max(reals[RANK_BEST], reals[RANK])
    d: float = reals[RANK] / reals[RANK_BEST]
    begun: float = reals[RANK_START] / reals[RANK_BEST]
    allowed: float = reals[RTOL]
    return d < begun and d**3 < SHARE * min(begun, 0.1) * ROUNDING / allowed


@compiled
def beside(reals: Floats) -> bool:
    """Whether a change point may lie within the step just made."""
    nearer: float = min(reals[RANK], reals[RANK_START])
    far: float = BESIDE * reals[RANK_BEST]
    return nearer < far


@compiled
def lost_there(reals: Floats, rank: float) -> bool:
    """Whether accelerations are lost in rounding in a state of this rank, between the ends of a step; see `lost`."""
    d: float = rank / reals[RANK_BEST]
    allowed: float = reals[RTOL]
    return d**3 < ONCE * SHARE * ROUNDING / allowed


@compiled
def creeping(ints: Ints, reals: Floats) -> bool:
    """Count a step that was tried; whether the run makes no progress close to a change point."""
    d: float = reals[RANK_START] / reals[RANK_BEST]
    ints[NEARBY] = ints[NEARBY] + 1 if d * d < ROUNDING / reals[RTOL] else 0
    count: int = ints[NEARBY]
    return count >= CREEPING


@compiled
def lost_between(addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, corrected: Floats) -> bool:
    """Whether the middle of a fixed step is too close to a change point; a fixed step has no error estimate."""
    rank = reals[RANK]
    margin = reals[MARGIN]
    if ints[FIXED] == 0 or min(rank, reals[RANK_START]) > CLOSE * reals[RANK_BEST]:
        return False
    h = reals[H_STEP]
    x[0] = reals[T] + 0.5 * h
    for i in range(v.shape[1]):
        x[1 + i] = 0.5 * (v[Y, i] + v[Y_NEW, i]) + 0.125 * h * (v[F, i] - v[F_NEW, i])
    met = not project(addresses, ints, reals, x, corrected)
    met = True if met else lost(reals)
    x[0] = reals[T_NEW]
    for i in range(v.shape[1]):
        x[1 + i] = v[Y_NEW, i]
    reals[RANK] = rank
    reals[MARGIN] = margin
    return met


@compiled
def close_step(addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, corrected: Floats) -> bool:
    """Bring the new state, given in x, onto the constraints and take the rates there.

    False where either is impossible. This comes before the error estimate, which then sees the state that
    the run goes on from.
    """
    x[0] = reals[T_NEW]
    if not project(addresses, ints, reals, x, corrected):
        ints[TROUBLE] = CONSTRAINTS
        return False
    if lost(reals):
        ints[TROUBLE] = CHANGE_POINT
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
    if lost_between(addresses, ints, reals, x, v, corrected):
        ints[TROUBLE] = CHANGE_POINT
        return False
    ints[TROUBLE] = 0
    return True


@compiled
def accept(ints: Ints, reals: Floats) -> None:
    """The step stands; its outputs and events come next."""
    ints[STEPS] += 1
    ints[SCANNING] = 1
    ints[TROUBLE] = 0
    ints[LAST_REJECTED] = 0
    reals[STEP_MARGIN] = reals[MARGIN]
    reals[RANK_START] = reals[RANK]
    reals[THETA] = 0.0
    if ints[LEAPING] == 1:
        reals[H] = reals[H_STEP] * (2.0 - UNEVEN) / UNEVEN
        ints[LEAPING] = 2
    elif ints[LEAPING] == 2:
        reals[H] = reals[H_STEP] / (2.0 - UNEVEN)
        ints[LEAPING] = 0
    elif ints[LEAPING] == 3:
        reals[H] = reals[FIXED_STEP]
        ints[LEAPING] = 0


@compiled
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
    if creeping(ints, reals):
        return CHANGE_POINT
    if reals[STEP_MARGIN] < reals[THRESHOLD]:
        return REPARTITION
    if reals[STEP_MARGIN] > reals[THRESHOLD_USUAL]:
        reals[THRESHOLD] = reals[THRESHOLD_USUAL]
    if ints[STEPS] + ints[REJECTED] >= ints[MAX_STEPS]:
        return TOO_MANY_STEPS
    if ints[BUDGET] <= 0:
        return RUNNING
    return GO_ON


@compiled
def reject(ints: Ints, reals: Floats, h: float, factor: float) -> int:
    """Try again with a smaller step, unless time no longer moves with it.

    Two fixed steps, the first of which ends at a change point, are made as two uneven ones.
    """
    ints[REJECTED] += 1
    ints[LAST_REJECTED] = 1
    reals[H] = h * factor
    if ints[TROUBLE] == CHANGE_POINT:
        reals[H] = UNEVEN * h
        if ints[FIXED] != 0 and ints[LEAPING] == 0:
            ints[LEAPING] = 1
            return GO_ON
    if ints[FIXED] != 0 or reals[H] <= 1e-15 * abs(reals[T]) or reals[H] < 1e-290:
        return ints[TROUBLE] if ints[TROUBLE] != 0 else STEP_UNDERFLOW
    if creeping(ints, reals):
        return CHANGE_POINT
    if ints[STEPS] + ints[REJECTED] >= ints[MAX_STEPS]:
        return TOO_MANY_STEPS
    return GO_ON


@compiled
def again(ints: Ints, reals: Floats) -> int:
    """Make the step just computed again, no longer than to the event or output that it cannot be trusted to lead to.

    A fixed step ends at the event, from where another begins anyway.
    """
    ints[STEPS] -= 1
    if ints[FIXED] != 0:
        ints[REJECTED] += 1
        ints[LEAPING] = 3
        reals[H] = reals[H_STEP] * min(0.5, max(1e-3, reals[THETA_EVENT]))
        return GO_ON if reals[H] > 1e-15 * abs(reals[T]) else STEP_UNDERFLOW
    return reject(ints, reals, reals[H_STEP], min(0.5, max(0.01, 1.1 * reals[THETA_EVENT])))
