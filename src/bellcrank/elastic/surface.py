"""The boundary of a body: facets, nodes, outward normals, areas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bellcrank.elastic.assembly import Fields
from bellcrank.elastic.facets import Facets, boundary, quadrature
from bellcrank.elastic.lattices import Array, Index


@dataclass(frozen=True, eq=False)
class Surface:
    """Nodes of the boundary.

    nodes: their numbers in the body, shape (k,). normals: outward unit normals, shape (k, d). areas: integral of each
    shape function over the boundary [m^2], over the full turn for an axisymmetric body.
    """

    nodes: Index
    normals: Array
    areas: Array
    facets: Facets


def surface(space: Fields, order: int, axis: bool) -> Surface:
    """The boundary; the axis of an axisymmetric body is none."""
    mesh = space.vector.mesh
    chosen = mesh.boundary_facets()
    rim = np.abs(mesh.p[0]).max()
    if axis:
        chosen = chosen[np.abs(mesh.p[0][mesh.facets[:, chosen]]).max(axis=0) > 1e-9 * rim]
    x = space.scalar.doflocs.T
    facets = boundary(mesh, space.scalar.dofs, order, chosen)
    rule = quadrature(facets, x, 5)
    area = rule.lengths * space.weight(np.moveaxis(rule.points, 2, 0))
    areas, normals = np.zeros(len(x)), np.zeros_like(x)
    np.add.at(areas, facets.nodes, area @ rule.values)
    np.add.at(
        normals, facets.nodes, np.einsum("fq,fqd,qn->fnd", rule.lengths, rule.normals, np.abs(rule.values))
    )
    found = np.unique(facets.nodes)
    n = normals[found]
    if axis:
        # By symmetry a pole has its normal along the axis.
        n[np.abs(x[found, 0]) < 1e-9 * rim, 0] = 0.0
    length = np.linalg.norm(n, axis=1, keepdims=True)
    return Surface(found, n / np.where(length > 0.0, length, 1.0), areas[found], facets)
