"""Contact forces by a direct active set: the default.

Source: the conditions are (7) of Lee (1995), the branches (8). Each update solves them for the branch every point
is on, then lets each point choose its branch anew from p - s / C_ii; with friction this is the semismooth Newton
method of Alart and Curnier (1991). Differs in: no iteration on forces; the friction bound uses the forces being
found, not those of the last step. Where updates cycle, a convex program (no friction) or block Gauss-Seidel sweeps
give the branches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import nnls

from bellcrank.elastic.lattices import Array
from bellcrank.elastic.problem import ContactProblem, ContactSolution, ContactSolver, Flags
from bellcrank.errors import BellcrankError


class ContactFailure(BellcrankError, ArithmeticError):
    """No contact forces satisfy the conditions to rounding."""


@dataclass(frozen=True)
class DirectActiveSet(ContactSolver):
    """Solve on the active set and update it until it stays.

    updates: most changes of the set before the fallback.
    """

    updates: int = 40

    def solve(self, problem: ContactProblem) -> ContactSolution:
        """Forces to rounding."""
        if len(problem.free) == 0:
            none = np.zeros(0, dtype=bool)
            return ContactSolution(problem.free, none, none, 0)
        if problem.rubbing.any():
            return _with_friction(problem, self.updates)
        return _without_friction(problem, self.updates)

    def correct(self, matrix: Array, error: Array, factor: float) -> tuple[Array, int]:
        """One solution."""
        if len(error) == 0:
            return np.zeros(0), 0
        return np.asarray(cho_solve(cho_factor(factor * matrix), -error)), 1


def _without_friction(problem: ContactProblem, most: int) -> ContactSolution:
    d = problem.free.shape[1]
    c, q = problem.compliance[::d, ::d], problem.free[:, 0]
    scale = 1.0 / np.diag(c)
    p = np.minimum(problem.guess[:, 0], 0.0)
    active = p - scale * (q + c @ p) < 0.0
    seen: set[bytes] = set()
    count = 0
    while True:
        count += 1
        p = _pressed(c, q, active)
        s = q + c @ p
        s[active] = 0.0
        chosen = p - scale * s < 0.0
        if np.array_equal(chosen, active):
            break
        if chosen.tobytes() in seen or count > most:
            active = _convex(c, q)
            p = _pressed(c, q, active)
            break
        seen.add(chosen.tobytes())
        active = chosen
    force = np.zeros_like(problem.free)
    force[:, 0] = np.minimum(p, 0.0)
    return ContactSolution(force, active, np.zeros_like(active), count)


def _pressed(c: Array, q: Array, active: Flags) -> Array:
    p = np.zeros_like(q)
    if active.any():
        p[active] = cho_solve(cho_factor(c[np.ix_(active, active)]), -q[active])
    return p


def _convex(c: Array, q: Array) -> Flags:
    """The active set of min x.Cx/2 - q.x over x = -p >= 0, as a least-squares problem."""
    lower = cholesky(c, lower=True)
    x, _ = nnls(lower.T, solve_triangular(lower, q, lower=True))
    return np.asarray(x > 0.0)


def _with_friction(problem: ContactProblem, most: int) -> ContactSolution:
    p, count = _newton(problem, problem.guess.copy(), most)
    if p is None:
        swept = _sweeps(problem, problem.guess.copy())
        p, more = _newton(problem, swept, most)
        count += more
        if p is None:
            p = swept
    active, stick, _ = _branches(problem, p, problem.free + (problem.compliance @ p.ravel()).reshape(p.shape))
    return ContactSolution(p, active, stick, count)


def _branches(problem: ContactProblem, p: Array, s: Array) -> tuple[Flags, Flags, Array]:
    """Which points press, which of them stick, and p - s / C_ii."""
    own = np.where(problem.diagonal > 0.0, problem.diagonal, np.inf)
    z = p - s / own
    rub = problem.rubbing
    # One scale for all tangents of a point, so that directions of slip stay directions.
    if p.shape[1] > 2:
        z[:, 1:] = p[:, 1:] - s[:, 1:] / own[:, 1:].max(axis=1, keepdims=True)
    active = z[:, 0] < 0.0
    bound = problem.friction * np.maximum(-p[:, 0], 0.0)
    stick = active & rub & (np.linalg.norm(z[:, 1:], axis=1) < bound)
    return active, stick, z


def _newton(problem: ContactProblem, p: Array, most: int) -> tuple[Array | None, int]:
    c, d = problem.compliance, p.shape[1]
    rub = problem.rubbing
    own = problem.diagonal
    scale = 1.0 / np.where(own[:, 1:].max(axis=1) > 0.0, own[:, 1:].max(axis=1), 1.0)
    p[~rub, 1:] = 0.0
    s = problem.free + (c @ p.ravel()).reshape(p.shape)
    active, stick, z = _branches(problem, p, s)
    for count in range(1, most + 1):
        slip = active & rub & ~stick
        tangents = np.repeat((stick | slip)[:, None], d - 1, axis=1)
        unknown = np.flatnonzero(np.column_stack([active, tangents]).ravel())
        rows = c[unknown].copy()
        right = -problem.free.ravel()[unknown]
        position = np.full(p.size, -1)
        position[unknown] = np.arange(len(unknown))
        for i in np.flatnonzero(slip).tolist():
            at = position[i * d + 1 : (i + 1) * d]
            rows[at], right[at] = _slip_rows(problem, p, z, i, scale[i])
        try:
            x = np.linalg.solve(rows[:, unknown], right)
        except np.linalg.LinAlgError:
            return None, count
        before, p = p, np.zeros_like(p)
        p.ravel()[unknown] = x
        s = problem.free + (c @ p.ravel()).reshape(p.shape)
        s[active, 0] = 0.0
        s[stick, 1:] = 0.0
        was = active, stick
        active, stick, z = _branches(problem, p, s)
        same = np.array_equal(active, was[0]) and np.array_equal(stick, was[1])
        change = np.abs(p - before).max() <= 1e-12 * np.abs(p).max()
        direction = d == 2 and bool(np.all(p[slip, 1] * s[slip, 1] <= 0.0)) and count > 1
        if same and (change or direction or not slip.any()):
            return p, count
    return None, most


def _slip_rows(problem: ContactProblem, p: Array, z: Array, i: int, scale: float) -> tuple[Array, Array]:
    """Linearised p_t = mu |p_n| z_t / |z_t| at point i, as rows over all forces and their right-hand side."""
    d = p.shape[1]
    here = slice(i * d + 1, (i + 1) * d)
    length = float(np.linalg.norm(z[i, 1:]))
    e = z[i, 1:] / length if length > 0.0 else np.eye(d - 1)[0]
    mu = problem.friction[i]
    rows = np.zeros((d - 1, p.size))
    rows[:, here] = np.eye(d - 1)
    rows[:, i * d] = mu * e
    right = np.zeros(d - 1)
    if d > 2 and length > 0.0:
        turn = mu * max(-p[i, 0], 0.0) / length * (np.eye(d - 1) - np.outer(e, e))
        rows[:, here] -= turn
        rows += scale * turn @ problem.compliance[here]
        right -= scale * turn @ problem.free[i, 1:]
    return rows, right


def _sweeps(problem: ContactProblem, p: Array, most: int = 20000, tolerance: float = 1e-12) -> Array:
    """Block Gauss-Seidel: each point in turn, normal then tangent, projected on its cone (Jean 1999)."""
    c, q, d = problem.compliance, problem.free, p.shape[1]
    own, rub = problem.diagonal, problem.rubbing
    p = p.copy()
    p[~rub, 1:] = 0.0
    for _ in range(most):
        before = p.copy()
        for i in range(len(p)):
            at = i * d
            s = q[i, 0] + c[at] @ p.ravel()
            p[i, 0] = min(0.0, p[i, 0] - s / own[i, 0])
            if rub[i]:
                slip = q[i, 1:] + c[at + 1 : at + d] @ p.ravel()
                t = p[i, 1:] - slip / own[i, 1:].max()
                length, bound = float(np.linalg.norm(t)), -problem.friction[i] * p[i, 0]
                p[i, 1:] = t if length <= bound else t * (bound / length)
        if np.abs(p - before).max() <= tolerance * max(np.abs(p).max(), 1e-300):
            return p
    raise ContactFailure(
        "the friction problem of a step has no solution that sweeps can find; take a smaller step or less friction"
    )
