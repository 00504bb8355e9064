"""Pairs of shapes that touch at several places: which they are, and their places by one program a pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bellcrank.contact import along_lines, box_box, cylinders, polyhedra
from bellcrank.contact.places import NUMBERS, Place
from bellcrank.contact.polyhedra import MOST, Polyhedron
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import Box, Capsule, Cylinder, Shape
from bellcrank.contact.sharing import shared
from bellcrank.math.tuples import (
    UNIT,
    ZERO,
    Mat,
    Vec,
    add,
    mat,
    matmul,
    neg,
    sub,
    times,
    transpose,
    transposed_times,
    vec,
)
from bellcrank.program.trace import Scalar


@dataclass(frozen=True, eq=False)
class _Form:
    """How many places a pair of shapes has, and how they are found."""

    a: type[Shape]
    b: type[Shape]
    count: Callable[[Any, Any], int]
    places: Callable[[Any, Any, Mat, Vec, Any], list[Place]]


def _always(number: int) -> Callable[[Any, Any], int]:
    return lambda a, b: number


_FORMS = (
    _Form(Box, Box, _always(box_box.PLACES), box_box.places),
    _Form(Box, Capsule, _always(along_lines.PLACES), along_lines.box_capsule),
    _Form(Box, Cylinder, _always(cylinders.WITH_BOX), cylinders.box_cylinder),
    _Form(Cylinder, Cylinder, _always(cylinders.WITH_CYLINDER), cylinders.cylinder_cylinder),
    _Form(Cylinder, Capsule, _always(cylinders.WITH_CAPSULE), cylinders.cylinder_capsule),
    _Form(Capsule, Capsule, _always(along_lines.PLACES), along_lines.capsule_capsule),
    _Form(Polyhedron, Polyhedron, polyhedra.count, polyhedra.places),
)


@dataclass(frozen=True, eq=False)
class _Met:
    """A shape as it meets another: with rotation R and origin p in the frame of what the user gave."""

    shape: Shape
    R: Mat = UNIT
    p: Vec = ZERO


def _met(a: Shape, b: Shape) -> tuple[_Met, _Met]:
    """Two shapes as they meet: meshes as what they are recognised as, boxes as polyhedra where the other is one."""
    given = [s for s in (a, b) if isinstance(s, Sampled)]
    if not given or not all(isinstance(s, Sampled | Box | Cylinder) for s in (a, b)):
        return _Met(a), _Met(b)
    one, two = _as_what_it_is(a), _as_what_it_is(b)
    if any(isinstance(m.shape, Polyhedron) for m in (one, two)):
        one, two = _flat_sided(one), _flat_sided(two)
    return one, two


def _as_what_it_is(shape: Shape) -> _Met:
    found = shape.standing if isinstance(shape, Sampled) else None
    if found is None:
        return _Met(shape)
    return _Met(found.shape, mat(found.rotation.tolist()), vec(found.origin.tolist()))


def _flat_sided(met: _Met) -> _Met:
    made = Polyhedron.of(met.shape) if isinstance(met.shape, Box) else None
    return met if made is None else _Met(made, met.R, met.p)


def _form(a: Shape, b: Shape) -> _Form | None:
    return next((f for f in _FORMS if isinstance(a, f.a) and isinstance(b, f.b)), None)


def count(a: Shape, b: Shape) -> int:
    """At how many places two shapes touch at the same time; 0 where they are none of these."""
    one, two = (met.shape for met in _met(a, b))
    form = _form(one, two)
    if form is None:
        one, two = two, one
        form = _form(one, two)
    number = 0 if form is None else form.count(one, two)
    return number if number <= MOST else 0


def lie_on_each_other(a: Shape, b: Shape) -> bool:
    """Whether two shapes touch at several places."""
    return count(a, b) > 0


def strikes(a: Shape, b: Shape) -> bool:
    """Whether rigid contacts follow the places of two shapes.

    The lowest place of a rim that stands level turns with any speed, and no constraint follows it; of polyhedra as
    many places come and go at a time as let impacts go on for long.
    """
    return not any(isinstance(met.shape, Cylinder | Polyhedron) for met in _met(a, b))


def places(a: Shape, b: Shape, R: Mat, c: Vec, exponent: float | None = 1.0) -> list[Place]:
    """All places of two shapes; b has rotation R and origin c seen from a.

    exponent: n of the force K d^n; None for shapes that strike and do not overlap.
    """

    def build(x: Sequence[Scalar]) -> list[Scalar]:
        pose = mat([x[0:3], x[3:6], x[6:9]]), vec(x[9:12])
        return [y for place in _found(a, b, *pose, exponent) for y in place.numbers]

    x = shared(a, b, f"places {exponent!r}", [*R[0], *R[1], *R[2], *c], build)
    return [Place.of(x[k : k + NUMBERS]) for k in range(0, len(x), NUMBERS)]


def _found(a: Shape, b: Shape, R: Mat, c: Vec, exponent: float | None) -> list[Place]:
    one, two = _met(a, b)
    if one.R is not UNIT or two.R is not UNIT:
        c = transposed_times(one.R, sub(add(c, times(R, two.p)), one.p))
        R = matmul(transpose(one.R), matmul(R, two.R))
    found = _between(one.shape, two.shape, R, c, exponent)
    return found if one.R is UNIT else [place.moved(one.R, one.p) for place in found]


def _between(a: Shape, b: Shape, R: Mat, c: Vec, exponent: float | None) -> list[Place]:
    form = _form(a, b)
    if form is not None:
        return form.places(a, b, R, c, exponent)
    form = _form(b, a)
    assert form is not None
    # Seen from b; the places are brought back into the frame of a.
    back = neg(transposed_times(R, c))
    return [place.turned.moved(R, c) for place in form.places(b, a, transpose(R), back, exponent)]


__all__ = ["count", "lie_on_each_other", "places", "strikes"]
