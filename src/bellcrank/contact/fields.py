"""Which pairs touch by their fields, and the routine of each: made once for shapes and law."""

from __future__ import annotations

from enum import StrEnum
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from bellcrank.contact.field_energy import foundation, half_space, pair
from bellcrank.contact.field_surface import NOTHING, Surface, surface_of
from bellcrank.contact.mesh import Mesh
from bellcrank.contact.shapes import HeightField, Plane, Shape
from bellcrank.contact.shapes.fields import Field, depths
from bellcrank.contact.triangles import Triangles
from bellcrank.math.vectors import Vector
from bellcrank.program.loops import Routine


class FieldLaw(StrEnum):
    """How an overlap becomes an energy."""

    HALF_SPACE = "half-space"
    """c E* sqrt(int d^4): round bodies obey Hertz's law."""
    FOUNDATION = "foundation"
    """k int d^2 / 2: an elastic layer, additive over separate spots (Winkler)."""


_LAWS = {FieldLaw.HALF_SPACE: half_space, FieldLaw.FOUNDATION: foundation}
_surfaces: WeakKeyDictionary[Any, dict[bool, Surface]] = WeakKeyDictionary()
_routines: WeakKeyDictionary[Any, dict[tuple[int, FieldLaw], tuple[Any, Routine]]] = WeakKeyDictionary()

SOFT = 1e7
"""E* where no material is given [Pa]: that of soft plastic. A cube of 0.1 m and 0.5 kg then sinks by some micrometres
on a face, which is small, and steps are a thousand times longer than those of steel."""


def has_field(shape: Shape) -> bool:
    """Whether a shape can touch by its field."""
    return not shape.planar and type(shape).field is not Shape.field


def surface_missing(a: Shape, b: Shape) -> bool:
    """Whether neither of two shapes has an end."""
    return isinstance(a, Plane) and isinstance(b, Plane)


def surface(shape: Shape, other: Shape) -> Surface:
    """The surface of a shape in clusters, made once; against a plane straight sides have long triangles."""
    flat = isinstance(other, Plane)
    known = _surfaces.setdefault(shape, {})
    if flat not in known:
        triangles = shape.facets() if flat else shape.triangles()
        if triangles is not None and not isinstance(shape, Mesh):
            # Those of a mesh are the body itself.
            triangles = balanced(triangles, shape.field)
        made = NOTHING if triangles is None else surface_of(triangles.vertices, triangles.faces)
        known[flat] = with_inner_ball(made, shape)
    return known[flat]


_inner: WeakKeyDictionary[Any, tuple[Vector, float]] = WeakKeyDictionary()

BALL = 0.9
"""Radius of the inner ball of a body over its largest depth: it lies within, however the depth was measured."""


def inner_ball(shape: Shape) -> tuple[Vector, float]:
    """About the deepest point of a shape and its depth [m], by ascending from its surface.

    Infinite without end, and behind an open surface, where nothing is known.
    """
    if shape not in _inner:
        endless = isinstance(shape, Plane | HeightField) or shape.is_open
        triangles = None if endless else shape.facets()
        middle, found = np.zeros(3), np.inf
        if triangles is not None:
            x = triangles.vertices[:: max(1, len(triangles.vertices) // 400)]
            step, found = 0.1 * float(np.ptp(x, axis=0).max()), 0.0
            # As long as the way across, then ever shorter ones.
            for k in range(40):
                d, g = depths(shape.field, x)
                if d.max() > found:
                    found, middle = float(d.max()), x[int(np.argmax(d))]
                x = x + g * (step * 0.9 ** max(0, k - 8))
        _inner[shape] = Vector(*middle.tolist()), found
    return _inner[shape]


def deepest(shape: Shape) -> float:
    """About the largest depth in a shape [m]; infinite without end."""
    return inner_ball(shape)[1]


def with_inner_ball(surface: Surface, shape: Shape) -> Surface:
    """The surface of a shape with a ball within it."""
    middle, depth = inner_ball(shape)
    return surface._replace(inner=middle, inner_radius=BALL * depth if depth < np.inf else -1.0)


def balanced(surface: Triangles, field: Field) -> Triangles:
    """Flat triangles of a curved body that lie as much outside it as inside.

    Vertices on a round body have their triangles inside it, and a patch would carry too little: by a quarter where the
    depth is ten times their distance from it. Each vertex moves along the normal by the mean of that distance over a
    triangle, which the middles of its edges give exactly for a quadratic surface: of the triangles around it the one
    where that is least, so that flat sides stay flat up to their edges.
    """
    middles = 0.5 * (surface.corners + np.roll(surface.corners, -1, axis=1))
    away = depths(field, middles.reshape(-1, 3))[0].reshape(-1, 3).mean(axis=1)
    low, high = np.full(len(surface.vertices), np.inf), np.full(len(surface.vertices), -np.inf)
    for k in range(3):
        np.minimum.at(low, surface.faces[:, k], away)
        np.maximum.at(high, surface.faces[:, k], away)
    # Round all around, or hollow all around; elsewhere it stays.
    moved = np.where(low > 0.0, low, np.where(high < 0.0, high, 0.0))
    moved = np.where(np.isfinite(moved), moved, 0.0)
    _, slopes = depths(field, surface.vertices)
    out = -slopes / np.maximum(np.linalg.norm(slopes, axis=1), 1e-9)[:, None]
    return Triangles(surface.vertices + out * moved[:, None], surface.faces)


def routine(a: Shape, b: Shape, law: FieldLaw) -> Routine:
    """The contact of two shapes, made once."""
    known = _routines.setdefault(a, {})
    key = id(b), law
    if key not in known:
        # The shape b is kept with the routine, so that its identity stays its own.
        made = pair(_LAWS[law], a.field, surface(a, b), b.field, surface(b, a))
        known[key] = b, made
    return known[key][1]
