"""Linear complementarity problems by Lemke's method, compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.loops import Ints, Reals2, compiled, entry

Array = NDArray[np.float64]

ALIKE = 1e-12
"""Difference of ratios, over their size and one, that is rounding: the rows are tied."""
PIVOT = 1e-11
"""Least entry of a column, over its largest, on which it may be pivoted."""
PIVOTS = 50
"""Most pivots, per unknown and one: Lemke's method takes about as many as there are unknowns."""


class Tableau(NamedTuple):
    """Columns: w (identity), z, the artificial variable, right-hand side; rows: basic variables.

    tied: Rows among which a pivot is chosen.
    """

    table: Reals2
    basis: Ints
    tied: Ints


def lemke(M: Array, q: Array, tolerance: float = 1e-12) -> Array | None:
    """z >= 0 with w = M z + q >= 0 and z . w = 0, or None where the method ends in a ray.

    Cottle, Pang and Stone (1992), The Linear Complementarity Problem, Algorithm 4.4.5, covering vector of ones,
    ties broken by the lexicographic rule, so that the same problem always takes the same pivots. For copositive
    M (contact with Coulomb friction) a ray means that there is no solution.
    """
    n = len(q)
    scale = max(float(np.abs(q).max(initial=0.0)), 1e-300)
    if np.all(q >= -tolerance * scale):
        return np.zeros(n)
    table = np.zeros((n, 2 * n + 2))
    table[:, :n][np.diag_indices(n)] = 1.0
    table[:, n : 2 * n], table[:, 2 * n], table[:, 2 * n + 1] = -M, -1.0, q / scale
    tableau = Tableau(table, np.arange(n), np.zeros(n, np.int64))
    if not solve_tableau(tableau):
        return None
    z = np.zeros(2 * n + 1)
    z[tableau.basis] = np.maximum(table[:, -1], 0.0) * scale
    return z[n : 2 * n]


@compiled
def pivot(g: Tableau, row: int, column: int) -> None:
    """Make a variable basic."""
    n, width = g.table.shape[0], g.table.shape[1]
    size = 1.0 / g.table[row, column]
    for j in range(width):
        g.table[row, j] *= size
    for k in range(n):
        factor = g.table[k, column]
        if k != row and factor != 0.0:
            for j in range(width):
                g.table[k, j] -= factor * g.table[row, j]


@compiled
def narrow(g: Tableau, count: int, column: int, entering: int) -> int:
    """Of the tied rows, those whose entry in a column over the pivot is the least; how many are left."""
    least = 0.0
    for k in range(count):
        ratio = g.table[g.tied[k], column] / g.table[g.tied[k], entering]
        if k == 0 or ratio < least:
            least = ratio
    left = 0
    for k in range(count):
        row = g.tied[k]
        if g.table[row, column] / g.table[row, entering] <= least + ALIKE * (1.0 + abs(least)):
            g.tied[left] = row
            left += 1
    return left


@compiled
def leaving_row(g: Tableau, entering: int) -> int:
    """The row whose (right-hand side, inverse basis) over its pivot is the lexicographic least; -1 in a ray."""
    n = g.table.shape[0]
    largest = 1e-30
    for k in range(n):
        largest = max(largest, abs(g.table[k, entering]))
    count = 0
    for k in range(n):
        if g.table[k, entering] > PIVOT * largest:
            g.tied[count] = k
            count += 1
    if count == 0:
        return -1
    count = narrow(g, count, 2 * n + 1, entering)
    for k in range(count):
        if g.basis[g.tied[k]] == 2 * n:
            row: int = g.tied[k]
            return row
    for j in range(n):
        if count == 1:
            break
        count = narrow(g, count, j, entering)
    least: int = g.tied[0]
    return least


@entry
def solve_tableau(g: Tableau) -> int:
    """Pivot until the artificial variable leaves; 0 where the method ends in a ray."""
    n = g.table.shape[0]
    row = 0
    for k in range(n):
        if g.table[k, 2 * n + 1] < g.table[row, 2 * n + 1]:
            row = k
    entering = 2 * n
    for _ in range(PIVOTS * (n + 1)):
        leaving = g.basis[row]
        pivot(g, row, entering)
        g.basis[row] = entering
        if leaving == 2 * n:
            return 1
        entering = leaving - n
        if leaving < n:
            entering = leaving + n
        row = leaving_row(g, entering)
        if row < 0:
            return 0
    return 0
