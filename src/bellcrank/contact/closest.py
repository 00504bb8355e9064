"""Closest points of two convex shapes, as a straight-line program.

Paper A, Park et al. (2000), Section 2.2: problem (23) with the normals opposed, and the distance d_N = r . n of
(24) and (25). The same code runs on numbers and on traced scalars.

Differs in: d_N is that of the branch with *opposed* normals, also in deep penetration (paper A allows equal
normals too and misses collisions); for overlapping bodies it is minus the least way out, or, from a guess, the
nearest stationary way out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bellcrank.contact.closed_forms import Points, facing, rule
from bellcrank.contact.local import meets
from bellcrank.contact.partners import SAMPLE_IT, why_not
from bellcrank.contact.revolution import Revolution
from bellcrank.contact.shapes import (
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Plane,
    Shape,
    Sphere,
    Superellipsoid,
)
from bellcrank.contact.sharing import searched
from bellcrank.contact.side_by_side import lie_on_each_other, places
from bellcrank.contact.source import Around, Source
from bellcrank.contact.spots import PairSpot
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
from bellcrank.errors import ModelError
from bellcrank.mechanics.vectors import (
    UNIT,
    Mat,
    Vec,
    add,
    column,
    cross,
    dot,
    matmul,
    neg,
    scale,
    sub,
    times,
    transpose,
    transposed_times,
    vec,
)
from bellcrank.program.functions import sqrt, where
from bellcrank.program.trace import Scalar, compare

ITERATIONS = 10
"""Newton steps in one program. From the normal of the step before three or four are enough."""


@dataclass(frozen=True, eq=False)
class Closest:
    """Closest points in the common frame.

    distance: Signed, negative in penetration [m].
    normal: Unit vector from a to b.
    point_a, point_b: On the surfaces [m].
    residual: How far point_b misses the normal through point_a [m]: zero when converged.
    held: What a contact that lasts keeps at zero [m]: the distance, also where the place is not there.
    weight: The part of the stiffness with which the pair presses.
    twist: Couple along the normal on b over elastic energy.
    room: Positive where the place is there; None where it always is.
    """

    distance: Scalar
    normal: Vec
    point_a: Vec
    point_b: Vec
    residual: Scalar
    held: Scalar
    weight: Scalar = 1.0
    twist: Scalar = 0.0
    room: Scalar | None = None


def closest(
    shape_a: Shape,
    R_a: Mat,
    p_a: Vec,
    shape_b: Shape,
    R_b: Mat,
    p_b: Vec,
    guess: Vec | None = None,
    iterations: int = ITERATIONS,
) -> Closest:
    """The closest points of two shapes with opposed normals.

    R_a, R_b: Rotations from each shape's frame to the common frame.
    p_a, p_b: Origins of the shapes' frames in the common frame [m].
    guess: About the normal from a to b in the common frame (of the step before); without it the search starts
        from the best of a few directions. Pairs with a closed form have no use for it.
    """
    if isinstance(shape_a, PairSpot):
        return _at_place(shape_a, R_a, p_a, shape_b, R_b, p_b)
    check_pair(shape_a, shape_b)
    if _turned(shape_a, shape_b):
        found = closest(shape_b, R_b, p_b, shape_a, R_a, p_a, neg(guess) if guess else None, iterations)
        return replace(found, normal=neg(found.normal), point_a=found.point_b, point_b=found.point_a)
    R, c = matmul(transpose(R_a), R_b), transposed_times(R_a, sub(p_b, p_a))
    form = rule(shape_a, shape_b)
    if form is not None:
        n, x_a, x_b = form(shape_a, shape_b, R, c)
    else:
        start = transposed_times(R_a, guess) if guess else None

        def search(R: Mat, c: Vec, guess: Vec | None) -> Points:
            pair = _Pair(shape_a, shape_b, R, c)
            return pair.search(pair.start(guess), iterations)

        n, x_a, x_b = searched(shape_a, shape_b, R, c, start, iterations, search)
    if shape_a.planar:
        # Both points in the plane of a: forces on them then have no moment out of it.
        x_a, x_b = (x_a[0], x_a[1], 0.0), (x_b[0], x_b[1], 0.0)
    r = sub(x_b, x_a)
    distance = dot(n, r)
    miss = sub(r, scale(distance, n))
    return Closest(
        distance,
        times(R_a, n),
        add(p_a, times(R_a, x_a)),
        add(p_a, times(R_a, x_b)),
        0.0 if form is not None else sqrt(dot(miss, miss)),
        distance,
    )


def _at_place(spot: PairSpot, R_a: Mat, p_a: Vec, shape_b: Shape, R_b: Mat, p_b: Vec) -> Closest:
    """One of the places at which two shapes touch at the same time; out of reach where it is not there."""
    R, c = matmul(transpose(R_a), R_b), transposed_times(R_a, sub(p_b, p_a))
    place = places(spot.of, shape_b, R, c)[spot.number]
    apart = dot(place.normal, sub(place.point_b, place.point_a))
    reach = spot.of.bounding_radius() + shape_b.bounding_radius()
    return Closest(
        where(compare("lt", 0.0, place.room), apart, reach),
        times(R_a, place.normal),
        add(p_a, times(R_a, place.point_a)),
        add(p_a, times(R_a, place.point_b)),
        0.0,
        apart,
        place.weight,
        place.twist,
        place.room,
    )


def check_pair(a: Shape, b: Shape) -> None:
    """Raise for two shapes that cannot touch in a point."""
    names = f"{type(a).__name__} and {type(b).__name__}"
    if isinstance(a, Plane) and isinstance(b, Plane):
        raise ModelError(f"{names}: two endless flat shapes have no closest points; make one of them finite")
    if any(isinstance(s, Source | Around) for s in (a, b)):
        for shape in (a, b):
            if not meets(shape):
                raise ModelError(f"{names}: {why_not(shape)}")
        return
    if lie_on_each_other(a, b):
        return
    convex = (Plane, Sphere, Cylinder, Ellipsoid, Superellipsoid)
    if any(isinstance(s, Box) for s in (a, b)) and not any(isinstance(s, convex) for s in (a, b)):
        raise ModelError(f"{names}: a box meets planes and convex shapes that have a formula; {SAMPLE_IT}")
    if any(isinstance(s, Revolution) for s in (a, b)) and not any(isinstance(s, Sphere) for s in (a, b)):
        raise ModelError(f"{names}: a solid of revolution may not be convex and meets spheres only so far")
    if a.planar != b.planar:
        raise ModelError(
            f"{names}: a planar shape meets planar shapes only (Circle, Ellipse, HalfPlane); "
            "give both in the plane or both in space"
        )


def has_closed_form(a: Shape, b: Shape) -> bool:
    """Whether this pair needs no search."""
    return rule(a, b) is not None or rule(b, a) is not None


def _turned(a: Shape, b: Shape) -> bool:
    """Whether the pair is solved the other way round."""
    if rule(a, b) is not None:
        return False
    return rule(b, a) is not None or (b.by_points and not a.by_points)


def _spreads(shape: Shape) -> bool:
    """Whether one normal may belong to a whole line or side."""
    return shape.straight or isinstance(shape, Box)


@dataclass(frozen=True, eq=False)
class _Pair:
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
            if not _spreads(self.b):
                on_b = self.b.support(neg(transposed_times(self.R, n))).point
                return n, x, add(self.c, times(self.R, on_b))
        else:
            n = on_sphere(self.gap, start, self.size, iterations)
        return self.at(self.best([n, *self.corners(start, iterations)]))

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

        spreads = _spreads(self.a)
        if not _spreads(self.b):
            x_b = add(self.c, times(self.R, self.b.support(down).point))
            return n, self.a.support_near(n, x_b) if spreads else x_a, x_b
        if isinstance(self.a, Capsule | Cylinder) and isinstance(self.b, Capsule | Cylinder):
            along, _ = facing(self.a.half_length, self.b.half_length, column(self.R, 2), self.c)
            x_a = self.a.support_near(n, (0.0, 0.0, along))
        x_b = x_a
        for _ in range(3 if spreads else 1):
            x_b = add(self.c, times(self.R, self.b.support_near(down, seen(x_a))))
            x_a = self.a.support_near(n, x_b) if spreads else x_a
        return n, x_a, x_b
