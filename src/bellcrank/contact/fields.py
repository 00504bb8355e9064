"""Which pairs touch by their fields, and the routine of each: made once for shapes and law."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from bellcrank.contact.field_energy import foundation, half_space, pair
from bellcrank.contact.field_surface import NOTHING, Surface, surface_of
from bellcrank.program.loops import Routine

if TYPE_CHECKING:
    from bellcrank.contact.shapes import Shape


class FieldLaw(StrEnum):
    """How an overlap becomes an energy."""

    HALF_SPACE = "half-space"
    """c E* sqrt(int d^4): round bodies obey Hertz's law."""
    FOUNDATION = "foundation"
    """k int d^2 / 2: an elastic layer, additive over separate spots (Winkler)."""


_LAWS = {FieldLaw.HALF_SPACE: half_space, FieldLaw.FOUNDATION: foundation}
_surfaces: WeakKeyDictionary[Any, Surface] = WeakKeyDictionary()
_routines: WeakKeyDictionary[Any, dict[tuple[int, FieldLaw], tuple[Any, Routine]]] = WeakKeyDictionary()

SOFT = 1e7
"""E* where no material is given [Pa]: that of soft plastic. A cube of 0.1 m and 0.5 kg then sinks by some micrometres
on a face, which is small, and steps are a thousand times longer than those of steel."""


def has_field(shape: Shape) -> bool:
    """Whether a shape can touch by its field."""
    return getattr(shape, "field", None) is not None


def surface(shape: Shape) -> Surface:
    """The surface of a shape in clusters, made once."""
    found = _surfaces.get(shape)
    if found is None:
        triangles = shape.triangles()  # type: ignore[attr-defined]
        found = NOTHING if triangles is None else surface_of(triangles.vertices, triangles.faces)
        _surfaces[shape] = found
    return found


def routine(a: Shape, b: Shape, law: FieldLaw) -> Routine:
    """The contact of two shapes, made once."""
    known = _routines.setdefault(a, {})
    key = id(b), law
    if key not in known:
        # The shape b is kept with the routine, so that its identity stays its own.
        made = pair(_LAWS[law], a.field, surface(a), b.field, surface(b))  # type: ignore[attr-defined]
        known[key] = b, made
    return known[key][1]
