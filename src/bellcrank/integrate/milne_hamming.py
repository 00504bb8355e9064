"""Milne's predictor and Hamming's corrector: order 4, with their modifiers 5, two evaluations a step.

Source: Hamming, "Stable predictor-corrector methods for ordinary differential equations", J. ACM 6 (1959)
37-47; the method with which Ahn and Lee (1994) integrate their independent coordinates. With p, m, c the predicted,
modified and corrected states:

    p = y[-3] + 4h/3 (2 f[0] - f[-1] + 2 f[-2])
    m = p - 112/121 (p - c of the last step)
    c = (9 y[0] - y[-2]) / 8 + 3h/8 (f(m) + 2 f[0] - f[-1])
    y[1] = c + 9/121 (p - c),   error 9/121 (p - c)

Predictor and corrector alone are of order 4: they leave 112/360 and -9/360 of h^5 times the fifth derivative. Their
difference is 121/360 of it, which the two modifiers take off, so that the local error is O(h^6) and the method as a
whole of order 5; the error that controls the step is still that of the corrector.

The step is halved when the error is too large, with the values between from the interpolation formulas of
the code HPCG of the IBM Scientific Subroutine Package, and doubled when it is below a fiftieth. The first
three steps, and a step cut short by a stop, are made by the classical Runge-Kutta method, once and in two
halves, extrapolated. The dense output is of degree 5: states and rates at both ends and one step back (after
a Runge-Kutta step: at its middle).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.arrays import Arrays
from bellcrank.integrate.integrator import Integrator
from bellcrank.integrate.layout import (
    DENSE,
    DENSE_ROWS,
    F_NEW,
    FIXED,
    HEAD,
    HISTORY,
    LEAPING,
    MAX_STEP,
    OWN,
    SCANNING,
    T_STOP,
    TROUBLE,
    WORK,
    Y_NEW,
    F,
    H,
    N,
    T,
    Y,
)
from bellcrank.integrate.scan import AGAIN, scan
from bellcrank.integrate.sources import AHN_LEE, HAMMING
from bellcrank.integrate.steps import (
    CHANGE_POINT,
    DONE,
    GO_ON,
    NOT_FINITE,
    accept,
    again,
    close_step,
    move_on,
    plan_step,
    reject,
)
from bellcrank.integrate.vectors import hermite, project, rates, scaled_norm
from bellcrank.program.loops import compiled, entry

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RING = 8
YS = OWN  # ring of past states
FS = OWN + RING  # ring of past rates
GAP = OWN + 2 * RING  # p - c of the last step
GAP_NEW = GAP + 1
PREDICTED = GAP + 2
HALF = GAP + 3  # two states and two rates between past ones; the middle of a Runge-Kutta step
STAGE = GAP + 7
SUM = GAP + 8
DOUBLING = 0.02


@compiled
def runge_kutta(
    addresses: Ints, ints: Ints, x: Floats, v: Floats, t: float, h: float, y: int, f: int, target: int
) -> None:
    """v[target] = one classical Runge-Kutta step from the state y with the rates f."""
    n = v.shape[1]
    for i in range(n):
        v[SUM, i] = v[f, i] / 6.0
        v[STAGE, i] = v[f, i]
    for k in range(3):
        reach = h if k == 2 else 0.5 * h
        x[0] = t + reach
        for i in range(n):
            x[1 + i] = v[y, i] + reach * v[STAGE, i]
        rates(addresses, ints, x, v, STAGE)
        weight = 1.0 / 6.0 if k == 2 else 1.0 / 3.0
        for i in range(n):
            v[SUM, i] += weight * v[STAGE, i]
    for i in range(n):
        v[target, i] = v[y, i] + h * v[SUM, i]


@compiled
def extrapolated_step(addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, h: float) -> None:
    """State in x after a step in two halves, extrapolated; the error in GAP_NEW, the middle in HALF."""
    for k in range(3):
        # The whole step, then the two halves.
        second = k == 2
        size = h if k == 0 else 0.5 * h
        begun = reals[T] + 0.5 * h if second else reals[T]
        target = PREDICTED if k == 0 else HALF + k - 1
        runge_kutta(
            addresses, ints, x, v, begun, size, HALF if second else Y, HALF + 2 if second else F, target
        )
        if k == 1:
            x[0] = reals[T] + 0.5 * h
            for i in range(v.shape[1]):
                x[1 + i] = v[HALF, i]
            rates(addresses, ints, x, v, HALF + 2)
    for i in range(v.shape[1]):
        v[GAP_NEW, i] = (v[HALF + 1, i] - v[PREDICTED, i]) / 15.0
        x[1 + i] = v[HALF + 1, i] + v[GAP_NEW, i]


@compiled
def predictor_corrector(addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, h: float) -> None:
    """State in x after one step by Hamming's method; p - c in GAP_NEW."""
    head = ints[HEAD]
    k1 = (head - 1) % RING
    k2 = (head - 2) % RING
    k3 = (head - 3) % RING
    x[0] = reals[T] + h
    for i in range(v.shape[1]):
        p = v[YS + k3, i] + 4.0 * h / 3.0 * (2.0 * v[FS + head, i] - v[FS + k1, i] + 2.0 * v[FS + k2, i])
        v[PREDICTED, i] = p
        x[1 + i] = p - 112.0 / 121.0 * v[GAP, i]
    rates(addresses, ints, x, v, STAGE)
    for i in range(v.shape[1]):
        c = (9.0 * v[YS + head, i] - v[YS + k2, i]) / 8.0
        c += 0.375 * h * (v[STAGE, i] + 2.0 * v[FS + head, i] - v[FS + k1, i])
        v[GAP_NEW, i] = v[PREDICTED, i] - c
        x[1 + i] = c + 9.0 / 121.0 * v[GAP_NEW, i]


@compiled
def halve(
    addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, corrected: Floats, h: float
) -> None:
    """Replace the past by one of half the spacing; exact for polynomials of degree 6."""
    head = ints[HEAD]
    k1 = (head - 1) % RING
    k2 = (head - 2) % RING
    k3 = (head - 3) % RING
    for k in range(2):
        x[0] = reals[T] - (0.5 + k) * h
        for i in range(v.shape[1]):
            y0, y1, y2, y3 = v[YS + head, i], v[YS + k1, i], v[YS + k2, i], v[YS + k3, i]
            f0, f1, f2 = v[FS + head, i], v[FS + k1, i], v[FS + k2, i]
            if k == 0:
                states = 80.0 * y0 + 135.0 * y1 + 40.0 * y2 + y3
                slopes = -15.0 * f0 + 90.0 * f1 + 15.0 * f2
            else:
                states = 12.0 * y0 + 135.0 * y1 + 108.0 * y2 + y3
                slopes = -3.0 * f0 - 54.0 * f1 + 27.0 * f2
            x[1 + i] = (states + h * slopes) / 256.0
        project(addresses, ints, reals, x, corrected)
        rates(addresses, ints, x, v, HALF + 2 + k)
        for i in range(v.shape[1]):
            v[HALF + k, i] = x[1 + i]
    for i in range(v.shape[1]):
        v[YS + k2, i] = v[YS + k1, i]
        v[FS + k2, i] = v[FS + k1, i]
        v[YS + k1, i] = v[HALF, i]
        v[FS + k1, i] = v[HALF + 2, i]
        v[YS + k3, i] = v[HALF + 1, i]
        v[FS + k3, i] = v[HALF + 3, i]
        # p - c goes with the fifth power of the step.
        v[GAP, i] /= 32.0
    ints[HISTORY] = 3


@compiled
def double(ints: Ints, v: Floats) -> None:
    """Keep every second past value."""
    head = ints[HEAD]
    for k in range(1, 4):
        target = (head - k) % RING
        source = (head - 2 * k) % RING
        for i in range(v.shape[1]):
            v[YS + target, i] = v[YS + source, i]
            v[FS + target, i] = v[FS + source, i]
    for i in range(v.shape[1]):
        v[GAP, i] *= 32.0
    ints[HISTORY] = 3


@compiled
def dense_output(ints: Ints, v: Floats, h: float, middle: bool) -> None:
    """The quintic; d3 and d4 from the state and rate at the middle of the step or one step back."""
    hermite(v, h, F_NEW, Y_NEW)
    back = (ints[HEAD] - 1) % RING
    theta = 0.5 if middle else -1.0
    y = HALF if middle else YS + back
    f = HALF + 2 if middle else FS + back
    for i in range(v.shape[1]):
        d0, d1, d2 = v[DENSE, i], v[DENSE + 1, i], v[DENSE + 2, i]
        inner = d1 + theta * d2
        value = theta * (d0 + (1.0 - theta) * inner)
        slope = d0 + (1.0 - 2.0 * theta) * inner + theta * (1.0 - theta) * d2
        left = v[y, i] - v[Y, i] - value
        left_slope = h * v[f, i] - slope
        if middle:
            d4 = 16.0 * left_slope
            d3 = 16.0 * left - 0.5 * d4
        else:
            d4 = 0.25 * (left_slope + 3.0 * left)
            d3 = 0.25 * left + d4
        v[DENSE + 3, i] = d3
        v[DENSE + 4, i] = d4
    ints[DENSE_ROWS] = 5


@entry
def advance(run: Arrays) -> int:
    """Step until something asks for the interpreter; returns a Status code."""
    addresses, ints, reals, x, v, _, corrected, _, _, _, _ = run
    n = ints[N]
    controlled = ints[FIXED] == 0
    while True:
        if ints[SCANNING] != 0:
            status = scan(run)
            if status == DONE:
                status = move_on(ints, reals, v)
            elif status == AGAIN:
                # The past has the step in it already.
                ints[HISTORY] = 0
                status = again(ints, reals)
                if status != GO_ON:
                    return status
                continue
            if status != GO_ON:
                return status
        if reals[T] >= reals[T_STOP]:
            return DONE

        h = plan_step(reals)
        # A step cut short or stretched by a stop has not the spacing of the past.
        whole = h == reals[H] and ints[LEAPING] != 3
        starting = not whole or ints[HISTORY] < 3
        if ints[HISTORY] == 0:
            ints[HEAD] = 0
            for i in range(n):
                v[YS, i] = v[Y, i]
                v[FS, i] = v[F, i]
                v[GAP, i] = 0.0
        if starting:
            extrapolated_step(addresses, ints, reals, x, v, h)
        else:
            predictor_corrector(addresses, ints, reals, x, v, h)

        error = 2.0
        if close_step(addresses, ints, reals, x, v, corrected):
            for i in range(n):
                v[WORK, i] = v[GAP_NEW, i] * (1.0 if starting else 9.0 / 121.0)
            error = scaled_norm(reals, v, WORK, Y, Y_NEW) if controlled else 0.0
            if not error < math.inf:
                ints[TROUBLE] = NOT_FINITE
        if not error <= 1.0:
            if starting or ints[TROUBLE] == CHANGE_POINT:
                ints[HISTORY] = 0
            else:
                trouble = ints[TROUBLE]
                halve(addresses, ints, reals, x, v, corrected, h)
                ints[TROUBLE] = trouble
            status = reject(ints, reals, h, 0.5)
            if status != GO_ON:
                return status
            continue

        dense_output(ints, v, h, starting)
        if whole:
            ints[HEAD] = (ints[HEAD] + 1) % RING
            ints[HISTORY] += 1
            for i in range(n):
                v[YS + ints[HEAD], i] = v[Y_NEW, i]
                v[FS + ints[HEAD], i] = v[F_NEW, i]
                v[GAP, i] = 0.0 if starting else v[GAP_NEW, i]
            longer = 2.0 * h <= reals[MAX_STEP] and error < DOUBLING and controlled
            if longer and ints[HISTORY] >= 6:
                double(ints, v)
                reals[H] = 2.0 * h
            elif longer and starting and error < 1e-3 * DOUBLING:
                # The first step was far too short: start again from here with a longer one.
                ints[HISTORY] = 0
                reals[H] = 2.0 * h
        else:
            ints[HISTORY] = 0
        accept(ints, reals)


def _arrays(n: int, parameters: int) -> tuple[Ints, Floats]:
    return np.zeros(1, np.int64), np.zeros(1)


METHOD = Integrator(
    name="milne_hamming",
    purpose="predictor-corrector of order 5 by its modifiers, halving and doubling: two evaluations a step",
    sources=(HAMMING, AHN_LEE),
    order=4,
    rows=SUM + 1,
    adaptive=True,
    arrays=_arrays,
    advance=advance,
    stability=0.86,
    spare=SUM,
)
