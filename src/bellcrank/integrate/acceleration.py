"""Anderson's acceleration of a simplified Newton iteration.

The iteration keeps the Jacobian of the start of the step. A stiff force whose direction turns meanwhile by an angle a
leaves h^2 k a / m of itself to each next iterate, so that plain iterations converge only for steps of the order of
(m / k w)^(1/3), w the rate of turning, however slow the motion is (Lubich, "Integration of stiff mechanical systems by
Runge-Kutta methods", ZAMP 44 (1993) 1022-1053). What the Jacobian lacks has low rank, a few directions for every such
force: an iterate that combines the corrections before it, to make the next one as small as they allow, finds them.

Source: Walker, Ni, "Anderson acceleration for fixed-point iterations", SIAM J. Numer. Anal. 49 (2011) 1715-1735. With
the differences of the corrections as Q R, what is kept are Q and U = (differences of the iterates + of the corrections)
R^-1: then the step is g - U Q^T g, and R itself is not needed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.integrate.layout import Y
from bellcrank.integrate.vectors import allowed
from bellcrank.program.loops import compiled

Floats = NDArray[np.float64]

COLUMNS = 10
"""Corrections remembered; when there are more, memory begins anew."""

INDEPENDENT = 1e-8
"""Part of a difference that must be new for it to be remembered."""

KEPT_ROWS = 2 * COLUMNS + 2
"""Rows of what is kept: Q, U, the last correction, the last step."""


def kept(n: int, rows: int) -> int:
    """Numbers kept for iterates of so many rows of length n."""
    return KEPT_ROWS * rows * n


@compiled
def accelerate(reals: Floats, v: Floats, memory: Floats, first: int, rows: int, begun: int) -> int:
    """Turn the correction in `rows` rows of v, from `first` on, into the step to take; how many are remembered then.

    begun: What the last call returned, -1 for the first one of an iteration.
    """
    n = v.shape[1]
    correction = 2 * COLUMNS
    step = 2 * COLUMNS + 1
    count = begun
    if count >= COLUMNS:
        count = 0
    if begun >= 0:
        before = 0.0
        for k in range(rows):
            for i in range(n):
                j = k * n + i
                difference = v[first + k, i] - memory[correction, j]
                memory[COLUMNS + count, j] = memory[step, j] + difference
                memory[count, j] = difference / allowed(reals, v, i, Y, Y)
                before += memory[count, j] * memory[count, j]
        for c in range(count):
            along = 0.0
            for j in range(rows * n):
                along += memory[c, j] * memory[count, j]
            for j in range(rows * n):
                memory[count, j] -= along * memory[c, j]
                memory[COLUMNS + count, j] -= along * memory[COLUMNS + c, j]
        size = 0.0
        for j in range(rows * n):
            size += memory[count, j] * memory[count, j]
        if size > INDEPENDENT * INDEPENDENT * before:
            size = math.sqrt(size)
            for j in range(rows * n):
                memory[count, j] /= size
                memory[COLUMNS + count, j] /= size
            count += 1
    else:
        count = 0
    for k in range(rows):
        for i in range(n):
            memory[correction, k * n + i] = v[first + k, i]
            memory[step, k * n + i] = v[first + k, i] / allowed(reals, v, i, Y, Y)
    # The rest of the scaled correction stands where the step comes to stand.
    for c in range(count):
        along = 0.0
        for j in range(rows * n):
            along += memory[c, j] * memory[step, j]
        for k in range(rows):
            for i in range(n):
                j = k * n + i
                memory[step, j] -= along * memory[c, j]
                v[first + k, i] -= along * memory[COLUMNS + c, j]
    for k in range(rows):
        for i in range(n):
            memory[step, k * n + i] = v[first + k, i]
    return count
