"""The triangles over which a mesh is integrated in contact: its own, graded towards its creases."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.mesh_depth import Surface, areas_and_normals, clustered, edges
from bellcrank.contact.triangles import Triangles, joined, refined

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Bools = NDArray[np.bool_]

SHARP = np.cos(np.radians(35.0))
"""Normals of neighbours further apart make a crease: a round of ten flats, at 36 degrees each, is meant to be sharp."""
MOST = 12_000
"""Triangles at most, about: what is finer is thinned, and creases are cut less finely."""
SPREAD = 3000
"""Triangles over which a load spreads well: a cube in pieces of an eighth has 768 of one size, a mesh has several."""
GROWTH = 1.5
"""Length of an edge per distance from the crease; bisection alone lets neighbours differ by two in length."""


def contact_surface(
    surface: Surface, thickness: float, spacing: float, size: float, enough: int | None = None
) -> Triangles:
    """The graded surface [m]. thickness: Of sheets. spacing: Longest edge along creases. size: Of the mesh.

    enough: Triangles from which on creases are not cut.
    """
    parts = []
    if len(surface.solids):
        parts.append(surface.outer)
    if len(surface.sheets):
        parts.append(coated(surface.vertices, surface.sheets, 0.5 * thickness))
    whole = joined([_thinned(*part, size, MOST // len(parts)) for part in parts])
    if enough is not None and len(whole.faces) >= enough:
        return whole
    marks = _marks(joined([Triangles(*part) for part in parts]), spacing)
    if marks is None:
        return whole
    from scipy.spatial import cKDTree

    tree = cKDTree(marks)
    most = max(MOST, 2 * len(whole.faces))
    for _ in range(8):
        made = refined(whole, _graded(tree, spacing), most=most)
        if len(made.faces) <= most:
            return made
        spacing *= 1.5
    return whole


def coated(v: Array, f: Indices, half: float) -> tuple[Array, Indices]:
    """Both sides of a sheet at half its thickness, and its rim, which bulges by as much."""
    area, normal = areas_and_normals(v, f)
    used, local = np.unique(f, return_inverse=True)
    g = local.reshape(f.shape)
    count = len(used)
    n = _unit_sums(g.reshape(-1), np.repeat(area[:, None] * normal, 3, axis=0), count)
    key, _ = edges(g)
    _, which, times = np.unique(key, return_inverse=True, return_counts=True)
    open_ = times[which] == 1
    start, end = g.reshape(-1)[open_], np.roll(g, -1, axis=1).reshape(-1)[open_]
    across = np.cross(v[used][end] - v[used][start], np.repeat(normal, 3, axis=0)[open_])
    outwards = _unit_sums(np.concatenate([start, end]), np.concatenate([across, across]), count)
    border, rows = np.union1d(start, end), np.full(count, -1)
    rows[border] = 2 * count + np.arange(len(border))
    a, b, p, q = start, end, rows[start], rows[end]
    rim = [(b, a, p), (b, p, q), (q, p, a + count), (q, a + count, b + count)]
    points = [v[used] + half * n, v[used] - half * n, v[used][border] + half * outwards[border]]
    sides = [g, g[:, ::-1] + count, *(np.stack(t, axis=1) for t in rim)]
    return np.concatenate(points), np.concatenate(sides)


def _unit_sums(which: Indices, vectors: Array, count: int) -> Array:
    """Directions of the sums of vectors that belong together."""
    total = np.stack([np.bincount(which, vectors[:, k], count) for k in range(3)], axis=1)
    return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1), 1e-300)[:, None])


def _thinned(v: Array, f: Indices, size: float, most: int) -> Triangles:
    """At most about that many triangles, by clustering vertices in ever larger cubes."""
    # Two triangles for each square of that side, if the surface were flat.
    pitch = max(size / 1024.0, 0.8 * float(2.0 * areas_and_normals(v, f)[0].sum() / most) ** 0.5)
    points, faces = v, f
    while len(faces) > most:
        points, faces = clustered(v, f, pitch)
        pitch *= max(1.05, 0.95 * (len(faces) / most) ** 0.5)
    used, places = np.unique(faces, return_inverse=True)
    return Triangles(points[used], places.reshape(-1, 3))


def _marks(whole: Triangles, spacing: float) -> Array | None:
    """Points along convex and open edges, closer together than half the spacing."""
    f, v = whole.faces, whole.vertices
    key, _ = edges(f)
    order = np.argsort(key, kind="stable")
    _, first, count = np.unique(key[order], return_index=True, return_counts=True)
    sharp = count != 2
    pairs = first[count == 2]
    a, b = order[pairs] // 3, order[pairs + 1] // 3
    n, middle = whole.normals, whole.corners.mean(axis=1)
    convex = np.einsum("ij,ij->i", n[a], middle[b] - middle[a]) < 0.0
    sharp[count == 2] = (np.einsum("ij,ij->i", n[a], n[b]) < SHARP) & convex
    chosen = key[order[first[sharp]]]
    if len(chosen) == 0:
        return None
    start, end = v[chosen >> 32], v[chosen & 0xFFFFFFFF]
    # An edge without length, as a sheet folded onto itself has at its rim, still has two ends.
    parts = np.maximum(np.ceil(np.linalg.norm(end - start, axis=1) / (0.5 * spacing)), 1.0)
    steps = parts.astype(np.int64) + 1
    # Of a crease in very many pieces every so manieth is enough.
    stride = max(1, int(steps.sum()) // 200_000)
    start, end, steps = start[::stride], end[::stride], steps[::stride]
    which = np.repeat(np.arange(len(steps)), steps)
    place = np.arange(len(which)) - np.repeat(np.cumsum(steps) - steps, steps)
    share = (place / (steps[which] - 1))[:, None]
    return np.asarray(start[which] * (1.0 - share) + end[which] * share)


def _graded(tree: cKDTree, fine: float) -> Callable[[Array, Array], Bools]:
    """Which edges are too long: longer than `fine` at a crease, and than a length that grows away from it.

    The distance of an edge from the creases is that of its middle or of the nearer end. The ends are at most half the
    length nearer than the middle, so few of them need a search.
    """

    def too_long(a: Array, b: Array) -> Bools:
        length = np.linalg.norm(b - a, axis=1)
        found = np.zeros(len(a), bool)
        long = np.flatnonzero(length > 1.0001 * fine)
        if len(long) == 0:
            return found
        limit, half = (length[long] - 0.5 * fine) / GROWTH, 0.5 * length[long]
        farthest = float((limit + half).max())
        middle = tree.query(0.5 * (a[long] + b[long]), distance_upper_bound=farthest)[0]
        near = middle < limit
        open_ = np.flatnonzero(~near & (middle - half < limit))
        for end in (a, b):
            distance = tree.query(end[long[open_]], distance_upper_bound=float(limit.max()))[0]
            near[open_] |= distance < limit[open_]
        found[long] = near
        return found

    return too_long
