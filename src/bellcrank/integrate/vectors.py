"""What every method does with state vectors: load, store, measure, project, interpolate."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.layout import (
    ATOL,
    CORRECTIONS,
    DENSE,
    DENSE_ROWS,
    EVALUATIONS,
    FROM_HERE,
    MARGIN,
    POSITION_TOLERANCE,
    PROJECT,
    RANK,
    RESIDUAL,
    RHS,
    RTOL,
    STEEPEST,
    F,
    N,
    Y,
)
from bellcrank.program.loops import call, call_at, compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDED = 2e-15
"""Part of a length that is lost to rounding in a step."""
SEEN = 1e-6
"""Part of a length below which its roundings show in differences of rates."""


@compiled
def load(x: Floats, t: float, v: Floats, row: int) -> None:
    """x = [t, v[row], p]."""
    x[0] = t
    for i in range(v.shape[1]):
        x[1 + i] = v[row, i]


@compiled
def store(x: Floats, v: Floats, row: int) -> None:
    """v[row] = the state in x."""
    for i in range(v.shape[1]):
        v[row, i] = x[1 + i]


@compiled
def rates(addresses: Ints, ints: Ints, x: Floats, v: Floats, row: int) -> None:
    """v[row] = f(x)."""
    call_at(addresses[RHS], x, 0, v, row * v.shape[1])
    ints[EVALUATIONS] += 1


@compiled
def allowed(reals: Floats, v: Floats, i: int, a: int, b: int) -> float:
    """The error allowed in an entry: atol + rtol * max(|v[a]|, |v[b]|).

    Lengths count from where the step begins, so that it does not matter where the origin is but for rounding.
    """
    here = v[FROM_HERE, i] * v[Y, i]
    farther = max(abs(v[a, i] - here), abs(v[b, i] - here))
    error: float = v[ATOL, i] + reals[RTOL] * farther + ROUNDED * abs(here)
    return error


@compiled
def magnitude(reals: Floats, v: Floats, i: int) -> float:
    """Magnitude of an entry: for a length the size of its body, which its absolute tolerance holds; never less than
    its rounding."""
    y: float = abs(v[Y, i])
    if v[FROM_HERE, i] != 0.0:
        y = max(v[ATOL, i] / reals[RTOL], SEEN * y)
    return y


@compiled
def scaled_norm(reals: Floats, v: Floats, row: int, a: int, b: int) -> float:
    """Root mean square of v[row] over the error allowed by two states."""
    n = v.shape[1]
    total = 0.0
    for i in range(n):
        ratio = v[row, i] / allowed(reals, v, i, a, b)
        total += ratio * ratio
    return math.sqrt(total / max(n, 1))


@compiled
def project(addresses: Ints, ints: Ints, reals: Floats, x: Floats, corrected: Floats) -> bool:
    """Newton corrections of the state in x until the constraints hold; False where they do not.

    The kernel gives the residual before its correction, so a call confirms the one before it. The correction of the
    confirming call is taken all the same, it costs nothing and normalises the quaternions. What a correction leaves
    is of second order: where the product of the move with the residual, and with itself, is far below the tolerance,
    nothing is left to confirm. Near a singular position a residual is small for its move: there the tolerance
    counts as many times less as it is smaller than elsewhere, and a state once confirmed is left as it is.
    """
    if addresses[PROJECT] == 0:
        return True
    n = ints[N]
    for k in range(ints[CORRECTIONS]):
        call(addresses[PROJECT], x, corrected)
        move = 0.0
        for i in range(n):
            move = max(move, abs(corrected[i] - x[1 + i]))
        residual = corrected[n]
        reals[RESIDUAL] = residual
        reals[MARGIN] = corrected[n + 1]
        reals[RANK] = corrected[n + 2]
        reals[STEEPEST] = max(reals[STEEPEST], min(residual / max(move, 1e-300), 1e300))
        closed = residual <= reals[POSITION_TOLERANCE]
        allowed = 0.1 * reals[POSITION_TOLERANCE]
        flat = residual < 0.05 * reals[STEEPEST] * move
        if flat:
            allowed *= residual / (reals[STEEPEST] * move)
        small = move * max(move, residual) <= allowed
        if closed and flat and not small and k > 0:
            return True
        for i in range(n):
            x[1 + i] = corrected[i]
        if small or (closed and not flat):
            return True
        if not math.isfinite(residual):
            return False
    return False


@compiled
def interpolate(ints: Ints, x: Floats, v: Floats, theta: float) -> None:
    """State in x = the dense output at the fraction theta of the step.

    y(theta) = y + theta (d0 + (1-theta) (d1 + theta (d2 + (1-theta) (d3 + ...)))), the nested form of Hairer,
    Norsett, Wanner, "Solving Ordinary Differential Equations I", II.6; every method here brings its
    polynomial into it.
    """
    n = v.shape[1]
    rows = ints[DENSE_ROWS]
    for i in range(n):
        x[1 + i] = 0.0
    for k in range(rows - 1, -1, -1):
        factor = theta if k % 2 == 0 else 1.0 - theta
        for i in range(n):
            x[1 + i] = (x[1 + i] + v[DENSE + k, i]) * factor
    for i in range(n):
        x[1 + i] += v[Y, i]


@compiled
def hermite(v: Floats, h: float, f_new: int, y_new: int) -> None:
    """The first three rows of the dense output: values and slopes at both ends."""
    for i in range(v.shape[1]):
        difference = v[y_new, i] - v[Y, i]
        d1 = h * v[F, i] - difference
        v[DENSE, i] = difference
        v[DENSE + 1, i] = d1
        v[DENSE + 2, i] = difference - h * v[f_new, i] - d1
