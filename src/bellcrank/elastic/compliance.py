"""The compliance of contact nodes, formed column by column for nodes that can be in contact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bellcrank.elastic.lattices import Array, Index

_KEPT = 2.5e7
"""Numbers kept of whole columns; beyond, displacements are had by one more solution each step."""


class Compliance:
    """The submatrix of the inverse that belongs to the contact nodes, C of Lee (1995), (5), in world axes.

    solve: displacements of the whole body from nodal forces, shape (unknowns, k).
    """

    def __init__(self, solve: Callable[[Array], Array], unknowns: int, dimension: int) -> None:
        self._solve = solve
        self._unknowns = unknowns
        self._d = dimension
        self._slot = np.full(unknowns // dimension, -1, dtype=np.int64)
        self._nodes = np.empty(0, dtype=np.int64)
        self._matrix = np.empty((0, 0))
        self._columns: Array | None = np.empty((0, unknowns))

    @property
    def nodes(self) -> Index:
        """Nodes whose compliance has been formed."""
        return self._nodes

    def require(self, nodes: Index) -> None:
        """Form what is missing."""
        new = nodes[self._slot[nodes] < 0]
        for start in range(0, len(new), 64):
            self._add(new[start : start + 64])

    def _add(self, new: Index) -> None:
        d = self._d
        dofs = _unknowns(new, d)
        unit = np.zeros((self._unknowns, len(dofs)))
        unit[dofs, np.arange(len(dofs))] = 1.0
        columns = self._solve(unit)
        old = _unknowns(self._nodes, d)
        corner = columns[dofs]
        corner = 0.5 * (corner + corner.T)
        side = columns[old]
        self._matrix = np.block([[self._matrix, side], [side.T, corner]])
        self._slot[new] = len(self._nodes) + np.arange(len(new))
        self._nodes = np.concatenate([self._nodes, new])
        self._keep(columns.T)

    def _keep(self, rows: Array) -> None:
        """Keep whole columns, one a row, in a table that doubles when it is full."""
        if self._columns is None:
            return
        first, last = len(old_rows := self._columns), self._d * len(self._nodes)
        if last * self._unknowns > _KEPT:
            self._columns = None
            return
        if last > first:
            grown = np.empty(
                (min(max(2 * first, last), max(int(_KEPT) // self._unknowns, last)), self._unknowns)
            )
            grown[:first] = old_rows
            self._columns = grown
        self._columns[last - len(rows) : last] = rows

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
        load[_unknowns(nodes, self._d)] = forces.T
        return self._solve(load).T


def _unknowns(nodes: Index, d: int) -> Index:
    return np.asarray((d * nodes[:, None] + np.arange(d)).ravel())
