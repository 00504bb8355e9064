"""The full multiplier system (paper B, 23; paper D, 23).

[M  J^T; J  0] [du; lambda] = [Q - f; gamma], eliminated sparsely in an order of pivots that was good in the
reference state.
"""

from __future__ import annotations

from bellcrank.formulations.algebra import LU
from bellcrank.formulations.equations import Equations
from bellcrank.formulations.pivoting import sparse_pivots
from bellcrank.program.trace import Scalar


def accelerations(eq: Equations) -> list[Scalar]:
    """The rates of all speeds."""
    return solution(eq)[0]


def solution(eq: Equations) -> tuple[list[Scalar], dict[int, Scalar]]:
    """The rates of all speeds, and the multipliers by equation number."""
    n = eq.mechanics.linkage.speeds
    M, J, rhs = eq.tree_mass(), eq.rows(), eq.tree_forces()
    matrix: dict[int, dict[int, Scalar]] = {i: {} for i in range(n + len(J))}
    for (i, j), entry in M.items():
        matrix[i][j] = entry
        matrix[j][i] = entry
    for k, row in enumerate(J):
        for c, entry in row.items():
            matrix[n + k][c] = entry
            matrix[c][n + k] = entry
        for c, entry in eq.rubbing(eq.kept[k]).items():
            matrix[c][n + k] = matrix[c].get(n + k, 0.0) + entry
    right = [*rhs, *(eq.loops.gamma[e] for e in eq.kept)]
    with eq.graph.counting("solve"):
        x = LU.of(matrix, sparse_pivots(matrix, eq.sample)).solve(right)
    return [x[i] for i in range(n)], {e: x[n + k] for k, e in enumerate(eq.kept)}
