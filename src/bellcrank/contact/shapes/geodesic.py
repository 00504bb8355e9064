"""The unit sphere in triangles of nearly equal size: a divided icosahedron."""

from __future__ import annotations

import math

import numpy as np

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
    steps = np.array([(i, j) for i in range(n + 1) for j in range(n + 1 - i)])
    i, j = steps.T
    place = np.zeros((n + 2, n + 2), np.int64)
    place[i, j] = np.arange(len(steps))
    up = np.stack([place[i, j], place[i + 1, j], place[i, j + 1]], axis=1)[i + j < n]
    i, j = steps[i + j < n - 1].T
    down = np.stack([place[i + 1, j], place[i + 1, j + 1], place[i, j + 1]], axis=1)
    shares = np.stack([n - steps.sum(axis=1), *steps.T], axis=1)
    # What neighbours share is known by its corners and their shares: a digit for each corner that has one.
    digits = np.where(shares > 0, (1 + start.faces[:, None]) * (n + 1) + shares, 0)
    digits.sort(axis=2)
    base = (1 + len(start.vertices)) * (n + 1)
    keys = (digits[..., 0] * base + digits[..., 1]) * base + digits[..., 2]
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    number = np.empty_like(first)
    number[np.argsort(first)] = np.arange(len(first))
    faces = number[which].reshape(keys.shape)[:, np.concatenate([up, down])].reshape(-1, 3)
    face, step = np.divmod(np.sort(first), len(steps))
    found = (shares[step][:, :, None] * start.vertices[start.faces[face]]).sum(axis=1)
    return Triangles(found / np.linalg.norm(found, axis=1)[:, None], faces)


__all__ = ["geodesic"]
