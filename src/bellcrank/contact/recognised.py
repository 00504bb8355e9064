"""Meshes that are boxes, cylinders or other bodies with flat sides: they meet each other as such, edges and all.

The sides of a closed mesh all of whose edges between different planes are creases are flat, and its edges straight
lines. A convex mesh whose vertices lie on two equal circles around one axis, or between them, or on the ends, is a
cylinder.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from bellcrank.contact.creases import LEVEL, Creases
from bellcrank.contact.outline import Outline
from bellcrank.contact.polyhedra import Face, Part, Polyhedron
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import Box, Cylinder, Shape

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FACES = 60
"""Flat sides of a mesh that is taken as a polyhedron, at most."""
CORNERS = 16
"""Of a side, at most."""
SAME = 1e-9
"""Difference of unit vectors, and of volumes over their size, that is rounding."""


@dataclass(frozen=True, eq=False)
class Standing:
    """A shape in the frame of a mesh: rotation (3, 3) and origin [m] of its own frame."""

    shape: Shape
    rotation: Floats
    origin: Floats


def recognised(mesh: Sampled) -> Standing | None:
    """The box, cylinder or polyhedron that a mesh is, or None."""
    if mesh.cut is None:
        return None
    creases = Creases(mesh.cut.points, mesh.cut.faces)
    return _cylinder(creases, mesh.outline) or _polyhedron(creases)


def _convex(mesh: Creases) -> bool:
    """Whether a closed mesh is the hull of its points."""
    try:
        hull = ConvexHull(mesh.points)
    except QhullError:
        return False
    a, b, c = (mesh.points[mesh.faces[:, k]] - mesh.points[0] for k in range(3))
    volume = float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0
    return bool(abs(hull.volume - volume) <= LEVEL * hull.volume)


def _cylinder(mesh: Creases, outline: Outline | None) -> Standing | None:
    if outline is None or len(outline.corners) or len(outline.rings) != 2:
        return None
    one, two = outline.rings
    level = LEVEL * float(np.abs(mesh.points).max())
    axis = two[:3] - one[:3]
    length = float(np.linalg.norm(axis))
    if length <= level or abs(one[6] - two[6]) > level:
        return None
    axis /= length
    radius = 0.5 * float(one[6] + two[6])
    if max(float(np.linalg.norm(np.cross(axis, ring[3:6]))) for ring in (one, two)) * radius > level:
        return None
    d = mesh.points - one[:3]
    along = d @ axis
    out = np.linalg.norm(d - along[:, None] * axis, axis=1)
    on_end = np.minimum(np.abs(along), np.abs(along - length)) <= level
    if not (on_end | (np.abs(out - radius) <= level)).all() or not _convex(mesh):
        return None
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis)
    x /= np.linalg.norm(x)
    turn = np.stack([x, np.cross(axis, x), axis], axis=1)
    return Standing(Cylinder(radius, 0.5 * length), turn, 0.5 * (one[:3] + two[:3]))


def _polyhedron(mesh: Creases) -> Standing | None:
    faces = flat_sides(mesh)
    if faces is None:
        return None
    if not _convex(mesh):
        from bellcrank.contact.covers import covered

        parts = covered(mesh)
        return None if parts is None else Standing(Polyhedron(parts), np.eye(3), np.zeros(3))
    box = _box(faces)
    if box is not None:
        return box
    found = list[Face]()
    for normal, points in faces:
        corners = around(points, normal)
        if corners is None or len(corners) > CORNERS:
            return None
        found.append(Face.whole(normal, corners))
    points = np.unique(np.concatenate([face.corners for face in found]), axis=0)
    part = Part(points, tuple(found), edge_directions(found), np.zeros((0, 4)))
    return Standing(Polyhedron((part,)), np.eye(3), np.zeros(3))


def flat_sides(mesh: Creases) -> list[tuple[Floats, Floats]] | None:
    """Unit normal and vertices of each flat side of a mesh; None where it is not made of flat sides and creases."""
    side, _ = mesh.regions
    count = int(side.max()) + 1
    twin = mesh.twins
    between = (twin >= 0) & (side[np.arange(len(twin)) // 3] != side[np.maximum(twin, 0) // 3])
    if count > FACES or not mesh.crease.ravel()[between].all():
        return None
    found = list[tuple[Floats, Floats]]()
    for k in range(count):
        own = side == k
        normal = (mesh.face_normals[own] * mesh.areas[own, None]).sum(axis=0)
        found.append((normal / np.linalg.norm(normal), mesh.points[np.unique(mesh.faces[own])]))
    return found


def around(points: Floats, normal: Floats) -> Floats | None:
    """The corners of the convex polygon that points in a plane span, against the clock about its normal."""
    u = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    u /= np.linalg.norm(u)
    flat = np.stack([points @ u, points @ np.cross(normal, u)], axis=1)
    try:
        order = ConvexHull(flat).vertices
    except QhullError:
        return None
    corners = points[order]
    way = np.roll(corners, -1, axis=0) - corners
    way /= np.linalg.norm(way, axis=1)[:, None]
    straight = np.linalg.norm(np.cross(np.roll(way, 1, axis=0), way), axis=1) < LEVEL
    return np.asarray(corners[~straight]) if (~straight).sum() > 2 else None


def edge_directions(faces: list[Face]) -> Floats:
    """Unit directions of all edges of sides, each once."""
    found = list[Floats]()
    for face in faces:
        ways = np.roll(face.corners, -1, axis=0) - face.corners
        for way in ways / np.linalg.norm(ways, axis=1)[:, None]:
            if not any(float(np.linalg.norm(np.cross(way, other))) < SAME for other in found):
                found.append(way)
    return np.array(found)


def _box(faces: list[tuple[Floats, Floats]]) -> Standing | None:
    """A box, whose sides are at right angles to each other."""
    if len(faces) != 6:
        return None
    first = faces[0][0]
    across = [n for n, _ in faces if abs(float(n @ first)) < SAME]
    if len(across) != 4:
        return None
    second = across[0]
    turn = np.stack([first, second, np.cross(first, second)], axis=1)
    seen = np.stack([n for n, _ in faces]) @ turn
    if not np.allclose(np.abs(seen).max(axis=1), 1.0, rtol=0.0, atol=SAME):
        return None
    points = np.unique(np.concatenate([p for _, p in faces]), axis=0) @ turn
    low, high = points.min(axis=0), points.max(axis=0)
    half = 0.5 * (high - low)
    return Standing(Box(*(float(x) for x in half)), turn, turn @ (0.5 * (low + high)))


__all__ = ["Standing", "around", "edge_directions", "flat_sides", "recognised"]
