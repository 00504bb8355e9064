"""Closest points of two convex shapes, as a straight-line program.

Paper A, Park et al. (2000), Section 2.2: problem (23) with the normals opposed, and the distance d_N = r . n of
(24) and (25). The same code runs on numbers and on traced scalars.

Differs in: d_N is that of the branch with *opposed* normals, also in deep penetration (Park et al. allow equal
normals too and misses collisions); for overlapping bodies it is minus the least way out, or, from a guess, the
nearest stationary way out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast
from weakref import WeakKeyDictionary

from bellcrank.contact.bezier import BezierGrid
from bellcrank.contact.closed_forms import Points, rule
from bellcrank.contact.convex_search import ConvexPair, enough
from bellcrank.contact.field_energy import Pose
from bellcrank.contact.field_surface import NOTHING, Surface, surface_of, vertices_of
from bellcrank.contact.fields import with_inner_ball
from bellcrank.contact.nearest import (
    MEMORY,
    Bends,
    DistanceSurface,
    FieldSurface,
    Meeting,
    closest_bends,
    closest_pair,
)
from bellcrank.contact.parametric import Parametric
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import Box, Capsule, Plane, Shape, Sphere
from bellcrank.contact.shapes.base import FieldShape
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.contact.sharing import searched
from bellcrank.contact.side_by_side import lie_on_each_other, places
from bellcrank.contact.spots import PairSpot
from bellcrank.errors import ModelError
from bellcrank.math.tuples import (
    Mat,
    Vec,
    add,
    dot,
    matmul,
    neg,
    scale,
    sub,
    times,
    transpose,
    transposed_times,
)
from bellcrank.math.vectors import Matrix, Vector
from bellcrank.program.functions import sqrt, where
from bellcrank.program.loops import Routine
from bellcrank.program.trace import Expr, Scalar, compare


@dataclass(frozen=True, eq=False)
class Closest:
    """Closest points in the common frame.

    distance: Signed, negative in penetration [m].
    normal: Unit vector from a to b.
    point_a, point_b: On the surfaces [m].
    residual: How far point_b misses the normal through point_a [m]: zero when converged.
    held: What a contact that lasts keeps at zero [m]: the distance, also where the place is not there.
    room: Positive where the place is there; None where it always is. bends: Gives the curvatures of both surfaces
    [1/m], where these were searched.
    """

    distance: Scalar
    normal: Vec
    point_a: Vec
    point_b: Vec
    residual: Scalar
    held: Scalar
    room: Scalar | None = None
    bends: Callable[[], tuple[Mat, Mat]] | None = None


OF_DATA = (Sampled, BezierGrid, Parametric)
"""Shapes whose surface is known by data, and searched."""


def by_search(a: Shape, b: Shape) -> bool:
    """Whether the closest points of two shapes are searched on their surfaces: those of data, or without support."""
    if a.planar or b.planar or isinstance(a, PairSpot):
        return False
    if any(isinstance(s, (*OF_DATA, FieldShape)) for s in (a, b)):
        return True
    if lie_on_each_other(a, b) or rule(a, b) is not None or rule(b, a) is not None:
        return False
    return any(isinstance(s, Revolution) for s in (a, b))


def closest(
    shape_a: Shape,
    R_a: Mat,
    p_a: Vec,
    shape_b: Shape,
    R_b: Mat,
    p_b: Vec,
    guess: Vec | None = None,
    iterations: int | None = None,
    memory: Sequence[Expr] = (),
) -> Closest:
    """The closest points of two shapes with opposed normals.

    R_a, R_b: Rotations from each shape's frame to the common frame.
    p_a, p_b: Origins of the shapes' frames in the common frame [m].
    guess: About the normal from a to b in the common frame (of the step before); without it the search starts
        from the best of a few directions. Pairs with a closed form have no use for it.
    iterations: Newton steps; as many as the shapes need where missing.
    memory: Inputs of the program that keep where a search begins, MEMORY of them; for pairs that are searched.
    """
    if isinstance(shape_a, PairSpot):
        return _at_place(shape_a, R_a, p_a, shape_b, R_b, p_b)
    check_pair(shape_a, shape_b)
    if by_search(shape_a, shape_b):
        return _found(shape_a, R_a, p_a, shape_b, R_b, p_b, memory)
    if all(isinstance(s, Box) for s in (shape_a, shape_b)):
        raise ModelError(
            "Box and Box: two boxes touch at several places, not at one point; see box_box.places"
        )
    if any(isinstance(s, Box) for s in (shape_a, shape_b)) and any(
        isinstance(s, Capsule) for s in (shape_a, shape_b)
    ):
        # The last of their places.
        found = _at_place(PairSpot(shape_a, -1), R_a, p_a, shape_b, R_b, p_b)
        return replace(found, distance=found.held, room=None)
    if _turned(shape_a, shape_b):
        found = closest(shape_b, R_b, p_b, shape_a, R_a, p_a, neg(guess) if guess else None, iterations)
        return replace(found, normal=neg(found.normal), point_a=found.point_b, point_b=found.point_a)
    R, c = matmul(transpose(R_a), R_b), transposed_times(R_a, sub(p_b, p_a))
    form = rule(shape_a, shape_b)
    if form is not None:
        n, x_a, x_b = form(shape_a, shape_b, R, c)
    else:
        start = transposed_times(R_a, guess) if guess else None
        steps = enough(shape_a, shape_b, guess is not None) if iterations is None else iterations

        def search(R: Mat, c: Vec, guess: Vec | None) -> Points:
            pair = ConvexPair(shape_a, shape_b, R, c)
            return pair.search(pair.start(guess), steps)

        n, x_a, x_b = searched(shape_a, shape_b, R, c, start, steps, search)
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
    there = compare("lt", 0.0, place.room)
    return Closest(
        where(there, apart, reach),
        times(R_a, place.normal),
        add(p_a, times(R_a, place.point_a)),
        add(p_a, times(R_a, place.point_b)),
        0.0,
        apart,
        where(there, 1.0, -1.0),
    )


def _found(a: Shape, R_a: Mat, p_a: Vec, b: Shape, R_b: Mat, p_b: Vec, memory: Sequence[Scalar]) -> Closest:
    """The closest points of two surfaces that are searched."""
    R, c = matmul(transpose(R_a), R_b), transposed_times(R_a, sub(p_b, p_a))
    pose = Pose(_vector(c), Matrix(_vector(R[0]), _vector(R[1]), _vector(R[2])))
    kept = cast("Sequence[Expr]", memory or (-1.0,) * MEMORY)
    met: Meeting = routine(a, b)(pose, memory=kept)
    n, x_a, x_b = (times(R_a, _tuple(v)) for v in (met.normal, met.point_a, met.point_b))
    distance = dot(n, sub(x_b, x_a))

    def bends() -> tuple[Mat, Mat]:
        found: Bends = routine(a, b, closest_bends)(pose, memory=kept)
        at_a, at_b = (
            matmul(R_a, matmul((_tuple(m.a), _tuple(m.b), _tuple(m.c)), transpose(R_a))) for m in found
        )
        return at_a, at_b

    return Closest(distance, n, add(p_a, x_a), add(p_a, x_b), 0.0, distance, bends=bends)


def _tuple(v: Vector) -> Vec:
    return v.x, v.y, v.z


def _vector(v: Vec) -> Vector:
    x, y, z = (cast("float", c) for c in v)
    return Vector(x, y, z)


_routines: WeakKeyDictionary[Any, dict[Any, tuple[Any, Routine]]] = WeakKeyDictionary()


def routine(a: Shape, b: Shape, function: Callable[..., Any] = closest_pair) -> Routine:
    """The search of two shapes, made once; function: What is asked of it."""
    known = _routines.setdefault(a, {})
    key = id(b), function
    if key not in known:
        # The surface of data is searched; of two the first.
        first = isinstance(a, OF_DATA) or (not isinstance(b, OF_DATA) and a.triangles() is not None)
        size = min(shape.extent for shape in (a, b))
        sides = [x for shape in (a, b) for x in (_near(shape), shape.field, with_inner_ball(NOTHING, shape))]
        searched = a if first else b
        sides[2 if first else 5] = with_inner_ball(_vertices(searched), searched)
        # The shape b is kept with the routine, so that its identity stays its own.
        known[key] = b, Routine(function, (*sides, size), MEMORY)
    return known[key][1]


def _near(shape: Shape) -> Any:
    """The surface of a shape seen from points near it."""
    if isinstance(shape, OF_DATA):
        return shape.surface_near
    found = FieldSurface(shape.field, shape.extent)
    return DistanceSurface(found) if isinstance(shape, Plane | Sphere | Capsule) else found


def _vertices(shape: Shape) -> Surface:
    """The points of a surface that a search begins from."""
    if isinstance(shape, OF_DATA):
        return vertices_of(shape.points)
    triangles = shape.triangles()
    assert triangles is not None
    return surface_of(triangles.vertices, triangles.faces)


def check_pair(a: Shape, b: Shape) -> None:
    """Raise for two shapes that cannot touch in a point."""
    names = f"{type(a).__name__} and {type(b).__name__}"
    if isinstance(a, Plane) and isinstance(b, Plane):
        raise ModelError(f"{names}: two endless flat shapes have no closest points; make one of them finite")
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
