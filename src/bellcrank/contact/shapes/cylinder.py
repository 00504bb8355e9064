"""A cylinder with rounded rims."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from bellcrank.base.keys import Keys
from bellcrank.contact.shapes.base import (
    FLAT,
    HALF_LENGTH,
    RADIUS,
    RIMS,
    SHARPEST,
    TINY,
    Floats,
    Shape,
    Support,
    check_rounding,
    check_sizes,
    number,
    plain,
)
from bellcrank.contact.shapes.capsule import along_side
from bellcrank.contact.shapes.fields import (
    BLEND,
    SHARP,
    Field,
    Tangent,
    concave,
    smooth_absolute,
    smooth_maximum,
    smooth_radius,
    stretched,
)
from bellcrank.contact.shapes.turned import mass_of_revolution, rounded, straight
from bellcrank.contact.triangles import Triangles
from bellcrank.math.tuples import Vec
from bellcrank.math.vectors import Vector
from bellcrank.program.functions import maximum, minimum, sign, sqrt, where
from bellcrank.program.trace import Scalar, compare

UPRIGHT = 1e-24
"""Square of the sine between a normal and the axis that stands for less: far below :data:`FLAT`, where any place of the
end is as good."""


class CylinderField(NamedTuple):
    """Minus the smooth maximum of side and ends: exact on both and C2 everywhere.

    On the rounded rims the slope falls to 0.71; it is nowhere above one.

    radius, half_length: [m]. width: Over which side and ends are blended [m].
    """

    radius: float
    half_length: float
    width: float

    def depth(self, x: Vector) -> float:
        side = smooth_radius(x.x * x.x + x.y * x.y, self.width) - self.radius
        return -smooth_maximum(side, smooth_absolute(x.z, self.width) - self.half_length, self.width)

    def bound(self, x: Vector, r: float) -> float:
        return self.depth(x) + r

    def tangent(self, x: Vector) -> Tangent:
        return concave(self, x)

    def carried(self, x: Vector, before: CylinderField) -> Vector:
        w, u = self.width, before.width
        out = (x.x * x.x + x.y * x.y) ** 0.5
        around = (self.radius - 2.0 * w) / (before.radius - 2.0 * u)
        if out > 0.5 * before.radius:
            around = stretched(out, self.radius, w, before.radius, u) / out
        return Vector(x.x * around, x.y * around, stretched(x.z, self.half_length, w, before.half_length, u))

    def change(self, before: CylinderField) -> float:
        sides = abs(self.radius - before.radius) + abs(self.half_length - before.half_length)
        return sides + 4.0 * abs(self.width - before.width)


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along z with flat ends; radius [m], half_length [m].

    rounding: Radius of its rims [m], a fiftieth of the smaller of diameter and length where missing; 0 keeps them
    sharp. Mass properties and closest points are those of the sharp cylinder.
    """

    kind = "cylinder"
    keys = Keys("A cylinder along z with flat ends.", RADIUS, HALF_LENGTH, RIMS)

    radius: Scalar
    half_length: Scalar
    rounding: Scalar | None = None
    straight: ClassVar[bool] = True
    faces: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_sizes("cylinder", radius=self.radius, half_length=self.half_length)
        check_rounding("cylinder", self.rounding, self._smallest)

    @property
    def _smallest(self) -> Scalar:
        return minimum(self.radius, self.half_length)

    def implicit(self, s: Vec) -> Scalar:
        around = sqrt(s[0] * s[0] + s[1] * s[1]) / self.radius
        return maximum(around, maximum(s[2], -s[2]) / self.half_length) - 1.0

    def support(self, n: Vec) -> Support:
        inverse = 1.0 / sqrt(maximum(n[0] * n[0] + n[1] * n[1], UPRIGHT))
        x, y = n[0] * inverse, n[1] * inverse
        bend = self.radius * inverse

        def second(e: Vec, f: Vec) -> Scalar:
            return bend * (x * e[1] - y * e[0]) * (x * f[1] - y * f[0])

        return Support((self.radius * x, self.radius * y, self.half_length * sign(n[2])), second)

    def support_near(self, n: Vec, target: Vec) -> Vec:
        square = n[0] * n[0] + n[1] * n[1]
        upright = compare("lt", square, FLAT * FLAT)
        rim = self.radius / sqrt(maximum(square, UPRIGHT))
        reach = sqrt(maximum(target[0] * target[0] + target[1] * target[1], TINY))
        inward = self.radius / maximum(reach, self.radius)
        x = where(upright, target[0] * inward, n[0] * rim)
        y = where(upright, target[1] * inward, n[1] * rim)
        return (x, y, along_side(n, target, self.half_length))

    def bounding_radius(self) -> Scalar:
        return sqrt(self.radius * self.radius + self.half_length * self.half_length)

    @property
    def edge_radius(self) -> Scalar:
        """Radius of the rims [m]."""
        return 2.0 * self._smallest / SHARPEST if self.rounding is None else self.rounding

    @cached_property
    def field(self) -> Field:
        width = maximum(BLEND * self.edge_radius, SHARP * self._smallest)
        return CylinderField(number(self.radius), number(self.half_length), number(width))

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        r, h = plain("cylinder", self.radius), plain("cylinder", self.half_length)
        size = 2.0 * min(r, h)
        fine = max(size / SHARPEST, (r + h) / 50.0) if spacing is None else spacing
        rows = [(0.0, -h), *straight((r, -h), (r, h), fine), (0.0, h)]
        return rounded(rows, self.field, [(r, -h), (r, h)], size, fine, spacing)

    @cached_property
    def _mass(self) -> tuple[float, Floats, Floats]:
        r, h = plain("cylinder", self.radius), plain("cylinder", self.half_length)
        return mass_of_revolution(lambda z: np.full_like(z, r * r), [-h, h])


__all__ = ["Cylinder", "CylinderField"]
