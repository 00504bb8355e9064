"""The closed shells of a mesh, each turned so that it faces outwards, but for those around cavities.

A shell within an odd number of others is the wall of a cavity, and faces inwards. Where the outermost one around it
does so too, the whole body is inside out. Whether a point is within a shell the solid angle tells under which that is
seen from it: that of all directions or none.

Source: Van Oosterom and Strackee (1983) for the solid angle of a triangle.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bellcrank.errors import ModelError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

MOST = 200_000_000
"""Solid angles of triangles that are looked at."""
CHUNK = 1_000_000
SEEN_FROM = 3
"""Vertices of a shell from which others are looked at: one of them may lie on another shell."""


def facing_outwards(points: Floats, f: Ints, covered: bool = False) -> tuple[Ints, list[str], int]:
    """Faces of a mesh whose neighbours agree about the outside, its closed shells turned; notes; and how many shells
    lie within others without being walls of cavities. covered: Whether shells with holes count as closed."""
    part, closed = _parts(f)
    number = len(closed)
    closed |= covered
    volume = _volumes(points, f, part, number)
    if number == 1:
        if not closed[0] or volume[0] >= 0.0:
            return f, [], 0
        return np.ascontiguousarray(f[:, ::-1]), ["turned the triangles, which faced inwards"], 0
    depth, outermost = _nested(points, f, part, closed)
    inside_out = closed & (volume < 0.0) & (depth == 0)
    turned = inside_out[outermost] & closed
    outwards = np.where(turned, -volume, volume) > 0.0
    turned ^= closed & (depth % 2 == 0) & ~outwards
    filled = int(np.count_nonzero(closed & (depth % 2 == 1) & outwards))
    notes = []
    if turned.any():
        of = "" if turned.all() else f" of {int(turned.sum())} of {number} shells"
        notes.append(f"turned the triangles{of}, which faced inwards")
        back = turned[part]
        f = f.copy()
        f[back] = f[back][:, ::-1]
    if filled:
        notes.append(
            f"shells that lie within others and face outwards: {filled}, taken as bodies of their own, not as walls of "
            "cavities"
        )
    return f, notes, filled


def _parts(f: Ints) -> tuple[Ints, Flags]:
    """Which faces hang together by their edges, and which of these parts are closed."""
    a, b = f.ravel(), np.roll(f, -1, axis=1).ravel()
    key = np.minimum(a, b) * (int(f.max()) + 1) + np.maximum(a, b)
    order = np.argsort(key)
    same = key[order[1:]] == key[order[:-1]]
    one, other = order[:-1][same] // 3, order[1:][same] // 3
    graph = coo_array((np.ones(len(one), np.int8), (one, other)), shape=(len(f), len(f)))
    number, part = connected_components(graph, directed=False)
    ends = np.ones(3 * len(f), np.bool_)
    ends[order[:-1][same]] = ends[order[1:][same]] = False
    closed = np.ones(number, np.bool_)
    closed[part[np.flatnonzero(ends) // 3]] = False
    return np.asarray(part, np.int64), closed


def _volumes(points: Floats, f: Ints, part: Ints, number: int) -> Floats:
    """Six times the volume of each part, negative where it faces inwards."""
    count = np.bincount(part, minlength=number)
    first = points[f[:, 0]]
    # About its own middle, so that a small one far away is not lost in rounding.
    middle = np.stack([np.bincount(part, first[:, c], number) / count for c in range(3)], axis=1)
    a, b, c = (points[f[:, k]] - middle[part] for k in range(3))
    return np.asarray(np.bincount(part, np.einsum("ij,ij->i", a, np.cross(b, c)), number))


def _nested(points: Floats, f: Ints, part: Ints, closed: Flags) -> tuple[Ints, Ints]:
    """How many closed shells each part lies within, and the outermost of them, itself where there is none."""
    number = len(closed)
    depth, outermost = np.zeros(number, np.int64), np.arange(number)
    low, high = np.full((number, 3), np.inf), np.full((number, 3), -np.inf)
    for k in range(3):
        np.minimum.at(low, part, points[f[:, k]])
        np.maximum.at(high, part, points[f[:, k]])
    order = np.argsort(part, kind="stable")
    begin = np.searchsorted(part[order], np.arange(number + 1))
    size = np.prod(high - low, axis=1)
    along = np.argsort(low[:, 0], kind="stable")
    starts = low[along, 0]
    looked = 0
    around: list[list[int]] = [[] for _ in range(number)]
    for k in np.flatnonzero(closed).tolist():
        first = np.searchsorted(starts, low[k, 0], side="right")
        some = along[first : np.searchsorted(starts, high[k, 0])]
        within = np.sort(some[(low[some] > low[k]).all(axis=1) & (high[some] < high[k]).all(axis=1)])
        if not len(within):
            continue
        triangles = points[f[order[begin[k] : begin[k + 1]]]]
        looked += SEEN_FROM * len(within) * len(triangles)
        if looked > MOST:
            raise ModelError(
                "the mesh has so many shells within others that it is not told what is outside; give it as several "
                "meshes, or leave out what is inside"
            )
        for j in within.tolist():
            corners = points[f[order[begin[j] : begin[j + 1]]]].reshape(-1, 3)
            seen = corners[[int(np.argmax(corners[:, c])) for c in range(SEEN_FROM)]]
            if np.median(np.abs([winding(x, triangles) for x in seen])) > 0.5:
                around[j].append(k)
    for j, shells in enumerate(around):
        if shells:
            depth[j] = len(shells)
            outermost[j] = max(shells, key=lambda k: size[k])
    return depth, outermost


def winding(x: Floats, triangles: Floats) -> float:
    """How often triangles (number, 3, 3) go around a point: once if it is within a shell, and not at all outside."""
    total = 0.0
    for begin in range(0, len(triangles), CHUNK):
        a, b, c = np.moveaxis(triangles[begin : begin + CHUNK] - x, 1, 0)
        p, q, r = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        along = np.einsum("ij,ij->i", a, np.cross(b, c))
        across = p * q * r + (
            np.einsum("ij,ij->i", a, b) * r
            + np.einsum("ij,ij->i", b, c) * p
            + np.einsum("ij,ij->i", c, a) * q
        )
        total += float(np.arctan2(along, across).sum())
    return total / (2.0 * np.pi)


__all__ = ["facing_outwards", "winding"]
