"""A half-space, and a half-plane for planar mechanisms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

from bellcrank.base.keys import Keys
from bellcrank.contact.shapes.base import Shape, Support
from bellcrank.contact.shapes.fields import Field, Tangent
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.math.vectors import Vector
from bellcrank.program.trace import Scalar


class PlaneField(NamedTuple):
    """The depth below z = 0, exact."""

    def depth(self, x: Vector) -> float:
        return -x.z

    def bound(self, x: Vector, r: float) -> float:
        return r - x.z

    def tangent(self, x: Vector) -> Tangent:
        return Tangent(-x.z, Vector(0.0, 0.0, -1.0), 0.0, math.inf, -x.z)


@dataclass(frozen=True)
class Plane(Shape):
    """The half-space z <= 0 of its frame; its normal is +z."""

    kind = "plane"
    keys = Keys("The half-space z <= 0 of its frame.")

    def implicit(self, s: Vec) -> Scalar:
        return s[2]

    def support(self, n: Vec) -> Support:
        raise ModelError("a plane has no support point; it meets only shapes of finite size")

    def bounding_radius(self) -> Scalar:
        return math.inf

    def samples(self) -> tuple[Vec, ...]:
        return ((0.0, 0.0, 0.0),)

    @cached_property
    def field(self) -> Field:
        return super().field if self.planar else PlaneField()

    @property
    def volume(self) -> float:
        return math.inf


@dataclass(frozen=True)
class HalfPlane(Plane):
    """The half y <= 0 of the x-y plane of its frame; its normal is +y."""

    kind = "line"
    keys = Keys("The half y <= 0 of the x-y plane of its frame.")

    planar: ClassVar[bool] = True

    def implicit(self, s: Vec) -> Scalar:
        return s[1]


Line = HalfPlane
"""A straight edge in the plane: the material lies below it."""

__all__ = ["HalfPlane", "Line", "Plane", "PlaneField"]
