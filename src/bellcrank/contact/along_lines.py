"""Capsules along each other and along boxes: both ends of the stretch in which they face each other, or one point.

A capsule is a ball swept along its core. Where it lies along something, the ends of the stretch in which both face each
other touch, each for itself; as the stretch shrinks to nothing each counts half, which is one point then.
Where it lies across, the closest points touch: in turn, as in :mod:`bellcrank.contact.places`.

Closest points of segments: Ericson (2005), Real-Time Collision Detection, section 5.1.9.
"""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.contact.closed_forms import box_sphere, capsules, toward
from bellcrank.contact.places import Place, in_turn
from bellcrank.contact.shapes import TINY, Box, Capsule, Sphere
from bellcrank.contact.steps import chosen
from bellcrank.math.tuples import UNIT, Mat, Vec, add, column, dot, scale, sub, vec
from bellcrank.program.functions import clip, maximum, minimum, where
from bellcrank.program.trace import Scalar, compare, function, logical

PLACES = 3
"""Two ends, and the closest points."""

SHORT = 0.05
"""Part of half the length of a core below which a stretch counts as less than two points."""

PARALLEL = 1e-12
"""Squared sine from which on two lines have closest points."""

STEEP = 1e-9
"""Cosine below which a line counts as one that does not cross a side."""

Pair = tuple[Vec, Vec, Vec]
"""Normal from a to b, the point of a, the point of b."""


def capsule_capsule(a: Capsule, b: Capsule, R: Mat, c: Vec) -> list[Place]:
    """Places of two capsules; b has rotation R and origin c seen from a."""
    size = a.bounding_radius() + b.bounding_radius()
    return in_turn(capsules(a, b, R, c), beside(a, b, R, c), size)


def beside(a: Capsule, b: Capsule, R: Mat, c: Vec) -> list[Place]:
    """Both ends of the stretch in which two cores lie beside each other."""
    axis = column(R, 2)
    reach = b.half_length * function("abs", axis[2])
    ends, found = [], []
    for side, end in (
        (-1.0, maximum(-a.half_length, c[2] - reach)),
        (1.0, minimum(a.half_length, c[2] + reach)),
    ):
        # The end is that of a, with the point of b beside it, or that of b.
        of_a = compare("le", a.half_length, side * end)
        s = where(of_a, side * a.half_length, 0.0)
        t = clip(axis[2] * s - dot(c, axis), -b.half_length, b.half_length)
        t = where(of_a, t, b.half_length * where(compare("lt", axis[2], 0.0), -side, side))
        core_b = add(c, scale(t, axis))
        s = where(of_a, s, clip(core_b[2], -a.half_length, a.half_length))
        ends.append(end)
        found.append(_balls((0.0, 0.0, s), a.radius, core_b, b.radius))
    weight = shared(ends[0], ends[1], minimum(a.half_length, b.half_length))
    return [Place(*points, weight) for points in found]


def shared(low: Scalar, high: Scalar, length: Scalar) -> Scalar:
    """What each of both ends of a stretch counts, on a core with this half length [m]."""
    stretch = high - low
    return where(compare("lt", 0.0, stretch), 0.5 + 0.5 * clip(stretch / (SHORT * length), 0.0, 1.0), 0.0)


def box_capsule(a: Box, b: Capsule, R: Mat, c: Vec) -> list[Place]:
    """Places of a box and a capsule; b has rotation R and origin c seen from a."""
    core = Core(c, column(R, 2), b.radius, b.half_length)
    closest = box_sphere(a, Sphere(b.radius), UNIT, core.at(nearest(a, core)))
    return in_turn(closest, over_box(a, core), a.bounding_radius() + b.bounding_radius())


@dataclass(frozen=True, eq=False)
class Core:
    """The middle line of a round shape, from its middle along the unit vector `axis`, in the frame of the other."""

    middle: Vec
    axis: Vec
    radius: Scalar
    half_length: Scalar

    def at(self, s: Scalar) -> Vec:
        """So far from the middle [m]."""
        return add(self.middle, scale(s, self.axis))


def over_box(a: Box, core: Core) -> list[Place]:
    """Both ends of the stretch in which a core passes over a box."""
    w, here = core.axis, core.at(nearest(a, core))
    low, high = -core.half_length, core.half_length
    # The axes of the sides that the core crosses there.
    sides: list[tuple[Scalar, ...]] = [(0.0, 0.0, 0.0)] * 2
    for i, half in enumerate(a.half_lengths):
        # Along this axis the core passes over the box, and does not lie beside it.
        beyond = function("abs", here[i]) - half
        passes = compare("lt", beyond, core.radius * function("abs", w[i]))
        inverse = 1.0 / where(compare("lt", function("abs", w[i]), STEEP), STEEP, w[i])
        middle, reach = -core.middle[i] * inverse, half * function("abs", inverse)
        begins = logical("and", passes, compare("lt", low, middle - reach))
        ceases = logical("and", passes, compare("lt", middle + reach, high))
        low, high = where(begins, middle - reach, low), where(ceases, middle + reach, high)
        sides = [chosen(begins, UNIT[i], sides[0]), chosen(ceases, UNIT[i], sides[1])]
    weight = shared(low, high, core.half_length)
    found = []
    for s, side in zip((low, high), sides, strict=True):
        x = core.at(s)
        points = _beside_edge(a, core, x, vec(side), box_sphere(a, Sphere(core.radius), UNIT, x))
        found.append(Place(*points, weight))
    return found


def nearest(a: Box, core: Core) -> Scalar:
    """Where a core is nearest to a box, from its middle [m].

    Half the derivative of the squared distance never falls along the core, and is linear between the places where it
    passes a side. Of a stretch in which it is zero, the middle.
    """
    c, w = core.middle, core.axis

    def slope(s: Scalar) -> Scalar:
        total: Scalar = 0.0
        for ci, wi, h in zip(c, w, a.half_lengths, strict=True):
            x = ci + s * wi
            total = total + wi * (x - clip(x, -h, h))
        return total

    length = core.half_length
    below: tuple[Scalar, Scalar] = (-length, slope(-length))
    above: tuple[Scalar, Scalar] = (length, slope(length))
    for ci, wi, h in zip(c, w, a.half_lengths, strict=True):
        # Across to rounding: where the line would cross the face is beyond its ends.
        inverse = 1.0 / where(compare("lt", function("abs", wi), 1e-12), 1e-12, wi)
        for side in (-h, h):
            s = clip((side - ci) * inverse, -length, length)
            g = slope(s)
            # Zero counts as neither: a stretch of zeros lies between.
            lower = logical("and", compare("lt", g, 0.0), compare("lt", below[0], s))
            upper = logical("and", compare("lt", 0.0, g), compare("lt", s, above[0]))
            below = (where(lower, s, below[0]), where(lower, g, below[1]))
            above = (where(upper, s, above[0]), where(upper, g, above[1]))
    rise = above[1] - below[1]
    flat = compare("le", rise, TINY)
    s = below[0] - below[1] * (above[0] - below[0]) / where(flat, 1.0, rise)
    s = where(flat, 0.5 * (below[0] + above[0]), s)
    # Beyond an end the whole core is on one slope.
    s = where(compare("le", 0.0, below[1]), below[0], s)
    return where(compare("le", above[1], 0.0), above[0], s)


def _balls(at_a: Vec, radius_a: Scalar, at_b: Vec, radius_b: Scalar) -> Pair:
    n = toward(sub(at_b, at_a), (1.0, 0.0, 0.0))
    return n, add(at_a, scale(radius_a, n)), sub(at_b, scale(radius_b, n))


def _beside_edge(a: Box, core: Core, x: Vec, side: Vec, end: Pair) -> Pair:
    """Where a core that crosses a side of a box at x is closest to the edge of this side below it; `end` without one.

    side: The axis of the box across that side, zero where there is none. end: What touches at x.
    """
    n, half, w = end[0], a.half_lengths, core.axis
    left = [function("abs", v) - 2.0 * s for v, s in zip(n, side, strict=True)]
    first = logical("and", compare("le", left[1], left[0]), compare("le", left[2], left[0]))
    second = compare("le", left[2], left[1])
    up = vec(chosen(first, UNIT[0], vec(chosen(second, UNIT[1], UNIT[2]))))
    along = vec([1.0 - s - u for s, u in zip(side, up, strict=True)])
    signs = [
        where(compare("lt", s * v + u * m, 0.0), -1.0, 1.0) for s, v, u, m in zip(side, x, up, n, strict=True)
    ]
    q = vec([g * h * (1.0 - e) for g, h, e in zip(signs, half, along, strict=True)])
    r, cosine = sub(q, core.middle), dot(w, along)
    square = maximum(1.0 - cosine * cosine, PARALLEL)
    t = (cosine * dot(r, w) - dot(r, along)) / square
    t = clip(t, -dot(along, half), dot(along, half))
    on_edge = add(q, scale(t, along))
    on_core = core.at(dot(sub(on_edge, core.middle), w))
    n = toward(sub(on_core, on_edge), n)
    found = (*n, *on_edge, *sub(on_core, scale(core.radius, n)))
    crosses = compare("lt", 0.5, dot(side, side))
    whole = chosen(crosses, found, [y for v in end for y in v])
    return vec(whole[0:3]), vec(whole[3:6]), vec(whole[6:9])


__all__ = ["PLACES", "Core", "beside", "box_capsule", "capsule_capsule", "nearest", "over_box", "shared"]
