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
from numpy.typing import NDArray

from bellcrank.flexible.model import Array, SecondOrder
from bellcrank.flexible.nodal_inertia import NodalInertia

if TYPE_CHECKING:
    from bellcrank.flexible.held import Held
    from bellcrank.flexible.solids import SolidBasis


Index = NDArray[np.int64]

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
        # The quartic strain energy of a solid is left out: it takes derivatives of third order.
        return SecondOrder(momentum, coupling, places, np.zeros((0, n, n)))

    def _loads(self, basis: Array, pairs: list[tuple[int, int]]) -> Array:
        fields = self.inertia.nodal(basis)
        gradients = self.basis.exact_gradients
        first, second = (np.array(side) for side in zip(*pairs, strict=True))
        parts = np.empty((*gradients.dofs.shape, 3 * len(pairs)))
        for some in gradients.chunks():
            G = gradients.of(fields, some)
            lame, shear = self.basis.lame[some], self.basis.shear[some]
            parts[some] = gradients.loads(_quadratic_stress(G, lame, shear, first, second), some)
        nodal = gradients.gathered(parts).reshape(gradients.nodes, -1, 3).transpose(0, 2, 1)
        return np.asarray(self.inertia.spread.T @ nodal.reshape(3 * gradients.nodes, -1))


def _quadratic_stress(G: Array, lame: Array, shear: Array, first: Index, second: Index) -> Array:
    """C : sym(G_k^T G_l) + G_k sigma_l + G_l sigma_k for the pairs, (pairs, 3, 3, elements, points)."""
    strain = 0.5 * (G + G.swapaxes(1, 2))
    sigma = 2.0 * shear * strain
    trace = lame * np.einsum("niiep->nep", strain)
    for i in range(3):
        sigma[:, i, i] += trace
    # Components one by one: products of 3 x 3 matrices are far too small to be called for.
    a, b, s, t = G[first], G[second], sigma[first], sigma[second]
    P = np.empty_like(a)
    green = {}
    for i in range(3):
        for k in range(i, 3):
            green[i, k] = sum(a[:, j, i] * b[:, j, k] + a[:, j, k] * b[:, j, i] for j in range(3))
    volumetric = 0.5 * lame * (green[0, 0] + green[1, 1] + green[2, 2])
    for i in range(3):
        for k in range(3):
            P[:, i, k] = shear * green[min(i, k), max(i, k)]
            for j in range(3):
                P[:, i, k] += a[:, i, j] * t[:, j, k]
                P[:, i, k] += b[:, i, j] * s[:, j, k]
        P[:, i, i] += volumetric
    return P
