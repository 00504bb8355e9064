"""The two-node beam element: interpolation of the axis and of the sections' rotation.

Freedoms of an element: (u, v, w, rx, ry, rz) at either end. Deflection and rotation are those of a uniform
element loaded at its ends (Hermite's cubics, linked with the rotation by the shear parameter Phi = 12 E I /
(k G A h^2); Phi = 0 is Euler-Bernoulli), so uniform elements are exact in statics. Source: Przemieniecki,
Theory of Matrix Structural Analysis (1968), ch. 5 and 11; Friedman, Kosmatka, Comput. Struct. 47 (1993) 473.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from bellcrank.fe.material import Material
from bellcrank.flexible.model import Array
from bellcrank.flexible.sections import Section

GAUSS = 5
"""Points an element: exact for the product of two cubics with a quadratically tapered area."""


@cache
def gauss(count: int) -> tuple[Array, Array]:
    """Gauss points and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(count)
    return 0.5 * (np.asarray(x) + 1.0), 0.5 * np.asarray(w)


@dataclass(frozen=True)
class Element:
    """One element of length h [m] from x = start [m].

    shear_xy, shear_xz: Phi of bending in the x-y and x-z plane. offset: Centroid from the node line, (y, z)
    [m].
    """

    start: float
    h: float
    shear_xy: float
    shear_xz: float
    offset: tuple[float, float]


def element(start: float, h: float, section: Section, material: Material, timoshenko: bool) -> Element:
    """An element whose shear parameter and offset are those of its middle section."""
    phi_y = phi_z = 0.0
    if timoshenko:
        shear = material.shear * section.area * h * h
        phi_y = 12 * material.young * section.bending_z / (section.shear_y * shear)
        phi_z = 12 * material.young * section.bending_y / (section.shear_z * shear)
    return Element(start, h, phi_y, phi_z, section.offset)


@dataclass(frozen=True)
class Interpolation:
    """At one place of an element, matrices (3, 12) on its node freedoms.

    displacement: Of the centroid. rotation: Of the section. slope, curvature: Their derivatives along x.
    """

    displacement: Array
    rotation: Array
    slope: Array
    curvature: Array


def interpolate(e: Element, xi: float) -> Interpolation:
    """The interpolation at x = start + xi h."""
    d, r, s, c = (np.zeros((3, 12)) for _ in range(4))
    d[0, [0, 6]] = r[0, [3, 9]] = 1.0 - xi, xi
    s[0, [0, 6]] = c[0, [3, 9]] = -1.0 / e.h, 1.0 / e.h
    for row, turn, sign, phi in ((1, 2, 1.0, e.shear_xy), (2, 1, -1.0, e.shear_xz)):
        freedoms = [row, 3 + turn, 6 + row, 9 + turn]
        flip = np.array([1.0, sign, 1.0, sign])
        N, dN, H, dH = _bending(xi, e.h, phi)
        d[row, freedoms], s[row, freedoms] = N * flip, dN * flip
        r[turn, freedoms], c[turn, freedoms] = sign * H * flip, sign * dH * flip
    T = _to_centroid(e.offset)
    return Interpolation(d @ T, r @ T, s @ T, c @ T)


def _bending(xi: float, h: float, phi: float) -> tuple[Array, Array, Array, Array]:
    """Deflection, its slope, rotation and curvature for (v1, theta1, v2, theta2) with theta = v' without
    shear."""
    x, x2, x3 = xi, xi**2, xi**3
    f = 1.0 / (1.0 + phi)
    N = f * np.array(
        [
            1 - 3 * x2 + 2 * x3 + phi * (1 - x),
            h * (x - 2 * x2 + x3 + phi / 2 * (x - x2)),
            3 * x2 - 2 * x3 + phi * x,
            h * (x3 - x2 + phi / 2 * (x2 - x)),
        ]
    )
    dN = (f / h) * np.array(
        [
            -6 * x + 6 * x2 - phi,
            h * (1 - 4 * x + 3 * x2 + phi / 2 * (1 - 2 * x)),
            6 * x - 6 * x2 + phi,
            h * (3 * x2 - 2 * x + phi / 2 * (2 * x - 1)),
        ]
    )
    H = f * np.array(
        [6 * (x2 - x) / h, 1 - 4 * x + 3 * x2 + phi * (1 - x), 6 * (x - x2) / h, 3 * x2 - 2 * x + phi * x]
    )
    dH = (f / h) * np.array([6 * (2 * x - 1) / h, 6 * x - 4 - phi, 6 * (1 - 2 * x) / h, 6 * x - 2 + phi])
    return N, dN, H, dH


def _to_centroid(offset: tuple[float, float]) -> Array:
    """Freedoms of the centroid from those of the node: d + theta x (0, y, z)."""
    T = np.eye(12)
    y, z = offset
    for n in (0, 6):
        T[n, n + 4], T[n, n + 5] = z, -y
        T[n + 1, n + 3] = -z
        T[n + 2, n + 3] = y
    return T


def element_stiffness(e: Element, sections: list[Section], material: Material) -> Array:
    """(12, 12); `sections` at the Gauss points."""
    K = np.zeros((12, 12))
    E, G = material.young, material.shear
    points, weights = gauss(GAUSS)
    for xi, weight, s in zip(points, weights, sections, strict=True):
        at = interpolate(e, float(xi))
        w = weight * e.h
        stretch, (twist, bend_y, bend_z) = at.slope[0], at.curvature
        K += w * E * s.area * np.outer(stretch, stretch) + w * G * s.torsion_constant * np.outer(twist, twist)
        K += w * E * (s.bending_z * np.outer(bend_z, bend_z) + s.bending_y * np.outer(bend_y, bend_y))
        K -= w * E * s.product * (np.outer(bend_y, bend_z) + np.outer(bend_z, bend_y))
        if e.shear_xy:
            gamma = at.slope[1] - at.rotation[2]
            K += w * s.shear_y * G * s.area * np.outer(gamma, gamma)
        if e.shear_xz:
            gamma = at.slope[2] + at.rotation[1]
            K += w * s.shear_z * G * s.area * np.outer(gamma, gamma)
    return K
