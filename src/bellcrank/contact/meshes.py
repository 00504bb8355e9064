"""Triangle meshes as they come: repaired with a note, or refused with the reason."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.contact.clouds import HUGE
from bellcrank.contact.given import is_positive
from bellcrank.contact.rim_loops import covered, of_triangles
from bellcrank.contact.shells import facing_outwards
from bellcrank.contact.stitching import joined, welded
from bellcrank.errors import ModelError

if TYPE_CHECKING:
    from bellcrank.contact.creases import Creases
    from bellcrank.contact.outline import Outline
    from bellcrank.contact.sheets import Cut

Array = NDArray[np.float64]
Index = NDArray[np.int64]

THIN = 1e-12
"""Area of a triangle over the square of its longest edge below which it is degenerate."""
LARGEST = 6_000_000
"""Triangles of a mesh: they are looked at with some hundred bytes each."""
FOLDED = math.pi - 1e-5
"""Turn of two faces [rad] beyond which they lie on each other."""
OPEN = "the surface is open: contact ends at its rim"


def sampled(
    vertices: ArrayLike, faces: ArrayLike, spacing: float | None, scale: float, most: int, crowded: int
) -> tuple[Array, Array, tuple[str, ...], tuple[Index, ...], Outline | None, Cut | None, Creases]:
    """Points, outward normals, notes, rims, outline and cut of a mesh, made even where it is not; and it, repaired."""
    points, f, closed, notes = repaired(vertices, faces, scale)
    made = _samples(points, f, closed, spacing, most, crowded)
    if not closed and not made[3]:
        # All its holes are covered.
        notes = tuple(note for note in notes if note != OPEN)
        f, turned, _ = facing_outwards(points, f, covered=True)
        if turned:
            notes = (*notes, *turned)
            made = _samples(points, f, closed, spacing, most, crowded)
    return made[0], made[1], (*notes, *made[2]), *made[3:]


def _samples(
    points: Array, f: Index, closed: bool, spacing: float | None, most: int, crowded: int
) -> tuple[Array, Array, tuple[str, ...], tuple[Index, ...], Outline | None, Cut | None, Creases]:
    """The same of a mesh that is clean."""
    from bellcrank.contact.creases import Creases
    from bellcrank.contact.outline import Outline
    from bellcrank.contact.resampling import resampled
    from bellcrank.contact.sheets import Cut

    mesh = Creases(points, f)
    folds = int(np.count_nonzero((mesh.turns > FOLDED) & (mesh.twins >= 0))) // 2
    if folds:
        raise ModelError(
            f"{folds} edges of the mesh have triangles that lie folded on each other, as where a polygon that is not "
            "convex was cut from one of its corners, or a body has no thickness; triangulate it anew, or leave out one "
            "of both sides"
        )
    even, outline = resampled(mesh, spacing, most, crowded), Outline.of(mesh)
    if even is not None:
        return even[0], even[1], tuple(even[2]), even[3], outline, Cut.of(mesh, even[4]), mesh
    rims, small = of_triangles(f) if not closed else ((), 0)
    kept_points, normals, kept = _with_normals(points, f)
    place = np.cumsum(kept) - 1
    return (
        kept_points,
        normals,
        (covered(small),) if small else (),
        tuple(place[rim[kept[rim]]] for rim in rims),
        outline,
        Cut.of(mesh, None),
        mesh,
    )


def cleaned(vertices: ArrayLike, faces: ArrayLike) -> tuple[Array, Array, tuple[str, ...]]:
    """Points, outward normals and notes of a mesh without doubled points, degenerate triangles and loose vertices."""
    points, f, _, notes = repaired(vertices, faces)
    return *_with_normals(points, f)[:2], notes


def repaired(
    vertices: ArrayLike, faces: ArrayLike, scale: float = 1.0
) -> tuple[Array, NDArray[np.int64], bool, tuple[str, ...]]:
    """Points, faces, whether it is closed, and notes of a mesh without what is doubled, degenerate or loose.

    A closed shell that is inside out is turned; one whose triangles disagree about the outside is refused, as is
    one with vertices that are not numbers. scale: Of the coordinates, such as 1e-3 for a mesh in millimetres.
    """
    v, f = _arrays(vertices, faces)
    if not is_positive(scale):
        raise ModelError(f"the scale of a mesh must be positive, not {scale!r}")
    if len(f) > LARGEST:
        raise ModelError(f"a mesh takes at most {LARGEST} triangles, not {len(f)}; decimate it")
    if len(f) == 0 or f.min() < 0 or f.max() >= len(v):
        raise ModelError("a face of the mesh names a vertex that does not exist")
    used = np.flatnonzero(np.bincount(f.ravel(), minlength=len(v)))
    bad = used[~np.isfinite(v[used]).all(axis=1)]
    if len(bad):
        raise ModelError(f"vertex {bad[0]} of the mesh is not a number ({len(bad)} in all); repair the file")
    notes: list[str] = []
    if len(used) < len(v):
        notes.append(f"left out {len(v) - len(used)} vertices without a triangle")
    farthest = float(np.abs(v[used]).max())
    if not 0.0 < farthest * scale < HUGE:
        raise ModelError(
            f"the mesh has coordinates up to {farthest:g}, {farthest * scale:g} m; give its unit by scale=, "
            "such as scale=1e-3 for millimetres, or repair the file"
        )
    points, back = np.unique(v[used] if scale == 1.0 else scale * v[used], axis=0, return_inverse=True)
    place = np.zeros(len(v), dtype=np.int64)
    place[used] = back.ravel()
    f = place[f]
    if len(points) < len(used):
        notes.append(f"merged {len(used) - len(points)} doubled vertices")
    f = _with_area(points, f, notes)
    f, fewer = welded(points, f)
    if fewer:
        notes.append(f"merged {fewer} vertices on rims that nearly coincided with others")
        f = _with_area(points, f, notes)
    f = _without_doubles(f, notes)
    f, put = joined(points, f)
    if put:
        notes.append(f"put {put} vertices into edges that they lie on")
    points, f = _used(points, f)
    closed = _check_sides(f)
    if not closed:
        notes.append(OPEN)
    f, turned, _ = facing_outwards(points, f)
    return points, np.ascontiguousarray(f), closed, (*notes, *turned)


def _with_area(points: Array, f: Index, notes: list[str]) -> Index:
    """The faces that have an area."""
    edges, area = _edges(points, f)
    longest = np.einsum("kij,kij->ki", edges, edges).max(axis=0)
    whole = np.linalg.norm(area, axis=1) > THIN * longest
    if not whole.all():
        notes.append(f"left out {int((~whole).sum())} triangles without area")
        f = f[whole]
    if len(f) == 0:
        raise ModelError("all triangles of the mesh are without area")
    return f


def _used(points: Array, f: Index) -> tuple[Array, Index]:
    """Points and faces without vertices that no face has any more."""
    used = np.bincount(f.ravel(), minlength=len(points)) > 0
    return (points, f) if used.all() else (points[used], (np.cumsum(used) - 1)[f])


def _arrays(vertices: ArrayLike, faces: ArrayLike) -> tuple[Array, NDArray[np.int64]]:
    try:
        v, given = np.asarray(vertices, dtype=np.float64), np.asarray(faces)
        with np.errstate(invalid="ignore"):
            f = given.astype(np.int64)
        whole = given.dtype.kind in "iu" or np.array_equal(f, given)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"vertices of a mesh are numbers, its faces whole ones ({error})") from error
    if v.ndim != 2 or v.shape[1] != 3 or f.ndim != 2 or f.shape[1] != 3:
        raise ModelError(
            f"a mesh has vertices (number, 3) and faces (number, 3), not {v.shape} and {f.shape}"
        )
    if not whole:
        raise ModelError("the faces of a mesh name their vertices by whole numbers")
    return v, f


def _edges(points: Array, f: NDArray[np.int64]) -> tuple[Array, Array]:
    """Edges of the faces (3, faces, 3), and twice their areas with their normals."""
    first, second, third = (points[f[:, k]] for k in range(3))
    edges = np.stack([second - first, third - second, first - third])
    return edges, np.cross(edges[2], edges[0])


def _with_normals(points: Array, f: NDArray[np.int64]) -> tuple[Array, Array, NDArray[np.bool_]]:
    """The vertices that have a normal, these, of any length, and which they are."""
    edges, area = _edges(points, f)
    normals = np.zeros_like(points)
    lengths = np.linalg.norm(edges, axis=2)
    for k in range(3):
        # Weights of Max (1999): exact for vertices on a sphere.
        share = 1.0 / (lengths[k] * lengths[k - 1]) ** 2
        for c in range(3):
            normals[:, c] += np.bincount(f[:, k], area[:, c] * share, len(points))
    kept = np.linalg.norm(normals, axis=1) > 0.0
    return points[kept], normals[kept], kept


def _without_doubles(f: NDArray[np.int64], notes: list[str]) -> NDArray[np.int64]:
    """Faces that stand there twice, once; those that stand back to back not at all where that leaves a closed mesh."""
    number = int(f.max()) + 1
    ordered = np.sort(f, axis=1)
    # Vertices are fewer than 2^21 in most meshes, but not in all: two numbers instead of one.
    order = np.lexsort((ordered[:, 2], ordered[:, 0] * number + ordered[:, 1]))
    same = (ordered[order[1:]] == ordered[order[:-1]]).all(axis=1)
    if not same.any():
        return f
    part = np.empty(len(f), np.int64)
    part[order] = np.cumsum(np.concatenate([[True], ~same])) - 1
    # Of three different numbers the sign of their order tells how a face is turned.
    way = np.sign((f[:, 0] - f[:, 1]) * (f[:, 1] - f[:, 2]) * (f[:, 2] - f[:, 0]))
    turned = np.stack([np.bincount(part[way == s], minlength=int(part.max()) + 1) for s in (-1, 1)])
    walls = np.asarray(f[(turned.min(axis=0) == 0)[part]])
    first = np.unique(part, return_index=True)[1]
    if 0 < len(walls) < len(f) and turned.max() == 1 and _closed(walls):
        notes.append(f"left out {len(f) - len(walls)} triangles back to back, walls inside the body")
        return walls
    notes.append(f"left out {len(f) - len(first)} triangles that stood there twice")
    return f[np.sort(first)]


def _directed(f: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of the edges of all faces as they run, and as they would run back, sorted."""
    directed = np.concatenate([f[:, (0, 1)], f[:, (1, 2)], f[:, (2, 0)]])
    number = int(f.max()) + 1
    there = np.sort(directed[:, 0] * number + directed[:, 1])
    return there, np.sort(directed[:, 1] * number + directed[:, 0])


def _closed(f: NDArray[np.int64]) -> bool:
    there, back = _directed(f)
    return bool((there[1:] != there[:-1]).all()) and np.array_equal(there, back)


def _check_sides(f: NDArray[np.int64]) -> bool:
    """Whether the mesh is closed; raise where neighbours disagree about the outside or three triangles meet."""
    there, back = _directed(f)
    twice = int(np.count_nonzero(there[1:] == there[:-1]))
    if twice:
        raise ModelError(
            f"{twice} edges of the mesh have triangles that disagree about the outside, or more than "
            "two triangles; orient it first (trimesh.repair.fix_normals), and unite bodies that touch along edges"
        )
    return np.array_equal(there, back)


__all__ = ["cleaned", "repaired", "sampled"]
