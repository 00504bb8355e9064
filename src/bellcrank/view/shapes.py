"""Simple solids for drawing: corners and faces, most of them convex."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.math.normals import across

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex body, a piece of ground, or a shell of any shape.

    corners: (n, 3) [m]. faces: numbers of corners around each face; those of a shell are counter-clockwise seen from
    outside. colours: one a face, in turn. edges: pairs of corners to be drawn as lines. shell: "closed", or "open"
    where its inside is seen too; "" where faces are turned away from the middle.
    """

    corners: Array
    faces: tuple[tuple[int, ...], ...]
    colours: tuple[str, ...]
    opacity: float = 1.0
    ground: bool = False
    edges: tuple[tuple[int, int], ...] = ()
    shell: str = ""


_BOX = ((0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5))


def box(center: ArrayLike, axes: ArrayLike, sizes: ArrayLike, colour: str, opacity: float = 1.0) -> Solid:
    """A box; `axes` has its directions as columns."""
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=float)
    corners = np.asarray(center) + 0.5 * (signs * np.asarray(sizes)) @ np.asarray(axes).T
    return Solid(corners, _BOX, (colour,), opacity)


def bar(a: Array, b: Array, width: float, colour: str) -> list[Solid]:
    """A bar between two points, in pieces short enough to be sorted by depth."""
    length = float(np.linalg.norm(b - a))
    x, y = across(b - a)
    pieces = int(np.clip(np.ceil(length / (6 * width)), 1, 8))
    axes = np.column_stack([x, y, (b - a) / length])
    ends = [a + (b - a) * (k / pieces) for k in range(pieces + 1)]
    # Faces between pieces would only be seen through seams, so they are left out.
    inner = [_BOX[0], _BOX[1], _BOX[2], _BOX[3]]
    solids = []
    for k, (p, q) in enumerate(pairwise(ends)):
        whole = box((p + q) / 2, axes, (width, width, 1.02 * length / pieces), colour)
        faces = [*inner, *([_BOX[4]] if k == 0 else []), *([_BOX[5]] if k == pieces - 1 else [])]
        solids.append(Solid(whole.corners, tuple(faces), (colour,)))
    return solids


def cylinder(center: Array, axis: Array, radius: float, length: float, colour: str, sides: int = 12) -> Solid:
    """A cylinder."""
    x, y = across(axis)
    z = axis / np.linalg.norm(axis)
    turn = 2 * np.pi * np.arange(sides) / sides
    ring = radius * (np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * y)
    half = 0.5 * length * z
    corners = np.vstack([center + ring - half, center + ring + half])
    mantle = [(k, (k + 1) % sides, sides + (k + 1) % sides, sides + k) for k in range(sides)]
    ends = [tuple(range(sides)), tuple(range(sides, 2 * sides))]
    return Solid(corners, (*mantle, *ends), (colour,) * (sides + 2))


def wheel(center: Array, axis: Array, radius: float, width: float, colours: Sequence[str]) -> Solid:
    """A tyre on a rim with spokes, so that its turning shows; colours of tyre, spokes and gaps."""
    sides = 30
    tyre = cylinder(center, axis, radius, width, colours[0], sides)
    rim = cylinder(center, axis, 0.62 * radius, 0.9 * width, colours[1], sides)
    half = 0.45 * width * axis / np.linalg.norm(axis)
    corners = np.vstack([tyre.corners, rim.corners, center - half, center + half])
    faces, used = list(tyre.faces[:sides]), [colours[0]] * sides
    for outer, hub in ((0, 4 * sides), (sides, 4 * sides + 1)):
        inner = 2 * sides + outer
        for k in range(sides):
            after = (k + 1) % sides
            faces += [(outer + k, outer + after, inner + after, inner + k), (hub, inner + k, inner + after)]
            used += [colours[0], colours[1 if k % 6 < 2 else 2]]
    return Solid(corners, tuple(faces), tuple(used))


def _icosahedron() -> tuple[Array, tuple[tuple[int, ...], ...]]:
    golden = (1 + np.sqrt(5)) / 2
    raw = np.array([(0, s, t * golden) for s in (-1, 1) for t in (-1, 1)], dtype=float)
    points = np.vstack([raw, raw[:, [2, 0, 1]], raw[:, [1, 2, 0]]])
    near = np.linalg.norm(points[:, None] - points[None], axis=2) < 2.1
    faces = [f for f in combinations(range(12), 3) if all(near[i, j] for i, j in combinations(f, 2))]
    return points / np.linalg.norm(points[0]), tuple(faces)


def ball(center: Array, radius: float, colour: str, fine: bool = False) -> Solid:
    """An icosahedron, round enough at the size of a joint; `fine` cuts each face in four."""
    corners, faces = _icosahedron()
    if fine:
        middles = {
            edge: k
            for k, edge in enumerate(sorted({e for f in faces for e in combinations(f, 2)}), len(corners))
        }
        between = np.array([corners[i] + corners[j] for i, j in middles])
        corners = np.vstack([corners, between / np.linalg.norm(between, axis=1, keepdims=True)])
        cut = []
        for i, j, k in faces:
            a, b, c = middles[i, j], middles[j, k], middles[i, k]
            cut += [(i, a, c), (j, a, b), (k, b, c), (a, b, c)]
        faces = tuple(cut)
    return Solid(center + radius * corners, faces, (colour,))


def plate(points: Array, normal: Array, thickness: float, colour: str) -> Solid:
    """The convex hull of coplanar points, made thick."""
    from scipy.spatial import ConvexHull

    x, y = across(normal)
    center = points.mean(axis=0)
    flat = np.column_stack([(points - center) @ x, (points - center) @ y])
    around = ConvexHull(flat).vertices
    n, half = len(around), 0.5 * thickness * normal / np.linalg.norm(normal)
    rim = points[around]
    sides = [(k, (k + 1) % n, n + (k + 1) % n, n + k) for k in range(n)]
    return Solid(
        np.vstack([rim - half, rim + half]), (tuple(range(n)), tuple(range(n, 2 * n)), *sides), (colour,)
    )


def hull(points: Array, colour: str, opacity: float) -> Solid:
    """The convex hull of points in space."""
    from scipy.spatial import ConvexHull

    found = ConvexHull(points)
    faces = tuple(tuple(int(i) for i in face) for face in found.simplices)
    edges = set()
    for face, normal, beside in zip(faces, found.equations, found.neighbors, strict=True):
        for k, other in enumerate(beside):
            if normal[:3] @ found.equations[other][:3] < 0.94:
                a, b = sorted(face[:k] + face[k + 1 :])
                edges.add((a, b))
    return Solid(points, faces, (colour,), opacity, edges=tuple(sorted(edges)))
