"""Generalised-alpha for first-order systems: implicit, order 2, with numerical damping by choice.

Source: Jansen, Whiting, Hulbert, "A generalized-alpha method for integrating the filtered Navier-Stokes
equations", Comput. Methods Appl. Mech. Engrg. 190 (2000) 305-319:

    (1 - a_m) v + a_m v' = (1 - a_f) f(t, y) + a_f f(t + h, y'),   y' = y + h ((1 - g) v + g v')
    a_m = (3 - r) / (2 (1 + r)),  a_f = 1 / (1 + r),  g = 1/2 + a_m - a_f

with r the spectral radius at infinite frequency: 1 keeps all vibration, 0 removes what the step cannot
resolve.

Differs in: rates at both ends instead of at the state between them, which is the same for linear equations. There
stiff forces hold the states themselves in place, as in Arnold, Bruels, "Convergence of the generalized-alpha scheme
for constrained mechanical systems", Multibody Syst. Dyn. 18 (2007) 185-202. A state between two of them lies off a
curved path by the square of the step, and each change of the step would strike a stiff spring. As there, the rate at
the start of a step is what the equation of the step before makes it: evaluated, it would be the rounding of the state
times the stiffness.

Variable steps: the auxiliary rate v stands for the rate at t + (a_f - a_m) h, so it is moved when h changes, and set
there at the start; this keeps order 2. The error of a step is C h^3 times the third derivative, with
C = 1/6 - (g a_f + (1 - g)(1 - a_f)) / 2, the constant of the equivalent two-step formula (1/3 for r = 0, which is
BDF2; 1/12 for r = 1), and the third derivative by differences of v. It is filtered by the matrix of the iteration, as
Hairer and Wanner do it for Radau IIA: twice, because once turns errors of position along a stiff direction into speeds
of their size over the step. The dense output is the cubic through the states at both ends with the slopes that v
stands for, which stay smooth where the rates themselves are stiff.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.acceleration import KEPT_ROWS, accelerate, kept
from bellcrank.integrate.arrays import Arrays
from bellcrank.integrate.integrator import Integrator
from bellcrank.integrate.jacobian import jacobian
from bellcrank.integrate.layout import (
    DENSE,
    DENSE_ROWS,
    FACTORISATIONS,
    FACTORS_VALID,
    FIXED,
    H_FACTORS,
    H_OLD,
    HISTORY,
    JACOBIAN_AGE,
    OWN,
    SCANNING,
    SPECTRAL_RADIUS,
    T_STOP,
    TROUBLE,
    WORK,
    Y_NEW,
    F,
    N,
    T,
    Y,
)
from bellcrank.integrate.linear import factorise, solve
from bellcrank.integrate.scan import AGAIN, scan
from bellcrank.integrate.sources import ALPHA
from bellcrank.integrate.steps import (
    DONE,
    GO_ON,
    NEWTON_FAILED,
    NOT_FINITE,
    accept,
    again,
    close_step,
    move_on,
    next_step,
    plan_step,
    reject,
)
from bellcrank.integrate.vectors import rates, scaled_norm
from bellcrank.program.loops import compiled, entry, matrix

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ITERATIONS = 14
"""Iterations after which a step is given up."""
DIVERGING = 100.0
"""Growth of the corrections, over the smallest so far, at which a step is given up. They need not fall evenly."""
NEWTON = 1e-3
"""Error of the iteration allowed, in units of the tolerance."""

DENSE_SHARE = 0.2
"""The error within a step against C h^3 times the third derivative, at most, of all spectral radii.

The slopes at both ends err by -(1/12 + s/2) and -(1/12 - s/2) of h^2 times the third derivative, s = a_f - a_m.
"""

V = OWN  # auxiliary rate, moved to the present step size
V_NEW = OWN + 1
CURVATURE = OWN + 2  # second derivative over the last step
V_LAST = OWN + 3  # auxiliary rate as the last step left it, for its step size
RATE = OWN + 4  # rate at the start of the step, by the equation of the step before


@compiled
def start(addresses: Ints, ints: Ints, reals: Floats, x: Floats, v: Floats, h: float) -> None:
    """Second derivative by a small Euler step, after a restart."""
    small = 1e-3 * h
    x[0] = reals[T] + small
    for i in range(v.shape[1]):
        x[1 + i] = v[Y, i] + small * v[F, i]
    rates(addresses, ints, x, v, CURVATURE)
    for i in range(v.shape[1]):
        v[CURVATURE, i] = (v[CURVATURE, i] - v[F, i]) / small
        v[V_LAST, i] = v[F, i]
        v[RATE, i] = v[F, i]


@compiled
def iterate(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    factors: Floats,
    pivots: Ints,
    memory: Floats,
    h: float,
    a_m: float,
    a_f: float,
    gamma: float,
) -> bool:
    """Simplified Newton iteration for the new auxiliary rate, accelerated; whether it converges."""
    n = v.shape[1]
    old = 0.0
    smallest = math.inf
    known = -1
    for k in range(ITERATIONS):
        x[0] = reals[T] + h
        for i in range(n):
            x[1 + i] = v[Y, i] + h * ((1.0 - gamma) * v[V, i] + gamma * v[V_NEW, i])
        rates(addresses, ints, x, v, WORK)
        for i in range(n):
            v[WORK, i] = (1.0 - a_f) * v[RATE, i] + a_f * v[WORK, i]
            v[WORK, i] -= (1.0 - a_m) * v[V, i] + a_m * v[V_NEW, i]
        solve(factors, pivots, 1, v, WORK)
        known = accelerate(reals, v, memory, WORK, 1, known)
        for i in range(n):
            v[V_NEW, i] += v[WORK, i]
        size = gamma * h * scaled_norm(reals, v, WORK, Y, Y)
        if not size < math.inf:
            ints[TROUBLE] = NOT_FINITE
            return False
        rate = size / old if old > 0.0 else 0.0
        if size <= 1e-3 * NEWTON or (k > 0 and rate < 1.0 and rate / (1.0 - rate) * size <= NEWTON):
            # Slow convergence: the next step gets a Jacobian of its own.
            if rate > 0.1:
                ints[JACOBIAN_AGE] = 0
            return True
        smallest = min(smallest, size)
        if size > DIVERGING * smallest:
            return False
        old = size
    return False


@compiled
def dense_output(v: Floats, h: float, shift: float) -> None:
    """The cubic in nested form; v stands for the slope a fraction `shift` of the step later."""
    for i in range(v.shape[1]):
        difference = v[Y_NEW, i] - v[Y, i]
        bend = shift * (v[V_NEW, i] - v[V, i])
        d1 = h * (v[V, i] - bend) - difference
        v[DENSE, i] = difference
        v[DENSE + 1, i] = d1
        v[DENSE + 2, i] = difference - h * (v[V_NEW, i] - bend) - d1


@entry
def advance(run: Arrays) -> int:
    """Step until something asks for the interpreter; returns a Status code."""
    addresses, ints, reals, x, v, _, corrected, _, _, pivots, own = run
    n = ints[N]
    jac = matrix(own, 0, n, n)
    factors = matrix(own, n * n, n, n)
    parameters = pivots[0]
    wide = matrix(own, 2 * n * n, 2, 2 * (1 + n + parameters))
    memory = matrix(own, 2 * n * n + 4 * (1 + n + parameters), KEPT_ROWS, n)
    controlled = ints[FIXED] == 0
    r = reals[SPECTRAL_RADIUS]
    a_m = 0.5 * (3.0 - r) / (1.0 + r)
    a_f = 1.0 / (1.0 + r)
    gamma = 0.5 + a_m - a_f
    constant = abs(1.0 / 6.0 - 0.5 * (gamma * a_f + (1.0 - gamma) * (1.0 - a_f)))
    while True:
        if ints[SCANNING] != 0:
            status = scan(run)
            if status == DONE:
                status = move_on(ints, reals, v)
            elif status == AGAIN:
                # The auxiliary rates are those of its end already.
                ints[HISTORY] = 0
                reals[H_OLD] = 0.0
                status = again(ints, reals)
                if status != GO_ON:
                    return status
                continue
            if status != GO_ON:
                return status
        if reals[T] >= reals[T_STOP]:
            return DONE

        h = plan_step(reals)
        if ints[HISTORY] == 0:
            start(addresses, ints, reals, x, v, h)
            ints[HISTORY] = 1
        last = reals[H_OLD]
        for i in range(n):
            v[V, i] = v[V_LAST, i] + (a_f - a_m) * (h - last) * v[CURVATURE, i]
            v[V_NEW, i] = v[V, i] + h * v[CURVATURE, i]
        if ints[JACOBIAN_AGE] == 0:
            jacobian(addresses, ints, reals, x, v, jac, wide, parameters)
            ints[FACTORS_VALID] = 0
        if ints[FACTORS_VALID] == 0 or reals[H_FACTORS] != h:
            for i in range(n):
                for j in range(n):
                    factors[i, j] = -a_f * gamma * h * jac[i, j]
                factors[i, i] += a_m
            ints[FACTORISATIONS] += 1
            ints[FACTORS_VALID] = 1 if factorise(factors, pivots, 1) else 0
            reals[H_FACTORS] = h

        age = ints[JACOBIAN_AGE]
        ints[TROUBLE] = NEWTON_FAILED
        solved = ints[FACTORS_VALID] != 0 and iterate(
            addresses, ints, reals, x, v, factors, pivots, memory, h, a_m, a_f, gamma
        )
        if not solved:
            if age == 2:
                ints[JACOBIAN_AGE] = 0
                continue
            status = reject(ints, reals, h, 0.5)
            if status != GO_ON:
                return status
            continue

        for i in range(n):
            x[1 + i] = v[Y, i] + h * ((1.0 - gamma) * v[V, i] + gamma * v[V_NEW, i])
        error = 2.0
        factor = 0.2
        if close_step(addresses, ints, reals, x, v, corrected):
            for i in range(n):
                third = 2.0 * ((v[V_NEW, i] - v[V, i]) / h - v[CURVATURE, i]) / (h + last)
                v[WORK, i] = constant * a_m * a_m * h**3 * third
            if controlled:
                dense = DENSE_SHARE / (a_m * a_m) * scaled_norm(reals, v, WORK, Y, Y_NEW)
                solve(factors, pivots, 1, v, WORK)
                solve(factors, pivots, 1, v, WORK)
                error = max(dense, scaled_norm(reals, v, WORK, Y, Y_NEW))
            else:
                error = 0.0
            if error < math.inf:
                factor = min(4.0, max(0.2, 0.9 * max(error, 1e-12) ** (-1.0 / 3.0)))
            else:
                ints[TROUBLE] = NOT_FINITE
        if not error <= 1.0:
            status = reject(ints, reals, h, min(factor, 0.9))
            if status != GO_ON:
                return status
            continue

        for i in range(n):
            v[CURVATURE, i] = (v[V_NEW, i] - v[V, i]) / h
            v[V_LAST, i] = v[V_NEW, i]
            combined = (1.0 - a_m) * v[V, i] + a_m * v[V_NEW, i]
            v[RATE, i] = (combined - (1.0 - a_f) * v[RATE, i]) / a_f
        if ints[JACOBIAN_AGE] == 1:
            ints[JACOBIAN_AGE] = 2
        if controlled:
            # A small gain is not worth new factors.
            next_step(ints, reals, h if 1.0 <= factor < 1.2 else h * factor)
        dense_output(v, h, a_f - a_m)
        ints[DENSE_ROWS] = 3
        accept(ints, reals)


def _arrays(n: int, parameters: int) -> tuple[Ints, Floats]:
    pivots = np.zeros(1 + n, np.int64)
    pivots[0] = parameters
    return pivots, np.zeros(2 * n * n + 4 * (1 + n + parameters) + kept(n, 1))


METHOD = Integrator(
    name="generalised_alpha",
    purpose="implicit, order 2, numerical damping by choice: for structural vibration",
    sources=(ALPHA,),
    implicit=True,
    order=2,
    rows=OWN + 5,
    adaptive=True,
    arrays=_arrays,
    advance=advance,
)
