"""All bodies of a run as one system of equations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.lattices import Array, Index
from bellcrank.errors import ModelError, SingularMechanism

_TOGETHER = 4
"""Right-hand sides solved at once."""


class Assembled:
    """Block-diagonal matrices of several bodies; nodes and unknowns are numbered through."""

    def __init__(self, bodies: Sequence[ElasticBody]) -> None:
        if not bodies:
            raise ModelError("a simulation needs at least one body")
        kinds = {(body.dimension, body.axisymmetric) for body in bodies}
        if len(kinds) > 1:
            raise ModelError("bodies of one run must all be plane, all axisymmetric or all solid")
        names = [body.name for body in bodies]
        if len(set(names)) < len(names):
            raise ModelError(f"bodies need different names, not {', '.join(names)}")
        self.bodies = tuple(bodies)
        self.dimension = bodies[0].dimension
        self.axisymmetric = bodies[0].axisymmetric
        counts = [len(body.nodes) for body in bodies]
        self.first_node = np.concatenate([[0], np.cumsum(counts)])

    @property
    def unknowns(self) -> int:
        """Number of unknowns, held ones included."""
        return int(self.first_node[-1]) * self.dimension

    @cached_property
    def nodes(self) -> Array:
        """Positions [m]."""
        return np.vstack([body.nodes for body in self.bodies])

    @cached_property
    def stiffness(self) -> sp.csr_array:
        """K."""
        return _blocks([body.stiffness_matrix for body in self.bodies])

    @cached_property
    def mass(self) -> sp.csr_array:
        """M."""
        return _blocks([body.mass_matrix for body in self.bodies])

    @cached_property
    def damping(self) -> sp.csr_array | None:
        """D, or nothing where no body has damping."""
        if not any(b.material.mass_damping or b.material.stiffness_damping for b in self.bodies):
            return None
        return _blocks([body.damping_matrix for body in self.bodies])

    @cached_property
    def load(self) -> Array:
        """Nodal forces of body forces [N]."""
        return np.concatenate([body.load for body in self.bodies])

    @cached_property
    def held(self) -> Index:
        """Held unknowns."""
        starts = self.first_node[:-1] * self.dimension
        return np.concatenate([body.held + s for body, s in zip(self.bodies, starts, strict=True)]).astype(
            np.int64
        )

    @cached_property
    def held_at(self) -> Array:
        """Where they are held [m]."""
        return np.concatenate([body.held_at for body in self.bodies])

    @cached_property
    def free(self) -> Index:
        """Unknowns that are not held."""
        return np.setdiff1d(np.arange(self.unknowns), self.held)

    @cached_property
    def start_velocity(self) -> Array:
        """[m/s]."""
        return np.concatenate([body.start_velocity for body in self.bodies])

    def nodes_of(self, body: ElasticBody) -> slice:
        """The nodes of a body among all."""
        for k, other in enumerate(self.bodies):
            if other is body:
                return slice(int(self.first_node[k]), int(self.first_node[k + 1]))
        raise ModelError(f"{body.name!r} is in a contact, but not among the bodies of the run")

    def solver(self, matrix: sp.csr_array) -> Callable[[Array], Array]:
        """Factorise once; what comes back solves for right-hand sides, shape (unknowns,) or (unknowns, k)."""
        free = self.free
        inner = sp.csc_array(matrix[free][:, free])
        try:
            factors = splu(
                inner, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
            )
        except RuntimeError as error:
            names = ", ".join(repr(body.name) for body in self.bodies)
            raise SingularMechanism(
                f"the matrix of {names} is singular ({error}); check supports, density and the mesh"
            ) from error

        def solve(right: Array) -> Array:
            found = np.zeros_like(right)
            if right.ndim == 1:
                found[free] = factors.solve(right[free])
                return found
            # SuperLU slows down by far where many right-hand sides leave the cache.
            for k in range(0, right.shape[1], _TOGETHER):
                found[free, k : k + _TOGETHER] = factors.solve(right[free, k : k + _TOGETHER])
            return found

        return solve


def _blocks(matrices: Sequence[sp.csr_array]) -> sp.csr_array:
    return matrices[0] if len(matrices) == 1 else sp.csr_array(sp.block_diag(matrices, format="csr"))
