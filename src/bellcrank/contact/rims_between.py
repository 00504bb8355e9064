"""The rims of two surfaces around their contact points, in a straight-line program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bellcrank.contact.edge_local import Crossing, EdgeStep, edge_step
from bellcrank.contact.partners import Symmetric, bend
from bellcrank.contact.rim_local import Bounded, Side, bounded
from bellcrank.contact.shapes import Shape
from bellcrank.contact.source import Around
from bellcrank.math.tuples import Mat, Vec, cross, times, transposed_times
from bellcrank.program.trace import Scalar


def bend_of(shape: Shape, x: Vec, e1: Vec, e2: Vec) -> Symmetric:
    """Curvature of a shape along two tangents, in its own axes."""
    return shape.bend(x, e1, e2) if isinstance(shape, Around) else bend(shape, x, e1, e2)


def _sides(shape: Shape, x: Vec, n: Vec) -> tuple[Side, Side] | None:
    """The rim of a shape around a point, in its own axes."""
    numbers = shape.rim(x) if isinstance(shape, Around) else None
    if numbers is None or not isinstance(shape, Around):
        return None
    spacing = shape.source.spacing
    return Side.of(numbers[:5], n, spacing), Side.of(numbers[5:], n, spacing)


@dataclass(frozen=True, eq=False)
class Rims:
    """The rims of both surfaces around their points, seen from the first; None for one that is closed."""

    own: tuple[Side, Side] | None
    other: tuple[Side, Side] | None
    n: Vec
    m: Vec
    r: Vec
    of_a: Callable[[Vec, Vec], Symmetric]
    of_b: Callable[[Vec, Vec], Symmetric]

    @staticmethod
    def of(a: Around, b: Shape, R: Mat, x: Vec, y: Vec, n: Vec, m: Vec, r: Vec) -> Rims | None:
        """None where both surfaces are closed."""
        own, other = _sides(a, x, n), _sides(b, y, m)
        if own is None and other is None:
            return None
        if other is not None:
            first, second = (replace(side, t=times(R, side.t)) for side in other)
            other = first, second

        def of_a(e1: Vec, e2: Vec) -> Symmetric:
            return bend_of(a, x, e1, e2)

        def of_b(e1: Vec, e2: Vec) -> Symmetric:
            return bend_of(b, y, transposed_times(R, e1), transposed_times(R, e2))

        return Rims(own, other, n, times(R, m), r, of_a, of_b)

    def bounded(self, free: Scalar, held: Scalar, plane: Vec, off: Scalar, longest: float) -> Bounded:
        """What they do to a step."""
        return bounded(
            self.own, self.other, self.n, self.m, self.r, self.of_a, self.of_b, free, held, plane, off, longest
        )  # fmt: skip

    def crossing(self, longest: float) -> Crossing | None:
        """How the edges of both lie; None where one surface is closed."""
        if self.own is None or self.other is None:
            return None
        return Crossing.of(self.own, self.other, longest)

    def edges(self, crossing: Crossing, longest: float) -> EdgeStep:
        """A step of both edges."""
        assert self.own is not None
        assert self.other is not None
        a, b = crossing.sides(self.own, self.other)
        u, v = cross(self.n, a.t), cross(self.m, b.t)
        return edge_step(a, b, self.n, self.m, self.r, self.of_a(u, u)[0], self.of_b(v, v)[0], longest)


__all__ = ["Rims", "bend_of"]
