"""Places at which two shapes with flat sides or straight lines touch at the same time.

One contact point would jump from end to end of a line, or from corner to corner of a side, as a body rocks. Here a pair
of shapes has a fixed number of places, which one program finds all at once; each is a contact of its own. A place that
is not there, as a corner that hangs beyond the other side, is out of reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bellcrank.mechanics.vectors import Mat, Vec, add, neg, times, vec
from bellcrank.program.functions import where
from bellcrank.program.trace import Scalar

NUMBERS = 12
"""Of one place in a program."""


@dataclass(frozen=True, eq=False)
class Place:
    """Where two shapes may touch, in the frame of the first.

    normal: Unit vector from a to b. point_a, point_b: On both surfaces [m].
    room: Positive where the place is there.
    weight: The part of the stiffness with which it presses.
    twist: Couple along the normal on b over elastic energy, with which the energy is kept while the weight turns.
    """

    normal: Vec
    point_a: Vec
    point_b: Vec
    room: Scalar
    weight: Scalar = 1.0
    twist: Scalar = 0.0

    @property
    def numbers(self) -> list[Scalar]:
        """All of it in a row."""
        return [*self.normal, *self.point_a, *self.point_b, self.room, self.weight, self.twist]

    @staticmethod
    def of(x: Sequence[Scalar]) -> Place:
        """From such a row."""
        return Place(vec(x[0:3]), vec(x[3:6]), vec(x[6:9]), *x[9:12])

    @property
    def turned(self) -> Place:
        """Seen from b to a, still in the same frame."""
        return replace(self, normal=neg(self.normal), point_a=self.point_b, point_b=self.point_a)

    def moved(self, R: Mat, c: Vec) -> Place:
        """In a frame in which the one it is in has rotation R and origin c."""
        one, other = (add(c, times(R, x)) for x in (self.point_a, self.point_b))
        return replace(self, normal=times(R, self.normal), point_a=one, point_b=other)


def there(condition: Scalar) -> Scalar:
    """The room of a place that is there where a condition holds."""
    return where(condition, 1.0, -1.0)


__all__ = ["NUMBERS", "Place", "there"]
