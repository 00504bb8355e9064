"""A superellipsoid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import gamma
from typing import Any, NamedTuple

import numpy as np

from bellcrank.base.keys import NUMBER, VECTOR3, Keys, list_of, must
from bellcrank.contact.given import is_positive
from bellcrank.contact.norms import mixed_norm
from bellcrank.contact.shapes.base import (
    TINY,
    Floats,
    Shape,
    Support,
    Surface,
    check_plain,
    check_sizes,
    number,
    plain,
)
from bellcrank.contact.shapes.fields import Field, first_order, smooth_maximum
from bellcrank.contact.shapes.geodesic import geodesic
from bellcrank.contact.shapes.grading import following
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec, dot, scale
from bellcrank.math.vectors import Vector
from bellcrank.program.functions import maximum, minimum, sqrt
from bellcrank.program.trace import Scalar

FLOOR = 1e-12
"""Least coordinate over semi-axis whose powers are taken, so that slopes exist on the planes of symmetry."""


class SuperellipsoidField(NamedTuple):
    """The distance to first order, by the gauge N that is one on the surface (:func:`~fields.first_order` of N^2 - 1).

    The slope is one on the surface. Exponents below 3 that are not 2 leave the second slope undefined on planes of
    symmetry, as they leave the curvature.

    inverse: One over the semi-axes [1/m]. p, q: Exponents. inner, outer: Radii of balls around the centre [m] that the
    body holds, and that hold the body.
    """

    inverse: Vector
    p: float
    q: float
    inner: float
    outer: float

    def gauge(self, x: Vector) -> tuple[float, float]:
        """N, and the square of its slope [1/m^2]."""
        p, q, small = self.p, self.q, FLOOR * FLOOR
        u2 = x.x * x.x * self.inverse.x * self.inverse.x + small
        v2 = x.y * x.y * self.inverse.y * self.inverse.y + small
        w2 = x.z * x.z * self.inverse.z * self.inverse.z + small
        # Powers of ratios to the largest coordinate neither overflow nor vanish together.
        big = max(u2, v2)
        ring2 = big * ((u2 / big) ** (0.5 * p) + (v2 / big) ** (0.5 * p)) ** (2.0 / p)
        most = max(ring2, w2)
        n2 = most * ((ring2 / most) ** (0.5 * q) + (w2 / most) ** (0.5 * q)) ** (2.0 / q)
        around = (ring2 / n2) ** (0.5 * (q - 1.0))
        a = around * (u2 / ring2) ** (0.5 * (p - 1.0)) * self.inverse.x
        b = around * (v2 / ring2) ** (0.5 * (p - 1.0)) * self.inverse.y
        c = (w2 / n2) ** (0.5 * (q - 1.0)) * self.inverse.z
        return n2**0.5, a * a + b * b + c * c

    def depth(self, x: Vector) -> float:
        n, steep = self.gauge(x)
        near = first_order(n * n - 1.0, 4.0 * n * n * steep, self.inner)
        # Far outside the first order saturates; a lower bound of the distance takes over.
        return -smooth_maximum(near, self.inner * (n - 2.25), 0.25 * self.inner)

    def bound(self, x: Vector, r: float) -> float:
        n, _ = self.gauge(x)
        least = n - r / self.inner
        if least < 1.0:
            least = max(least, 0.0)
            # No slope of N is less than one over the outer radius.
            return -first_order(least * least - 1.0, (2.0 * least / self.outer) ** 2, self.inner)
        near = self.inner * (least * least - 1.0) / (least * least + 1.0)
        return -max(near, self.inner * (least - 2.25))

    def carried(self, x: Vector, before: SuperellipsoidField) -> Vector:
        a, b = self.inverse, before.inverse
        return Vector(x.x * (b.x / a.x), x.y * (b.y / a.y), x.z * (b.z / a.z))

    def change(self, before: SuperellipsoidField) -> float:
        a, b = self.inverse, before.inverse
        return Vector(1.0 / a.x - 1.0 / b.x, 1.0 / a.y - 1.0 / b.y, 1.0 / a.z - 1.0 / b.z).length  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Superellipsoid(Shape):
    """((|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q = 1; a, b, c: [m], exponents: (p, q), each above 1.

    (2, 2) is the ellipsoid, large exponents approach a box, those below 2 an octahedron.
    Differs in: Barr's "squareness" exponents are 2/p (east-west) and 2/q (north-south).
    """

    kind = "superellipsoid"
    keys = Keys(
        "((|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q = 1.",
        must("semi_axes", VECTOR3, "Along x, y, z of the shape [m]."),
        must("exponents", list_of(NUMBER, 2), "p and q, plain numbers above 1.", plain=True),
    )

    a: Scalar
    b: Scalar
    c: Scalar
    exponents: tuple[float, float] = (4.0, 4.0)

    def __post_init__(self) -> None:
        check_sizes("superellipsoid", a=self.a, b=self.b, c=self.c)
        if not isinstance(self.exponents, tuple | list) or len(self.exponents) != 2:
            raise ModelError(f"superellipsoid: exponents are two numbers, (p, q), not {self.exponents!r}")
        for p in self.exponents:
            check_plain("superellipsoid", exponents=p)
            if not (is_positive(p) and 1.05 <= p <= 40.0):
                raise ModelError(
                    f"superellipsoid: exponents must lie in 1.05 ... 40, not {p}; "
                    "below 1 the shape is not convex, far above it is a box with edges"
                )

    @property
    def semi_axes(self) -> Vec:
        """All three [m]."""
        return (self.a, self.b, self.c)

    @classmethod
    def of_keys(cls, given: Mapping[str, Any]) -> Superellipsoid:
        a, b, c = given["semi_axes"]
        return cls(a, b, c, given["exponents"])

    @property
    def by_points(self) -> bool:  # type: ignore[override]
        """Exponents above 2 make flat spots; below 2, spots of infinite curvature."""
        return max(self.exponents) > 2.0

    def _inverse_sizes(self) -> Vec:
        return (1.0 / self.a, 1.0 / self.b, 1.0 / self.c)

    def implicit(self, s: Vec) -> Scalar:
        return mixed_norm(self._inverse_sizes(), *self.exponents, s).value - 1.0

    def support(self, n: Vec) -> Support:
        p, q = (t / (t - 1.0) for t in self.exponents)
        dual = mixed_norm((self.a, self.b, self.c), p, q, n)
        return Support(dual.gradient, dual.second)

    def outward(self, direction: Vec) -> Vec:
        return mixed_norm(self._inverse_sizes(), *self.exponents, direction).gradient

    def surface(self, x: Vec) -> Surface:
        gauge = mixed_norm(self._inverse_sizes(), *self.exponents, x)
        steep = 1.0 / sqrt(maximum(dot(gauge.gradient, gauge.gradient), TINY))
        # The gauge has degree one: its second derivative at the surface is that at x times its value at x.
        bend = gauge.value * steep
        return Surface(
            scale(1.0 / gauge.value, x),
            scale(steep, gauge.gradient),
            lambda e, f: bend * gauge.second(e, f),
        )

    def bounding_radius(self) -> Scalar:
        return sqrt(self.a * self.a + self.b * self.b + self.c * self.c)

    @property
    def _inner(self) -> Scalar:
        """Radius of a ball in the body [m]: a norm of exponent m < 2 is at most 3^(1/m - 1/2) times that of 2."""
        least = min(*self.exponents, 2.0)
        return minimum(minimum(self.a, self.b), self.c) * math.pow(3.0, 0.5 - 1.0 / least)

    @cached_property
    def field(self) -> Field:
        x, y, z = (number(i) for i in self._inverse_sizes())
        p, q = (float(e) for e in self.exponents)
        return SuperellipsoidField(Vector(x, y, z), p, q, number(self._inner), number(self.bounding_radius()))

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        axes = np.array([plain("superellipsoid", axis) for axis in (self.a, self.b, self.c)])
        start = geodesic(0.4)
        p, q = self.exponents
        u, v, w = np.abs(start.vertices).T
        gauge = ((u**p + v**p) ** (q / p) + w**q) ** (1.0 / q)
        placed = Triangles(axes * start.vertices / gauge[:, None], start.faces)
        return following(placed, self.field, 2.0 * float(axes.min()), spacing)

    @cached_property
    def _mass(self) -> tuple[float, Floats, Floats]:
        """By Dirichlet's integrals over sections across z."""
        a, b, c = (plain("superellipsoid", axis) for axis in (self.a, self.b, self.c))
        p, q = self.exponents

        def section(i: int, j: int) -> float:
            """Integral of u^i v^j over the quarter u^p + v^p <= 1."""
            s, t = (i + 1) / p, (j + 1) / p
            return gamma(s) * gamma(t) / (p * p * gamma(s + t + 1.0))

        def stacked(k: int, power: int) -> float:
            """Integral of w^k (1 - w^q)^(power / q) over 0 ... 1."""
            s, t = (k + 1) / q, power / q + 1.0
            return gamma(s) * gamma(t) / (q * gamma(s + t))

        volume = 8.0 * a * b * c * section(0, 0) * stacked(0, 2)
        xx = 8.0 * a**3 * b * c * section(2, 0) * stacked(0, 4)
        yy = 8.0 * a * b**3 * c * section(0, 2) * stacked(0, 4)
        zz = 8.0 * a * b * c**3 * section(0, 0) * stacked(2, 2)
        return volume, np.zeros(3), np.diag([yy + zz, xx + zz, xx + yy])


__all__ = ["Superellipsoid", "SuperellipsoidField"]
