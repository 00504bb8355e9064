"""Strain and stress of a solid at the corners of its mesh: means over the elements that meet there, by
volume."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from bellcrank.flexible.gradients import Gradients
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
    def corners(self) -> Gradients:
        """Sampled at the corners of every element."""
        from skfem import Basis

        points = np.array(self.basis.mesh.elem.refdom.p, dtype=float)
        quadrature = (points, np.full(points.shape[1], 1.0 / points.shape[1]))
        return Gradients(Basis(self.basis.mesh, self.basis.element, quadrature=quadrature))

    def tensor(self, strain: Array, elements: slice) -> Array:
        """What is averaged."""
        return strain

    def __matmul__(self, basis: Array) -> Array:
        n = basis.shape[1]
        fields = np.asarray(self.spread @ basis).reshape(-1, 3, n)
        mesh, volume = self.basis.mesh, self.corners.volume
        corner, count = np.asarray(mesh.t.T), mesh.nvertices
        values = np.empty((*corner.shape, 6, n))
        for some in self.corners.chunks():
            G = self.corners.of(fields, some)
            found = self.tensor(0.5 * (G + G.swapaxes(1, 2)), some) * volume[some]
            six = np.stack([found[:, i, j] for i, j in PAIRS])
            values[some] = six.transpose(2, 3, 0, 1)
        gather = sp.csr_array(
            (np.ones(corner.size), (corner.ravel(), np.arange(corner.size))), shape=(count, corner.size)
        )
        weight = np.asarray(gather @ volume.ravel())
        mean = np.asarray(gather @ values.reshape(corner.size, -1)) / weight[:, None]
        return np.asarray(mean.reshape(6 * count, n))


class NodalStress(NodalStrain):
    """Stress [Pa] at the nodes from nodal displacements."""

    def tensor(self, strain: Array, elements: slice) -> Array:
        """Hooke's law."""
        sigma = 2.0 * self.basis.shear[elements] * strain
        trace = self.basis.lame[elements] * np.einsum("niiep->nep", strain)
        for i in range(3):
            sigma[:, i, i] += trace
        return np.asarray(sigma)
