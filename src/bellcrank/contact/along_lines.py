"""Capsules along each other and along boxes: both ends of the stretch in which they face each other, or one point.

A capsule is a ball swept along its core. Where it lies along something, the ends of the stretch in which both face each
other touch, each for itself. Where it lies across, the closest points do. Both are the same potential in turn: the
larger of d^2 at the closest points and the sum of d^2 at the two ends, d being the overlap, so that force laws near to
linear keep the energy as one takes over from the other.

Closest points of segments: Ericson (2005), Real-Time Collision Detection, section 5.1.9.
"""

from __future__ import annotations

from collections.abc import Sequence

from bellcrank.contact.closed_forms import box_sphere, capsules, toward
from bellcrank.contact.places import Place, there
from bellcrank.contact.shapes import TINY, Box, Capsule, Sphere
from bellcrank.contact.steps import chosen
from bellcrank.mechanics.vectors import UNIT, Mat, Vec, add, column, cross, dot, scale, sub, vec
from bellcrank.program.functions import clip, maximum, minimum, where
from bellcrank.program.trace import Scalar, compare, function, logical, logical_not

PLACES = 3
"""Two ends, and the closest points."""

ROUNDING = 1e-8
"""Part of the size of a pair below which overlaps and differences of gaps tell nothing."""

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
    return _in_turn(capsules(a, b, R, c), ends, compare("lt", low, high), size)


def box_capsule(a: Box, b: Capsule, R: Mat, c: Vec) -> list[Place]:
    """Places of a box and a capsule; b has rotation R and origin c seen from a."""
    w, ball = column(R, 2), Sphere(b.radius)

    def on_core(s: Scalar) -> Vec:
        return add(c, scale(s, w))

    def out_of(x: Vec) -> Vec:
        return vec([v - clip(v, -h, h) for v, h in zip(x, a.half_lengths, strict=True)])

    nearest = on_core(_nearest(a, b, c, w))
    n, x_a, x_b = box_sphere(a, ball, UNIT, nearest)
    low, high = -b.half_length, b.half_length
    axes: list[tuple[Scalar, ...]] = [(0.0, 0.0, 0.0)] * 2
    for i, half in enumerate(a.half_lengths):
        # Along this axis the core passes over the box, and does not lie beside it.
        beyond = function("abs", nearest[i]) - half
        passes = compare("lt", beyond, b.radius * function("abs", w[i]))
        inverse = 1.0 / where(compare("lt", function("abs", w[i]), 1e-9), 1e-9, w[i])
        middle, reach = -c[i] * inverse, half * function("abs", inverse)
        begins = logical("and", passes, compare("lt", low, middle - reach))
        ceases = logical("and", passes, compare("lt", middle + reach, high))
        low, high = where(begins, middle - reach, low), where(ceases, middle + reach, high)
        axes = [
            chosen(begins, UNIT[i], axes[0]),
            chosen(ceases, UNIT[i], axes[1]),
        ]
    ends, size = [], a.bounding_radius() + b.bounding_radius()
    least = dot(n, sub(x_b, x_a)) - ROUNDING * size
    for s, across in ((low, vec(axes[0])), (high, vec(axes[1]))):
        x = on_core(s)
        at_end = box_sphere(a, ball, UNIT, x)
        edge = cross(across, at_end[0])
        ends.append(_beside(x, w, sub(x, out_of(x)), edge, b.radius, at_end, least))
    return _in_turn((n, x_a, x_b), ends, compare("lt", low, high), size)


def _nearest(a: Box, b: Capsule, c: Vec, w: Vec) -> Scalar:
    """Where the core of a capsule is nearest to a box, from its middle [m].

    Half the derivative of the squared distance never falls along the core, and is linear between the places where it
    passes a side. Of a stretch in which it is zero, the middle.
    """

    def slope(s: Scalar) -> Scalar:
        total: Scalar = 0.0
        for ci, wi, h in zip(c, w, a.half_lengths, strict=True):
            x = ci + s * wi
            total = total + wi * (x - clip(x, -h, h))
        return total

    length = b.half_length
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


def _beside(x: Vec, w: Vec, q: Vec, e: Vec, radius: Scalar, at_end: Pair, least: Scalar) -> Pair:
    """The core from x along w, of a ball of this radius, beside an edge from q along e.

    The end itself where e is zero, and where the edge ends before: then it would come nearer than the `least` gap.
    """
    across = cross(w, e)
    square = dot(across, across)
    r, ww, ee, we = sub(q, x), dot(w, w), dot(e, e), dot(w, e)
    inverse = 1.0 / maximum(square, PARALLEL)
    s = inverse * (ee * dot(r, w) - we * dot(r, e))
    t = inverse * (we * dot(r, w) - ww * dot(r, e))
    on_core, on_edge = add(x, scale(s, w)), add(q, scale(t, e))
    n = toward(sub(on_core, on_edge), at_end[0])
    found = (*n, *on_edge, *sub(on_core, scale(radius, n)))
    beside = logical("and", compare("lt", PARALLEL, square), compare("le", least, _gap((n, on_edge, vec(found[6:9])))))
    whole = chosen(beside, found, [y for v in at_end for y in v])
    return vec(whole[0:3]), vec(whole[3:6]), vec(whole[6:9])


def _gap(pair: Pair) -> Scalar:
    return dot(pair[0], sub(pair[2], pair[1]))


def _in_turn(closest: Pair, ends: Sequence[Pair], over: Scalar, size: Scalar) -> list[Place]:
    """The ends where they overlap more together, else the closest points; `over`: whether there are ends."""

    def square(g: Scalar) -> Scalar:
        d = maximum(-g, 0.0)
        return d * d

    nothing = ROUNDING * size
    one, several = _gap(closest), [_gap(pair) for pair in ends]
    nearer = compare("lt", one + nothing, minimum(several[0], several[1]))
    more = compare("lt", (1.0 + ROUNDING) * (square(several[0]) + square(several[1])), square(one))
    deep = compare("lt", one, -nothing)
    across = logical("or", logical("and", deep, more), logical("and", logical_not(deep), nearer))
    alone = logical("or", logical_not(over), across)
    return [
        *(Place(*pair, there(logical_not(alone))) for pair in ends),
        Place(*closest, there(alone)),
    ]


__all__ = ["PLACES", "box_capsule", "capsule_capsule"]
