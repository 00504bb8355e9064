"""Volume meshes from files, through meshio."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bellcrank.base.optional import finite_elements, needed
from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.elements import Element, with_element
from bellcrank.elastic.material import Analysis
from bellcrank.errors import ModelError
from bellcrank.fe.material import Material
from bellcrank.fe.volume_files import read_elements

_CELLS = {
    "triangle": Element.TRIANGLE3,
    "triangle6": Element.TRIANGLE6,
    "quad": Element.QUADRILATERAL4,
    "quad9": Element.QUADRILATERAL9,
    "tetra": Element.TETRAHEDRON4,
    "tetra10": Element.TETRAHEDRON10,
    "hexahedron": Element.HEXAHEDRON8,
    "hexahedron27": Element.HEXAHEDRON27,
}


def read_mesh(
    path: str | Path,
    material: Material,
    analysis: Analysis,
    *,
    element: Element | None = None,
    scale: float = 1.0,
    **body: Any,
) -> ElasticBody:
    """A body from a mesh file of any format meshio reads (Gmsh, Abaqus, VTK, ...).

    element: raise a first-order mesh to second order (edges stay straight). scale: metres in a unit of length of the
    file. body: further arguments of `ElasticBody`.
    """
    finite_elements()
    meshio = needed("meshio", "a mesh file", "meshio", "elastic")
    from skfem.io.meshio import from_meshio

    path = Path(path)
    read = read_elements(path, "mesh of an elastic body")
    d = analysis.dimension
    fitting = [cell for cell in read.cells_dict if cell in _CELLS and _CELLS[cell].dimension == d]
    if len(fitting) != 1:
        there = ", ".join(read.cells_dict) or "nothing"
        what = "none is a volume element" if not fitting else "volume elements are mixed"
        raise ModelError(
            f"{str(path)!r} holds {there}: {what} of a {analysis} body; known: {', '.join(_CELLS)}"
        )
    cell = fitting[0]
    # Points that no element uses would leave the matrices singular.
    used, cells = np.unique(read.cells_dict[cell], return_inverse=True)
    points = read.points[used] * scale
    if d == 2:
        if points.shape[1] > 2 and np.ptp(points[:, 2]) > 1e-9 * np.ptp(points):
            raise ModelError(f"{str(path)!r} is not flat: a {analysis} body lies in the x-y plane")
        points = points[:, :2]
    clean = meshio.Mesh(points, [(cell, cells.reshape(read.cells_dict[cell].shape))])
    mesh = from_meshio(clean, ignore_orientation=True)
    return ElasticBody(
        with_element(mesh, element or _CELLS[cell]), material, analysis, **{"name": path.stem, **body}
    )
