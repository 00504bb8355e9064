"""Triangles between the nodes of a body, for drawing."""

from __future__ import annotations

import numpy as np

from bellcrank.elastic.body import ElasticBody
from bellcrank.elastic.lattices import Index


def triangles(body: ElasticBody) -> Index:
    """Triangles that tile the picture of the body; of a solid one the facets in front, of an axisymmetric one a second
    copy for the mirrored half, whose nodes come after all others."""
    if body.dimension == 3:
        surface = body.surface.facets
        corners = surface.nodes[:, : 3 if surface.kind == "triangle" else 4]
        normals = np.zeros_like(body.nodes)
        normals[body.surface.nodes] = body.surface.normals
        front = corners[normals[corners].mean(axis=1)[:, 1] < 0.0]
        return _fans(front)
    nodes = body.fields.scalar.element_dofs
    count = 3 if body.element.simplex else 4
    if body.element.order == 1:
        cells = _fans(nodes[:count].T)
    else:
        cells = _fans_second(nodes, count)
    return np.vstack([cells, cells + len(body.nodes)]) if body.axisymmetric else cells


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
