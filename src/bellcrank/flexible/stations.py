"""Shape integrals over places that carry mass: quadrature points, or the nodes of a lumped model.

A station stands for mass dm at s0, with a small tensor of its own (the section of a beam: int rho r r^T, r
from the centroid). Its points move by d + theta x r, so with D_a = theta x e_a

    int rho phi_k phi_l^T = sum dm d_k d_l^T + sum_ab J_ab D_ka D_lb^T, and likewise with s0 for phi.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LEVI_CIVITA = np.zeros((3, 3, 3))
for _i, _j, _k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    LEVI_CIVITA[_i, _j, _k] = 1.0
    LEVI_CIVITA[_i, _k, _j] = -1.0


@dataclass(frozen=True, eq=False)
class Stations:
    """Where the mass is.

    mass: [kg], (q,). places: [m], (q, 3). spread: Second moment of each station's mass about its place [kg
    m^2], (q, 3, 3).
    """

    mass: Array
    places: Array
    spread: Array

    @cached_property
    def total(self) -> float:
        """[kg]."""
        return float(self.mass.sum())

    def first_moment(self) -> Array:
        """int rho s0, (3,)."""
        return self.mass @ self.places

    def second_moment(self) -> Array:
        """int rho s0 s0^T, (3, 3)."""
        return np.asarray(
            np.einsum("q,qi,qj->ij", self.mass, self.places, self.places) + self.spread.sum(axis=0)
        )

    def momentum(self, displacement: Array) -> Array:
        """int rho phi_k; displacement (q, 3, n) gives (n, 3)."""
        return np.asarray(np.einsum("q,qin->ni", self.mass, displacement))

    def coupling(self, displacement: Array, rotation: Array | None = None) -> Array:
        """int rho phi_k s0^T, (n, 3, 3)."""
        weighted = self.mass[:, None] * self.places
        result = np.tensordot(displacement, weighted, axes=(0, 0)).transpose(1, 0, 2)
        if rotation is not None and self.spread.any():
            turned = np.einsum("iab,qan->qibn", LEVI_CIVITA, rotation)
            result = result + np.einsum("qibn,qbj->nij", turned, self.spread)
        return np.asarray(result)

    def modal_coupling(self, displacement: Array, rotation: Array | None = None) -> Array:
        """int rho phi_k phi_l^T, (n, n, 3, 3)."""
        weighted = self.mass[:, None, None] * displacement
        result = np.tensordot(weighted, displacement, axes=(0, 0)).transpose(1, 3, 0, 2)
        if rotation is not None and self.spread.any():
            turned = np.einsum("iab,qan->qibn", LEVI_CIVITA, rotation)
            spread = np.einsum("qibn,qbc->qicn", turned, self.spread)
            result = result + np.tensordot(spread, turned, axes=((0, 2), (0, 2))).transpose(1, 3, 0, 2)
        return np.ascontiguousarray(result)
