"""Two boxes: the corners of the polygon in which the sides that face each other overlap.

The direction in which the boxes overlap least, or are farthest apart, is among the normals of their sides and the
products of their edges (Gottschalk, Lin and Manocha 1996, OBBTree, section 5). Seen along it, the two sides that face
each other overlap in a convex polygon. Its corners are corners of one box, which touch the side of the other, and
crossings of two edges, which touch along the normal across both.

Where a product of edges separates the boxes best, these two edges touch where they cross, unless a corner of the
polygon is as near. No corner overlaps more than the boxes do: one that would, lies beyond an edge, and is left out.

Each corner of the polygon counts by the part of a right angle by which its outline turns there; edges that come to lie
along each other, whose crossing may be anywhere, are none. All corners of a polygon together count four.

Differs in: clipping one side against the other (Ericson 2005, Real-Time Collision Detection, section 8.3) gives the
same polygon, but the normal of one of the boxes to all of its corners.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from bellcrank.contact.flat_polygons import all_inside, rooms_inside, stretch_inside, way_around
from bellcrank.contact.places import ROUNDING, Place
from bellcrank.contact.shapes import TINY, Box
from bellcrank.contact.steps import chosen, frame
from bellcrank.math.tuples import UNIT, Mat, Vec, add, column, cross, dot, neg, scale, sub, vec
from bellcrank.program.functions import atan2, clip, maximum, minimum, sqrt, where
from bellcrank.program.trace import Scalar, compare, function, logical

PARALLEL = 1e-8
"""Squared sine below which the product of two edges has no direction."""

RIGHT = 2.0 / math.pi
"""One over a right angle [1/rad]."""

PLACES = 12
"""Four corners of one side, or where its edges enter the other side; four where they leave it; four of the other."""

NARROWER = 1e-7
"""Part by which one side is taken smaller: the edges of equal boxes on each other then do not coincide."""

FLAT, FLATTEST = 0.995, 0.999
"""Cosines of the angle between two sides between which crossings begin to press by the turn of the outline."""

LEVEL, LYING = 0.9, 0.95
"""Cosines of the angle between an edge and a side between which it comes to lie on it."""

RATHER_SIDES = 1e-6
"""Part of the size by which a product of edges must separate better than the sides."""


def places(a: Box, b: Box, R: Mat, c: Vec) -> list[Place]:
    """All places of two boxes; b has rotation R and origin c seen from a. Two edges that cross take the first place."""
    toward, apart, crossing = least_overlap(a, b, R, c)
    of_a = Side.of(a, UNIT, (0.0, 0.0, 0.0), toward, 1.0 - NARROWER)
    of_b = Side.of(b, (column(R, 0), column(R, 1), column(R, 2)), c, neg(toward), 1.0)
    size = a.bounding_radius() + b.bounding_radius()
    nothing = ROUNDING * size
    found, nearest = [], 2.0 * size
    for place in _overlap(of_a, of_b, toward):
        gap = place.gap
        found.append(place.where(compare("le", apart - nothing, gap)))
        nearest = minimum(nearest, where(compare("lt", 0.0, found[-1].room), gap, 2.0 * size))
    crosses = logical("and", compare("lt", 0.0, crossing.room), compare("lt", apart + nothing, nearest))
    return [crossing.or_else(crosses, found[0]), *found[1:]]


def least_overlap(a: Box, b: Box, R: Mat, c: Vec) -> tuple[Vec, Scalar, Place]:
    """The direction from a to b in which they overlap least, or are farthest apart, rather that of a side; how far they
    are apart in it [m]; and the crossing of two edges, there where it is their product."""
    h, k = a.half_lengths, b.half_lengths
    size = [[function("abs", x) for x in row] for row in R]
    seen = vec([dot(column(R, j), c) for j in range(3)])
    sides: list[tuple[Scalar, ...]] = []
    for i in range(3):
        apart = function("abs", c[i]) - h[i] - sum_of(k[j] * size[i][j] for j in range(3))
        sides.append((apart, *UNIT[i]))
    for j in range(3):
        apart = function("abs", seen[j]) - k[j] - sum_of(h[i] * size[i][j] for i in range(3))
        sides.append((apart, *column(R, j)))
    edges: list[tuple[Scalar, ...]] = []
    for i in range(3):
        for j in range(3):
            axis = cross(UNIT[i], column(R, j))
            sine2 = 1.0 - R[i][j] * R[i][j]
            reach_a = sum_of(h[m] * size[n][j] for m, n in _others(i))
            reach_b = sum_of(k[m] * size[i][n] for m, n in _others(j))
            shrink = 1.0 / sqrt(maximum(sine2, PARALLEL))
            apart = shrink * (function("abs", dot(axis, c)) - reach_a - reach_b)
            apart = where(compare("lt", sine2, PARALLEL), -1e300, apart)
            edges.append((apart, *scale(shrink, axis), *UNIT[i], *column(R, j)))
    side, edge = _farthest(sides), _farthest(edges)
    crosses = compare("lt", side[0] + RATHER_SIDES * (a.bounding_radius() + b.bounding_radius()), edge[0])
    apart, *way = chosen(crosses, edge[0:4], side)
    axis = vec(way)
    toward = scale(where(compare("lt", dot(axis, c), 0.0), -1.0, 1.0), axis)
    u, v = vec(edge[4:7]), vec(edge[7:10])
    x = _edge_of(a, UNIT, u, toward)
    y = add(c, _edge_of(b, (column(R, 0), column(R, 1), column(R, 2)), v, neg(toward)))
    s, t, _ = _closest_on_lines(sub(y, x), u, v, dot(u, v))
    return toward, apart, Place(toward, add(x, scale(s, u)), add(y, scale(t, v)), where(crosses, 1.0, 0.0))


def _edge_of(box: Box, axes: Sequence[Vec], along: Vec, toward: Vec) -> Vec:
    """The middle of the edge along an axis of a box that lies furthest in a direction across it."""
    middle: Vec = (0.0, 0.0, 0.0)
    for half, axis in zip(box.half_lengths, axes, strict=True):
        over = where(compare("lt", dot(axis, toward), 0.0), -half, half)
        # Axes are along the edge or across it.
        middle = add(middle, scale(over * (1.0 - function("abs", dot(axis, along))), axis))
    return middle


def _closest_on_lines(r: Vec, u: Vec, v: Vec, cosine: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """Along the unit vectors u and v from places r apart to where their lines are closest, and 1 / sine^2."""
    inverse = 1.0 / maximum(1.0 - cosine * cosine, PARALLEL)
    on_a, on_b = dot(r, u), dot(r, v)
    return inverse * (on_a - cosine * on_b), inverse * (cosine * on_a - on_b), inverse


def _farthest(trials: Sequence[tuple[Scalar, ...]]) -> tuple[Scalar, ...]:
    """The first with the largest first number."""
    return reduce(lambda best, trial: chosen(compare("lt", best[0], trial[0]), trial, best), trials)


def _others(i: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The other two axes, each with the one left."""
    j, k = (i + 1) % 3, (i + 2) % 3
    return (j, k), (k, j)


def sum_of(terms: object) -> Scalar:
    """All terms together."""
    return reduce(lambda x, y: x + y, terms)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True, eq=False)
class Side:
    """A side of a box: outward normal, its corners in order around, and the unit directions of its edges.

    edges: Of two sides, across each other.
    """

    normal: Vec
    corners: tuple[Vec, ...]
    edges: tuple[Vec, Vec]

    def edge(self, k: int) -> Vec:
        """The direction from corner k to the next."""
        return self.edges[k % 2] if k > 1 else neg(self.edges[k % 2])

    def below(self, x: Vec) -> Vec:
        """The point of the plane of the side straight below a point."""
        return add(x, scale(dot(self.normal, sub(self.corners[0], x)), self.normal))

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
        return Side(normal, corners, (vec(one[0:3]), vec(two[0:3])))


def _overlap(a: Side, b: Side, toward: Vec) -> list[Place]:
    """The corners of the polygon in which two sides overlap, seen along a direction."""
    e1, e2 = frame(toward)
    flat_a = [(dot(e1, x), dot(e2, x)) for x in a.corners]
    flat_b = [(dot(e1, x), dot(e2, x)) for x in b.corners]
    of_a, of_b = rooms_inside(flat_a, flat_b), rooms_inside(flat_b, flat_a)
    # One way around for both.
    same = way_around(flat_a) * way_around(flat_b)
    found: list[Place] = []
    for k in range(4):
        found += _along_edge(a, b, k, of_a[k], of_a[(k + 1) % 4], toward, same)
    for k, x in enumerate(b.corners):
        found.append(Place(a.normal, a.below(x), x).where(all_inside(of_b[k])))
    return found


def _along_edge(
    a: Side, b: Side, k: int, here: Sequence[Scalar], next_: Sequence[Scalar], toward: Vec, same: Scalar
) -> list[Place]:
    """Where edge k of a begins to overlap b, at its corner or a crossing, and where it ends to, at a crossing.

    Its end at the next corner is the beginning of the next edge.
    """
    lines = [(*b.corners[j], *scale(same, b.edge(j))) for j in range(4)]
    enter, leave, over = stretch_inside(here, next_, lines)
    corner = a.corners[k]
    on_side = Place(neg(b.normal), corner, b.below(corner))
    normals = a.normal, neg(b.normal)
    first = _crossing(corner, a.edge(k), enter, toward, normals, over)
    leaves = logical("and", over, compare("lt", leave[0], 1.0))
    last = _crossing(corner, a.edge(k), leave, toward, normals, leaves)
    return [on_side.or_else(all_inside(here), first), last]


def _crossing(
    x: Vec, u: Vec, line: Sequence[Scalar], toward: Vec, normals: tuple[Vec, Vec], is_there: Scalar
) -> Place:
    """Closest points of two lines: from x along u on a, and on b the one found at a crossing.

    normals: Of both sides, toward b.
    """
    y, v = vec(line[1:4]), vec(line[4:7])
    r, cosine = sub(y, x), dot(u, v)
    across = cross(u, v)
    sine2 = dot(across, across)
    inverse = 1.0 / maximum(sine2, PARALLEL)
    along, along_b = dot(r, u), dot(r, v)
    s, t = inverse * (along - cosine * along_b), inverse * (cosine * along - along_b)
    way = where(compare("lt", dot(across, toward), 0.0), -1.0, 1.0)
    seen = logical("and", is_there, compare("lt", PARALLEL, sine2))
    n = vec(chosen(seen, scale(way * sqrt(inverse), across), toward))
    angle = atan2(sqrt(maximum(sine2, TINY)), cosine)
    # The edge of a lies on b's side, or that of b on a's: one of the normals is that of the crossing.
    lying = _ramp(maximum(dot(n, normals[0]), dot(n, normals[1])), LEVEL, LYING)
    flat = _ramp(dot(*normals), FLAT, FLATTEST)
    weight = flat * RIGHT * angle + (1.0 - flat) * lying
    return Place(n, add(x, scale(s, u)), add(y, scale(t, v)), weight).where(seen)


def _ramp(x: Scalar, low: float, high: float) -> Scalar:
    """From 0 to 1 between two values."""
    return clip((x - low) / (high - low), 0.0, 1.0)


__all__ = ["PLACES", "Side", "places"]
