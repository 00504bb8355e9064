"""A sphere, and a circle for planar mechanisms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from bellcrank.base.keys import Keys
from bellcrank.contact.shapes.base import RADIUS, SAGITTA, Floats, Shape, Support, check_sizes, number, plain
from bellcrank.contact.shapes.fields import TINY, Field, Tangent, concave
from bellcrank.contact.shapes.geodesic import geodesic
from bellcrank.contact.triangles import Triangles
from bellcrank.math.tuples import Vec, dot, scale
from bellcrank.math.vectors import Vector
from bellcrank.program.trace import Scalar


class SphereField(NamedTuple):
    """The depth in a sphere, exact but for a rounding at its centre; radius: [m]."""

    radius: float

    def depth(self, x: Vector) -> float:
        tiny = TINY * self.radius
        return self.radius - (x.square + tiny * tiny) ** 0.5  # type: ignore[no-any-return]

    def bound(self, x: Vector, r: float) -> float:
        return self.depth(x) + r

    def tangent(self, x: Vector) -> Tangent:
        return concave(self, x)

    def carried(self, x: Vector, before: SphereField) -> Vector:
        return x * (self.radius / before.radius)

    def change(self, before: SphereField) -> float:
        return abs(self.radius - before.radius)


@dataclass(frozen=True)
class Sphere(Shape):
    """radius: [m]."""

    kind = "sphere"
    keys = Keys("A sphere.", RADIUS)

    radius: Scalar

    def __post_init__(self) -> None:
        check_sizes("sphere", radius=self.radius)

    def implicit(self, s: Vec) -> Scalar:
        return dot(s, s) - self.radius * self.radius

    def support(self, n: Vec) -> Support:
        return Support(scale(self.radius, n), lambda e, f: self.radius * dot(e, f))

    def bounding_radius(self) -> Scalar:
        return self.radius

    @cached_property
    def field(self) -> Field:
        return super().field if self.planar else SphereField(number(self.radius))

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        if self.planar:
            return None
        r = plain("sphere", self.radius)
        # A triangle of edge h lies h^2 / (6 r) below the sphere in its middle.
        unit = geodesic(math.sqrt(12.0 / SAGITTA) if spacing is None else spacing / r)
        return Triangles(r * unit.vertices, unit.faces)

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * math.pi * plain("sphere", self.radius) ** 3

    @property
    def centre(self) -> Floats:
        return np.zeros(3)

    @property
    def inertia(self) -> Floats:
        return 0.4 * self.volume * plain("sphere", self.radius) ** 2 * np.eye(3)


@dataclass(frozen=True)
class Circle(Sphere):
    """A circle in the x-y plane of its frame; radius: [m]."""

    kind = "circle"
    keys = Keys("A circle in the x-y plane of its frame.", RADIUS)

    planar: ClassVar[bool] = True

    def implicit(self, s: Vec) -> Scalar:
        return s[0] * s[0] + s[1] * s[1] - self.radius * self.radius


__all__ = ["Circle", "Sphere", "SphereField"]
