"""What can be recovered along a beam: displacement, section forces, strain and stress at the sections'
extremes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.flexible.beam_elements import interpolate
from bellcrank.flexible.model import Array, FieldMatrix, Sparse
from bellcrank.flexible.recovery import SPATIAL
from bellcrank.flexible.sections import section_at

if TYPE_CHECKING:
    from bellcrank.flexible.beams import BeamMesh

RESULTANTS = ("normal", "torque", "moment_y", "moment_z")


def beam_fields(mesh: BeamMesh) -> dict[str, FieldMatrix]:
    """Displacement of the node line, rotation of the sections, section forces, axial strain and stress; at a node the
    mean of both sides."""
    line = np.column_stack([mesh.nodes, np.zeros((len(mesh.nodes), 2))])
    edges = np.column_stack([np.arange(len(mesh.nodes) - 1), np.arange(1, len(mesh.nodes))])
    fields = {
        "displacement": FieldMatrix(line, _mean(mesh, _displacement), SPATIAL, "m", edges),
        "rotation": FieldMatrix(line, _mean(mesh, _rotation), SPATIAL, "rad", edges),
        "section force": FieldMatrix(line, _mean(mesh, _resultants), RESULTANTS, "N, N m", edges),
    }
    if section_at(mesh.profile, 0.0).extremes:
        points = np.concatenate([_extreme_points(mesh, i) for i in range(len(mesh.nodes))])
        none = np.zeros((0, 2), dtype=np.int64)
        strain = _mean(mesh, _extreme_strains)
        fields["strain"] = FieldMatrix(points, strain, ("xx",), "1", none)
        fields["stress"] = FieldMatrix(points, mesh.material.young * strain, ("xx",), "Pa", none)
    return fields


Rows = Callable[["BeamMesh", int, int, float], Array]


def _mean(mesh: BeamMesh, rows: Rows) -> Sparse:
    last = len(mesh.nodes) - 1
    total = None
    for side in (0, 1):
        entries = []
        for i in range(last + 1):
            index = min(i, last - 1) if side else max(i - 1, 0)
            xi = float(i - index)
            entries.append((index, 0.5 * rows(mesh, i, index, xi)))
        part = mesh.operator(entries)
        total = part if total is None else total + part
    return total


def _displacement(mesh: BeamMesh, node: int, index: int, xi: float) -> Array:
    rows = np.zeros((3, 12))
    rows[:, 6 * int(xi) : 6 * int(xi) + 3] = np.eye(3)
    return rows


def _rotation(mesh: BeamMesh, node: int, index: int, xi: float) -> Array:
    rows = np.zeros((3, 12))
    rows[:, 6 * int(xi) + 3 : 6 * int(xi) + 6] = np.eye(3)
    return rows


def _resultants(mesh: BeamMesh, node: int, index: int, xi: float) -> Array:
    s = section_at(mesh.profile, mesh.nodes[node] - mesh.origin)
    at = interpolate(mesh.elements[index], xi)
    E, G = mesh.material.young, mesh.material.shear
    twist, bend_y, bend_z = at.curvature
    return np.array(
        [
            E * s.area * at.slope[0],
            G * s.torsion_constant * twist,
            E * (s.bending_y * bend_y - s.product * bend_z),
            E * (s.bending_z * bend_z - s.product * bend_y),
        ]
    )


def _extreme_strains(mesh: BeamMesh, node: int, index: int, xi: float) -> Array:
    """u' - y rz' + z ry'."""
    s = section_at(mesh.profile, mesh.nodes[node] - mesh.origin)
    at = interpolate(mesh.elements[index], xi)
    return np.array([at.slope[0] - y * at.curvature[2] + z * at.curvature[1] for y, z in s.extremes])


def _extreme_points(mesh: BeamMesh, node: int) -> Array:
    s = section_at(mesh.profile, mesh.nodes[node] - mesh.origin)
    return np.array([[mesh.nodes[node], s.offset[0] + y, s.offset[1] + z] for y, z in s.extremes])
