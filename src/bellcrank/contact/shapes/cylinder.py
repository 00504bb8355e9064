"""A cylinder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bellcrank.contact.shapes.base import FLAT, TINY, Shape, Support, check_sizes
from bellcrank.contact.shapes.capsule import _along
from bellcrank.mechanics.vectors import Vec
from bellcrank.program.functions import maximum, sign, sqrt, where
from bellcrank.program.trace import Scalar, compare


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along z with flat ends; radius [m], half_length [m]."""

    radius: Scalar
    half_length: Scalar
    straight: ClassVar[bool] = True
    faces: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_sizes("cylinder", radius=self.radius, half_length=self.half_length)

    def implicit(self, s: Vec) -> Scalar:
        around = sqrt(s[0] * s[0] + s[1] * s[1]) / self.radius
        return maximum(around, maximum(s[2], -s[2]) / self.half_length) - 1.0

    def support(self, n: Vec) -> Support:
        inverse = 1.0 / sqrt(maximum(n[0] * n[0] + n[1] * n[1], 1e-24))
        x, y = n[0] * inverse, n[1] * inverse
        bend = self.radius * inverse

        def second(e: Vec, f: Vec) -> Scalar:
            return bend * (x * e[1] - y * e[0]) * (x * f[1] - y * f[0])

        return Support((self.radius * x, self.radius * y, self.half_length * sign(n[2])), second)

    def support_near(self, n: Vec, target: Vec) -> Vec:
        square = n[0] * n[0] + n[1] * n[1]
        upright = compare("lt", square, FLAT * FLAT)
        rim = self.radius / sqrt(maximum(square, 1e-24))
        reach = sqrt(maximum(target[0] * target[0] + target[1] * target[1], TINY))
        inward = self.radius / maximum(reach, self.radius)
        x = where(upright, target[0] * inward, n[0] * rim)
        y = where(upright, target[1] * inward, n[1] * rim)
        return (x, y, _along(n, target, self.half_length))

    def bounding_radius(self) -> Scalar:
        return sqrt(self.radius * self.radius + self.half_length * self.half_length)
