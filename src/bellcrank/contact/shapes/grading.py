"""How long edges of triangles may be: short along the edges of a shape, long on its flat sides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.shapes.base import SAGITTA
from bellcrank.contact.shapes.fields import Field, depths, onto
from bellcrank.contact.triangles import Triangles, refined

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

GROWTH = 1.5
"""Length of an edge per distance from the crease; bisection alone lets neighbours differ by two in length."""
FLATNESS = 1e-9
"""Distance of the middle of an edge from the surface, over the size, from which on the surface is curved there."""
COARSE = 8.0
"""Length of the edges at the start over that along creases: a power of two, which bisection reaches."""


def graded(beside: Callable[[Floats], Floats], fine: float) -> Callable[[Floats, Floats], Bools]:
    """Which edges are too long: longer than `fine` [m] at a crease, and than a length that grows away from it.

    beside: Distance of points from the nearest crease [m].
    """

    def too_long(a: Floats, b: Floats) -> Bools:
        lengths = np.linalg.norm(b - a, axis=1)
        nearest = np.minimum(np.minimum(beside(a), beside(b)), beside(0.5 * (a + b)))
        return np.asarray(lengths > 1.0001 * np.maximum(fine, GROWTH * nearest + 0.5 * fine))

    return too_long


def curved(a: Floats, b: Floats, away: Floats, size: float, spacing: float | None) -> Bools:
    """Which edges are too long for the curvature; away: Distance of their middles from the surface [m]."""
    if spacing is None:
        return np.asarray(away > size / SAGITTA)
    return np.asarray((np.linalg.norm(b - a, axis=1) > 1.0001 * spacing) & (away > FLATNESS * size))


def following(
    start: Triangles,
    field: Field,
    size: float,
    spacing: float | None,
) -> Triangles:
    """The smooth surface of a field from a coarse start near it.

    size: The smallest of the shape [m]; without a spacing [m] triangles leave the surface by at most 1/1600 of it.
    """

    def too_long(a: Floats, b: Floats) -> Bools:
        away = np.abs(depths(field, 0.5 * (a + b))[0])
        return curved(a, b, away, size, spacing)

    placed = Triangles(onto(field, start.vertices), start.faces)
    return refined(placed, too_long, lambda a, b: onto(field, 0.5 * (a + b)))


def crates(half: Floats, longest: float) -> Triangles:
    """A box with half edges (3,) [m] in right triangles, whose legs are at most `longest` [m]."""
    counts = np.ceil(2.0 * half / longest - 1e-9).astype(int)
    places: dict[tuple[int, ...], int] = {}
    faces = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for end, order in ((0, (0, 3, 2, 1)), (int(counts[axis]), (0, 1, 2, 3))):
            for i in range(counts[u]):
                for j in range(counts[v]):
                    corners = []
                    for di, dj in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        key = [0, 0, 0]
                        key[axis], key[u], key[v] = end, i + di, j + dj
                        corners.append(places.setdefault(tuple(key), len(places)))
                    a, b, c, d = (corners[k] for k in order)
                    faces += [(a, b, c), (a, c, d)]
    lattice = np.array(list(places))
    return Triangles(half * (2.0 * lattice / counts - 1.0), np.array(faces))


__all__ = ["COARSE", "crates", "curved", "following", "graded"]
