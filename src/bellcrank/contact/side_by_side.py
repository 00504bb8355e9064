"""Pairs of shapes that touch at several places: which they are, and their places by one program a pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bellcrank.contact import along_lines, box_box
from bellcrank.contact.places import NUMBERS, Place
from bellcrank.contact.shapes import Box, Capsule, Cylinder, Shape
from bellcrank.contact.sharing import shared
from bellcrank.math.tuples import (
    Mat,
    Vec,
    mat,
    neg,
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
    count: int
    places: Callable[[Any, Any, Mat, Vec], list[Place]]


_FORMS = (
    _Form(Box, Box, box_box.PLACES, box_box.places),
    _Form(Box, Capsule, along_lines.PLACES, along_lines.box_capsule),
    _Form(Capsule, Capsule, along_lines.PLACES, along_lines.capsule_capsule),
)


def _form(a: Shape, b: Shape) -> _Form | None:
    return next((f for f in _FORMS if isinstance(a, f.a) and isinstance(b, f.b)), None)


def count(a: Shape, b: Shape) -> int:
    """At how many places two rigid shapes touch at the same time; 0 where they are none of these."""
    form = _form(a, b) or _form(b, a)
    return 0 if form is None else form.count


def lie_on_each_other(a: Shape, b: Shape) -> bool:
    """Whether two shapes may touch along flat sides, straight lines or rims."""
    return all(isinstance(shape, Box | Capsule | Cylinder) for shape in (a, b))


def places(a: Shape, b: Shape, R: Mat, c: Vec) -> list[Place]:
    """All places of two shapes; b has rotation R and origin c seen from a."""

    def build(x: Sequence[Scalar]) -> list[Scalar]:
        pose = mat([x[0:3], x[3:6], x[6:9]]), vec(x[9:12])
        return [y for place in _between(a, b, *pose) for y in place.numbers]

    x = shared(a, b, "places", [*R[0], *R[1], *R[2], *c], build)
    return [Place.of(x[k : k + NUMBERS]) for k in range(0, len(x), NUMBERS)]


def _between(a: Shape, b: Shape, R: Mat, c: Vec) -> list[Place]:
    form = _form(a, b)
    if form is not None:
        return form.places(a, b, R, c)
    form = _form(b, a)
    assert form is not None
    # Seen from b; the places are brought back into the frame of a.
    back = neg(transposed_times(R, c))
    return [place.turned.moved(R, c) for place in form.places(b, a, transpose(R), back)]


__all__ = ["count", "lie_on_each_other", "places"]
