"""Two flat sides seen along a direction: the corners of the polygon in which they overlap.

Each corner of the polygon presses with the part of a right angle by which its outline turns there. As a corner of a
side slides over an edge of the other it becomes two crossings at the same place, by whose angles the outline turns as
much, so that force and energy go on evenly; edges that come to lie along each other, whose crossing may be anywhere,
have no weight. All weights of a polygon together are four.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from bellcrank.contact.flat_polygons import Flat, all_inside, rooms_inside, stretch_inside, way_around
from bellcrank.contact.places import Place, there
from bellcrank.contact.shapes import TINY
from bellcrank.contact.steps import chosen, frame
from bellcrank.math.tuples import ZERO, Vec, add, cross, dot, neg, scale, sub, vec
from bellcrank.program.functions import atan2, maximum, sqrt, where
from bellcrank.program.trace import Scalar, compare, logical, logical_not

PARALLEL = 1e-8
"""Squared sine below which the product of two edges tells no direction."""

SHARP = 1e-9
"""1 less the cosine of an angle within which a direction is that of a side."""

RIGHT = 2.0 / math.pi
"""One over a right angle [1/rad]."""


@dataclass(frozen=True, eq=False)
class Polygon:
    """A flat convex side: outward normal, its corners in order around, and the unit ways from each to the next.

    turns: The part of a right angle by which the outline turns at each corner; 0 at what is none, such as one that
    stands there twice so that all sides have as many. beyond: The outward normals of the sides that meet this one at
    its edges. cones: For each corner the outward normals of all sides there and by how much their outlines turn; None
    where these are alike. spans: Where edges touch, from their corners on, two stretches
    [m]; None for all along. closed: Corners of polygons in the side that lie within the body and touch nothing.
    """

    normal: Vec
    corners: tuple[Vec, ...]
    ways: tuple[Vec, ...]
    turns: tuple[Scalar, ...]
    beyond: tuple[Vec, ...]
    cones: tuple[tuple[tuple[Vec, Scalar], ...], ...] | None = None
    spans: tuple[tuple[Scalar, ...], ...] | None = None
    closed: tuple[tuple[Vec, ...], ...] = ()

    def below(self, x: Vec) -> Vec:
        """The point of the plane of the side straight below a point."""
        return add(x, scale(dot(self.normal, sub(self.corners[0], x)), self.normal))


def overlap(a: Polygon, b: Polygon, toward: Vec) -> list[Place]:
    """The corners of the polygon in which two sides overlap, seen along a direction."""
    e1, e2 = frame(toward)
    flat_a = [(dot(e1, x), dot(e2, x)) for x in a.corners]
    flat_b = [(dot(e1, x), dot(e2, x)) for x in b.corners]
    of_a, of_b = rooms_inside(flat_a, flat_b), rooms_inside(flat_b, flat_a)
    # One way around for both.
    same = way_around(flat_a) * way_around(flat_b)
    found: list[Place] = []
    number = len(a.corners)
    free_a, free_b = _free(flat_a, b, e1, e2), _free(flat_b, a, e1, e2)
    for k in range(number):
        found += _along_edge(a, b, k, of_a[k], of_a[(k + 1) % number], toward, same, free_a[k])
    for k, x in enumerate(b.corners):
        weight, twist = _turning(b, k, a.normal, neg(a.normal))
        room = _is_there(b, k, of_b[k], free_b[k])
        found.append(Place(a.normal, a.below(x), x, room, weight, twist=twist))
    return found


def _free(points: Sequence[Flat], side: Polygon, e1: Vec, e2: Vec) -> list[Scalar]:
    """Of points over a side, whether it does not lie within the body there."""
    found: list[Scalar] = [True] * len(points)
    for corners in side.closed:
        for k, room in enumerate(rooms_inside(points, [(dot(e1, x), dot(e2, x)) for x in corners])):
            # Where there is none all its corners are one.
            some = compare("lt", 0.0, reduce(lambda x, y: x + y, room))
            found[k] = logical("and", found[k], logical_not(logical("and", some, all_inside(room))))
    return found


def _is_there(side: Polygon, k: int, rooms: Sequence[Scalar], free: Scalar) -> Scalar:
    """The room of a place at corner k of a side, which is so far inside each edge of the other, and free for it."""
    inside = logical("and", all_inside(rooms), free)
    turn = side.turns[k]
    if isinstance(turn, int | float) and turn > 0.0:
        return there(inside)
    return there(logical("and", inside, compare("lt", 0.0, turn)))


def _along_edge(
    a: Polygon, b: Polygon, k: int, here: Sequence[Scalar], next_: Sequence[Scalar], toward: Vec, same: Scalar,
    free: Scalar,
) -> list[Place]:  # fmt: skip
    """Where edge k of a begins to overlap b, at its corner or a crossing, and where it ends to, at a crossing.

    Its end at the next corner is the beginning of the next edge.
    """
    lines: list[tuple[Scalar, ...]] = [
        (*corner, *scale(same, way), *beyond)
        for corner, way, beyond in zip(b.corners, b.ways, b.beyond, strict=True)
    ]
    if b.spans is not None:
        lines = [(*line, *span) for line, span in zip(lines, b.spans, strict=True)]
    edge = _Edge(a.corners[k], a.ways[k], a.normal, a.beyond[k], None if a.spans is None else a.spans[k])
    enter, leave, over = stretch_inside(here, next_, lines)
    corner = a.corners[k]
    n = neg(b.normal)
    weight, twist = _turning(a, k, n, n)
    on_side = Place(n, corner, b.below(corner), _is_there(a, k, here, free), weight, twist=twist)
    leaves = logical("and", over, compare("lt", leave[0], 1.0))
    first = _crossing(edge, enter, b.normal, toward, same, over)
    last = _crossing(edge, leave, b.normal, toward, same, leaves)
    inside = all_inside(here)
    return [Place.of(list(chosen(inside, on_side.numbers, first.numbers))), last]


@dataclass(frozen=True, eq=False)
class _Edge:
    """From x along the unit vector u, with the outward normals of the side it is looked at with and of the one beyond.

    span: Two stretches where it touches [m]; None for all along.
    """

    x: Vec
    u: Vec
    side: Vec
    beyond: Vec
    span: tuple[Scalar, ...] | None


def _crossing(
    edge: _Edge, line: Sequence[Scalar], normal_b: Vec, toward: Vec, same: Scalar, is_there: Scalar
) -> Place:
    """Closest points of an edge of a and the line of b that is found at a crossing.

    Seen along the normal of a side, the outline turns at a crossing by the angle of both edges or by what is left of
    half a turn, by the sides that are looked at. Between the normals of both sides of an edge one weight goes over into
    the other, and an edge on an edge without sides in sight has the weight one.
    """
    x, u = edge.x, edge.u
    y, v, beyond_b = vec(line[1:4]), vec(line[4:7]), vec(line[7:10])
    r, cosine = sub(y, x), dot(u, v)
    across = cross(u, v)
    sine2 = dot(across, across)
    inverse = 1.0 / maximum(sine2, PARALLEL)
    along, along_b = dot(r, u), dot(r, v)
    s, t = inverse * (along - cosine * along_b), inverse * (cosine * along - along_b)
    way = where(compare("lt", dot(across, toward), 0.0), -1.0, 1.0)
    seen = logical("and", is_there, compare("lt", PARALLEL, sine2))
    if edge.span is not None:
        seen = logical("and", seen, _between(s, edge.span))
    if len(line) > 10:
        seen = logical("and", seen, _between(same * t, line[10:14]))
    n = vec(chosen(seen, scale(way * sqrt(inverse), across), toward))
    angle = atan2(sqrt(maximum(sine2, TINY)), cosine)
    lever = way * sqrt(inverse)

    def turns(side: Vec) -> Vec:
        """By how much n . side grows as b turns, where the side is one of a."""
        flat = sub(side, scale(dot(side, n), n))
        return scale(lever, cross(v, cross(flat, u)))

    def turns_b(side: Vec) -> Vec:
        """By how much -n . side grows as b turns with its side."""
        return sub(cross(n, side), turns(side))

    share_a, slope_a = _share(
        (dot(n, edge.side), turns(edge.side)), (dot(n, edge.beyond), turns(edge.beyond))
    )
    share_b, slope_b = _share((-dot(n, normal_b), turns_b(normal_b)), (-dot(n, beyond_b), turns_b(beyond_b)))
    part = share_a * share_b + (1.0 - share_a) * (1.0 - share_b)
    slope = add(scale(2.0 * share_b - 1.0, slope_a), scale(2.0 * share_a - 1.0, slope_b))
    weight = RIGHT * (angle * part + (math.pi - angle) * (1.0 - part))
    # The angle grows by u x v / |u x v| . w, where b turns at w against a.
    grows = add(scale((2.0 * part - 1.0) * way, n), scale(2.0 * angle - math.pi, slope))
    twist = scale(-RIGHT, grows)
    return Place(n, add(x, scale(s, u)), add(y, scale(t, v)), there(seen), weight, twist=twist)


Slope = tuple[Scalar, Vec]


def _share(one: Slope, other: Slope) -> Slope:
    """The share of one of two sides with these cosines to a direction, and its slope: 1 at its normal, level there."""
    p, q = 1.0 - one[0], 1.0 - other[0]
    whole = 1.0 / maximum(p + q, SHARP)
    slope = scale(whole * whole, sub(scale(q, one[1]), scale(p, other[1])))
    return whole * q, slope


def _turning(side: Polygon, k: int, n: Vec, outward: Vec) -> tuple[Scalar, Vec]:
    """By how much the outline turns at corner k of a side, seen along the normal n of a, and the couple on b for it.

    outward: n away from the body of the side. The mean of all sides at the corner, each alone at its own normal.
    """
    if side.cones is None:
        return side.turns[k], ZERO
    total: Scalar = 0.0
    value: Scalar = 0.0
    rows: list[tuple[Scalar, Scalar, Vec]] = []
    for normal, turn in side.cones[k]:
        h = where(compare("lt", 0.0, turn), 1.0 / (SHARP + maximum(1.0 - dot(outward, normal), 0.0)), 0.0)
        total, value = total + h, value + h * turn
        rows.append((h, turn, cross(n, normal)))
    inverse = 1.0 / maximum(total, TINY)
    weight = inverse * value
    grows = ZERO
    for h, turn, slope in rows:
        grows = add(grows, scale(inverse * h * h * (turn - weight), slope))
    return weight, neg(grows)


def _between(x: Scalar, span: Sequence[Scalar]) -> Scalar:
    """Whether a place is on one of two stretches."""
    first, second = (logical("and", compare("le", span[k], x), compare("le", x, span[k + 1])) for k in (0, 2))
    return logical("or", first, second)


__all__ = ["PARALLEL", "RIGHT", "Polygon", "overlap"]
