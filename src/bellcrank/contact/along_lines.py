"""Capsules along each other and along boxes: both ends of the stretch in which they face each other, or one point.

A capsule is a ball swept along its core. Where it lies along something, the ends of the stretch in which both face each
other touch, each for itself. Where it lies across, the closest points do: in turn, as :mod:`bellcrank.contact.places`
tells.

Closest points of segments: Ericson (2005), Real-Time Collision Detection, section 5.1.9.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bellcrank.contact.closed_forms import box_sphere, capsules, toward
from bellcrank.contact.places import ROUNDING, Place, in_turn, there
from bellcrank.contact.shapes import TINY, Box, Capsule, Sphere
from bellcrank.contact.steps import chosen
from bellcrank.mechanics.vectors import UNIT, Mat, Vec, add, column, cross, dot, scale, sub, vec
from bellcrank.program.functions import clip, maximum, minimum, where
from bellcrank.program.trace import Scalar, compare, function, logical

PLACES = 3
"""Two ends, and the closest points."""

PARALLEL = 1e-12
"""Squared sine from which on two lines have closest points."""

Pair = tuple[Vec, Vec, Vec]
"""Normal from a to b, the point of a, the point of b."""


def capsule_capsule(a: Capsule, b: Capsule, R: Mat, c: Vec) -> list[Place]:
    """Places of two capsules; b has rotation R and origin c seen from a."""
    axis = column(R, 2)
    reach = b.half_length * function("abs", axis[2])
    low = maximum(-a.half_length, c[2] - reach)
    high = minimum(a.half_length, c[2] + reach)
    ends = []
    for side, end in ((-1.0, low), (1.0, high)):
        # The end is that of a, with the point of b beside it, or that of b.
        of_a = compare("le", a.half_length, side * end)
        s = where(of_a, side * a.half_length, 0.0)
        t = clip(axis[2] * s - dot(c, axis), -b.half_length, b.half_length)
        t = where(of_a, t, b.half_length * where(compare("lt", axis[2], 0.0), -side, side))
        core_b = add(c, scale(t, axis))
        s = where(of_a, s, clip(core_b[2], -a.half_length, a.half_length))
        ends.append(_balls((0.0, 0.0, s), a.radius, core_b, b.radius))
    size = a.bounding_radius() + b.bounding_radius()
    over = there(compare("lt", low, high))
    return in_turn(Place(*capsules(a, b, R, c), 1.0), [Place(*end, over) for end in ends], size)


def box_capsule(a: Box, b: Capsule, R: Mat, c: Vec) -> list[Place]:
    """Places of a box and a capsule; b has rotation R and origin c seen from a."""
    core, ball = Core(c, column(R, 2), b.radius, b.half_length), Sphere(b.radius)

    def at(x: Vec) -> Pair:
        return box_sphere(a, ball, UNIT, x)

    closest = Place(*at(core.at(nearest(a, core))), 1.0)
    return in_turn(closest, over_box(a, core, at, closest.gap), a.bounding_radius() + b.bounding_radius())


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


def over_box(a: Box, core: Core, at: Callable[[Vec], Pair], closest: Scalar) -> list[Place]:
    """Both ends of the stretch in which a core passes over a box.

    at: What touches at an end of the core. closest: The least gap of the pair [m].
    """
    w, here = core.axis, core.at(nearest(a, core))
    low, high = -core.half_length, core.half_length
    axes: list[tuple[Scalar, ...]] = [(0.0, 0.0, 0.0)] * 2
    for i, half in enumerate(a.half_lengths):
        # Along this axis the core passes over the box, and does not lie beside it.
        beyond = function("abs", here[i]) - half
        passes = compare("lt", beyond, core.radius * function("abs", w[i]))
        inverse = 1.0 / where(compare("lt", function("abs", w[i]), 1e-9), 1e-9, w[i])
        middle, reach = -core.middle[i] * inverse, half * function("abs", inverse)
        begins = logical("and", passes, compare("lt", low, middle - reach))
        ceases = logical("and", passes, compare("lt", middle + reach, high))
        low, high = where(begins, middle - reach, low), where(ceases, middle + reach, high)
        axes = [chosen(begins, UNIT[i], axes[0]), chosen(ceases, UNIT[i], axes[1])]
    over, found = there(compare("lt", low, high)), []
    least = closest - ROUNDING * (a.bounding_radius() + core.half_length)
    for s, across in ((low, vec(axes[0])), (high, vec(axes[1]))):
        x = core.at(s)
        end = at(x)
        held = vec([clip(v, -h, h) for v, h in zip(x, a.half_lengths, strict=True)])
        found.append(Place(*_beside(x, core, held, cross(across, end[0]), end, least), over))
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


def _beside(x: Vec, core: Core, q: Vec, e: Vec, end: Pair, least: Scalar) -> Pair:
    """A core that passes x beside an edge from q along e.

    The `end` where e is zero, and where the edge ends before: then it would come nearer than the `least` gap.
    """
    w = core.axis
    across = cross(w, e)
    square = dot(across, across)
    r, ww, ee, we = sub(q, x), dot(w, w), dot(e, e), dot(w, e)
    inverse = 1.0 / maximum(square, PARALLEL)
    s = inverse * (ee * dot(r, w) - we * dot(r, e))
    t = inverse * (we * dot(r, w) - ww * dot(r, e))
    on_core, on_edge = add(x, scale(s, w)), add(q, scale(t, e))
    n = toward(sub(on_core, on_edge), end[0])
    found = (*n, *on_edge, *sub(on_core, scale(core.radius, n)))
    beside = logical(
        "and", compare("lt", PARALLEL, square), compare("le", least, _gap((n, on_edge, vec(found[6:9]))))
    )
    whole = chosen(beside, found, [y for v in end for y in v])
    return vec(whole[0:3]), vec(whole[3:6]), vec(whole[6:9])


def _gap(pair: Pair) -> Scalar:
    return dot(pair[0], sub(pair[2], pair[1]))


__all__ = ["PLACES", "Core", "box_capsule", "capsule_capsule", "nearest", "over_box"]
