"""A smooth shape as compiled searches take it: its slope and curvature as kernels, and what bounds its distance."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.partners import bend, slope, smooth_partner, why_not
from bellcrank.contact.shapes import TINY, Capsule, Ellipsoid, Plane, Shape, Sphere
from bellcrank.contact.shapes.implicit import Implicit
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec, dot, scale, vec
from bellcrank.program.functions import maximum, sqrt
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar

# what is known of f: it is linear; a distance; a norm less one; around - profile(z) of a solid of revolution.
# SURFACE is no smooth shape but a sampled one.
FLAT = 0
DISTANCE = 1
GAUGE = 2
ROUND = 4
SURFACE = 5


class Smooth:
    """A shape with a normal everywhere, in machine code."""

    def __init__(self, shape: Shape) -> None:
        if not smooth_partner(shape):
            raise ModelError(f"sampled surface and {type(shape).__name__}: {why_not(shape)}")
        self.shape = shape

    @cached_property
    def kind(self) -> int:
        """What is known of f."""
        if isinstance(self.shape, Plane):
            return FLAT
        if isinstance(self.shape, Capsule) or type(self.shape) is Sphere:
            return DISTANCE
        return ROUND if isinstance(self.shape, Revolution) else GAUGE

    @cached_property
    def slope(self) -> Kernel:
        """A point of the shape's frame -> f and its gradient."""
        graph = Graph()
        x = vec([graph.input(f"x {k}") for k in range(3)])
        f, g = _gauge(self.shape, x)
        return compile_program(Program.of(list(x), [graph.bring(o) for o in (f, *g)], "slope"))  # type: ignore[arg-type]

    @cached_property
    def bend(self) -> Kernel:
        """A point and two tangents -> curvature along them: 11, 12, 22."""
        graph = Graph()
        given = [graph.input(f"x {k}") for k in range(9)]
        x, e1, e2 = (vec(given[k : k + 3]) for k in (0, 3, 6))
        if isinstance(self.shape, Implicit):
            # Away from the surface g may tell nothing of it; along a ray tangents stay what they are.
            x = scale(1.0 / (1.0 + self.shape.gauge(x)[0]), x)
        outputs = [graph.bring(o) for o in bend(self.shape, x, e1, e2)]
        return compile_program(Program.of(given, outputs, "bend"))  # type: ignore[arg-type]

    @cached_property
    def radius(self) -> float:
        """Of a ball around the origin of the shape's frame that holds it [m]; beyond all bounds for a plane."""
        return 1e300 if isinstance(self.shape, Plane) else float(self.shape.bounding_radius())

    @cached_property
    def frusta(self) -> NDArray[np.float64]:
        """Around a solid of revolution; of other shapes there are none."""
        from bellcrank.contact.frusta import COLUMNS, frusta

        return frusta(self.shape) if isinstance(self.shape, Revolution) else np.zeros((0, COLUMNS))


def _gauge(shape: Shape, x: Vec) -> tuple[Scalar, Vec]:
    """Of an ellipsoid or an implicit surface a norm less one, and its gradient: convex, and nearly a distance far away;
    of others what they have."""
    if isinstance(shape, Implicit):
        return shape.gauge(x)
    if not isinstance(shape, Ellipsoid):
        return slope(shape, x)
    g: Vec = (x[0] / (shape.a * shape.a), x[1] / (shape.b * shape.b), x[2] / (shape.c * shape.c))
    size = sqrt(maximum(dot(g, x), TINY))
    return size - 1.0, (g[0] / size, g[1] / size, g[2] / size)


__all__ = ["DISTANCE", "FLAT", "GAUGE", "ROUND", "SURFACE", "Smooth"]
