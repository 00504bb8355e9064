"""A capsule."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from bellcrank.base.keys import Keys
from bellcrank.contact.shapes.base import (
    FLAT,
    HALF_LENGTH,
    RADIUS,
    Floats,
    Shape,
    Support,
    check_sizes,
    number,
    plain,
)
from bellcrank.contact.shapes.fields import TINY, Field, Tangent, concave
from bellcrank.contact.shapes.grading import following
from bellcrank.contact.shapes.turned import mass_of_revolution, turned
from bellcrank.contact.triangles import Triangles
from bellcrank.math.tuples import Vec, dot, scale
from bellcrank.math.vectors import Vector
from bellcrank.program.functions import clip, sign, where
from bellcrank.program.trace import Scalar, compare


class CapsuleField(NamedTuple):
    """The depth in a capsule, exact; curvature, and so the second slope, jumps where side and ends meet.

    radius, half_length: [m].
    """

    radius: float
    half_length: float

    def depth(self, x: Vector) -> float:
        tiny = TINY * self.radius
        z = x.z - min(max(x.z, -self.half_length), self.half_length)
        return self.radius - (x.x * x.x + x.y * x.y + z * z + tiny * tiny) ** 0.5  # type: ignore[no-any-return]

    def bound(self, x: Vector, r: float) -> float:
        return self.depth(x) + r

    def tangent(self, x: Vector) -> Tangent:
        return concave(self, x)

    def carried(self, x: Vector, before: CapsuleField) -> Vector:
        k = self.radius / before.radius
        seam = min(max(x.z, -before.half_length), before.half_length)
        z = seam * (self.half_length / before.half_length) + (x.z - seam) * k
        return Vector(x.x * k, x.y * k, z)

    def change(self, before: CapsuleField) -> float:
        return abs(self.radius - before.radius) + abs(self.half_length - before.half_length)


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along z with round ends; radius [m], half_length of the straight part [m]."""

    kind = "capsule"
    keys = Keys("A cylinder along z with round ends.", RADIUS, HALF_LENGTH)

    radius: Scalar
    half_length: Scalar
    straight: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_sizes("capsule", radius=self.radius, half_length=self.half_length)

    def implicit(self, s: Vec) -> Scalar:
        z = s[2] - clip(s[2], -self.half_length, self.half_length)
        return s[0] * s[0] + s[1] * s[1] + z * z - self.radius * self.radius

    def support(self, n: Vec) -> Support:
        x, y, z = scale(self.radius, n)
        return Support((x, y, z + self.half_length * sign(n[2])), lambda e, f: self.radius * dot(e, f))

    def support_near(self, n: Vec, target: Vec) -> Vec:
        x, y, z = scale(self.radius, n)
        return (x, y, z + along_side(n, target, self.half_length))

    def bounding_radius(self) -> Scalar:
        return self.radius + self.half_length

    @cached_property
    def field(self) -> Field:
        return CapsuleField(number(self.radius), number(self.half_length))

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        return self._turned(spacing, 1)

    def even_triangles(self, spacing: float) -> Triangles | None:
        return self._turned(spacing, math.ceil(2.0 * plain("capsule", self.half_length) / spacing))

    def _turned(self, spacing: float | None, pieces: int) -> Triangles:
        """pieces: Of the straight side along the axis."""
        r, h = plain("capsule", self.radius), plain("capsule", self.half_length)
        bend = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 9)
        heights = np.where(bend < 0.0, -h, h)
        # The seams belong to the straight side.
        rows = np.stack([r * np.cos(bend), heights + r * np.sin(bend)], axis=1)
        cuts = np.linspace(-h, h, 1 + pieces)
        rows = np.concatenate([rows[:4], np.column_stack([np.full_like(cuts, r), cuts]), rows[5:]])
        return following(turned(rows, 16), self.field, 2.0 * r, spacing)

    @cached_property
    def _mass(self) -> tuple[float, Floats, Floats]:
        r, h = plain("capsule", self.radius), plain("capsule", self.half_length)
        ends = [-h - r, -h, h, h + r]
        return mass_of_revolution(lambda z: r * r - np.maximum(np.abs(z) - h, 0.0) ** 2, ends)


def along_side(n: Vec, target: Vec, half_length: Scalar) -> Scalar:
    """Height of the support point nearest to a target: anywhere along the side where the normal is across it."""
    level = compare("lt", n[2] * n[2], FLAT * FLAT)
    return where(level, clip(target[2], -half_length, half_length), half_length * sign(n[2]))


__all__ = ["Capsule", "CapsuleField", "along_side"]
