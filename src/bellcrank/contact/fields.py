"""Which pairs touch by their fields, and the routine of each: made once for shapes and law."""

from __future__ import annotations

from enum import StrEnum
from typing import Any
from weakref import WeakKeyDictionary

from bellcrank.contact.field_energy import foundation, half_space, pair
from bellcrank.contact.field_surface import NOTHING, Surface, surface_of
from bellcrank.contact.shapes import Plane, Shape
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
        known[flat] = NOTHING if triangles is None else surface_of(triangles.vertices, triangles.faces)
    return known[flat]


def routine(a: Shape, b: Shape, law: FieldLaw) -> Routine:
    """The contact of two shapes, made once."""
    known = _routines.setdefault(a, {})
    key = id(b), law
    if key not in known:
        # The shape b is kept with the routine, so that its identity stays its own.
        made = pair(_LAWS[law], a.field, surface(a, b), b.field, surface(b, a))
        known[key] = b, made
    return known[key][1]
