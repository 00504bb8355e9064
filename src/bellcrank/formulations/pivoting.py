"""An order of pivots for a sparse system: few operations among entries that are large enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from bellcrank.errors import SingularMechanism
from bellcrank.program.trace import Scalar

THRESHOLD = 0.02
"""A pivot may be this much smaller than the largest entry of its row."""

Rows = dict[int, dict[int, float]]


def sparse_pivots(
    matrix: Mapping[int, Mapping[int, Scalar]], sample: Callable[[Sequence[Scalar]], list[float]]
) -> list[tuple[int, int]]:
    """Markowitz's rule with threshold pivoting on the values in the reference state.

    Rows are equilibrated first, so that forces and lengths are compared fairly; where that is not enough, speeds and
    multipliers by the masses they belong to.
    """
    keys = [(i, j) for i, row in matrix.items() for j in row]
    values = sample([matrix[i][j] for i, j in keys])
    rows: dict[int, dict[int, float]] = {i: {} for i in matrix}
    for (i, j), value in zip(keys, values, strict=True):
        rows[i][j] = value
    if any(not any(row.values()) for row in rows.values()):
        raise SingularMechanism("an equation of motion has no entry: a massless part moves freely")
    try:
        return _order(_by_rows(rows))
    except SingularMechanism:
        # Masses of a nanogram beside directions of a constraint are small, but not zero.
        return _order(_by_rows(_by_masses(rows)))


def _by_rows(rows: Rows) -> Rows:
    """Every row over its largest entry."""
    largest = {i: max(abs(x) for x in row.values()) or 1.0 for i, row in rows.items()}
    return {i: {j: x / largest[i] for j, x in row.items()} for i, row in rows.items()}


def _by_masses(rows: Rows) -> Rows:
    """Every speed over the root of its mass, every multiplier over the largest entry that this leaves in its row.

    Then all entries are plain numbers, whatever the units and the size of the mechanism.
    """
    by = {i: math.sqrt(abs(row.get(i, 0.0))) for i, row in rows.items()}
    for i, row in rows.items():
        if by[i] == 0.0:
            by[i] = max((abs(x) / by[j] for j, x in row.items() if by.get(j)), default=0.0) or 1.0
    return {i: {j: x / (by[i] * by[j]) for j, x in row.items()} for i, row in rows.items()}


def _order(given: Rows) -> list[tuple[int, int]]:
    """Pivots of scaled rows, one after the other."""
    rows = {i: dict(row) for i, row in given.items()}
    by_column: dict[int, set[int]] = {}
    for i, row in rows.items():
        for j in row:
            by_column.setdefault(j, set()).add(i)
    pivots: list[tuple[int, int]] = []
    while rows:
        i, j = _cheapest(rows, by_column)
        pivot_row = rows.pop(i)
        pivot = pivot_row[j]
        for c in pivot_row:
            by_column[c].discard(i)
        for r in by_column.pop(j):
            f = rows[r].pop(j) / pivot
            for c, entry in pivot_row.items():
                if c != j:
                    rows[r][c] = rows[r].get(c, 0.0) - f * entry
                    by_column[c].add(r)
        pivots.append((i, j))
    return pivots


def _cheapest(rows: Mapping[int, Mapping[int, float]], by_column: Mapping[int, set[int]]) -> tuple[int, int]:
    best: tuple[float, float, int, int] | None = None
    for i, row in rows.items():
        largest = max((abs(x) for x in row.values()), default=0.0)
        if largest < 1e-12:
            raise SingularMechanism("the multiplier system is singular in the reference state")
        for j, x in row.items():
            if abs(x) >= THRESHOLD * largest and abs(x) > 1e-9:
                cost = (len(row) - 1) * (len(by_column[j]) - 1)
                candidate = (cost, -abs(x), i, j)
                if best is None or candidate < best:
                    best = candidate
    if best is None:
        raise SingularMechanism("the multiplier system is singular in the reference state")
    return best[2], best[3]
