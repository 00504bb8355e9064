"""The full multiplier system (Ahn and Lee 1994, equation 23; Kang and Yoon 2001, equation 23).

[M  J^T; J  0] [du; lambda] = [Q - f; gamma], eliminated sparsely in an order of pivots that was good in the
reference state.
"""

from __future__ import annotations

from bellcrank.formulations.algebra import LU
from bellcrank.formulations.equations import Equations
from bellcrank.formulations.modal import whole_mass
from bellcrank.formulations.pivoting import sparse_pivots
from bellcrank.mechanics.dynamics import tree_columns
from bellcrank.program.trace import Scalar


def accelerations(eq: Equations) -> list[Scalar]:
    """The rates of all speeds."""
    return solution(eq)[0]


def solution(eq: Equations) -> tuple[list[Scalar], dict[int, Scalar]]:
    """The rates of all speeds, and the multipliers by equation number."""
    n = eq.mechanics.linkage.speeds
    J, rhs = eq.rows(), eq.tree_forces()
    with eq.graph.counting("mass matrix"):
        modal = whole_mass(eq.kin, tree_columns(eq.kin), eq.sample)
    M = eq.tree_mass() if modal is None else modal.matrix
    unknowns = list(range(n)) if modal is None else sorted(modal.order)
    # Multipliers are numbered after the speeds and the motions and wrenches of flexible members.
    n_all = len(unknowns)
    matrix: dict[int, dict[int, Scalar]] = {i: {} for i in range(n_all + len(J))}
    for (i, j), entry in M.items():
        matrix[i][j] = entry
        matrix[j][i] = entry
    for k, row in enumerate(J):
        for c, entry in row.items():
            matrix[n_all + k][c] = entry
            matrix[c][n_all + k] = entry
        for c, entry in eq.rubbing(eq.kept[k]).items():
            matrix[c][n_all + k] = matrix[c].get(n_all + k, 0.0) + entry
    right = [*rhs, *[0.0] * (n_all - n), *(eq.loops.gamma[e] for e in eq.kept)]
    with eq.graph.counting("solve"):
        x = LU.of(matrix, sparse_pivots(matrix, eq.sample)).solve(right)
    return [x[i] for i in range(n)], {e: x[n_all + k] for k, e in enumerate(eq.kept)}
