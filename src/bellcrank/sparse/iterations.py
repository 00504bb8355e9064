"""Iterations on large symmetric equations: conjugate gradients for mass matrices, and the lowest natural modes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg as la

from bellcrank.sparse.types import Array, Sparse

CONVERGED = 1e-11
"""Residual of a mode against its size: its frequency is then exact to rounding, its shape to about this share."""
RESTARTS = 60
STALLED = 1e-8
"""Residual that is accepted where rounding keeps it from falling any further: frequencies are good to its square."""


def solve_mass(mass: Sparse, right: Array, accuracy: float = 1e-13, most: int = 2000) -> Array | None:
    """M^-1 right, (N, k), by conjugate gradients with a diagonal preconditioner; None where they do not settle.

    Scaled by its diagonal, the mass matrix of finite elements has a condition number that depends on the kind of
    element alone (Wathen, IMA J. Numer. Anal. 7 (1987) 449), so a few dozen iterations do for any mesh.
    """
    b = np.asarray(right, dtype=float).reshape(mass.shape[0], -1)
    diagonal = mass.diagonal()[:, None]
    if (diagonal <= 0).any():
        return None
    x, r = np.zeros_like(b), b.copy()
    z = r / diagonal
    p, rho = z.copy(), np.einsum("ij,ij->j", r, z)
    goal = accuracy**2 * rho
    for _ in range(most):
        if (rho <= goal).all():
            return x.reshape(np.shape(right))
        q = np.asarray(mass @ p)
        along = np.einsum("ij,ij->j", p, q)
        step = np.where(rho > goal, rho / np.where(along > 0, along, 1.0), 0.0)
        x += step * p
        r -= step * q
        z = r / diagonal
        new = np.einsum("ij,ij->j", r, z)
        p = z + np.where(rho > goal, new / np.where(rho > 0, rho, 1.0), 0.0) * p
        rho = np.where(rho > goal, new, rho)
    return None


def lowest_modes(solve: Callable[[Array], Array], mass: Sparse, count: int) -> Array:
    """Shapes (N, count) of the lowest frequencies of K u = w^2 M u, given K^-1 as a function of columns.

    A block Krylov method in the mass inner product with full orthogonalisation and thick restarts: columns are solved
    together, which costs hardly more than one. Source: Grimes, Lewis, Simon, SIAM J. Matrix Anal. Appl. 15 (1994) 228;
    Wu, Simon, SIAM J. Matrix Anal. Appl. 22 (2000) 602.
    """
    n = mass.shape[0]
    block = min(max(4, count // 3), 16)
    largest = min(n, 2 * count + 6 * block)
    rng = np.random.default_rng(0)
    V, MV, AV = (np.empty((n, 0)) for _ in range(3))
    new = solve(np.asarray(mass @ rng.standard_normal((n, block))))
    best, idle = np.inf, 0
    for _ in range(RESTARTS):
        last = 0
        while V.shape[1] < largest:
            Q = _orthonormal(new, V, MV, mass)
            if not Q.shape[1]:
                break
            last = Q.shape[1]
            MQ = np.asarray(mass @ Q)
            new = solve(MQ)
            V, MV, AV = np.hstack([V, Q]), np.hstack([MV, MQ]), np.hstack([AV, new])
        T = MV.T @ AV
        values, S = la.eigh(0.5 * (T + T.T))
        values, S = values[::-1], S[:, ::-1]
        keep = min(count + block, V.shape[1])
        X, AX = V @ S[:, :keep], AV @ S[:, :keep]
        R = AX[:, :count] - X[:, :count] * values[:count]
        residual = np.sqrt(np.abs(np.einsum("ij,ij->j", R, mass @ R)))
        worst = float((residual / values[:count]).max())
        idle = 0 if worst < 0.5 * best else idle + 1
        best = min(best, worst)
        # What is orthogonal to the whole space already is nothing but rounding: the space is exhausted. Rounding of
        # the largest answer limits those of far higher frequencies.
        if last == 0 or V.shape[1] == n or worst <= CONVERGED or (idle >= 3 and worst <= STALLED):
            return np.asarray(X[:, :count])
        new = AV[:, -last:]
        rest = _orthonormal(new, V, MV, mass)
        V, MV, AV, new = X, MV @ S[:, :keep], AX, rest if rest.shape[1] else new
    raise ArithmeticError(
        f"the lowest {count} modes do not converge, {worst:.1g} is left; ask for fewer or more"
    )


def _orthonormal(new: Array, V: Array, MV: Array, mass: Sparse) -> Array:
    """The columns of `new` made orthogonal to V and to each other; dependent ones are dropped."""
    Q = new
    for _ in range(2):
        Q = Q - V @ (MV.T @ Q)
        size = np.sqrt(np.abs(np.einsum("ij,ij->j", Q, mass @ Q)))
        Q = Q[:, size > 0] / size[size > 0]
        gram = Q.T @ np.asarray(mass @ Q)
        values, turn = la.eigh(0.5 * (gram + gram.T)) if gram.size else (np.empty(0), gram)
        good = values > 1e-12
        Q = Q @ (turn[:, good] / np.sqrt(values[good]))
    return np.asarray(Q)
