"""Fields over a member, recovered from its modal coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.errors import ModelError, unknown_name

Array = NDArray[np.float64]

SPATIAL = ("x", "y", "z")
SYMMETRIC = ("xx", "yy", "zz", "xy", "yz", "xz")


@dataclass(frozen=True, eq=False)
class Field:
    """A quantity linear in the modal coordinates, sampled at points of the member.

    points: Undeformed, member axes [m], (p, 3). values: Per unit modal coordinate, (p, c, n).
    components: Names of the c components. unit: Of the values per unit modal coordinate.
    cells: Elements or edges between the points, for drawing; (m, corners), may be empty.
    """

    name: str
    points: Array
    values: Array
    components: tuple[str, ...]
    unit: str
    cells: NDArray[np.int64]

    def of(self, coordinates: ArrayLike) -> Array:
        """The field for modal coordinates (..., n): (..., p, c)."""
        eta = np.asarray(coordinates, dtype=float)
        n = self.values.shape[2]
        if eta.shape[-1:] != (n,):
            raise ModelError(
                f"field {self.name!r} wants {n} modal coordinates in the last place, not shape {eta.shape}"
            )
        return np.asarray(np.einsum("pcn,...n->...pc", self.values, eta))

    def history(self, coordinates: ArrayLike, point: ArrayLike, component: str) -> Array:
        """One component at the sample point nearest to `point` [m], over time; (..., n) gives (...)."""
        if component not in self.components:
            raise unknown_name(f"component of {self.name}", component, self.components)
        index = self.nearest(point)
        row = self.values[index, self.components.index(component)]
        return np.asarray(np.asarray(coordinates, dtype=float) @ row)

    def nearest(self, point: ArrayLike) -> int:
        """The index of the sample point nearest to `point` [m, member axes]."""
        return int(np.argmin(np.linalg.norm(self.points - np.asarray(point, dtype=float), axis=1)))


def equivalent_stress(stress: ArrayLike) -> Array:
    """Von Mises stress [Pa] of stresses (..., 6) ordered xx, yy, zz, xy, yz, xz."""
    xx, yy, zz, xy, yz, xz = np.moveaxis(np.asarray(stress, dtype=float), -1, 0)
    normal = (xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2
    return np.asarray(np.sqrt(0.5 * normal + 3.0 * (xy**2 + yz**2 + xz**2)))


_TETRAHEDRON = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
_HEXAHEDRON = ((0, 2, 6, 3), (1, 4, 7, 5), (0, 1, 5, 3), (2, 4, 7, 6), (0, 1, 4, 2), (3, 5, 7, 6))
"""scikit-fem's: corner 0, those that differ in one coordinate (1, 2, 3), in two (4, 5, 6), in three (7)."""


def outer_faces(cells: NDArray[np.int64], points: Array | None = None) -> NDArray[np.int64]:
    """Triangles (m, 3) on the outside of tetrahedra or hexahedra, or those of a flat body; none for other cells.

    points: Places (p, 3); triangles of a solid are then counter-clockwise as seen from outside.
    """
    corners = cells.shape[1] if cells.ndim == 2 else 0
    if corners == 3:
        return cells
    sides = {4: _TETRAHEDRON, 8: _HEXAHEDRON}.get(corners)
    if sides is None:
        return np.zeros((0, 3), dtype=np.int64)
    faces = np.concatenate([cells[:, list(side)] for side in sides])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    once = first[count == 1]
    outside = faces[once]
    if points is not None:
        # Faces are listed side by side of the cell, cell by cell: from the middle of its cell a face looks outwards.
        a, b, c = (points[outside[:, k]] for k in range(3))
        out = points[outside].mean(axis=1) - points[cells[once % len(cells)]].mean(axis=1)
        inwards = np.einsum("ij,ij->i", np.cross(b - a, c - a), out) < 0.0
        outside = np.where(inwards[:, None], outside[:, ::-1], outside)
    if outside.shape[1] == 4:
        outside = np.concatenate([outside[:, [0, 1, 2]], outside[:, [0, 2, 3]]])
    return np.asarray(outside, dtype=np.int64)
