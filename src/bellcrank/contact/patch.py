"""The contact patch of two bodies by fields: the wet part of a surface with its pressure, in one pose."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.field_energy import HALF_SPACE, Mean, Pose, mean_fourth, mean_square
from bellcrank.contact.field_surface import NOTHING, VERTICES
from bellcrank.contact.fields import FieldLaw, surface
from bellcrank.contact.shapes import Shape
from bellcrank.contact.skin import one_sided
from bellcrank.math.vectors import Matrix, Vector
from bellcrank.program.loops import Entry, Reals, Reals2, compiled, reals
from bellcrank.program.loops.layout import ArrayType, Type, type_of

Floats = NDArray[np.float64]


class Patch(NamedTuple):
    """Triangles of a contact patch: corners (n, 3, 3) [m] and the elastic pressure at each corner (n, 3) [Pa]."""

    corners: Floats
    pressure: Floats


@compiled
def wet(
    surface: Any, field: Any, integral: Mean, pose: Pose, corners: Reals2, depths: Reals2, sums: Reals
) -> int:
    """Triangles of a surface that reach into a field, in the surface's frame, and their number.

    Those beyond the length of the arrays are counted only. pose: Of the surface in the frame of the field. sums[0]: The
    integral of the law over all of them.
    """
    found = 0
    sums[0] = 0.0
    here = reals(VERTICES)
    i = 0
    while i < len(surface.nodes):
        node = surface.nodes[i]
        if field.bound(pose.p + pose.R @ surface.centre(i), surface.reach(i)) <= 0.0:
            i = node.skip
            continue
        for k in range(node.vertices):
            here[k] = field.depth(pose.p + pose.R @ surface.vertex(node.first_vertex + k))
        for k in range(node.triangles):
            t = surface.triangles[node.first_triangle + k]
            if max(here[t.a], max(here[t.b], here[t.c])) > 0.0:
                sums[0] += t.area * integral(here[t.a], here[t.b], here[t.c]).mean
                if found < len(depths):
                    a = surface.vertex(node.first_vertex + t.a)
                    b = surface.vertex(node.first_vertex + t.b)
                    c = surface.vertex(node.first_vertex + t.c)
                    corners[found, 0], corners[found, 1], corners[found, 2] = a
                    corners[found, 3], corners[found, 4], corners[found, 5] = b
                    corners[found, 6], corners[found, 7], corners[found, 8] = c
                    depths[found, 0] = here[t.a]
                    depths[found, 1] = here[t.b]
                    depths[found, 2] = here[t.c]
                found += 1
        i += 1
    return found


def _wet_fourth(surface: Any, field: Any, pose: Pose, corners: Reals2, depths: Reals2, sums: Reals) -> int:
    return wet(surface, field, mean_fourth, pose, corners, depths, sums)


def _wet_square(surface: Any, field: Any, pose: Pose, corners: Reals2, depths: Reals2, sums: Reals) -> int:
    return wet(surface, field, mean_square, pose, corners, depths, sums)


_ROWS, _NUMBERS = ArrayType("real", 2), ArrayType("real", 1)
_WET = {FieldLaw.HALF_SPACE: _wet_fourth, FieldLaw.FOUNDATION: _wet_square}


@functools.cache
def _entry(law: FieldLaw, surface: Type, field: Type, pose: Type) -> Entry:
    return Entry(_WET[law], [surface, field, pose, _ROWS, _ROWS, _NUMBERS])


def _wet_triangles(
    made: Any, field: Any, law: FieldLaw, p: Floats, R: Floats
) -> tuple[Floats, Floats, float]:
    """Corners (n, 3, 3), depths there (n, 3), and the integral, of a surface that lies at p, turned by R."""
    pose = Pose(Vector(*p.tolist()), Matrix(*(Vector(*row) for row in R.tolist())))
    run = _entry(law, type_of(made), type_of(field), type_of(pose))
    room = 256
    while True:
        corners, depths, sums = np.empty((room, 9)), np.empty((room, 3)), np.empty(1)
        count = run(made, field, pose, corners, depths, sums)
        if count <= room:
            return corners[:count].reshape(-1, 3, 3), depths[:count], float(sums[0])
        room = count


def patch(
    a: Shape,
    b: Shape,
    law: FieldLaw,
    stiffness: float,
    p: Floats,
    R: Floats,
    bent: Sequence[Any] = (None, None),
) -> Patch:
    """The patch on b's surface, on a's where b has none, in the frame of a.

    stiffness: E* [Pa] or k [N/m^3]. p, R: Origin (3,) [m] and rotation (3, 3) of b's frame in a's. bent: For each of
    them that is the skin of a flexible member, what it is in its present shape (:meth:`SkinShape.deformed`). Damping
    has no part in the pressure.
    """
    one = one_sided(a, b)
    on_a, on_b = (
        own if own is not None else NOTHING if one else surface(shape, other)
        for shape, other, own in ((a, b, bent[0]), (b, a, bent[1]))
    )
    field_a, field_b = (
        own if own is not None else shape.field for shape, own in ((a, bent[0]), (b, bent[1]))
    )
    nothing = np.zeros((0, 3, 3)), np.zeros((0, 3)), 0.0
    of_a = _wet_triangles(on_a, field_b, law, -R.T @ p, R.T) if len(on_a.nodes) else nothing
    of_b = _wet_triangles(on_b, field_a, law, p, R) if len(on_b.nodes) else nothing
    both = len(on_a.nodes) and len(on_b.nodes)
    total = (0.5 if both else 1.0) * (of_a[2] + of_b[2])
    corners, depths, _ = of_b if len(on_b.nodes) else of_a
    corners, depths = clipped(corners, depths)
    if len(on_b.nodes):
        corners = corners @ R.T + p
    if law is FieldLaw.HALF_SPACE:
        pressure = 4.0 * depths**3 * (HALF_SPACE * stiffness / (2.0 * np.sqrt(total)) if total > 0.0 else 0.0)
    else:
        pressure = stiffness * depths
    return Patch(corners, pressure)


def clipped(corners: Floats, depths: Floats) -> tuple[Floats, Floats]:
    """The parts of triangles where a depth, linear in each, is positive: as they are, or one or two triangles."""
    inside = depths > 0.0
    count = inside.sum(axis=1)
    parts = [(corners[count == 3], depths[count == 3])]
    for wet_corners in (1, 2):
        chosen = count == wet_corners
        if not chosen.any():
            continue
        # The corner that differs from the other two comes first.
        alone = (inside[chosen] if wet_corners == 1 else ~inside[chosen]).argmax(axis=1)
        order = (alone[:, None] + np.arange(3)) % 3
        d = np.take_along_axis(depths[chosen], order, axis=1)
        x = np.take_along_axis(corners[chosen], order[:, :, None], axis=1)
        share = d[:, :1] / (d[:, :1] - d[:, 1:])
        cut = x[:, :1] + share[:, :, None] * (x[:, 1:] - x[:, :1])
        zero = np.zeros(len(d))
        if wet_corners == 1:
            parts.append(
                (np.stack([x[:, 0], cut[:, 0], cut[:, 1]], axis=1), np.stack([d[:, 0], zero, zero], axis=1))
            )
        else:
            parts.append(
                (np.stack([cut[:, 0], x[:, 1], x[:, 2]], axis=1), np.stack([zero, d[:, 1], d[:, 2]], axis=1))
            )
            parts.append(
                (np.stack([cut[:, 0], x[:, 2], cut[:, 1]], axis=1), np.stack([zero, d[:, 2], zero], axis=1))
            )
    return np.concatenate([x for x, _ in parts]), np.concatenate([d for _, d in parts])


def coarser(found: Patch, most: int) -> Patch:
    """A patch of at most so many triangles, for pictures: corners within one cell of a grid become their mean."""
    edges = found.corners[:, 1:] - found.corners[:, :1]
    cell = float(np.sqrt(np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1).sum() / max(most, 1)))
    while len(found.corners) > most:
        points, pressure = found.corners.reshape(-1, 3), found.pressure.ravel()
        _, number = np.unique(np.floor(points / cell), axis=0, return_inverse=True)
        number = number.reshape(-1)
        count = np.bincount(number)
        middle = np.column_stack([np.bincount(number, points[:, k]) / count for k in range(3)])
        mean = np.bincount(number, pressure) / count
        faces = number.reshape(-1, 3)
        whole = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
        _, first = np.unique(np.sort(faces[whole], axis=1), axis=0, return_index=True)
        kept = faces[whole][np.sort(first)]
        found = Patch(middle[kept], mean[kept])
        cell *= 1.5
    return found


__all__ = ["Patch", "clipped", "coarser", "patch"]
