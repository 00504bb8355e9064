"""Quadrics through samples, fitted to their neighbours in compiled code.

Over the tangent plane through a sample the heights of its neighbours are fitted by a cubic, by weighted least squares;
its slope corrects the normal, and the fit is made again over the corrected plane. Its second derivatives are H, in
error by the square of the distance of the samples.

Source: Cazals and Pouget (2005).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.math.vectors import Matrix, Vector, across
from bellcrank.program.loops import Ints2, Reals, Reals2, compiled, entry, reals

ROUNDS = 2
"""Fits: the first turns the plane to the surface, the second is over a plane that is off by second order alone."""
TERMS = 9
"""u, v, uu/2, uv, vv/2, uuu, uuv, uvv, vvv."""
SOFT = 0.05
"""Of the weights 1 / (SOFT + r^2), r over the distance of the farthest neighbour."""
DISTINCT = 1e-3
"""Of a term's own square, what lower terms must leave of it. A term that stands out less from those before it, as uuu
from u where neighbours lie in three rows, is not determined and stays at zero: solved for, it would be noise."""
LARGE = 1e150
"""Pivot of a term that is not determined: what is divided by it is nothing, and its square is finite."""
AROUND = 0.3
"""Cosine between normals below which a neighbour lies around an edge, or on the other side of a thin body, and says
nothing of this one: flat sides are fitted as flat up to their edges."""


@compiled
def row_of(rows: Reals2, k: int) -> Vector:
    """Three numbers of a row."""
    return Vector(rows[k, 0], rows[k, 1], rows[k, 2])


@compiled
def frame_of(n: Vector) -> Matrix:
    """Two tangents and the normal."""
    e = across(n)
    return Matrix(e, n.cross(e), n)


@compiled
def cholesky_solved(m: Reals, right: Reals) -> int:
    """Solve the normal equations; the coefficients take the place of the right side."""
    for a in range(TERMS):
        for b in range(a + 1):
            entry_ab = m[a * TERMS + b]
            least = DISTINCT * entry_ab
            for k in range(b):
                entry_ab -= m[a * TERMS + k] * m[b * TERMS + k]
            if a == b:
                m[a * TERMS + a] = entry_ab**0.5 if entry_ab > least else LARGE
            else:
                m[a * TERMS + b] = entry_ab / m[b * TERMS + b]
    for a in range(TERMS):
        for k in range(a):
            right[a] -= m[a * TERMS + k] * right[k]
        right[a] = right[a] / m[a * TERMS + a]
    for back in range(TERMS):
        a = TERMS - 1 - back
        for k in range(a + 1, TERMS):
            right[a] -= m[k * TERMS + a] * right[k]
        right[a] = right[a] / m[a * TERMS + a]
    return 0


@entry
def _fit(points: Reals2, given: Reals2, normals: Reals2, bent: Reals2, near: Ints2, begin: int) -> int:
    equations = reals(TERMS * TERMS)
    right = reals(TERMS)
    term = reals(TERMS)
    for row in range(len(near)):
        own = begin + row
        p = row_of(points, own)
        n = row_of(given, own)
        size = 0.0
        for k in range(near.shape[1]):
            size = max(size, (row_of(points, near[row, k]) - p).square)
        size = size**0.5
        for _ in range(ROUNDS):
            frame = frame_of(row_of(normals, own))
            for a in range(TERMS * TERMS):
                equations[a] = 0.0
            for a in range(TERMS):
                right[a] = 0.0
            for k in range(near.shape[1]):
                j = near[row, k]
                if n.dot(row_of(given, j)) >= AROUND:
                    d = frame @ ((row_of(points, j) - p) / size)
                    u = d.x
                    v = d.y
                    weight = 1.0 / (SOFT + u * u + v * v)
                    term[0] = weight * u
                    term[1] = weight * v
                    term[2] = weight * 0.5 * u * u
                    term[3] = weight * u * v
                    term[4] = weight * 0.5 * v * v
                    term[5] = weight * u * u * u
                    term[6] = weight * u * u * v
                    term[7] = weight * u * v * v
                    term[8] = weight * v * v * v
                    for a in range(TERMS):
                        for b in range(a + 1):
                            equations[a * TERMS + b] += term[a] * term[b]
                        right[a] += term[a] * weight * d.z
            cholesky_solved(equations, right)
            steep = 1.0 / (1.0 + right[0] * right[0] + right[1] * right[1]) ** 0.5
            e = frame.a
            f = frame.b
            normal = (frame.c - e * right[0] - f * right[1]) * steep
            normals[own, 0], normals[own, 1], normals[own, 2] = normal
            # H = E K E'
            along = e * right[2] + f * right[3]
            other = e * right[3] + f * right[4]
            H = (along.outer(e) + other.outer(f)) * (steep / size)
            bent[own, 0], bent[own, 1], bent[own, 2] = H.a
            bent[own, 3], bent[own, 4], bent[own, 5] = H.b
            bent[own, 6], bent[own, 7], bent[own, 8] = H.c
    return 0


def fitted(
    points: NDArray[np.float64],
    given: NDArray[np.float64],
    normals: NDArray[np.float64],
    bent: NDArray[np.float64],
    near: NDArray[np.int64],
    begin: int,
) -> None:
    """Fit the samples from `begin` on: their normals are corrected, their H written into bent (number, 9).

    given: Normals of all samples as they were given. near: Their neighbours (rows, neighbours).
    """
    _fit(points, given, normals, bent, near, begin)


__all__ = ["fitted"]
