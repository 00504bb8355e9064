"""Surfaces of flexible members that bend with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.shapes import Part
from bellcrank.contact.skin import MOST, RodSkin, Skin, SkinShape, surface_around
from bellcrank.errors import ModelError
from bellcrank.flexible.recovery import outer_faces
from bellcrank.flexible.rods import Rod

if TYPE_CHECKING:
    from bellcrank.contact.shapes import Shape
    from bellcrank.contact.triangles import Triangles
    from bellcrank.flexible.member import FlexibleMember
    from bellcrank.flexible.recovery import Field

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


def skin_of(
    who: str, member: FlexibleMember, shape: Shape | None, at: Array, rotation: Array, spacing: float | None
) -> SkinShape:
    """The surface of a member: that of its solid elements, or the surface of a shape around its axis.

    at, rotation: Of the shape's frame in the member's axes; around a rod, as if it were straight. spacing: The longest
    edge of its triangles [m].
    """
    if spacing is not None and not spacing > 0.0:
        raise ModelError(f"{who}: spacing must be a positive length [m], not {spacing!r}")
    if isinstance(member, Rod):
        return RodSkin(*around(who, member, shape, at, rotation, spacing)[::2])
    field = member.fields.get("displacement")
    if field is None:
        raise ModelError(f"{who} has no displacement field, so that its surface cannot follow")
    faces = outer_faces(np.asarray(field.cells, np.int64), np.asarray(field.points, float))
    part: Part | None = None
    solid = bool(len(faces))
    if solid:
        if shape is not None:
            raise ModelError(
                f"{who} is made of solid elements and has a surface of its own; leave the shape out"
            )
        vertices, modes = np.asarray(field.points, float), np.asarray(field.values, float)
    else:
        part, found, _ = around(who, member, shape, at, rotation, spacing)
        vertices, faces = found.vertices, np.asarray(found.faces, np.int64)
        modes = along_axis(who, field, member.fields.get("rotation"), vertices)
    used, faces = np.unique(faces, return_inverse=True)
    vertices, modes, faces = vertices[used], modes[used], faces.reshape(-1, 3)
    if solid and spacing is not None:
        vertices, modes, faces = quartered(who, vertices, modes, faces, float(spacing))
    return Skin(np.ascontiguousarray(vertices), faces, np.ascontiguousarray(modes), part)


def around(
    who: str,
    member: FlexibleMember,
    shape: Shape | None,
    at: Array,
    rotation: Array,
    spacing: float | None,
) -> tuple[Part, Triangles, float]:
    """A shape around the axis of a member at its place, its triangles, and their longest edge [m]."""
    if shape is None:
        raise ModelError(
            f"{who} has no solid elements; give the shape around its axis, such as "
            "skin(contact.Capsule(radius, half_length), at=(...), rotation=...)"
        )
    part = Part(shape, at, rotation)
    try:
        return part, *surface_around(part, member.extent, spacing)
    except ModelError as error:
        raise ModelError(f"{who}: {error}") from None


def along_axis(who: str, displacement: Field, rotation: Field | None, vertices: Array) -> Array:
    """Modes (n, 3, k) of points around a line of beam elements: their sections move and turn as wholes.

    Between two nodes the axis is Hermite's cubic with the slopes of the turned sections, and the rotation is linear.
    """
    points, cells = np.asarray(displacement.points, float), np.asarray(displacement.cells, np.int64)
    if cells.ndim != 2 or cells.shape[1:] != (2,) or not len(cells):
        raise ModelError(f"{who} has neither solid nor beam elements, so that its surface cannot follow")
    d = np.asarray(displacement.values, float)
    ends = points[cells]
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1)
    tangent = along / length[:, None]
    if rotation is not None:
        turn = np.asarray(rotation.values, float)
    else:
        # The mean slope of the elements at a node; twist is not known.
        slopes = (d[cells[:, 1]] - d[cells[:, 0]]) / length[:, None, None]
        own = np.cross(tangent[:, :, None], slopes, axis=1)
        turn, count = np.zeros_like(d), np.zeros(len(points))
        for k in (0, 1):
            np.add.at(turn, cells[:, k], own)
            np.add.at(count, cells[:, k], 1.0)
        turn /= np.maximum(count, 1.0)[:, None, None]
    # The nearest place on the line.
    offset = vertices[:, None] - ends[None, :, 0]
    s = np.clip(np.einsum("nej,ej->ne", offset, along) / length**2, 0.0, 1.0)
    away = np.linalg.norm(offset - s[:, :, None] * along, axis=2)
    cell = away.argmin(axis=1)
    s = s[np.arange(len(vertices)), cell][:, None, None]
    i, j, L, t = cells[cell, 0], cells[cell, 1], length[cell][:, None, None], tangent[cell][:, :, None]
    stretch = np.einsum("nik,ni->nk", d[j] - d[i], tangent[cell])[:, None] * t / L
    rise = [np.cross(turn[k], t, axis=1) + stretch for k in (i, j)]
    axis = (
        (1 + 2 * s) * (1 - s) ** 2 * d[i]
        + s**2 * (3 - 2 * s) * d[j]
        + L * (s * (1 - s) ** 2 * rise[0] - s**2 * (1 - s) * rise[1])
    )
    arm = (vertices - (ends[cell, 0] + s[:, :, 0] * along[cell]))[:, :, None]
    return np.asarray(axis + np.cross((1 - s) * turn[i] + s * turn[j], arm, axis=1))


def quartered(
    who: str, vertices: Array, modes: Array, faces: Integers, spacing: float
) -> tuple[Array, Array, Integers]:
    """Triangles cut into four until no edge is longer than `spacing`."""
    while True:
        corners = vertices[faces]
        sides = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        if sides.max() <= spacing:
            return vertices, modes, faces
        if 4 * len(faces) > MOST:
            raise ModelError(
                f"{who}: spacing {spacing:g} m gives more than {MOST:,} triangles; give a larger one"
            )
        pairs = np.sort(np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
        edges, number = np.unique(pairs, axis=0, return_inverse=True)
        middle = len(vertices) + number.reshape(-1, 3)
        vertices = np.concatenate([vertices, vertices[edges].mean(axis=1)])
        modes = np.concatenate([modes, modes[edges].mean(axis=1)])
        (a, b, c), (ab, bc, ca) = faces.T, middle.T
        faces = np.concatenate(
            [np.column_stack(x) for x in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        )


def node_of(member: Any) -> Array:
    """A place on the member that has a node, where a skin is said to stand."""
    return np.asarray(next(iter(member.nodes.values())).position, float)
