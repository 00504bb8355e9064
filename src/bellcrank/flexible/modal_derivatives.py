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
from bellcrank.math.vectors import IDENTITY, Matrix, Vector
from bellcrank.program.loops import Ints, Reals, Reals2, compiled, entry

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
        loads = -self._loads(basis, pairs)
        Gamma = held.solve(loads)
        # What the frame carries of a load does no work on a displacement that meets its conditions.
        stiff = np.einsum("ij,ij->j", Gamma, loads)
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
            volume = gradients.volume[some]
            lame, shear = self.basis.lame[some][:, 0], self.basis.shear[some][:, 0]
            stress = np.empty((3 * len(pairs) * len(volume), 3 * gradients.points))
            quadratic_stress(G.reshape(len(G) * 9, -1), volume, lame, shear, first, second, stress)
            parts[some] = gradients.loads(stress.reshape(len(volume), 3 * len(pairs), -1), some)
        nodal = gradients.gathered(parts).reshape(gradients.nodes, -1, 3).transpose(0, 2, 1)
        return np.asarray(self.inertia.spread.T @ nodal.reshape(3 * gradients.nodes, -1))


@entry
def quadratic_stress(
    G: Reals2, volume: Reals2, lame: Reals, shear: Reals, first: Ints, second: Ints, out: Reals2
) -> int:
    """C : sym(G_k^T G_l) + G_k sigma_l + G_l sigma_k for pairs (k, l), times the volume of each point.

    G: Gradients by mode and component, (9 n, elements * points). out: (elements * pairs * 3, 3 * points).
    """
    points = volume.shape[1]
    for element in range(volume.shape[0]):
        lam, mu = lame[element], shear[element]
        for pair in range(len(first)):
            row = 3 * (element * len(first) + pair)
            for point in range(points):
                at = element * points + point
                A, B = gradient_of(G, 9 * first[pair], at), gradient_of(G, 9 * second[pair], at)
                across = A.transposed @ B
                own_a, own_b = (A + A.transposed) * mu, (B + B.transposed) * mu
                P = A @ own_b + B @ own_a + (across + across.transposed) * mu
                P = P + A * (lam * B.trace) + B * (lam * A.trace) + IDENTITY * (lam * across.trace)
                P = P * volume[element, point]
                out[row, point], out[row, points + point], out[row, 2 * points + point] = P.a
                out[row + 1, point], out[row + 1, points + point], out[row + 1, 2 * points + point] = P.b
                out[row + 2, point], out[row + 2, points + point], out[row + 2, 2 * points + point] = P.c
    return 0


@compiled
def gradient_of(G: Reals2, first: int, at: int) -> Matrix:
    """The gradient of one mode at a point."""
    return Matrix(
        Vector(G[first, at], G[first + 1, at], G[first + 2, at]),
        Vector(G[first + 3, at], G[first + 4, at], G[first + 5, at]),
        Vector(G[first + 6, at], G[first + 7, at], G[first + 8, at]),
    )
