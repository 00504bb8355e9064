"""All bodies of a run as one system of equations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.lattices import Array, Index
from bellcrank.errors import ModelError, SingularMechanism
from bellcrank.sparse.cholesky import Elimination, Factor, NotPositive
from bellcrank.sparse.iterations import solve_mass
from bellcrank.sparse.progress import factorised


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

    def factor(self, matrix: sp.csr_array) -> FreeFactor:
        """The factors of a matrix over the unknowns that are not held."""
        free = self.free
        inner = sp.csr_array(matrix[free][:, free])
        elimination = Elimination(inner, self.nodes[free // self.dimension])
        try:
            return FreeFactor(self.unknowns, free, factorised(elimination, inner))
        except NotPositive as error:
            body = self.bodies[
                int(np.searchsorted(self.first_node, free[error.unknown] // self.dimension, side="right")) - 1
            ]
            raise SingularMechanism(
                f"the matrix of {body.name!r} is singular; check supports, density and the mesh"
            ) from error

    def accelerated(self, load: Array) -> Array:
        """Accelerations [m/s^2] of the free unknowns under nodal forces [N]."""
        free = self.free
        inner = sp.csr_array(self.mass[free][:, free])
        found = np.zeros_like(load)
        settled = solve_mass(inner, load[free])
        found[free] = self.factor(self.mass).solve(load)[free] if settled is None else settled
        return found


class FreeFactor:
    """Factors over the free unknowns; held ones stay."""

    def __init__(self, unknowns: int, free: Index, inner: Factor) -> None:
        self.unknowns, self.free, self.inner = unknowns, free, inner
        self._place = np.full(unknowns, -1, dtype=np.int64)
        self._place[free] = np.arange(len(free))

    def solve(self, right: Array) -> Array:
        """Displacements from right-hand sides, shape (unknowns,) or (unknowns, k)."""
        found = np.zeros_like(right)
        found[self.free] = self.inner.solve(right[self.free])
        return found

    def half(self, unknowns: Index) -> tuple[Index, Array]:
        """Rows y, and their numbers, with y^T y the inverse at some unknowns; held ones have zero columns."""
        at = self._place[unknowns]
        rows, some = self.inner.half(at[at >= 0])
        y = np.zeros((len(rows), len(unknowns)))
        y[:, at >= 0] = some
        return rows, y


def _blocks(matrices: Sequence[sp.csr_array]) -> sp.csr_array:
    return matrices[0] if len(matrices) == 1 else sp.csr_array(sp.block_diag(matrices, format="csr"))
