"""Strain and stress of a solid at the corners of its mesh: means over the elements that meet there, by
volume."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.flexible.model import Array, Sparse

if TYPE_CHECKING:
    from bellcrank.flexible.solids import SolidBasis

PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))


@dataclass(frozen=True, eq=False)
class NodalStrain:
    """Acts as a matrix (6 corners, N) on a basis; tensor components, so xy is half the engineering shear."""

    basis: SolidBasis
    spread: Sparse

    @cached_property
    def corners(self) -> Any:
        """The vector basis sampled at the corners of every element."""
        from skfem import Basis

        points = np.array(self.basis.mesh.elem.refdom.p, dtype=float)
        return Basis(
            self.basis.mesh,
            self.basis.vector.elem,
            quadrature=(points, np.full(points.shape[1], 1.0 / points.shape[1])),
        )

    def tensor(self, strain: Array) -> Array:
        """What is averaged."""
        return strain

    def __matmul__(self, basis: Array) -> Array:
        nodal = np.asarray(self.spread @ basis)
        t = self.basis.mesh.t.T
        count = self.basis.mesh.nvertices
        volume = np.asarray(self.corners.dx)
        weight = np.bincount(t.ravel(), volume.ravel(), count)
        result = np.empty((count, 6, basis.shape[1]))
        for k in range(basis.shape[1]):
            g = self.basis.gradient(nodal[:, k], self.corners)
            values = self.tensor(0.5 * (g + g.swapaxes(0, 1)))
            for c, (i, j) in enumerate(PAIRS):
                result[:, c, k] = np.bincount(t.ravel(), (volume * values[i, j]).ravel(), count) / weight
        return result.reshape(6 * count, -1)


class NodalStress(NodalStrain):
    """Stress [Pa] at the nodes from nodal displacements."""

    def tensor(self, strain: Array) -> Array:
        """Hooke's law."""
        return self.basis.stress_of(strain)
