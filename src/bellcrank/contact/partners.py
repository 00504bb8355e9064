"""What a sampled surface needs to know of the shape it meets: an implicit function with its slope, and curvatures."""

from __future__ import annotations

from bellcrank.contact.norms import mixed_norm
from bellcrank.contact.shapes import (
    TINY,
    Box,
    Capsule,
    Circle,
    Cylinder,
    Ellipsoid,
    Plane,
    Shape,
    Sphere,
    Superellipsoid,
)
from bellcrank.contact.shapes.implicit import Implicit
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.math.tuples import Vec, dot, scale
from bellcrank.program.functions import clip, maximum, sqrt, where
from bellcrank.program.trace import Scalar, compare, function

Symmetric = tuple[Scalar, Scalar, Scalar]
"""Curvature along two tangents: 11, 12, 22 [1/m]."""

KINDS = (Plane, Sphere, Capsule, Ellipsoid, Superellipsoid, Implicit, Revolution)


def smooth_partner(shape: Shape) -> bool:
    """Whether a sampled surface can meet this shape: one with a normal everywhere."""
    return isinstance(shape, KINDS) and not isinstance(shape, Circle) and not shape.planar


SAMPLE_IT = "give it as a mesh (Sampled.from_mesh), and the contact points=4 or more"


def why_not(shape: Shape) -> str:
    """What keeps a sampled surface from meeting a shape."""
    if isinstance(shape, Box):
        return f"a box has sharp edges, which have no normal; {SAMPLE_IT}"
    if isinstance(shape, Cylinder):
        r, length = "radius", "2 * half_length"
        if isinstance(shape.radius, float | int) and isinstance(shape.half_length, float | int):
            r, length = f"{shape.radius:g}", f"{2.0 * shape.half_length:g}"
        return (
            "a cylinder has sharp rims, which have no normal, so that a contact point sliding over one would jump from "
            f"side to end; for what rolls on its side take Revolution(lambda z: {r} + 0.0 * z, {length}), which is "
            f"that side alone, beginning at the origin of its frame; for its ends {SAMPLE_IT}"
        )
    return "it is planar; give both shapes in space"


def slope(shape: Shape, x: Vec) -> tuple[Scalar, Vec]:
    """f and its gradient at a point of the shape's frame; f vanishes on the surface and is negative inside."""
    if isinstance(shape, Plane):
        return x[2], (0.0, 0.0, 1.0)
    if isinstance(shape, Sphere):
        length = sqrt(maximum(dot(x, x), TINY))
        return length - shape.radius, scale(1.0 / length, x)
    if isinstance(shape, Capsule):
        out: Vec = (x[0], x[1], x[2] - clip(x[2], -shape.half_length, shape.half_length))
        length = sqrt(maximum(dot(out, out), TINY))
        return length - shape.radius, scale(1.0 / length, out)
    if isinstance(shape, Ellipsoid):
        g: Vec = (x[0] / (shape.a * shape.a), x[1] / (shape.b * shape.b), x[2] / (shape.c * shape.c))
        return 0.5 * (dot(g, x) - 1.0), g
    if isinstance(shape, Superellipsoid):
        near = mixed_norm((1.0 / shape.a, 1.0 / shape.b, 1.0 / shape.c), *shape.exponents, x)
        return near.value - 1.0, near.gradient
    if isinstance(shape, Implicit):
        here = shape.expansion(x)
        return here.value, here.gradient
    assert isinstance(shape, Revolution)
    around = sqrt(maximum(x[0] * x[0] + x[1] * x[1], TINY))
    r, steep, _ = shape.at(x[2])
    return around - r, (x[0] / around, x[1] / around, -steep)


def bend(shape: Shape, x: Vec, e1: Vec, e2: Vec) -> Symmetric:
    """Curvature along two tangents at a point x of the surface, all in the shape's own axes."""
    if isinstance(shape, Plane):
        return 0.0, 0.0, 0.0
    if isinstance(shape, Sphere):
        return 1.0 / shape.radius, 0.0, 1.0 / shape.radius
    if isinstance(shape, Capsule):
        # On the straight part nothing bends along the axis z.
        flat = where(compare("le", function("abs", x[2]), shape.half_length), 1.0, 0.0)
        k = 1.0 / shape.radius
        return k * (1.0 - flat * e1[2] * e1[2]), -(k * flat * e1[2] * e2[2]), k * (1.0 - flat * e2[2] * e2[2])
    if isinstance(shape, Revolution):
        around = sqrt(maximum(x[0] * x[0] + x[1] * x[1], TINY))
        r, steep, bent = shape.at(x[2])
        inverse = 1.0 / sqrt(1.0 + steep * steep)
        ring, along = inverse / r, -(bent * inverse * inverse * inverse)
        turn: Vec = (-x[1] / around, x[0] / around, 0.0)
        up: Vec = (steep * inverse * x[0] / around, steep * inverse * x[1] / around, inverse)
        a1, a2, b1, b2 = dot(e1, turn), dot(e2, turn), dot(e1, up), dot(e2, up)
        return (
            ring * a1 * a1 + along * b1 * b1,
            ring * a1 * a2 + along * b1 * b2,
            ring * a2 * a2 + along * b2 * b2,
        )
    if isinstance(shape, Ellipsoid):
        squares = (shape.a * shape.a, shape.b * shape.b, shape.c * shape.c)
        g = slope(shape, x)[1]
        inverse = 1.0 / sqrt(maximum(dot(g, g), TINY))

        def second(e: Vec, f: Vec) -> Scalar:
            return inverse * (e[0] * f[0] / squares[0] + e[1] * f[1] / squares[1] + e[2] * f[2] / squares[2])

    elif isinstance(shape, Superellipsoid):
        gauge = mixed_norm((1.0 / shape.a, 1.0 / shape.b, 1.0 / shape.c), *shape.exponents, x)
        inverse = 1.0 / sqrt(maximum(dot(gauge.gradient, gauge.gradient), TINY))

        def second(e: Vec, f: Vec) -> Scalar:
            return inverse * gauge.second(e, f)

    else:
        assert isinstance(shape, Implicit)
        here = shape.expansion(x)
        inverse = 1.0 / sqrt(maximum(dot(here.gradient, here.gradient), TINY))

        def second(e: Vec, f: Vec) -> Scalar:
            return inverse * here.second(e, f)

    return second(e1, e1), second(e1, e2), second(e2, e2)


__all__ = ["Symmetric", "bend", "slope", "smooth_partner", "why_not"]
