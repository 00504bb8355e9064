"""Convex shapes, each in its own frame: implicit function, support points, curvature, size.

A shape is known to the search for closest points by its support map: for an outward unit normal n the
point of the surface where n is the normal, and the second derivative of the support function there, which
holds the radii of curvature. With it the constraints of problem (23) of paper A hold by construction.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from bellcrank.contact.given import is_positive
from bellcrank.contact.norms import Form, mixed_norm
from bellcrank.errors import ModelError
from bellcrank.mechanics.vectors import Vec, dot, scale
from bellcrank.program.functions import clip, maximum, sign, sqrt, where
from bellcrank.program.trace import Expr, Scalar, compare

TINY = 1e-300
FLAT = 1e-9
"""A normal within this angle of a flat side's [rad] touches the side as a whole."""


@dataclass(frozen=True, eq=False)
class Support:
    """The point of the surface with a given outward unit normal.

    `second(e, f)` is the second derivative of the support function [m] along tangents e and f.
    """

    point: Vec
    second: Form


@dataclass(frozen=True, eq=False)
class Surface:
    """A surface near one of its points; `curvature(e, f)` [1/m] along tangents e and f."""

    point: Vec
    normal: Vec
    curvature: Form


class Shape(ABC):
    """A convex shape that holds the origin of its frame."""

    planar: ClassVar[bool] = False
    """Whether the shape is a curve in the x-y plane (standing for the cylinder over it, endless along z)."""
    by_points: ClassVar[bool] = False
    """Whether the surface bends so little in places that points, not normals, are the better unknowns."""
    closed_support: ClassVar[bool] = True
    """Whether support points have a closed form."""
    straight: ClassVar[bool] = False
    """Whether the shape has straight sides along z."""
    faces: ClassVar[bool] = False
    """Whether the shape has flat ends across z."""

    @property
    def whole(self) -> Shape:
        """What the user gave, where this is a piece or a spot of it."""
        return self

    @abstractmethod
    def implicit(self, s: Vec) -> Scalar:
        """g(s): negative inside, zero on the surface."""

    @abstractmethod
    def support(self, n: Vec) -> Support:
        """The point whose outward normal is the unit vector n."""

    def support_near(self, n: Vec, target: Vec) -> Vec:
        """Where a whole side has the normal n, the point of it nearest to `target`."""
        return self.support(n).point

    def outward(self, direction: Vec) -> Vec:
        """A vector along the normal where the ray from the origin along `direction` leaves the shape."""
        return direction

    def surface(self, x: Vec) -> Surface:
        """The surface where the ray from the origin to x meets it; only shapes that are `by_points` have one."""
        raise ModelError(f"{type(self).__name__} is searched by its normals and gives no surface by points")

    def point_near(self, n: Vec) -> Vec:
        """A point whose outward normal is about n, to start from."""
        return self.support(n).point

    @abstractmethod
    def bounding_radius(self) -> Scalar:
        """No point lies further than this from the origin of the frame [m]."""

    def samples(self) -> tuple[Vec, ...]:
        """Points of the surface, spread evenly by their normals, to start a search from."""
        return tuple(self.support(n).point for n in sample_normals(self.planar))


def sample_normals(planar: bool) -> tuple[tuple[float, float, float], ...]:
    """Unit vectors spread evenly: eight in the plane, or the 26 to faces, edges and corners of a cube."""
    if planar:
        angles = [math.pi * (k + 0.125) / 4 for k in range(8)]
        return tuple((math.cos(t), math.sin(t), 0.0) for t in angles)
    steps = (-1.0, 0.0, 1.0)
    cells = [(x, y, z) for x in steps for y in steps for z in steps if (x, y, z) != (0.0, 0.0, 0.0)]
    return tuple((x / m, y / m, z / m) for x, y, z in cells for m in [math.sqrt(x * x + y * y + z * z)])


def _check(shape: str, **sizes: Scalar) -> None:
    for name, value in sizes.items():
        if not isinstance(value, Expr) and not is_positive(value):
            raise ModelError(f"{shape}: {name} must be a positive length [m], not {value!r}")


@dataclass(frozen=True)
class Sphere(Shape):
    """radius: [m]."""

    radius: Scalar

    def __post_init__(self) -> None:
        _check("sphere", radius=self.radius)

    def implicit(self, s: Vec) -> Scalar:
        return dot(s, s) - self.radius * self.radius

    def support(self, n: Vec) -> Support:
        return Support(scale(self.radius, n), lambda e, f: self.radius * dot(e, f))

    def bounding_radius(self) -> Scalar:
        return self.radius


@dataclass(frozen=True)
class Circle(Sphere):
    """A circle in the x-y plane of its frame; radius: [m]."""

    planar: ClassVar[bool] = True

    def implicit(self, s: Vec) -> Scalar:
        return s[0] * s[0] + s[1] * s[1] - self.radius * self.radius


@dataclass(frozen=True)
class Ellipsoid(Shape):
    """a, b, c: semi-axes along x, y, z [m]."""

    a: Scalar
    b: Scalar
    c: Scalar

    def __post_init__(self) -> None:
        _check("ellipsoid", a=self.a, b=self.b, c=self.c)

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
        _check("ellipse", a=self.a, b=self.b)

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
        _check("superellipsoid", a=self.a, b=self.b, c=self.c)
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


@dataclass(frozen=True)
class Capsule(Shape):
    """A cylinder along z with round ends; radius [m], half_length of the straight part [m]."""

    radius: Scalar
    half_length: Scalar
    straight: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check("capsule", radius=self.radius, half_length=self.half_length)

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


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder along z with flat ends; radius [m], half_length [m]."""

    radius: Scalar
    half_length: Scalar
    straight: ClassVar[bool] = True
    faces: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check("cylinder", radius=self.radius, half_length=self.half_length)

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


@dataclass(frozen=True)
class Box(Shape):
    """A box around the origin of its frame; half its edges along x, y and z [m]."""

    half_x: Scalar
    half_y: Scalar
    half_z: Scalar
    faces: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check("box", half_x=self.half_x, half_y=self.half_y, half_z=self.half_z)

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


@dataclass(frozen=True)
class Plane(Shape):
    """The half-space z <= 0 of its frame; its normal is +z."""

    def implicit(self, s: Vec) -> Scalar:
        return s[2]

    def support(self, n: Vec) -> Support:
        raise ModelError("a plane has no support point; it meets only shapes of finite size")

    def bounding_radius(self) -> Scalar:
        return math.inf

    def samples(self) -> tuple[Vec, ...]:
        return ((0.0, 0.0, 0.0),)


@dataclass(frozen=True)
class HalfPlane(Plane):
    """The half y <= 0 of the x-y plane of its frame; its normal is +y."""

    planar: ClassVar[bool] = True

    def implicit(self, s: Vec) -> Scalar:
        return s[1]


Line = HalfPlane
"""A straight edge in the plane: the material lies below it."""
