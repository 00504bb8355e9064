"""Triangle meshes as they come: read, repaired with a note, or refused with the reason."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.contact.rim_loops import of_triangles
from bellcrank.contact.rims import FEWEST
from bellcrank.errors import ModelError

Array = NDArray[np.float64]
Index = NDArray[np.int64]

THIN = 1e-12
"""Area of a triangle over the square of its longest edge below which it is degenerate."""


def read(path: str | PathLike[str]) -> tuple[Array, NDArray[np.int64]]:
    """Vertices and faces of a mesh file (STL, OBJ, PLY)."""
    try:
        import trimesh
    except ImportError as error:
        raise ModelError("mesh files are read by trimesh: pip install 'bellcrank[mesh]'") from error
    try:
        mesh: Any = trimesh.load(str(path), force="mesh", process=False)
    except Exception as error:
        raise ModelError(f"{path}: not a mesh that can be read ({error})") from error
    if not hasattr(mesh, "faces") or len(mesh.faces) == 0:
        raise ModelError(f"{path}: the file holds no triangles")
    return np.asarray(mesh.vertices, dtype=np.float64), np.asarray(mesh.faces, dtype=np.int64)


def cleaned(vertices: ArrayLike, faces: ArrayLike) -> tuple[Array, Array, tuple[str, ...]]:
    """Points, outward normals and notes of a mesh without doubled points, degenerate triangles and loose vertices."""
    return opened(vertices, faces)[:3]


def opened(vertices: ArrayLike, faces: ArrayLike) -> tuple[Array, Array, tuple[str, ...], tuple[Index, ...]]:
    """The same, and the vertices along each rim.

    A closed mesh that is inside out is turned; one whose triangles disagree about the outside is refused, as is
    one with vertices that are not numbers.
    """
    v, f = np.asarray(vertices, dtype=np.float64), np.asarray(faces, dtype=np.int64)
    if v.ndim != 2 or v.shape[1] != 3 or f.ndim != 2 or f.shape[1] != 3:
        raise ModelError(
            f"a mesh has vertices (number, 3) and faces (number, 3), not {v.shape} and {f.shape}"
        )
    if len(f) == 0 or f.min() < 0 or f.max() >= len(v):
        raise ModelError("a face of the mesh names a vertex that does not exist")
    used = np.flatnonzero(np.bincount(f.ravel(), minlength=len(v)))
    bad = used[~np.isfinite(v[used]).all(axis=1)]
    if len(bad):
        raise ModelError(f"vertex {bad[0]} of the mesh is not a number ({len(bad)} in all); repair the file")
    notes: list[str] = []
    if len(used) < len(v):
        notes.append(f"left out {len(v) - len(used)} vertices without a triangle")
    points, back = np.unique(v[used], axis=0, return_inverse=True)
    place = np.zeros(len(v), dtype=np.int64)
    place[used] = back.ravel()
    f = place[f]
    if len(points) < len(used):
        notes.append(f"merged {len(used) - len(points)} doubled vertices")
    first, second, third = (points[f[:, k]] for k in range(3))
    edges = np.stack([second - first, third - second, first - third])
    area = np.cross(edges[2], edges[0])
    longest = np.einsum("kij,kij->ki", edges, edges).max(axis=0)
    whole = np.linalg.norm(area, axis=1) > THIN * longest
    if not whole.all():
        notes.append(f"left out {int((~whole).sum())} triangles without area")
        f, area, edges = f[whole], area[whole], edges[:, whole]
    if len(f) == 0:
        raise ModelError("all triangles of the mesh are without area")
    closed = _check_sides(f)
    rims, small = of_triangles(f) if not closed else ((), 0)
    if rims:
        notes.append("the surface is open: contact ends at its rim")
    if small:
        notes.append(f"covered {small} hole{'s' if small > 1 else ''} of fewer than {FEWEST} vertices")
    if closed and float(np.einsum("ij,ij->", points[f[:, 0]], area)) < 0.0:
        notes.append("turned the triangles, which faced inwards")
        area = -area
    normals = np.zeros_like(points)
    lengths = np.linalg.norm(edges, axis=2)
    for k in range(3):
        # Weights of Max (1999): exact for vertices on a sphere.
        share = 1.0 / (lengths[k] * lengths[k - 1]) ** 2
        for c in range(3):
            normals[:, c] += np.bincount(f[:, k], area[:, c] * share, len(points))
    kept = np.linalg.norm(normals, axis=1) > 0.0
    place = np.cumsum(kept) - 1
    rims = tuple(place[rim[kept[rim]]] for rim in rims)
    return points[kept], normals[kept], tuple(notes), rims


def _check_sides(f: NDArray[np.int64]) -> bool:
    """Whether the mesh is closed; raise where neighbours disagree about the outside or three triangles meet."""
    directed = np.concatenate([f[:, (0, 1)], f[:, (1, 2)], f[:, (2, 0)]])
    number = int(f.max()) + 1
    there = np.sort(directed[:, 0] * number + directed[:, 1])
    twice = int(np.count_nonzero(there[1:] == there[:-1]))
    if twice:
        raise ModelError(
            f"{twice} edges of the mesh have triangles that disagree about the outside, or more than "
            "two triangles; orient it first (trimesh.repair.fix_normals)"
        )
    back = np.sort(directed[:, 1] * number + directed[:, 0])
    return np.array_equal(there, back)


__all__ = ["cleaned", "opened", "read"]
