"""A tube with flat ends and rounded rims."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bellcrank.base.keys import NUMBER, Keys, must
from bellcrank.contact.shapes.base import (
    HALF_LENGTH,
    RIMS,
    SHARPEST,
    FieldShape,
    Floats,
    check_rounding,
    check_sizes,
    number,
    plain,
)
from bellcrank.contact.shapes.fields import (
    BLEND,
    SHARP,
    Field,
    smooth_absolute,
    smooth_maximum,
    smooth_radius,
    stretched,
)
from bellcrank.contact.shapes.turned import rounded, straight
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.math.vectors import Vector
from bellcrank.program.functions import maximum, minimum, sqrt
from bellcrank.program.trace import Expr, Scalar


class TubeField(NamedTuple):
    """Minus the smooth maximum of wall and ends: exact on both and C2 everywhere; its slope is nowhere above one.

    middle: Radius of the middle of the wall [m]. half_wall, half_length: [m]. width: Over which sides are blended [m].
    """

    middle: float
    half_wall: float
    half_length: float
    width: float

    def depth(self, x: Vector) -> float:
        out = smooth_radius(x.x * x.x + x.y * x.y, self.width) - self.middle
        wall = smooth_absolute(out, self.width) - self.half_wall
        return -smooth_maximum(wall, smooth_absolute(x.z, self.width) - self.half_length, self.width)

    def bound(self, x: Vector, r: float) -> float:
        return self.depth(x) + r

    def carried(self, x: Vector, before: TubeField) -> Vector:
        w, u = self.width, before.width
        out = (x.x * x.x + x.y * x.y) ** 0.5
        wall = stretched(out - before.middle, self.half_wall, w, before.half_wall, u)
        around = (self.middle + wall) / out
        return Vector(x.x * around, x.y * around, stretched(x.z, self.half_length, w, before.half_length, u))

    def change(self, before: TubeField) -> float:
        walls = abs(self.middle - before.middle) + abs(self.half_wall - before.half_wall)
        return walls + abs(self.half_length - before.half_length) + 4.0 * abs(self.width - before.width)


@dataclass(frozen=True)
class Tube(FieldShape):
    """A tube along z: outer and inner radius [m], half_length [m].

    rounding: Radius of its rims [m], a fiftieth of the smaller of wall and length where missing; 0 keeps them sharp.
    Mass properties are those of the sharp tube.
    """

    kind = "tube"
    keys = Keys(
        "A tube along z with flat ends.",
        must("outer_radius", NUMBER, "[m]"),
        must("inner_radius", NUMBER, "[m], smaller."),
        HALF_LENGTH,
        RIMS,
    )

    outer_radius: Scalar
    inner_radius: Scalar
    half_length: Scalar
    rounding: Scalar | None = None

    def __post_init__(self) -> None:
        outer, inner = self.outer_radius, self.inner_radius
        check_sizes("tube", outer_radius=outer, inner_radius=inner, half_length=self.half_length)
        if not isinstance(outer, Expr) and not isinstance(inner, Expr) and not inner < outer:
            raise ModelError(
                f"tube: inner_radius {inner:g} m must be smaller than outer_radius {outer:g} m; without a bore it is "
                "a cylinder"
            )
        check_rounding("tube", self.rounding, self._smallest)

    @property
    def _half_wall(self) -> Scalar:
        return 0.5 * (self.outer_radius - self.inner_radius)

    @property
    def _smallest(self) -> Scalar:
        return minimum(self._half_wall, self.half_length)

    def implicit(self, s: Vec) -> Scalar:
        out = sqrt(s[0] * s[0] + s[1] * s[1]) - 0.5 * (self.outer_radius + self.inner_radius)
        wall = maximum(out, -out) / self._half_wall
        return maximum(wall, maximum(s[2], -s[2]) / self.half_length) - 1.0

    def bounding_radius(self) -> Scalar:
        return sqrt(self.outer_radius * self.outer_radius + self.half_length * self.half_length)

    @property
    def edge_radius(self) -> Scalar:
        """Radius of the rims [m]."""
        return 2.0 * self._smallest / SHARPEST if self.rounding is None else self.rounding

    @cached_property
    def field(self) -> Field:
        width = maximum(BLEND * self.edge_radius, SHARP * self._smallest)
        middle = 0.5 * (self.outer_radius + self.inner_radius)
        return TubeField(number(middle), number(self._half_wall), number(self.half_length), number(width))

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        R, r, h = (plain("tube", x) for x in (self.outer_radius, self.inner_radius, self.half_length))
        # Curved sides are followed as those of a cylinder of the same size; rims are resolved by the wall.
        size = 2.0 * min(R, h)
        fine = max(min(R - r, size) / SHARPEST, (R + r + h) / 50.0) if spacing is None else spacing
        corners = [(R, -h), (R, h), (r, h), (r, -h)]
        sides = zip(corners, [*corners[1:], corners[0]], strict=True)
        rows = [point for start, end in sides for point in straight(start, end, fine)[:-1]]
        return rounded(rows, self.field, corners, size, fine, spacing, ring=True)

    @property
    def volume(self) -> float:
        R, r = plain("tube", self.outer_radius), plain("tube", self.inner_radius)
        return 2.0 * math.pi * (R * R - r * r) * plain("tube", self.half_length)

    @property
    def centre(self) -> Floats:
        return np.zeros(3)

    @property
    def inertia(self) -> Floats:
        R, r, h = (plain("tube", x) ** 2 for x in (self.outer_radius, self.inner_radius, self.half_length))
        across = 0.25 * (R + r) + h / 3.0
        return self.volume * np.diag([across, across, 0.5 * (R + r)])


__all__ = ["Tube", "TubeField"]
