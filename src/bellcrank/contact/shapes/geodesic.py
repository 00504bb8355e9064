"""The unit sphere in triangles of nearly equal size: a divided icosahedron."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.triangles import Triangles

EDGE = 4.0 / math.sqrt(10.0 + 2.0 * math.sqrt(5.0))
"""Of the icosahedron in the unit sphere."""
STRETCH = 1.18
"""The longest edge of a finely divided face on the sphere, over the edge of the icosahedron over the divisions."""


def _icosahedron() -> Triangles:
    golden = 0.5 * (1.0 + math.sqrt(5.0))
    corners = np.array([(0.0, s, t * golden) for s in (-1.0, 1.0) for t in (-1.0, 1.0)])
    vertices = np.concatenate([np.roll(corners, k, axis=1) for k in range(3)]) / math.hypot(1.0, golden)
    close = np.linalg.norm(vertices[:, None] - vertices, axis=2) < 1.01 * EDGE
    found = []
    for i in range(12):
        for j in range(i + 1, 12):
            for k in range(j + 1, 12):
                if close[i, j] and close[j, k] and close[i, k]:
                    outward = np.linalg.det(vertices[[i, j, k]]) > 0.0
                    found.append((i, j, k) if outward else (i, k, j))
    return Triangles(vertices, np.array(found))


def geodesic(spacing: float) -> Triangles:
    """The unit sphere with edges of at most `spacing`."""
    start = _icosahedron()
    n = max(1, math.ceil(STRETCH * EDGE / spacing)) if spacing < EDGE else 1
    steps = [(i, j) for i in range(n + 1) for j in range(n + 1 - i)]
    up = [((i, j), (i + 1, j), (i, j + 1)) for i, j in steps if i + j < n]
    down = [((i + 1, j), (i + 1, j + 1), (i, j + 1)) for i, j in steps if i + j < n - 1]
    places: dict[frozenset[tuple[int, int]], int] = {}
    points: list[NDArray[np.float64]] = []
    faces: list[list[int]] = []
    for corners in start.faces:
        own = {}
        for i, j in steps:
            shares = zip(corners, (n - i - j, i, j), strict=True)
            # What neighbours share is known by its corners and their shares.
            key = frozenset((int(corner), share) for corner, share in shares if share)
            if key not in places:
                places[key] = len(points)
                points.append(np.sum([share * start.vertices[corner] for corner, share in key], axis=0))
            own[i, j] = places[key]
        faces += [[own[step] for step in face] for face in up + down]
    found = np.array(points)
    return Triangles(found / np.linalg.norm(found, axis=1)[:, None], np.array(faces))


__all__ = ["geodesic"]
