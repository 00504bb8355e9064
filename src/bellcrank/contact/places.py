"""Places at which two shapes with flat sides or straight lines touch at the same time.

One contact point would jump from end to end of a line, or from corner to corner of a side, as a body rocks. Here a pair
of shapes has a fixed number of places, which one program finds all at once; each is a contact of its own. A place that
is not there, as a corner that hangs beyond the other side, is out of reach.

All together they keep the energy, U = K sum w d^(n+1) / (n+1) with overlap d and weight w, because the force is its
exact slope: where a place moves along the surfaces as the bodies move, or its weight changes, it has a force and a
couple besides that along its normal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bellcrank.contact.steps import chosen
from bellcrank.math.tuples import ZERO, Mat, Vec, add, cross, dot, neg, scale, sub, times, vec
from bellcrank.program.functions import clip, maximum, minimum, where
from bellcrank.program.trace import Scalar, compare, logical, logical_not, power

NUMBERS = 17
"""Of one place in a program."""


@dataclass(frozen=True, eq=False)
class Slope:
    """How a number changes as b moves against a: push . v + moment . w, v of b where it passes the origin of a.

    A slope is like a force, which works on the same motion: one along p at x is p, x cross p.
    """

    push: Vec = ZERO
    moment: Vec = ZERO

    @staticmethod
    def at(x: Vec, p: Vec) -> Slope:
        """Of what changes by p . v, v of b where it passes x."""
        return Slope(p, cross(x, p))

    def __add__(self, other: Slope) -> Slope:
        return Slope(add(self.push, other.push), add(self.moment, other.moment))

    def __sub__(self, other: Slope) -> Slope:
        return self + other.times(-1.0)

    def times(self, s: Scalar) -> Slope:
        """So many times as much."""
        return Slope(scale(s, self.push), scale(s, self.moment))

    def where(self, condition: Scalar) -> Slope:
        """Where a condition holds, else none."""
        return Slope.of(chosen(condition, self.numbers, [0.0] * 6))

    @property
    def numbers(self) -> list[Scalar]:
        """All of it in a row."""
        return [*self.push, *self.moment]

    @staticmethod
    def of(x: Sequence[Scalar]) -> Slope:
        """From such a row."""
        return Slope(vec(x[0:3]), vec(x[3:6]))


@dataclass(frozen=True, eq=False)
class Number:
    """A number that depends on the pose of b, with its slope."""

    value: Scalar
    slope: Slope = Slope()

    def __add__(self, other: Number) -> Number:
        return Number(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other: Number) -> Number:
        return Number(self.value * other.value, self.slope.times(other.value) + other.slope.times(self.value))

    def ramp(self, length: Scalar) -> Number:
        """From 0 to 1 as it grows from 0 to a length."""
        part = self.value / length
        rises = logical("and", compare("lt", 0.0, part), compare("lt", part, 1.0))
        return Number(clip(part, 0.0, 1.0), self.slope.times(where(rises, 1.0 / length, 0.0)))


ONE = Number(1.0)


@dataclass(frozen=True, eq=False)
class Place:
    """Where two shapes may touch, in the frame of the first.

    normal: Unit vector from a to b. point_a, point_b: On both surfaces [m].
    room: Positive where the place is there.
    weight: The part of the stiffness with which it presses.
    push, twist: Force on b, half way between the points, and couple [m], besides that along the normal, over K d^n.
    """

    normal: Vec
    point_a: Vec
    point_b: Vec
    room: Scalar
    weight: Scalar = 1.0
    push: Vec = ZERO
    twist: Vec = ZERO

    @property
    def numbers(self) -> list[Scalar]:
        """All of it in a row."""
        return [
            *self.normal,
            *self.point_a,
            *self.point_b,
            self.room,
            self.weight,
            *self.push,
            *self.twist,
        ]

    @staticmethod
    def of(x: Sequence[Scalar]) -> Place:
        """From such a row."""
        return Place(vec(x[0:3]), vec(x[3:6]), vec(x[6:9]), x[9], x[10], vec(x[11:14]), vec(x[14:17]))

    @property
    def gap(self) -> Scalar:
        """From a to b along the normal [m]."""
        return dot(self.normal, sub(self.point_b, self.point_a))

    @property
    def turned(self) -> Place:
        """Seen from b to a, still in the same frame."""
        return replace(
            self,
            normal=neg(self.normal),
            point_a=self.point_b,
            point_b=self.point_a,
            push=neg(self.push),
            twist=neg(self.twist),
        )

    def moved(self, R: Mat, c: Vec) -> Place:
        """In a frame in which the one it is in has rotation R and origin c."""
        one, other = (add(c, times(R, x)) for x in (self.point_a, self.point_b))
        normal, push, twist = (times(R, x) for x in (self.normal, self.push, self.twist))
        return replace(self, normal=normal, point_a=one, point_b=other, push=push, twist=twist)


@dataclass(frozen=True, eq=False)
class Sketch:
    """A place before its force is known.

    points: Normal, point of a, point of b. weight: With its slope; the place is there where it is positive.
    drift: By how much more than normal . v the gap grows, v of b there: the points may move along the surfaces.
    """

    points: tuple[Vec, Vec, Vec]
    weight: Number = ONE
    drift: Slope = Slope()

    @property
    def numbers(self) -> list[Scalar]:
        """All of it in a row."""
        return [
            *(y for x in self.points for y in x),
            self.weight.value,
            *self.weight.slope.numbers,
            *self.drift.numbers,
        ]

    @staticmethod
    def of(x: Sequence[Scalar]) -> Sketch:
        """From such a row."""
        weight = Number(x[9], Slope.of(x[10:16]))
        return Sketch((vec(x[0:3]), vec(x[3:6]), vec(x[6:9])), weight, Slope.of(x[16:22]))

    @property
    def gap(self) -> Scalar:
        """From a to b along the normal [m]."""
        return dot(self.points[0], sub(self.points[2], self.points[1]))

    @property
    def turned(self) -> Sketch:
        """Seen from b to a: b moves against a as a against b did."""
        n, x, y = self.points
        weight = Number(self.weight.value, self.weight.slope.times(-1.0))
        return Sketch((neg(n), y, x), weight, self.drift.times(-1.0))

    def where(self, condition: Scalar) -> Sketch:
        """There only where a condition holds."""
        return Sketch(
            self.points, Number(where(condition, self.weight.value, 0.0), self.weight.slope), self.drift
        )

    def or_else(self, condition: Scalar, other: Sketch) -> Sketch:
        """This one where a condition holds, else another."""
        return Sketch.of(chosen(condition, self.numbers, other.numbers))

    def mirrored(self, closest: Sketch) -> Sketch:
        """At the closest points, with an overlap as much less than theirs as it was more."""
        n = closest.points[0]
        gap, middle = 2.0 * closest.gap - self.gap, closest.middle
        half = scale(0.5 * gap, n)
        drift = Slope.at(middle, n) - Slope.at(self.middle, self.points[0]) - self.drift
        return Sketch((n, sub(middle, half), add(middle, half)), self.weight, drift)

    @property
    def middle(self) -> Vec:
        """Half way between the points."""
        return scale(0.5, add(self.points[1], self.points[2]))

    def pressed(self, exponent: float) -> Place:
        """With the force along the slope of w d^(n+1) / (n+1), d being the overlap."""
        d, w = maximum(-self.gap, 0.0), self.weight
        besides = self.drift.times(w.value) - w.slope.times(d * (1.0 / (exponent + 1.0)))
        twist = sub(besides.moment, cross(self.middle, besides.push))
        return Place(*self.points, there(compare("lt", 0.0, w.value)), w.value, besides.push, twist)


def there(condition: Scalar) -> Scalar:
    """The room of a place that is there where a condition holds."""
    return where(condition, 1.0, -1.0)


def in_turn(
    points: tuple[Vec, Vec, Vec], several: Sequence[Sketch], size: Scalar, exponent: float | None
) -> list[Place]:
    """Several places where they overlap more together, else the closest points alone, which come last.

    No place overlaps more than the closest points, which overlap least of all directions: where one would, being
    beyond an edge or askew, it counts at the closest points and the less, the more it would, until it is gone at twice
    as much. Of two energies, d^(n+1) at the closest points and the sum of w d^(n+1) at all others, the larger counts.
    Where nothing overlaps, the closest points count where they are nearer than all others. size: Of the pair [m].
    """
    exponent = 1.0 if exponent is None else exponent
    nothing = ROUNDING * size
    closest = Sketch(points)
    one = closest.gap
    total: Scalar = 0.0
    nearest: Scalar = 2.0 * size
    held = []
    for place in several:
        beyond = compare("lt", place.gap, one - nothing)
        kept = place.mirrored(closest).or_else(beyond, place)
        held.append(kept)
        here, gap = compare("lt", 0.0, kept.weight.value), kept.gap
        total = total + where(here, kept.weight.value * power(maximum(-gap, 0.0), exponent + 1.0), 0.0)
        nearest = minimum(nearest, where(here, gap, 2.0 * size))
    deep = compare("lt", one, -nothing)
    alone = logical(
        "or",
        logical(
            "and",
            deep,
            compare("lt", (1.0 + ROUNDING) * total, power(maximum(-one, 0.0), exponent + 1.0)),
        ),
        logical("and", logical_not(deep), compare("lt", one + nothing, nearest)),
    )
    among = logical_not(alone)
    return [
        *(place.where(among).pressed(exponent) for place in held),
        replace(closest.pressed(exponent), room=there(alone)),
    ]


ROUNDING = 1e-8
"""Part of the size of a pair below which overlaps and differences of gaps are rounding."""


__all__ = ["NUMBERS", "ONE", "Number", "Place", "Sketch", "Slope", "in_turn", "there"]
