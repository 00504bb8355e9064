"""Points spread over a surface of patches, by which it is searched like a sampled one.

Points, normals and curvatures are those of the patches. Cells between points are about square and alike, fine enough
for what the surface meets. Where patches meet in a crease points stand on it, as those of edges do on sampled surfaces;
along seams that are smooth there are none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.patch_settling import LARGE, NET, ROWS, SIGN, SIZES, settle_patch
from bellcrank.contact.pieces import BACK, SAMPLE, Pieces
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import Capsule, Ellipsoid, Plane, Shape, Superellipsoid

if TYPE_CHECKING:
    from bellcrank.contact.patches import Patched

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

FINE = 8.0
"""Cells over the radius of the other shape."""
CELLS = 4
"""Cells along a side of a patch, at least; of a higher degree, one for each control point."""
MOST = 100_000
"""Points that are spread because the other shape is small, at most."""
CROWDED = 0.35
"""Points closer than this share of their cell are one, as where a side of a patch is a single point."""


@dataclass(frozen=True, eq=False)
class Covering(Sampled):
    """Points of a surface of patches with all that searches take of sampled ones.

    of: The surface. bent: H (number, 3, 3) [1/m]. edges: Which points stand on a crease. places: Patch, u and v of each
    (number, 3). nets: Patches as compiled searches take them.
    """

    of: Patched = field(kw_only=True)
    bent: Array = field(kw_only=True)
    edges: NDArray[np.bool_] = field(kw_only=True)
    places: Array = field(kw_only=True)
    nets: Array = field(kw_only=True)

    def __post_init__(self) -> None:
        pass

    @cached_property
    def _fitted(self) -> tuple[Array, Array, Array]:
        number = len(self.points)
        far, near = self.nearest_points.query(self.points, min(9, number))
        near = near[:, np.minimum(np.arange(1, 9), number - 1)]
        # What stands on a crease is often lower than what is beside it, which may lead to a contact of its own.
        own = np.arange(number)[:, None]
        near = np.where(self.edges[near] & ~self.edges[own], own, near)
        self.__dict__["neighbours"] = np.ascontiguousarray(near, dtype=np.int64)
        return far[:, min(6, number - 1)].copy(), self.normals, self.bent

    @cached_property
    def sharp(self) -> NDArray[np.bool_]:
        return self.edges

    @cached_property
    def spacing(self) -> float:
        """The middle distance of a sixth neighbour [m]."""
        return float(np.median(self._fitted[0]))

    @cached_property
    def capacity(self) -> int:
        """None: patches tell themselves."""
        return 0

    @property
    def entries(self) -> int:
        return self.of.entries

    def bounding_radius(self) -> float:
        return float(self.of.bounding_radius())

    @cached_property
    def pieces(self) -> Pieces:
        """The same as of samples, the patches behind them."""
        made, order = Pieces.of(self), self.tree.order
        rows, columns = self.of.degrees[0] + 1, self.of.degrees[1] + 1
        sizes = np.zeros(SIZES)
        sizes[[ROWS, NET, SIGN]] = rows, columns, self.of.sign
        whole = np.concatenate([made.table.ravel(), sizes, self.places[order].ravel(), self.nets.ravel()])
        return Pieces(whole[: SAMPLE * len(order)].reshape(-1, SAMPLE), made.nodes)


def searched(shape: Shape, other: Shape, edges: bool) -> Shape:
    """A shape as it is searched against another one: surfaces of patches by points on them.

    edges: Whether contact may begin at creases of this one, which leads.
    """
    from bellcrank.contact.patches import Patched

    if not isinstance(shape, Patched):
        return shape
    return shape.covered(narrowest(other) / FINE, edges)


def narrowest(shape: Shape) -> float:
    """Half the width of a shape, where it is narrowest as far as that is known [m]."""
    if isinstance(shape, Plane):
        return math.inf
    if isinstance(shape, Capsule):
        return float(shape.radius)
    if isinstance(shape, Ellipsoid | Superellipsoid):
        return min(float(shape.a), float(shape.b), float(shape.c))
    return float(shape.bounding_radius())


def settles(surface: Sampled) -> int:
    """Where the machine code lies that settles points on a surface of patches; 0 for samples."""
    return settle_patch.address if isinstance(surface, Covering) else 0


def tensor(nets: Array, u: Array, v: Array) -> tuple[Array, ...]:
    """Points of patches (patches, len(u), len(v), 3), and their derivatives by u and v, and by uu, uv, vv."""
    along, across = bernstein(nets.shape[1] - 1, u), bernstein(nets.shape[2] - 1, v)
    return tuple(
        np.einsum("ai,bj,pijc->pabc", along[i], across[j], nets, optimize=True)
        for i, j in ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))
    )


def bernstein(degree: int, t: Array) -> Array:
    """The polynomials of a degree and their first two derivatives (3, len(t), degree + 1)."""
    rows = [np.ones((len(t), 1))]
    for _ in range(degree):
        row = np.pad(rows[-1], ((0, 0), (1, 1)))
        rows.append((1.0 - t)[:, None] * row[:, 1:] + t[:, None] * row[:, :-1])
    found = np.zeros((3, len(t), degree + 1))
    found[0] = rows[-1]
    for k in (1, 2):
        if degree >= k:
            # Differences of the polynomials of so much lower degree.
            row = rows[degree - k]
            for _ in range(k):
                wide = np.pad(row, ((0, 0), (1, 1)))
                row = wide[:, :-1] - wide[:, 1:]
            found[k] = math.perm(degree, k) * row
    return found


def normals_and_bends(derivatives: tuple[Array, ...], sign: float) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Unit normals (..., 3), H (..., 3, 3), and where they are told, from first and second derivatives."""
    a, b, aa, ab, bb = derivatives
    n = np.cross(a, b)
    E, F, G = (np.einsum("...i,...i->...", x, y) for x, y in ((a, a), (a, b), (b, b)))
    size = np.linalg.norm(n, axis=-1)
    plain = size > 1e-10 * (E + G)
    n = sign * n / np.maximum(size, 1e-300)[..., None]
    L, M, N = (np.einsum("...i,...i->...", n, x)[..., None, None] for x in (aa, ab, bb))
    det = np.maximum(E * G - F * F, 1e-300)[..., None]
    p, q = (G[..., None] * a - F[..., None] * b) / det, (E[..., None] * b - F[..., None] * a) / det

    def both(x: Array, y: Array) -> Array:
        return np.asarray(x[..., :, None] * y[..., None, :])

    H = L * both(p, p) + M * (both(p, q) + both(q, p)) + N * both(q, q)
    return n, H, plain


def inwards(t: Array) -> Array:
    """Parameters moved a little into a patch, where its side is a single point and tells no normal."""
    return t + 1e-4 * (0.5 - t)


def lengths(nets: Array) -> tuple[Array, Array]:
    """Of control polygons along u and v, the longest of each patch [m]."""
    along, across = (np.linalg.norm(np.diff(nets, axis=k), axis=3).sum(axis=k) for k in (1, 2))
    return along.max(axis=1), across.max(axis=1)


def counts(nets: Array, width: float) -> tuple[Ints, Ints]:
    """Cells along u and v of each patch, no wider than that, as far as they are not too many."""
    sizes = lengths(nets)
    least = [max(CELLS, n) if len(nets) * CELLS * CELLS <= MOST else 2 for n in nets.shape[1:3]]
    while True:
        found = [
            np.maximum(np.ceil(s / width), m).astype(np.int64) for s, m in zip(sizes, least, strict=True)
        ]
        total = int((found[0] * found[1]).sum())
        if total <= max(MOST, len(nets) * least[0] * least[1]):
            return found[0], found[1]
        width *= 1.1


def thinned(points: Array, normals: Array, cells: Array) -> Ints:
    """Which points stay where several stand closer together than their cells are wide; the first do."""
    from scipy.spatial import cKDTree

    pairs = cKDTree(points).query_pairs(float(CROWDED * cells.max()), output_type="ndarray")
    i, j = pairs.min(axis=1, initial=len(points)), pairs.max(axis=1, initial=-1)
    far = np.linalg.norm(points[i] - points[j], axis=1)
    same = np.einsum("ij,ij->i", normals[i], normals[j]) > BACK
    close = same & (far < CROWDED * np.minimum(cells[i], cells[j]))
    i, j = i[close], j[close]
    stays = np.ones(len(points), np.bool_)
    for k in np.lexsort((j, i)).tolist():
        if stays[i[k]]:
            stays[j[k]] = False
    return np.flatnonzero(stays)


Evaluated = tuple[Array, Array, Array]


def evaluated(nets: Array, u: Array, v: Array, sign: float) -> Evaluated:
    """Points, normals and H of patches over a grid of parameters; beside single points where none is told."""
    points, *derivatives = tensor(nets, u, v)
    n, H, plain = normals_and_bends(tuple(derivatives), sign)
    if not plain.all():
        beside = normals_and_bends(tensor(nets, inwards(u), inwards(v))[1:], sign)
        n, H = np.where(plain[..., None], n, beside[0]), np.where(plain[..., None, None], H, beside[1])
    return points, n, H


def spread(nets: Array, sign: float, width: float) -> tuple[Array, Array, Array, Array, Array]:
    """Points, normals, H, places and widths of cells over the middles of all cells."""
    k_u, k_v = counts(nets, width)
    sizes = lengths(nets)
    rows: list[tuple[Array, ...]] = []
    for m, n in np.unique(np.stack([k_u, k_v], axis=1), axis=0).tolist():
        own = np.flatnonzero((k_u == m) & (k_v == n))
        u, v = (np.arange(m) + 0.5) / m, (np.arange(n) + 0.5) / n
        p, normal, H = evaluated(nets[own], u, v, sign)
        grid = np.broadcast_to(np.stack(np.meshgrid(u, v, indexing="ij"), axis=2), (len(own), m, n, 2))
        places = np.concatenate(
            [np.broadcast_to(own[:, None, None, None], (len(own), m, n, 1)), grid], axis=3
        )
        cell = np.minimum(sizes[0][own] / m, sizes[1][own] / n)
        cells = np.broadcast_to(cell[:, None, None], (len(own), m, n))
        flat = (x.reshape(-1, 3) for x in (p, normal, places))
        rows.append((*flat, H.reshape(-1, 3, 3), cells.ravel()))
    found = [np.concatenate(column) for column in zip(*rows, strict=True)]
    return found[0], found[1], found[3], found[2], found[4]


def edge_of(k: int, t: Array) -> tuple[Array, Array]:
    """Parameters along a side of a patch: u = 0, u = 1, v = 0, v = 1."""
    fixed = np.array([float(k % 2)])
    return (fixed, t) if k < 2 else (t, fixed)


def along_creases(
    nets: Array, creases: NDArray[np.bool_], sign: float, width: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Points along the sides of patches that are creases, like :func:`spread`."""
    k_u, k_v = counts(nets, width)
    sizes = lengths(nets)
    rows: list[tuple[Array, ...]] = []
    for patch, side in np.argwhere(creases).tolist():
        number = int((k_v if side < 2 else k_u)[patch])
        u, v = edge_of(side, np.linspace(0.0, 1.0, number + 1))
        p, n, H = evaluated(nets[patch][None], u, v, sign)
        grid = np.stack(np.meshgrid(u, v, indexing="ij"), axis=2).reshape(-1, 2)
        places = np.concatenate([np.full((len(grid), 1), float(patch)), grid], axis=1)
        cell = min(sizes[0][patch] / k_u[patch], sizes[1][patch] / k_v[patch])
        rows.append(
            (p.reshape(-1, 3), n.reshape(-1, 3), H.reshape(-1, 3, 3), places, np.full(len(grid), cell))
        )
    if not rows:
        return np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros((0, 3)), np.zeros(0)
    p, n, H, places, cells = (np.concatenate(column) for column in zip(*rows, strict=True))
    # Both sides of a crease, and all at a corner, have one point there and their mean normal.
    _, first, which = np.unique(
        np.round(p / (1e-6 * width)).astype(np.int64), axis=0, return_index=True, return_inverse=True
    )
    mean = np.zeros((len(first), 3))
    np.add.at(mean, which.ravel(), n)
    size = np.linalg.norm(mean, axis=1)[:, None]
    n = np.where(size > 1e-6, mean / np.maximum(size, 1e-300), n[first])
    return p[first], n, np.zeros((len(first), 3, 3)), places[first], cells[first]


def packed(nets: Array, limits: Array, rims: NDArray[np.bool_]) -> Array:
    """Patches as compiled searches take them: limits, rims, control points."""
    ends = np.where(rims, np.array([0.0, 1.0, 0.0, 1.0]), np.array([-LARGE, LARGE, -LARGE, LARGE]))
    return np.ascontiguousarray(np.concatenate([limits, ends, nets.reshape(len(nets), -1)], axis=1))


def known(surface: Patched, key: object, make: Callable[[], Covering]) -> Covering:
    """A covering made once."""
    every: dict[object, Covering] = surface.__dict__.setdefault("_coverings", {})
    if key not in every:
        every[key] = make()
    return every[key]


__all__ = ["Covering", "searched", "settles"]
