"""The stiffness matrix of an isotropic elastic body, from the gradients of its shape functions.

    K_ai,bj = int lambda d_i N_a d_j N_b + mu (d_j N_a d_i N_b + delta_ij grad N_a . grad N_b)

All three parts are in the one product int d_i N_a d_j N_b, formed for all elements at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]

TOGETHER = 2e7
"""Numbers of element matrices held at a time."""


def isotropic_stiffness(basis: Any, lame: Array, shear: Array, weight: Array | float = 1.0) -> sp.csr_array:
    """K [N/m] over nodal displacements, node by node.

    basis: A scalar basis of scikit-fem. lame, shear: Lame's constants of the elements [Pa], (elements,). weight: Of
    the volume at the quadrature points: the thickness of a plane body.
    """
    gradients = np.stack([np.asarray(one[0].grad) for one in basis.basis])
    a, d, count, points = gradients.shape
    volume = np.asarray(basis.dx) * weight
    dofs = np.asarray(basis.element_dofs, dtype=np.int64)
    pair = (dofs[:, None, :] * basis.N + dofs[None, :, :]).transpose(2, 0, 1).ravel()
    pairs, place = np.unique(pair, return_inverse=True)
    blocks = np.zeros((len(pairs), d, d))
    step = max(1, int(TOGETHER / (a * d) ** 2))
    for first in range(0, count, step):
        some = slice(first, min(first + step, count))
        B = gradients[:, :, some].transpose(2, 0, 1, 3).reshape(-1, a * d, points)
        H = (B * volume[some, None, :]) @ B.transpose(0, 2, 1)
        H = H.reshape(-1, a, d, a, d).transpose(0, 1, 3, 2, 4)
        L, G = lame[some, None, None, None, None], shear[some, None, None, None, None]
        trace = np.einsum("eabii->eab", H)[..., None, None] * np.eye(d)
        K = L * H + G * (H.swapaxes(3, 4) + trace)
        at = place[first * a * a : some.stop * a * a]
        for i in range(d):
            for j in range(d):
                blocks[:, i, j] += np.bincount(at, K[..., i, j].ravel(), len(pairs))
    starts = np.searchsorted(pairs, basis.N * np.arange(basis.N + 1))
    matrix = sp.bsr_array((blocks, pairs % basis.N, starts), shape=(d * basis.N, d * basis.N))
    return sp.csr_array(matrix)
