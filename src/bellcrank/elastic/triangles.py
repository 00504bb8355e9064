"""Triangles between the nodes of a body, for drawing."""

from __future__ import annotations

import numpy as np

from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.lattices import Index


def triangles(body: ElasticBody) -> Index:
    """Triangles that tile the picture of the body; of a solid one the facets in front, of an axisymmetric one a second
    copy for the mirrored half, whose nodes come after all others."""
    cells = outer_triangles(body)
    if body.dimension == 3:
        normals = np.zeros_like(body.nodes)
        normals[body.surface.nodes] = body.surface.normals
        return np.asarray(cells[normals[cells].mean(axis=1)[:, 1] < 0.0])
    return np.vstack([cells, cells + len(body.nodes)]) if body.axisymmetric else cells


def outer_triangles(body: ElasticBody) -> Index:
    """Triangles of all elements of a flat body, of the outside of a solid one."""
    if body.dimension == 3:
        surface = body.surface.facets
        return _fans(surface.nodes[:, : 3 if surface.kind == "triangle" else 4])
    nodes = body.fields.scalar.element_dofs
    count = 3 if body.element.simplex else 4
    return _fans(nodes[:count].T) if body.element.order == 1 else _fans_second(nodes, count)


def rim(body: ElasticBody) -> Index:
    """The boundary of a flat body as lines between nodes, shape (m, 2)."""
    facets = body.surface.facets.nodes
    if facets.shape[1] == 2:
        return facets
    return np.vstack([facets[:, [0, 2]], facets[:, [2, 1]]])


def _fans(corners: Index) -> Index:
    if corners.shape[1] == 3:
        return corners
    return np.vstack([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]])


def _fans_second(nodes: Index, corners: int) -> Index:
    """Six-node triangles as four, nine-node quadrilaterals as eight around the middle."""
    a, b, c = nodes[0], nodes[1], nodes[2]
    if corners == 3:
        ab, bc, ca = nodes[3], nodes[4], nodes[5]
        four = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        return np.vstack([np.stack(t, axis=1) for t in four])
    d, middle = nodes[3], nodes[8]
    ring = [a, nodes[4], b, nodes[5], c, nodes[6], d, nodes[7]]
    return np.vstack([np.stack([ring[i], ring[(i + 1) % 8], middle], axis=1) for i in range(8)])
