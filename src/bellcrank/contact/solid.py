"""Mass, centre and inertia of a triangle mesh filled with a material.

Closed meshes by the tetrahedra of their triangles, exactly; what overlaps or is open in part by its field of depth, and
sheets by their area and thickness (:class:`~bellcrank.contact.mesh.Mesh`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.contact.given import is_positive, numbers
from bellcrank.contact.mesh import Mesh
from bellcrank.errors import ModelError
from bellcrank.fe.triangle_files import read_triangles as read

Array = NDArray[np.float64]


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
        """A mesh. density: [kg/m^3]. scale: Of the coordinates, 1e-3 for millimetres."""
        if not is_positive(density):
            raise ModelError(f"the density of a solid must be positive [kg/m^3], not {density!r}")
        if not is_positive(scale):
            raise ModelError(f"scale of a mesh must be a positive number, not {scale!r}")
        mesh = Mesh(numbers(vertices, "vertices of a mesh") * scale, np.asarray(faces))
        volume, center = mesh.volume, mesh.centre
        return Solid(volume, density * volume, center, density * mesh.inertia, mesh.repairs)

    @staticmethod
    def from_file(path: str | PathLike[str], *, density: float, scale: float = 1.0) -> Solid:
        """A mesh from a file, as :meth:`from_mesh`."""
        return Solid.from_mesh(*read(path), density=density, scale=scale)

    @property
    def body(self) -> dict[str, Any]:
        """What :meth:`bellcrank.model.system.System.body` takes."""
        return {"mass": self.mass, "inertia": self.inertia, "center_of_mass": self.center_of_mass}


__all__ = ["Solid"]
