"""Triangles of the surface on which a field of depth vanishes: one vertex for each cell of a grid that it crosses.

Source: Gibson (1998), Constrained elastic surface nets; the vertices are then brought onto the surface along the slope.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.shapes.fields import Field, depths
from bellcrank.contact.triangles import Triangles

Floats = NDArray[np.float64]

PULLS = 3
"""Newton steps onto the surface: quadratic, from a fraction of a cell."""


def surface_nets(field: Field, low: Floats, high: Floats, spacing: float) -> Triangles:
    """The surface within the box from `low` to `high` [m], with triangles of about `spacing` [m]."""
    shape = np.maximum(np.ceil((high - low) / spacing).astype(np.int64), 1) + 1
    axes = [low[k] + spacing * np.arange(shape[k]) for k in range(3)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    depth = depths(field, nodes)[0].reshape(shape)
    cells = shape - 1
    crossings, count = np.zeros((*cells, 3)), np.zeros(cells)
    squares = []
    for axis in range(3):
        d = np.moveaxis(depth, axis, 0)
        cut = (d[:-1] > 0.0) != (d[1:] > 0.0)
        at = np.argwhere(cut)
        inner = d[:-1][cut]
        share = inner / (inner - d[1:][cut])
        order = [1, 2]
        order.insert(axis, 0)
        edge = at[:, order]
        point = edge.astype(np.float64)
        point[:, axis] += share
        across = [k for k in range(3) if k != axis]
        corners = []
        whole = np.ones(len(edge), bool)
        for i, j in ((-1, -1), (0, -1), (0, 0), (-1, 0)):
            cell = edge.copy()
            cell[:, across[0]] += i
            cell[:, across[1]] += j
            good = np.all((cell >= 0) & (cell < cells), axis=1)
            whole &= good
            np.add.at(crossings, tuple(cell[good].T), point[good])
            np.add.at(count, tuple(cell[good].T), 1.0)
            corners.append((cell[:, 0] * cells[1] + cell[:, 1]) * cells[2] + cell[:, 2])
        square = np.stack(corners, axis=1)[whole]
        # The edge leads out of the body where its first end is inside; the cells turn about x and z, against y.
        turned = (inner[whole] > 0.0) != (axis != 1)
        squares.append(np.where(turned[:, None], square[:, ::-1], square))
    quads = np.concatenate(squares)
    held = np.flatnonzero(count.reshape(-1) > 0.0)
    number = np.full(int(np.prod(cells)), -1, np.int64)
    number[held] = np.arange(len(held))
    vertices = low + spacing * (crossings.reshape(-1, 3)[held] / count.reshape(-1)[held][:, None])
    for _ in range(PULLS):
        d, g = depths(field, vertices)
        step = g * (d / np.maximum((g * g).sum(axis=1), 1e-6))[:, None]
        # No farther than a cell: beside a thin wall the slope may lead to its other side.
        length = np.linalg.norm(step, axis=1)[:, None]
        vertices = vertices - step * np.minimum(1.0, spacing / np.maximum(length, 1e-300))
    quads = number[quads]
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return Triangles(vertices, faces)


__all__ = ["surface_nets"]
