"""Cylinders on boxes, capsules and each other: flat ends on flat sides, sides along lines, or the closest points.

An end on a side presses with four points of its rim; with the corners of the side that are within the rim; and where
edges, or the other rim, cross it, by the squared sine of the angle. Points of a rim fade out beyond an edge, corners
before the rim, crossings before corners, so that none begins or ends with a force. They serve ends that lie flat: in
larger tilts only one of them presses, and the closest points overlap more. A cylinder that lies on its side touches
with both ends of its lowest line. These and the closest points count in turn
(:func:`bellcrank.contact.places.in_turn`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bellcrank.contact.along_lines import Core, beside, over_box, shared
from bellcrank.contact.box_box import Side
from bellcrank.contact.closed_forms import Points, toward
from bellcrank.contact.convex_search import ITERATIONS, ConvexPair
from bellcrank.contact.places import Number, Place, Sketch, Slope, in_turn
from bellcrank.contact.shapes import TINY, Box, Capsule, Cylinder
from bellcrank.contact.steps import chosen, unit
from bellcrank.math.tuples import (
    UNIT,
    ZERO,
    Mat,
    Vec,
    add,
    column,
    cross,
    dot,
    neg,
    scale,
    sub,
    vec,
)
from bellcrank.program.functions import maximum, minimum, sqrt, where
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
"""Part of a radius over which places of an end fade."""
FLAT, FLATTEST = 0.9, 0.95
"""Cosines of the tilt of an end against a side between which rim and corners fade in."""
GRAZING = 1e-6
"""Sine of the angle at which an edge crosses a rim below which it has no weight."""


@dataclass(frozen=True, eq=False)
class _End:
    """A flat end of a cylinder: outward normal, middle, radius, and a direction across."""

    normal: Vec
    middle: Vec
    radius: Scalar
    x: Vec

    @staticmethod
    def of(core: Core, x: Vec, way: Vec) -> _End:
        """The end that faces a direction."""
        normal = scale(where(compare("lt", dot(core.axis, way), 0.0), -1.0, 1.0), core.axis)
        return _End(normal, add(core.middle, scale(core.half_length, normal)), core.radius, x)

    @property
    def rim(self) -> list[Vec]:
        """Four points of the rim, a quarter apart, that go with the body."""
        y = cross(self.normal, self.x)
        return [add(self.middle, scale(self.radius, way)) for way in (self.x, y, neg(self.x), neg(y))]

    def across(self, x: Vec) -> Vec:
        """From the middle to a point, within the plane of the end."""
        r = sub(x, self.middle)
        return sub(r, scale(dot(r, self.normal), self.normal))

    def room(self, x: Vec) -> Number:
        """How far within the rim a point over the end is, where the point moves against the end [m]."""
        r = self.across(x)
        out = toward(r, self.x)
        return Number(self.radius - dot(r, out), Slope.at(x, neg(out)))

    def below(self, x: Vec) -> Vec:
        """The point of the plane of the end straight below a point."""
        return add(self.middle, self.across(x))

    def flat(self, normal: Vec) -> Number:
        """From 0 to 1 as the end comes to face what has a normal, where the end moves."""
        e = self.normal
        level = Number(-dot(normal, e) - FLAT, Slope(ZERO, cross(normal, e)))
        return level.ramp(FLATTEST - FLAT)


def _side_room(side: Side, x: Vec) -> Number:
    """How far within the edges of a side a point over it is, where the point moves [m]."""
    middle = scale(0.5, add(side.corners[0], side.corners[2]))
    corner, here = sub(side.corners[0], middle), sub(x, middle)
    found: list[tuple[Scalar, ...]] = []
    for e in side.edges:
        along = dot(e, here)
        inward = scale(where(compare("lt", along, 0.0), 1.0, -1.0), e)
        found.append((function("abs", dot(e, corner)) - function("abs", along), *inward))
    least = chosen(compare("le", found[0][0], found[1][0]), found[0], found[1])
    return Number(least[0], Slope.at(x, vec(least[1:4])))


def _turned(number: Number) -> Number:
    """Of a point that stays while what it is over moves."""
    return Number(number.value, number.slope.times(-1.0))


def _beyond(room: Number, part: Scalar) -> Number:
    """From 1 within to 0 so far beyond."""
    return Number(room.value + part, room.slope).ramp(part)


def box_cylinder(a: Box, b: Cylinder, R: Mat, c: Vec, exponent: float | None) -> list[Place]:
    """Places of a box and a cylinder; b has rotation R and origin c seen from a."""
    core = Core(c, column(R, 2), b.radius, b.half_length)
    closest = _closest(a, b, R, c)
    n = closest[0]
    side = Side.of(a, UNIT, (0.0, 0.0, 0.0), n, 1.0)
    end = _End.of(core, column(R, 0), neg(n))
    upright = _faces(core, n)
    flat, part = end.flat(side.normal), FADING * b.radius
    rim = [
        Sketch((side.normal, side.below(x), x), flat * _beyond(_side_room(side, x), part)) for x in end.rim
    ]
    edges = [place for k in range(4) for place in _edge_within(side, end, k, flat)]
    several = [*_either(upright, rim, over_box(a, core)), *_only(upright, edges)]
    return in_turn(closest, several, a.bounding_radius() + b.bounding_radius(), exponent)


def cylinder_cylinder(a: Cylinder, b: Cylinder, R: Mat, c: Vec, exponent: float | None) -> list[Place]:
    """Places of two cylinders; b has rotation R and origin c seen from a."""
    one, two = Core((0.0, 0.0, 0.0), UNIT[2], a.radius, a.half_length), _core(b, R, c)
    closest = _closest(a, b, R, c)
    n = closest[0]
    end_a, end_b = _End.of(one, UNIT[0], n), _End.of(two, column(R, 0), neg(n))
    part = FADING * minimum(a.radius, b.radius)
    up_a, up_b = _faces(one, n), _faces(two, n)
    flat = end_b.flat(end_a.normal)
    of_b = [Sketch((end_a.normal, end_a.below(x), x), flat * _beyond(end_a.room(x), part)) for x in end_b.rim]
    of_a = [_corner_on(end_b, x, flat, part) for x in end_a.rim]
    both, none = logical("and", up_a, up_b), logical_not(logical("or", up_a, up_b))
    only_a, only_b = logical("and", up_a, logical_not(up_b)), logical("and", up_b, logical_not(up_a))
    # Four of b's rim, or the line of b on the end of a, or that of a on b, or both along each other.
    lying = _either(only_a, _line_on_end(two, end_a), [p.turned for p in _line_on_end(one, end_b)])
    lying = _either(none, beside(a, b, R, c), _only(logical("or", only_a, only_b), lying))
    several = [
        *_either(both, of_b, lying),
        *_only(both, of_a),
        *_only(both, _rims_cross(end_a, end_b, flat)),
    ]
    return in_turn(closest, several, a.bounding_radius() + b.bounding_radius(), exponent)


def cylinder_capsule(a: Cylinder, b: Capsule, R: Mat, c: Vec, exponent: float | None) -> list[Place]:
    """Places of a cylinder and a capsule; b has rotation R and origin c seen from a."""
    one, two = Core((0.0, 0.0, 0.0), UNIT[2], a.radius, a.half_length), _core(b, R, c)
    closest = _closest(a, b, R, c)
    n = closest[0]
    upright, lying = _faces(one, n), logical_not(_faces(two, n))
    several = _either(upright, _line_on_end(two, _End.of(one, UNIT[0], n)), beside(a, b, R, c))
    return in_turn(closest, _only(lying, several), a.bounding_radius() + b.bounding_radius(), exponent)


def _core(b: Cylinder | Capsule, R: Mat, c: Vec) -> Core:
    return Core(c, column(R, 2), b.radius, b.half_length)


def _faces(core: Core, way: Vec) -> Scalar:
    """Whether it is an end that faces a direction or its opposite."""
    return compare("lt", UPRIGHT, function("abs", dot(core.axis, way)))


def _closest(a: Box | Cylinder, b: Cylinder | Capsule, R: Mat, c: Vec) -> Points:
    pair = ConvexPair(a, b, R, c)
    return pair.search(pair.start(None), ITERATIONS)


def _only(condition: Scalar, places: Sequence[Sketch]) -> list[Sketch]:
    """Places that are there only where a condition holds."""
    return [place.where(condition) for place in places]


def _either(condition: Scalar, these: Sequence[Sketch], those: Sequence[Sketch]) -> list[Sketch]:
    """These places where a condition holds, else those; where they are fewer, none."""
    found = []
    for k in range(max(len(these), len(those))):
        one = these[k] if k < len(these) else those[k].where(False)
        other = those[k] if k < len(those) else these[k].where(False)
        found.append(one.or_else(condition, other))
    return found


def _corner_on(end: _End, corner: Vec, flat: Number, part: Scalar) -> Sketch:
    """A corner or point of a below an end of b, which fades before the rim."""
    return Sketch((neg(end.normal), corner, end.below(corner)), flat * _turned(end.room(corner)).ramp(part))


def _edge_within(side: Side, end: _End, k: int, flat: Number) -> list[Sketch]:
    """Where edge k of a side comes within a rim, at its corner or across the rim, and where it leaves it."""
    corner, last = side.corners[k], side.corners[(k + 1) % 4]
    u = sub(last, corner)
    length = sqrt(maximum(dot(u, u), TINY))
    u = scale(1.0 / length, u)
    x, e = end.across(corner), sub(u, scale(dot(u, end.normal), end.normal))
    radius, part = end.radius, FADING * end.radius
    ee, xe = maximum(dot(e, e), TINY), dot(x, e)
    square = xe * xe - ee * (dot(x, x) - radius * radius)
    half = sqrt(maximum(square, TINY))
    meets = compare("lt", 0.0, square)
    inside = logical("and", meets, compare("lt", dot(x, x), radius * radius))

    def crossing(t: Scalar) -> Sketch:
        return _crossing(add(corner, scale(t, u)), u, end, t, length - t, part).where(meets)

    first, second = crossing((-xe - half) / ee), crossing((-xe + half) / ee)
    return [_corner_on(end, corner, flat, part).or_else(inside, first), second]


def _crossing(x: Vec, u: Vec, end: _End, begun: Scalar, left: Scalar, part: Scalar) -> Sketch:
    """An edge of a that passes x along u across the rim of an end of b, so far from both its corners.

    Seen from b, x moves at u dt - v where v is that of b, and stays on the wall of the cylinder: out . (u dt - v) = 0.
    """
    e, out = end.normal, toward(end.across(x), end.x)
    sine = dot(out, u)
    seen = compare("lt", GRAZING, function("abs", sine))
    along = scale(1.0 / where(seen, sine, 1.0), out)
    flat_u = sub(u, scale(dot(u, e), e))
    turns = Slope.at(x, scale(2.0 / end.radius, sub(scale(dot(flat_u, flat_u), out), scale(sine, flat_u))))
    weight = Number(sine * sine, turns + Slope(ZERO, scale(2.0 * sine, cross(out, u))))
    sooner = compare("lt", begun, left)
    ends = Number(minimum(begun, left), Slope.at(x, scale(where(sooner, 1.0, -1.0), along)))
    return Sketch(
        (neg(e), x, end.below(x)), weight * ends.ramp(part), Slope.at(x, scale(dot(e, u), along))
    ).where(seen)


def _rims_cross(a: _End, b: _End, flat: Number) -> list[Sketch]:
    """Where two rims cross, seen along the axis of a.

    Of the triangle of both middles, d apart, and a crossing: w is the squared sine of its angle at the crossing.
    """
    # Squares of distances are off by 1e-16 of the radius squared; a hundredfold of the root of that stands for less.
    r, least = a.across(b.middle), 1e-6 * a.radius
    d = sqrt(maximum(dot(r, r), least * least))
    first = toward(r, a.x)
    second = cross(a.normal, first)
    x = (d * d + a.radius * a.radius - b.radius * b.radius) / (2.0 * d)
    square = a.radius * a.radius - x * x
    y = sqrt(maximum(square, least * least))
    both = a.radius * b.radius
    cosine = (a.radius * a.radius + b.radius * b.radius - d * d) / (2.0 * both)
    sine2 = Number(
        maximum(1.0 - cosine * cosine, 0.0), Slope.at(b.middle, scale(2.0 * cosine * d / both, first))
    )
    meets = compare("lt", least * least, square)
    found = []
    for side in (1.0, -1.0):
        on_a = add(a.middle, add(scale(x, first), scale(side * y, second)))
        tangent = unit(cross(a.normal, sub(on_a, a.middle)))
        # How far it moves along the rim of a, as the middle of b does.
        moves = sub(scale(a.radius / d, second), scale(side * (a.radius / y) * (1.0 - x / d), first))
        drift = Slope.at(b.middle, scale(dot(b.normal, tangent), moves))
        found.append(Sketch((neg(b.normal), on_a, b.below(on_a)), flat * sine2, drift).where(meets))
    return found


def _line_on_end(core: Core, end: _End) -> list[Sketch]:
    """Both ends of the lowest line of a cylinder that lies on the end of another, and moves; normals from the end."""
    x, e = end.across(core.middle), core.axis
    e = sub(e, scale(dot(e, end.normal), end.normal))
    ee, xe = maximum(dot(e, e), TINY), dot(x, e)
    square = xe * xe - ee * (dot(x, x) - end.radius * end.radius)
    half = sqrt(maximum(square, TINY))
    meets = compare("lt", 0.0, square)
    ends = []
    for side in (-1.0, 1.0):
        s = (side * half - xe) / ee
        own = compare("le", core.half_length, side * s)
        s = where(own, side * core.half_length, s)
        out = toward(end.across(core.at(s)), end.x)
        speed = dot(out, core.axis)
        crosses = compare("lt", GRAZING, function("abs", speed))
        moves = scale(where(own, 0.0, -1.0 / where(crosses, speed, 1.0)), out)
        ends.append(Number(s, Slope.at(core.at(s), moves)))
    weight, found = shared(ends[0], ends[1], core.half_length), []
    for place in ends:
        lowest = sub(core.at(place.value), scale(core.radius, end.normal))
        drift = place.slope.times(dot(end.normal, core.axis))
        found.append(Sketch((end.normal, end.below(lowest), lowest), weight, drift).where(meets))
    return found


__all__ = [
    "WITH_BOX",
    "WITH_CAPSULE",
    "WITH_CYLINDER",
    "box_cylinder",
    "cylinder_capsule",
    "cylinder_cylinder",
]
