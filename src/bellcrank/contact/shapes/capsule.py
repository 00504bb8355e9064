"""A capsule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bellcrank.contact.shapes.base import FLAT, Shape, Support, check_sizes
from bellcrank.mechanics.vectors import Vec, dot, scale
from bellcrank.program.functions import clip, sign, where
from bellcrank.program.trace import Scalar, compare


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along z with round ends; radius [m], half_length of the straight part [m]."""

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
        return (x, y, z + _along(n, target, self.half_length))

    def bounding_radius(self) -> Scalar:
        return self.radius + self.half_length


def _along(n: Vec, target: Vec, half_length: Scalar) -> Scalar:
    level = compare("lt", n[2] * n[2], FLAT * FLAT)
    return where(level, clip(target[2], -half_length, half_length), half_length * sign(n[2]))
