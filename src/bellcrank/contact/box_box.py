"""Two boxes: the corners of the polygon in which the sides that face each other overlap.

The direction in which the boxes overlap least, or are farthest apart, is among the normals of their sides and the
products of their edges (Gottschalk, Lin and Manocha 1996, OBBTree, section 5). Seen along it, the two sides that face
each other overlap in a convex polygon. Its corners are corners of one box, which touch the side of the other, and
crossings of two edges, which touch along the normal across both.

Each corner of the polygon presses with the part of a right angle by which its outline turns there
(:mod:`bellcrank.contact.overlap`). A corner of a box turns by one.

Differs in: clipping one side against the other (Ericson 2005, Real-Time Collision Detection, section 8.3) gives the
same polygon, but the normal of one of the boxes to all of its corners; here each has the normal with which its force
keeps the energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

from bellcrank.contact.overlap import PARALLEL, Polygon, overlap
from bellcrank.contact.places import Place
from bellcrank.contact.shapes import Box
from bellcrank.contact.steps import chosen
from bellcrank.mechanics.vectors import UNIT, Mat, Vec, add, column, cross, dot, neg, scale, sub, vec
from bellcrank.program.functions import maximum, minimum, sqrt, where
from bellcrank.program.trace import Scalar, compare, function, logical

PLACES = 12
"""Four corners of one side, or where its edges enter the other side; four where they leave it; four of the other."""

NARROWER = 1e-7
"""Part by which one side is taken smaller: the edges of equal boxes on each other then do not coincide."""

RATHER_SIDES = 1e-6
"""Part of the size by which a product of edges must separate better than the sides."""


def places(a: Box, b: Box, R: Mat, c: Vec) -> list[Place]:
    """All places of two boxes; b has rotation R and origin c seen from a."""
    toward = least_overlap(a, b, R, c)
    of_a = Side.of(a, UNIT, (0.0, 0.0, 0.0), toward, 1.0 - NARROWER)
    of_b = Side.of(b, (column(R, 0), column(R, 1), column(R, 2)), c, neg(toward), 1.0)
    return overlap(of_a, of_b, toward)


def least_overlap(a: Box, b: Box, R: Mat, c: Vec) -> Vec:
    """The direction from a to b in which they overlap least, or are farthest apart."""
    h, k = a.half_lengths, b.half_lengths
    size = [[function("abs", x) for x in row] for row in R]
    seen = vec([dot(column(R, j), c) for j in range(3)])
    best: tuple[Scalar, ...] = ()

    def better(apart: Scalar, axis: Vec, rather: Scalar, best: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        trial = (apart, *axis)
        return chosen(compare("lt", best[0] + rather, apart), trial, best) if best else trial

    for i in range(3):
        apart = function("abs", c[i]) - h[i] - sum_of(k[j] * size[i][j] for j in range(3))
        best = better(apart, UNIT[i], 0.0, best)
    for j in range(3):
        apart = function("abs", seen[j]) - k[j] - sum_of(h[i] * size[i][j] for i in range(3))
        best = better(apart, column(R, j), 0.0, best)
    rather = RATHER_SIDES * (a.bounding_radius() + b.bounding_radius())
    for i in range(3):
        for j in range(3):
            axis = cross(UNIT[i], column(R, j))
            sine2 = 1.0 - R[i][j] * R[i][j]
            reach_a = sum_of(h[m] * size[n][j] for m, n in _others(i))
            reach_b = sum_of(k[m] * size[i][n] for m, n in _others(j))
            shrink = 1.0 / sqrt(maximum(sine2, PARALLEL))
            apart = shrink * (function("abs", dot(axis, c)) - reach_a - reach_b)
            apart = where(compare("lt", sine2, PARALLEL), -1e300, apart)
            best = better(apart, scale(shrink, axis), rather, best)
    axis = vec(best[1:4])
    return scale(where(compare("lt", dot(axis, c), 0.0), -1.0, 1.0), axis)


def _others(i: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The other two axes, each with the one left."""
    j, k = (i + 1) % 3, (i + 2) % 3
    return (j, k), (k, j)


def sum_of(terms: object) -> Scalar:
    """All terms together."""
    return reduce(lambda x, y: x + y, terms)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True, eq=False)
class Side(Polygon):
    """A side of a box. edges: Unit directions of two of its edges, across each other."""

    edges: tuple[Vec, Vec] = field(kw_only=True)

    def reach(self, x: Vec, way: Vec) -> Scalar:
        """How far it is from a point over the side along a way to the edge, negative where it is beyond [m]."""
        middle = scale(0.5, add(self.corners[0], self.corners[2]))
        corner, here = sub(self.corners[0], middle), sub(x, middle)
        found: list[Scalar] = []
        for e in self.edges:
            speed = dot(e, way)
            slow = compare("lt", function("abs", speed), 1e-9)
            ahead = where(compare("lt", speed, 0.0), -dot(e, here), dot(e, here))
            found.append(
                (function("abs", dot(e, corner)) - ahead) / where(slow, 1e-9, function("abs", speed))
            )
        return minimum(found[0], found[1])

    @staticmethod
    def of(box: Box, axes: Sequence[Vec], origin: Vec, toward: Vec, part: Scalar) -> Side:
        """The side that faces a direction; its edges are taken shorter by `part`."""
        along = [dot(toward, e) for e in axes]
        steep = [function("abs", x) for x in along]
        first = logical("and", compare("le", steep[1], steep[0]), compare("le", steep[2], steep[0]))
        second = compare("le", steep[2], steep[1])
        half = box.half_lengths

        def turned(by: int) -> tuple[Scalar, ...]:
            rows = [(*axes[(k + by) % 3], half[(k + by) % 3], along[(k + by) % 3]) for k in range(3)]
            return chosen(first, rows[0], chosen(second, rows[1], rows[2]))

        up, one, two = turned(0), turned(1), turned(2)
        normal = scale(where(compare("lt", up[4], 0.0), -1.0, 1.0), vec(up[0:3]))
        middle = add(origin, scale(up[3], normal))
        u, v = scale(part * one[3], vec(one[0:3])), scale(part * two[3], vec(two[0:3]))
        corners = (
            add(add(middle, u), v),
            add(sub(middle, u), v),
            sub(sub(middle, u), v),
            sub(add(middle, u), v),
        )
        e, f = vec(one[0:3]), vec(two[0:3])
        return Side(normal, corners, (neg(e), neg(f), e, f), (1.0,) * 4, (f, neg(e), neg(f), e), edges=(e, f))


__all__ = ["PLACES", "Side", "places"]
