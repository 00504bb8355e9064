"""A box with rounded edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bellcrank.base.keys import NUMBER, VECTOR3, Keys, may, must
from bellcrank.contact.shapes.base import (
    FLAT,
    SHARPEST,
    Floats,
    Shape,
    Support,
    check_rounding,
    check_sizes,
    number,
    plain,
)
from bellcrank.contact.shapes.fields import (
    BLEND,
    Field,
    Tangent,
    concave,
    onto,
    smooth_absolute,
    smooth_maximum,
    stretched,
)
from bellcrank.contact.shapes.grading import COARSE, crates, graded
from bellcrank.contact.triangles import Triangles, refined
from bellcrank.math.tuples import Vec
from bellcrank.math.vectors import Vector
from bellcrank.program.functions import clip, maximum, minimum, sign, sqrt, where
from bellcrank.program.trace import Scalar, compare


class BoxField(NamedTuple):
    """Minus the smooth maximum of three slabs: exact on the flat sides and C2 everywhere.

    On rounded edges the slope falls to 0.71, on corners to 0.58; it is nowhere above one. Three numbers have no smooth
    maximum from that of two which is symmetric, so it is the mean of the three orders in which to take them.

    half: Half the edges [m]. width: Over which sides are blended [m].
    """

    half: Vector
    width: float

    def depth(self, x: Vector) -> float:
        w = self.width
        a = smooth_absolute(x.x, w) - self.half.x
        b = smooth_absolute(x.y, w) - self.half.y
        c = smooth_absolute(x.z, w) - self.half.z
        m = smooth_maximum(smooth_maximum(a, b, w), c, w)
        n = smooth_maximum(smooth_maximum(b, c, w), a, w)
        return (m + n + smooth_maximum(smooth_maximum(c, a, w), b, w)) / -3.0

    def bound(self, x: Vector, r: float) -> float:
        return self.depth(x) + r

    def tangent(self, x: Vector) -> Tangent:
        return concave(self, x)

    def carried(self, x: Vector, before: BoxField) -> Vector:
        w, u = self.width, before.width
        return Vector(
            stretched(x.x, self.half.x, w, before.half.x, u),
            stretched(x.y, self.half.y, w, before.half.y, u),
            stretched(x.z, self.half.z, w, before.half.z, u),
        )

    def change(self, before: BoxField) -> float:
        return (self.half - before.half).length + 4.0 * abs(self.width - before.width)


@dataclass(frozen=True)
class Box(Shape):
    """A box around the origin of its frame; half its edges along x, y and z [m].

    rounding: Radius of its edges [m], a fiftieth of the shortest edge where missing; 0 keeps them sharp. Mass
    properties and closest points are those of the sharp box.
    """

    kind = "box"
    keys = Keys(
        "A box.",
        must("half_lengths", VECTOR3, "Half the edges along x, y and z [m]."),
        may("rounding", NUMBER, "Radius of its edges [m]; a fiftieth of its smallest size where missing."),
    )

    half_x: Scalar
    half_y: Scalar
    half_z: Scalar
    rounding: Scalar | None = None
    faces: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_sizes("box", half_x=self.half_x, half_y=self.half_y, half_z=self.half_z)
        check_rounding("box", self.rounding, self._smallest)

    @classmethod
    def of_keys(cls, given: Mapping[str, Any]) -> Box:
        x, y, z = given["half_lengths"]
        return cls(x, y, z, given.get("rounding"))

    @property
    def _smallest(self) -> Scalar:
        return minimum(minimum(self.half_x, self.half_y), self.half_z)

    @property
    def half_lengths(self) -> Vec:
        """All three [m]."""
        return self.half_x, self.half_y, self.half_z

    def implicit(self, s: Vec) -> Scalar:
        x, y, z = (maximum(c, -c) / h for c, h in zip(s, self.half_lengths, strict=True))
        return maximum(x, maximum(y, z)) - 1.0

    def support(self, n: Vec) -> Support:
        x, y, z = (h * sign(c) for h, c in zip(self.half_lengths, n, strict=True))
        return Support((x, y, z), lambda e, f: 0.0)

    def support_near(self, n: Vec, target: Vec) -> Vec:
        x, y, z = (
            where(compare("lt", c * c, FLAT * FLAT), clip(t, -h, h), h * sign(c))
            for c, t, h in zip(n, target, self.half_lengths, strict=True)
        )
        return (x, y, z)

    def outward(self, direction: Vec) -> Vec:
        x, y, z = (maximum(c, -c) / h for c, h in zip(direction, self.half_lengths, strict=True))
        most = maximum(x, maximum(y, z))
        by_x, by_y = compare("le", most, x), compare("le", most, y)
        left = where(by_x, 0.0, where(by_y, 0.0, sign(direction[2])))
        return (
            where(by_x, sign(direction[0]), 0.0),
            where(by_x, 0.0, where(by_y, sign(direction[1]), 0.0)),
            left,
        )

    def bounding_radius(self) -> Scalar:
        return sqrt(self.half_x * self.half_x + self.half_y * self.half_y + self.half_z * self.half_z)

    @property
    def edge_radius(self) -> Scalar:
        """Radius of the edges [m]."""
        return 2.0 * self._smallest / SHARPEST if self.rounding is None else self.rounding

    @cached_property
    def field(self) -> Field:
        x, y, z = (number(h) for h in self.half_lengths)
        return BoxField(Vector(x, y, z), number(BLEND * self.edge_radius))

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        half = np.array([plain("box", h) for h in self.half_lengths])
        # Twelve edges of a cube in fiftieths are 600 pieces; a longer box takes no more than twice as many.
        fine = max(2.0 * half.min() / SHARPEST, half.sum() / 100.0) if spacing is None else spacing

        def beside(x: Floats) -> Floats:
            """Distance from the nearest edge: the second smallest to a side."""
            return np.sort(half - np.abs(x), axis=1)[:, 1]

        sharp = refined(crates(half, COARSE * fine), graded(beside, fine))
        return Triangles(onto(self.field, sharp.vertices), sharp.faces)

    def facets(self) -> Triangles | None:
        """Long triangles beside the edges, which are straight, in rows across the blend of two sides.

        Within a side a few vertices spread the load, so that friction turns against spin as that of a plate does.
        """
        half = np.array([plain("box", h) for h in self.half_lengths])
        width = min(self.field.width, 0.45 * float(half.min()))  # type: ignore[attr-defined]
        whole = crates(np.ones(3), 2.0 / 9.0)
        row = np.rint(4.5 * (1.0 - np.abs(whole.vertices))).astype(int)
        inset = np.array([0.0, 0.6 * width, 2.0 * width, 2.0 * width, 2.0 * width])[row]
        inner = np.array([1.0, 1.0, 1.0, 0.6, 0.2])[row]
        sharp = np.sign(whole.vertices) * inner * (half - inset)
        return Triangles(onto(self.field, sharp), whole.faces)

    @property
    def volume(self) -> float:
        x, y, z = (plain("box", h) for h in self.half_lengths)
        return 8.0 * x * y * z

    @property
    def centre(self) -> Floats:
        return np.zeros(3)

    @property
    def inertia(self) -> Floats:
        squares = np.array([plain("box", h) for h in self.half_lengths]) ** 2
        return self.volume / 3.0 * np.diag(squares.sum() - squares)


__all__ = ["Box", "BoxField"]
