"""The rim of an open surface around a contact point, in a straight-line program.

The equations are those of :mod:`bellcrank.contact.rim_steps`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bellcrank.contact.partners import Symmetric
from bellcrank.contact.rim_numbers import NONE
from bellcrank.contact.rim_steps import LEAST, LEAVES, ROUNDING
from bellcrank.contact.rims import ALONG, BEND, OUT, ROW, SIDE, WEIGHT
from bellcrank.contact.settling import SPARE
from bellcrank.contact.shapes import TINY
from bellcrank.contact.steps import chosen, frame
from bellcrank.math.tuples import Vec, add, cross, dot, neg, scale, sub, vec
from bellcrank.program.functions import clip, maximum, sqrt, where
from bellcrank.program.trace import Scalar, compare, function, logical, logical_not

NEAR = 1e-10
"""Square of a distance over the radius of its weight that counts as on the sample."""
FAR = -1e3
"""e, over the spacing, of a side whose weights do not reach."""

NUMBERS = 10
"""Of a rim around a point: for each of two sides e, its slope (3), and k."""


def rim_numbers(inputs: Sequence[Scalar], x: Vec, spacing: float) -> list[Scalar]:
    """e, its slope and the curvature of two sides of a rim; inputs as in :meth:`bellcrank.contact.rims.Rim.piece`."""
    found = list[Scalar]()
    rows = [inputs[k : k + ROW] for k in range(0, len(inputs) - 1, ROW)]
    parts = [_part(row, x) for row in rows]
    for side in (1.0, 0.0):
        total: Scalar = 0.0
        sums: list[Scalar] = [0.0] * 8
        for row, (w, steep, e, slope, d) in zip(rows, parts, strict=True):
            own = row[SIDE] if side else 1.0 - row[SIDE]
            w, steep = own * w, own * steep
            total = total + w
            terms = (
                w * e,
                w * row[BEND],
                *scale(steep, d),
                *add(scale(w, slope), scale(steep * e, d)),
            )
            sums = [before + term for before, term in zip(sums, terms, strict=True)]
        reached = compare("lt", NONE, total)
        inverse = 1.0 / where(reached, total, 1.0)
        e = sums[0] * inverse
        slope = scale(inverse, sub(vec(sums[5:8]), scale(e, vec(sums[2:5]))))
        found += [where(reached, e, FAR * spacing), *slope, sums[1] * inverse]
    # In a notch the surface goes on where one side does.
    either = compare("lt", 0.5, inputs[-1])
    less = compare("le", found[0], found[5])
    first = where(logical("and", either, logical_not(less)), FAR * spacing, found[0])
    second = where(logical("and", either, less), FAR * spacing, found[5])
    return [first, *found[1:5], second, *found[6:]]


def _part(row: Sequence[Scalar], x: Vec) -> tuple[Scalar, Scalar, Scalar, Vec, Vec]:
    """Weight of a sample of a rim, its slope over d, e_i and its slope, d."""
    d = sub(x, (row[0], row[1], row[2]))
    t, s = vec(row[OUT:ALONG]), vec(row[ALONG:BEND])
    along = dot(s, d)
    e = dot(t, d) - 0.5 * row[BEND] * along * along
    slope = sub(t, scale(row[BEND] * along, s))
    narrow = 1.0 / (row[WEIGHT] * row[WEIGHT])
    square = dot(d, d) * narrow
    left = maximum(1.0 - square, 0.0)
    inverse = 1.0 / (square + NEAR)
    both = left * left * inverse
    w = both * left
    steep = -(2.0 * narrow) * (3.0 * both + w * inverse)
    # Where no weight reaches, the nearest rows tell on which side of them a point is.
    spare = 1.0 / (1.0 + square)
    spare = spare * spare
    return w + SPARE * spare * spare, steep, e, slope, d


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a rim around a point: e over the size of its slope, the unit slope in the surface, k."""

    e: Scalar
    t: Vec
    k: Scalar

    @staticmethod
    def of(numbers: Sequence[Scalar], n: Vec, spacing: float) -> Side:
        """From e, its slope and k at a point with the normal n."""
        g = vec(numbers[1:4])
        g = sub(g, scale(dot(g, n), n))
        size = dot(g, g)
        some = compare("lt", TINY, size)
        inverse = 1.0 / sqrt(where(some, size, 1.0))
        e = where(some, numbers[0] * inverse, FAR * spacing)
        return Side(e, scale(inverse, g), numbers[4])

    def after(self, step: Vec) -> Scalar:
        """e after a step."""
        return self.e + dot(self.t, step)


@dataclass(frozen=True, eq=False)
class Line:
    """A plane that the first surface's point stays in where it touches along a line: its normal, and the way there."""

    holds: Scalar
    plane: Vec
    off: Scalar


@dataclass(frozen=True, eq=False)
class Held:
    """Whether a rim holds a point, and the steps of it and of its foot on the other shape."""

    holds: Scalar
    on: Vec
    off: Vec


def rim_step(
    sides: tuple[Side, Side], n: Vec, m: Vec, r: Vec, own: Callable[[Vec, Vec], Symmetric],
    other: Callable[[Vec, Vec], Symmetric], line: Line, longest: float,
    strict: bool = False,
) -> Held:  # fmt: skip
    """n, m: Normals of the point's surface and of the other shape. r: From the point to the other.

    own, other: Curvatures along two tangents. line: How a point moves along a line. strict: Whether the rim also
    holds where the foot of the other's point lies beyond it.
    """
    u, v = frame(m)
    f11, f12, f22 = other(u, v)
    d = -dot(m, r)
    c11, c12, c22 = 1.0 + d * f11, d * f12, 1.0 + d * f22
    det = c11 * c22 - c12 * c12
    curved = logical("and", compare("lt", 0.0, det), compare("lt", 0.0, c11 + c22))
    c11, c12, c22, det = (where(curved, a, b) for a, b in ((c11, 1.0), (c12, 0.0), (c22, 1.0), (det, 1.0)))
    inverse = 1.0 / det
    h = (
        (f11 * c22 - f12 * c12) * inverse,
        (f12 * c11 - f11 * c12) * inverse,
        (f22 * c11 - f12 * c12) * inverse,
    )
    r1, r2 = dot(u, r), dot(v, r)
    g = sub(m, add(scale(h[0] * r1 + h[1] * r2, u), scale(h[1] * r1 + h[2] * r2, v)))
    opposed = -dot(m, n)
    p, q = frame(n)
    s = own(p, q)

    def bent(a: Vec, b: Vec) -> Scalar:
        return _form(h, u, v, a, b) + opposed * _form(s, p, q, a, b)

    ways = list[tuple[Scalar, Vec]]()
    for side in sides:
        t, along = side.t, cross(n, side.t)
        push, mixed = dot(g, t), bent(along, t)
        stiff = bent(along, along) + push * side.k
        moves = compare("lt", LEAST / longest, stiff)
        way = where(moves, -(dot(g, along) - mixed * side.e) / where(moves, stiff, 1.0), 0.0)
        crosses = dot(line.plane, along)
        stays = logical("and", line.holds, compare("lt", LEAVES, function("abs", crosses)))
        back = (line.off + side.e * dot(line.plane, t)) / where(stays, crosses, 1.0)
        way = where(stays, back, way)
        way = clip(way, -longest, longest)
        pushed = compare("lt", push - bent(t, t) * side.e + mixed * way, 0.0)
        if strict:
            pushed = logical("or", pushed, compare("lt", ROUNDING * longest, side.after(r)))
        else:
            # In a plane along the rim a point stays where it is.
            beside = logical("and", line.holds, compare("le", function("abs", crosses), LEAVES))
            inside = compare("le", side.e, ROUNDING * longest)
            pushed = logical("and", pushed, logical_not(logical("and", beside, inside)))
        reached = compare("lt", 0.5 * FAR * longest, side.e)
        ways.append((logical("and", pushed, reached), sub(scale(way, along), scale(side.e, t))))
    (by_a, on_a), (by_b, on_b) = ways
    a, b = sides
    only_a = logical("and", by_a, compare("le", b.after(on_a), 0.0))
    only_b = logical("and", by_b, compare("le", a.after(on_b), 0.0))
    cosine = dot(a.t, b.t)
    sine = 1.0 - cosine * cosine
    crossed = compare("lt", 1e-6, sine)
    share = 1.0 / where(crossed, sine, 1.0)
    corner = add(scale(-share * (a.e - cosine * b.e), a.t), scale(-share * (b.e - cosine * a.e), b.t))
    both = chosen(crossed, corner, chosen(by_a, on_a, on_b))
    on = vec(chosen(only_a, on_a, chosen(only_b, on_b, both)))
    left = sub(on, r)
    m1, m2 = dot(u, left), dot(v, left)
    off = add(scale(inverse * (c22 * m1 - c12 * m2), u), scale(inverse * (c11 * m2 - c12 * m1), v))
    return Held(logical("or", by_a, by_b), on, off)


def leads_outside(sides: tuple[Side, Side], step: Vec, slack: float) -> Scalar:
    """Whether a step leads farther beyond a rim than rounding does."""
    first, second = (compare("lt", slack, side.after(step)) for side in sides)
    return logical("or", first, second)


@dataclass(frozen=True, eq=False)
class Bounded:
    """What rims do to a step: which one holds, and the steps of both points seen from the first surface.

    neither: Whether the rims of both surfaces would have to, or the foot of a point that is held lies beyond a rim.
    """

    on_a: Scalar
    on_b: Scalar
    neither: Scalar
    step: Vec
    move: Vec


def bounded(
    a: tuple[Side, Side] | None, b: tuple[Side, Side] | None, n: Vec, m: Vec, r: Vec,
    of_a: Callable[[Vec, Vec], Symmetric], of_b: Callable[[Vec, Vec], Symmetric],
    free: Scalar, held: Scalar, plane: Vec, off: Scalar, longest: float,
) -> Bounded:  # fmt: skip
    """a, b: Sides of the rims of both shapes, None for one without. n, m: Normals. All is seen from the first one.

    plane, off: Normal of the plane that a point on a line stays in, and its distance from it.
    """
    line = Line(logical_not(free), plane, off)
    moves = logical_not(held)
    nowhere: Vec = (0.0, 0.0, 0.0)
    slack = ROUNDING * longest
    on_a: Scalar = False
    on_b: Scalar = False
    neither: Scalar = False
    step, move = nowhere, nowhere
    if a is not None:
        first = rim_step(a, n, m, r, of_a, of_b, line, longest)
        on_a = logical("and", moves, first.holds)
        step, move = first.on, first.off
        if b is not None:
            neither = logical("and", on_a, leads_outside(b, first.off, slack))
            on_a = logical("and", on_a, logical_not(neither))
    if b is not None:
        second = rim_step(b, m, n, neg(r), of_b, of_a, line, longest, strict=True)
        on_b = logical("and", moves, logical("and", second.holds, logical_not(on_a)))
        neither = logical("and", neither, logical_not(on_b))
        if a is not None:
            neither = logical("or", neither, logical("and", on_b, leads_outside(a, second.off, slack)))
        neither = logical("or", neither, logical("and", held, leads_outside(b, nowhere, slack)))
        step, move = vec(chosen(on_b, second.off, step)), vec(chosen(on_b, second.on, move))
    return Bounded(on_a, on_b, neither, step, move)


def _form(b: Symmetric, u: Vec, v: Vec, x: Vec, y: Vec) -> Scalar:
    """x . B y of a symmetric B along u and v."""
    x1, x2, y1, y2 = dot(u, x), dot(v, x), dot(u, y), dot(v, y)
    return x1 * (b[0] * y1 + b[1] * y2) + x2 * (b[1] * y1 + b[2] * y2)


__all__ = ["NUMBERS", "Bounded", "Side", "bounded", "rim_numbers"]
