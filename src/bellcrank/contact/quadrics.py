"""Quadrics through samples, fitted to their neighbours in compiled code.

Over the tangent plane through a sample the heights of its neighbours are fitted by a cubic, by weighted least squares;
its slope corrects the normal, and the fit is made again over the corrected plane. Its second derivatives are H, in
error by the square of the distance of the samples.

Source: Cazals and Pouget (2005).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.units import Unit, matrix, part, vector

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDS = 2
TERMS = 9
"""u, v, uu/2, uv, vv/2, uuu, uuv, uvv, vvv."""
SOFT = 0.05
"""Of the weights 1 / (SOFT + r^2), r over the distance of the farthest neighbour."""
TOLD = 1e-3
"""Of a term's own square, what lower terms must leave of it. A term that stands out less from those before it, as uuu
from u where neighbours lie in three rows, is not told by them and stays at zero: solved for, it would be noise."""
LARGE = 1e150
AROUND = 0.3
"""Cosine between normals below which a neighbour lies around an edge, or on the other side of a thin body, and tells
nothing of this one: flat sides are fitted as flat up to their edges."""
# header
ROWS = 0
NEIGHBOURS = 1
NUMBER = 2
BEGIN = 3
# pad: normal equations by rows with their right side, terms of a neighbour, two tangents, normal
RIGHT = TERMS * TERMS
TERM = RIGHT + TERMS
FRAME = TERM + TERMS
PAD = FRAME + 9


@part
def summed(
    points: Floats, given: Floats, near: Ints, row: int, own: int, neighbours: int, pad: Floats
) -> float:
    """The normal equations of the fit over the frame in the pad; the distance all lengths are measured by."""
    size = 0.0
    for k in range(neighbours):
        j = near[row * neighbours + k]
        x = points[j, 0] - points[own, 0]
        y = points[j, 1] - points[own, 1]
        z = points[j, 2] - points[own, 2]
        size = max(size, x * x + y * y + z * z)
    size = math.sqrt(size)
    for a in range(TERM):
        pad[a] = 0.0
    for k in range(neighbours):
        j = near[row * neighbours + k]
        x = (points[j, 0] - points[own, 0]) / size
        y = (points[j, 1] - points[own, 1]) / size
        z = (points[j, 2] - points[own, 2]) / size
        u = x * pad[FRAME] + y * pad[FRAME + 1] + z * pad[FRAME + 2]
        if given[own, 0] * given[j, 0] + given[own, 1] * given[j, 1] + given[own, 2] * given[j, 2] < AROUND:
            continue
        v = x * pad[FRAME + 3] + y * pad[FRAME + 4] + z * pad[FRAME + 5]
        up = x * pad[FRAME + 6] + y * pad[FRAME + 7] + z * pad[FRAME + 8]
        weight = 1.0 / (SOFT + u * u + v * v)
        pad[TERM] = weight * u
        pad[TERM + 1] = weight * v
        pad[TERM + 2] = weight * 0.5 * u * u
        pad[TERM + 3] = weight * u * v
        pad[TERM + 4] = weight * 0.5 * v * v
        pad[TERM + 5] = weight * u * u * u
        pad[TERM + 6] = weight * u * u * v
        pad[TERM + 7] = weight * u * v * v
        pad[TERM + 8] = weight * v * v * v
        for a in range(TERMS):
            for b in range(a + 1):
                pad[a * TERMS + b] += pad[TERM + a] * pad[TERM + b]
            pad[RIGHT + a] += pad[TERM + a] * weight * up
    return size


@part
def solved(pad: Floats) -> None:
    """Solve the normal equations (Cholesky); the coefficients take the place of the right side."""
    for a in range(TERMS):
        for b in range(a + 1):
            value = pad[a * TERMS + b]
            told = TOLD * value
            for k in range(b):
                value -= pad[a * TERMS + k] * pad[b * TERMS + k]
            if a == b:
                pad[a * TERMS + a] = math.sqrt(value) if value > told else LARGE
            else:
                pad[a * TERMS + b] = value / pad[b * TERMS + b]
    for a in range(TERMS):
        value = pad[RIGHT + a]
        for k in range(a):
            value -= pad[a * TERMS + k] * pad[RIGHT + k]
        pad[RIGHT + a] = value / pad[a * TERMS + a]
    for back in range(TERMS):
        a = TERMS - 1 - back
        value = pad[RIGHT + a]
        for k in range(a + 1, TERMS):
            value -= pad[k * TERMS + a] * pad[RIGHT + k]
        pad[RIGHT + a] = value / pad[a * TERMS + a]


@part
def framed(pad: Floats) -> None:
    """Two tangents across the normal in the pad."""
    nx = pad[FRAME + 6]
    ny = pad[FRAME + 7]
    nz = pad[FRAME + 8]
    # e1 = n x y or n x x, e2 = n x e1
    x = 0.0
    y = nz
    z = -ny
    if abs(nx) > 0.8:
        x = -nz
        y = 0.0
        z = nx
    size = math.sqrt(x * x + y * y + z * z)
    x /= size
    y /= size
    z /= size
    pad[FRAME] = x
    pad[FRAME + 1] = y
    pad[FRAME + 2] = z
    pad[FRAME + 3] = ny * z - nz * y
    pad[FRAME + 4] = nz * x - nx * z
    pad[FRAME + 5] = nx * y - ny * x


@Unit
def fit(
    header_at: Any,
    near_at: Any,
    points_at: Any,
    normals_at: Any,
    bent_at: Any,
    pad_at: Any,
    given_at: Any,
    unused_1: Any,
    unused_2: Any,
    unused_3: Any,
    unused_4: Any,
) -> int:
    """Correct the normals of some samples in a row, and find their H."""
    header = vector(header_at, 4)
    rows, neighbours, begin = header[ROWS], header[NEIGHBOURS], header[BEGIN]
    near = vector(near_at, rows * neighbours)
    points = matrix(points_at, 0, header[NUMBER], 3)
    normals = matrix(normals_at, 0, header[NUMBER], 3)
    bent = matrix(bent_at, 0, header[NUMBER], 9)
    pad = vector(pad_at, PAD)
    given = matrix(given_at, 0, header[NUMBER], 3)
    for row in range(rows):
        own = begin + row
        for _ in range(ROUNDS):
            for k in range(3):
                pad[FRAME + 6 + k] = normals[own, k]
            framed(pad)
            size = summed(points, given, near, row, own, neighbours, pad)
            solved(pad)
            a = pad[RIGHT]
            b = pad[RIGHT + 1]
            steep = 1.0 / math.sqrt(1.0 + a * a + b * b)
            share = steep / size
            for k in range(3):
                e = pad[FRAME + k]
                f = pad[FRAME + 3 + k]
                normals[own, k] = steep * (pad[FRAME + 6 + k] - a * e - b * f)
                # H = E K E'
                along = pad[RIGHT + 2] * e + pad[RIGHT + 3] * f
                other = pad[RIGHT + 3] * e + pad[RIGHT + 4] * f
                for m in range(3):
                    bent[own, 3 * k + m] = share * (along * pad[FRAME + m] + other * pad[FRAME + 3 + m])
    return 0


def fitted(points: Floats, given: Floats, normals: Floats, bent: Floats, near: Ints, begin: int) -> None:
    """Fit the samples from `begin` on: their normals are corrected, their H written into bent (number, 9).

    given: Normals of all samples as they were given. near: Their neighbours (rows, neighbours).
    """
    header = np.array([len(near), near.shape[1], len(points), begin])
    fit(header, near, points, normals, bent, np.zeros(PAD), given, *4 * (np.zeros(1),))


__all__ = ["fitted"]
