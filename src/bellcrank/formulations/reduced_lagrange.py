"""Multipliers first, then the speed rates (Kang and Yoon 2001, section 3.2).

(J M^-1 J^T) lambda = J M^-1 (Q - f) - gamma, M du = Q - f - J^T lambda. With M = L D L^T and W = L^-1 J^T the
first matrix is W^T D^-1 W: half a solution for every row of J is enough, and W has entries only along the
tree from the loop inwards. Even so J M^-1 J^T couples every loop with every other on a moving base, which the
full multiplier system, eliminated sparsely, never does: this formulation is seldom the shorter one.

Where massless members make M singular, M + a J^T J and Q - f + a J^T gamma take their places: on the
constraints that changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bellcrank.formulations.algebra import LDL
from bellcrank.formulations.equations import Equations
from bellcrank.formulations.modal import whole_mass
from bellcrank.mechanics.dynamics import tree_columns
from bellcrank.program.trace import Scalar


def accelerations(eq: Equations) -> list[Scalar]:
    """The rates of all speeds."""
    return solution(eq)[0]


def solution(eq: Equations) -> tuple[list[Scalar], dict[int, Scalar]]:
    """The rates of all speeds, and the multipliers by equation number."""
    n = eq.mechanics.linkage.speeds
    M, J, force = dict(eq.tree_mass()), eq.rows(), eq.tree_forces()
    gamma = [eq.loops.gamma[e] for e in eq.kept]
    with eq.graph.counting("reduction"):
        weight = _weight(eq, M, J, n)
        squares = [(row, weight) for row in J] if weight else []
        modal = whole_mass(eq.kin, tree_columns(eq.kin), eq.sample, squares)
        if weight:
            _augment(M, J, force, gamma, weight)
        factors = LDL.of(M, list(reversed(range(n)))) if modal is None else modal.factors
        W = [_forward(factors, row) for row in J]
        scaled = [{i: entry * factors.inverse[i] for i, entry in column.items()} for column in W]
        y = _forward(factors, dict(enumerate(force)))
        pairs = [(i, j) for i in range(len(J)) for j in range(i + 1) if W[i].keys() & W[j].keys()]
        S = {(i, j): _product(W[i], scaled[j]) for i, j in pairs}
        rhs = {i: _product(scaled[i], y) - gamma[i] for i in range(len(J))}
    with eq.graph.counting("solve"):
        multipliers = LDL.of(S, list(range(len(J)))).solve(rhs) if J else {}
        for k, column in enumerate(W):
            for i, entry in column.items():
                y[i] = y.get(i, 0.0) - entry * multipliers[k]
        du = _backward(factors, y)
    return [du[i] for i in range(n)], {e: multipliers[k] for k, e in enumerate(eq.kept)}


def _forward(factors: LDL, rhs: Mapping[int, Scalar]) -> dict[int, Scalar]:
    """L^-1 rhs; only the entries that come out of it are there."""
    found = {i: entry for i, entry in rhs.items() if not _is_nothing(entry)}
    for k in factors.order:
        if k in found:
            for i, f in factors.columns[k].items():
                found[i] = found.get(i, 0.0) - f * found[k]
    return found


def _backward(factors: LDL, y: Mapping[int, Scalar]) -> dict[int, Scalar]:
    """L^-T D^-1 y."""
    x: dict[int, Scalar] = {}
    for k in reversed(factors.order):
        total = y.get(k, 0.0) * factors.inverse[k]
        for i, f in factors.columns[k].items():
            total = total - f * x[i]
        x[k] = total
    return x


def _is_nothing(x: Scalar) -> bool:
    return isinstance(x, float) and x == 0.0


def _product(row: Mapping[int, Scalar], column: Mapping[int, Scalar]) -> Scalar:
    total: Scalar = 0.0
    for i, entry in row.items():
        if i in column:
            total = total + entry * column[i]
    return total


def _weight(
    eq: Equations, M: Mapping[tuple[int, int], Scalar], J: Sequence[Mapping[int, Scalar]], n: int
) -> float:
    """0 where M is regular in the reference state, else the scale of M against J^T J."""
    values = eq.sample(list(M.values()))
    dense = np.zeros((n, n))
    for (i, j), value in zip(M, values, strict=True):
        dense[i, j] = dense[j, i] = value
    size = np.sqrt(np.maximum(np.diag(dense), 0.0))
    if n and np.all(size > 0.0):
        scaled = dense / np.outer(size, size)
        if np.linalg.eigvalsh(scaled).min() > 1e-10:
            return 0.0
    squares = eq.sample([x * x for row in J for x in row.values()])
    return float(np.trace(dense) / max(sum(squares), 1e-300))


def _augment(
    M: dict[tuple[int, int], Scalar],
    J: Sequence[Mapping[int, Scalar]],
    force: list[Scalar],
    gamma: Sequence[Scalar],
    weight: float,
) -> None:
    for row, right in zip(J, gamma, strict=True):
        for i, x in row.items():
            force[i] = force[i] + weight * (x * right)
            for j, y in row.items():
                if j <= i:
                    M[i, j] = M.get((i, j), 0.0) + weight * (x * y)
