"""Mass, centre and inertia of a closed triangle mesh filled with a material.

Over the tetrahedra from one point to all triangles (a, b, c), with d = a . (b x c):
    V = sum d / 6,   V s = sum d (a + b + c) / 24,   P = sum d (a a' + b b' + c c' + (a + b + c)(a + b + c)') / 120,
and the inertia about the origin is (tr P) I - P, all times the density.

Source: Tonon (2005), explicit exact formulas for the inertia of tetrahedra.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.contact.given import is_positive
from bellcrank.contact.meshes import repaired
from bellcrank.contact.shells import facing_outwards
from bellcrank.errors import ModelError
from bellcrank.fe.triangle_files import read_triangles as read

Array = NDArray[np.float64]

EMPTY = 1e-12
"""Volume over that of a cube with the size of the mesh below which it holds nothing."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A body of one material, as flat as its triangles are.

    volume: [m^3]. mass: [kg]. center_of_mass: [m], (3,). inertia: About it, in the axes of the mesh [kg m^2], (3, 3).
    notes: What was repaired. As a body: ``system.body("bracket", **solid.body, at=...)``.
    """

    volume: float
    mass: float
    center_of_mass: Array
    inertia: Array
    notes: tuple[str, ...] = field(default=())

    @staticmethod
    def from_mesh(vertices: ArrayLike, faces: ArrayLike, *, density: float, scale: float = 1.0) -> Solid:
        """A closed mesh. density: [kg/m^3]. scale: Of the coordinates, 1e-3 for millimetres."""
        if not is_positive(density):
            raise ModelError(f"the density of a solid must be positive [kg/m^3], not {density!r}")
        points, f, closed, notes = repaired(vertices, faces, scale)
        if not closed:
            raise ModelError("the mesh is open, so it holds no volume; close it, or give mass and inertia")
        if facing_outwards(points, f)[2]:
            raise ModelError(
                "a shell of the mesh lies within another and faces outwards, so that its volume would count twice; "
                "turn it where it is the wall of a cavity, or leave it out"
            )
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        a, b, c = (points[f[:, k]] - middle for k in range(3))
        d = np.einsum("ij,ij->i", a, np.cross(b, c))
        s = a + b + c
        volume = float(d.sum()) / 6.0
        size = float(np.ptp(points, axis=0).max())
        if not volume > EMPTY * size**3:
            raise ModelError(
                "the mesh holds no volume; its sides lie on each other, or it runs through itself"
            )
        center = (d @ s) / (24.0 * volume)
        P = sum(np.einsum("i,ij,ik->jk", d, v, v) for v in (a, b, c, s)) / 120.0
        P = P - volume * np.outer(center, center)
        if np.linalg.eigvalsh(P)[0] < 0.0:
            raise ModelError(
                "the inertia of the mesh is that of no body: it runs through itself; unite its parts"
            )
        inertia = density * (np.trace(P) * np.eye(3) - P)
        return Solid(volume, density * volume, middle + center, 0.5 * (inertia + inertia.T), notes)

    @staticmethod
    def from_file(path: str | PathLike[str], *, density: float, scale: float = 1.0) -> Solid:
        """A closed mesh from a file (STL, OBJ, PLY), as :meth:`from_mesh`."""
        return Solid.from_mesh(*read(path), density=density, scale=scale)

    @property
    def body(self) -> dict[str, Any]:
        """What :meth:`bellcrank.model.system.System.body` takes."""
        return {"mass": self.mass, "inertia": self.inertia, "center_of_mass": self.center_of_mass}


__all__ = ["Solid"]
