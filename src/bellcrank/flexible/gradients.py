"""Gradients of many displacement fields of a solid at once, and nodal loads that work on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from bellcrank.flexible.model import Array

TOGETHER = 64
"""Points taken at once: their numbers for some hundred pairs of modes stay in the cache."""


class Gradients:
    """The gradients of the shape functions at points of the elements.

    basis: A scalar basis of scikit-fem; its quadrature says where.
    """

    def __init__(self, basis: Any) -> None:
        grads = np.stack([np.asarray(one[0].grad) for one in basis.basis])
        a, _, elements, points = grads.shape
        self.dofs = np.asarray(basis.element_dofs).T
        self.shapes = np.ascontiguousarray(grads.transpose(2, 0, 1, 3)).reshape(elements, a, 3 * points)
        self.volume = np.ascontiguousarray(basis.dx)
        self.nodes, self.points, self.corners = int(basis.N), points, a

    def chunks(self) -> Iterator[slice]:
        """Elements taken together."""
        step = max(1, TOGETHER // self.points)
        for first in range(0, len(self.dofs), step):
            yield slice(first, min(first + step, len(self.dofs)))

    def of(self, fields: Array, elements: slice) -> Array:
        """du_i/dx_j of nodal displacements (nodes, 3, n): (n, 3, 3, elements, points)."""
        n = fields.shape[2]
        local = fields[self.dofs[elements]].transpose(0, 3, 2, 1).reshape(-1, 3 * n, self.corners)
        found = (local @ self.shapes[elements]).reshape(-1, n, 3, 3, self.points)
        return np.ascontiguousarray(found.transpose(1, 2, 3, 0, 4))

    def loads(self, weighted: Array, elements: slice) -> Array:
        """int tensor : grad w over each element for unit w at its nodes, (elements, corners, 3 n).

        weighted: Tensors times the volume of each point, (elements, 3 n, 3 points), directions before points.
        """
        return np.asarray((weighted @ self.shapes[elements].swapaxes(1, 2)).swapaxes(1, 2))

    def gathered(self, parts: Array) -> Array:
        """Sums over the elements at each node; (elements, corners, c) gives (nodes, c)."""
        where = self.dofs.ravel()
        gather = sp.csr_array(
            (np.ones(len(where)), (where, np.arange(len(where)))), shape=(self.nodes, len(where))
        )
        return np.asarray(gather @ parts.reshape(len(where), -1))
