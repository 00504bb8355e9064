"""Convex polygons in a plane, and which points are inside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from bellcrank.program.functions import where
from bellcrank.program.trace import Scalar, compare, logical

Flat = tuple[Scalar, Scalar]


def turn(p: Flat, q: Flat, x: Flat) -> Scalar:
    """Twice the area of a triangle, positive against the clock."""
    return (q[0] - p[0]) * (x[1] - p[1]) - (q[1] - p[1]) * (x[0] - p[0])


def way_around(polygon: Sequence[Flat]) -> Scalar:
    """1 where a polygon runs against the clock, -1 with it."""
    return where(compare("lt", turn(polygon[0], polygon[1], polygon[2]), 0.0), -1.0, 1.0)


def rooms_inside(points: Sequence[Flat], polygon: Sequence[Flat]) -> list[list[Scalar]]:
    """For each point how far inside each edge of a convex polygon it is, times the length of the edge."""
    n, way = len(polygon), way_around(polygon)
    return [[way * turn(polygon[j], polygon[(j + 1) % n], x) for j in range(n)] for x in points]


def all_inside(rooms: Sequence[Scalar]) -> Scalar:
    """Whether a point with such rooms is inside."""
    return reduce(lambda x, y: logical("and", x, y), [compare("le", 0.0, r) for r in rooms])


__all__ = ["Flat", "all_inside", "rooms_inside", "turn", "way_around"]
