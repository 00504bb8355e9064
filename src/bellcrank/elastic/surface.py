"""The boundary of a body: nodes, outward normals, areas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bellcrank.elastic.assembly import Fields
from bellcrank.elastic.lattices import Array, Index


@dataclass(frozen=True, eq=False)
class Surface:
    """Nodes of the boundary.

    nodes: their numbers in the body, shape (k,). normals: outward unit normals, shape (k, d). areas: integral of each
    shape function over the boundary [m^2], over the full turn for an axisymmetric body. basis: facet space of
    scikit-fem.
    """

    nodes: Index
    normals: Array
    areas: Array
    basis: Any


def surface(space: Fields, axis: bool) -> Surface:
    """The boundary; the axis of an axisymmetric body is none."""
    import skfem

    mesh = space.vector.mesh
    facets = mesh.boundary_facets()
    if axis:
        rim = np.abs(mesh.p[0]).max()
        facets = facets[np.abs(mesh.p[0][mesh.facets[:, facets]]).max(axis=0) > 1e-9 * rim]
    basis = skfem.FacetBasis(mesh, space.scalar.elem, facets=facets, intorder=5)
    area = basis.dx * space.weight(np.asarray(basis.global_coordinates()))
    count, d = basis.N, mesh.dim()
    areas, normals = np.zeros(count), np.zeros((count, d))
    touched = np.zeros(count, dtype=bool)
    for i in range(basis.Nbfun):
        shape = np.asarray(basis.basis[i][0])
        nodes = basis.element_dofs[i]
        np.add.at(areas, nodes, (shape * area).sum(axis=-1))
        for k in range(d):
            np.add.at(normals[:, k], nodes, (np.abs(shape) * basis.normals[k] * basis.dx).sum(axis=-1))
        touched[nodes[np.abs(shape).max(axis=-1) > 1e-9]] = True
    found = np.flatnonzero(touched)
    n = normals[found]
    if axis:
        # By symmetry a pole has its normal along the axis.
        n[np.abs(space.scalar.doflocs[0][found]) < 1e-9 * np.abs(mesh.p[0]).max(), 0] = 0.0
    length = np.linalg.norm(n, axis=1, keepdims=True)
    return Surface(found, n / np.where(length > 0.0, length, 1.0), areas[found], basis)
