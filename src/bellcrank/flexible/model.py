"""An elastic body before reduction: matrices, places, and how its mass moves with its freedoms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import unknown_name

if TYPE_CHECKING:
    from bellcrank.flexible.damping import Damping
    from bellcrank.flexible.frames import MemberFrame
    from bellcrank.flexible.held import Held
    from bellcrank.flexible.member import Member
    from bellcrank.flexible.modes import Reduction
    from bellcrank.flexible.recipe import ModelRecipe
    from bellcrank.sparse.cholesky import Forecast

Array = NDArray[np.float64]
Sparse = Any
"""A SciPy sparse matrix or array; their types do not agree between versions."""


@dataclass(frozen=True, eq=False)
class Place:
    """A named point of the unreduced body.

    position: [m], (3,). translation, rotation: Matrices (3, N) from the freedoms to the displacement and the
    small rotation. numbered: Whether it has no name but its number; what modes miss there is not worth a look.
    """

    name: str
    position: Array
    translation: Sparse
    rotation: Sparse
    numbered: bool = False


@dataclass(frozen=True, eq=False)
class FieldMatrix:
    """A recoverable quantity: points (p, 3), matrix (p * c, N) point by point, names of components, unit,
    cells."""

    points: Array
    matrix: Sparse
    components: tuple[str, ...]
    unit: str
    cells: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Integrals:
    """The shape integrals of a basis; see :class:`bellcrank.flexible.member.Member`."""

    momentum: Array
    coupling: Array
    modal_coupling: Array


@dataclass(frozen=True, eq=False)
class SecondOrder:
    """Second-order displacement: int rho Gamma_kl (n, n, 3), int rho Gamma_kl s0^T (n, n, 3, 3), at places
    (3, n, n); and the strain energy 1/2 sum_s (1/2 eta^T H_s eta)^2 it brings, H (s, n, n)."""

    momentum: Array
    coupling: Array
    places: Mapping[str, Array]
    curving: Array

    @staticmethod
    def none(n: int) -> SecondOrder:
        """Nothing of second order."""
        return SecondOrder(np.zeros((n, n, 3)), np.zeros((n, n, 3, 3)), {}, np.zeros((0, n, n)))


class Inertia(Protocol):
    """How the mass of a body moves with its freedoms."""

    def integrals(self, basis: Array) -> Integrals:
        """Shape integrals of the columns of `basis` (N, n)."""
        ...


class Stiffening(Protocol):
    """The second-order displacement that goes with a first-order one."""

    def second_order(self, basis: Array, held: Held) -> SecondOrder:
        """Of the columns of `basis` (N, n), in the frame `held`."""
        ...


@dataclass(frozen=True, eq=False)
class ElasticModel:
    """An elastic body with N freedoms, ready to be reduced.

    mass_matrix, stiffness_matrix: (N, N), sparse, symmetric. rigid: The six rigid motions (translations,
    rotations about the origin) in the freedoms, (N, 6); zero columns where the model cannot move so (a planar
    beam). freedom_places: Where each freedom acts [m], (N, 3). twist_share: How much of a shape's kinetic energy is
    twist about the axis, for beams.
    recipe: How the model was made, where a file can say it.
    """

    name: str
    mass: float
    first_moment: Array
    second_moment: Array
    mass_matrix: Sparse
    stiffness_matrix: Sparse
    rigid: Array
    freedom_places: Array
    places: Mapping[str, Place]
    inertia: Inertia
    stiffening: Stiffening | None = None
    fields: Mapping[str, FieldMatrix] = field(default_factory=dict)
    twist_share: Callable[[Array], float] | None = None
    recipe: ModelRecipe | None = None

    @property
    def freedoms(self) -> int:
        """N."""
        return int(self.stiffness_matrix.shape[0])

    def place(self, name: str) -> Place:
        """The place of this name."""
        if name not in self.places:
            raise unknown_name(f"node of {self.name!r}", name, self.places)
        return self.places[name]

    def reduce(
        self,
        reduction: Reduction,
        frame: MemberFrame | None = None,
        damping: Damping | None = None,
        stiffening: bool = True,
        progress: bool | None = False,
    ) -> Member:
        """The member with the modal coordinates of `reduction`, in `frame` (by default the mean axes).

        damping: Ratios or Rayleigh factors; none by default. stiffening: Whether second-order displacements
        are kept. progress: A bar while matrices are factorised, with the time and memory they take; None shows it on a
        terminal only.
        """
        from bellcrank.flexible.reduce import reduced

        return reduced(self, reduction, frame, damping, stiffening, progress)

    def forecast(self) -> Forecast:
        """Time and memory of a factorisation of this body, before it is begun; a reduction takes one or two."""
        from bellcrank.sparse.cholesky import Elimination

        return Elimination(self.stiffness_matrix, self.freedom_places).forecast


def distributed_rows(matrix: Sparse, basis: Array, width: int) -> Array:
    """(p * width, N) times (N, n), as (p, width, n)."""
    product = np.asarray(matrix @ basis)
    return product.reshape(-1, width, basis.shape[1])
