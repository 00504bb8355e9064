"""Places at which two rigid shapes with flat sides or straight lines touch at the same time.

One contact point would jump from end to end of a line, or from corner to corner of a side, as a body rocks. Here a pair
of shapes has a fixed number of places, which one program finds all at once; each is a contact of its own. A place that
is not there, as a corner that hangs beyond the other side, is out of reach. Bodies that press touch by fields instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bellcrank.contact.steps import chosen
from bellcrank.math.tuples import Mat, Vec, add, dot, neg, scale, sub, times, vec
from bellcrank.program.functions import maximum, minimum, where
from bellcrank.program.trace import Scalar, compare, logical, logical_not

NUMBERS = 10
"""Of one place in a program."""
ROUNDING = 1e-8
"""Part of the size of a pair below which overlaps and differences of gaps are rounding."""


@dataclass(frozen=True, eq=False)
class Place:
    """Where two shapes may touch, in the frame of the first.

    normal: Unit vector from a to b. point_a, point_b: On both surfaces [m]. room: Positive where the place is there,
    and what it then counts beside others.
    """

    normal: Vec
    point_a: Vec
    point_b: Vec
    room: Scalar = 1.0

    @property
    def numbers(self) -> list[Scalar]:
        """All of it in a row."""
        return [*self.normal, *self.point_a, *self.point_b, self.room]

    @staticmethod
    def of(x: Sequence[Scalar]) -> Place:
        """From such a row."""
        return Place(vec(x[0:3]), vec(x[3:6]), vec(x[6:9]), x[9])

    @property
    def gap(self) -> Scalar:
        """From a to b along the normal [m]."""
        return dot(self.normal, sub(self.point_b, self.point_a))

    @property
    def turned(self) -> Place:
        """Seen from b to a, still in the same frame."""
        return Place(neg(self.normal), self.point_b, self.point_a, self.room)

    def moved(self, R: Mat, c: Vec) -> Place:
        """In a frame in which the one it is in has rotation R and origin c."""
        one, other = (add(c, times(R, x)) for x in (self.point_a, self.point_b))
        return Place(times(R, self.normal), one, other, self.room)

    def where(self, condition: Scalar) -> Place:
        """There only where a condition holds."""
        return replace(self, room=where(condition, self.room, 0.0))

    def or_else(self, condition: Scalar, other: Place) -> Place:
        """This one where a condition holds, else another."""
        return Place.of(chosen(condition, self.numbers, other.numbers))

    def mirrored(self, closest: Place) -> Place:
        """At the closest points, with an overlap as much less than theirs as it was more."""
        n = closest.normal
        middle = scale(0.5, add(closest.point_a, closest.point_b))
        half = scale(0.5 * (2.0 * closest.gap - self.gap), n)
        return Place(n, sub(middle, half), add(middle, half), self.room)


def in_turn(points: tuple[Vec, Vec, Vec], several: Sequence[Place], size: Scalar) -> list[Place]:
    """Several places where they overlap more together, else the closest points alone, which come last.

    No place overlaps more than the closest points, which overlap least of all directions: where one would, being
    beyond an edge or askew, it counts at the closest points and the less, the more it would, until it is gone at twice
    as much. Of the square of the overlap at the closest points and the sum of those at all others, the larger counts.
    Where nothing overlaps, the closest points count where they are nearer than all others. size: Of the pair [m].
    """
    nothing = ROUNDING * size
    closest = Place(*points)
    one = closest.gap
    total: Scalar = 0.0
    nearest: Scalar = 2.0 * size
    held = []
    for place in several:
        beyond = compare("lt", place.gap, one - nothing)
        kept = place.mirrored(closest).or_else(beyond, place)
        held.append(kept)
        here, gap = compare("lt", 0.0, kept.room), kept.gap
        deep = maximum(-gap, 0.0)
        total = total + where(here, kept.room * deep * deep, 0.0)
        nearest = minimum(nearest, where(here, gap, 2.0 * size))
    deep = compare("lt", one, -nothing)
    alone = logical(
        "or",
        logical("and", deep, compare("lt", (1.0 + ROUNDING) * total, one * one)),
        logical("and", logical_not(deep), compare("lt", one + nothing, nearest)),
    )
    return [*(place.where(logical_not(alone)) for place in held), closest.where(alone)]


__all__ = ["NUMBERS", "ROUNDING", "Place", "in_turn"]
