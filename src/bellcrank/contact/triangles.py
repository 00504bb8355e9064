"""Triangulated surfaces: what a shape is integrated over, and how they are refined.

Refinement is conforming longest-edge bisection (Rivara 1984): a triangle with an edge that is too long is split at its
longest edge, and the neighbour across that edge with it. Angles stay bounded below by half the smallest of the start.
"""

from __future__ import annotations

import math
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
BISECTIONS = 40
"""By which the crossing of an edge is found, to 1e-12 of its length."""


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
    between: Callable[[Floats, Floats], Floats] = lambda a, b: 0.5 * (a + b),
    most: float = math.inf,
) -> Triangles:
    """A surface whose edges are split until none is too long, or there are more than `most` triangles.

    too_long: Given both ends of edges [m], (k, 3) each: which of them to split. between: The points that split them, on
    the surface that the triangles stand for.
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
        added = between(vertices[first[split]], vertices[second[split]])
        vertices = np.concatenate([vertices, added])
        faces = _split(faces, middle[of_face], longest)
        if len(faces) > most:
            break
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


def clipped(surface: Triangles, level: Callable[[Floats], Floats]) -> Triangles:
    """The part of a surface where a continuous function of points [m], (n, 3), is not positive."""
    out = level(surface.vertices) <= 0.0
    corners_out = out[surface.faces].sum(axis=1)
    crossed = surface.faces[(corners_out > 0) & (corners_out < 3)]
    # Turned so that the corner alone on its side comes first.
    single = out[crossed].sum(axis=1) == 1
    first = np.argmax(out[crossed] == single[:, None], axis=1)
    alone, second, third = crossed[np.arange(len(crossed))[:, None], (first[:, None] + np.arange(3)) % 3].T
    pairs = np.sort(
        np.stack([np.concatenate([alone, alone]), np.concatenate([second, third])], axis=1), axis=1
    )
    edges, places = np.unique(pairs, axis=0, return_inverse=True)
    inner = np.where(out[edges[:, :1]], edges[:, ::-1], edges)
    low, high = surface.vertices[inner[:, 0]], surface.vertices[inner[:, 1]]
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        within = (level(middle) > 0.0)[:, None] if len(middle) else np.zeros((0, 1), np.bool_)
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    at_second, at_third = len(surface.vertices) + places.reshape(2, -1)
    faces = np.concatenate(
        [
            surface.faces[corners_out == 3],
            np.stack([alone, at_second, at_third], axis=1)[single],
            np.stack([at_second, second, third], axis=1)[~single],
            np.stack([at_second, third, at_third], axis=1)[~single],
        ]
    )
    used, renumbered = np.unique(faces, return_inverse=True)
    return Triangles(np.concatenate([surface.vertices, high])[used], renumbered.reshape(-1, 3))


__all__ = ["Triangles", "clipped", "joined", "refined"]
