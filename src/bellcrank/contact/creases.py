"""What a triangle mesh tells of the surface it stands for: where that is smooth, where it has creases, and its normals.

Edges whose faces turn by more than an angle are creases, as are rims, and shallow edges between two flat sides that
bend nowhere else. Corners of triangles at a vertex that hang together without a crease between them share a normal: by
the weights of Max (1999), corrected by a cubic fitted to the vertices around, which makes it one of a higher order. A
flat side that ends in a fillet keeps its own normal up to the last vertex, however narrow the facets of the fillet.

Sources: Vlachos et al. (2001) for normals that are split at creases; Max (1999); Cazals and Pouget (2005).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CREASE = 0.6
"""Turn of two faces [rad] beyond which their edge is a crease; that of two edges beyond which a crease has a corner."""
FLAT = 1e-3
"""Turn of two faces [rad] below which they may be one flat side."""
LEVEL = 1e-6
"""Distance of vertices from the plane of a flat side, over the size of the mesh: coordinates in files are short."""
WIDE = 3.0
"""How much wider a flat side is than the facets of the curved ones it runs into."""
MOSTLY = 0.9
"""Share of its border along which it is."""
AROUND = 18
"""Vertices a normal is fitted to, at most."""
NEAREST, FARTHEST = 6, 2.1
"""How far vertices may be that a normal is fitted to: over the distance of the sixth, which is that of two rings."""
CORNER, EDGE, SMOOTH = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Creases:
    """A clean mesh: points (number, 3), oriented faces (number, 3), every edge of one or two of them."""

    points: Floats
    faces: Ints

    @cached_property
    def _sides(self) -> tuple[Floats, Floats]:
        """Unit normals and areas of the faces."""
        a, b, c = (self.points[self.faces[:, k]] for k in range(3))
        across = np.cross(b - a, c - a)
        size = np.linalg.norm(across, axis=1)
        return across / size[:, None], 0.5 * size

    @property
    def face_normals(self) -> Floats:
        return self._sides[0]

    @property
    def areas(self) -> Floats:
        return self._sides[1]

    @cached_property
    def lengths(self) -> Floats:
        """Of the edges from each corner to the next (faces, 3)."""
        p = self.points[self.faces]
        return np.asarray(np.linalg.norm(np.roll(p, -1, axis=1) - p, axis=2))

    @cached_property
    def twins(self) -> Ints:
        """Beside each edge of a face, at 3 face + corner, that of the neighbour; -1 at a rim."""
        f = self.faces
        there, back = f.ravel(), np.roll(f, -1, axis=1).ravel()
        key = np.minimum(there, back) * len(self.points) + np.maximum(there, back)
        order = np.argsort(key, kind="stable")
        same = np.flatnonzero(key[order[1:]] == key[order[:-1]])
        twin = np.full(3 * len(f), -1)
        twin[order[same]], twin[order[same + 1]] = order[same + 1], order[same]
        return twin

    @cached_property
    def turns(self) -> Floats:
        """How far the faces turn at each edge [rad], positive; pi at a rim."""
        n, twin = self.face_normals, self.twins
        own, other = n[np.arange(len(twin)) // 3], n[np.maximum(twin, 0) // 3]
        across = np.linalg.norm(np.cross(own, other), axis=1)
        return np.where(twin < 0, np.pi, np.arctan2(across, np.einsum("ij,ij->i", own, other)))

    @cached_property
    def regions(self) -> tuple[Ints, NDArray[np.bool_]]:
        """The flat side of each face, itself where there is none; of sides, whether they run into curved ones."""
        number, twin = len(self.faces), self.twins
        flat = np.flatnonzero((self.turns < FLAT) & (twin >= 0))
        side = _together(flat // 3, twin[flat] // 3, number)
        count = int(side.max()) + 1
        n = _sums(side, self.face_normals * self.areas[:, None], count)
        n /= np.maximum(np.linalg.norm(n, axis=1), 1e-300)[:, None]
        middle = _sums(side, self.points[self.faces].mean(axis=1) * self.areas[:, None], count)
        middle /= np.bincount(side, self.areas, count)[:, None]
        off = np.abs(np.einsum("ijk,ik->ij", self.points[self.faces] - middle[side][:, None], n[side]))
        bent = np.bincount(side, off.max(axis=1) > LEVEL * np.abs(self.points).max(), count) > 0
        side = np.where(bent[side], count + np.arange(number), side)
        side = np.unique(side, return_inverse=True)[1].astype(np.int64)
        return side, self._broad(side)

    def _shared(self, side: Ints) -> tuple[Ints, Ints, Ints]:
        """Edges without a crease at which sides meet, and both sides."""
        twin = self.twins
        at = np.flatnonzero((twin >= 0) & (self.turns <= CREASE))
        own, other = side[at // 3], side[twin[at] // 3]
        between = own != other
        return at[between], own[between], other[between]

    def _broad(self, side: Ints) -> NDArray[np.bool_]:
        """Sides much wider than the facets around them: planes, and no facets of a coarse curved surface."""
        count = int(side.max()) + 1
        at, own, other = self._shared(side)
        area, length = np.bincount(side, self.areas, count), self.lengths.ravel()[at]
        narrow = area[own] > WIDE * area[other]
        whole = np.bincount(own, length, count)
        return (np.bincount(own[narrow], length[narrow], count) > MOSTLY * whole) & (whole > 0.0)

    @cached_property
    def crease(self) -> NDArray[np.bool_]:
        """Which edges are creases (faces, 3)."""
        side, broad = self.regions
        at, own, other = self._shared(side)
        count = int(side.max()) + 1
        # A surface that bends does so at more than one line: otherwise two flat sides meet there.
        pairs = np.unique(np.stack([own, other]), axis=1) if len(own) else np.zeros((2, 0), np.int64)
        partners = np.bincount(pairs[0], minlength=count)
        alone = (partners[own] == 1) & (partners[other] == 1)
        found = self.turns > CREASE
        found[at[alone | (broad[own] & broad[other])]] = True
        return np.asarray(found.reshape(-1, 3))

    @cached_property
    def groups(self) -> Ints:
        """Of each corner (faces, 3), those of a vertex without a crease between them having the same number."""
        smooth = np.flatnonzero(~self.crease.ravel() & (self.twins >= 0))
        twin = self.twins[smooth]
        start, end = smooth, _next(smooth)
        return _together(
            np.concatenate([start, end]), np.concatenate([_next(twin), twin]), 3 * len(self.faces)
        ).reshape(-1, 3)

    @cached_property
    def _group_normals(self) -> Floats:
        """Unit normals of the groups: weighted means, or those of planes."""
        group, count = self.groups.ravel(), int(self.groups.max()) + 1
        side, broad = self.regions
        before = np.roll(self.lengths, 1, axis=1)
        # Area of the corner over the squares of both edges.
        weight = (self.areas[:, None] / (self.lengths * before) ** 2).ravel()
        n = np.repeat(self.face_normals, 3, axis=0) * weight[:, None]
        mean = _sums(group, n, count)
        plane = np.repeat(broad[side], 3)
        if plane.any():
            flat = _sums(group[plane], n[plane], count)
            mean = np.where((np.einsum("ij,ij->i", flat, flat) > 0.0)[:, None], flat, mean)
        return np.asarray(mean / np.maximum(np.linalg.norm(mean, axis=1), 1e-300)[:, None])

    def corner_normals(self, faces: Ints) -> Floats:
        """Unit normals at the corners of some faces (number, 3, 3), corrected by fits to the vertices around."""
        group = self.groups
        n = self._group_normals.copy()
        spread = self._spread(n)
        side, broad = self.regions
        fixed = np.zeros(len(n), np.bool_)
        fixed[group[broad[side]].ravel()] = True
        wanted = np.unique(group[faces])
        # On a flat side there is nothing to correct, and about the tip of a cone nothing to fit.
        wanted = wanted[(spread[wanted] > FLAT) & (spread[wanted] <= CREASE) & ~fixed[wanted]]
        if len(wanted):
            better = self._fits(wanted, n)
            turn = np.linalg.norm(better - n[wanted], axis=1)
            n[wanted] = np.where((turn < spread[wanted])[:, None], better, n[wanted])
        found = n[group[faces]]
        pointed = spread[group[faces]] > CREASE
        return np.where(pointed[..., None], self.face_normals[faces][:, None, :], found)

    def _spread(self, n: Floats) -> Floats:
        """How far the faces of a group turn from its normal at most [rad]."""
        group = self.groups.ravel()
        cosine = np.einsum("ij,ij->i", np.repeat(self.face_normals, 3, axis=0), n[group])
        least = np.ones(len(n))
        np.minimum.at(least, group, cosine)
        return np.arccos(np.clip(least, -1.0, 1.0))

    def _fits(self, wanted: Ints, n: Floats) -> Floats:
        """Normals of some groups by cubics through the vertices of their own smooth surface around them."""
        from bellcrank.contact.quadrics import fitted

        group, count = self.groups, len(n)
        place = np.zeros(count, np.int64)
        place[group.ravel()] = self.faces.ravel()
        start, end = group.ravel(), np.roll(group, -1, axis=1).ravel()
        ones = np.ones(len(start), np.int32)
        graph = coo_array((ones, (start, end)), shape=(count, count)).tocsr()
        graph = graph + graph.T
        rows = graph[wanted]
        near = (rows + rows @ graph).tocoo()
        row, column = np.asarray(near.row, np.int64), np.asarray(near.col, np.int64)
        # The same vertex seen from its other groups tells nothing.
        other = place[column] != place[wanted[row]]
        row, column = row[other], column[other]
        far = np.linalg.norm(self.points[place[column]] - self.points[place[wanted[row]]], axis=1)
        order = np.lexsort((column, far, row))
        row, column = row[order], column[order]
        first = np.searchsorted(row, np.arange(len(wanted)))
        rank = np.arange(len(row)) - first[row]
        # Long facets beside narrow ones, as of a cylinder that ends in a sphere, reach into another piece of surface.
        near_ones = np.minimum(first + NEAREST, np.append(first[1:], len(row))) - 1
        kept = (rank < AROUND) & (far[order] <= FARTHEST * far[order][near_ones][row])
        # The own point fills what is left: it tells nothing.
        table = np.repeat(wanted[:, None], AROUND, axis=1)
        table[row[kept], rank[kept]] = column[kept]
        used = np.concatenate([wanted, np.setdiff1d(table, wanted)])
        back = np.zeros(count, np.int64)
        back[used] = np.arange(len(used))
        points, given = np.ascontiguousarray(self.points[place[used]]), np.ascontiguousarray(n[used])
        better, bent = given.copy(), np.zeros((len(used), 9))
        fitted(points, given, better, bent, np.ascontiguousarray(back[table]), 0)
        found = better[: len(wanted)]
        return np.where(np.isfinite(found).all(axis=1)[:, None], found, n[wanted])

    @cached_property
    def kinds(self) -> tuple[NDArray[np.int8], Floats]:
        """CORNER, EDGE or SMOOTH of each vertex, and the unit tangent of the crease at an EDGE, else zero.

        That of a circle through the vertex and its two neighbours along the crease.
        """
        number = len(self.points)
        at = np.flatnonzero(self.crease.ravel())
        once = at[(self.twins[at] < 0) | (at < self.twins[at])]
        a, b = self.faces.ravel()[once], self.faces.ravel()[_next(once)]
        way = self.points[b] - self.points[a]
        inverse = way / np.einsum("ij,ij->i", way, way)[:, None]
        unit = way / np.linalg.norm(way, axis=1)[:, None]
        edges = np.bincount(a, minlength=number) + np.bincount(b, minlength=number)
        # Both ways are turned to run through the vertex: with the first one that is met there.
        ends, ways = np.concatenate([a, b]), np.concatenate([unit, -unit])
        order = np.argsort(ends, kind="stable")
        first = np.zeros((number, 3))
        first[ends[order][::-1]] = ways[order][::-1]
        sign = np.where(np.einsum("ij,ij->i", ways, first[ends]) > 0.999999, 1.0, -1.0)
        # A long straight line that runs into an arc keeps its way.
        longest = np.zeros(number)
        far = np.tile(np.linalg.norm(way, axis=1), 2)
        np.maximum.at(longest, ends, far)
        share = np.where(WIDE * far < longest[ends], 0.0, 1.0)
        tangent = _sums(ends, (share * sign)[:, None] * np.concatenate([inverse, -inverse]), number)
        straight = np.linalg.norm(_sums(ends, ways, number), axis=1) < 2.0 * np.sin(0.5 * CREASE)
        kind = np.where(edges == 0, SMOOTH, np.where((edges == 2) & straight, EDGE, CORNER)).astype(np.int8)
        size = np.linalg.norm(tangent, axis=1)
        kind[(kind == EDGE) & (size == 0.0)] = CORNER
        tangent = np.where((kind == EDGE)[:, None], tangent / np.maximum(size, 1e-300)[:, None], 0.0)
        pointed = np.zeros(number, np.bool_)
        pointed[self.faces[self._spread(self._group_normals)[self.groups] > CREASE]] = True
        kind[pointed & (kind == SMOOTH)] = CORNER
        return kind, tangent

    @cached_property
    def vertex_normals(self) -> Floats:
        """One for each vertex: at creases the mean of both sides, however their triangles lie."""
        group, n = self.groups.ravel(), self._group_normals
        place = np.zeros(len(n), np.int64)
        place[group] = self.faces.ravel()
        total = _sums(place, n, len(self.points))
        size = np.linalg.norm(total, axis=1)
        # Both sides of a fold without thickness: one of them.
        one = np.zeros_like(self.points)
        one[self.faces.ravel()[::-1]] = n[group][::-1]
        return np.where((size > 1e-6)[:, None], total / np.maximum(size, 1e-300)[:, None], one)


def _next(half: Ints) -> Ints:
    """The next edge of the same face, which begins where this one ends."""
    return half - half % 3 + (half + 1) % 3


def _together(a: Ints, b: Ints, number: int) -> Ints:
    """Numbers of the connected parts of a graph, in the order of their first nodes."""
    graph = coo_array((np.ones(len(a), np.int8), (a, b)), shape=(number, number))
    found = np.asarray(connected_components(graph, directed=False)[1], np.int64)
    _, first, back = np.unique(found, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[back]


def _sums(place: Ints, rows: Floats, number: int) -> Floats:
    return np.stack([np.bincount(place, rows[:, c], number) for c in range(3)], axis=1)


__all__ = ["CORNER", "EDGE", "FLAT", "LEVEL", "SMOOTH", "Creases"]
