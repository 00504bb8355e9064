"""A flexible body reduced to modal coordinates: what the equations of motion need to know of it.

The point that was at s0 in member axes is, deformed, at

    s = s0 + sum_k phi_k(s0) eta_k + 1/2 sum_kl Gamma_kl(s0) eta_k eta_l,

eta being the modal coordinates. The last sum is the second-order displacement of a body whose material does
not stretch (a bent beam's end comes nearer); with it the inertia and the loads stiffen the body
geometrically. All integrals are over rho dV, in member axes, about the member's origin.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.errors import ModelError, unknown_name
from bellcrank.flexible.recipe import MemberRecipe
from bellcrank.flexible.recovery import Field
from bellcrank.flexible.truncation import Truncation

Array = NDArray[np.float64]

SAME_PLACE = 1e-6
"""A position names a node if it lies within this share of the member's extent from it."""
SAME_POINT = 1e-9
"""Share of the member's extent within which a point of a field and a node are one."""


class FlexibleMember(ABC):
    """A body that deforms: what model, equations and results need to know of every kind of them.

    A member has `modes` coordinates of its own, `nodes` where joints, forces and markers sit, and `fields` that are
    linear in the coordinates. mass: [kg]. first_moment: int rho s0, (3,). second_moment: int rho s0 s0^T, (3, 3); both
    undeformed, in member axes. stiffness, damping: (n, n).
    """

    name: str

    if TYPE_CHECKING:

        @property
        def mass(self) -> float: ...
        @property
        def modes(self) -> int: ...
        @property
        def first_moment(self) -> Array: ...
        @property
        def second_moment(self) -> Array: ...
        @property
        def stiffness(self) -> Array: ...
        @property
        def damping(self) -> Array: ...
        @property
        def nodes(self) -> Mapping[str, Any]: ...
        @property
        def fields(self) -> Mapping[str, Field]: ...

    @property
    @abstractmethod
    def coordinate_names(self) -> tuple[str, ...]:
        """Of its coordinates."""

    @abstractmethod
    def node(self, name_or_position: Any) -> Any:
        """The node of this name, or at this position [m, member axes]."""

    @property
    def loop_advice(self) -> str:
        """What it lacks that a closed loop may need; empty where it lacks nothing."""
        return ""

    @property
    @abstractmethod
    def extent(self) -> float:
        """Its size [m]."""

    @abstractmethod
    def position(self, node: Any, coordinates: ArrayLike) -> Array:
        """Where a node is, deformed, in member axes [m]; coordinates: (..., n) gives (..., 3)."""

    @property
    @abstractmethod
    def drawn_points(self) -> Array:
        """The points by which it is drawn, undeformed, in member axes [m], (p, 3)."""

    @property
    @abstractmethod
    def drawn_cells(self) -> NDArray[np.int64]:
        """Elements or edges between those points, (m, corners)."""

    @abstractmethod
    def drawn(self, coordinates: ArrayLike) -> Array:
        """The points, deformed, for coordinates (..., n): (..., p, 3)."""

    def _named(self, name: str) -> Any:
        if name not in self.nodes:
            raise unknown_name(f"node of member {self.name!r}", name, self.nodes)
        return self.nodes[name]

    def recover(self, name: str, coordinates: ArrayLike) -> Array:
        """A field ("displacement", "strain", "stress", ...) at all its points; (..., n) gives (..., points,
        components)."""
        if name not in self.fields:
            raise unknown_name(f"field of member {self.name!r}", name, self.fields)
        return self.fields[name].of(coordinates)


@dataclass(frozen=True, eq=False)
class Node:
    """A point of the member where joints, forces and markers may sit.

    position: Undeformed, member axes [m], (3,). translation: Displacement per unit modal coordinate, (3, n).
    rotation: Small rotation vector per unit modal coordinate [rad], (3, n). shortening: Second-order
    displacement, (3, n, n), symmetric in the last two, zero where stiffening is off or unknown.
    """

    name: str
    position: Array
    translation: Array
    rotation: Array
    shortening: Array

    @property
    def axes(self) -> Array:
        """Of a frame at the node, undeformed: those of the member."""
        return np.eye(3)


@dataclass(frozen=True, eq=False)
class Member(FlexibleMember):
    """A flexible body of n modal coordinates; integrals over rho dV in member axes about the member's origin.

    mass: [kg]. first_moment: int rho s0, (3,). second_moment: int rho s0 s0^T, (3, 3).
    momentum: int rho phi_k, (n, 3). coupling: int rho phi_k s0^T, (n, 3, 3).
    modal_coupling: int rho phi_k phi_l^T, (n, n, 3, 3); its trace over the last two is the modal mass.
    stiffness, damping: (n, n). shortening_momentum: int rho Gamma_kl, (n, n, 3).
    shortening_coupling: int rho Gamma_kl s0^T, (n, n, 3, 3). curving: H of the strain energy
    1/2 sum_s (1/2 eta^T H_s eta)^2 that goes with it, (s, n, n). frequencies: Of the modes [Hz].
    fields: What can be recovered from the modal coordinates, by name: displacement, strain, stress...
    recipe: How the member was made, where a model file can say it; else its numbers are written.
    """

    name: str
    mass: float
    first_moment: Array
    second_moment: Array
    modes: int
    momentum: Array
    coupling: Array
    modal_coupling: Array
    stiffness: Array
    damping: Array
    shortening_momentum: Array
    shortening_coupling: Array
    nodes: Mapping[str, Node]
    frequencies: Array
    truncation: Truncation
    curving: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))
    fields: Mapping[str, Field] = field(default_factory=dict)
    recipe: MemberRecipe | None = None

    def node(self, name_or_position: Any) -> Node:
        """The node of this name, or the one at this position [m, member axes]."""
        if isinstance(name_or_position, Node):
            return name_or_position
        if isinstance(name_or_position, str):
            return cast("Node", self._named(name_or_position))
        where = np.asarray(name_or_position, dtype=float)
        if where.shape != (3,):
            raise ModelError(
                f"a node of member {self.name!r} is asked for by name or by position (x, y, z), "
                f"not by {name_or_position!r}"
            )
        nearest = min(self.nodes.values(), key=lambda node: float(np.linalg.norm(node.position - where)))
        distance = float(np.linalg.norm(nearest.position - where))
        if distance > SAME_PLACE * self.extent:
            place = ", ".join(f"{x:.6g}" for x in nearest.position)
            raise ModelError(
                f"member {self.name!r} has no node at ({', '.join(f'{x:.6g}' for x in where)}); the nearest is "
                f"{nearest.name!r} at ({place}), {distance:.3g} m away; ask for that one, or add a point there"
            )
        return nearest

    @property
    def extent(self) -> float:
        """The diagonal of the box around the nodes [m]."""
        places = np.array([node.position for node in self.nodes.values()])
        size = float(np.linalg.norm(places.max(axis=0) - places.min(axis=0)))
        return size if size > 0 else max(float(np.abs(places).max()), 1.0)

    @property
    def modal_mass(self) -> Array:
        """int rho phi_k . phi_l, (n, n)."""
        return np.asarray(np.trace(self.modal_coupling, axis1=2, axis2=3))

    @property
    def inertia(self) -> Array:
        """The undeformed body's inertia matrix about the member's origin [kg m^2], (3, 3)."""
        return np.asarray(np.trace(self.second_moment) * np.eye(3) - self.second_moment)

    @property
    def center_of_mass(self) -> Array:
        """Of the undeformed body, member axes [m], (3,)."""
        return self.first_moment / self.mass

    def without_stiffening(self) -> Member:
        """The same member in the linear theory: no second-order displacement anywhere."""
        nodes = {
            name: replace(node, shortening=np.zeros_like(node.shortening))
            for name, node in self.nodes.items()
        }
        return replace(
            self,
            nodes=nodes,
            shortening_momentum=np.zeros_like(self.shortening_momentum),
            shortening_coupling=np.zeros_like(self.shortening_coupling),
            curving=self.curving[:0],
            recipe=None if self.recipe is None else replace(self.recipe, stiffening=False),
        )

    def position(self, node: Any, coordinates: ArrayLike) -> Array:
        """Where a node is, deformed, in member axes [m]; coordinates: (..., n) gives (..., 3)."""
        at = self.node(node)
        eta = np.asarray(coordinates, dtype=float)
        second = 0.5 * np.einsum("ikl,...k,...l->...i", at.shortening, eta, eta)
        return np.asarray(at.position + eta @ at.translation.T + second)

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Of its modes."""
        return tuple(f"mode {k + 1}" for k in range(self.modes))

    @cached_property
    def _lined_up(self) -> list[str]:
        """Nodes in order, for members that have no field of displacement."""
        return sorted(self.nodes, key=lambda n: tuple(self.nodes[n].position))

    @property
    def drawn_points(self) -> Array:
        """The points of the displacement field, or else the nodes."""
        if "displacement" in self.fields:
            return np.array(self.fields["displacement"].points)
        return np.array([self.nodes[n].position for n in self._lined_up])

    @property
    def drawn_cells(self) -> NDArray[np.int64]:
        """Elements or edges between those points."""
        if "displacement" in self.fields:
            return np.asarray(self.fields["displacement"].cells, dtype=np.int64)
        count = len(self.nodes)
        return np.column_stack([np.arange(count - 1), np.arange(1, count)])

    def drawn(self, coordinates: ArrayLike) -> Array:
        """The points, deformed; at nodes with their second-order displacement, which is known there."""
        if "displacement" not in self.fields:
            return np.stack([self.position(n, coordinates) for n in self._lined_up], axis=-2)
        points = self.drawn_points
        moved = points + self.fields["displacement"].of(coordinates)
        for node in self.nodes.values():
            distance = np.linalg.norm(points - node.position, axis=1)
            if distance.min() <= SAME_POINT * self.extent:
                moved[..., int(distance.argmin()), :] = self.position(node, coordinates)
        return np.asarray(moved)

    def __str__(self) -> str:
        head = f"member {self.name!r}: {self.mass:.6g} kg, {self.modes} modes, {len(self.nodes)} nodes"
        return f"{head}\n{self.truncation}"
