"""Stiffness of an elastic contact from material and local curvatures: Hertz's theory for elliptic contact.

F = K d^(3/2) with K = (4/3) E* k^(-1/2) g, k the mean of the two principal curvatures of the gap and g a function of
their ratio alone, 1 for circular contact.

Source: Johnson (1985), Contact Mechanics, section 4.2, equations (4.26) to (4.28).
Differs in: g is tabulated over -ln(4 det / trace^2) of the curvature matrix of the gap, in which it is smooth also
where the contact is circular, so that no principal directions are needed.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from bellcrank.contact.shapes import TINY, Capsule, Plane, Shape
from bellcrank.math.tuples import Mat, Vec, transposed_times
from bellcrank.program.functions import maximum, sqrt, where
from bellcrank.program.tables import Table, smooth_table
from bellcrank.program.trace import Scalar, compare, function

Curvature = tuple[Scalar, Scalar, Scalar]
"""kappa_11, kappa_12, kappa_22 along two tangents [1/m]."""

LONGEST = 1e-10
"""4 det / trace^2 of the most slender contact; beyond it the contact is a line and Hertz's point theory ends."""


def effective_modulus(young: tuple[Scalar, Scalar], poisson: tuple[Scalar, Scalar]) -> Scalar:
    """E* [Pa] of two bodies, 1 / E* = (1 - nu_a^2) / E_a + (1 - nu_b^2) / E_b; an infinite E is rigid."""
    soft: Scalar = 0.0
    for e, nu in zip(young, poisson, strict=True):
        soft = soft + (1.0 - nu * nu) / e
    return 1.0 / soft


@cache
def slenderness() -> Table:
    """g over x = -ln(4 det / trace^2)."""
    from scipy.special import ellipe, ellipkm1

    # a = 1 and p0 = E*: the squared ratio of the axes b^2, dense near circular contact.
    b2 = np.concatenate([1.0 - np.linspace(0.05, 0.5, 46), np.geomspace(0.49, 1e-12, 240)])
    e2 = 1.0 - b2
    b, K, E = np.sqrt(b2), ellipkm1(b2), ellipe(e2)
    low, high = b / e2 * (K - E), b / e2 * (E / b2 - K)
    mean = low + high
    x = -np.log(4.0 * low * high / mean**2)
    stiffness = (2.0 / 3.0) * np.pi * b / (b * K) ** 1.5
    g = stiffness / (4.0 / 3.0) * np.sqrt(mean)
    kept = x < -math.log(LONGEST) + 1.0
    return smooth_table(np.append(0.0, x[kept]), np.append(1.0, g[kept]))


def curvature(shape: Shape, R: Mat, normal: Vec, point: Vec, e1: Vec, e2: Vec) -> Curvature:
    """The curvature of a shape along two tangents at a point of its surface.

    R: From the shape's frame to the common one. normal: Outward, common frame. point: In the shape's frame.
    """
    if isinstance(shape, Plane):
        return 0.0, 0.0, 0.0
    n, f1, f2 = (transposed_times(R, v) for v in (normal, e1, e2))
    if shape.by_points:
        bend = shape.surface(point).curvature
        return bend(f1, f1), bend(f1, f2), bend(f2, f2)
    second = shape.support(n).second
    r11, r12, r22 = second(f1, f1), second(f1, f2), second(f2, f2)
    inverse = 1.0 / maximum(r11 * r22 - r12 * r12, TINY)
    k11, k12, k22 = r22 * inverse, -r12 * inverse, r11 * inverse
    if isinstance(shape, Capsule):
        # On the straight part nothing bends along the axis z.
        side = compare("le", function("abs", point[2]), shape.half_length)
        share = 1.0 / shape.radius
        k11 = where(side, share * (1.0 - f1[2] * f1[2]), k11)
        k12 = where(side, -(share * (f1[2] * f2[2])), k12)
        k22 = where(side, share * (1.0 - f2[2] * f2[2]), k22)
    return k11, k12, k22


def stiffness(modulus: Scalar, a: Curvature, b: Curvature) -> Scalar:
    """K of F = K d^(3/2) [N/m^1.5] for E* [Pa] and the curvatures of both surfaces along the same tangents."""
    k11, k12, k22 = (x + y for x, y in zip(a, b, strict=True))
    mean = 0.5 * (k11 + k22)
    round_part = (k11 * k22 - k12 * k12) / (mean * mean)
    x = -function("log", maximum(round_part, LONGEST))
    return (4.0 / 3.0) * modulus / sqrt(mean) * slenderness()(x)


__all__ = ["Curvature", "curvature", "effective_modulus", "slenderness", "stiffness"]
