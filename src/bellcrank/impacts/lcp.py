"""Linear complementarity problems by Lemke's method."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def lemke(M: Array, q: Array, tolerance: float = 1e-12) -> Array | None:
    """z >= 0 with w = M z + q >= 0 and z . w = 0, or None where the method ends in a ray.

    Cottle, Pang and Stone (1992), The Linear Complementarity Problem, Algorithm 4.4.5, covering vector of ones,
    ties broken by the lexicographic rule, so that the same problem always takes the same pivots. For copositive
    M (contact with Coulomb friction) a ray means that there is no solution.
    """
    n = len(q)
    scale = max(float(np.max(np.abs(q), initial=0.0)), 1e-300)
    if np.all(q >= -tolerance * scale):
        return np.zeros(n)
    # Columns: w (identity), z, the artificial variable, right-hand side; rows: basic variables.
    table = np.hstack([np.eye(n), -M, -np.ones((n, 1)), (q / scale)[:, None]])
    basis = np.arange(n)
    artificial = 2 * n
    row = _lexicographic_least(table, list(range(n)), -np.ones(n), n)
    entering = artificial
    for _ in range(50 * (n + 1)):
        leaving = int(basis[row])
        _pivot(table, row, entering)
        basis[row] = entering
        if leaving == artificial:
            z = np.zeros(n)
            for k, variable in enumerate(basis):
                if n <= variable < 2 * n:
                    z[variable - n] = max(table[k, -1], 0.0) * scale
            return z
        entering = leaving + n if leaving < n else leaving - n
        column = table[:, entering]
        largest = float(np.max(np.abs(column)))
        candidates = [k for k in range(n) if column[k] > 1e-11 * max(largest, 1e-30)]
        if not candidates:
            return None
        row = _lexicographic_least(table, candidates, column, n, int(np.argmax(basis == artificial)))
    return None


def _lexicographic_least(
    table: Array, candidates: list[int], column: Array, n: int, prefer: int | None = None
) -> int:
    """The row whose (right-hand side, inverse basis) over its pivot is the lexicographic least."""
    if column[0] < 0.0 and prefer is None:  # the first pivot: the most negative right-hand side
        return int(np.argmin(table[:, -1]))
    ratios = np.array([table[k, -1] / column[k] for k in candidates])
    least = ratios.min()
    tied = [k for k, r in zip(candidates, ratios, strict=True) if r <= least + 1e-12 * (1.0 + abs(least))]
    if prefer is not None and prefer in tied:
        return prefer
    for j in range(n):
        if len(tied) == 1:
            break
        entries = [table[k, j] / column[k] for k in tied]
        low = min(entries)
        tied = [k for k, x in zip(tied, entries, strict=True) if x <= low + 1e-12 * (1.0 + abs(low))]
    return tied[0]


def _pivot(table: Array, row: int, column: int) -> None:
    table[row] /= table[row, column]
    factors = table[:, column].copy()
    factors[row] = 0.0
    table -= np.outer(factors, table[row])
