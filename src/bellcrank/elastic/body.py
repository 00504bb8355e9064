"""Elastic bodies: mesh, material, supports, start and loads; matrices assembled when first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from bellcrank.elastic import assembly, checks
from bellcrank.elastic.elements import Element, element_of
from bellcrank.elastic.lattices import Array, Index
from bellcrank.elastic.material import Analysis, Mass
from bellcrank.elastic.surface import Surface, surface
from bellcrank.errors import ModelError
from bellcrank.fe.material import Material
from bellcrank.sparse.cholesky import Elimination, Factor, Forecast

Where = Callable[[Array], Any]
"""Picks points: takes positions, shape (k, d) [m], returns k truth values."""


@dataclass(frozen=True)
class Support:
    """Directions in which nodes are held.

    where: picks the nodes. directions: letters of the axes, such as "x y" (axisymmetric: "x" the radius, "y" the axis).
    displacement: where they are held, the same for all [m].
    """

    where: Where
    directions: str = "xyz"
    displacement: float = 0.0


@dataclass(frozen=True, eq=False)
class ElasticBody:
    """A linear elastic body of finite elements.

    mesh: of scikit-fem; its kind decides the element. thickness: of a plane body [m]. velocity: initial velocity of the
    body as a whole, or a function of the positions, shape (k, d), giving velocities [m/s]. body_force: per volume
    [N/m^3], such as density times gravity. mass: consistent or lumped.
    """

    mesh: Any
    material: Material
    analysis: Analysis = Analysis.PLANE_STRAIN
    name: str = "body"
    thickness: float = 1.0
    velocity: Sequence[float] | Callable[[Array], Array] = ()
    body_force: Sequence[float] = ()
    mass: Mass = Mass.CONSISTENT
    supports: tuple[Support, ...] = ()

    def __post_init__(self) -> None:
        d = self.analysis.dimension
        if self.element.dimension != d:
            raise ModelError(f"{self.name!r}: a {self.analysis} body cannot have elements {self.element}")
        for what in ("velocity", "body_force"):
            value = getattr(self, what)
            if not callable(value) and len(value) not in (0, d):
                raise ModelError(f"{self.name!r}: {what} needs {d} components, not {len(value)}")
            if not callable(value) and not np.isfinite(value).all():
                raise ModelError(f"{self.name!r}: {what} must be finite numbers, not {tuple(value)}")
        if not np.isfinite(self.mesh.p).all():
            raise ModelError(
                f"{self.name!r}: places of the mesh must be finite; check its sizes and its centre"
            )
        if not (np.isfinite(self.thickness) and self.thickness > 0.0):
            raise ModelError(f"{self.name!r}: thickness must be positive, not {self.thickness}")
        if (
            self.analysis is Analysis.AXISYMMETRIC
            and self.mesh.p[0].min() < -1e-9 * np.abs(self.mesh.p[0]).max()
        ):
            raise ModelError(f"{self.name!r}: an axisymmetric mesh must lie at radius x >= 0")
        checks.check_elements(self.mesh, self.fields.scalar, self.name)

    @property
    def element(self) -> Element:
        """The element of the mesh."""
        return element_of(self.mesh)

    @property
    def dimension(self) -> int:
        """Coordinates of a point."""
        return self.analysis.dimension

    @property
    def axisymmetric(self) -> bool:
        """Whether the mesh is the half section of a body of revolution."""
        return self.analysis is Analysis.AXISYMMETRIC

    @cached_property
    def fields(self) -> assembly.Fields:
        """Function spaces."""
        try:
            return assembly.fields(self.mesh, self.element, self.analysis, self.thickness)
        except Exception as error:
            # scikit-fem has no name for its error of elements without extent.
            if type(error) is not Exception:
                raise
            raise ModelError(
                f"elements of the mesh of {self.name!r} are flat up to rounding ({error}); check its sizes [m], and "
                "that it does not lie far from the origin for its size"
            ) from error

    @cached_property
    def nodes(self) -> Array:
        """Positions of the nodes [m], shape (k, d)."""
        return np.ascontiguousarray(self.fields.scalar.doflocs.T)

    @cached_property
    def surface(self) -> Surface:
        """The boundary."""
        return surface(self.fields, self.element.order, self.axisymmetric)

    @cached_property
    def stiffness_matrix(self) -> sp.csr_array:
        """K [N/m]."""
        return assembly.stiffness(self.fields, self.material, self.analysis)

    @cached_property
    def mass_matrix(self) -> sp.csr_array:
        """M [kg]."""
        return assembly.mass(self.fields, self.material.density, self.mass)

    @cached_property
    def projector(self) -> Factor:
        """Factors of the matrix of products of shape functions, for least-squares fits."""
        gram = assembly.mass(self.fields, 1.0, Mass.CONSISTENT)[:: self.dimension, :: self.dimension]
        return Elimination(gram, self.nodes).factorised(gram)

    def forecast(self) -> Forecast:
        """Time and memory of the factorisation that a run with this body begins with, before it is begun."""
        free = np.setdiff1d(np.arange(self.nodes.size), self.held)
        return Elimination(self.stiffness_matrix[free][:, free], self.nodes[free // self.dimension]).forecast

    @cached_property
    def damping_matrix(self) -> sp.csr_array:
        """Rayleigh damping [N s/m]."""
        a, b = self.material.mass_damping, self.material.stiffness_damping
        return sp.csr_array(a * self.mass_matrix + b * self.stiffness_matrix)

    @cached_property
    def node_masses(self) -> Array:
        """The mass that goes with each node [kg]; their sum is the mass of the body."""
        return self.material.density * assembly.volume_weights(self.fields)

    @property
    def total_mass(self) -> float:
        """Mass [kg], of the full turn for an axisymmetric body."""
        return float(self.node_masses.sum())

    @cached_property
    def load(self) -> Array:
        """Nodal forces of the body force [N]."""
        force = np.asarray(self.body_force or np.zeros(self.dimension), float)
        if self.axisymmetric and force[0] != 0.0:
            raise ModelError(
                f"{self.name!r}: a radial body force is not uniform in space; only the axial one is"
            )
        return np.outer(self.node_masses / self.material.density, force).ravel()

    @cached_property
    def start_velocity(self) -> Array:
        """Initial velocities of the unknowns [m/s]."""
        if callable(self.velocity):
            found = np.asarray(self.velocity(self.nodes), float)
            if found.shape != self.nodes.shape or not np.isfinite(found).all():
                raise ModelError(
                    f"{self.name!r}: the function of its velocity must give {self.dimension} finite numbers a place"
                )
        else:
            found = np.tile(
                np.asarray(self.velocity or np.zeros(self.dimension), float), (len(self.nodes), 1)
            )
        if self.axisymmetric and np.any(found[:, 0] != 0.0) and not callable(self.velocity):
            raise ModelError(f"{self.name!r}: an axisymmetric body can only move along its axis")
        v = found.ravel().copy()
        v[self.held] = 0.0
        return v

    @cached_property
    def _held(self) -> tuple[Index, Array]:
        d = self.dimension
        value = np.full(self.nodes.size, np.nan)
        if self.axisymmetric:
            value[d * np.flatnonzero(np.abs(self.nodes[:, 0]) < 1e-9 * self.nodes[:, 0].max())] = 0.0
        for support in self.supports:
            picked = np.flatnonzero(np.asarray(support.where(self.nodes), dtype=bool))
            if picked.size == 0:
                raise ModelError(
                    f"a support of {self.name!r} picks no node; its `where` takes positions, shape (nodes, {d})"
                )
            for letter in support.directions.replace(" ", ""):
                axis = "xyz".find(letter)
                if axis < 0:
                    raise ModelError(
                        f"a support of {self.name!r} names direction {letter!r}; there are x, y and z"
                    )
                if axis < d:
                    value[d * picked + axis] = support.displacement
        held = np.flatnonzero(~np.isnan(value))
        return held, value[held]

    @property
    def held(self) -> Index:
        """Unknowns that supports, and the axis of revolution, hold."""
        return self._held[0]

    @property
    def held_at(self) -> Array:
        """Displacements of the held unknowns [m]."""
        return self._held[1]

    def extent(self, direction: Array) -> float:
        """Length of the body along a direction [m]."""
        return float(np.ptp(self.nodes @ direction))
