"""The search for closest points of two convex shapes by their support points.

Problem (23) of Park et al. (2000), by Newton's method (:mod:`bellcrank.contact.steps`) from a start or the
best of a few directions; where a support function has a corner, as of flat sides, straight lines and edges, the normals
there are searched besides, and the one with the largest separation is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.contact.closed_forms import Points, facing
from bellcrank.contact.rim_edges import rim_normals
from bellcrank.contact.shapes import FLAT, Box, Capsule, Cylinder, Shape, Superellipsoid
from bellcrank.contact.steps import (
    Gap,
    PointGap,
    across,
    chosen,
    on_circle,
    on_sphere,
    on_surface,
    unit,
)
from bellcrank.math.tuples import (
    UNIT,
    ZERO,
    Mat,
    Vec,
    add,
    column,
    cross,
    dot,
    neg,
    scale,
    sub,
    times,
    transpose,
    transposed_times,
    vec,
)
from bellcrank.program.functions import where
from bellcrank.program.trace import Scalar, compare

ITERATIONS = 10
"""Newton steps in one program. From the normal of the step before three or four are enough."""


FLAT_SIDED = 40
"""The same for a superellipsoid against another one, a cylinder, a capsule or a box.

Its sides are nearly flat and its edges nearly sharp: from the best of a few directions Newton's method, kept from
falling back, needs up to three dozen steps around them.
"""

PARALLEL = 1e-12
"""Squared sine from which on two lines cross."""


def spreads(shape: Shape) -> bool:
    """Whether one normal may belong to a whole line or side."""
    return shape.straight or isinstance(shape, Box)


def enough(a: Shape, b: Shape, guessed: bool = False) -> int:
    """Newton steps in a program of two shapes; guessed: from the normal of the step before."""
    flat = [isinstance(shape, Superellipsoid) for shape in (a, b)]
    sided = [one or spreads(shape) for one, shape in zip(flat, (a, b), strict=True)]
    return FLAT_SIDED if any(flat) and all(sided) and not guessed else ITERATIONS


@dataclass(frozen=True, eq=False)
class ConvexPair:
    """Two shapes in the frame of the first; b's frame has rotation R and origin c."""

    a: Shape
    b: Shape
    R: Mat
    c: Vec

    @property
    def size(self) -> Scalar:
        return self.a.bounding_radius() + self.b.bounding_radius()

    def gap(self, n: Vec) -> Gap:
        """The support points of normals n and -n."""
        on_a = self.a.support(n)
        on_b = self.b.support(neg(transposed_times(self.R, n)))
        r = add(self.c, sub(times(self.R, on_b.point), on_a.point))
        R = self.R

        def radii(e: Vec, f: Vec) -> Scalar:
            return on_a.second(e, f) + on_b.second(transposed_times(R, e), transposed_times(R, f))

        return Gap(n, r, radii)

    def gap_at(self, x: Vec) -> PointGap:
        """The point of a below x, and the point of b with the opposite normal."""
        on_a = self.a.surface(x)
        n, R = on_a.normal, self.R
        on_b = self.b.support(neg(transposed_times(R, n)))
        r = add(self.c, sub(times(R, on_b.point), on_a.point))

        def radii(e: Vec, f: Vec) -> Scalar:
            return on_b.second(transposed_times(R, e), transposed_times(R, f))

        return PointGap(n, r, radii, on_a.point, on_a.curvature)

    def separation(self, n: Vec) -> Scalar:
        """The gap between the tangent planes across n [m]."""
        return dot(n, self.gap(n).r)

    def best(self, normals: Sequence[Vec]) -> Vec:
        """The direction with the largest separation."""
        first, *others = normals
        if not others:
            return first
        best = (*first, self.separation(first))
        for n in others:
            trial = (*n, self.separation(n))
            best = chosen(compare("lt", best[3], trial[3]), trial, best)  # type: ignore[assignment]
        return vec(best[:3])

    def start(self, guess: Vec | None) -> Vec:
        """The guess, or the best of: from centre to centre, and each shape's normal toward the other."""
        if guess is not None:
            return unit(guess)
        c = (self.c[0], self.c[1], 0.0) if self.a.planar else self.c
        spare: Vec = (1.0, 0.0, 0.0) if self.a.planar else (0.0, 0.0, 1.0)
        # Places are sums of lengths up to some kilometres: a picometre between centres is their rounding.
        apart = compare("lt", 1e-24, dot(c, c))
        c = vec(chosen(apart, c, spare))
        if not (self.a.closed_support and self.b.closed_support):
            return unit(self.a.outward(c))
        from_b = times(self.R, self.b.outward(neg(transposed_times(self.R, c))))
        return self.best([unit(c), unit(self.a.outward(c)), unit(neg(from_b))])

    def search(self, start: Vec, iterations: int) -> Points:
        """Normal and points of problem (23) from the normal `start`."""
        if self.a.planar:
            n = on_circle(self.gap, start, (0.0, 0.0, 1.0), self.size, iterations)
            return self.at(n)
        if self.a.by_points:
            x, n = on_surface(self.gap_at, self.a.point_near(start), self.size, iterations)
            if not spreads(self.b):
                on_b = self.b.support(neg(transposed_times(self.R, n))).point
                return n, x, add(self.c, times(self.R, on_b))
        else:
            n = on_sphere(self.gap, start, self.size, iterations)
        n = self.best([n, *self.corners(start, iterations)])
        if any(isinstance(s, Cylinder) for s in (self.a, self.b)) and spreads(self.a) and spreads(self.b):
            n = self.best([n, *rim_normals(self.a, self.b, self.R, self.c, self.at(n))])
        return self.at(n)

    def corners(self, start: Vec, iterations: int) -> list[Vec]:
        """Normals where a support function has a corner: of straight sides, flat ends, boxes, crossed axes."""
        ways: list[Vec] = []
        lines: list[list[Vec]] = []
        for shape, frame in ((self.a, UNIT), (self.b, transpose(self.R))):
            axes = list(frame) if isinstance(shape, Box) else [frame[2]]
            if shape.faces:
                ways += [way for axis in axes for way in (axis, neg(axis))]
            lines.append(axes if shape.straight or isinstance(shape, Box) else [])
        if any(isinstance(shape, Box) for shape in (self.a, self.b)):
            # From the middle of a long box to the other shape most sides lie nearer than what faces it.
            start = self.best([start, *ways])
        for axis in (*lines[0], *lines[1]):
            level = across(start, axis, (axis[1], axis[2], axis[0]))
            ways.append(on_circle(self.gap, level, axis, self.size, iterations))
        for one in lines[0]:
            for other in lines[1]:
                both = across(cross(one, other), one, (one[2], one[0], one[1]))
                ways += [both, neg(both)]
        return ways

    def at(self, n: Vec) -> Points:
        """The points of normal n; where sides lie on each other, a pair facing each other."""
        x_a = self.a.support(n).point
        down = neg(transposed_times(self.R, n))

        def seen(x: Vec) -> Vec:
            return transposed_times(self.R, sub(x, self.c))

        spread = spreads(self.a)
        if not spreads(self.b):
            x_b = add(self.c, times(self.R, self.b.support(down).point))
            return n, self.a.support_near(n, x_b) if spread else x_a, x_b
        if isinstance(self.a, Capsule | Cylinder) and isinstance(self.b, Capsule | Cylinder):
            along, _ = facing(self.a.half_length, self.b.half_length, column(self.R, 2), self.c)
            x_a = self.a.support_near(n, (0.0, 0.0, along))
        elif spread:
            x_a = self.a.support_near(n, self.crossing(n, x_a))
        x_b = x_a
        for _ in range(3 if spread else 1):
            x_b = add(self.c, times(self.R, self.b.support_near(down, seen(x_a))))
            x_a = self.a.support_near(n, x_b) if spread else x_a
        return n, x_a, x_b

    def crossing(self, n: Vec, x: Vec) -> Vec:
        """Where two straight lines with the normal n cross, seen along it, on that of a; x where they do not."""
        y = add(self.c, times(self.R, self.b.support(neg(transposed_times(self.R, n))).point))
        u, v = line_of(self.a, n), times(self.R, line_of(self.b, transposed_times(self.R, n)))
        uu, vv, uv, r = dot(u, u), dot(v, v), dot(u, v), sub(y, x)
        square = uu * vv - uv * uv
        crosses = compare("lt", PARALLEL * uu * vv, square)
        s = (vv * dot(r, u) - uv * dot(r, v)) / where(crosses, square, 1.0)
        return vec(chosen(crosses, add(x, scale(s, u)), x))


def line_of(shape: Shape, n: Vec) -> Vec:
    """Along the straight line of all points of a shape with the normal n; zero where there is none, or a whole side."""
    axes = UNIT if isinstance(shape, Box) else UNIT[2:] if shape.straight else ()
    level = [compare("lt", dot(axis, n) * dot(axis, n), FLAT * FLAT) for axis in axes]
    along: Vec = ZERO
    count: Scalar = 0.0
    for axis, flat in zip(axes, level, strict=True):
        one = where(flat, 1.0, 0.0)
        along, count = add(along, scale(one, axis)), count + one
    return scale(where(compare("lt", 1.5, count), 0.0, 1.0), along)


__all__ = ["ITERATIONS", "ConvexPair", "enough"]
