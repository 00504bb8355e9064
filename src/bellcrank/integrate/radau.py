"""Radau IIA of order 5: implicit, three stages, stiffly accurate, for stiff mechanisms.

Source: Hairer, Wanner, "Solving Ordinary Differential Equations II", IV.8 (RADAU5). With Z the stage
increments and W = T^-1 Z, the Newton system of size 3n falls into a real and a complex one of size n, whose
factors are kept as long as Jacobian and step size stand. Step size: Gustafsson's predictive controller. The
dense output is the collocation polynomial, of order 3; it also predicts the stages of the next step.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.acceleration import KEPT_ROWS, accelerate, kept
from bellcrank.integrate.arrays import Arrays
from bellcrank.integrate.integrator import Integrator
from bellcrank.integrate.jacobian import jacobian, spectral_radius
from bellcrank.integrate.layout import (
    DENSE,
    DENSE_ROWS,
    ERROR_OLD,
    FACTORISATIONS,
    FACTORS_VALID,
    FIXED,
    FORESEEN,
    H_FACTORS,
    H_OLD,
    JACOBIAN_AGE,
    LARGEST_EIGENVALUE,
    LAST_REJECTED,
    NEWTON_RATE,
    OWN,
    RTOL,
    SCANNING,
    SPENT_WINDOW,
    T_STOP,
    TROUBLE,
    WATCH_STIFFNESS,
    WINDOW_STEPS,
    WORK,
    Y_NEW,
    F,
    N,
    T,
    Y,
)
from bellcrank.integrate.linear import factorise, factorise_complex, solve, solve_complex
from bellcrank.integrate.scan import AGAIN, scan
from bellcrank.integrate.sources import HAIRER_2
from bellcrank.integrate.steps import (
    DONE,
    GO_ON,
    NEWTON_FAILED,
    NONSTIFF,
    NOT_FINITE,
    RUNNING,
    accept,
    again,
    close_step,
    move_on,
    next_step,
    plan_step,
    reject,
)
from bellcrank.integrate.stiffness import IMPLICIT_WINDOW, explicit_pays, spent
from bellcrank.integrate.vectors import allowed, rates, scaled_norm
from bellcrank.program.loops import compiled, entry, matrix

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

C1 = (4.0 - math.sqrt(6.0)) / 10.0
C2 = (4.0 + math.sqrt(6.0)) / 10.0
E1 = (-13.0 - 7.0 * math.sqrt(6.0)) / 3.0
E2 = (-13.0 + 7.0 * math.sqrt(6.0)) / 3.0
E3 = -1.0 / 3.0
GAMMA = 3.0 + 3.0 ** (2 / 3) - 3.0 ** (1 / 3)
ALPHA = 3.0 + 0.5 * (3.0 ** (1 / 3) - 3.0 ** (2 / 3))
BETA = 0.5 * (3.0 ** (5 / 6) + 3.0 ** (7 / 6))
T11, T12, T13 = 0.09443876248897524, -0.14125529502095421, 0.03002919410514742
T21, T22, T23 = 0.25021312296533332, 0.20412935229379994, -0.38294211275726192
# T31 = T32 = 1, T33 = 0
I11, I12, I13 = 4.17871859155190428, 0.32768282076106237, 0.52337644549944951
I21, I22, I23 = -4.17871859155190428, -0.32768282076106237, 0.47662355450055044
I31, I32, I33 = 0.50287263494578682, -2.57192694985560522, 0.59603920482822492

ITERATIONS = 7
"""Iterations a step is meant to need at most."""
PATIENCE = 14
"""Iterations after which a step is given up."""
DIVERGING = 100.0
"""Growth of the corrections, over the smallest so far, at which a step is given up. They need not fall evenly."""

Z = OWN
W = OWN + 3
D = OWN + 6


@compiled
def predict(reals: Floats, v: Floats, h: float) -> None:
    """Stage increments from the polynomial of the last step, or zero after a restart."""
    ratio = h / reals[H_OLD] if reals[H_OLD] > 0.0 else 0.0
    for k in range(3):
        c = C1 if k == 0 else (C2 if k == 1 else 1.0)
        theta = 1.0 + c * ratio
        for i in range(v.shape[1]):
            v[Z + k, i] = 0.0
            if ratio > 0.0:
                d0 = v[DENSE, i]
                inner = v[DENSE + 1, i] + theta * v[DENSE + 2, i]
                v[Z + k, i] = theta * (d0 + (1.0 - theta) * inner) - d0
    for i in range(v.shape[1]):
        z1, z2, z3 = v[Z, i], v[Z + 1, i], v[Z + 2, i]
        v[W, i] = I11 * z1 + I12 * z2 + I13 * z3
        v[W + 1, i] = I21 * z1 + I22 * z2 + I23 * z3
        v[W + 2, i] = I31 * z1 + I32 * z2 + I33 * z3


@compiled
def collocate(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    real: Floats,
    complex_re: Floats,
    complex_im: Floats,
    pivots: Ints,
    memory: Floats,
    h: float,
) -> int:
    """Simplified Newton iteration for the stages, accelerated; the number of iterations, 0 where it does not converge.

    A fixed step cannot be shortened to help the iteration, so there it is given more time.
    """
    n = v.shape[1]
    rtol = reals[RTOL]
    tolerance = max(2.2e-15 / rtol, min(0.03, math.sqrt(rtol)))
    norm_old = 0.0
    smallest = 0.0
    limit = PATIENCE if ints[FIXED] == 0 else 5 * PATIENCE
    known = -1
    for iteration in range(1, limit + 1):
        for k in range(3):
            c = C1 if k == 0 else (C2 if k == 1 else 1.0)
            x[0] = reals[T] + c * h
            for i in range(n):
                x[1 + i] = v[Y, i] + v[Z + k, i]
            rates(addresses, ints, x, v, D + k)
        for i in range(n):
            f1, f2, f3 = v[D, i], v[D + 1, i], v[D + 2, i]
            w1, w2, w3 = v[W, i], v[W + 1, i], v[W + 2, i]
            v[D, i] = I11 * f1 + I12 * f2 + I13 * f3 - GAMMA / h * w1
            v[D + 1, i] = I21 * f1 + I22 * f2 + I23 * f3 - (ALPHA * w2 + BETA * w3) / h
            v[D + 2, i] = I31 * f1 + I32 * f2 + I33 * f3 - (ALPHA * w3 - BETA * w2) / h
        solve(real, pivots, 1, v, D)
        solve_complex(complex_re, complex_im, pivots, 1 + n, v, D + 1)
        known = accelerate(reals, v, memory, D, 3, known)
        total = 0.0
        for i in range(n):
            scale = allowed(reals, v, i, Y, Y)
            total += (v[D, i] / scale) ** 2 + (v[D + 1, i] / scale) ** 2 + (v[D + 2, i] / scale) ** 2
        norm = math.sqrt(total / (3 * max(n, 1)))
        if not norm < math.inf:
            ints[TROUBLE] = NOT_FINITE
            return 0
        rate = norm / norm_old if norm_old > 0.0 else 0.0
        smallest = min(smallest, norm) if iteration > 1 else norm
        if norm > DIVERGING * smallest:
            return 0
        for i in range(n):
            w1 = v[W, i] + v[D, i]
            w2 = v[W + 1, i] + v[D + 1, i]
            w3 = v[W + 2, i] + v[D + 2, i]
            v[W, i] = w1
            v[W + 1, i] = w2
            v[W + 2, i] = w3
            v[Z, i] = T11 * w1 + T12 * w2 + T13 * w3
            v[Z + 1, i] = T21 * w1 + T22 * w2 + T23 * w3
            v[Z + 2, i] = w1 + w2
        if norm == 0.0 or (iteration > 1 and rate < 1.0 and rate / (1.0 - rate) * norm < tolerance):
            reals[NEWTON_RATE] = rate
            return iteration
        norm_old = norm
    return 0


@compiled
def dense_output(v: Floats) -> None:
    """The collocation polynomial in nested form: through the ends and the two inner stages."""
    for i in range(v.shape[1]):
        d0 = v[Y_NEW, i] - v[Y, i]
        r1 = (v[Z, i] / C1 - d0) / (1.0 - C1)
        r2 = (v[Z + 1, i] / C2 - d0) / (1.0 - C2)
        d2 = (r2 - r1) / (C2 - C1)
        v[DENSE, i] = d0
        v[DENSE + 1, i] = r1 - C1 * d2
        v[DENSE + 2, i] = d2


@compiled
def interpolation_error(reals: Floats, v: Floats, h: float) -> float:
    """Scaled error of the dense output of this step.

    In the stiff limit the estimate at the end of the step vanishes like 1 / (h * eigenvalue), and the step
    would outgrow what a cubic can follow. The state one step back, Y - (first dense row of the last step),
    is held against the new polynomial: their difference over w(theta) = theta (theta-c1) (theta-c2)
    (theta-1) is the coefficient of degree 4, and |w| < 0.02 within the step. Overwrites the third row of D.
    """
    theta = -reals[H_OLD] / h
    w = theta * (theta - C1) * (theta - C2) * (theta - 1.0)
    for i in range(v.shape[1]):
        d0 = v[Y_NEW, i] - v[Y, i]
        r1 = (v[Z, i] / C1 - d0) / (1.0 - C1)
        r2 = (v[Z + 1, i] / C2 - d0) / (1.0 - C2)
        slope = (r2 - r1) / (C2 - C1)
        back = theta * (d0 + (1.0 - theta) * (r1 + (theta - C1) * slope))
        v[D + 2, i] = 0.02 * (-v[DENSE, i] - back) / w
    return scaled_norm(reals, v, D + 2, Y, Y_NEW)


@compiled
def error_norm(
    addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, real: Floats, pivots: Ints, h: float
) -> float:
    """The scaled local error: an embedded formula of order 3, filtered by the real factors; left in WORK."""
    n = v.shape[1]
    again = False
    while True:
        for i in range(n):
            embedded = (E1 * v[Z, i] + E2 * v[Z + 1, i] + E3 * v[Z + 2, i]) / h
            v[WORK, i] = (v[D, i] if again else v[F, i]) + embedded
        solve(real, pivots, 1, v, WORK)
        error = scaled_norm(reals, v, WORK, Y, Y_NEW)
        # After a rejection or a restart the estimate is too large in stiff components: filter it once more.
        if again or error <= 1.0 or not (ints[LAST_REJECTED] != 0 or reals[H_OLD] == 0.0):
            return error
        again = True
        x[0] = reals[T]
        for i in range(n):
            x[1 + i] = v[Y, i] + v[WORK, i]
        rates(addresses, ints, x, v, D)


@entry
def advance(run: Arrays) -> int:
    """Step until something asks for the interpreter; returns a Status code."""
    addresses, ints, reals, x, v, _, corrected, _, _, pivots, own = run
    n = ints[N]
    jac = matrix(own, 0, n, n)
    real = matrix(own, n * n, n, n)
    complex_re = matrix(own, 2 * n * n, n, n)
    complex_im = matrix(own, 3 * n * n, n, n)
    parameters = pivots[0]
    wide = matrix(own, 4 * n * n, 2, 2 * (1 + n + parameters))
    memory = matrix(own, 4 * n * n + 4 * (1 + n + parameters), KEPT_ROWS, 3 * n)
    controlled = ints[FIXED] == 0
    watched = ints[WATCH_STIFFNESS] != 0
    while True:
        if ints[SCANNING] != 0:
            status = scan(run)
            if status == DONE:
                status = move_on(ints, reals, v)
            elif status == AGAIN:
                status = again(ints, reals)
                if status != GO_ON:
                    return status
                continue
            going = True if status == RUNNING else status == GO_ON
            if going and watched and explicit_pays(ints, reals):
                status = NONSTIFF
            if status != GO_ON:
                return status
        if reals[T] >= reals[T_STOP]:
            return DONE

        h = plan_step(reals)
        # Before an explicit method is asked for, the largest eigenvalue must be one of the present.
        half = watched and ints[WINDOW_STEPS] == IMPLICIT_WINDOW // 2 and ints[JACOBIAN_AGE] != 1
        stale = half and reals[FORESEEN] < spent(ints) - reals[SPENT_WINDOW]
        if ints[JACOBIAN_AGE] == 0 or stale:
            jacobian(addresses, ints, reals, x, v, jac, wide, parameters)
            ints[FACTORS_VALID] = 0
            if watched:
                reals[LARGEST_EIGENVALUE] = spectral_radius(v, jac, D, D + 1)
        if ints[FACTORS_VALID] == 0 or reals[H_FACTORS] != h:
            for i in range(n):
                for j in range(n):
                    real[i, j] = -jac[i, j]
                    complex_re[i, j] = -jac[i, j]
                    complex_im[i, j] = 0.0
                real[i, i] += GAMMA / h
                complex_re[i, i] += ALPHA / h
                complex_im[i, i] -= BETA / h
            regular = factorise(real, pivots, 1) and factorise_complex(complex_re, complex_im, pivots, 1 + n)
            ints[FACTORISATIONS] += 1
            ints[FACTORS_VALID] = 1 if regular else 0
            reals[H_FACTORS] = h

        ints[TROUBLE] = NEWTON_FAILED
        iterations = 0
        if ints[FACTORS_VALID] != 0:
            predict(reals, v, h)
            iterations = collocate(
                addresses, ints, reals, x, v, real, complex_re, complex_im, pivots, memory, h
            )
        if iterations == 0:
            if ints[JACOBIAN_AGE] == 2:
                ints[JACOBIAN_AGE] = 0
                continue
            status = reject(ints, reals, h, 0.5)
            if status != GO_ON:
                return status
            continue

        for i in range(n):
            x[1 + i] = v[Y, i] + v[Z + 2, i]
        error = 2.0
        factor = 0.2
        if close_step(addresses, ints, reals, x, v, corrected):
            error = error_norm(addresses, ints, reals, x, v, real, pivots, h) if controlled else 0.0
            if controlled and reals[H_OLD] > 0.0:
                error = max(error, interpolation_error(reals, v, h))
            if error < math.inf:
                safety = 0.9 * (2 * ITERATIONS + 1) / (2 * ITERATIONS + min(iterations, ITERATIONS))
                sized = max(error, 1e-12)
                predicted = 1.0
                if reals[H_OLD] > 0.0:
                    predicted = min(1.0, h / reals[H_OLD] * (reals[ERROR_OLD] / sized) ** 0.25)
                factor = min(8.0, max(0.2, safety * predicted * sized**-0.25))
            else:
                ints[TROUBLE] = NOT_FINITE
        if not error <= 1.0:
            status = reject(ints, reals, h, min(factor, 0.9))
            if status != GO_ON:
                return status
            continue

        renew = iterations > 2 and reals[NEWTON_RATE] > 1e-3
        ints[JACOBIAN_AGE] = 0 if renew else 2
        if controlled:
            # A small gain is not worth new factors.
            if not renew and 1.0 <= factor < 1.2:
                factor = 1.0
            next_step(ints, reals, h * factor)
            reals[ERROR_OLD] = max(error, 1e-2)
        dense_output(v)
        ints[DENSE_ROWS] = 3
        accept(ints, reals)


def _arrays(n: int, parameters: int) -> tuple[Ints, Floats]:
    pivots = np.zeros(1 + 2 * n, np.int64)
    pivots[0] = parameters
    return pivots, np.zeros(4 * n * n + 4 * (1 + n + parameters) + kept(n, 3))


METHOD = Integrator(
    name="radau",
    purpose="implicit, order 5, adaptive: for stiff mechanisms",
    sources=(HAIRER_2,),
    implicit=True,
    order=5,
    rows=OWN + 9,
    adaptive=True,
    arrays=_arrays,
    advance=advance,
)
