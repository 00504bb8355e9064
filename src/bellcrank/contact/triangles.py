"""Triangulated surfaces: what a shape is integrated over, and how they are refined.

Refinement is conforming longest-edge bisection (Rivara 1984): a triangle with an edge that is too long is split at its
longest edge, and the neighbour across that edge with it. Angles stay bounded below by half the smallest of the start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Bools = NDArray[np.bool_]

PASSES = 60
"""Rounds of splitting at most: each halves the longest edges, so sixty of them are more than doubles resolve."""


@dataclass(frozen=True, eq=False)
class Triangles:
    """A surface of triangles that face outwards.

    vertices: [m], (n, 3). faces: Numbers of their vertices, (m, 3), counterclockwise seen from outside.
    """

    vertices: Floats
    faces: Indices

    def __post_init__(self) -> None:
        object.__setattr__(self, "vertices", np.ascontiguousarray(self.vertices, np.float64).reshape(-1, 3))
        object.__setattr__(self, "faces", np.ascontiguousarray(self.faces, np.int64).reshape(-1, 3))

    @cached_property
    def corners(self) -> Floats:
        """The vertices of each triangle [m], (m, 3, 3)."""
        return self.vertices[self.faces]

    @cached_property
    def _doubled(self) -> Floats:
        """Normals, twice the areas long [m^2], (m, 3)."""
        a, b, c = self.corners.swapaxes(0, 1)
        return np.cross(b - a, c - a)

    @cached_property
    def areas(self) -> Floats:
        """Of the triangles [m^2], (m,)."""
        found: Floats = 0.5 * np.linalg.norm(self._doubled, axis=1)
        return found

    @cached_property
    def normals(self) -> Floats:
        """Outward unit normals of the triangles, (m, 3); zero for a triangle without area."""
        return self._doubled / np.maximum(2.0 * self.areas, np.finfo(float).tiny)[:, None]

    @cached_property
    def edges(self) -> Indices:
        """Directed edges of all triangles, (3 m, 2)."""
        return np.concatenate([self.faces[:, [0, 1]], self.faces[:, [1, 2]], self.faces[:, [2, 0]]])

    @property
    def closed(self) -> bool:
        """Whether every edge has one neighbour that runs along it the other way: a watertight, oriented surface."""
        count = len(self.vertices)
        keys = self.edges[:, 0] * count + self.edges[:, 1]
        back = self.edges[:, 1] * count + self.edges[:, 0]
        return len(np.unique(keys)) == len(keys) and np.array_equal(np.sort(keys), np.sort(back))

    @property
    def volume(self) -> float:
        """Of what the surface encloses [m^3]."""
        return self._moments[0]

    @property
    def centre(self) -> Floats:
        """Of what the surface encloses [m], (3,)."""
        return self._moments[1]

    @property
    def inertia(self) -> Floats:
        """Of what the surface encloses, about the centre, at unit density [m^5], (3, 3)."""
        return self._moments[2]

    @cached_property
    def _moments(self) -> tuple[float, Floats, Floats]:
        """By tetrahedra from one point to all triangles; Tonon (2005), Eqs. (9) to (11)."""
        middle = 0.5 * (self.vertices.min(axis=0) + self.vertices.max(axis=0))
        corners = self.corners - middle
        d = np.linalg.det(corners)
        s = corners.sum(axis=1)
        volume = float(d.sum()) / 6.0
        centre = (d @ s) / (24.0 * volume)
        products = np.einsum("i,ikj,ikl->jl", d, corners, corners) + np.einsum("i,ij,ik->jk", d, s, s)
        products = products / 120.0 - volume * np.outer(centre, centre)
        return volume, middle + centre, np.trace(products) * np.eye(3) - products

    def placed(self, rotation: Floats, origin: Floats) -> Triangles:
        """In the frame in which this one lies at `origin` [m], turned by `rotation`."""
        return Triangles(self.vertices @ np.asarray(rotation).T + np.asarray(origin), self.faces)


def refined(
    surface: Triangles,
    too_long: Callable[[Floats, Floats], Bools],
    project: Callable[[Floats], Floats] = lambda points: points,
) -> Triangles:
    """A surface whose edges are split until none is too long.

    too_long: Given both ends of edges [m], (k, 3) each: which of them to split. project: Takes middles of edges to the
    surface that the triangles stand for.
    """
    vertices, faces = surface.vertices, surface.faces
    for _ in range(PASSES):
        pairs = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        keys, places = np.unique(pairs[:, 0] * len(vertices) + pairs[:, 1], return_inverse=True)
        first, second = np.divmod(keys, len(vertices))
        lengths = np.linalg.norm(vertices[first] - vertices[second], axis=1)
        split = too_long(vertices[first], vertices[second])
        if not split.any():
            break
        of_face = places.reshape(3, -1).T
        longest = np.argmax(lengths[of_face], axis=1)
        own = of_face[np.arange(len(faces)), longest]
        while True:
            needed = split[of_face].any(axis=1) & ~split[own]
            if not needed.any():
                break
            split[own[needed]] = True
        middle = np.full(len(keys), -1)
        middle[split] = len(vertices) + np.arange(np.count_nonzero(split))
        added = project(0.5 * (vertices[first[split]] + vertices[second[split]]))
        vertices = np.concatenate([vertices, added])
        faces = _split(faces, middle[of_face], longest)
    return Triangles(vertices, faces)


def _split(faces: Indices, middles: Indices, longest: Indices) -> Indices:
    """Triangles cut at the middles of their edges (-1: not cut); where one is cut, so is the longest."""
    turn = (longest[:, None] + np.arange(3)) % 3
    rows = np.arange(len(faces))[:, None]
    a, b, c = faces[rows, turn].T
    p, q, s = middles[rows, turn].T
    whole = p < 0
    found = [faces[whole]]
    for cut_q in (False, True):
        for cut_s in (False, True):
            now = ~whole & ((q >= 0) == cut_q) & ((s >= 0) == cut_s)
            near_b = [(p, b, q), (p, q, c)] if cut_q else [(p, b, c)]
            near_a = [(a, p, s), (p, c, s)] if cut_s else [(a, p, c)]
            found += [np.stack(corners, axis=1)[now] for corners in near_b + near_a]
    return np.concatenate(found)


def joined(parts: list[Triangles]) -> Triangles:
    """Several surfaces as one; vertices are not shared between them."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    return Triangles(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate([part.faces + start for part, start in zip(parts, starts[:-1], strict=True)]),
    )


def clipped(surface: Triangles, inside: Floats) -> Triangles:
    """The part of a surface where a number at its vertices, linear in between, is not positive."""
    out = inside <= 0.0
    corners_out = out[surface.faces].sum(axis=1)
    added: list[Floats] = []
    places: dict[tuple[int, int], int] = {}

    def cut(i: int, j: int) -> int:
        """The vertex where the number changes sign between two others."""
        low, high = min(i, j), max(i, j)
        if (low, high) not in places:
            places[low, high] = len(surface.vertices) + len(added)
            share = inside[low] / (inside[low] - inside[high])
            added.append(surface.vertices[low] + share * (surface.vertices[high] - surface.vertices[low]))
        return places[low, high]

    found: list[tuple[int, int, int]] = []
    for face in surface.faces[(corners_out > 0) & (corners_out < 3)]:
        single = np.count_nonzero(out[face]) == 1
        # Begin with the corner that is alone on its side.
        k = int(np.argmax(out[face] == single))
        i, j, m = (int(face[(k + step) % 3]) for step in range(3))
        if single:
            found.append((i, cut(i, j), cut(i, m)))
        else:
            found += [(cut(i, j), j, m), (cut(i, j), m, cut(i, m))]
    faces = np.concatenate([surface.faces[corners_out == 3], np.array(found, np.int64).reshape(-1, 3)])
    vertices = np.concatenate([surface.vertices, np.array(added).reshape(-1, 3)])
    used, renumbered = np.unique(faces, return_inverse=True)
    return Triangles(vertices[used], renumbered.reshape(-1, 3))


__all__ = ["Triangles", "clipped", "joined", "refined"]
