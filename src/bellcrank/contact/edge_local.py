"""Two rims against each other around a contact point, in a straight-line program.

The equations are those of :mod:`bellcrank.contact.edges`.
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.contact.edges import AGREES, LEVEL, ON_RIM, PARALLEL
from bellcrank.contact.rim_local import Side
from bellcrank.contact.steps import chosen
from bellcrank.math.tuples import Vec, add, cross, dot, neg, scale, sub, vec
from bellcrank.program.functions import clip, maximum, sqrt, where
from bellcrank.program.trace import Scalar, compare, function, logical, logical_not

Sides = tuple[Side, Side]


@dataclass(frozen=True, eq=False)
class Crossing:
    """Which sides of both rims an edge contact is on, told by the first points, and whether those are on both."""

    second_a: Scalar
    second_b: Scalar
    begins: Scalar

    @staticmethod
    def of(a: Sides, b: Sides, longest: float) -> Crossing:
        """From the rims around the points of the last time."""
        picks = [compare("lt", one.e, two.e) for one, two in (a, b)]
        on = [
            compare("lt", function("abs", where(pick, two.e, one.e)), ON_RIM * longest)
            for pick, (one, two) in zip(picks, (a, b), strict=True)
        ]
        return Crossing(picks[0], picks[1], logical("and", on[0], on[1]))

    def sides(self, a: Sides, b: Sides) -> tuple[Side, Side]:
        """The sides of both rims around other points."""
        return _either(self.second_a, a), _either(self.second_b, b)


@dataclass(frozen=True, eq=False)
class EdgeStep:
    """Steps of both points towards the closest of two edges, the direction of the contact, and whether they hold.

    follows: Whether an edge that has been on the side of the other sheet goes on so: with the same direction.
    """

    on: Vec
    off: Vec
    direction: Vec
    holds: Scalar
    follows: Scalar


def edge_step(
    a: Side, b: Side, n: Vec, m: Vec, r: Vec, bent_a: Scalar, bent_b: Scalar, longest: float
) -> EdgeStep:
    """a, b: Sides of both rims. n, m: Normals. r: From point to point. bent: Curvatures of the surfaces along the rims.

    Where the direction leads into a sheet from its outside, that sheet's edge does not hold. From behind a sheet there
    is nothing to touch: there the edges stay what they are, until a search tells.
    """
    u, v = cross(n, a.t), cross(m, b.t)
    d = add(r, sub(scale(a.e, a.t), scale(b.e, b.t)))
    cosine = dot(u, v)
    along_u, along_v = dot(u, d), dot(v, d)
    h11 = 1.0 - a.k * dot(a.t, d) + bent_a * dot(n, d)
    h22 = 1.0 + b.k * dot(b.t, d) - bent_b * dot(m, d)
    det = h11 * h22 - cosine * cosine
    least = 1e-2 * PARALLEL * PARALLEL
    curved = logical("and", compare("lt", 0.0, h11), compare("lt", least, det))
    h11, h22 = where(curved, h11, 1.0), where(curved, h22, 1.0)
    det = where(curved, det, 1.0 - cosine * cosine)
    solved = compare("lt", least, det)
    inverse = 1.0 / where(solved, det, 1.0)
    on_u = clip(where(solved, (h22 * along_u - cosine * along_v) * inverse, along_u), -longest, longest)
    on_v = clip(where(solved, (cosine * along_u - h11 * along_v) * inverse, 0.0), -longest, longest)
    c = cross(u, v)
    square = dot(c, c)
    crossed = compare("lt", PARALLEL * PARALLEL, square)
    c = scale(1.0 / sqrt(where(crossed, square, 1.0)), c)
    c = vec(chosen(compare("lt", dot(c, a.t) - dot(c, b.t), 0.0), neg(c), c))
    into_a = logical("and", compare("lt", dot(c, a.t), -LEVEL), compare("lt", 0.0, dot(c, n)))
    into_b = logical("and", compare("lt", LEVEL, dot(c, b.t)), compare("lt", dot(c, m), 0.0))
    holds = logical("and", crossed, logical_not(logical("or", into_a, into_b)))
    agrees = maximum(dot(c, n), -dot(c, m))
    return EdgeStep(
        sub(scale(on_u, u), scale(a.e, a.t)),
        sub(scale(on_v, v), scale(b.e, b.t)),
        c,
        holds,
        compare("lt", AGREES, agrees),
    )


def _either(second: Scalar, sides: Sides) -> Side:
    one, two = sides
    return Side(where(second, two.e, one.e), vec(chosen(second, two.t, one.t)), where(second, two.k, one.k))


__all__ = ["Crossing", "EdgeStep", "edge_step"]
