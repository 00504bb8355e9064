"""Spots of a shape that lies on another along a line or with a whole side: each touches for itself.

One contact point would jump from end to end of a line as the body rocks, and no motion goes on from there. A capsule
touches a plane with its round ends, a box with its corners, a cylinder with its rims. On a rim the spots are counted
from the lowest place on, evenly around: as the axis comes upright, where the lowest place is anywhere, all lie equally
deep, and force and torque of all of them together stay smooth. Two rigid shapes with flat sides or straight lines touch
at the places that :mod:`bellcrank.contact.side_by_side` finds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from bellcrank.contact.shapes import Box, Capsule, Cylinder, HalfPlane, Plane, Shape, Support
from bellcrank.contact.side_by_side import count
from bellcrank.math.tuples import Vec, scale
from bellcrank.program.functions import maximum, sqrt
from bellcrank.program.trace import Scalar

AROUND = 4
"""Spots on a rim that presses: an even number, so that their energy has no kink where the axis is upright."""
UPRIGHT = 1e-12
"""Tilt of an axis [rad] below which the lowest place of its rim is taken to lie along x."""


@dataclass(frozen=True, eq=False)
class Spot(Shape):
    """A spot of a shape, in the frame of the whole shape."""

    of: Shape
    faces: ClassVar[bool] = True

    @property
    def whole(self) -> Shape:
        return self.of

    def implicit(self, s: Vec) -> Scalar:
        return self.of.implicit(s)

    def bounding_radius(self) -> Scalar:
        return self.of.bounding_radius()


@dataclass(frozen=True, eq=False)
class End(Spot):
    """A round end of a capsule, on the side +1 or -1 of its axis."""

    of: Capsule
    side: float

    def support(self, n: Vec) -> Support:
        x, y, z = scale(self.of.radius, n)
        return Support((x, y, z + self.side * self.of.half_length), lambda e, f: 0.0)


def around(n: tuple[Scalar, Scalar], radius: Scalar, angle: float) -> tuple[Scalar, Scalar]:
    """The place of a circle so far around from the one with the normal asked for [rad]."""
    x, y = n[0] + UPRIGHT, n[1]
    size = radius / sqrt(x * x + y * y)
    # Quarter turns are meant exactly.
    c, s = (0.0 if abs(v) < 1e-15 else v for v in (math.cos(angle), math.sin(angle)))
    return size * (c * x - s * y), size * (c * y + s * x)


@dataclass(frozen=True, eq=False)
class RimSpot(Spot):
    """A place on a rim of a cylinder, so far around from the one with the normal asked for [rad]."""

    of: Cylinder
    side: float
    angle: float

    def support(self, n: Vec) -> Support:
        across = around((n[0], n[1]), self.of.radius, self.angle)
        return Support((*across, self.side * self.of.half_length), lambda e, f: 0.0)


@dataclass(frozen=True, eq=False)
class Rim(Spot):
    """A rim of a cylinder, touching at its lowest place; all of it, by its middle, where the axis is upright."""

    of: Cylinder
    side: float

    def support(self, n: Vec) -> Support:
        size = self.of.radius / sqrt(maximum(n[0] * n[0] + n[1] * n[1], UPRIGHT * UPRIGHT))
        return Support((size * n[0], size * n[1], self.side * self.of.half_length), lambda e, f: 0.0)


@dataclass(frozen=True, eq=False)
class Corner(Spot):
    """A corner of a box, by the signs of its coordinates."""

    of: Box
    signs: tuple[float, float, float]

    def support(self, n: Vec) -> Support:
        x, y, z = (s * h for s, h in zip(self.signs, self.of.half_lengths, strict=True))
        return Support((x, y, z), lambda e, f: 0.0)


@dataclass(frozen=True, eq=False)
class PairSpot(Spot):
    """One of the places at which a shape and another one strike at the same time, by its number."""

    number: int

    def support(self, n: Vec) -> Support:
        return self.of.support(n)


def touching(a: Shape, b: Shape, rigid: bool = False) -> list[tuple[Shape, Shape]]:
    """Both sides for each spot with which two shapes touch; none where one contact point is enough.

    rigid: Whether they strike and hold, each at one place, instead of pressing.
    """
    of_a, of_b = _of_shape(a, b, rigid), _of_shape(b, a, rigid)
    if of_a or of_b:
        return [*((s, b) for s in of_a), *((a, s) for s in of_b)]
    return [(PairSpot(a, k), b) for k in range(count(a, b) if rigid else 0)]


def _flat(other: Shape) -> bool:
    return isinstance(other, Plane) and not isinstance(other, HalfPlane)


def _of_shape(shape: Shape, other: Shape, rigid: bool) -> tuple[Spot, ...]:
    if not _flat(other):
        return ()
    if isinstance(shape, Capsule):
        return tuple(End(shape, side) for side in (1.0, -1.0))
    if isinstance(shape, Cylinder) and rigid:
        return tuple(Rim(shape, side) for side in (1.0, -1.0))
    if isinstance(shape, Cylinder):
        turns = [2.0 * math.pi * k / AROUND for k in range(AROUND)]
        return tuple(RimSpot(shape, side, turn) for side in (1.0, -1.0) for turn in turns)
    if isinstance(shape, Box):
        sides = (1.0, -1.0)
        return tuple(Corner(shape, (x, y, z)) for x in sides for y in sides for z in sides)
    return ()


__all__ = ["PairSpot", "Spot", "touching"]
