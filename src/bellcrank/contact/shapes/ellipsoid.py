"""An ellipsoid, and an ellipse for planar mechanisms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bellcrank.base.keys import NUMBER, VECTOR3, Keys, list_of, must
from bellcrank.contact.shapes import fields
from bellcrank.contact.shapes.base import SAGITTA, TINY, Floats, Shape, Support, check_sizes, number, plain
from bellcrank.contact.shapes.fields import Field
from bellcrank.contact.shapes.geodesic import geodesic
from bellcrank.contact.triangles import Triangles
from bellcrank.math.tuples import Vec, dot, scale
from bellcrank.math.vectors import Vector
from bellcrank.program.functions import maximum, sqrt
from bellcrank.program.loops import compiled, value
from bellcrank.program.trace import Scalar

NEWTON = 40
"""Steps at most; from outside three to five are enough, near the middle plane of a flat ellipsoid some more."""
SETTLED = 1e-8
"""Relative change of a step from which on the next one, which carries the rates, reaches the root."""


class EllipsoidField(NamedTuple):
    """The depth in an ellipsoid, exact; smooth but in its middle plane, across the shortest axis.

    The foot of x has the coordinates a_i^2 x_i / (t + a_i^2), t the largest root of sum (a_i x_i / (t + a_i^2))^2 = 1
    (Eberly, "Distance from a point to an ellipsoid"). The inverse root of that sum is nearly linear in t, and Newton's
    method for it converges from below.

    a: Semi-axes [m].
    """

    a: Vector

    def depth(self, x: Vector) -> float:
        a = self.a
        least = min(a.x, min(a.y, a.z))
        tiny = fields.TINY * least
        p = Vector(
            (x.x * x.x + tiny * tiny) ** 0.5,
            (x.y * x.y + tiny * tiny) ** 0.5,
            (x.z * x.z + tiny * tiny) ** 0.5,
        )
        # s = t + least^2, without cancellation where the middle plane is near.
        e = Vector(a.x * a.x - least * least, a.y * a.y - least * least, a.z * a.z - least * least)
        q = Vector(a.x * p.x, a.y * p.y, a.z * p.z)
        s = value(max(q.x - e.x, max(q.y - e.y, q.z - e.z)))
        for _ in range(NEWTON):
            after = value(_closer(q, e, s))
            change = abs(after - s)
            s = after
            if change <= SETTLED * s:
                break
        # One step carries first rates exactly, another one second rates.
        s = _closer(q, e, _closer(q, e, s))
        u = Vector(p.x / (s + e.x), p.y / (s + e.y), p.z / (s + e.z))
        return (least * least - s) * u.length

    def bound(self, x: Vector, r: float) -> float:
        return self.depth(x) + r

    def carried(self, x: Vector, before: EllipsoidField) -> Vector:
        a, b = self.a, before.a
        return Vector(x.x * (a.x / b.x), x.y * (a.y / b.y), x.z * (a.z / b.z))

    def change(self, before: EllipsoidField) -> float:
        a, b = self.a, before.a
        return max(abs(a.x - b.x), max(abs(a.y - b.y), abs(a.z - b.z)))


@compiled
def _closer(q: Vector, e: Vector, s: float) -> float:
    """A step of Newton's method for 1 / sqrt(sum (q_i / (s + e_i))^2) = 1."""
    i, j, k = 1.0 / (s + e.x), 1.0 / (s + e.y), 1.0 / (s + e.z)
    u, v, w = q.x * i, q.y * j, q.z * k
    total = u * u + v * v + w * w
    return s + total * (total**0.5 - 1.0) / (u * u * i + v * v * j + w * w * k)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """a, b, c: semi-axes along x, y, z [m]."""

    kind = "ellipsoid"
    keys = Keys("An ellipsoid.", must("semi_axes", VECTOR3, "Along x, y, z of the shape [m]."))

    a: Scalar
    b: Scalar
    c: Scalar

    def __post_init__(self) -> None:
        check_sizes("ellipsoid", a=self.a, b=self.b, c=self.c)

    @property
    def semi_axes(self) -> Vec:
        """All three [m]."""
        return (self.a, self.b, self.c)

    @classmethod
    def of_keys(cls, given: Mapping[str, Any]) -> Ellipsoid:
        return cls(*given["semi_axes"])

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

    @cached_property
    def field(self) -> Field:
        return EllipsoidField(Vector(number(self.a), number(self.b), number(self.c)))

    @property
    def _axes(self) -> Floats:
        return np.array([plain("ellipsoid", axis) for axis in (self.a, self.b, self.c)])

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        axes = self._axes
        # Stretched, a geodesic sphere is fine where the ellipsoid is sharp.
        unit = geodesic(math.sqrt(12.0 / SAGITTA) if spacing is None else spacing / float(axes.max()))
        return Triangles(axes * unit.vertices, unit.faces)

    @property
    def volume(self) -> float:
        return 4.0 / 3.0 * math.pi * float(np.prod(self._axes))

    @property
    def centre(self) -> Floats:
        return np.zeros(3)

    @property
    def inertia(self) -> Floats:
        squares = self._axes**2
        return 0.2 * self.volume * np.diag(squares.sum() - squares)


@dataclass(frozen=True)
class Ellipse(Shape):
    """An ellipse in the x-y plane of its frame; a, b: semi-axes along x and y [m]."""

    kind = "ellipse"
    keys = Keys(
        "An ellipse in the x-y plane of its frame.",
        must("semi_axes", list_of(NUMBER, 2), "Along x and y of the shape [m]."),
    )

    a: Scalar
    b: Scalar
    planar: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_sizes("ellipse", a=self.a, b=self.b)

    @property
    def semi_axes(self) -> tuple[Scalar, Scalar]:
        """All two [m]."""
        return (self.a, self.b)

    @classmethod
    def of_keys(cls, given: Mapping[str, Any]) -> Ellipse:
        return cls(*given["semi_axes"])

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


__all__ = ["Ellipse", "Ellipsoid", "EllipsoidField"]
