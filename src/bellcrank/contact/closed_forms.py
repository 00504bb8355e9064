"""Pairs of shapes whose closest points have a closed form, in the frame of the first shape.

Each function takes the two shapes, the rotation R of b and its origin c, both seen from a, and gives the
normal from a to b, the point of a and the point of b.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from bellcrank.contact.shapes import (
    TINY,
    Box,
    Capsule,
    Circle,
    Cylinder,
    HalfPlane,
    Plane,
    Shape,
    Sphere,
    Stop,
)
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.contact.steps import chosen
from bellcrank.math.tuples import (
    Mat,
    Vec,
    add,
    column,
    dot,
    neg,
    scale,
    sub,
    times,
    transposed_times,
    vec,
)
from bellcrank.program.functions import clip, maximum, minimum, sqrt, where
from bellcrank.program.trace import Scalar, compare, function

Points: TypeAlias = tuple[Vec, Vec, Vec]
Rule: TypeAlias = Callable[[Shape, Shape, Mat, Vec], Points]


def rule(a: Shape, b: Shape) -> Rule | None:
    """The closed form of this pair in this order, if there is one."""
    if isinstance(a, Plane):
        return _flat_below
    pairs: tuple[tuple[type[Shape], type[Shape], Rule], ...] = (
        (Circle, Circle, _circles),
        (Sphere, Sphere, _spheres),
        (Capsule, Sphere, _capsule_sphere),
        (Capsule, Capsule, capsules),
        (Cylinder, Sphere, _cylinder_sphere),
        (Box, Sphere, box_sphere),
        (Revolution, Sphere, _revolution_sphere),
        (Stop, Stop, _stop),
    )
    for kind_a, kind_b, form in pairs:
        if isinstance(a, kind_a) and isinstance(b, kind_b):
            return form
    return None


WITHIN = 1e-28
"""Square of a distance over that of the size which rounding leaves of a point inside: fifty roundings."""


def toward(r: Vec, spare: Vec) -> Vec:
    """r / |r|, or `spare` where r vanishes."""
    square = dot(r, r)
    # Below it the square is not as exact as other numbers are.
    zero = compare("lt", square, 1e-280)
    return vec(chosen(zero, spare, scale(1.0 / sqrt(maximum(square, TINY)), r)))


def _balls(r: Vec, at_a: Vec, radius_a: Scalar, at_b: Vec, radius_b: Scalar, spare: Vec) -> Points:
    n = toward(r, spare)
    return n, add(at_a, scale(radius_a, n)), sub(at_b, scale(radius_b, n))


def _spheres(a: Shape, b: Shape, R: Mat, c: Vec) -> Points:
    a, b = cast("Sphere", a), cast("Sphere", b)
    return _balls(c, (0.0, 0.0, 0.0), a.radius, c, b.radius, (0.0, 0.0, 1.0))


def _circles(a: Shape, b: Shape, R: Mat, c: Vec) -> Points:
    a, b = cast("Circle", a), cast("Circle", b)
    flat = (c[0], c[1], 0.0)
    return _balls(flat, (0.0, 0.0, 0.0), a.radius, flat, b.radius, (1.0, 0.0, 0.0))


def _flat_below(a: Shape, b: Shape, R: Mat, c: Vec) -> Points:
    """A plane or line: the lowest point of b, and the point straight below it."""
    n: Vec = (0.0, 1.0, 0.0) if isinstance(a, HalfPlane) else (0.0, 0.0, 1.0)
    x = add(c, times(R, b.support(neg(transposed_times(R, n))).point))
    return n, sub(x, scale(dot(x, n), n)), x


def _capsule_sphere(a: Shape, b: Shape, R: Mat, c: Vec) -> Points:
    a, b = cast("Capsule", a), cast("Sphere", b)
    core: Vec = (0.0, 0.0, clip(c[2], -a.half_length, a.half_length))
    return _balls(sub(c, core), core, a.radius, c, b.radius, (1.0, 0.0, 0.0))


def facing(half_a: Scalar, half_b: Scalar, axis: Vec, c: Vec) -> tuple[Scalar, Scalar]:
    """Closest points of two segments: along z of a, and from c along `axis` of b, from their middles [m].

    Ericson (2005), Real-Time Collision Detection, section 5.1.9.
    Differs in: parallel segments meet in the middle of their overlap.
    """
    cosine = axis[2]
    along_a, along_b = c[2], dot(c, axis)
    sine2 = axis[0] * axis[0] + axis[1] * axis[1]
    # Within 1e-9 rad the crossing lies a billion widths away, and rounding decides where.
    parallel = compare("lt", sine2, 1e-18)
    free = (along_a - cosine * along_b) / maximum(sine2, TINY)
    reach = half_b * function("abs", cosine)
    overlap = 0.5 * (maximum(along_a - reach, -half_a) - maximum(-along_a - reach, -half_a))
    s = clip(where(parallel, overlap, free), -half_a, half_a)
    t = clip(cosine * s - along_b, -half_b, half_b)
    return where(parallel, s, clip(along_a + cosine * t, -half_a, half_a)), t


def capsules(a: Shape, b: Shape, R: Mat, c: Vec) -> Points:
    a, b = cast("Capsule", a), cast("Capsule", b)
    axis = column(R, 2)
    s, t = facing(a.half_length, b.half_length, axis, c)
    core_a: Vec = (0.0, 0.0, s)
    core_b = add(c, scale(t, axis))
    across = toward((-axis[1], axis[0], 0.0), (1.0, 0.0, 0.0))
    return _balls(sub(core_b, core_a), core_a, a.radius, core_b, b.radius, across)


def _cylinder_sphere(a: Shape, b: Shape, R: Mat, c: Vec) -> Points:
    """The point of the cylinder nearest to the centre; from inside, out by the nearer of side and end."""
    a, b = cast("Cylinder", a), cast("Sphere", b)
    length, radius = a.half_length, a.radius
    around = sqrt(maximum(c[0] * c[0] + c[1] * c[1], TINY))
    side = toward((c[0], c[1], 0.0), (1.0, 0.0, 0.0))
    inward = radius / maximum(around, radius)
    held: Vec = (c[0] * inward, c[1] * inward, clip(c[2], -length, length))
    out = sub(c, held)
    up = where(compare("lt", c[2], 0.0), -1.0, 1.0)
    to_side, to_end = radius - around, length - function("abs", c[2])
    by_side = compare("le", to_side, to_end)
    n_in = vec(chosen(by_side, side, (0.0, 0.0, up)))
    x_in = vec(chosen(by_side, (radius * side[0], radius * side[1], c[2]), (c[0], c[1], up * length)))
    inside = compare("lt", dot(out, out), WITHIN * radius * radius)
    n = vec(chosen(inside, n_in, toward(out, n_in)))
    return n, vec(chosen(inside, x_in, held)), sub(c, scale(b.radius, n))


def box_sphere(a: Shape, b: Shape, R: Mat, c: Vec) -> Points:
    """The point of the box nearest to the centre; from inside, out by the nearest side."""
    a, b = cast("Box", a), cast("Sphere", b)
    half = a.half_lengths
    held = vec([clip(x, -h, h) for x, h in zip(c, half, strict=True)])
    out = sub(c, held)
    left = [h - function("abs", x) for x, h in zip(c, half, strict=True)]
    least = minimum(left[0], minimum(left[1], left[2]))
    by_x, by_y = compare("le", left[0], least), compare("le", left[1], least)
    axes: list[Vec] = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
    ways = [scale(where(compare("lt", x, 0.0), -1.0, 1.0), e) for x, e in zip(c, axes, strict=True)]
    n_in = vec(chosen(by_x, ways[0], vec(chosen(by_y, ways[1], ways[2]))))
    size = half[0] * half[0] + half[1] * half[1] + half[2] * half[2]
    inside = compare("lt", dot(out, out), WITHIN * size)
    n = vec(chosen(inside, n_in, toward(out, n_in)))
    return n, vec(chosen(inside, add(c, scale(least, n_in)), held)), sub(c, scale(b.radius, n))


def _revolution_sphere(a: Shape, b: Shape, R: Mat, c: Vec) -> Points:
    a, b = cast("Revolution", a), cast("Sphere", b)
    n, x = a.nearest(c)
    return n, x, sub(c, scale(b.radius, n))


def _stop(a: Shape, b: Shape, R: Mat, c: Vec) -> Points:
    return cast("Stop", a).points(R, c)
