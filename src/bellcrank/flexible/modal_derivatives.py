"""The second-order displacement of a solid: quasi-static modal derivatives.

With Green's strain and a linear material the internal force has a quadratic part; what balances it statically
is

    K Gamma_kl = - d^2 f / d eta_k d eta_l, (d^2 f . w) = int [C : sym(G_k^T G_l) + G_k sigma_l + G_l sigma_k]
    : grad w,   G = grad phi, sigma = C : sym(G)

(Idelsohn, Cardona, Comput. Methods Appl. Mech. Eng. 49 (1985) 253; Jain et al., J. Sound Vib. 399 (2017)
172). For a slender body's bending this is the foreshortening of a beam. The static balance holds only where
Gamma_kl answers faster than both modes move: pairs whose Gamma_kl has a Rayleigh frequency below 1.5 times
that of one of its modes are left out. They are the pairs (stretch, bending) and (stretch, stretch); without
the former the strain energy stays quadratic to third order, the latter are a matter of the material law
rather than of geometry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bellcrank.flexible.model import Array, SecondOrder
from bellcrank.flexible.nodal_inertia import NodalInertia

if TYPE_CHECKING:
    from bellcrank.flexible.held import Held
    from bellcrank.flexible.solids import SolidBasis


SEPARATION = 1.5
"""Least ratio of the frequency of the answer to those of the modes that cause it."""


class ModalDerivatives:
    """Second-order displacement of a solid body."""

    def __init__(self, basis: SolidBasis, inertia: NodalInertia) -> None:
        self.basis = basis
        self.inertia = inertia

    def second_order(self, basis: Array, held: Held) -> SecondOrder:
        """Of the columns of `basis` (N, n), meeting the conditions of the frame."""
        n = basis.shape[1]
        K, M = held.model.stiffness_matrix, held.model.mass_matrix
        own = np.einsum("ij,ij->j", basis, K @ basis) / np.einsum("ij,ij->j", basis, M @ basis)
        pairs = [(k, j) for k in range(n) for j in range(k, n)]
        Gamma = held.solve(-self._loads(basis, pairs))
        stiff = np.einsum("ij,ij->j", Gamma, K @ Gamma)
        heavy = np.einsum("ij,ij->j", Gamma, M @ Gamma)
        slow = np.array(
            [stiff[p] < SEPARATION**2 * max(own[k], own[j]) * heavy[p] for p, (k, j) in enumerate(pairs)]
        )
        Gamma[:, slow] = 0.0
        parts = self.inertia.integrals_linear(Gamma)
        momentum, coupling = np.zeros((n, n, 3)), np.zeros((n, n, 3, 3))
        places = {name: np.zeros((3, n, n)) for name in held.model.places}
        at = {name: np.asarray(place.translation @ Gamma) for name, place in held.model.places.items()}
        for p, (k, j) in enumerate(pairs):
            momentum[k, j] = momentum[j, k] = parts[0][p]
            coupling[k, j] = coupling[j, k] = parts[1][p]
            for name in places:
                places[name][:, k, j] = places[name][:, j, k] = at[name][:, p]
        return SecondOrder(momentum, coupling, places)

    def _loads(self, basis: Array, pairs: list[tuple[int, int]]) -> Array:
        nodal = np.asarray(self.inertia.spread @ basis)
        G = [self.basis.gradient(nodal[:, k]) for k in range(basis.shape[1])]
        sigma = [self.basis.stress_of(0.5 * (g + g.swapaxes(0, 1))) for g in G]
        columns = []
        for k, j in pairs:
            product = np.einsum("ji...,jk...->ik...", G[k], G[j])
            P = self.basis.stress_of(0.5 * (product + product.swapaxes(0, 1)))
            P = (
                P
                + np.einsum("ij...,jk...->ik...", G[k], sigma[j])
                + np.einsum("ij...,jk...->ik...", G[j], sigma[k])
            )
            columns.append(self.basis.load_of(P))
        return np.asarray(self.inertia.spread.T @ np.stack(columns, axis=1))
