"""Convex polygons in a plane: which points, and what of a way, are inside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from bellcrank.contact.shapes import TINY
from bellcrank.contact.steps import chosen
from bellcrank.program.functions import maximum, where
from bellcrank.program.trace import Scalar, compare, function, logical, logical_not

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


Told = tuple[Scalar, ...]


def stretch_inside(
    here: Sequence[Scalar], there: Sequence[Scalar], lines: Sequence[Told]
) -> tuple[Told, Told, Scalar]:
    """Where a way from one point to another enters a convex polygon and leaves it, and whether it does.

    here, there: The rooms of both points. lines: The record of each edge. Both ends are the part of the way, 0 and 1
    where it begins and ends inside, and the record of the edge that is crossed there.
    """
    enter: Told = (0.0, *lines[0])
    leave: Told = (1.0, *lines[0])
    misses: Scalar = False
    for r, s, line in zip(here, there, lines, strict=True):
        out_here, out_there = compare("lt", r, 0.0), compare("lt", s, 0.0)
        misses = logical("or", misses, logical("and", out_here, out_there))
        goes_in = logical("and", out_here, logical_not(out_there))
        goes_out = logical("and", out_there, logical_not(out_here))
        part = function("abs", r) / maximum(function("abs", r) + function("abs", s), TINY)
        enter = chosen(logical("and", goes_in, compare("le", enter[0], part)), (part, *line), enter)
        leave = chosen(logical("and", goes_out, compare("le", part, leave[0])), (part, *line), leave)
    return enter, leave, logical("and", logical_not(misses), compare("lt", enter[0], leave[0]))


__all__ = ["Flat", "all_inside", "rooms_inside", "stretch_inside", "turn", "way_around"]
