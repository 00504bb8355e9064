"""Which samples of a surface are its rims: of triangles, of grids, and of points that know their neighbours only."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.rims import FEWEST

Array = NDArray[np.float64]
Index = NDArray[np.int64]

ACROSS = 2.5
"""How far beyond the outer row of a grid, over the distance of its rows, other samples close it."""
TOWARDS = 0.5
"""Cosine of the cone they lie in."""
LOPSIDED = 0.2
"""Mean of the directions to the neighbours of a sample from which on it is looked at."""
AROUND = 24
"""Neighbours it is looked at with."""
WIDE = 2.3
"""Those that count, over the distance of the third neighbour."""
VOID = 2.0
"""How far ahead of the samples of a rim there is nothing, over the distance of the sixth neighbour."""
AHEAD = 0.87
"""Cosine of the cone that is ahead."""
EMPTY = 2.2
"""Angle without neighbours of a sample on a rim [rad]."""
BESIDE = 0.9
"""Angle from the empty one within which the next sample of the rim lies [rad]."""
FOLDED = 0.8
"""Cosine between normals below which a neighbour lies around an edge."""
CHUNK = 50_000


def of_triangles(f: Index) -> tuple[tuple[Index, ...], int]:
    """Loops of vertices along edges with one triangle, and how many holes are too small to be one."""
    directed = np.concatenate([f[:, (0, 1)], f[:, (1, 2)], f[:, (2, 0)]])
    number = int(f.max()) + 1
    there = directed[:, 0] * number + directed[:, 1]
    back = directed[:, 1] * number + directed[:, 0]
    edges = directed[~np.isin(there, back)]
    following: dict[int, list[int]] = {}
    for i, j in edges[np.lexsort((edges[:, 1], edges[:, 0]))].tolist():
        following.setdefault(i, []).append(j)
    loops, small = list[Index](), 0
    for start in sorted(following):
        while following[start]:
            loop, k = list[int](), start
            # Where rims meet in a vertex more than one edge goes on; each is walked once.
            while following.get(k):
                loop.append(k)
                k = following[k].pop()
            once = list(dict.fromkeys(loop))
            if len(once) >= FEWEST:
                loops.append(np.array(once))
            else:
                small += 1
    return tuple(loops), small


def of_grid(g: Array, tree: Any) -> tuple[Index, ...]:
    """The outer rows and columns of a grid, but for sides at which it closes."""
    rows, columns = g.shape[:2]
    place = np.arange(rows * columns).reshape(rows, columns)
    sides = [place[0], place[:, -1], place[-1, ::-1], place[::-1, 0]]
    inner = [place[1], place[:, -2], place[-2, ::-1], place[::-1, 1]]
    points = g.reshape(-1, 3)
    top, right, bottom, left = (_closes(points, a, b, tree) for a, b in zip(sides, inner, strict=True))
    if left and right:
        return tuple(s for s, closed in ((sides[0], top), (sides[2], bottom)) if not closed)
    if top and bottom:
        return tuple(s for s, closed in ((sides[1], right), (sides[3], left)) if not closed)
    return (np.concatenate([s[:-1] for s in sides]),)


def _closes(points: Array, side: Index, inner: Index, tree: Any) -> bool:
    """Whether other samples lie beyond most of an outer row."""
    out = points[side] - points[inner]
    far = np.linalg.norm(out, axis=1)
    met = 0
    for k, around in enumerate(tree.query_ball_point(points[side], ACROSS * far)):
        d = points[around] - points[side[k]]
        met += bool(np.any(d @ out[k] > TOWARDS * far[k] * np.maximum(np.linalg.norm(d, axis=1), 1e-300)))
    return 2 * met > len(side)


def of_points(points: Array, normals: Array, neighbours: Index, tree: Any) -> tuple[tuple[Index, ...], int]:
    """Loops of samples that have an empty sector around them in their tangent plane, each led to the next along it.

    Also how many such samples there are in all.
    """
    picked = _lopsided(points, normals, neighbours)
    if len(picked) < FEWEST:
        return (), 0
    count = min(AROUND, len(points) - 1)
    following = dict[int, int]()
    candidates = dict[int, tuple[Index, Array, float, float]]()
    out = dict[int, tuple[Array, float]]()
    far, near = tree.query(points[picked], count + 1)
    for k, i in enumerate(picked.tolist()):
        others = near[k, 1:][far[k, 1:] < WIDE * far[k, 3]]
        u, v = _tangents(normals[i])
        d = _laid_flat(points, normals, i, others)
        angle = np.arctan2(d @ v, d @ u)
        order = np.argsort(angle, kind="stable")
        gaps = np.diff(np.append(angle[order], angle[order[0]] + 2.0 * np.pi))
        widest = int(np.argmax(gaps))
        if gaps[widest] > EMPTY:
            # From its last neighbour before the empty sector on, turning left: the surface lies on the left of the way.
            candidates[i] = others, angle, float(angle[order[widest]]), float(gaps[widest])
            middle = angle[order[widest]] + 0.5 * gaps[widest]
            out[i] = np.cos(middle) * u + np.sin(middle) * v, VOID * float(far[k, min(6, count)])
    for i, (others, angle, last, gap) in candidates.items():
        begins = last + gap
        turned = np.mod(angle - begins + 1e-9, 2.0 * np.pi)
        fits = [
            (float(np.linalg.norm(points[j] - points[i])), int(j))
            for j, way in zip(others.tolist(), turned.tolist(), strict=True)
            if way < BESIDE and j in candidates
        ]
        if fits:
            following[i] = min(fits)[1]
    loops = tuple(loop for loop in _cycles(following) if _void(points, loop, out, tree))
    return loops, len(candidates)


def _void(points: Array, loop: Index, out: dict[int, tuple[Array, float]], tree: Any) -> bool:
    """Whether there is nothing ahead of most samples of a loop; what is less is a gap between samples."""
    free = 0
    for i in loop.tolist():
        way, far = out[i]
        d = points[tree.query_ball_point(points[i], far)] - points[i]
        free += not np.any(d @ way > AHEAD * np.maximum(np.linalg.norm(d, axis=1), 1e-300))
    return 4 * free > 3 * len(loop)


def _lopsided(points: Array, normals: Array, neighbours: Index) -> Index:
    """Samples whose neighbours lie to one side of them."""
    found = list[Index]()
    for begin in range(0, len(points), CHUNK):
        rows = slice(begin, begin + CHUNK)
        d = points[neighbours[rows]] - points[rows, None]
        n = normals[rows]
        d -= np.einsum("ijk,ik->ij", d, n)[:, :, None] * n[:, None]
        size = np.linalg.norm(d, axis=2)
        mean = (d / np.maximum(size, 1e-300)[:, :, None]).mean(axis=1)
        found.append(begin + np.flatnonzero(np.linalg.norm(mean, axis=1) > LOPSIDED))
    return np.concatenate(found)


def _laid_flat(points: Array, normals: Array, i: int, others: Index) -> Array:
    """The ways to the neighbours of a sample, those around an edge laid out flat."""
    d = points[others] - points[i]
    # What lies around an edge lies where its normal leans to, or away from in a hollow one.
    turned = normals[others] @ normals[i] < FOLDED
    return np.asarray(d - np.where(turned, d @ normals[i], 0.0)[:, None] * normals[others])


def _tangents(n: Array) -> tuple[Array, Array]:
    """Two unit vectors across a unit vector, the second on the left of the first."""
    u = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
    u /= np.linalg.norm(u)
    return u, np.cross(n, u)


def _cycles(following: dict[int, int]) -> tuple[Index, ...]:
    """The loops that following leads into, of so many samples at least."""
    state, loops = dict[int, int](), list[Index]()
    for start in sorted(following):
        way, k = list[int](), start
        while k in following and k not in state:
            state[k] = start
            way.append(k)
            k = following[k]
        if state.get(k) == start and k in way:
            loop = way[way.index(k) :]
            if len(loop) >= FEWEST:
                loops.append(np.array(loop))
    return tuple(loops)


__all__ = ["of_grid", "of_points", "of_triangles"]
