"""What a mesh must be before anything is computed on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.elastic.lattices import Array, Index
from bellcrank.errors import ModelError


def check_elements(mesh: Any, basis: Any, name: str) -> None:
    """Refuse elements that are flat, turned inside out or folded over a neighbour."""
    mapping = basis.mapping
    determinant = mapping.detDF(basis.X) * np.ones((mesh.t.shape[1], basis.X.shape[-1]))
    low, high = determinant.min(axis=1), determinant.max(axis=1)
    extreme = np.maximum(np.abs(low), np.abs(high))
    bad = (low * high <= 0.0) | (extreme <= 1e-12 * np.median(extreme))
    if not bad.any():
        bad = _folded(mesh)
    if bad.any():
        listed = np.flatnonzero(bad)
        first = mesh.p[:, mesh.t[:, listed[0]]].mean(axis=1)
        place = ", ".join(f"{x:.4g}" for x in first)
        raise ModelError(
            f"{len(listed)} inverted or flat element(s) in the mesh of {name!r}, the first is number {listed[0]} near "
            f"({place}); check the order of its nodes, or mesh that corner finer"
        )


def _folded(mesh: Any) -> Any:
    """Elements on the same side of a facet as the neighbour they share it with."""
    inner = np.flatnonzero(mesh.f2t[1] >= 0)
    corners = mesh.p[:, mesh.facets[:, inner]]
    centre = corners.mean(axis=1)
    if mesh.dim() == 2:
        along = corners[:, 1] - corners[:, 0]
        normal = np.array([-along[1], along[0]])
    else:
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], axis=0)
    middles = mesh.p[:, mesh.t].mean(axis=1)
    one = (normal * (middles[:, mesh.f2t[0, inner]] - centre)).sum(axis=0)
    two = (normal * (middles[:, mesh.f2t[1, inner]] - centre)).sum(axis=0)
    bad = np.zeros(mesh.t.shape[1], dtype=bool)
    bad[mesh.f2t[1, inner[one * two >= 0.0]]] = True
    if mesh.doflocs.shape[1] > mesh.t.max() + 1:
        # Corners say too little of an element with curved sides: the determinant judges those.
        bad[mesh.f2t[0, mesh.boundary_facets()]] = False
    return bad


def rigid_motions(nodes: Array, axisymmetric: bool) -> Array:
    """Displacements of the nodes that strain nothing, one column each."""
    count, d = nodes.shape
    if axisymmetric:
        motion = np.zeros((count, 2))
        motion[:, 1] = 1.0
        return motion.reshape(-1, 1)
    columns = [np.tile(np.eye(d)[k], (count, 1)) for k in range(d)]
    x = nodes - nodes.mean(axis=0)
    for a, b in ((0, 1), (1, 2), (0, 2))[: 1 if d == 2 else 3]:
        turn = np.zeros((count, d))
        turn[:, a], turn[:, b] = -x[:, b], x[:, a]
        columns.append(turn / np.abs(x).max())
    return np.stack([c.ravel() for c in columns], axis=1)


def check_supported(nodes: Array, held: Index, axisymmetric: bool, name: str) -> None:
    """Refuse a static problem in which the body can move as a whole: its stiffness is singular."""
    motions = rigid_motions(nodes, axisymmetric)
    rank = 0 if held.size == 0 else int(np.linalg.matrix_rank(motions[held], tol=1e-8))
    free = motions.shape[1] - rank
    if free:
        raise ModelError(
            f"the stiffness of {name!r} is singular: {free} rigid motion(s) are left free; add supports, or simulate "
            "its motion, where the mass holds it"
        )
