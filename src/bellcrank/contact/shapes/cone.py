"""A cone, whole or cut off, with rounded rims and tip."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from bellcrank.base.keys import NUMBER, Keys, may, must
from bellcrank.contact.given import is_finite
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
    Tangent,
    concave,
    settled,
    smooth_absolute,
    smooth_maximum,
    smooth_radius,
)
from bellcrank.contact.shapes.turned import mass_of_revolution, rounded, straight
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.math.vectors import Vector
from bellcrank.program.functions import maximum, minimum, sqrt
from bellcrank.program.trace import Expr, Scalar


class ConeField(NamedTuple):
    """Minus the smooth maximum of side and ends: exact on both and C2 everywhere.

    On the rounded rims and the tip the slope is below one; it is nowhere above.

    radius, half_length: [m]. across, along: The normal of the side, away from the axis and along it. width: Over which
    side and ends are blended [m].
    """

    radius: float
    half_length: float
    across: float
    along: float
    width: float

    def depth(self, x: Vector) -> float:
        out = smooth_radius(x.x * x.x + x.y * x.y, self.width) - self.radius
        side = self.across * out + self.along * (x.z + self.half_length)
        return -smooth_maximum(side, smooth_absolute(x.z, self.width) - self.half_length, self.width)

    def bound(self, x: Vector, r: float) -> float:
        return self.depth(x) + r

    def tangent(self, x: Vector) -> Tangent:
        return concave(self, x)

    def radius_at(self, z: float) -> float:
        """Of the sharp cone [m]."""
        return self.radius - (self.along / self.across) * (z + self.half_length)

    def carried(self, x: Vector, before: ConeField) -> Vector:
        """Along as the length changes, across as the radius there does; blends settle behind."""
        z = x.z * (self.half_length / before.half_length)
        out = (self.radius_at(z) + self.width) / (before.radius_at(x.z) + before.width)
        return settled(self, Vector(x.x * out, x.y * out, z), before.depth(x))  # type: ignore[no-any-return]

    def change(self, before: ConeField) -> float:
        h, low = abs(self.half_length - before.half_length), abs(self.radius - before.radius)
        top = abs(self.radius_at(self.half_length) - before.radius_at(before.half_length))
        wide = abs(self.width - before.width)
        # Blends are two widths wide and follow their rims but for what angles and widths change.
        turned = abs(self.across - before.across) + abs(self.along - before.along)
        return h + max(low, top) + 4.0 * wide + 2.0 * before.width * turned


@dataclass(frozen=True)
class Cone(FieldShape):
    """A cone along z: `radius` [m] at z = -half_length, `top_radius` [m] at z = half_length, 0 for a tip.

    rounding: Radius of its rims [m], a fiftieth of the smaller of diameter and length where missing; 0 keeps them
    sharp. Mass properties are those of the sharp cone.
    """

    kind = "cone"
    keys = Keys(
        "A cone along z, whole or cut off.",
        must("radius", NUMBER, "At z = -half_length [m]."),
        HALF_LENGTH,
        may("top_radius", NUMBER, "At z = half_length [m]; 0, a tip, where missing."),
        RIMS,
    )

    radius: Scalar
    half_length: Scalar
    top_radius: Scalar = 0.0
    rounding: Scalar | None = None

    def __post_init__(self) -> None:
        check_sizes("cone", radius=self.radius, half_length=self.half_length)
        top = self.top_radius
        if not isinstance(top, Expr) and not (is_finite(top) and top >= 0.0):
            raise ModelError(f"cone: top_radius must be a length [m], 0 for a tip, not {top!r}")
        check_rounding("cone", self.rounding, self._smallest)

    @property
    def _smallest(self) -> Scalar:
        """Half the smallest size; a tip is none."""
        widest = maximum(self.radius, self.top_radius)
        return minimum(widest, self.half_length)

    @property
    def _slant(self) -> Scalar:
        """Length of the side [m]."""
        taper = self.radius - self.top_radius
        return sqrt(4.0 * self.half_length * self.half_length + taper * taper)

    @property
    def edge_radius(self) -> Scalar:
        """Radius of the rims [m]."""
        return 2.0 * self._smallest / SHARPEST if self.rounding is None else self.rounding

    def implicit(self, s: Vec) -> Scalar:
        around = sqrt(s[0] * s[0] + s[1] * s[1]) - self.radius
        taper = (self.radius - self.top_radius) / (2.0 * self.half_length)
        side = around + taper * (s[2] + self.half_length)
        return maximum(side, maximum(s[2], -s[2]) - self.half_length)

    def bounding_radius(self) -> Scalar:
        widest = maximum(self.radius, self.top_radius)
        return sqrt(widest * widest + self.half_length * self.half_length)

    @cached_property
    def field(self) -> Field:
        width = maximum(BLEND * self.edge_radius, SHARP * self._smallest)
        return ConeField(
            number(self.radius),
            number(self.half_length),
            number(2.0 * self.half_length / self._slant),
            number((self.radius - self.top_radius) / self._slant),
            number(width),
        )

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        r, h, top = (plain("cone", x) for x in (self.radius, self.half_length, self.top_radius))
        size = 2.0 * plain("cone", self._smallest)
        fine = max(size / SHARPEST, (max(r, top) + h) / 50.0) if spacing is None else spacing
        sides = straight((r, -h), (top, h), fine)
        rows = [(0.0, -h), *(sides if top > 0.0 else sides[:-1]), (0.0, h)]
        return rounded(rows, self.field, [(r, -h), (top, h)], size, fine, spacing)

    @cached_property
    def _mass(self) -> tuple[float, Floats, Floats]:
        r, h, top = (plain("cone", x) for x in (self.radius, self.half_length, self.top_radius))
        return mass_of_revolution(lambda z: (0.5 * (r + top) + (top - r) * z / (2.0 * h)) ** 2, [-h, h])


__all__ = ["Cone", "ConeField"]
