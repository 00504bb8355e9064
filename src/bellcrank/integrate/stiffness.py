"""Whether an explicit method is held back by its stability: the largest eigenvalue, by powers without a matrix.

The quotient of differences within a step (Hairer, Wanner, "Solving Ordinary Differential Equations II", IV.2) finds the
dominant eigenvalue only where its mode dominates these differences. A stiff, lightly damped spring in a mechanism
hides from it: what moves is the rest. So powers of the Jacobian are taken, by differences of the rates, as in the code
RKC (Sommeijer, Shampine, Verwer, J. Comp. Appl. Math. 88 (1998) 315-326); each estimate goes on from the direction
the last one ended with.

Steps that stability holds back lie at 0.72 to 1 of the border of the stability region, whether its eigenvalue is real
or nearly imaginary; those of a vibration that has to be followed stay below half of it even at a tolerance of 1e-2.

At tight tolerances a stiff force shortens the steps long before: the stages leave the slow motion by what their own
order allows, and the force multiplies that. And a motion that is held back may still ask for short steps by itself. So
the motion is watched as well, over windows of many steps: where a cubic through both ends of a window meets its middle
so well that steps of order 3 (what the estimate of `radau` goes by) could be several times longer, the explicit method
is the wrong one.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.layout import (
    EIGENVALUE_AGE,
    H_STEP,
    H_WINDOW,
    LARGEST_EIGENVALUE,
    MAX_STEP,
    STIFF_COUNT,
    T_MIDDLE,
    T_WINDOW,
    WINDOW_STEPS,
    WORK,
    F,
    H,
    T,
    Y,
)
from bellcrank.integrate.vectors import allowed, magnitude, rates
from bellcrank.program.loops import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HELD_BACK = 0.7
"""Part of the border of the stability region from which on a step counts as held back."""

STIFF_STEPS = 15
"""Steps held back, less those that were not, after which stability is what sets the step."""

FIRST_ESTIMATE = 10
INTERVAL = 25

PRICE, HELD_PRICE = 60.0, 30.0
"""Evaluations of an explicit method in the time of one step of an implicit one from which on that is worth its price;
second: where it is stability that sets the step."""

WATCH_ROWS = 4
"""Rows of v that are needed: the direction; state and rates where the window began; the state at its middle."""


@compiled
def estimate(
    addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, direction: int, powers: int
) -> None:
    """Size of the largest eigenvalue at the present state; the direction is kept in a row of v, WORK is lost.

    `powers` is even: the mean growth then serves for complex pairs as well, around which a single growth swings.
    """
    n = v.shape[1]
    total = 0.0
    size = 0.0
    for i in range(n):
        total += magnitude(reals, v, i) ** 2
        size += v[direction, i] * v[direction, i]
    if not 0.0 < size < math.inf:
        size = 0.0
        for i in range(n):
            v[direction, i] = 1.0 + 0.1 * (i % 7)
            size += v[direction, i] * v[direction, i]
    step = 1.5e-8 * max(math.sqrt(total), 1e-5)
    size = math.sqrt(size)
    logarithm = 0.0
    for _ in range(powers):
        x[0] = reals[T]
        for i in range(n):
            x[1 + i] = v[Y, i] + step / size * v[direction, i]
        rates(addresses, ints, x, v, WORK)
        total = 0.0
        for i in range(n):
            v[direction, i] = (v[WORK, i] - v[F, i]) / step
            total += v[direction, i] * v[direction, i]
        size = math.sqrt(total)
        if not 0.0 < size < math.inf:
            reals[LARGEST_EIGENVALUE] = 0.0
            return
        logarithm += math.log(size)
    reals[LARGEST_EIGENVALUE] = math.exp(logarithm / powers)


@compiled
def slow_motion(reals: Floats, v: Floats, first: int, longer: float) -> bool:
    """Whether steps of order 3 could be so much longer than those of the window that ends here.

    With c the coefficient of degree 4 over the window, the cubic misses its middle by c / 16, and the error estimate
    of `radau` for one step as long as the window is 24 c. A step size that grows or shrinks has another cause.
    """
    n = v.shape[1]
    step = present_step(reals)
    h = reals[T] - reals[T_WINDOW]
    theta = (reals[T_MIDDLE] - reals[T_WINDOW]) / h
    total = 0.0
    for i in range(n):
        difference = v[Y, i] - v[first, i]
        d1 = h * v[first + 1, i] - difference
        d2 = difference - h * v[F, i] - d1
        cubic = v[first, i] + theta * (difference + (1.0 - theta) * (d1 + theta * d2))
        missed = (v[first + 2, i] - cubic) / allowed(reals, v, i, Y, Y)
        total += missed * missed
    c = math.sqrt(total / max(n, 1)) / (theta * (1.0 - theta)) ** 2
    settled = 0.5 * reals[H_WINDOW] < step < 2.0 * reals[H_WINDOW] and step < 0.99 * reals[MAX_STEP]
    slow: bool = settled and 24.0 * c * (longer * step / h) ** 4 < 1.0
    return slow


@compiled
def present_step(reals: Floats) -> float:
    """The step size of the method; a step cut short by a stop is not its fault."""
    step: float = max(reals[H_STEP], reals[H])
    return step


@compiled
def held_back(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    direction: int,
    reach: float,
    evaluations: int,
    window: int,
) -> bool:
    """Count the step just made, of so many evaluations; whether an implicit method is worth its price."""
    ints[EIGENVALUE_AGE] += 1
    unknown = reals[LARGEST_EIGENVALUE] == 0.0
    if ints[EIGENVALUE_AGE] >= (FIRST_ESTIMATE if unknown else INTERVAL):
        estimate(addresses, ints, reals, x, v, direction, 12 if unknown else 4)
        ints[EIGENVALUE_AGE] = 0
    if reals[H_STEP] * reals[LARGEST_EIGENVALUE] >= HELD_BACK * reach:
        ints[STIFF_COUNT] = min(ints[STIFF_COUNT] + 1, 2 * STIFF_STEPS)
    else:
        ints[STIFF_COUNT] = max(ints[STIFF_COUNT] - 1, 0)
    count = ints[WINDOW_STEPS]
    ints[WINDOW_STEPS] = count + 1
    first = direction + 1
    slow = False
    if count == window // 2:
        reals[T_MIDDLE] = reals[T]
        for i in range(v.shape[1]):
            v[first + 2, i] = v[Y, i]
    if count == window:
        price = HELD_PRICE if ints[STIFF_COUNT] >= STIFF_STEPS else PRICE
        slow = slow_motion(reals, v, first, price / evaluations)
    if count == 0 or count == window:
        ints[WINDOW_STEPS] = 1
        reals[T_WINDOW] = reals[T]
        reals[H_WINDOW] = present_step(reals)
        for i in range(v.shape[1]):
            v[first, i] = v[Y, i]
            v[first + 1, i] = v[F, i]
    return slow
