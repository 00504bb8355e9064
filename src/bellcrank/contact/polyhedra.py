"""Two polyhedra: the corners of the polygons in which sides that face each other overlap.

As for boxes (:mod:`bellcrank.contact.box_box`), for any convex bodies with flat sides: the direction in which they
overlap least, or are farthest apart, is among the normals of their sides and the products of their edges (the theorem
of separating axes). A body with hollow edges is covered by convex parts, which overlap; each is met for itself. What
of a part lies within the body, sides, edges and corners, touches nothing, and what lies on two parts touches once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.box_box import RATHER_SIDES
from bellcrank.contact.overlap import PARALLEL, RIGHT, Polygon, overlap
from bellcrank.contact.places import Place
from bellcrank.contact.shapes import Box, Shape, Support
from bellcrank.contact.steps import chosen
from bellcrank.errors import ModelError
from bellcrank.math.tuples import (
    ZERO,
    Mat,
    Vec,
    add,
    cross,
    dot,
    neg,
    scale,
    sub,
    times,
    transposed_times,
    vec,
)
from bellcrank.program.functions import maximum, minimum, sqrt, where
from bellcrank.program.trace import Scalar, compare, logical, logical_not

Floats = NDArray[np.float64]

MOST = 48
"""Places of a pair: each is a contact."""
NARROWER = 1e-10
"""Part by which one side is taken smaller: the edges of equal sides on each other then do not coincide."""
FARTHER = 1e6
"""How much more it counts that a side holds the farthest corners than where it faces, over the size of the part."""
SAME = 1e-8
"""Distance of places found with two parts that are one, over the size of the pair."""
ALIKE = 1.0 - 1e-9
"""The cosine of their normals at least."""
TOGETHER = 1e-5
"""Distance of corners over the size of a side, and difference of turns, below which they are the same."""
NONE = (1.0, 0.0)
"""A stretch of an edge that is nowhere."""
WIDEST = 1e30
"""Ends of the stretch of an edge that is there all along [m]."""


@dataclass(frozen=True, eq=False)
class Face:
    """A flat side of a part: outward unit normal, corners (number, 3) [m] against the clock seen from outside.

    turns: The part of a right angle by which the outline turns at each corner; 0 at what is no corner of the body.
    spans: Where each edge, from its corner on, is one of the body that sticks out: two stretches (number, 4) [m].
    closed: Corners of what of it lies within the body.
    """

    normal: Floats
    corners: Floats
    turns: Floats
    spans: Floats
    closed: tuple[Floats, ...] = ()

    @staticmethod
    def whole(normal: Floats, corners: Floats) -> Face:
        """One whose edges and corners are all there."""
        number = len(corners)
        way = _ways(corners)
        cosine = np.einsum("ij,ij->i", np.roll(way, 1, axis=0), way)
        turns = RIGHT * np.arccos(np.clip(cosine, -1.0, 1.0))
        return Face(normal, corners, turns, np.tile([-WIDEST, WIDEST, *NONE], (number, 1)))

    @property
    def plain(self) -> bool:
        """Whether all of it is there."""
        return bool(len(self.closed) == 0 and (self.turns > 0.0).all() and (self.spans[:, 1] >= WIDEST).all())


@dataclass(frozen=True, eq=False)
class Part:
    """A convex part of a body: its corners (number, 3) [m], the sides that may touch, and directions of its edges.

    hidden: Unit normals and offsets (number, 4) of sides that lie within the body.
    """

    points: Floats
    faces: tuple[Face, ...]
    edges: Floats
    hidden: Floats

    @cached_property
    def corners(self) -> int:
        """Of a side at most."""
        return max(len(face.corners) for face in self.faces)

    @cached_property
    def plain(self) -> bool:
        """Whether all of its sides are there."""
        return all(face.plain for face in self.faces)

    @cached_property
    def rows(self) -> list[tuple[float, ...]]:
        """For each side normal, corners, ways, the normals beyond its edges, turns, where they are not alike the cones,
        and where not all of it is there spans and what is closed; of as many corners all."""
        return [self._row(face) for face in self.faces]

    def _row(self, face: Face) -> tuple[float, ...]:
        spare = self.corners - len(face.corners)
        last = face.corners[-1]
        corners = np.concatenate([face.corners, np.tile(last, (spare, 1))])
        ways = np.concatenate([_ways(face.corners)[:-1], np.zeros((spare, 3)), _ways(face.corners)[-1:]])
        turns = np.concatenate([face.turns, np.zeros(spare)])
        beyond = [self._beyond(face, k) for k in range(len(face.corners))]
        beyond = [*beyond[:-1], *([face.normal] * spare), beyond[-1]]
        row = [face.normal, corners.ravel(), ways.ravel(), np.concatenate(beyond), turns]
        if not self.alike:
            for x in corners:
                cone = [np.append(normal, turn) for normal, turn in self._cone(x)]
                row += cone + [np.zeros(4)] * (self.valence - len(cone))
        if not self.plain:
            spans = np.concatenate([face.spans[:-1], np.tile([*NONE, *NONE], (spare, 1)), face.spans[-1:]])
            row.append(spans.ravel())
            number, most = self.closed
            for k in range(number):
                # A polygon without size is none.
                own = face.closed[k] if k < len(face.closed) else face.corners[:1]
                row.append(np.concatenate([own, np.tile(own[-1], (most - len(own), 1))]).ravel())
        return tuple(float(x) for x in np.concatenate(row))

    def _beyond(self, face: Face, k: int) -> Floats:
        """The normal of the side on the other side of edge k, as far as it is told: else that of the side itself."""
        one, two = face.corners[k], face.corners[(k + 1) % len(face.corners)]
        for normal, points in [(other.normal, other.corners) for other in self.faces if other is not face]:
            if _holds(points, one) and _holds(points, two):
                return normal
        for row in self.hidden:
            if max(abs(float(row[:3] @ x) - float(row[3])) for x in (one, two)) <= TOGETHER * _size(
                self.points
            ):
                return np.asarray(row[:3])
        return face.normal

    def _cone(self, x: Floats) -> list[tuple[Floats, float]]:
        """Normals of the sides that meet at a corner, and by how much their outlines turn there, where they do."""
        found = []
        for face in self.faces:
            k = int(np.argmin(np.linalg.norm(face.corners - x, axis=1)))
            if _holds(face.corners, x) and face.turns[k] > 0.0:
                found.append((face.normal, float(face.turns[k])))
        return found

    @cached_property
    def valence(self) -> int:
        """Sides at a corner at most."""
        return max(1, *(len(self._cone(x)) for x in self.points))

    @cached_property
    def alike(self) -> bool:
        """Whether the outlines of all sides turn alike at each corner."""
        cones = [[turn for _, turn in self._cone(x)] for x in self.points]
        return all(max(cone) - min(cone) < TOGETHER for cone in cones if cone)

    @cached_property
    def closed(self) -> tuple[int, int]:
        """How many polygons of a side are closed at most, and how many corners they have."""
        number = max(len(face.closed) for face in self.faces)
        return number, max((len(one) for face in self.faces for one in face.closed), default=0)

    def facing(self, R: Mat | None, origin: Vec, toward: Vec, shrink: float) -> Polygon:
        """The side that faces a direction; R, origin: Of the frame of the body, None for the common one.

        Of the sides that hold the farthest corner, and the farthest edge from there, the one whose normal is nearest;
        elsewhere one may be nearer, as the hip of a long roof. shrink: Part of its size that is taken off around its
        middle.
        """
        seen = toward if R is None else transposed_times(R, toward)
        far = FARTHER / _size(self.points)
        best: tuple[Scalar, ...] = ()
        for face, row in zip(self.faces, self.rows, strict=True):
            middle = face.corners.mean(axis=0)
            n = self.corners
            inner = middle + (1.0 - shrink) * (np.array(row[3 : 3 + 3 * n]).reshape(-1, 3) - middle)
            rank = dot(vec(row[0:3]), seen) + far * _two_farthest(face.corners, seen)
            trial = (rank, *row[0:3], *(float(x) for x in inner.ravel()), *row[3 + 3 * n :])
            best = chosen(compare("lt", best[0], trial[0]), trial, best) if best else trial
        return self._polygon(best[1:], R, origin)

    def _polygon(self, row: Sequence[Scalar], R: Mat | None, origin: Vec) -> Polygon:
        n = self.corners

        def turned(x: Sequence[Scalar]) -> Vec:
            return vec(x) if R is None else times(R, vec(x))

        def points(begin: int, number: int) -> tuple[Vec, ...]:
            return tuple(add(origin, turned(row[begin + 3 * k : begin + 3 * k + 3])) for k in range(number))

        ways = tuple(turned(row[3 + 3 * n + 3 * k : 6 + 3 * n + 3 * k]) for k in range(n))
        beyond = tuple(turned(row[3 + 6 * n + 3 * k : 6 + 6 * n + 3 * k]) for k in range(n))
        behind = 3 + 10 * n
        turns = tuple(row[behind - n : behind])
        cones = None
        if not self.alike:
            wide = 4 * self.valence
            cones = tuple(
                tuple((turned(row[m : m + 3]), row[m + 3]) for m in range(begin, begin + wide, 4))
                for begin in range(behind, behind + wide * n, wide)
            )
            behind += wide * n
        if self.plain:
            return Polygon(turned(row[0:3]), points(3, n), ways, turns, beyond, cones)
        spans = tuple(tuple(row[behind + 4 * k : behind + 4 * k + 4]) for k in range(n))
        number, most = self.closed
        closed = tuple(points(behind + 4 * n + 3 * most * k, most) for k in range(number))
        return Polygon(turned(row[0:3]), points(3, n), ways, turns, beyond, cones, spans, closed)


@dataclass(frozen=True, eq=False)
class Polyhedron(Shape):
    """A body with flat sides, as one convex part or several that cover it."""

    parts: tuple[Part, ...]

    @staticmethod
    def of(shape: Box) -> Polyhedron | None:
        """A box; None where its lengths are parameters."""
        half = [float(x) for x in shape.half_lengths if isinstance(x, int | float)]
        if len(half) < 3:
            return None
        faces = []
        for k in range(3):
            for side in (-1.0, 1.0):
                i, j = (k + 1) % 3, (k + 2) % 3
                corners = np.zeros((4, 3))
                corners[:, k] = side * half[k]
                corners[:, i] = np.array([-1.0, side, 1.0, -side]) * half[i]
                corners[:, j] = np.array([-1.0, -side, 1.0, side]) * half[j]
                faces.append(Face.whole(side * np.eye(3)[k], corners))
        points = np.unique(np.concatenate([face.corners for face in faces]), axis=0)
        return Polyhedron((Part(points, tuple(faces), np.eye(3), np.zeros((0, 4))),))

    def bounding_radius(self) -> Scalar:
        return float(max(np.linalg.norm(part.points, axis=1).max() for part in self.parts))

    def implicit(self, s: Vec) -> Scalar:
        raise ModelError("a polyhedron has no formula; it meets other polyhedra")

    def support(self, n: Vec) -> Support:
        raise ModelError("a polyhedron may not be convex; it meets other polyhedra")


def count(a: Polyhedron, b: Polyhedron) -> int:
    """Of places: of each pair of parts, two for each edge of one side and one for each corner of the other."""
    return sum(2 * one.corners + two.corners for one in a.parts for two in b.parts)


def places(a: Polyhedron, b: Polyhedron, R: Mat, c: Vec, exponent: float | None = 1.0) -> list[Place]:
    """All places of two polyhedra; b has rotation R and origin c seen from a. exponent: n of the force K d^n."""
    found: list[Place] = []
    size = a.bounding_radius() + b.bounding_radius()
    for one in a.parts:
        for two in b.parts:
            toward = least_overlap(one, two, R, c, RATHER_SIDES * size)
            side_a = one.facing(None, (0.0, 0.0, 0.0), toward, NARROWER)
            side_b = two.facing(R, c, neg(toward), 0.0)
            own = overlap(side_a, side_b, toward)
            away = _hidden_apart(one, two, R, c)
            if away is not None:
                near = logical_not(compare("lt", 0.0, away))
                own = [_only(place, near) for place in own]
            # What lies on several parts is found with each of them.
            found += [_only(place, _new(place, found, SAME * size)) for place in own] if found else own
    return [_pressed(place, exponent) for place in found]


def _only(place: Place, condition: Scalar) -> Place:
    """A place that is there only where a condition holds."""
    return replace(place, room=where(condition, place.room, -1.0))


def _pressed(place: Place, exponent: float | None) -> Place:
    """A place with its couple over K d^n instead of the energy K d^(n+1) / (n+1)."""
    if exponent is None or place.twist is ZERO:
        return replace(place, twist=ZERO)
    return replace(place, twist=scale(maximum(-place.gap, 0.0) * (1.0 / (exponent + 1.0)), place.twist))


def _new(place: Place, found: Sequence[Place], near: Scalar) -> Scalar:
    """Whether a place is none of those that are found."""
    result: Scalar = True
    for other in found:
        d, e = sub(place.point_a, other.point_a), sub(place.point_b, other.point_b)
        off = dot(d, d) + dot(e, e)
        same = logical("and", compare("lt", 0.0, other.room), compare("lt", off, near * near))
        same = logical("and", same, compare("lt", ALIKE, dot(place.normal, other.normal)))
        result = logical("and", result, logical_not(same))
    return result


def least_overlap(a: Part, b: Part, R: Mat, c: Vec, rather: Scalar) -> Vec:
    """The direction from a to b in which two parts overlap least, or are farthest apart.

    rather: By how much a product of edges must separate better than the sides [m].
    """
    best: tuple[Scalar, ...] = ()

    def better(apart: Scalar, axis: Vec, rather: Scalar, best: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        trial = (apart, *axis)
        return chosen(compare("lt", best[0] + rather, apart), trial, best) if best else trial

    for face in a.faces:
        n = vec(face.normal.tolist())
        best = better(_above(face.normal, float(face.normal @ face.corners[0]), b, R, c), n, 0.0, best)
    back = neg(transposed_times(R, c))
    for face in b.faces:
        m = vec(face.normal.tolist())
        offset = float(face.normal @ face.corners[0])
        apart = _least(a.points, times(R, m), dot(m, back)) - offset
        best = better(apart, neg(times(R, m)), 0.0, best)
    for u in a.edges:
        for v in b.edges:
            axis = cross(vec(u.tolist()), times(R, vec(v.tolist())))
            sine2 = dot(axis, axis)
            shrink = 1.0 / sqrt(maximum(sine2, PARALLEL))
            n = scale(shrink, axis)
            seen = transposed_times(R, n)
            low_a, high_a = _reach(a.points, n, 0.0)
            low_b, high_b = _reach(b.points, seen, dot(n, c))
            ahead, behind = low_b - high_a, low_a - high_b
            turned = compare("lt", ahead, behind)
            tells = compare("lt", PARALLEL, sine2)
            apart = where(tells, where(turned, behind, ahead), -1e300)
            best = better(apart, scale(where(turned, -1.0, 1.0), n), rather, best)
    return vec(best[1:4])


def _hidden_apart(a: Part, b: Part, R: Mat, c: Vec) -> Scalar | None:
    """How far two parts are apart along normals of sides that lie within the bodies; None where there are none."""
    found: list[Scalar] = [_above(row[:3], float(row[3]), b, R, c) for row in a.hidden]
    back = neg(transposed_times(R, c))
    for row in b.hidden:
        m = vec(row[:3].tolist())
        found.append(_least(a.points, times(R, m), dot(m, back)) - float(row[3]))
    return reduce(maximum, found) if found else None


def _above(normal: Floats, offset: float, b: Part, R: Mat, c: Vec) -> Scalar:
    """How far b lies above a plane of a [m]."""
    n = vec(normal.tolist())
    return _least(b.points, transposed_times(R, n), dot(n, c)) - offset


def _least(points: Floats, n: Vec, more: Scalar) -> Scalar:
    """The least of n . x over points, and something more."""
    return reduce(minimum, [dot(n, vec(x)) for x in points.tolist()]) + more


def _reach(points: Floats, n: Vec, more: Scalar) -> tuple[Scalar, Scalar]:
    """The least and the largest of n . x over points, and something more."""
    all_of = [dot(n, vec(x)) for x in points.tolist()]
    return reduce(minimum, all_of) + more, reduce(maximum, all_of) + more


def _two_farthest(corners: Floats, n: Vec) -> Scalar:
    """Of n . x over corners the two largest together."""
    heights = [dot(n, vec(x)) for x in corners.tolist()]
    first, second = maximum(heights[0], heights[1]), minimum(heights[0], heights[1])
    for x in heights[2:]:
        second = maximum(second, minimum(first, x))
        first = maximum(first, x)
    return first + second


def _size(points: Floats) -> float:
    return float(np.ptp(points, axis=0).max())


def _holds(corners: Floats, x: Floats) -> bool:
    """Whether a point is one of the corners."""
    return bool(np.linalg.norm(corners - x, axis=1).min() <= TOGETHER * _size(corners))


def _ways(corners: Floats) -> Floats:
    """Unit vectors from each corner to the next."""
    way = np.roll(corners, -1, axis=0) - corners
    return np.asarray(way / np.linalg.norm(way, axis=1)[:, None])


__all__ = ["MOST", "NONE", "WIDEST", "Face", "Part", "Polyhedron", "count", "least_overlap", "places"]
