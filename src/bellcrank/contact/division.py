"""Large triangles of a mesh, divided until samples lie no farther apart than asked for, the longest edges first.

New points lie on the smooth surface that the normals tell, those on creases on the smooth curve that the crease is.

Over an edge from a to b the surface is bowed like an arc that leaves both ends in their tangent planes. With
c = b - a, unit tangents t along c in these planes (along the crease on one), and cos^2 p = (1 + t_a . t_b) / 2,
    x = (a + b) / 2 + |c| (t_a - t_b) / (4 (1 + cos p)),
which is of fourth order in |c| as the cubic of curved PN triangles is, exact on spheres, and on planes to the last bit.

Source: Vlachos, Peters, Boyd, Mitchell (2001). Differs in: arcs instead of cubics; edges are halved again and again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.creases import EDGE, SMOOTH, Creases
from bellcrank.contact.flat_sides import FlatSides, border_of, grid_within
from bellcrank.contact.rim_loops import lonely
from bellcrank.errors import ModelError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

LONGEST = 1.42
"""Of edges over the distance of samples: the diagonal of a square, and a little for rounding."""
FINER = 0.75
"""Edges of about the same length are halved together, from the longest on."""
STEEP = 0.5
"""Cosine between an edge and a tangent plane below which the normal tells nothing of it."""
ROUNDS = 200
"""Of halving at most: each takes a quarter off the longest edges."""


@dataclass(frozen=True, eq=False)
class Samples:
    """points and unit normals (number, 3); kinds: CORNER, EDGE or SMOOTH; divided: triangles, and into how many.

    rim: Edges with one triangle (number, 2), as they run around it. laid: Triangles of flat sides that have a grid
    instead, and how many points of it.
    """

    points: Floats
    normals: Floats
    kinds: NDArray[np.int8]
    divided: tuple[int, int]
    rim: Ints
    laid: tuple[int, int] = (0, 0)


def divided(mesh: Creases, spacing: float, most: int) -> Samples:
    """The vertices of a mesh and points between them, so that no edge is longer than samples so far apart ask for."""
    limit = LONGEST * spacing
    kinds, tangents = mesh.kinds
    long = mesh.lengths.max(axis=1) > limit
    if not long.any():
        return Samples(mesh.points, mesh.vertex_normals, kinds, (0, 0), lonely(mesh.faces))
    flat = FlatSides.of(mesh, spacing)
    active = np.flatnonzero(long & (flat.of_face < 0))
    work = _Division(
        mesh.points, kinds, tangents, mesh.faces[active], mesh.corner_normals(active), mesh.crease[active]
    )
    work.rim = lonely(mesh.faces)
    work.add_borders(mesh, flat)
    normals = [mesh.vertex_normals]
    finished, border = 0, list[Ints]()
    for _ in range(ROUNDS):
        lengths = work.lengths()
        open_ = lengths.max(axis=1, initial=0.0) > limit
        loose = work.side >= 0
        finished += int(np.count_nonzero(~open_ & ~loose))
        done = ~open_ & loose
        border.append(np.concatenate([work.faces[done, :2], work.side[done, None]], axis=1))
        work.keep(open_)
        if not open_.any():
            break
        work.halve(lengths[open_] > max(limit, FINER * float(lengths.max())), normals)
        if len(work.points) > most:
            raise TooMany
    laid = work.lay(flat, np.concatenate(border), spacing, normals)
    parts, whole = (len(active), finished), (int(np.count_nonzero(flat.of_face >= 0)), laid)
    return Samples(work.points, np.concatenate(normals), work.kinds, parts, work.rim, whole)


class TooMany(ModelError):
    """More samples than a surface takes."""


class _Division:
    """Faces that are being divided, with the normals at their corners and which of their edges are creases.

    side: Of faces that stand for the first of their edges alone, at the border of a flat side; -1 of all others.
    """

    def __init__(
        self,
        points: Floats,
        kinds: NDArray[np.int8],
        tangents: Floats,
        faces: Ints,
        normals: Floats,
        crease: Flags,
    ) -> None:
        self.points, self.kinds, self.tangents = points, kinds, tangents
        self.faces, self.normals, self.crease = faces, normals, crease
        self.rim = np.zeros((0, 2), np.int64)
        self.side = np.full(len(faces), -1)

    def add_borders(self, mesh: Creases, flat: FlatSides) -> None:
        """Faces for the edges at the borders of flat sides."""
        edge = border_of(mesh, flat.of_face)
        face, corner = edge // 3, edge % 3
        a, b = mesh.faces[face, corner], mesh.faces[face, (corner + 1) % 3]
        own, rows = mesh.corner_normals(face), np.arange(len(face))
        n_a, n_b = own[rows, corner], own[rows, (corner + 1) % 3]
        crease = np.zeros((len(face), 3), np.bool_)
        crease[:, 0] = mesh.crease.ravel()[edge]
        self.faces = np.concatenate([self.faces, np.stack([a, b, a], axis=1)])
        self.normals = np.concatenate([self.normals, np.stack([n_a, n_b, n_a], axis=1)])
        self.crease = np.concatenate([self.crease, crease])
        self.side = np.concatenate([self.side, flat.of_face[face]])

    def lay(self, flat: FlatSides, border: Ints, spacing: float, normals: list[Floats]) -> int:
        """Grids over flat sides within their borders (edges, 3: both ends, side); how many points they have."""
        before = len(self.points)
        for k, normal in enumerate(flat.normals):
            a, b = (self.points[border[border[:, 2] == k, end]] for end in (0, 1))
            inside = grid_within(a, b, normal, spacing)
            self.points = np.concatenate([self.points, inside])
            normals.append(np.broadcast_to(normal, inside.shape))
        laid = len(self.points) - before
        self.kinds = np.concatenate([self.kinds, np.full(laid, SMOOTH, np.int8)])
        return laid

    def lengths(self) -> Floats:
        p = self.points[self.faces]
        way = np.roll(p, -1, axis=1) - p
        way[self.side >= 0, 1:] = 0.0
        return np.asarray(np.sqrt(np.einsum("ijk,ijk->ij", way, way)))

    def keep(self, rows: Flags) -> None:
        self.faces, self.normals, self.crease = self.faces[rows], self.normals[rows], self.crease[rows]
        self.side = self.side[rows]

    def halve(self, marked: Flags, normals: list[Floats]) -> None:
        """Put points on the marked edges, and divide the faces there."""
        half = np.flatnonzero(marked)
        a, b = self.faces.ravel()[half], np.roll(self.faces, -1, axis=1).ravel()[half]
        key = np.minimum(a, b) * len(self.points) + np.maximum(a, b)
        order = np.argsort(key, kind="stable")
        new = np.concatenate([[True], key[order[1:]] != key[order[:-1]]])
        edge = np.empty(len(half), np.int64)
        edge[order] = np.cumsum(new) - 1
        first = half[order[new]]
        last = half[order[np.concatenate([np.flatnonzero(new)[1:], [len(order)]]) - 1]]
        self._halve_rim(first[first == last], len(self.points) + np.flatnonzero(first == last))
        middle = np.full(marked.shape, -1)
        middle.ravel()[half] = len(self.points) + edge
        between = np.zeros((*marked.shape, 3))
        between.reshape(-1, 3)[half] = self._bow(first, last, edge, half, normals)
        self._split(marked, middle, between)

    def _halve_rim(self, half: Ints, middle: Ints) -> None:
        """Put the new points of edges with one triangle into the rim."""
        if not len(half):
            return
        a, b = self.faces.ravel()[half], self.faces.ravel()[half - half % 3 + (half + 1) % 3]
        number = len(self.points)
        key = self.rim[:, 0] * number + self.rim[:, 1]
        order = np.argsort(key, kind="stable")
        whole = np.ones(len(key), np.bool_)
        whole[order[np.searchsorted(key[order], a * number + b)]] = False
        self.rim = np.concatenate(
            [self.rim[whole], np.stack([a, middle], axis=1), np.stack([middle, b], axis=1)]
        )

    def _bow(self, first: Ints, last: Ints, edge: Ints, half: Ints, normals: list[Floats]) -> Floats:
        """New points on edges, of which the first and the last of one or two halves are given; normals of each half."""
        faces, n = self.faces.ravel(), self.normals.reshape(-1, 3)
        after = first - first % 3 + (first + 1) % 3
        a, b = faces[first], faces[after]
        # The other half runs the other way, but at a rim it is the same.
        turned = last - last % 3 + (last + 1) % 3
        alone = first == last
        at_a, at_b = np.where(alone, first, turned), np.where(alone, after, last)
        crease = self.crease.ravel()[first]
        c = self.points[b] - self.points[a]
        size = np.linalg.norm(c, axis=1)[:, None]
        t_a, t_b = _across(c, _unit(n[first] + n[at_a])), _across(c, _unit(n[after] + n[at_b]))
        along_a, along_b = _along(c, self.tangents[a]), _along(c, self.tangents[b])
        sure_a, sure_b = (self.kinds[x] == EDGE for x in (a, b))
        straight = c / size
        along_a, along_b = (
            np.where(
                sure_a[:, None], along_a, np.where(sure_b[:, None], _mirrored(straight, along_b), straight)
            ),
            np.where(
                sure_b[:, None], along_b, np.where(sure_a[:, None], _mirrored(straight, along_a), straight)
            ),
        )
        t_a, t_b = np.where(crease[:, None], along_a, t_a), np.where(crease[:, None], along_b, t_b)
        cosine = np.sqrt(np.maximum(0.0, 0.5 + 0.5 * np.einsum("ij,ij->i", t_a, t_b)))[:, None]
        x = 0.5 * (self.points[a] + self.points[b]) + size * (t_a - t_b) / (4.0 * (1.0 + cosine))
        along = _unit(1.5 * c - 0.25 * size * (t_a + t_b))
        # Each half has the normal of its own side of a crease.
        start, end = n[half], n[half - half % 3 + (half + 1) % 3]
        smooth = ~crease[edge]
        both_a, both_b = _unit(n[first] + n[at_a])[edge], _unit(n[after] + n[at_b])[edge]
        start, end = np.where(smooth[:, None], both_a, start), np.where(smooth[:, None], both_b, end)
        own = start + end
        own = _unit(own - np.einsum("ij,ij->i", own, along[edge])[:, None] * along[edge])
        total = np.zeros((len(first), 3))
        np.add.at(total, edge, own)
        size_of = np.linalg.norm(total, axis=1)
        one = np.zeros_like(total)
        one[edge[::-1]] = own[::-1]
        normals.append(np.where((size_of > 1e-6)[:, None], _unit(total), one))
        self.points = np.concatenate([self.points, x])
        self.kinds = np.concatenate([self.kinds, np.where(crease, EDGE, SMOOTH).astype(np.int8)])
        self.tangents = np.concatenate([self.tangents, np.where(crease[:, None], along, 0.0)])
        return own

    def _split(self, marked: Flags, middle: Ints, between: Floats) -> None:
        """Divide the faces at their new points: one, two or three of them."""
        count = marked.sum(axis=1)
        # Turned so that the only marked edge, or those before the only unmarked one, come first.
        lead = np.where(
            count == 1, marked.argmax(axis=1), np.where(count == 2, (marked.argmin(axis=1) + 1) % 3, 0)
        )
        turn = (lead[:, None] + np.arange(3)) % 3
        rows = np.arange(len(turn))[:, None]
        six = np.concatenate([self.faces[rows, turn], middle[rows, turn]], axis=1)
        n = np.concatenate([self.normals[rows, turn], between[rows, turn]], axis=1)
        # Edges by where they come from: those of the face, and one inside that is no crease.
        crease = np.concatenate([self.crease[rows, turn], np.zeros((len(turn), 1), np.bool_)], axis=1)
        p = self.points
        two = count == 2
        short = np.zeros(len(turn), np.bool_)
        q = six[two]
        short[two] = ((p[q[:, 0]] - p[q[:, 4]]) ** 2).sum(axis=1) <= ((p[q[:, 3]] - p[q[:, 2]]) ** 2).sum(
            axis=1
        )
        parts = []
        for chosen, table in (
            (count == 0, ((0, 1, 2, 0, 1, 2),)),
            (count == 1, ((0, 3, 2, 0, 3, 2), (3, 1, 2, 0, 1, 3))),
            (two & short, ((3, 1, 4, 0, 1, 3), (0, 3, 4, 0, 3, 3), (0, 4, 2, 3, 1, 2))),
            (two & ~short, ((3, 1, 4, 0, 1, 3), (0, 3, 2, 0, 3, 2), (3, 4, 2, 3, 1, 3))),
            (count == 3, ((0, 3, 5, 0, 3, 2), (3, 1, 4, 0, 1, 3), (5, 4, 2, 3, 1, 2), (3, 4, 5, 3, 3, 3))),
        ):
            for row in table:
                corners, edges = list(row[:3]), list(row[3:])
                parts.append(
                    (
                        six[chosen][:, corners],
                        n[chosen][:, corners],
                        crease[chosen][:, edges],
                        self.side[chosen],
                    )
                )
        self.faces, self.normals, self.crease, self.side = (
            np.concatenate([part[k] for part in parts]) for k in range(4)
        )


def _unit(v: Floats) -> Floats:
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=1), 1e-300)[:, None])


def _across(c: Floats, n: Floats) -> Floats:
    """Unit tangents along c in the planes of unit normals n; along c itself where these tell nothing of it."""
    t = c - np.einsum("ij,ij->i", c, n)[:, None] * n
    size = np.linalg.norm(c, axis=1)[:, None]
    far = np.linalg.norm(t, axis=1)[:, None]
    return np.asarray(np.where(far > STEEP * size, t / np.maximum(far, 1e-300), c / size))


def _along(c: Floats, t: Floats) -> Floats:
    """Unit tangents of creases, turned to run along c."""
    return np.where(np.einsum("ij,ij->i", c, t)[:, None] < 0.0, -t, t)


def _mirrored(c: Floats, t: Floats) -> Floats:
    """The tangent at the other end of an arc over a chord along the unit vector c."""
    return np.asarray(2.0 * np.einsum("ij,ij->i", c, t)[:, None] * c - t)


__all__ = ["Samples", "TooMany", "divided"]
