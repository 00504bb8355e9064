"""A superellipsoid."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.contact.given import is_positive
from bellcrank.contact.norms import mixed_norm
from bellcrank.contact.shapes.base import TINY, Shape, Support, Surface, check_sizes
from bellcrank.errors import ModelError
from bellcrank.mechanics.vectors import Vec, dot, scale
from bellcrank.program.functions import maximum, sqrt
from bellcrank.program.trace import Scalar


@dataclass(frozen=True)
class Superellipsoid(Shape):
    """((|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q = 1; a, b, c: [m], exponents: (p, q), each above 1.

    (2, 2) is the ellipsoid, large exponents approach a box, those below 2 an octahedron.
    Differs in: Barr's "squareness" exponents are 2/p (east-west) and 2/q (north-south).
    """

    a: Scalar
    b: Scalar
    c: Scalar
    exponents: tuple[float, float] = (4.0, 4.0)

    def __post_init__(self) -> None:
        check_sizes("superellipsoid", a=self.a, b=self.b, c=self.c)
        if not isinstance(self.exponents, tuple | list) or len(self.exponents) != 2:
            raise ModelError(f"superellipsoid: exponents are two numbers, (p, q), not {self.exponents!r}")
        for p in self.exponents:
            if not (is_positive(p) and 1.05 <= p <= 40.0):
                raise ModelError(
                    f"superellipsoid: exponents must lie in 1.05 ... 40, not {p}; "
                    "below 1 the shape is not convex, far above it is a box with edges"
                )

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
