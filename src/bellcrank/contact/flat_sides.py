"""Flat sides of long and narrow triangles, as fans over the ends of gears and discs, sampled as a whole.

Such triangles are divided along all their edges, and most of what that gives lies on top of each other: a thousand
slivers that meet in one corner have a thousand samples where one would do. Instead a side keeps its border, which is
divided like that of any triangle, and a grid of equilateral triangles is laid over what lies within.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from bellcrank.contact.creases import Creases

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CROWDED = 4.0
"""Pieces of divided triangles over the samples that a side and its border ask for, beyond which it has a grid."""
STEP = 0.85
"""Of the grid over the distance of samples: about as dense as divided triangles are."""
CLEAR = 0.6
"""Distance of the grid from the border, over that of samples."""
STRAIGHT = 1e-9
"""One less the cosine between the normals of a flat side and of its corners, at most."""


@dataclass(frozen=True, eq=False)
class FlatSides:
    """Sides that have a grid: their number for each face, -1 where it is divided; and their normals (sides, 3)."""

    of_face: Ints
    normals: Floats

    @staticmethod
    def of(mesh: Creases, spacing: float) -> FlatSides:
        """Those whose triangles are so narrow that dividing them would crowd samples."""
        side, _ = mesh.regions
        count = int(side.max()) + 1
        longest = mesh.lengths.max(axis=1)
        # Each halving of a sliver makes three of it, all of them slivers.
        slivers = np.where(longest > spacing, (longest / spacing) ** np.log2(3.0), 0.0)
        along = np.bincount(side, slivers, count)
        across = np.bincount(side, mesh.areas, count) / spacing**2
        around = np.bincount(side.repeat(3), _bordering(mesh, side) * mesh.lengths.ravel(), count) / spacing
        crowded = np.flatnonzero((around > 0.0) & (along > CROWDED * (across + around)))
        chosen = np.full(count, -1)
        faces = np.flatnonzero(np.isin(side, crowded))
        normals = np.zeros((count, 3))
        np.add.at(normals, side[faces], mesh.face_normals[faces] * mesh.areas[faces, None])
        normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
        lean = 1.0 - np.einsum("ijk,ik->ij", mesh.corner_normals(faces), normals[side[faces]]).min(
            axis=1, initial=1.0
        )
        bent = np.unique(side[faces[lean > STRAIGHT]])
        flat = np.setdiff1d(crowded, bent)
        chosen[flat] = np.arange(len(flat))
        return FlatSides(chosen[side], normals[flat])

    @property
    def count(self) -> int:
        """Of these sides."""
        return len(self.normals)


def _bordering(mesh: Creases, side: Ints) -> NDArray[np.bool_]:
    """Of all edges at 3 face + corner, whether they are at the border of a side: a rim, a crease, or another side."""
    twin = mesh.twins
    return np.asarray((twin < 0) | mesh.crease.ravel() | (side[np.maximum(twin, 0) // 3] != side.repeat(3)))


def border_of(mesh: Creases, side: Ints) -> Ints:
    """The edges at the borders of sides that are not negative, at 3 face + corner."""
    return np.flatnonzero(_bordering(mesh, side) & (side.repeat(3) >= 0))


def grid_within(a: Floats, b: Floats, normal: Floats, spacing: float) -> Floats:
    """Points (number, 3) of a grid in the plane of a side, within its border of edges from a to b (edges, 3 each)."""
    u = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    u /= np.linalg.norm(u)
    axes = np.stack([u, np.cross(normal, u)], axis=1)
    origin = a[0]
    start, end = (a - origin) @ axes, (b - origin) @ axes
    step, low = STEP * spacing, start.min(axis=0)
    row = step * np.sqrt(0.75)
    # Rows cross each edge within its lower end and without its upper one, so that every border is crossed in pairs.
    first, last = (
        np.ceil((np.minimum if k == 0 else np.maximum)(start[:, 1], end[:, 1]) / row - low[1] / row)
        for k in (0, 1)
    )
    number = (last - first).astype(np.int64)
    edge = np.repeat(np.arange(len(start)), number)
    k = first[edge] + np.arange(len(edge)) - np.repeat(np.cumsum(number) - number, number)
    y = low[1] + k * row
    x = start[edge, 0] + (end - start)[edge, 0] * (y - start[edge, 1]) / (end - start)[edge, 1]
    order = np.lexsort((x, k))
    x, y, k = x[order], y[order], k[order]
    shift = low[0] + 0.5 * step * (k[::2] % 2.0)
    before, after = np.ceil((x[::2] - shift) / step), np.ceil((x[1::2] - shift) / step)
    number = (after - before).astype(np.int64)
    line = np.repeat(np.arange(len(before)), number)
    place = before[line] + np.arange(len(line)) - np.repeat(np.cumsum(number) - number, number)
    plane = np.stack([shift[line] + place * step, y[::2][line]], axis=1)
    if len(plane):
        far, _ = cKDTree(np.concatenate([start, end])).query(
            plane, 1, distance_upper_bound=CLEAR * spacing, workers=-1
        )
        plane = plane[np.isinf(far)]
    return np.asarray(origin + plane @ axes.T)


__all__ = ["FlatSides", "border_of", "grid_within"]
