"""Boundary facets with their own shape functions, and the points on them nearest to given points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from bellcrank.elastic.lattices import Array, Index, cyclic


@dataclass(frozen=True, eq=False)
class Facets:
    """Boundary facets of a body.

    nodes: shape (facets, nodes of one). kind: "line", "triangle" or "square". inside: a point behind each facet [m].
    """

    nodes: Index
    kind: str
    order: int
    inside: Array


def boundary(mesh: Any, dofs: Any, order: int, chosen: Index) -> Facets:
    """These facets of a mesh; corners first, then edges, then the middle."""
    corners = mesh.facets[:, chosen].astype(np.int64)
    inside = mesh.p[:, mesh.t[:, mesh.f2t[0, chosen]]].mean(axis=1).T
    if mesh.dim() == 2:
        found = [corners] if order == 1 else [corners, dofs.facet_dofs[:, chosen]]
        return Facets(np.vstack(found).T, "line", order, inside)
    square = corners.shape[0] == 4
    kind = "square" if square else "triangle"
    if square:
        corners = cyclic(mesh.p, corners)
    if order == 1:
        return Facets(corners.T, kind, 1, inside)
    pairs = [(k, (k + 1) % 4) for k in range(4)] if square else [(0, 1), (1, 2), (0, 2)]
    number = {(int(a), int(b)): k for k, (a, b) in enumerate(np.sort(mesh.edges, axis=0).T)}
    rows = [corners]
    for i, j in pairs:
        ends = np.sort(corners[[i, j]], axis=0).T
        rows.append(dofs.edge_dofs[:1, [number[int(a), int(b)] for a, b in ends]])
    if square:
        rows.append(dofs.facet_dofs[:1, chosen])
    return Facets(np.vstack(rows).T.astype(np.int64), kind, 2, inside)


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Points on facets. values, hats: shape functions and those of the corners alone, shape (q, nodes), (q, corners).

    points, normals: [m], outward, shape (facets, q, d). lengths: weights [m or m^2], shape (facets, q).
    """

    values: Array
    hats: Array
    points: Array
    normals: Array
    lengths: Array


def quadrature(surface: Facets, x: Array, order: int) -> Quadrature:
    """Gauss points on facets, exact to a degree. x: positions of nodes."""
    xi, weight = _gauss(surface.kind, order)
    n, g = shapes(surface.kind, surface.order, xi)
    where = x[surface.nodes]
    points = np.einsum("qn,fnd->fqd", n, where)
    tangents = np.einsum("qnp,fnd->fqpd", g, where)
    if surface.kind == "line":
        normals = np.stack([tangents[:, :, 0, 1], -tangents[:, :, 0, 0]], axis=2)
    else:
        normals = np.cross(tangents[:, :, 0], tangents[:, :, 1])
    size = np.linalg.norm(normals, axis=2)
    outward = np.sign(((points - surface.inside[:, None]) * normals).sum(axis=2).sum(axis=1))
    normals = normals * (outward[:, None] / size)[:, :, None]
    hats, _ = shapes(surface.kind, 1, xi)
    return Quadrature(n, hats, points, normals, size * weight)


def _gauss(kind: str, order: int) -> tuple[Array, Array]:
    x, w = np.polynomial.legendre.leggauss(order // 2 + 1)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    if kind == "line":
        return x[:, None], w
    a, b = (grid.ravel() for grid in np.meshgrid(x, x, indexing="ij"))
    both = np.outer(w, w).ravel()
    if kind == "square":
        return np.column_stack([a, b]), both
    # A square folded to a triangle; the fold costs one degree.
    return np.column_stack([a, b * (1.0 - a)]), both * (1.0 - a)


def shapes(kind: str, order: int, xi: Array) -> tuple[Array, Array]:
    """Shape functions, (k, nodes), and their derivatives, (k, nodes, parameters). xi: (k, parameters)."""
    if kind == "line":
        n, g = _line(order, xi[:, 0])
        return n, g[:, :, None]
    if kind == "triangle":
        return _triangle(order, xi)
    a, da = _line(order, xi[:, 0])
    b, db = _line(order, xi[:, 1])
    pick = [(0, 0), (1, 0), (1, 1), (0, 1)]
    if order == 2:
        pick += [(2, 0), (1, 2), (2, 1), (0, 2), (2, 2)]
    n = np.stack([a[:, i] * b[:, j] for i, j in pick], axis=1)
    g = np.stack([np.stack([da[:, i] * b[:, j], a[:, i] * db[:, j]], axis=1) for i, j in pick], axis=1)
    return n, g


def _line(order: int, x: Array) -> tuple[Array, Array]:
    one = np.ones_like(x)
    if order == 1:
        return np.stack([1.0 - x, x], axis=1), np.stack([-one, one], axis=1)
    n = np.stack([(1.0 - x) * (1.0 - 2.0 * x), x * (2.0 * x - 1.0), 4.0 * x * (1.0 - x)], axis=1)
    return n, np.stack([4.0 * x - 3.0, 4.0 * x - 1.0, 4.0 - 8.0 * x], axis=1)


def _triangle(order: int, xi: Array) -> tuple[Array, Array]:
    x, y = xi.T
    l = np.stack([1.0 - x - y, x, y], axis=1)  # noqa: E741
    dl = np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])
    if order == 1:
        return l, np.broadcast_to(dl, (len(x), 3, 2))
    corner = l * (2.0 * l - 1.0)
    slope = (4.0 * l - 1.0)[:, :, None] * dl
    edges = [(0, 1), (1, 2), (0, 2)]
    middle = np.stack([4.0 * l[:, i] * l[:, j] for i, j in edges], axis=1)
    turn = np.stack([4.0 * (l[:, [i]] * dl[j] + l[:, [j]] * dl[i]) for i, j in edges], axis=1)
    return np.hstack([corner, middle]), np.concatenate([slope, turn], axis=1)


@dataclass(frozen=True, eq=False)
class Projection:
    """What lies opposite. hit: points that meet a facet. nodes, weights: of the points met. feet: positions [m]."""

    hit: Index
    nodes: Index
    weights: Array
    feet: Array


def project(
    surface: Facets, x: Array, points: Array, normals: Array, chosen: Index, near: int = 5
) -> Projection:
    """Where lines along the normals meet facets, by Newton's method on the nearest ones.

    x: positions of nodes. points, normals: shape (k, d). chosen: points to look for.
    """
    points, n = points[chosen], normals[chosen]
    corners = {"line": 2, "triangle": 3, "square": 4}[surface.kind]
    centres = x[surface.nodes[:, :corners]].mean(axis=1)
    near = min(near, len(centres))
    _, candidates = cKDTree(centres).query(points, k=near)
    own = surface.nodes[candidates.reshape(len(points), near).ravel()]
    where, target, n = x[own], np.repeat(points, near, axis=0), np.repeat(n, near, axis=0)
    count, d = target.shape
    # The unknowns: parameters on the facet, then the distance along the normal.
    z = np.zeros((count, d))
    z[:, :-1] = 1.0 / 3.0 if surface.kind == "triangle" else 0.5
    settled, flat = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    size = np.ptp(where, axis=1).max(axis=1)
    left = np.arange(count)
    for _ in range(8):
        shape, slope = shapes(surface.kind, surface.order, z[left, :-1])
        miss = np.einsum("kn,knd->kd", shape, where[left]) - target[left] - z[left, -1:] * n[left]
        change, across = _step(np.einsum("knp,knd->pkd", slope, where[left]), n[left], miss)
        flat[left] = np.abs(across) < 1e-6 * size[left] ** (d - 1)
        change[flat[left]] = 0.0
        before = z[left, :-1]
        z[left] += change
        z[left, :-1] = np.clip(z[left, :-1], -0.5, 1.5)
        settled[left] = np.abs(change[:, :-1]).max(axis=1) < 1e-8
        # Done, or held at the bounds, beside the facet.
        left = left[np.abs(z[left, :-1] - before).max(axis=1) >= 1e-12]
        if left.size == 0:
            break
    xi = z[:, :-1]
    shape, _ = shapes(surface.kind, surface.order, xi)
    feet = np.einsum("kn,knd->kd", shape, where)
    inside = (xi > -1e-7).all(axis=1) & (xi < 1.0 + 1e-7).all(axis=1) & settled & ~flat
    if surface.kind == "triangle":
        inside &= xi.sum(axis=1) < 1.0 + 1e-7
    distance = np.where(inside, np.abs(z[:, -1]), np.inf).reshape(len(points), near)
    best = distance.argmin(axis=1) + near * np.arange(len(points))
    hit = np.flatnonzero(np.isfinite(distance.ravel()[best]))
    best = best[hit]
    return Projection(chosen[hit], own[best], shape[best], feet[best])


def _step(tangents: Array, n: Array, miss: Array) -> tuple[Array, Array]:
    """Newton's step of parameters and distance, and the area spanned by the tangents as seen along n.

    tangents: one for each parameter, (d - 1, k, d).
    """
    if len(tangents) == 1:
        out = np.column_stack([tangents[0, :, 1], -tangents[0, :, 0]])
        back = [tangents[0]]
    else:
        out = np.cross(tangents[0], tangents[1])
        back = [np.cross(tangents[1], out), np.cross(out, tangents[0])]
    across = (out * n).sum(axis=1)
    further = (out * miss).sum(axis=1) / np.where(across == 0.0, 1.0, across)
    inner = further[:, None] * n - miss
    area = (out * out).sum(axis=1)
    area = np.where(area == 0.0, 1.0, area)
    return np.column_stack([*((inner * b).sum(axis=1) / area for b in back), further]), across
