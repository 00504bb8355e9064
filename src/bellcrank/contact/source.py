"""Surfaces that a program knows around a contact point only: what they hand to it, and how they are searched."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.shapes import Shape, Support
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.program.graph import Graph
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.contact.partners import Symmetric
    from bellcrank.contact.tree import Tree

Array = NDArray[np.float64]


class Source(Shape):
    """A surface of data: points with outward normals, and a piece of smooth surface around any of them.

    points, normals: (number, 3) [m].
    """

    by_points: ClassVar[bool] = True
    closed_support: ClassVar[bool] = False
    settled: ClassVar[float] = 0.02
    """A contact point is found when gathering anew moves it by no more than this, over the spacing."""
    in_sheets: ClassVar[bool] = False
    """Whether it is cut along its creases."""
    points: Array
    normals: Array

    @property
    @abstractmethod
    def spacing(self) -> float:
        """A distance of neighbouring points [m]."""

    @property
    @abstractmethod
    def entries(self) -> int:
        """Numbers that tell the surface around a point."""

    @abstractmethod
    def piece(self, x: Array) -> tuple[Array, Array, bool]:
        """A point of the surface near x, the numbers that tell the surface there, and whether x is within the rim."""

    @abstractmethod
    def local(self, start: Vec, inputs: Sequence[Scalar], turn: Scalar) -> Around:
        """The surface in a program, from inputs that hold what :meth:`piece` gave."""

    @cached_property
    def tree(self) -> Tree:
        """The bounding-volume tree over the points."""
        from bellcrank.contact.tree import Tree

        return Tree.over(self.points, self.normals)

    @cached_property
    def nearest_points(self) -> Any:
        """A tree for the nearest points to a place."""
        from scipy.spatial import cKDTree

        return cKDTree(self.points)

    def numbers(self, x: Array) -> tuple[Array, bool]:
        """The values of :func:`input_names` around a point x of the surface's frame; whether it is within the rim."""
        start, table, inside = self.piece(x)
        return np.concatenate([start, table]), inside

    def bends(self, k: int) -> Array:
        """The curvature matrix (3, 3) at a point: dn = K dx [1/m]; zero where only the points are known."""
        return np.zeros((3, 3))

    @cached_property
    def bulge(self) -> float:
        """How far the surface may lie outside its points [m], about."""
        return 0.5 * self.spacing

    def implicit(self, s: Vec) -> Scalar:
        raise ModelError(
            "a surface of data is known around a contact only; bellcrank.contact.search searches it"
        )

    def support(self, n: Vec) -> Support:
        raise ModelError("a surface of data may not be convex, so it has no support points")

    @cached_property
    def _radius(self) -> float:
        return float(np.linalg.norm(self.points, axis=1).max())

    def bounding_radius(self) -> Scalar:
        return self._radius

    def samples(self) -> tuple[Vec, ...]:
        return tuple((float(x), float(y), float(z)) for x, y, z in self.points)


@dataclass(frozen=True, eq=False)
class Around(Shape):
    """A surface of data with its piece around a contact as inputs.

    source: The whole surface. start: The last contact point. inputs: What :meth:`Source.piece` tells. turn: +1 and -1
    in turn, changed when the piece is gathered anew. hold: How the contact point may move: 2 freely, 1 in the plane
    whose normal follows, 0 not at all; -1 is no contact. leads: Whether, of two such surfaces, this one holds. exact:
    Whether derivatives of the contact point are needed, as where a lasting contact is a constraint. sharp: Whether
    :meth:`bend` tells the curvature of the surface at x itself, not one nearby.
    """

    source: Source
    start: Vec
    inputs: tuple[Scalar, ...]
    turn: Scalar = 1.0
    hold: tuple[Scalar, Scalar, Scalar, Scalar] = (2.0, 0.0, 0.0, 0.0)
    leads: bool = False
    exact: bool = False
    sharp: bool = False
    closed_support: ClassVar[bool] = False

    @abstractmethod
    def pulled(self, x: Vec) -> tuple[Vec, Vec]:
        """The point x pulled onto the surface, and the normal there."""

    @abstractmethod
    def bend(self, x: Vec, e1: Vec, e2: Vec) -> Symmetric:
        """Curvature along two tangents, in the shape's own axes."""

    def curvature(self, x: Vec, e1: Vec, e2: Vec) -> Symmetric:
        """Curvature of the surface at x along two tangents, in the shape's own axes, for Hertz's theory."""
        return self.bend(x, e1, e2)

    def rim(self, x: Vec) -> list[Scalar] | None:
        """The rim around x, as :func:`bellcrank.contact.rim_local.rim_numbers` tells it; None for a closed surface."""
        return None

    @abstractmethod
    def room(self, x: Vec) -> Scalar:
        """How far the contact point x may still move before the piece is gathered anew; negative is too far."""

    @property
    def whole(self) -> Shape:
        return self.source.whole

    @property
    def points(self) -> Array:
        """Of the whole surface."""
        return self.source.points

    far: ClassVar[float] = -35.0
    """Where :meth:`room` has fallen to this the piece tells nothing any more."""

    def sharpened(self) -> Self:
        """The same, with the curvature of the surface itself."""
        return replace(self, sharp=True)

    def brought(self, graph: Graph) -> Self:
        """The same with its inputs in the graph of a trace, once instead of at every operation."""
        return self.told(graph.bring)

    def told(self, number: Callable[[Scalar], Scalar]) -> Self:
        """The same with what `number` makes of its inputs."""
        x, y, z = (number(v) for v in self.start)
        a, b, c, d = (number(v) for v in self.hold)
        inputs = tuple(number(v) for v in self.inputs)
        return replace(self, start=(x, y, z), inputs=inputs, turn=number(self.turn), hold=(a, b, c, d))

    def implicit(self, s: Vec) -> Scalar:
        return self.source.implicit(s)

    def support(self, n: Vec) -> Support:
        return self.source.support(n)

    def bounding_radius(self) -> Scalar:
        return self.source.bounding_radius()


def input_names(source: Source, prefix: str) -> list[str]:
    """Names of the inputs of a piece of surface: the last contact point, then the surface around it."""
    return [f"{prefix} start {axis}" for axis in "xyz"] + [
        f"{prefix} entry {k}" for k in range(source.entries)
    ]


def local_of(source: Source, inputs: Sequence[Scalar], turn: Scalar = 1.0) -> Around:
    """The piece of surface whose inputs are given in the order of :func:`input_names`."""
    return source.local((inputs[0], inputs[1], inputs[2]), tuple(inputs[3:]), turn)


def leader(a: Shape, b: Shape) -> int:
    """Which of two shapes, 0 or 1, has the samples that contact points are searched among: the smaller one.

    One in sheets is searched sheet by sheet, whatever its size.
    """
    if isinstance(a, Source) and isinstance(b, Source):
        if a.in_sheets != b.in_sheets:
            return 0 if a.in_sheets else 1
        return int(float(b.bounding_radius()) < float(a.bounding_radius()))
    return 0 if isinstance(a, Source) else 1


__all__ = ["Around", "Source", "input_names", "leader", "local_of"]
