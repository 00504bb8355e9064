"""Mixed norms with their first and second derivatives: the gauge and the support function of superellipsoids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from bellcrank.math.tuples import Vec
from bellcrank.program.functions import maximum, sign, where
from bellcrank.program.trace import Scalar, compare, function, power

Form: TypeAlias = Callable[[Vec, Vec], Scalar]
"""A symmetric bilinear form: two vectors to a number."""

TINY = 1e-300
"""Least square whose root is divided by."""
POLE = 1e-12
"""Least size of a ring over the distance along z, so that powers and their inverses stay finite."""
FLOOR = 1e-12
"""Least ratio whose negative power is taken: keeps curvatures finite where a superellipsoid is flat."""


@dataclass(frozen=True, eq=False)
class Expansion:
    """A function near a point: value, gradient, and second derivative as a form."""

    value: Scalar
    gradient: Vec
    second: Form


def mixed_norm(scales: Vec, p: float, q: float, x: Vec) -> Expansion:
    """The norm ((|ax|^p + |by|^p)^(q/p) + |cz|^q)^(1/q) with scales (a, b, c), expanded at x.

    Differs in: Barr (1981), "Superquadrics", writes 2/e for the exponents and leaves out the outer root,
    which makes the function of degree one, so that its dual is of the same kind.
    """
    signs = (sign(x[0]), sign(x[1]), sign(x[2]))
    u, v, w = (s * function("abs", t) for s, t in zip(scales, x, strict=True))
    # On the axis z the ring is a point, whose curvature is that of points beside it.
    u = maximum(u, POLE * w)
    ring = _pair(u, v, p)
    whole = _pair(ring.value, w, q)
    to_ring, to_w = whole.slopes
    to_u, to_v = ring.slopes
    gradient = (
        to_ring * to_u * scales[0] * signs[0],
        to_ring * to_v * scales[1] * signs[1],
        to_w * scales[2] * signs[2],
    )

    def rates(e: Vec) -> tuple[Scalar, Scalar]:
        sides = [where(compare("lt", t, 0.0), -1.0, 1.0) for t in x]
        du, dv, dw = (s * t * k for s, t, k in zip(sides, scales, e, strict=True))
        return v * du - u * dv, w * (to_u * du + to_v * dv) - ring.value * dw

    def second(e: Vec, f: Vec) -> Scalar:
        (ring_e, whole_e), (ring_f, whole_f) = rates(e), rates(f)
        return whole.bend * whole_e * whole_f + to_ring * ring.bend * ring_e * ring_f

    return Expansion(whole.value, gradient, second)


@dataclass(frozen=True, eq=False)
class _Pair:
    value: Scalar
    slopes: tuple[Scalar, Scalar]
    bend: Scalar


def _pair(u: Scalar, v: Scalar, p: float) -> _Pair:
    """(u^p + v^p)^(1/p) of two numbers >= 0; its Hessian is `bend` (v, -u)(v, -u)^T."""
    if p == 2.0:
        value = power(maximum(u * u + v * v, 1e-300), 0.5)
        return _Pair(value, (u / value, v / value), 1.0 / (value * value * value))
    # Scaled by the larger: powers of numbers far from one would overflow or vanish.
    large = maximum(maximum(u, v), 1e-150)
    a, b = u / large, v / large
    total = power(power(a, p) + power(b, p), 1.0 / p)
    value = large * total
    a, b = a / total, b / total
    bend = (p - 1.0) * power(maximum(a, FLOOR), p - 2.0) * power(maximum(b, FLOOR), p - 2.0)
    return _Pair(value, (power(a, p - 1.0), power(b, p - 1.0)), bend / (value * value * value))
