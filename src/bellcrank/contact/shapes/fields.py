"""Fields of depth: what every shape gives to every other one that touches it.

A field is a record of the loop language with two methods: `depth(x)`, positive inside and to first order the distance
to the surface, and `bound(x, r)`, an upper bound of the depth within r of x, for culling. A field may have a third one,
`tangent(x)`, a bound by the slope of the depth (:class:`Tangent`), to cull single vertices. Flat sides are joined
by a maximum that is smooth to second order, so that forces and their slopes are continuous where a contact slides over
an edge.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.vectors import Matrix, Vector
from bellcrank.program.loops import Entry, Reals, Reals2, compiled, gradient
from bellcrank.program.loops.layout import REAL, ArrayType, Type, type_of

Floats = NDArray[np.float64]

BLEND = (math.sqrt(2.0) - 1.0) / (math.sqrt(2.0) * 3.0 / 16.0)
"""Width over which two sides are blended, over the radius of their edge: across a right angle :func:`smooth_maximum`
then cuts off as much as a fillet of that radius, whose middle lies sqrt(2) - 1 radii below the sharp edge. The curve is
sharpest in its middle, with 0.74 of the radius."""
SHARP = 1e-9
"""Least width of a blend about an axis, over the size of the shape: as sharp, and slopes exist on the axis."""
LEVEL = 1e-12
"""Added to squares of slopes of the depth that are divided by, so that a level place stays: slopes are about one."""
TINY = 1e-15
"""Part of a shape's size added to distances from an axis or a centre, so that slopes exist there."""


class Field(Protocol):
    """The depth of a shape in its own frame."""

    def depth(self, x: Vector) -> float:
        """Depth [m] at x, positive inside."""
        ...

    def bound(self, x: Vector, r: float) -> float:
        """An upper bound [m] of the depth within r of x."""
        ...


class Tangent(NamedTuple):
    """What around a point lies outside the body, for culling.

    A point at w from it is outside where depth + slope . w + bend |w|^2 / 2 is not positive and |w| is at most `reach`,
    and where |w| is at most -limit; all but the bend in metres.
    """

    depth: float
    slope: Vector
    bend: float
    reach: float
    limit: float


@runtime_checkable
class Tangential(Protocol):
    """A field whose depth is bounded around a point by its slope there."""

    def tangent(self, x: Vector) -> Tangent:
        """The bound around x."""
        ...


@runtime_checkable
class Resizable(Protocol):
    """A field that knows where points of its surface go as its sizes change."""

    def carried(self, x: Vector, before: Any) -> Vector:
        """Where a point of the surface of `before`, a field of the same kind, is with these sizes."""
        ...

    def change(self, before: Any) -> float:
        """No point of the surface moves by more than this then [m]."""
        ...


@compiled
def stretched(x: float, half: float, width: float, half_before: float, width_before: float) -> float:
    """A coordinate between two faces as their distance and the width of the blends at their edges change.

    Within two widths of a face the distance from it goes with the width, so that blends stay blends; between, lengths
    go with what is left. It moves by no more than half and twice the width change.
    """
    out = abs(x)
    below = half_before - out
    found = out * ((half - 2.0 * width) / (half_before - 2.0 * width_before))
    if width_before > 0.0 and below < 2.0 * width_before:
        found = half - below * (width / width_before)
    return found if x >= 0.0 else -found


SETTLING = 4
"""Steps of Newton's method along slopes, which double the digits: from a tenth to rounding."""


@compiled
def settled(field: Any, x: Vector, level: float) -> Vector:
    """The point near x, down or up the slope of the depth, at a depth of `level` [m]."""
    for _ in range(SETTLING):
        d, g = gradient(field.depth, x)
        x = x - g * ((d - level) / g.square)
    return x


@runtime_checkable
class Yielding(Protocol):
    """The field of a body that deforms: a force acts on its coordinates where the material at x has come from."""

    def met(self, x: Vector) -> tuple[float, Vector, Vector]:
        """Depth [m] at x, its slope, and the material point."""
        ...

    def velocity(self, at: Vector) -> Vector:
        """Of a material point against the frame of the body [m/s]."""
        ...

    def push_at(self, at: Vector, force: Vector, case: int) -> None:
        """A force on a material point, as a part of a case of loads."""
        ...

    def weigh_at(self, at: Vector, x: Vector, load: float) -> None:
        """Spread the unit loads as the normal load is; x: Where the material point is."""
        ...


@compiled
def met(field: Any, x: Vector) -> tuple[float, Vector, Vector]:
    """Depth [m] at x, its slope, and the material point, which is x where the body is rigid."""
    if isinstance(field, Yielding):
        d, g, at = field.met(x)
    else:
        d, g = gradient(field.depth, x)
        at = x
    return d, g, at


@compiled
def concave(field: Any, x: Vector) -> Tangent:
    """The bound of a concave depth with a slope of at most one, that of a convex body: its tangent plane."""
    d, g = gradient(field.depth, x)
    return Tangent(d, g, 0.0, math.inf, d)


@compiled
def smooth_maximum(a: float, b: float, width: float) -> float:
    """The larger of two numbers, twice continuously differentiable where they differ by less than `width`.

    It exceeds the maximum by at most 3/16 of the width, and its slopes by a and b are positive and add up to one.
    """
    t = a - b
    if t >= width:
        return a
    if t <= -width:
        return b
    u = t / width
    return 0.5 * (a + b + width * (0.375 + u * u * (0.75 - 0.125 * u * u)))


@compiled
def smooth_absolute(x: float, width: float) -> float:
    """|x|, smooth where it is below half the width."""
    return smooth_maximum(x, -x, width)


@compiled
def smooth_radius(square: float, width: float) -> float:
    """The root of a square, as smooth as :func:`smooth_absolute` where it is below half the width."""
    s = 4.0 * square / (width * width)
    if s >= 1.0:
        return square**0.5  # type: ignore[no-any-return]
    return 0.5 * width * (0.375 + s * (0.75 - 0.125 * s))


@compiled
def first_order(g: float, steep: float, size: float) -> float:
    """The distance to g = 0 to first order, g / |slope of g|, bounded by `size` [m] where that slope vanishes.

    Negative where g is. steep: The square of the slope [1/m^2].
    """
    h = g / size
    return g / (steep + h * h) ** 0.5  # type: ignore[no-any-return]


class PlacedField(NamedTuple):
    """A field in another frame: its own frame lies at `origin` [m], turned by `rotation`."""

    field: Any
    origin: Vector
    rotation: Matrix

    def local(self, x: Vector) -> Vector:
        """A point in the field's own frame."""
        return self.rotation.transposed @ (x - self.origin)  # type: ignore[no-any-return]

    def depth(self, x: Vector) -> float:
        return self.field.depth(self.local(x))  # type: ignore[no-any-return]

    def bound(self, x: Vector, r: float) -> float:
        return self.field.bound(self.local(x), r)  # type: ignore[no-any-return]


def _depths(field: Any, points: Reals2, depths: Reals, slopes: Reals2) -> int:
    for i in range(len(depths)):
        x = Vector(points[i, 0], points[i, 1], points[i, 2])
        depths[i], slope = gradient(field.depth, x)
        slopes[i, 0], slopes[i, 1], slopes[i, 2] = slope
    return 0


def _bounds(field: Any, points: Reals2, radii: Reals, bounds: Reals) -> int:
    for i in range(len(radii)):
        bounds[i] = field.bound(Vector(points[i, 0], points[i, 1], points[i, 2]), radii[i])
    return 0


def _onto(field: Any, points: Reals2, close: float) -> int:
    """Newton's method along the slope; counts the points that it does not bring to the surface."""
    failed = 0
    for i in range(len(points)):
        x = Vector(points[i, 0], points[i, 1], points[i, 2])
        depth, slope = gradient(field.depth, x)
        for _ in range(50):
            if abs(depth) <= close:
                break
            x = x - slope * (depth / (slope.square + LEVEL))
            depth, slope = gradient(field.depth, x)
        if not abs(depth) <= close:
            failed += 1
        points[i, 0], points[i, 1], points[i, 2] = x
    return failed


@functools.cache
def _entry(function: Callable[..., int], field: Type, *others: Type) -> Entry:
    return Entry(function, [field, *others])


_ROWS, _NUMBERS = ArrayType("real", 2), ArrayType("real", 1)


def depths(field: Field, points: Floats) -> tuple[Floats, Floats]:
    """Depths [m], (n,), and their slopes, (n, 3), at points [m], (n, 3); in compiled code."""
    given = np.ascontiguousarray(points, np.float64)
    found, slopes = np.empty(len(given)), np.empty((len(given), 3))
    _entry(_depths, type_of(field), _ROWS, _NUMBERS, _ROWS)(field, given, found, slopes)
    return found, slopes


def bounds(field: Field, points: Floats, radii: Floats) -> Floats:
    """Upper bounds of the depth [m], (n,), within radii [m], (n,), of points [m], (n, 3); in compiled code."""
    given, reach = np.ascontiguousarray(points, np.float64), np.ascontiguousarray(radii, np.float64)
    found = np.empty(len(given))
    _entry(_bounds, type_of(field), _ROWS, _NUMBERS, _NUMBERS)(field, given, reach, found)
    return found


def onto(field: Field, points: Floats) -> Floats:
    """The surface near points [m], (n, 3), to a few units in the last place of their largest coordinate."""
    moved = np.array(points, np.float64, order="C")
    failed = _entry(_onto, type_of(field), _ROWS, REAL)(
        field, moved, 8.0 * np.finfo(float).eps * np.abs(moved).max()
    )
    if failed:
        raise ArithmeticError(f"{failed} of {len(moved)} points do not come to the surface of {field}")
    return moved


__all__ = [
    "BLEND",
    "LEVEL",
    "SHARP",
    "TINY",
    "Field",
    "PlacedField",
    "Resizable",
    "Tangent",
    "Tangential",
    "Yielding",
    "bounds",
    "concave",
    "depths",
    "first_order",
    "met",
    "onto",
    "settled",
    "smooth_absolute",
    "smooth_maximum",
    "smooth_radius",
    "stretched",
]
