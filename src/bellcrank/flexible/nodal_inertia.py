"""Shape integrals where every direction shares one scalar mass matrix: solids, and given matrices of that
form.

With nodal displacements phi (s, 3) and places x (s, 3) of the scalar freedoms, int rho phi_i phi_j = phi_i^T
m phi_j and int rho phi_i x_j = phi_i^T m x_j: exact for isoparametric elements.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from bellcrank.flexible.model import Array, Integrals, Sparse


@dataclass(frozen=True, eq=False)
class NodalInertia:
    """mass: Scalar mass matrix (s, s) [kg]. places: (s, 3) [m]. spread: From the freedoms to nodal
    displacements, node by node, (3 s, N)."""

    mass: Sparse
    places: Array
    spread: Sparse

    def nodal(self, basis: Array) -> Array:
        """Nodal displacements of the columns of `basis`, (s, 3, n)."""
        return np.asarray(self.spread @ basis).reshape(len(self.places), 3, -1)

    def integrals(self, basis: Array) -> Integrals:
        """Of the columns of `basis` (N, n)."""
        return self.integrals_of(self.nodal(basis))

    def integrals_of(self, phi: Array) -> Integrals:
        """Of nodal displacements (s, 3, n)."""
        s, _, n = phi.shape
        weighted = np.asarray(self.mass @ phi.reshape(s, 3 * n)).reshape(s, 3, n)
        momentum = weighted.sum(axis=0).T
        coupling = np.einsum("sin,sj->nij", weighted, self.places)
        GG = np.tensordot(weighted, phi, axes=(0, 0)).transpose(1, 3, 0, 2)
        return Integrals(np.asarray(momentum), np.asarray(coupling), np.ascontiguousarray(GG))

    def integrals_linear(self, basis: Array) -> tuple[Array, Array]:
        """int rho phi_k (n, 3) and int rho phi_k s0^T (n, 3, 3) alone, for many columns."""
        phi = self.nodal(basis)
        weights = np.asarray(self.mass.sum(axis=0)).ravel()
        moments = np.asarray(self.mass @ self.places)
        return np.einsum("s,sin->ni", weights, phi), np.einsum("sin,sj->nij", phi, moments)

    def rigid_moments(self) -> tuple[float, Array, Array]:
        """Mass, first and second moment."""
        weighted = np.asarray(self.mass @ self.places)
        return float(self.mass.sum()), weighted.sum(axis=0), self.places.T @ weighted

    def matrix(self) -> Sparse:
        """The mass matrix over the freedoms."""
        return sp.csr_array(self.spread.T @ sp.kron(self.mass, sp.eye_array(3), format="csr") @ self.spread)


def rigid_motions(places: Array) -> Array:
    """The six rigid motions at places (s, 3), as (3 s, 6): translations, rotations about the origin."""
    x, y, z = places.T
    o, one = np.zeros_like(x), np.ones_like(x)
    columns = [
        (one, o, o),
        (o, one, o),
        (o, o, one),
        (o, -z, y),
        (z, o, -x),
        (-y, x, o),
    ]
    return np.stack([np.column_stack(c).ravel() for c in columns], axis=1)
