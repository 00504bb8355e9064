"""Places at which two shapes with flat sides or straight lines touch at the same time.

One contact point would jump from end to end of a line, or from corner to corner of a side, as a body rocks. Here a pair
of shapes has a fixed number of places, which one program finds all at once; each is a contact of its own. A place that
is not there, as a corner that hangs beyond the other side, is out of reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bellcrank.mechanics.vectors import ZERO, Mat, Vec, add, dot, neg, sub, times, vec
from bellcrank.program.functions import maximum, minimum, where
from bellcrank.program.trace import Scalar, compare, logical, logical_not

NUMBERS = 14
"""Of one place in a program."""


@dataclass(frozen=True, eq=False)
class Place:
    """Where two shapes may touch, in the frame of the first.

    normal: Unit vector from a to b. point_a, point_b: On both surfaces [m].
    room: Positive where the place is there.
    weight: The part of the stiffness with which it presses.
    twist: Couple on b over elastic energy, with which the energy is kept while the weight turns.
    """

    normal: Vec
    point_a: Vec
    point_b: Vec
    room: Scalar
    weight: Scalar = 1.0
    twist: Vec = ZERO

    @property
    def numbers(self) -> list[Scalar]:
        """All of it in a row."""
        return [*self.normal, *self.point_a, *self.point_b, self.room, self.weight, *self.twist]

    @staticmethod
    def of(x: Sequence[Scalar]) -> Place:
        """From such a row."""
        return Place(vec(x[0:3]), vec(x[3:6]), vec(x[6:9]), x[9], x[10], vec(x[11:14]))

    @property
    def gap(self) -> Scalar:
        """From a to b along the normal [m]."""
        return dot(self.normal, sub(self.point_b, self.point_a))

    @property
    def turned(self) -> Place:
        """Seen from b to a, still in the same frame."""
        back = neg(self.twist) if self.twist is not ZERO else ZERO
        return replace(self, normal=neg(self.normal), point_a=self.point_b, point_b=self.point_a, twist=back)

    def only(self, condition: Scalar) -> Place:
        """The same, there only where a condition holds."""
        return replace(self, room=where(condition, self.room, -1.0))

    def moved(self, R: Mat, c: Vec) -> Place:
        """In a frame in which the one it is in has rotation R and origin c."""
        one, other = (add(c, times(R, x)) for x in (self.point_a, self.point_b))
        turned = times(R, self.twist) if self.twist is not ZERO else ZERO
        return replace(self, normal=times(R, self.normal), point_a=one, point_b=other, twist=turned)


def there(condition: Scalar) -> Scalar:
    """The room of a place that is there where a condition holds."""
    return where(condition, 1.0, -1.0)


def in_turn(closest: Place, several: Sequence[Place], size: Scalar) -> list[Place]:
    """Several places where they overlap more together, else the closest points alone, which come last.

    Of the larger of two potentials, d^2 at the closest points and the sum of d^2 at all the others, d being the
    overlap: forces near to linear then keep the energy as one takes over from the other. Where nothing overlaps, the
    closest points count where they are nearer than all others. size: Of the pair [m].
    """
    nothing = ROUNDING * size
    one = closest.gap
    total: Scalar = 0.0
    nearest: Scalar = 2.0 * size
    within = []
    for place in several:
        here = compare("lt", 0.0, place.room)
        # What the closest points cannot reach is no overlap of the same sides.
        here = logical("and", here, compare("lt", BEYOND * minimum(one, 0.0) - nothing, place.gap))
        within.append(here)
        d = maximum(-place.gap, 0.0)
        total = total + where(here, place.weight * (d * d), 0.0)
        nearest = minimum(nearest, where(here, place.gap, 2.0 * size))
    deep = compare("lt", one, -nothing)
    alone = logical(
        "or",
        logical("and", deep, compare("lt", (1.0 + ROUNDING) * total, one * one)),
        logical("and", logical_not(deep), compare("lt", one + nothing, nearest)),
    )
    return [
        *(
            replace(place, room=there(logical("and", here, logical_not(alone))))
            for place, here in zip(several, within, strict=True)
        ),
        replace(closest, room=there(alone)),
    ]


ROUNDING = 1e-8
"""Part of the size of a pair below which overlaps and differences of gaps tell nothing."""

BEYOND = 1.5
"""How much more a place may overlap than the closest points, which overlap least."""


__all__ = ["NUMBERS", "Place", "in_turn", "there"]
