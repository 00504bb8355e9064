"""Straight-sided meshes of squares and cubes from which the built-in shapes are bent.

A ball is bent from the cube [-1, 1]^d: a core cube and one frustum on each face, so that no element has a corner of
180 degrees. The same map serves disc and ball.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.optional import finite_elements
from bellcrank.errors import ModelError

Array = NDArray[np.float64]
Index = NDArray[np.int64]

MAX_UNKNOWNS = 2_000_000
"""Of a body: a quarter of a million triangles of second order, half a gigabyte before anything is computed."""


def spaced(start: float, stop: float, count: int, grading: float = 1.0) -> Array:
    """`count` cells from start to stop in geometric progression; the last is `grading` times the first."""
    if count == 1 or grading == 1.0:
        return np.linspace(start, stop, count + 1)
    sizes = grading ** np.linspace(0.0, 1.0, count)
    ends = np.concatenate([[0.0], np.cumsum(sizes)])
    return np.asarray(start + (stop - start) * ends / ends[-1])


def made(kind: Any, points: Array, cells: Index) -> Any:
    """A mesh; scikit-fem wants its arrays in C order and says so on every copy."""
    return kind(np.ascontiguousarray(points), np.ascontiguousarray(cells))


def tensor_cells(lines: Sequence[Array]) -> Any:
    """Quadrilaterals or hexahedra between lattice lines."""
    skfem = finite_elements()
    return (skfem.MeshQuad if len(lines) == 2 else skfem.MeshHex).init_tensor(*lines)


def glued(parts: Sequence[Any]) -> Any:
    """One mesh from several of the same kind that meet node to node."""
    points = np.hstack([part.p for part in parts])
    starts = np.cumsum([0, *(part.p.shape[1] for part in parts[:-1])])
    cells = np.hstack([part.t + start for part, start in zip(parts, starts, strict=True)])
    scale = np.abs(points).max()
    _, first, inverse = np.unique(
        np.round(points / scale, 9) + 0.0, axis=1, return_index=True, return_inverse=True
    )
    return made(type(parts[0]), points[:, first], inverse.reshape(-1)[cells])


def ball_cells(dimension: int, across: int, layers: int, core: float, half: bool = False) -> Any:
    """The cube [-1, 1]^d as core and frusta. half: keep x >= 0 only (the section of an axisymmetric ball)."""
    line = np.linspace(-1.0, 1.0, across + 1)
    shells = np.linspace(core, 1.0, layers + 1)
    parts = [tensor_cells([core * line] * dimension)]
    for axis, sign in product(range(dimension), (-1.0, 1.0)):
        lines = [line] * dimension
        lines[axis] = shells
        part = tensor_cells(lines)
        p = part.p.copy()
        m = p[axis].copy()
        p *= m
        p[axis] = sign * m
        parts.append(made(type(part), p, part.t))
    mesh = glued(parts)
    if not half:
        return mesh
    kept = mesh.restrict(np.flatnonzero(mesh.p[0][mesh.t].mean(axis=0) > 0.0))
    return made(type(kept), kept.p, kept.t)


def cube_to_ball(x: Array, core: float) -> Array:
    """The unit ball from the cube: the core stays, each frustum is blended to the sphere. x: shape (d, k)."""
    m = np.abs(x).max(axis=0)
    outside = m > core * (1.0 + 1e-12)
    y = x.copy()
    direction = x[:, outside] / m[outside]
    bent = np.tan(0.25 * np.pi * direction)
    bent /= np.linalg.norm(bent, axis=0)
    share = (m[outside] - core) / (1.0 - core)
    y[:, outside] = (1.0 - share) * core * direction + share * bent
    return y


def crowd(x: Array, pole: Array, grading: float) -> Array:
    """The unit ball onto itself, conformally: elements at the pole `grading` times smaller than opposite.

    The hyperbolic translation by a = c * pole: T(x) = ((1 + 2 a.x + |x|^2) a + (1 - |a|^2) x) / (1 + 2 a.x + |a|^2
    |x|^2).
    """
    root = np.sqrt(grading)
    a = (root - 1.0) / (root + 1.0) * pole[:, None]
    ax, aa, xx = (a * x).sum(axis=0), float((a * a).sum()), (x * x).sum(axis=0)
    return np.asarray(((1.0 + 2.0 * ax + xx) * a + (1.0 - aa) * x) / (1.0 + 2.0 * ax + aa * xx))


def triangles(quads: Any) -> Any:
    """Two triangles in each quadrilateral."""
    return quads.to_meshtri()


def tetrahedra(hexes: Any) -> Any:
    """Twelve tetrahedra around the centre of each hexahedron; faces are cut from their lowest node, so they fit."""
    from skfem import MeshTet

    faces = hexes.facets[:, hexes.t2f]
    count = hexes.t.shape[1]
    centres = hexes.p.shape[1] + np.arange(count)
    cells = []
    for face in np.moveaxis(faces, 1, 0):
        around = cyclic(hexes.p, face)
        low = around.argmin(axis=0)
        turn = (low[None, :] + np.arange(4)[:, None]) % 4
        a, b, c, d = np.take_along_axis(around, turn, axis=0)
        cells += [np.vstack([a, b, c, centres]), np.vstack([a, c, d, centres])]
    points = np.hstack([hexes.p, hexes.p[:, hexes.t].mean(axis=1)])
    return made(MeshTet, points, np.hstack(cells))


def cyclic(points: Array, face: Index) -> Index:
    """The four nodes of each face in order around it."""
    corner = points[:, face]
    spokes = corner - corner.mean(axis=1, keepdims=True)
    first = spokes[:, 0]
    first = first / np.linalg.norm(first, axis=0)
    normal = np.cross(spokes[:, 0], spokes[:, 1], axis=0)
    flat = np.linalg.norm(normal, axis=0) < 1e-9 * np.linalg.norm(spokes[:, 0], axis=0) ** 2
    normal[:, flat] = np.cross(spokes[:, 0], spokes[:, 2], axis=0)[:, flat]
    normal = normal / np.linalg.norm(normal, axis=0)
    second = np.cross(normal, first, axis=0)
    angle = np.arctan2((spokes * second[:, None]).sum(axis=0), (spokes * first[:, None]).sum(axis=0))
    return np.asarray(np.take_along_axis(face, np.argsort(angle, axis=0), axis=0))


def refined_near(mesh: Any, place: Any, target: Array, levels: int, least: float) -> Any:
    """Triangles or tetrahedra halved `levels` times around a point of the unit ball; `place` maps the mesh to the ball.

    The reach of each halving is half that of the one before, but not below `least`. A triangle is cut into four;
    tetrahedra are cut in two at their longest edges, until these are half as long as at the halving before.
    """
    d = mesh.dim()
    longest = _longest_edges(mesh, place).max() if d == 3 else 0.0
    for level in range(levels):
        reach = max(0.7 * 0.5**level, least)
        longest *= 0.5
        while True:
            centres = place(mesh.p[:, mesh.t].mean(axis=1))
            near = np.linalg.norm(centres - target[:, None], axis=0) < reach
            if d == 3:
                near &= _longest_edges(mesh, place) > longest
            if not near.any():
                break
            # In second order 2^d nodes to an element where neighbours share them; each of those near becomes two.
            unknowns = (mesh.t.shape[1] + np.count_nonzero(near)) * 2**d * d
            if unknowns > MAX_UNKNOWNS:
                raise ModelError(
                    f"refinement {level + 1} of {levels} makes {unknowns:.2g} unknowns or more; "
                    f"up to {MAX_UNKNOWNS:.0e} are built: ask for fewer, or for a smaller contact_zone"
                )
            mesh = _cut(mesh, np.flatnonzero(near))
            if d == 2:
                break
    return mesh


def _cut(mesh: Any, chosen: Index) -> Any:
    """The mesh with some elements cut; that arrays are copied for it is no news."""
    quiet = logging.getLogger("skfem.mesh.mesh")
    before = quiet.level
    quiet.setLevel(logging.ERROR)
    try:
        return mesh.refined(chosen)
    finally:
        quiet.setLevel(before)


def _longest_edges(mesh: Any, place: Any) -> Array:
    """Of each tetrahedron, in the ball."""
    corners = place(mesh.p)[:, mesh.t]
    edges = [corners[:, i] - corners[:, j] for i in range(4) for j in range(i)]
    return np.asarray(np.sqrt(np.max([(e * e).sum(axis=0) for e in edges], axis=0)))
