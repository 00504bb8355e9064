"""Normals at which the rim of a cylinder meets an edge, a straight line, the round end of a capsule or another rim.

Seen over all normals, a rim that is nearly level against a line bends so sharply that Newton's method over normals
creeps from one side to the other. Along the rim itself nothing is sharp: the closest points of two curves, the normal
being the product of their tangents.
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.contact.shapes import TINY, Box, Capsule, Cylinder, Shape
from bellcrank.contact.steps import chosen, unit
from bellcrank.math.tuples import (
    UNIT,
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
    transposed_times,
    vec,
)
from bellcrank.program.functions import clip, maximum, where
from bellcrank.program.trace import Scalar, compare, function

STEPS = 6
"""Of Newton's method along a rim."""

FARTHEST = 0.5
"""Of one step [rad]."""

FLATTEST = 1e-2
"""Part of the second derivative of two rims far from each other that is left where they run along each other."""

ALONG = 1e-8
"""Sine of the angle below which two curves run along each other, so that their product is no normal."""

HARDLY = 1e-9
"""How little a direction counts beside a normal, where it only decides what the normal leaves open."""


@dataclass(frozen=True, eq=False)
class Rim:
    """A circle about a unit vector."""

    middle: Vec
    axis: Vec
    radius: Scalar

    def toward(self, n: Vec, x: Vec) -> Vec:
        """The unit vector from the middle to where the outward normal is n; where that is all around, near x."""
        way = add(n, scale(HARDLY / self.radius, sub(x, self.middle)))
        return unit(sub(way, scale(dot(way, self.axis), self.axis)))

    def at(self, out: Vec) -> Vec:
        """The point in a direction from the middle."""
        return add(self.middle, scale(self.radius, out))

    def turned(self, out: Vec, angle: Scalar) -> Vec:
        """The direction about so far around."""
        return unit(add(out, scale(clip(angle, -FARTHEST, FARTHEST), cross(self.axis, out))))

    def beside_line(self, x: Vec, way: Vec, n: Vec, start: Vec) -> Vec:
        """The normal between the rim and a line through x, about along n, from a direction to start with."""
        out = start
        for _ in range(STEPS):
            tangent = cross(self.axis, out)
            y = _across(sub(self.at(out), x), way)
            level = _across(tangent, way)
            bends = self.radius * dot(level, level) - dot(out, y)
            least = FLATTEST * self.radius
            out = self.turned(out, -dot(tangent, y) / maximum(function("abs", bends), least))
        return _product(cross(self.axis, out), way, n)

    def beside_rim(self, other: Rim, n: Vec, starts: tuple[Vec, Vec]) -> Vec:
        """The normal between two rims, about along n."""
        one, two = starts
        for _ in range(STEPS):
            t, s = cross(self.axis, one), cross(other.axis, two)
            r = sub(other.at(two), self.at(one))
            # Of half the squared distance, over both radii.
            a11, a22 = self.radius + dot(r, one), other.radius - dot(r, two)
            a12 = -dot(t, s)
            b1, b2 = dot(r, t), -dot(r, s)
            det = a11 * a22 - a12 * a12 * self.radius * other.radius
            inverse = 1.0 / maximum(function("abs", det), FLATTEST * self.radius * other.radius)
            one = self.turned(one, inverse * (a22 * b1 - a12 * other.radius * b2))
            two = other.turned(two, inverse * (a11 * b2 - a12 * self.radius * b1))
        return _product(cross(self.axis, one), cross(other.axis, two), n)

    def beside_point(self, x: Vec, n: Vec) -> Vec:
        """The normal between the rim and a point, about along n."""
        r = sub(x, self.middle)
        out = unit(_across(r, self.axis))
        y = sub(x, self.at(out))
        apart = compare("lt", (ALONG * self.radius) * (ALONG * self.radius), dot(y, y))
        return _along(vec(chosen(apart, unit(y), n)), n)


def rim_normals(a: Shape, b: Shape, R: Mat, c: Vec, found: tuple[Vec, Vec, Vec]) -> list[Vec]:
    """Normals from a to b at which a rim of one of them meets edges, lines, ends or a rim of the other.

    b has rotation R and origin c seen from a. found: About the normal, and the points of a and b there.
    """
    n, x_a, x_b = found
    one = _Placed(a, UNIT, (0.0, 0.0, 0.0), n, x_b)
    two = _Placed(b, R, c, neg(n), x_a)
    ways: list[Vec] = []
    for rimmed, other, way in ((one, two, n), (two, one, neg(n))):
        rim = rimmed.rim
        if rim is None:
            continue
        start = rim.toward(way, rimmed.near)
        normals = [rim.beside_line(x, line, way, start) for x, line in other.lines]
        normals += [rim.beside_point(x, way) for x in other.ends]
        if other.rim is not None and rimmed is one:
            starts = start, other.rim.toward(neg(way), other.near)
            normals.append(rim.beside_rim(other.rim, way, starts))
        ways += normals if rimmed is one else [neg(v) for v in normals]
    return ways


@dataclass(frozen=True, eq=False)
class _Placed:
    """A shape with rotation R and origin c; what of it has about the outward normal n, near a point."""

    shape: Shape
    R: Mat
    c: Vec
    n: Vec
    near: Vec

    @property
    def rim(self) -> Rim | None:
        """The rim that faces the normal."""
        if not isinstance(self.shape, Cylinder):
            return None
        axis = self._outward(column(self.R, 2))
        return Rim(add(self.c, scale(self.shape.half_length, axis)), axis, self.shape.radius)

    @property
    def lines(self) -> list[tuple[Vec, Vec]]:
        """Straight lines, by a point and the unit vector along it."""
        if isinstance(self.shape, Box):
            way = self._decided()
            signs = [where(compare("lt", x, 0.0), -1.0, 1.0) for x in transposed_times(self.R, way)]
            corner = vec([s * h for s, h in zip(signs, self.shape.half_lengths, strict=True)])
            corner = add(self.c, times(self.R, corner))
            return [(corner, column(self.R, i)) for i in range(3)]
        return [(self.c, column(self.R, 2))] if self.shape.straight else []

    @property
    def ends(self) -> list[Vec]:
        """Middles of round ends."""
        if not isinstance(self.shape, Capsule):
            return []
        return [add(self.c, scale(self.shape.half_length, self._outward(column(self.R, 2))))]

    def _decided(self) -> Vec:
        return add(self.n, scale(HARDLY / self.shape.bounding_radius(), sub(self.near, self.c)))

    def _outward(self, axis: Vec) -> Vec:
        return scale(where(compare("lt", dot(axis, self._decided()), 0.0), -1.0, 1.0), axis)


def _across(r: Vec, axis: Vec) -> Vec:
    return sub(r, scale(dot(r, axis), axis))


def _along(n: Vec, way: Vec) -> Vec:
    """n or its opposite, whichever goes along a way."""
    return scale(where(compare("lt", dot(n, way), 0.0), -1.0, 1.0), n)


def _product(u: Vec, v: Vec, n: Vec) -> Vec:
    """The unit vector across two others that goes along n; n where they are parallel."""
    w = cross(u, v)
    crossed = compare("lt", ALONG * ALONG, dot(w, w))
    return _along(vec(chosen(crossed, scale(1.0 / _size(w), w), n)), n)


def _size(w: Vec) -> Scalar:
    return function("sqrt", maximum(dot(w, w), TINY))


__all__ = ["Rim", "rim_normals"]
