"""Surfaces of data as triangles to draw: as they are, dents and holes included, never their convex hull.

A mesh that is kept is drawn with its own triangles. Samples are joined in their tangent planes: three neighbours may
make a triangle where no other sample lies in their circle (Delaunay). Those that most of the three agree on come first,
then the smaller ones; no edge takes a second triangle on the same side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.bezier import BezierGrid
from bellcrank.contact.covering import tensor
from bellcrank.contact.parametric import Parametric
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.source import Source
from bellcrank.math.normals import across

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST = 3000
"""Samples drawn at most; the others are left out evenly."""
SHARE = 5
"""Points drawn along each side of a patch."""
AROUND = 14
"""Neighbours that a sample looks at."""
BACK = -0.3
"""Cosine between normals below which a sample belongs to another side of the body."""
UNEQUAL = 1e-4
"""Share of their distance by which samples are moved, so that no four lie on one circle."""
OPEN = 0.02
"""Share of edges with one triangle only, above which a surface is open."""


def triangles(surface: Source) -> tuple[Array, Ints]:
    """Corners (n, 3) and triangles (m, 3), counter-clockwise seen from outside."""
    if isinstance(surface, Parametric):
        along = np.linspace(0.0, 1.0, SHARE)
        corners = tensor(surface.nets, along, along)[0].reshape(-1, 3)
        faces = _rows(SHARE, SHARE, len(surface.nets), False)
        sign = surface.sign
    elif isinstance(surface, BezierGrid):
        rows, columns = surface.grid.shape[:2]
        corners, faces, sign = surface.points, _rows(rows, columns, 1, surface.around), surface.sign
    elif isinstance(surface, Sampled) and surface.cut is not None and len(surface.cut.faces) <= 2 * MOST:
        return surface.cut.points, surface.cut.faces
    else:
        kept = _thinned(surface.points)
        corners, normals = surface.points[kept], surface.normals[kept]
        return corners, _joined(corners, normals)
    return corners, faces if sign > 0.0 else faces[:, ::-1]


def is_open(faces: Ints) -> bool:
    """Whether a surface has a rim, so that its inside is seen too."""
    edges = np.sort(np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]]), axis=1)
    _, count = np.unique(edges, axis=0, return_counts=True)
    return bool(np.count_nonzero(count == 1) > OPEN * len(count))


def _rows(rows: int, columns: int, patches: int, around: bool) -> Ints:
    """Triangles of grids, rows x columns each, one behind the other."""
    number = np.arange(rows * columns).reshape(rows, columns)
    if around:
        number = np.concatenate([number, number[:, :1]], axis=1)
    a, b, c, d = (x.ravel() for x in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    one = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return np.concatenate([one + k * rows * columns for k in range(patches)])


def _thinned(points: Array) -> Ints:
    """Samples spread evenly, at most MOST: the first in each cell of a grid."""
    if len(points) <= MOST:
        return np.arange(len(points))
    low, size = points.min(axis=0), float(np.ptp(points, axis=0).max())
    cell = size / np.sqrt(MOST)
    while True:
        cells = np.floor((points - low) / cell).astype(np.int64)
        _, kept = np.unique(cells, axis=0, return_index=True)
        if len(kept) <= MOST:
            return np.sort(kept)
        cell *= 1.1 * np.sqrt(len(kept) / MOST)


def _joined(points: Array, normals: Array) -> Ints:
    """Triangles of neighbouring samples."""
    from scipy.spatial import cKDTree

    count = min(AROUND, len(points) - 1)
    found_far, found_near = cKDTree(points).query(points, count + 1)
    far, near = np.asarray(found_far)[:, 1:], np.asarray(found_near)[:, 1:]
    # The golden angle: no two samples are moved alike, and always the same way.
    turn = 2.399963229728653 * np.arange(len(points))
    moved = points + UNEQUAL * far[:, :1] * np.stack([np.cos(turn), np.sin(turn), np.cos(2.0 * turn)], axis=1)
    first, second = across(normals)
    way = moved[near] - moved[:, None]
    flat = np.stack([np.einsum("ikj,ij->ik", way, e) for e in (first, second)], axis=2)
    known = np.einsum("ikj,ij->ik", normals[near], normals) > BACK
    square = np.einsum("ikj,ikj->ik", flat, flat)
    found = []
    for j in range(count):
        for k in range(j + 1, count):
            # The circle through the sample, j and k: its centre solves c . p = |p|^2 / 2 for both.
            twice = 2.0 * (flat[:, j, 0] * flat[:, k, 1] - flat[:, j, 1] * flat[:, k, 0])
            with np.errstate(divide="ignore", invalid="ignore"):
                x = (square[:, j] * flat[:, k, 1] - square[:, k] * flat[:, j, 1]) / twice
                y = (square[:, k] * flat[:, j, 0] - square[:, j] * flat[:, k, 0]) / twice
                inside = square - 2.0 * (x[:, None] * flat[:, :, 0] + y[:, None] * flat[:, :, 1]) < 0.0
            inside[:, [j, k]] = False
            # Circles that reach beyond the neighbours looked at tell nothing.
            whole = 2.0 * np.hypot(x, y) < far[:, -1]
            good = known[:, j] & known[:, k] & whole & ~(inside & known).any(axis=1)
            at = np.flatnonzero(good)
            found.append(np.sort(np.stack([at, near[at, j], near[at, k]], axis=1), axis=1))
    faces, agree = np.unique(np.concatenate(found), axis=0, return_counts=True)
    faces, size = _outwards(points, faces, normals)
    return _once(faces[np.lexsort((size, -agree))])


def _outwards(points: Array, faces: Ints, normals: Array) -> tuple[Ints, Array]:
    """The same triangles, all counter-clockwise seen from outside, and the squares of their longest edges."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    turned = np.einsum("ij,ij->i", np.cross(b - a, c - a), normals[faces].sum(axis=1)) < 0.0
    longest = np.max([np.sum((p - q) ** 2, axis=1) for p, q in ((a, b), (b, c), (c, a))], axis=0)
    return np.where(turned[:, None], faces[:, ::-1], faces), longest


def _once(faces: Ints) -> Ints:
    """Triangles one after the other, but those that lie over one that was taken."""
    taken: set[tuple[int, int]] = set()
    kept = []
    for a, b, c in faces.tolist():
        edges = ((a, b), (b, c), (c, a))
        if taken.isdisjoint(edges):
            taken.update(edges)
            kept.append((a, b, c))
    return np.array(kept, dtype=np.int64).reshape(-1, 3)


__all__ = ["is_open", "triangles"]
