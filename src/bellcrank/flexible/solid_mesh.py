"""Volume meshes for members: reading them, and refusing what cannot be a body."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bellcrank.base.optional import finite_elements, needed
from bellcrank.errors import ModelError
from bellcrank.fe.material import Material
from bellcrank.fe.volume_files import read_elements
from bellcrank.flexible.model import Array

VOLUMES = ("tetra", "tetra10", "hexahedron", "hexahedron20", "hexahedron27")


def read_mesh(name: str, path: str | Path, scale: float = 1.0) -> tuple[Any, int]:
    """A scikit-fem mesh and the order of its elements, from any file meshio reads (Gmsh, Abaqus, Nastran, VTK...).

    scale: Of the file's unit in metres.
    """
    finite_elements()
    meshio = needed("meshio", "a mesh file", "meshio", "elastic")
    from skfem.io.meshio import from_meshio

    file = Path(path)
    raw = read_elements(file, f"mesh of member {name!r}")
    kinds = [cell.type for cell in raw.cells]
    volumes = sorted({kind for kind in kinds if kind in VOLUMES})
    if not volumes:
        raise ModelError(
            f"mesh {file.name} of member {name!r} has no volume elements of a known kind ({', '.join(VOLUMES)}); "
            f"it has: {', '.join(sorted(set(kinds))) or 'nothing'}"
        )
    if len(volumes) > 1:
        raise ModelError(f"mesh {file.name} of member {name!r} mixes {' and '.join(volumes)}; use one kind")
    points = np.asarray(raw.points, dtype=float)[:, :3] * scale
    for cell in raw.cells:
        if cell.type == volumes[0]:
            cell.data = turned(points, np.asarray(cell.data))
            check_orientation(name, points, cell.data, 4 if cell.type.startswith("tetra") else 8)
    raw.points = points
    order = 1 if volumes[0] in ("tetra", "hexahedron") else 2
    if volumes[0] == "hexahedron20":
        raw = _corners_only(name, meshio, raw)
        volumes = ["hexahedron"]
    return from_meshio(raw, force_meshio_type=volumes[0], ignore_orientation=True), order


EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7))


def _corners_only(name: str, meshio: Any, raw: Any) -> Any:
    """Twenty-node hexahedra with straight edges as their corners: the elements' own second order puts the rest back."""
    cells = []
    for cell in raw.cells:
        data = np.asarray(cell.data)
        if cell.type == "hexahedron20":
            ends = raw.points[data[:, np.array(EDGES)]]
            bow = np.linalg.norm(raw.points[data[:, 8:20]] - ends.mean(axis=2), axis=2)
            size = np.linalg.norm(ends[:, :, 1] - ends[:, :, 0], axis=2)
            if (bow > 1e-4 * size).any():
                raise ModelError(
                    f"the mesh of {name!r} has 20-node hexahedra with curved edges; save it with 27-node hexahedra, "
                    "10-node tetrahedra or straight edges"
                )
            cells.append(("hexahedron", data[:, :8]))
        else:
            cells.append((cell.type.replace("quad8", "quad"), data[:, :4] if cell.type == "quad8" else data))
    return meshio.Mesh(raw.points, cells, cell_sets=raw.cell_sets)


TURNED = {4: (1, 0, 2, 3), 10: (1, 0, 2, 3, 4, 6, 5, 8, 7, 9)}
"""Nodes of a tetrahedron seen in a mirror: two corners change places, and with them the edges that leave them."""


def turned(points: Array, cells: Any) -> Any:
    """Tetrahedra with positive volume, those numbered the other way round turned; other elements as they are."""
    swap = TURNED.get(cells.shape[1])
    if swap is None:
        return cells
    a, b, c, d = (points[cells[:, i]] for i in range(4))
    mirrored = np.einsum("ei,ei->e", np.cross(b - a, c - a), d - a) < 0
    return np.where(mirrored[:, None], cells[:, swap], cells)


def check_orientation(name: str, points: Array, cells: Any, corners: int) -> None:
    """Refuse elements turned inside out, judged by the corner ordering of the file."""
    if corners == 4:
        a, b, c, d = (points[cells[:, i]] for i in range(4))
        volume = np.einsum("ei,ei->e", np.cross(b - a, c - a), d - a)[:, None]
    else:
        # The Jacobian at each corner of a hexahedron, from the three edges that leave it.
        around = ((1, 3, 4), (2, 0, 5), (3, 1, 6), (0, 2, 7), (7, 5, 0), (4, 6, 1), (5, 7, 2), (6, 4, 3))
        p = points[cells[:, :8]]
        edges = [[p[:, j] - p[:, i] for j in around[i]] for i in range(8)]
        volume = np.stack([np.einsum("ei,ei->e", np.cross(u, v), w) for u, v, w in edges], axis=1)
    bad = np.flatnonzero((volume <= 0).any(axis=1))
    if not len(bad):
        return
    if (volume < 0).all():
        raise ModelError(
            f"all elements of the mesh of {name!r} are turned inside out: an axis was mirrored or two were swapped"
        )
    raise ModelError(
        f"{len(bad)} of {len(cells)} elements of the mesh of {name!r} are inverted or flat (the first: number "
        f"{int(bad[0])} of its block, near {_place(points[cells[bad[0]]].mean(axis=0))}); mesh that region again"
    )


def check_mesh(name: str, mesh: Any) -> Any:
    """The mesh without unused nodes; refuses flat or inverted elements and loose parts."""
    if mesh_order(mesh) == 1 and len(np.unique(mesh.t)) < mesh.p.shape[1]:
        mesh = mesh.remove_unused_nodes()
    _check_jacobians(name, mesh)
    count, labels = _parts(mesh)
    if count > 1:
        sizes = np.bincount(labels[mesh.t[0]])
        where = ", ".join(
            f"{size} elements near {_place(mesh.p[:, mesh.t[:, labels[mesh.t[0]] == i]].mean(axis=(1, 2)))}"
            for i, size in list(enumerate(sizes))[:4]
        )
        raise ModelError(
            f"the mesh of {name!r} falls into {count} parts that share no node ({where}); merge coincident nodes, "
            "or make each part a member of its own"
        )
    return mesh


def mesh_order(mesh: Any) -> int:
    """1 for straight elements, 2 where the mesh has nodes between the corners."""
    return 2 if type(mesh).__name__ in ("MeshTet2", "MeshHex2") else 1


def _check_jacobians(name: str, mesh: Any) -> None:
    # The sign of the determinant follows scikit-fem's numbering of corners; only a change within an element is a fold.
    mapping = mesh.mapping()
    corners = np.array(mesh.elem.refdom.p, dtype=float)
    inner = 0.999 * corners + 0.001 * corners.mean(axis=1, keepdims=True)
    det = np.asarray(mapping.detDF(inner))
    det = np.broadcast_to(det, (mesh.nelements, inner.shape[1]))
    size = np.abs(det).max()
    flat = np.abs(det).min(axis=1) < 1e-9 * size
    mixed = (det.min(axis=1) < 0) & (det.max(axis=1) > 0)
    bad = np.flatnonzero(flat | mixed)
    if len(bad):
        raise ModelError(
            f"{len(bad)} of {mesh.nelements} elements of the mesh of {name!r} are inverted or flat (the first: number "
            f"{int(bad[0])}, near {_place(mesh.p[:, mesh.t[:, bad[0]]].mean(axis=1))}); mesh that region again"
        )


def _parts(mesh: Any) -> tuple[int, Any]:
    n = mesh.nvertices
    t = np.asarray(mesh.t)
    first = np.repeat(t[:1], t.shape[0] - 1, axis=0).ravel()
    graph = sp.coo_array((np.ones(first.size), (first, t[1:].ravel())), shape=(n, n))
    return sp.csgraph.connected_components(graph, directed=False)


def material_numbers(
    name: str, mesh: Any, material: Material | Mapping[str, Material]
) -> tuple[Array, Array, Array, list[Material]]:
    """Young's modulus, Poisson's ratio and density of each element, and the materials used."""
    if isinstance(material, Material):
        ones = np.ones(mesh.nelements)
        return material.young * ones, material.poisson * ones, material.density * ones, [material]
    regions = dict(mesh.subdomains or {})
    E, nu, rho = (np.full(mesh.nelements, np.nan) for _ in range(3))
    for region, one in material.items():
        if region not in regions:
            raise ModelError(
                f"member {name!r} has a material for region {region!r}, which its mesh does not have; regions here: "
                f"{', '.join(regions) or 'none'}"
            )
        cells = regions[region]
        E[cells], nu[cells], rho[cells] = one.young, one.poisson, one.density
    missing = np.flatnonzero(np.isnan(E))
    if len(missing):
        bare = [r for r, cells in regions.items() if r not in material and np.isin(missing, cells).any()]
        hint = f" (regions without: {', '.join(bare)})" if bare else ""
        raise ModelError(f"{len(missing)} elements of the mesh of {name!r} have no material{hint}")
    return E, nu, rho, list(material.values())


def _place(point: Array) -> str:
    return f"({', '.join(f'{x:.3g}' for x in point)})"
