"""The Jacobian of the rates: from its kernel, from directional derivatives, or by differences."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.layout import EVALUATIONS, JACOBIAN, JACOBIAN_AGE, JACOBIANS, TANGENT, WORK, F, T, Y
from bellcrank.integrate.vectors import load, rates
from bellcrank.program.loops import call, compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@compiled
def differences(addresses: Ints, ints: Ints, x: Floats, v: Floats, jac: Floats, j: int) -> None:
    """A column of the Jacobian by differences; Hairer, Wanner, "Solving Ordinary Differential Equations II", IV.8."""
    step = math.sqrt(2.2e-16 * max(1e-5, abs(v[Y, j])))
    x[1 + j] = v[Y, j] + step
    step = x[1 + j] - v[Y, j]
    rates(addresses, ints, x, v, WORK)
    x[1 + j] = v[Y, j]
    for i in range(v.shape[1]):
        jac[i, j] = (v[WORK, i] - v[F, i]) / step


@compiled
def jacobian(
    addresses: Ints,
    ints: Ints,
    reals: Floats,
    x: Floats,
    v: Floats,
    jac: Floats,
    wide: Floats,
    parameters: int,
) -> None:
    """jac = d(rates)/dy at the start of the step. Overwrites WORK.

    `wide` is the scratch of the directional derivative: its input [t, y, p, dt, dy, dp], then its output. Columns that
    are not numbers are taken by differences of the rates: where a shape is flat, as a superellipsoid at its poles, its
    contact point has no derivative though the force has.
    """
    n = v.shape[1]
    load(x, reals[T], v, Y)
    if addresses[JACOBIAN] != 0:
        call(addresses[JACOBIAN], x, jac)
    elif addresses[TANGENT] != 0:
        half = 1 + n + parameters
        for i in range(half):
            wide[0, i] = x[i]
            wide[0, half + i] = 0.0
        for j in range(n):
            wide[0, half + 1 + j] = 1.0
            call(addresses[TANGENT], wide[0], wide[1])
            wide[0, half + 1 + j] = 0.0
            # One sum instead of n tests: infinities and not-a-numbers survive a multiplication by zero.
            total = 0.0
            for i in range(n):
                jac[i, j] = wide[1, n + i]
                total += 0.0 * wide[1, n + i]
            if total != 0.0:
                differences(addresses, ints, x, v, jac, j)
        ints[EVALUATIONS] += n
    else:
        for j in range(n):
            differences(addresses, ints, x, v, jac, j)
    ints[JACOBIANS] += 1
    ints[JACOBIAN_AGE] = 1


@compiled
def spectral_radius(v: Floats, jac: Floats, a: int, b: int) -> float:
    """Size of the largest eigenvalue, roughly, by the growth of powers; overwrites the rows a and b of v.

    The mean growth over an even number of products also serves for complex pairs, around which a single
    growth swings.
    """
    n = v.shape[1]
    for i in range(n):
        v[a, i] = 1.0 + 0.1 * (i % 7)
    logarithm = 0.0
    for k in range(12):
        size = 0.0
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += jac[i, j] * v[a, j]
            v[b, i] = total
            size += total * total
        size = math.sqrt(size)
        if not 0.0 < size < math.inf:
            return 0.0
        if k >= 4:
            logarithm += math.log(size)
        for i in range(n):
            v[a, i] = v[b, i] / size
    return math.exp(logarithm / 8.0)
