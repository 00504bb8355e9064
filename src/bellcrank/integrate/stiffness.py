"""Which method is the cheaper one: what an explicit and an implicit method cost a second of the motion.

Prices are counted in evaluations of the rates, those of events and of factors included, so they are the same on every
machine. The method at work knows its own price of a second: it has spent it. That of the other is foreseen, over
windows of some steps. A change of method pays where the other one promises to be cheaper. What a method lost against
the pace of the one before it, the change to it cost: the next change waits until ten times as much is spent, so that
broken promises cost a tenth at most. Where stability holds explicit steps back, as in a body that came to rest after a
wild impact, it waits only until as much would have been saved by what the implicit method promised meanwhile.

**Explicit to implicit.** A step of `radau` costs what it did when it was last at work. How long its steps would be, the
motion says: a cubic through both ends of a window misses the middle by an amount that gives the step of order 3 (what
the estimate of `radau` goes by). This also tells what stability does not: at tight tolerances a stiff force shortens
explicit steps long before, since the stages leave the slow motion by what their own order allows, and the force
multiplies that.

**Implicit to explicit.** The steps of an explicit method are bounded by its stability, for which the largest eigenvalue
of the Jacobian is known, and by its accuracy: in a motion that both resolve, an estimate of order q allows steps in
proportion to tolerance^(1/q).

Before `radau` made its first step its price is a cautious guess, less so where stability sets the explicit step. The
quotient of differences within a step (Hairer, Wanner, "Solving Ordinary Differential Equations II", IV.2) finds the
dominant eigenvalue only where its mode dominates these differences. A stiff, lightly damped spring in a mechanism
hides from it: what moves is the rest. So powers of the Jacobian are taken, by differences of the rates, as in the code
RKC (Sommeijer, Shampine, Verwer, J. Comp. Appl. Math. 88 (1998) 315-326); each estimate goes on from the direction
the last one ended with. Steps that stability holds back lie at 0.72 to 1 of the border of the stability region, whether
its eigenvalue is real or nearly imaginary; those of a vibration that has to be followed stay below half of it even at a
tolerance of 1e-2.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.arrays import Arrays
from bellcrank.integrate.layout import (
    EIGENVALUE_AGE,
    EVALUATIONS,
    EXPLICIT_PRICE,
    EXPLICIT_REACH,
    EXPLICIT_SHARE,
    FACTORISATIONS,
    FORESEEN,
    H_STEP,
    H_WINDOW,
    INDEX,
    JACOBIANS,
    LARGEST_EIGENVALUE,
    MAX_STEP,
    N_EVENTS,
    ORDER,
    PACE,
    PACE_BEFORE,
    PIECES,
    RTOL,
    SPENT_LEAST,
    SPENT_STINT,
    SPENT_WINDOW,
    STEP_PRICE,
    STEPS,
    STIFF_COUNT,
    T_MIDDLE,
    T_STINT,
    T_WINDOW,
    WINDOW_STEPS,
    WORK,
    F,
    H,
    N,
    T,
    Y,
)
from bellcrank.integrate.vectors import allowed, magnitude, rates
from bellcrank.program.loops import compiled, entry

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HELD_BACK = 0.7
"""Part of the border of the stability region from which on a step counts as held back."""

STIFF_STEPS = 15
"""Steps held back, less those that were not, after which stability is what sets the step."""

FIRST_ESTIMATE = 10
INTERVAL = 25

PRICE, HELD_PRICE = 45.0, 22.5
"""Evaluations that a step of the implicit method is taken to cost before it made any: two to three times what it does,
since windows may promise longer steps than it can make; second: where it is stability that sets the explicit step."""

FACTORS = 90.0
"""Over this, the square of the number of states is the price of factors in evaluations. Real and complex ones take
(2/3 + 8/3) n^3 operations, an articulated-body evaluation 290 n (Featherstone, "Rigid Body Dynamics Algorithms", table
10.1, with two states a freedom). What a contact adds to the latter is not counted."""

GAIN = 1.3
"""How many times cheaper another method must promise to be: less than that is not worth a change."""

LOST = 0.1
"""Part of the price that changes which did not pay may cost."""

IMPLICIT_WINDOW = 20
"""Steps of the implicit method over which prices are compared."""

POWERS = 48
"""Powers of the Jacobian by which a fixed step is looked at. Their mean growth misses the largest eigenvalue by the
root, of that degree, of the condition of its eigenvectors: for 1e6, which springs of 1e6 rad/s have in metres and
metres a second, by a third."""

BEYOND = 1.5
"""Eigenvalue times the step over the border of the stability region from which on a fixed step counts as unstable: more
than its estimate may be off."""

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


@entry
def look(run: Arrays) -> int:
    """Estimate the largest eigenvalue at the start of a run; the direction of its mode is left in row INDEX of v."""
    addresses, ints, reals, x, v, _, _, _, _, _, _ = run
    counted = ints[EVALUATIONS]
    for i in range(v.shape[1]):
        v[ints[INDEX], i] = 0.0
    estimate(addresses, ints, reals, x, v, ints[INDEX], POWERS)
    ints[EVALUATIONS] = counted
    return 0


@compiled
def spent(ints: Ints) -> float:
    """Price of all steps so far, in evaluations of the rates.

    A directional derivative takes two evaluations, one of which is counted as such. Events are looked for at PIECES new
    points of every step.
    """
    n = ints[N]
    events = PIECES if ints[N_EVENTS] > 0 else 0
    factors = n * n / FACTORS
    price: float = (
        ints[EVALUATIONS] + events * ints[STEPS] + n * ints[JACOBIANS] + factors * ints[FACTORISATIONS]
    )
    return price


@compiled
def implicit_step(reals: Floats, v: Floats, first: int) -> float:
    """The step that order 3 allows in the window that ends here; 0 where the window does not tell.

    With c the coefficient of degree 4 over the window, the cubic misses its middle by c / 16, and the error estimate
    of `radau` for one step as long as the window is 24 c. A step size that grows or shrinks has another cause.
    """
    n = v.shape[1]
    step = present_step(reals)
    if not (0.5 * reals[H_WINDOW] < step < 2.0 * reals[H_WINDOW] and step < 0.99 * reals[MAX_STEP]):
        return 0.0
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
    longest: float = h * (24.0 * max(c, 1e-300)) ** -0.25
    return longest


@compiled
def present_step(reals: Floats) -> float:
    """The step size of the method; a step cut short by a stop is not its fault."""
    step: float = max(reals[H_STEP], reals[H])
    return step


@compiled
def implicit_pays(
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
    """Count the explicit step just made, of so many evaluations; whether the implicit method promises to be cheaper."""
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
    pays = False
    if count == window // 2:
        reals[T_MIDDLE] = reals[T]
        for i in range(v.shape[1]):
            v[first + 2, i] = v[Y, i]
    if count == window:
        events = PIECES if ints[N_EVENTS] > 0 else 0
        reals[EXPLICIT_PRICE] = evaluations + events
        reals[EXPLICIT_REACH] = HELD_BACK * reach
        reals[EXPLICIT_SHARE] = reals[RTOL] ** (0.25 - 1.0 / ints[ORDER])
        price = reals[STEP_PRICE]
        if price == 0.0:
            price = events + (HELD_PRICE if ints[STIFF_COUNT] >= STIFF_STEPS else PRICE)
        time = reals[T] - reals[T_WINDOW]
        pace = (spent(ints) - reals[SPENT_WINDOW]) / time
        longest = implicit_step(reals, v, first)
        promised = price / longest if longest > 0.0 else math.inf
        if ints[STIFF_COUNT] >= STIFF_STEPS and GAIN * promised < pace:
            reals[SPENT_LEAST] -= (pace - GAIN * promised) * time / LOST
        pays = cheaper(ints, reals, pace, promised)
    if count == 0 or count == window:
        ints[WINDOW_STEPS] = 1
        reals[T_WINDOW] = reals[T]
        reals[H_WINDOW] = present_step(reals)
        reals[SPENT_WINDOW] = spent(ints)
        for i in range(v.shape[1]):
            v[first, i] = v[Y, i]
            v[first + 1, i] = v[F, i]
    return pays


@compiled
def explicit_pays(ints: Ints, reals: Floats) -> bool:
    """Count the implicit step just made; whether the explicit method promises to be cheaper."""
    if ints[WINDOW_STEPS] == 0:
        reals[T_WINDOW] = reals[T] - reals[H_STEP]
        reals[FORESEEN] = 0.0
    ints[WINDOW_STEPS] += 1
    steps = max(reals[EXPLICIT_SHARE], reals[H_STEP] * reals[LARGEST_EIGENVALUE] / reals[EXPLICIT_REACH])
    reals[FORESEEN] += steps * reals[EXPLICIT_PRICE]
    if ints[WINDOW_STEPS] < IMPLICIT_WINDOW:
        return False
    price = spent(ints) - reals[SPENT_WINDOW]
    time = reals[T] - reals[T_WINDOW]
    reals[STEP_PRICE] = price / IMPLICIT_WINDOW
    reals[SPENT_WINDOW] = spent(ints)
    ints[WINDOW_STEPS] = 0
    return cheaper(ints, reals, price / time, reals[FORESEEN] / time)


@compiled
def cheaper(ints: Ints, reals: Floats, pace: float, promised: float) -> bool:
    """Whether the other method promises to be cheaper, and a change is due."""
    reals[PACE] = pace
    pays: bool = GAIN * promised < pace and spent(ints) >= reals[SPENT_LEAST]
    return pays


@entry
def change(run: Arrays) -> int:
    """Begin with another method; what the one before lost against the one before that delays the next change.

    Changes fall on windows that were dear by chance, so the pace to compare with is not above the mean.
    """
    _, ints, reals, _, _, _, _, _, _, _, _ = run
    price = spent(ints) - reals[SPENT_STINT]
    time = reals[T] - reals[T_STINT]
    loss = max(0.0, price - reals[PACE_BEFORE] * time) if reals[PACE_BEFORE] > 0.0 else 0.0
    reals[SPENT_LEAST] = spent(ints) + loss / LOST
    reals[PACE_BEFORE] = min(reals[PACE], price / time) if time > 0.0 else reals[PACE]
    reals[SPENT_STINT] = spent(ints)
    reals[SPENT_WINDOW] = spent(ints)
    reals[T_STINT] = reals[T]
    reals[LARGEST_EIGENVALUE] = 0.0
    ints[STIFF_COUNT] = 0
    ints[EIGENVALUE_AGE] = 0
    ints[WINDOW_STEPS] = 0
    return 0
