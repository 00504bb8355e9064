"""An ellipsoid, and an ellipse for planar mechanisms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bellcrank.contact.shapes.base import TINY, Shape, Support, check_sizes
from bellcrank.mechanics.vectors import Vec, dot, scale
from bellcrank.program.functions import maximum, sqrt
from bellcrank.program.trace import Scalar


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """a, b, c: semi-axes along x, y, z [m]."""

    a: Scalar
    b: Scalar
    c: Scalar

    def __post_init__(self) -> None:
        check_sizes("ellipsoid", a=self.a, b=self.b, c=self.c)

    def implicit(self, s: Vec) -> Scalar:
        x, y, z = s[0] / self.a, s[1] / self.b, s[2] / self.c
        return x * x + y * y + z * z - 1.0

    def support(self, n: Vec) -> Support:
        squares = (self.a * self.a, self.b * self.b, self.c * self.c)
        return _elliptic(squares, n)

    def outward(self, direction: Vec) -> Vec:
        x, y, z = direction
        return (x / (self.a * self.a), y / (self.b * self.b), z / (self.c * self.c))

    def bounding_radius(self) -> Scalar:
        return maximum(maximum(self.a, self.b), self.c)


@dataclass(frozen=True)
class Ellipse(Shape):
    """An ellipse in the x-y plane of its frame; a, b: semi-axes along x and y [m]."""

    a: Scalar
    b: Scalar
    planar: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_sizes("ellipse", a=self.a, b=self.b)

    def implicit(self, s: Vec) -> Scalar:
        x, y = s[0] / self.a, s[1] / self.b
        return x * x + y * y - 1.0

    def support(self, n: Vec) -> Support:
        return _elliptic((self.a * self.a, self.b * self.b, 0.0), n)

    def outward(self, direction: Vec) -> Vec:
        return (direction[0] / (self.a * self.a), direction[1] / (self.b * self.b), 0.0)

    def bounding_radius(self) -> Scalar:
        return maximum(self.a, self.b)


def _elliptic(squares: Vec, n: Vec) -> Support:
    """h(n) = |D n|: point D^2 n / h, second derivative (D^2 - x x^T) / h."""
    m = (squares[0] * n[0], squares[1] * n[1], squares[2] * n[2])
    inverse = 1.0 / sqrt(maximum(dot(n, m), TINY))
    point = scale(inverse, m)

    def second(e: Vec, f: Vec) -> Scalar:
        stretched = squares[0] * (e[0] * f[0]) + squares[1] * (e[1] * f[1]) + squares[2] * (e[2] * f[2])
        return (stretched - dot(point, e) * dot(point, f)) * inverse

    return Support(point, second)
