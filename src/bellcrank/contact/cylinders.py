"""Cylinders on boxes and on each other: flat ends on flat sides, sides along lines, or the closest points.

An end on a side presses with four places of its rim, counted from the lowest one, as on a plane; with the corners of
the side that are within the rim; and where edges, or the other rim, cross it, by the squared sine of the angle as in
:mod:`bellcrank.contact.box_box`. A cylinder that lies on its side touches with both ends of its lowest line. Each is
there only while the other shape is below it. These and the closest points count in turn
(:func:`bellcrank.contact.places.in_turn`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.contact.along_lines import Core, over_box
from bellcrank.contact.box_box import Side
from bellcrank.contact.closed_forms import box_sphere, toward
from bellcrank.contact.convex_search import ITERATIONS, ConvexPair
from bellcrank.contact.places import Place, in_turn, there
from bellcrank.contact.shapes import TINY, Box, Cylinder, Sphere
from bellcrank.contact.steps import chosen, unit
from bellcrank.mechanics.vectors import UNIT, Mat, Vec, add, column, cross, dot, neg, scale, sub, vec
from bellcrank.program.functions import clip, maximum, minimum, sqrt, where
from bellcrank.program.trace import Scalar, compare, function, logical, logical_not

WITH_BOX = 13
"""Four of the rim, eight along the edges of the side, the closest points."""
WITH_CYLINDER = 11
"""Four of each rim, two where the rims cross, the closest points."""

UPRIGHT = 0.7
"""Cosine between axis and normal from which on it is an end that faces the other shape."""
LENIENT = 1e-3
"""Part of its radius by which a rim may stand over the edge of what it stands on."""
LEVEL = 1e-12
"""Tilt of an axis [rad] below which the lowest place of its rim is taken to lie along x."""

Pair = tuple[Vec, Vec, Vec]


@dataclass(frozen=True, eq=False)
class _Barrel:
    """A cylinder in a common frame: its core, the x of its own frame."""

    core: Core
    x: Vec

    def end(self, way: Vec) -> _End:
        """The end that faces a direction."""
        axis = self.core.axis
        normal = scale(where(compare("lt", dot(axis, way), 0.0), -1.0, 1.0), axis)
        middle = add(self.core.middle, scale(self.core.half_length, normal))
        return _End(normal, middle, self.core.radius, self.x)

    def faces(self, way: Vec) -> Scalar:
        """Whether it is an end that faces a direction or its opposite."""
        return compare("lt", UPRIGHT, function("abs", dot(self.core.axis, way)))

    def lowest(self, x: Vec, n: Vec) -> Vec:
        """The point around the place x of the core that lies farthest against n."""
        w = self.core.axis
        return sub(x, scale(self.core.radius, toward(sub(n, scale(dot(n, w), w)), self.x)))


@dataclass(frozen=True, eq=False)
class _End:
    """A flat end of a cylinder: outward normal, middle, radius, and a direction across."""

    normal: Vec
    middle: Vec
    radius: Scalar
    x: Vec

    def rim(self, facing: Vec) -> list[Vec]:
        """Four places of the rim, of which one lies farthest against the normal `facing` of what is below.

        They are counted from the one next to x, so that none jumps to the other side as the end rocks.
        """
        down = add(sub(scale(dot(facing, self.normal), self.normal), facing), scale(LEVEL, self.x))
        lowest = unit(down)
        beside = cross(self.normal, lowest)
        along, across = dot(lowest, self.x), dot(beside, self.x)
        by_lowest = compare("le", function("abs", across), function("abs", along))
        one = scale(where(compare("lt", along, 0.0), -1.0, 1.0), lowest)
        other = scale(where(compare("lt", across, 0.0), -1.0, 1.0), beside)
        first = vec(chosen(by_lowest, one, other))
        second = cross(self.normal, first)
        r = self.radius
        return [add(self.middle, scale(r, v)) for v in (first, second, neg(first), neg(second))]

    def across(self, x: Vec) -> Vec:
        """From the middle to a point, within the plane of the end."""
        r = sub(x, self.middle)
        return sub(r, scale(dot(r, self.normal), self.normal))

    def room(self, x: Vec) -> Scalar:
        """How far within the rim a point over the end is [m]."""
        r = self.across(x)
        return self.radius - sqrt(maximum(dot(r, r), TINY))

    def below(self, x: Vec) -> Vec:
        """The point of the plane of the end straight below a point."""
        return add(self.middle, self.across(x))


def box_cylinder(a: Box, b: Cylinder, R: Mat, c: Vec) -> list[Place]:
    """Places of a box and a cylinder; b has rotation R and origin c seen from a."""
    barrel = _Barrel(Core(c, column(R, 2), b.radius, b.half_length), column(R, 0))
    closest = _closest(a, b, R, c)
    n = closest.normal
    side = Side.of(a, UNIT, (0.0, 0.0, 0.0), n, 1.0)
    end = barrel.end(neg(n))
    lenient = LENIENT * b.radius
    upright = barrel.faces(n)
    rim = [
        Place(side.normal, side.below(x), x, there(compare("lt", -lenient, side.room(x))))
        for x in end.rim(side.normal)
    ]
    ball = Sphere(b.radius)

    def at(x: Vec) -> Pair:
        n, held, _ = box_sphere(a, ball, UNIT, x)
        low = barrel.lowest(x, n)
        return n, sub(low, scale(dot(n, sub(low, held)), n)), low

    lying = over_box(a, barrel.core, at, closest.gap)
    edges = [place for k in range(4) for place in _edge_within(side, end, k, n, lenient)]
    several = [*_either(upright, rim, lying), *_only(upright, edges)]
    return in_turn(closest, several, a.bounding_radius() + b.bounding_radius())


def cylinder_cylinder(a: Cylinder, b: Cylinder, R: Mat, c: Vec) -> list[Place]:
    """Places of two cylinders; b has rotation R and origin c seen from a."""
    one = _Barrel(Core((0.0, 0.0, 0.0), UNIT[2], a.radius, a.half_length), UNIT[0])
    two = _Barrel(Core(c, column(R, 2), b.radius, b.half_length), column(R, 0))
    closest = _closest(a, b, R, c)
    n = closest.normal
    end_a, end_b = one.end(n), two.end(neg(n))
    lenient = LENIENT * minimum(a.radius, b.radius)
    up_a, up_b = one.faces(n), two.faces(n)
    of_b = [
        Place(end_a.normal, end_a.below(x), x, there(compare("lt", -lenient, end_a.room(x))))
        for x in end_b.rim(end_a.normal)
    ]
    of_a = [
        Place(neg(end_b.normal), x, end_b.below(x), there(compare("lt", lenient, end_b.room(x))))
        for x in end_a.rim(end_b.normal)
    ]
    both, none = logical("and", up_a, up_b), logical_not(logical("or", up_a, up_b))
    # Four of b's rim, or the line of b on the end of a, or both along each other; likewise for a.
    b_lies = _only(logical("and", up_a, logical_not(up_b)), _line_on_end(two, end_a, n))
    a_lies = [p.turned for p in _line_on_end(one, end_b, neg(n))]
    a_lies = _only(logical("and", up_b, logical_not(up_a)), a_lies)
    along = _only(none, _along(one, two, n))
    lying = _either(logical("and", up_a, logical_not(up_b)), b_lies, _either(none, along, a_lies))
    several = [
        *_either(both, of_b, lying),
        *_only(both, of_a),
        *_only(both, _rims_cross(end_a, end_b, n)),
    ]
    return in_turn(closest, several, a.bounding_radius() + b.bounding_radius())


def _closest(a: Box | Cylinder, b: Cylinder, R: Mat, c: Vec) -> Place:
    pair = ConvexPair(a, b, R, c)
    return Place(*pair.search(pair.start(None), ITERATIONS), 1.0)


def _only(condition: Scalar, places: Sequence[Place]) -> list[Place]:
    """Places that are there only where a condition holds."""
    return [Place.of([*p.numbers[:9], where(condition, p.room, -1.0), p.weight, p.twist]) for p in places]


def _either(condition: Scalar, these: Sequence[Place], those: Sequence[Place]) -> list[Place]:
    """These places where a condition holds, else those; where they are fewer, none."""
    found = []
    for k in range(max(len(these), len(those))):
        one = these[k] if k < len(these) else _only(False, [those[k]])[0]
        other = those[k] if k < len(those) else _only(False, [these[k]])[0]
        found.append(Place.of(chosen(condition, one.numbers, other.numbers)))
    return found


def _edge_within(side: Side, end: _End, k: int, way: Vec, lenient: Scalar) -> list[Place]:
    """Where edge k of a side comes within a rim, at its corner or across the rim, and where it leaves it."""
    corner, last = side.corners[k], side.corners[(k + 1) % 4]
    x, e = end.across(corner), sub(end.across(last), end.across(corner))
    radius = end.radius - lenient
    ee, xe = maximum(dot(e, e), TINY), dot(x, e)
    square = xe * xe - ee * (dot(x, x) - radius * radius)
    half = sqrt(maximum(square, TINY))
    enters, leaves = (-xe - half) / ee, (-xe + half) / ee
    meets = compare("lt", 0.0, square)
    inside = logical("and", meets, compare("lt", dot(x, x), radius * radius))
    on_end = Place(neg(end.normal), corner, end.below(corner), there(inside))

    def crossing(part: Scalar) -> Place:
        t = clip(part, 0.0, 1.0)
        here = logical("and", meets, compare("eq", t, part))
        return _crossing(add(corner, scale(t, sub(last, corner))), sub(last, corner), end, way, here)

    first = crossing(enters)
    return [Place.of(chosen(inside, on_end.numbers, first.numbers)), crossing(leaves)]


def _crossing(x: Vec, edge: Vec, end: _End, way: Vec, here: Scalar) -> Place:
    """An edge that passes x across the rim of an end."""
    out = toward(end.across(x), end.x)
    u, v = unit(edge), cross(end.normal, out)
    across = cross(u, v)
    sine2 = dot(across, across)
    seen = logical("and", here, compare("lt", 1e-6, sine2))
    n = scale(where(compare("lt", dot(across, way), 0.0), -1.0, 1.0), toward(across, way))
    n = vec(chosen(seen, n, way))
    on_rim = add(end.middle, scale(end.radius, out))
    # Both points on one normal, midway.
    gap = dot(n, sub(on_rim, x))
    return Place(n, sub(on_rim, scale(gap, n)), on_rim, there(seen), sine2)


def _rims_cross(a: _End, b: _End, way: Vec) -> list[Place]:
    """Where two rims cross, seen along the axis of a."""
    r = a.across(b.middle)
    d2 = maximum(dot(r, r), TINY)
    d = sqrt(d2)
    first = toward(r, a.x)
    second = cross(a.normal, first)
    x = (d2 + a.radius * a.radius - b.radius * b.radius) / (2.0 * d)
    square = a.radius * a.radius - x * x
    y = sqrt(maximum(square, TINY))
    found = []
    for side in (1.0, -1.0):
        on_a = add(a.middle, add(scale(x, first), scale(side * y, second)))
        tangent = cross(a.normal, sub(on_a, a.middle))
        found.append(_crossing(on_a, tangent, b, way, compare("lt", 0.0, square)))
    return found


def _line_on_end(barrel: _Barrel, end: _End, n: Vec) -> list[Place]:
    """Both ends of the lowest line of a cylinder that lies on the end of another; n: from that to it."""
    core = barrel.core
    x, e = end.across(core.middle), scale(core.half_length, core.axis)
    e = sub(e, scale(dot(e, end.normal), end.normal))
    ee, xe = maximum(dot(e, e), TINY), dot(x, e)
    square = xe * xe - ee * (dot(x, x) - end.radius * end.radius)
    half = sqrt(maximum(square, TINY))
    meets = compare("lt", 0.0, square)
    low = maximum(-1.0, (-xe - half) / ee)
    high = minimum(1.0, (-xe + half) / ee)
    here = logical("and", meets, compare("lt", low, high))
    found = []
    for part in (low, high):
        lowest = barrel.lowest(core.at(part * core.half_length), end.normal)
        found.append(Place(end.normal, end.below(lowest), lowest, there(here)))
    return found


def _along(a: _Barrel, b: _Barrel, n: Vec) -> list[Place]:
    """Both ends of the stretch in which two cylinders lie beside each other; a along z from the origin."""
    one, two = a.core, b.core
    reach = two.half_length * function("abs", two.axis[2])
    low = maximum(-one.half_length, two.middle[2] - reach)
    high = minimum(one.half_length, two.middle[2] + reach)
    found = []
    for side, end in ((-1.0, low), (1.0, high)):
        of_a = compare("le", one.half_length, side * end)
        from_a = _point_beside(a.lowest(one.at(side * one.half_length), neg(n)), b)
        t = two.half_length * where(compare("lt", two.axis[2], 0.0), -side, side)
        from_b = _point_beside(b.lowest(two.at(t), n), a)
        numbers = chosen(of_a, from_a.numbers, from_b.turned.numbers)
        found.append(Place.of([*numbers[:9], there(compare("lt", low, high)), 1.0, 0.0]))
    return found


def _point_beside(x: Vec, barrel: _Barrel) -> Place:
    """A point beside the side of a cylinder; the normal from the point to the cylinder."""
    core = barrel.core
    r = sub(x, core.middle)
    out = toward(sub(r, scale(dot(r, core.axis), core.axis)), barrel.x)
    foot = core.at(dot(r, core.axis))
    return Place(neg(out), x, add(foot, scale(core.radius, out)), 1.0)


__all__ = ["WITH_BOX", "WITH_CYLINDER", "box_cylinder", "cylinder_cylinder"]
