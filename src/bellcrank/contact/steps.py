"""Newton's method on the normals (or points) of two surfaces, unrolled, with a safeguard.

Problem (23) of Park et al. (2000): closest points with opposed normals. Written over the common
normal n, with x_a(n) and x_b(-n) the support points, its three constraints hold for every n, opposed normals
included, and its stationarity is r_T = 0: the part of r = x_b - x_a across n vanishes. The same n is where
the separation d(n) = n . r is stationary over the unit sphere, whose gradient is r_T and whose second
derivative is -(H + d I), H = H_a + H_b the radii of curvature of both. A maximum of d is the signed distance:
for separate bodies there is one with d > 0, for overlapping ones the largest is the least way out.

Differs in: Park et al. minimise r . r with 6 unknowns and multipliers, which is singular when the bodies touch;
here nothing is special at d = 0, and the error of d is quadratic in that of n.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bellcrank.contact.norms import TINY, Form
from bellcrank.math.tuples import Vec, add, cross, dot, scale, sub, vec
from bellcrank.program.functions import maximum, minimum, sqrt, where
from bellcrank.program.trace import Scalar, compare, function

NOISE = 1e-14
"""Loss of separation, over the size of the pair, that counts as rounding."""
WARY = 0.9
"""Share of the least radius of curvature by which a penetration may shrink the second derivative."""

RIGID = 1e-2
"""Share of r_T added where that is not enough, for edges, which have no radius."""

FACING = 1e-12
"""Part of the size of a pair added besides, so that the equations always have a solution."""


@dataclass(frozen=True, eq=False)
class Gap:
    """A pair of points with opposed normals: r from a to b, and the sum of the radii of curvature."""

    normal: Vec
    r: Vec
    radii: Form


Gaps: TypeAlias = Callable[[Vec], Gap]


@dataclass(frozen=True, eq=False)
class PointGap(Gap):
    """The same, at a point x of surface a with the given curvature; `radii` are those of b alone."""

    x: Vec
    curvature: Form


def unit(a: Vec) -> Vec:
    """a / |a|."""
    return scale(1.0 / sqrt(maximum(dot(a, a), TINY)), a)


def frame(n: Vec) -> tuple[Vec, Vec]:
    """Two unit vectors across the unit vector n and each other.

    Duff et al. (2017), "Building an orthonormal basis, revisited".
    """
    x, y, z = n
    s = where(compare("lt", z, 0.0), -1.0, 1.0)
    a = -1.0 / (s + z)
    b = x * y * a
    return (1.0 + s * x * x * a, s * b, -s * x), (b, s + y * y * a, -y)


def solved_2x2(
    a11: Scalar, a12: Scalar, a21: Scalar, a22: Scalar, b1: Scalar, b2: Scalar
) -> tuple[Scalar, Scalar]:
    """The solution of A x = b; A must not be singular."""
    inverse = 1.0 / (a11 * a22 - a12 * a21)
    return inverse * (a22 * b1 - a12 * b2), inverse * (a11 * b2 - a21 * b1)


def chosen(condition: Scalar, a: Sequence[Scalar], b: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Component by component, a where the condition holds, else b."""
    return tuple(where(condition, x, y) for x, y in zip(a, b, strict=True))


def _least(a: Scalar, b: Scalar, c: Scalar) -> Scalar:
    """The smaller eigenvalue of [[a, b], [b, c]]."""
    half = 0.5 * (a - c)
    return 0.5 * (a + c) - sqrt(half * half + b * b)


class _LineSearch:
    """Takes a trial step if the separation does not fall; else keeps the point and shortens the step."""

    def __init__(self, size: Scalar) -> None:
        self.noise = NOISE * size
        self.part: Scalar = 1.0

    def choose(self, here: Sequence[Scalar], trial: Sequence[Scalar]) -> tuple[Scalar, ...]:
        """States begin with n and r. A NaN (from a surface without curvature) is refused too."""
        d_here = dot(vec(here[0:3]), vec(here[3:6]))
        d_trial = dot(vec(trial[0:3]), vec(trial[3:6]))
        better = compare("le", d_here, d_trial + self.noise)
        self.part = where(better, minimum(1.0, 4.0 * self.part), 0.25 * self.part)
        return chosen(better, trial, here)


def on_sphere(gaps: Gaps, start: Vec, size: Scalar, iterations: int) -> Vec:
    """The common normal n, by Newton's method (H + d I) dn = r_T from the unit vector `start`."""

    def state(n: Vec) -> tuple[Scalar, ...]:
        gap = gaps(n)
        e1, e2 = frame(n)
        return (*n, *gap.r, gap.radii(e1, e1), gap.radii(e1, e2), gap.radii(e2, e2))

    here = state(start)
    search = _LineSearch(size)
    for _ in range(iterations):
        n, r, (h11, h12, h22) = vec(here[0:3]), vec(here[3:6]), here[6:9]
        e1, e2 = frame(n)
        b1, b2 = dot(e1, r), dot(e2, r)
        # The last term: flat ends face to face have neither radius nor a way to go.
        spare = RIGID * (function("abs", b1) + function("abs", b2)) + FACING * size
        shift = maximum(dot(n, r), spare - WARY * _least(h11, h12, h22))
        t1, t2 = solved_2x2(h11 + shift, h12, h12, h22 + shift, b1, b2)
        step = add(scale(search.part * t1, e1), scale(search.part * t2, e2))
        here = search.choose(here, state(unit(add(n, step))))
    return vec(here[0:3])


def on_circle(gaps: Gaps, start: Vec, axis: Vec, size: Scalar, iterations: int) -> Vec:
    """The same among the normals across `axis`; `start` is one of them."""

    def state(n: Vec) -> tuple[Scalar, ...]:
        gap = gaps(n)
        t = cross(axis, n)
        return (*n, *gap.r, gap.radii(t, t))

    here = state(start)
    search = _LineSearch(size)
    for _ in range(iterations):
        n, r, h = vec(here[0:3]), vec(here[3:6]), here[6]
        t = cross(axis, n)
        push = dot(t, r)
        shift = maximum(dot(n, r), RIGID * function("abs", push) - WARY * h)
        angle = search.part * push / maximum(h + shift, TINY)
        here = search.choose(here, state(unit(add(n, scale(angle, t)))))
    return vec(here[0:3])


def on_surface(gaps: Callable[[Vec], PointGap], start: Vec, size: Scalar, iterations: int) -> tuple[Vec, Vec]:
    """The point x of surface a and the normal there, by (I + (H_b + d I) K_a) dx = r_T.

    This is Newton's method of `on_sphere` with dn = K_a dx: it needs no radius of curvature of a, so that flat
    spots are harmless.
    """

    def state(x: Vec) -> tuple[Scalar, ...]:
        gap = gaps(x)
        e1, e2 = frame(gap.normal)
        forms = [(f(e1, e1), f(e1, e2), f(e2, e2)) for f in (gap.curvature, gap.radii)]
        return (*gap.normal, *gap.r, *gap.x, *forms[0], *forms[1])

    here = state(start)
    search = _LineSearch(size)
    for _ in range(iterations):
        n, r, x = vec(here[0:3]), vec(here[3:6]), vec(here[6:9])
        k11, k12, k22, h11, h12, h22 = here[9:15]
        e1, e2 = frame(n)
        bent = maximum(k11 + k22 - _least(k11, k12, k22), TINY)
        s = maximum(dot(n, r), -WARY * (_least(h11, h12, h22) + 1.0 / bent))
        h11, h22 = h11 + s, h22 + s
        t1, t2 = solved_2x2(
            1.0 + h11 * k11 + h12 * k12,
            h11 * k12 + h12 * k22,
            h12 * k11 + h22 * k12,
            1.0 + h12 * k12 + h22 * k22,
            dot(e1, r),
            dot(e2, r),
        )
        longest = maximum(maximum(function("abs", t1), function("abs", t2)), TINY)
        part = search.part * minimum(1.0, 0.5 * size / longest)
        step = add(scale(part * t1, e1), scale(part * t2, e2))
        here = search.choose(here, state(add(x, step)))
    return vec(here[6:9]), vec(here[0:3])


def across(n: Vec, axis: Vec, other: Vec) -> Vec:
    """n made perpendicular to the unit vector `axis`; `other`, made so, where nothing is left."""
    left = sub(n, scale(dot(n, axis), axis))
    spare = sub(other, scale(dot(other, axis), axis))
    # Of a unit vector: within 1e-10 rad of the axis what is left is mostly rounding.
    flat = compare("lt", dot(left, left), 1e-20)
    return unit(vec(chosen(flat, spare, left)))
