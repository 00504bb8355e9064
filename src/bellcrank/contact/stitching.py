"""Cracks of a mesh, closed: vertices that nearly coincide, and vertices that lie on the edge of another triangle.

Programs that write meshes round coordinates, and divide the triangles on one side of an edge only. Both leave rims
within a surface that is meant to be whole. Only vertices and edges on rims are looked at.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from bellcrank.contact.rim_loops import lonely

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEAR = 1e-6
"""Distance over the size of a mesh within which vertices are one, or lie on an edge: coordinates in files are short."""
ROUNDS = 3
"""Edges of a triangle into which vertices may be put, one after the other."""
MOST = 50_000
"""Edges on rims: with more of them a mesh is no surface with a few cracks."""


def welded(points: Floats, f: Ints) -> tuple[Ints, int]:
    """Faces in which vertices on rims that nearly coincide are one, and how many fewer there are."""
    at = np.unique(lonely(f))
    if len(at) == 0:
        return f, 0
    near = NEAR * float(np.ptp(points[f.ravel()], axis=0).max())
    pairs = cKDTree(points[at]).query_pairs(near, output_type="ndarray")
    if len(pairs) == 0:
        return f, 0
    graph = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), (len(at), len(at)))
    part = connected_components(graph, directed=False)[1]
    _, first = np.unique(part, return_index=True)
    place = np.arange(len(points))
    place[at] = at[first[part]]
    return place[f], len(at) - len(first)


def joined(points: Floats, f: Ints) -> tuple[Ints, int]:
    """Faces whose edges on rims go through the vertices of rims that lie on them, and how many such there were."""
    put = 0
    for _ in range(ROUNDS):
        ends = lonely(f)
        if not 0 < len(ends) <= MOST:
            break
        found = _on_edges(points, ends)
        if not found:
            break
        on_rim = np.zeros(len(points), np.bool_)
        on_rim[ends.ravel()] = True
        beside = np.flatnonzero(on_rim[f].sum(axis=1) > 1).tolist()
        corner = {edge: (k, m) for k in beside for m, edge in enumerate(_edges(f[k]))}
        done, more = set[int](), list[list[int]]()
        for (a, b), between in found.items():
            k, m = corner[a, b]
            # Another edge of the same triangle waits for the next round.
            if k not in done:
                done.add(k)
                put += len(between)
                tip, way = int(f[k, (m + 2) % 3]), [a, *between, b]
                more += [[x, y, tip] for x, y in pairwise(way)]
        f = np.concatenate([np.delete(f, sorted(done), axis=0), np.array(more)])
    return f, put


def _edges(t: Ints) -> list[tuple[int, int]]:
    return [(int(t[0]), int(t[1])), (int(t[1]), int(t[2])), (int(t[2]), int(t[0]))]


def _on_edges(points: Floats, ends: Ints) -> dict[tuple[int, int], list[int]]:
    """Of each edge the vertices of rims that lie on it, in order along it."""
    at = np.unique(ends)
    tree = cKDTree(points[at])
    near = NEAR * float(np.ptp(points[at], axis=0).max())
    a, b = points[ends[:, 0]], points[ends[:, 1]]
    way = b - a
    length = np.linalg.norm(way, axis=1)
    found = dict[tuple[int, int], list[int]]()
    for k, around in enumerate(tree.query_ball_point(0.5 * (a + b), 0.5 * length)):
        d = points[at[around]] - a[k]
        along = d @ way[k] / length[k]
        off = np.linalg.norm(d - np.outer(along, way[k] / length[k]), axis=1)
        on = (off < near) & (along > near) & (along < length[k] - near)
        if on.any():
            order = np.argsort(along[on], kind="stable")
            found[int(ends[k, 0]), int(ends[k, 1])] = at[np.array(around)[on][order]].tolist()
    return found


__all__ = ["joined", "welded"]
