"""A body held in its frame: static answers and natural modes under linear conditions B u = 0.

Both come from one factorisation of

    [K  B^T] [u     ]   [f]
    [B   0 ] [lambda] = [0],

which is regular as soon as the conditions take away the rigid motions, even though K alone is not.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.linalg as la
import scipy.sparse as sp
from numpy.typing import NDArray

from bellcrank.errors import ModelError
from bellcrank.flexible.model import Array, ElasticModel, Sparse
from bellcrank.sparse.cholesky import Elimination, Factor, NotPositive
from bellcrank.sparse.iterations import lowest_modes
from bellcrank.sparse.progress import factorised

DENSE = 240
"""Up to this many freedoms the eigenproblem is solved whole."""

INDEPENDENT = 1e-9


class Held:
    """A model under conditions B u = 0; dependent rows of B are dropped."""

    def __init__(
        self, model: ElasticModel, conditions: Sparse, reference: str | None, who: str = "the frame"
    ) -> None:
        self.model = model
        self.reference = reference
        self.conditions = independent_rows(conditions)
        self._check(who)

    def _check(self, who: str) -> None:
        R = self.model.rigid[:, np.abs(self.model.rigid).max(axis=0) > 0]
        if R.shape[1] == 0:
            return
        R = R / np.linalg.norm(R, axis=0)
        BR = np.asarray(self.conditions @ R) / np.sqrt(row_squares(self.conditions))[:, None]
        values = np.linalg.svd(BR, compute_uv=False)
        if len(values) < R.shape[1] or values[-1] < 1e-9 * values[0]:
            free = R.shape[1] - int((values > 1e-9 * values[0]).sum())
            raise ModelError(
                f"{who} leaves {free} rigid motion(s) of {self.model.name!r} free; "
                "hold more nodes, or measure the deformation from mean axes"
            )

    @cached_property
    def _level(self) -> float:
        """By which the conditions are multiplied beside the stiffness."""
        level = float(np.mean(np.abs(self.model.stiffness_matrix.diagonal())))
        return (
            level / float(np.sqrt(row_squares(self.conditions).mean())) if self.conditions.shape[0] else 1.0
        )

    @cached_property
    def _factor(self) -> Factor:
        K, N, m = self.model.stiffness_matrix, self.model.freedoms, self.conditions.shape[0]
        B = self._level * self.conditions
        # Without a few freedoms that would hold the body K is definite; those and the multipliers come last.
        last = np.concatenate([pins(self.model.rigid), np.arange(N, N + m)])
        places = np.vstack([self.model.freedom_places, np.zeros((m, 3))])
        matrix = sp.csr_array(sp.block_array([[K, B.T], [B, None]])) if m else K
        try:
            return factorised(Elimination(matrix, places, last), matrix)
        except NotPositive as error:
            raise ModelError(
                f"the stiffness matrix of {self.model.name!r} is singular although its rigid motions are held: "
                "look for freedoms without stiffness (loose parts, unconnected nodes)"
            ) from error

    def solve(self, loads: Array) -> Array:
        """The static displacement under loads (N, ...) [N, N m]; parts of a load that the frame carries do no
        work."""
        f = np.asarray(loads, dtype=float).reshape(self.model.freedoms, -1)
        padded = np.zeros((f.shape[0] + self.conditions.shape[0], f.shape[1]))
        padded[: f.shape[0]] = f
        return np.asarray(self._factor.solve(padded)[: f.shape[0]].reshape(np.shape(loads)))

    def modes(self, count: int) -> tuple[Array, Array]:
        """The lowest natural modes: angular frequencies squared (count,), mass-orthonormal shapes (N,
        count)."""
        N, m = self.model.freedoms, self.conditions.shape[0]
        if N <= DENSE or count > (N - m) // 3:
            return self._dense_modes(count)
        shapes = lowest_modes(self.solve, self.model.mass_matrix, count)
        return self.rayleigh_ritz(shapes)

    def _dense_modes(self, count: int) -> tuple[Array, Array]:
        squares, shapes = self._all_modes
        return squares[:count], shapes[:, :count]

    @cached_property
    def _all_modes(self) -> tuple[Array, Array]:
        Z = (
            la.null_space(self.conditions.toarray())
            if self.conditions.shape[0]
            else np.eye(self.model.freedoms)
        )
        Z = _tidy(Z)
        squares, shapes = ritz(Z.T @ (self.model.stiffness_matrix @ Z), Z.T @ (self.model.mass_matrix @ Z))
        return squares, Z @ shapes

    def rayleigh_ritz(self, basis: Array, rank: int | None = None) -> tuple[Array, Array]:
        """Natural modes within the span of `basis` (N, n); rank: that of the basis, by default full."""
        lengths = np.sqrt(np.einsum("ij,ij->j", basis, self.model.mass_matrix @ basis))
        stiff = np.sqrt(np.abs(np.einsum("ij,ij->j", basis, self.model.stiffness_matrix @ basis)))
        scaled = basis / np.where(lengths > 0, lengths, np.where(stiff > 0, stiff, 1.0))
        squares, shapes = ritz(
            scaled.T @ (self.model.stiffness_matrix @ scaled),
            scaled.T @ (self.model.mass_matrix @ scaled),
            rank,
        )
        return squares, scaled @ shapes

    def constrained(self, values: Array) -> Array:
        """The static displacement without loads where the conditions take the given values: B u = values (m,
        k)."""
        right = np.zeros((self.model.freedoms + values.shape[0], values.shape[1]))
        right[self.model.freedoms :] = self._level * values
        return np.asarray(self._factor.solve(right)[: self.model.freedoms])


def ritz(K: Array, M: Array, rank: int | None = None) -> tuple[Array, Array]:
    """Eigenpairs of K u = w^2 M u, mass-orthonormal, ascending; K definite, M may be singular (massless
    freedoms).

    Solved as M u = mu K u, mu = 1 / w^2, so that massless freedoms come out as mu = 0 and are dropped;
    directions without stiffness against the others are dependent columns and are dropped first; how many is
    known where the rank is given.
    """
    T = _unit_stiffness(0.5 * (K + K.T), rank)
    reduced = T.T @ M @ T
    mu, shapes = la.eigh(0.5 * (reduced + reduced.T))
    order = np.argsort(mu)[::-1]
    order = order[mu[order] > 1e-13 * mu[order[0]]]
    shapes = T @ shapes[:, order] / np.sqrt(mu[order])
    return 1.0 / mu[order], shapes


def _unit_stiffness(K: Array, rank: int | None) -> Array:
    """T with T^T K T = 1, without the directions in which K is singular."""
    size = np.sqrt(np.abs(np.diag(K)))
    size = np.where(size > 0, size, 1.0)
    scaled = K / np.outer(size, size)
    if rank is None:
        try:
            lower = la.cholesky(scaled, lower=True)
            if np.diag(lower).min() > 1e-6:
                inverse = la.solve_triangular(lower, np.eye(len(K)), lower=True)
                return np.asarray(inverse.T / size[:, None])
        except la.LinAlgError:
            pass
    values, vectors = la.eigh(scaled)
    keep = values > 1e-13 * values[-1]
    if rank is not None:
        keep[: len(values) - rank] = False
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]) / size[:, None])


def independent_rows(B: Sparse) -> Sparse:
    """The rows of B without zero and dependent ones."""
    rows = sp.csr_array(B)
    squares = row_squares(rows)
    rows = rows[np.flatnonzero(squares > 0)]
    if rows.shape[0] == 0:
        return sp.csr_array(rows)
    scaled = sp.diags_array(1.0 / np.sqrt(row_squares(rows))) @ rows
    _, r, order = la.qr((scaled @ scaled.T).toarray(), pivoting=True)
    rank = int((np.abs(np.diag(r)) > INDEPENDENT).sum())
    return sp.csr_array(rows[np.sort(order[:rank])])


def pins(rigid: Array) -> NDArray[np.int64]:
    """As many freedoms as there are rigid motions (N, 6) that would hold the body if they stood still."""
    moving = rigid[:, np.abs(rigid).max(axis=0) > 0]
    if not moving.shape[1]:
        return np.empty(0, dtype=np.int64)
    _, _, order = la.qr((moving / np.linalg.norm(moving, axis=0)).T, mode="economic", pivoting=True)
    return np.asarray(order[: moving.shape[1]], dtype=np.int64)


def row_squares(B: Sparse) -> Array:
    """Squared lengths of the rows."""
    rows = sp.csr_array(B)
    return np.asarray((rows * rows).sum(axis=1), dtype=float).ravel()


def _tidy(Z: Array) -> Array:
    """A null space whose columns are unit vectors wherever the conditions hold single freedoms."""
    held = np.abs(Z).max(axis=1) < 1e-12
    if int(held.sum()) + Z.shape[1] == Z.shape[0]:
        unit = np.zeros_like(Z)
        unit[np.flatnonzero(~held), np.arange(Z.shape[1])] = 1.0
        return unit
    return Z
