"""What solids of revolution share: triangles around their axis, and mass by integrals along it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.shapes.fields import Field, onto
from bellcrank.contact.shapes.grading import curved, graded
from bellcrank.contact.triangles import Triangles, refined

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
"""Of Gauss's rule, exact for polynomials of degree 15: r^4 of the pieces of cones and balls has at most 4."""


def turned(profile: Sequence[tuple[float, float]] | Floats, count: int, ring: bool = False) -> Triangles:
    """Triangles about the z axis.

    profile: Rows of distance from the axis and height [m], from bottom to top seen from the axis; the first and last
    lie on the axis, or the curve is closed (`ring`). count: Of triangles around.
    """
    rows = np.asarray(profile, np.float64)
    rounds = rows if ring else rows[1:-1]
    angles = 2.0 * np.pi * np.arange(count) / count
    around = np.stack([np.cos(angles), np.sin(angles), np.zeros(count)], axis=1)
    rings = rounds[:, 0, None, None] * around + rounds[:, 1, None, None] * np.array([0.0, 0.0, 1.0])
    numbers = np.arange(len(rounds) * count).reshape(-1, count)
    low, high = (numbers, np.roll(numbers, -1, axis=0)) if ring else (numbers[:-1], numbers[1:])
    a, b, c, d = low, np.roll(low, -1, axis=1), np.roll(high, -1, axis=1), high
    sides = [np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)]
    vertices, faces = rings.reshape(-1, 3), [side.reshape(-1, 3) for side in sides]
    if not ring:
        bottom, top = len(vertices), len(vertices) + 1
        vertices = np.concatenate([vertices, [(0.0, 0.0, rows[0, 1]), (0.0, 0.0, rows[-1, 1])]])
        first, last = numbers[0], numbers[-1]
        faces += [
            np.stack([np.full(count, bottom), np.roll(first, -1), first], axis=1),
            np.stack([np.full(count, top), last, np.roll(last, -1)], axis=1),
        ]
    return Triangles(vertices, np.concatenate(faces))


def rounded(
    profile: Sequence[tuple[float, float]] | Floats,
    field: Field,
    rims: Sequence[tuple[float, float]],
    size: float,
    fine: float,
    spacing: float | None,
    ring: bool = False,
) -> Triangles:
    """Triangles of a solid of revolution with rims.

    profile, ring: As for :func:`turned`, with sharp rims. field: Whose surface the vertices are brought to. rims:
    Distance from the axis and height [m]. size: The smallest of the solid [m]. fine: Length of edges along the rims
    [m].
    """
    at_rims = graded(lambda x: np.min([np.hypot(_out(x) - r, x[:, 2] - z) for r, z in rims], axis=0), fine)

    def between(a: Floats, b: Floats) -> Floats:
        """The middle along the circle."""
        middle = 0.5 * (a + b)
        stretch = 0.5 * (_out(a) + _out(b)) / np.maximum(_out(middle), 1e-300)
        return middle * np.stack([stretch, stretch, np.ones(len(a))], axis=1)

    def too_long(a: Floats, b: Floats) -> Bools:
        away = np.linalg.norm(between(a, b) - 0.5 * (a + b), axis=1)
        return curved(a, b, away, size, spacing) | at_rims(a, b)

    count = _sectors(fine, float(np.max(np.asarray(profile)[:, 0])))
    sharp = refined(turned(profile, count, ring), too_long, between)
    return Triangles(onto(field, sharp.vertices), sharp.faces)


def straight(start: tuple[float, float], end: tuple[float, float], fine: float) -> list[tuple[float, float]]:
    """Points of a straight profile, about as far from each other as the triangles around it are wide."""
    radius = max(start[0], end[0])
    cell = 2.0 * math.pi * radius / _sectors(fine, radius)
    shares = np.linspace(0.0, 1.0, 1 + max(1, round(math.dist(start, end) / cell)))
    return [(start[0] + s * (end[0] - start[0]), start[1] + s * (end[1] - start[1])) for s in shares]


def _out(x: Floats) -> Floats:
    """Distance from the axis."""
    return np.hypot(x[:, 0], x[:, 1])


def _sectors(fine: float, radius: float) -> int:
    """Triangles around to start with, so that bisection ends just below the length `fine` [m] at a radius [m]."""
    wanted = max(6, math.ceil(2.0 * math.pi * radius / fine))
    return math.ceil(wanted / 2.0 ** math.floor(math.log2(wanted / 6)))


def mass_of_revolution(
    square: Callable[[Floats], Floats], breaks: Sequence[float] | Floats
) -> tuple[float, Floats, Floats]:
    """Volume [m^3], centre [m] and inertia [m^5] of what lies within a distance of the z axis.

    square: Of that distance [m^2], by z [m]; smooth between the breaks.
    """
    ends = np.asarray(breaks, np.float64)
    half = 0.5 * np.diff(ends)[:, None]
    z = 0.5 * (ends[:-1] + ends[1:])[:, None] + half * NODES
    weights, q = half * WEIGHTS, square(z)
    volume = np.pi * float(np.sum(weights * q))
    height = np.pi * float(np.sum(weights * q * z)) / volume
    polar = 0.5 * np.pi * float(np.sum(weights * q * q))
    across = 0.5 * polar + np.pi * float(np.sum(weights * q * (z - height) ** 2))
    return volume, np.array([0.0, 0.0, height]), np.diag([across, across, polar])


__all__ = ["mass_of_revolution", "rounded", "straight", "turned"]
