"""The compliance of contact nodes, formed column by column for nodes that can be in contact."""

from __future__ import annotations

import numpy as np

from bellcrank.elastic.assembled import FreeFactor
from bellcrank.elastic.lattices import Array, Index

_KEPT, _MOST = 2.5e7, 1.5e8
"""Numbers kept of whole columns at least, and at most: between these as many as the factors have."""
_TOGETHER = 64
"""Nodes whose columns are formed at once."""


class Compliance:
    """The submatrix of the inverse that belongs to the contact nodes, C of Lee (1995), (5), in world axes.

    Whole columns are kept while they take no more memory than the factors: displacements then are a dense
    product. Beyond, the submatrix comes from solutions half way, which pass only what lies above the contact nodes in
    the elimination tree (whole ones where factors in single precision are refined), and displacements from one more
    solution each step.

    factor: of the matrix. share: by which its inverse is multiplied.
    """

    def __init__(self, factor: FreeFactor, dimension: int, share: float = 1.0) -> None:
        self._factor, self._share = factor, share
        self._unknowns = factor.unknowns
        self._d = dimension
        self._slot = np.full(self._unknowns // dimension, -1, dtype=np.int64)
        self._nodes = np.empty(0, dtype=np.int64)
        self._matrix = np.empty((0, 0))
        self._columns: Array | None = np.empty((0, self._unknowns))
        self._room = max(_KEPT, min(_MOST, factor.inner.elimination.forecast.entries))
        self._halves: list[tuple[Index, Array]] = []

    @property
    def nodes(self) -> Index:
        """Nodes whose compliance has been formed."""
        return self._nodes

    def require(self, nodes: Index) -> None:
        """Form what is missing."""
        new = nodes[self._slot[nodes] < 0]
        if self._d * (len(self._nodes) + len(new)) * self._unknowns > self._room:
            self._columns = None
        whole = self._columns is not None or self._factor.inner.single
        together = min(_TOGETHER, max(1, int(_KEPT) // (self._d * self._unknowns))) if whole else _TOGETHER
        for start in range(0, len(new), together):
            some = new[start : start + together]
            side, corner = self._by_columns(some) if whole else self._by_halves(some)
            self._matrix = np.block([[self._matrix, side], [side.T, 0.5 * (corner + corner.T)]])
            self._slot[some] = len(self._nodes) + np.arange(len(some))
            self._nodes = np.concatenate([self._nodes, some])

    def _by_columns(self, new: Index) -> tuple[Array, Array]:
        """Compliance of the known nodes under loads at new ones, and of the new ones."""
        dofs = _unknowns(new, self._d)
        unit = np.zeros((self._unknowns, len(dofs)))
        unit[dofs, np.arange(len(dofs))] = self._share
        columns = self._factor.solve(unit)
        if self._columns is not None:
            self._keep(columns.T)
        return columns[_unknowns(self._nodes, self._d)], columns[dofs]

    def _by_halves(self, new: Index) -> tuple[Array, Array]:
        known = self._d * len(self._nodes)
        while sum(y.shape[1] for _, y in self._halves) < known:
            # Nodes whose columns were kept before.
            first = len(self._halves) * _TOGETHER
            self._halves.append(self._factor.half(_unknowns(self._nodes[first : first + _TOGETHER], self._d)))
        rows, y = self._factor.half(_unknowns(new, self._d))
        sides = []
        for old_rows, old in self._halves:
            _, i, j = np.intersect1d(old_rows, rows, assume_unique=True, return_indices=True)
            sides.append(self._share * (old[i].T @ y[j]))
        self._halves.append((rows, y))
        side = np.vstack(sides) if sides else np.empty((0, y.shape[1]))
        return side, self._share * (y.T @ y)

    def _keep(self, rows: Array) -> None:
        """Keep whole columns, one a row, in a table that doubles when it is full."""
        assert self._columns is not None
        first = self._d * len(self._nodes)
        last = first + len(rows)
        if last > len(self._columns):
            most = max(int(self._room) // self._unknowns, last)
            grown = np.empty((min(2 * last, most), self._unknowns))
            grown[:first] = self._columns[:first]
            self._columns = grown
        self._columns[first:last] = rows

    def matrix(self, nodes: Index) -> Array:
        """Displacements of the nodes from unit forces at them, unknown `position in nodes * d + direction`."""
        at = _unknowns(self._slot[nodes], self._d)
        return np.asarray(self._matrix[np.ix_(at, at)])

    def displace(self, nodes: Index, forces: Array) -> Array:
        """Displacements of the whole body from forces at nodes. forces: shape (k, nodes * d); returns (k, unknowns)."""
        if len(nodes) == 0:
            return np.zeros((len(forces), self._unknowns))
        if self._columns is not None:
            # Nodes come in as contact spreads, so those that touch are mostly the first: a view, not a copy.
            at = _unknowns(self._slot[nodes], self._d)
            spread = np.zeros((len(forces), int(at.max()) + 1))
            spread[:, at] = forces
            return np.asarray(spread @ self._columns[: spread.shape[1]])
        load = np.zeros((self._unknowns, len(forces)))
        load[_unknowns(nodes, self._d)] = self._share * forces.T
        return self._factor.solve(load).T


def _unknowns(nodes: Index, d: int) -> Index:
    return np.asarray((d * nodes[:, None] + np.arange(d)).ravel())
