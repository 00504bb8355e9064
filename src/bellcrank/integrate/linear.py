"""Dense linear systems of the implicit methods: triangular factors with row pivoting, real and complex.

Complex matrices are kept as a real and an imaginary part. The inner loops run along rows, so they are vector
operations. Source: Golub, Van Loan, "Matrix Computations", 3.4 (outer product form with partial pivoting).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.loops import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@compiled
def factorise(a: Floats, pivots: Ints, first: int) -> bool:
    """a = P L U in place, the row exchanges in pivots[first:]; False where a pivot vanishes."""
    n = a.shape[0]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i, k]) > abs(a[best, k]):
                best = i
        pivots[first + k] = best
        if not abs(a[best, k]) > 0.0:
            return False
        if best != k:
            for j in range(n):
                a[k, j], a[best, j] = a[best, j], a[k, j]
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i, k] = factor
            if factor != 0.0:
                for j in range(k + 1, n):
                    a[i, j] -= factor * a[k, j]
    return True


@compiled
def solve(a: Floats, pivots: Ints, first: int, v: Floats, row: int) -> None:
    """v[row] = a^-1 v[row], with the factors of `factorise`."""
    n = a.shape[0]
    for k in range(n):
        other = pivots[first + k]
        v[row, k], v[row, other] = v[row, other], v[row, k]
    for i in range(n):
        total = v[row, i]
        for j in range(i):
            total -= a[i, j] * v[row, j]
        v[row, i] = total
    for i in range(n - 1, -1, -1):
        total = v[row, i]
        for j in range(i + 1, n):
            total -= a[i, j] * v[row, j]
        v[row, i] = total / a[i, i]


@compiled
def factorise_complex(a: Floats, b: Floats, pivots: Ints, first: int) -> bool:
    """a + ib = P L U in place; False where a pivot vanishes."""
    n = a.shape[0]
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(a[i, k]) + abs(b[i, k]) > abs(a[best, k]) + abs(b[best, k]):
                best = i
        pivots[first + k] = best
        if not abs(a[best, k]) + abs(b[best, k]) > 0.0:
            return False
        if best != k:
            for j in range(n):
                a[k, j], a[best, j] = a[best, j], a[k, j]
                b[k, j], b[best, j] = b[best, j], b[k, j]
        size = a[k, k] * a[k, k] + b[k, k] * b[k, k]
        for i in range(k + 1, n):
            real = (a[i, k] * a[k, k] + b[i, k] * b[k, k]) / size
            imaginary = (b[i, k] * a[k, k] - a[i, k] * b[k, k]) / size
            a[i, k] = real
            b[i, k] = imaginary
            if real != 0.0 or imaginary != 0.0:
                for j in range(k + 1, n):
                    a[i, j] -= real * a[k, j] - imaginary * b[k, j]
                    b[i, j] -= real * b[k, j] + imaginary * a[k, j]
    return True


@compiled
def solve_complex(a: Floats, b: Floats, pivots: Ints, first: int, v: Floats, row: int) -> None:
    """v[row] + i v[row+1] = (a + ib)^-1 (v[row] + i v[row+1])."""
    n = a.shape[0]
    s = row + 1
    for k in range(n):
        other = pivots[first + k]
        v[row, k], v[row, other] = v[row, other], v[row, k]
        v[s, k], v[s, other] = v[s, other], v[s, k]
    for i in range(n):
        real = v[row, i]
        imaginary = v[s, i]
        for j in range(i):
            real -= a[i, j] * v[row, j] - b[i, j] * v[s, j]
            imaginary -= a[i, j] * v[s, j] + b[i, j] * v[row, j]
        v[row, i] = real
        v[s, i] = imaginary
    for i in range(n - 1, -1, -1):
        real = v[row, i]
        imaginary = v[s, i]
        for j in range(i + 1, n):
            real -= a[i, j] * v[row, j] - b[i, j] * v[s, j]
            imaginary -= a[i, j] * v[s, j] + b[i, j] * v[row, j]
        size = a[i, i] * a[i, i] + b[i, i] * b[i, i]
        v[row, i] = (real * a[i, i] + imaginary * b[i, i]) / size
        v[s, i] = (imaginary * a[i, i] - real * b[i, i]) / size
