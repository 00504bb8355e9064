"""How long edges of triangles may be: short along the edges of a shape, long on its flat sides."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.triangles import Triangles

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

GROWTH = 1.5
"""Length of an edge per distance from the crease; bisection alone lets neighbours differ by two in length."""
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


__all__ = ["COARSE", "crates", "graded"]
