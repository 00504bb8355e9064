"""Cylinders on boxes, capsules and each other: flat ends on flat sides, sides along lines, or the closest points.

An end on a side presses with four places of its rim, one of them the lowest, as on a plane; with the corners of the
side that are within the rim; and where edges, or the other rim, cross it, by the squared sine of the angle. Places of a
rim that stands over an edge move back to it and fade out. A cylinder that lies on its side touches with both ends of
its lowest line. Each is there only while the other shape is below it. These and the closest points count in turn
(:func:`bellcrank.contact.places.in_turn`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bellcrank.contact.along_lines import Core, over_box
from bellcrank.contact.box_box import Side
from bellcrank.contact.closed_forms import box_sphere, toward
from bellcrank.contact.convex_search import ITERATIONS, ConvexPair
from bellcrank.contact.places import Place, in_turn, there
from bellcrank.contact.shapes import TINY, Box, Capsule, Cylinder, Sphere
from bellcrank.contact.steps import chosen, unit
from bellcrank.mechanics.vectors import UNIT, ZERO, Mat, Vec, add, column, cross, dot, neg, scale, sub, vec
from bellcrank.program.functions import clip, maximum, minimum, sqrt, where
from bellcrank.program.trace import Scalar, compare, function, logical, logical_not

WITH_BOX = 13
"""Four of the rim, eight along the edges of the side, the closest points."""
WITH_CYLINDER = 11
"""Four of each rim, two where the rims cross, the closest points."""
WITH_CAPSULE = 3
"""Two ends of a line, the closest points."""

UPRIGHT = 0.7
"""Cosine between axis and normal from which on it is an end that faces the other shape."""
FADING = 0.3
"""Part of a radius over which a place of a rim gives its weight to others, as it comes to stand over an edge."""
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
class _Rod(_Barrel):
    """A capsule in a common frame."""

    def lowest(self, x: Vec, n: Vec) -> Vec:
        return sub(x, scale(self.core.radius, n))


@dataclass(frozen=True, eq=False)
class _End:
    """A flat end of a cylinder: outward normal, middle, radius, and a direction across."""

    normal: Vec
    middle: Vec
    radius: Scalar
    x: Vec

    def ways(self, facing: Vec) -> list[Vec]:
        """Four ways to the rim, one of them to where it lies farthest against the normal `facing` of what is below.

        They are counted from the one next to x, so that none jumps to the other side as the end rocks.
        """
        y = cross(self.normal, self.x)
        # Along the axes of the end: what is left of a normal across it would have a part out of its plane.
        p, q = LEVEL - dot(facing, self.x), -dot(facing, y)
        by_x = compare("le", function("abs", q), function("abs", p))
        p, q = where(by_x, p, q), where(by_x, q, -p)
        size = where(compare("lt", p, 0.0), -1.0, 1.0) / sqrt(maximum(p * p + q * q, TINY))
        first = add(scale(size * p, self.x), scale(size * q, y))
        second = cross(self.normal, first)
        return [first, second, neg(first), neg(second)]

    def reach(self, x: Vec, way: Vec) -> Scalar:
        """How far it is from a point over the end along a way to the rim [m]."""
        r = self.across(x)
        along = dot(r, way)
        square = along * along - (dot(r, r) - self.radius * self.radius)
        return sqrt(maximum(square, TINY)) - along

    def on(self, below: Side | _End, part: Scalar) -> list[tuple[Vec, Scalar]]:
        """Places of the rim over what is below, or before its edge, with weights that fade over a `part` beyond it."""
        found = []
        for way in self.ways(below.normal):
            reach = below.reach(self.middle, way)
            x = add(self.middle, scale(minimum(self.radius, maximum(reach, 0.0)), way))
            found.append((x, clip(1.0 - (self.radius - reach) / part, 0.0, 1.0)))
        return found

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
    upright = barrel.faces(n)
    rim = [Place(side.normal, side.below(x), x, w, w) for x, w in end.on(side, FADING * b.radius)]
    ball = Sphere(b.radius)

    def at(x: Vec) -> Pair:
        n, held, _ = box_sphere(a, ball, UNIT, x)
        low = barrel.lowest(x, n)
        return n, sub(low, scale(dot(n, sub(low, held)), n)), low

    lying = over_box(a, barrel.core, at, closest.gap)
    edges = [place for k in range(4) for place in _edge_within(side, end, k, n)]
    several = [*_either(upright, rim, lying), *_only(upright, edges)]
    return in_turn(closest, several, a.bounding_radius() + b.bounding_radius())


def cylinder_cylinder(a: Cylinder, b: Cylinder, R: Mat, c: Vec) -> list[Place]:
    """Places of two cylinders; b has rotation R and origin c seen from a."""
    one = _Barrel(Core((0.0, 0.0, 0.0), UNIT[2], a.radius, a.half_length), UNIT[0])
    two = _Barrel(Core(c, column(R, 2), b.radius, b.half_length), column(R, 0))
    closest = _closest(a, b, R, c)
    n = closest.normal
    end_a, end_b = one.end(n), two.end(neg(n))
    part = FADING * minimum(a.radius, b.radius)
    up_a, up_b = one.faces(n), two.faces(n)
    of_b = [Place(end_a.normal, end_a.below(x), x, w, w) for x, w in end_b.on(end_a, part)]
    of_a = []
    for way in end_a.ways(end_b.normal):
        x = add(end_a.middle, scale(a.radius, way))
        w = clip(end_b.room(x) / part, 0.0, 1.0)
        of_a.append(Place(neg(end_b.normal), x, end_b.below(x), w, w))
    both, none = logical("and", up_a, up_b), logical_not(logical("or", up_a, up_b))
    # Four of b's rim, or the line of b on the end of a, or both along each other; likewise for a.
    b_lies = _only(logical("and", up_a, logical_not(up_b)), _line_on_end(two, end_a))
    a_lies = [p.turned for p in _line_on_end(one, end_b)]
    a_lies = _only(logical("and", up_b, logical_not(up_a)), a_lies)
    along = _only(none, _along(one, two, n))
    lying = _either(logical("and", up_a, logical_not(up_b)), b_lies, _either(none, along, a_lies))
    several = [
        *_either(both, of_b, lying),
        *_only(both, of_a),
        *_only(both, _rims_cross(end_a, end_b, n)),
    ]
    return in_turn(closest, several, a.bounding_radius() + b.bounding_radius())


def cylinder_capsule(a: Cylinder, b: Capsule, R: Mat, c: Vec) -> list[Place]:
    """Places of a cylinder and a capsule; b has rotation R and origin c seen from a."""
    one = _Barrel(Core((0.0, 0.0, 0.0), UNIT[2], a.radius, a.half_length), UNIT[0])
    two = _Rod(Core(c, column(R, 2), b.radius, b.half_length), column(R, 0))
    closest = _closest(a, b, R, c)
    n = closest.normal
    upright, lying = one.faces(n), logical_not(two.faces(n))
    several = _either(upright, _line_on_end(two, one.end(n)), _along(one, two, n))
    return in_turn(closest, _only(lying, several), a.bounding_radius() + b.bounding_radius())


def _closest(a: Box | Cylinder, b: Cylinder | Capsule, R: Mat, c: Vec) -> Place:
    pair = ConvexPair(a, b, R, c)
    return Place(*pair.search(pair.start(None), ITERATIONS), 1.0)


def _only(condition: Scalar, places: Sequence[Place]) -> list[Place]:
    """Places that are there only where a condition holds."""
    return [place.only(condition) for place in places]


def _either(condition: Scalar, these: Sequence[Place], those: Sequence[Place]) -> list[Place]:
    """These places where a condition holds, else those; where they are fewer, none."""
    found = []
    for k in range(max(len(these), len(those))):
        one = these[k] if k < len(these) else _only(False, [those[k]])[0]
        other = those[k] if k < len(those) else _only(False, [these[k]])[0]
        found.append(Place.of(chosen(condition, one.numbers, other.numbers)))
    return found


def _edge_within(side: Side, end: _End, k: int, way: Vec) -> list[Place]:
    """Where edge k of a side comes within a rim, at its corner or across the rim, and where it leaves it."""
    corner, last = side.corners[k], side.corners[(k + 1) % 4]
    x, e = end.across(corner), sub(end.across(last), end.across(corner))
    radius = end.radius
    ee, xe = maximum(dot(e, e), TINY), dot(x, e)
    square = xe * xe - ee * (dot(x, x) - radius * radius)
    half = sqrt(maximum(square, TINY))
    enters, leaves = (-xe - half) / ee, (-xe + half) / ee
    meets = compare("lt", 0.0, square)
    inside = logical("and", meets, compare("lt", dot(x, x), radius * radius))
    weight = clip(end.room(corner) / (FADING * radius), 0.0, 1.0)
    on_end = Place(neg(end.normal), corner, end.below(corner), weight, weight)

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


def _line_on_end(barrel: _Barrel, end: _End) -> list[Place]:
    """Both ends of the lowest line of a cylinder that lies on the end of another; normals from the end."""
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
        found.append(replace(Place.of(numbers), room=there(compare("lt", low, high)), weight=1.0, twist=ZERO))
    return found


def _point_beside(x: Vec, barrel: _Barrel) -> Place:
    """A point beside the side of a cylinder; the normal from the point to the cylinder."""
    core = barrel.core
    r = sub(x, core.middle)
    out = toward(sub(r, scale(dot(r, core.axis), core.axis)), barrel.x)
    foot = core.at(dot(r, core.axis))
    return Place(neg(out), x, add(foot, scale(core.radius, out)), 1.0)


__all__ = [
    "WITH_BOX",
    "WITH_CAPSULE",
    "WITH_CYLINDER",
    "box_cylinder",
    "cylinder_capsule",
    "cylinder_cylinder",
]
