"""What a mesh touches a plane with: the corners and round rims that its convex hull is spanned by.

Whatever lies deepest below a plane is an extreme point of the body. Where these are corners and circles only, as of
boxes, prisms, cans, rings, cones and most parts of CAD without fillets, a plane meets nothing else of the body. So no
samples are needed: a corner is a point, and the place of a circle around c with unit vectors u, v in its plane that is
deepest along d has a closed form,

    x = c + R (u (u . d) + v (v . d)) / |u (u . d) + v (v . d)|.

A circle is what the vertices along a closed crease without corners lie on; between them the mesh stands for its arc.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import ConvexHull, QhullError

from bellcrank.contact.creases import CORNER, EDGE, LEVEL, Creases
from bellcrank.errors import ModelError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST = 24
"""Corners and rims of a hull at most: each becomes a contact, or several of them."""
LOOKED_AT = 500
"""Corners and rims of a mesh at most: it is another kind of body otherwise."""
AROUND = 96
"""Vertices of a rim that hulls are made of."""
CHUNK = 20_000
RING = 7
"""Numbers of a ring: centre, unit axis, radius."""


@dataclass(frozen=True, eq=False)
class Outline:
    """corners: (number, 3) [m]. rings: (number, RING), the centre [m], the unit axis and the radius [m] of each."""

    corners: Floats
    rings: Floats

    def __post_init__(self) -> None:
        for name, width in (("corners", 3), ("rings", RING)):
            rows = np.asarray(getattr(self, name), dtype=np.float64).reshape(-1, width)
            if not np.isfinite(rows).all():
                raise ModelError(f"{name} of an outline hold what is not a number")
            object.__setattr__(self, name, rows)
        size = np.linalg.norm(self.rings[:, 3:6], axis=1)
        if len(self.corners) + len(self.rings) == 0 or len(self.corners) + len(self.rings) > MOST:
            raise ModelError(f"an outline has from 1 to {MOST} corners and rings")
        if not ((np.abs(size - 1.0) < 1e-9) & (self.rings[:, 6] > 0.0)).all():
            raise ModelError("rings of an outline have a unit axis and a positive radius")

    @staticmethod
    def of(mesh: Creases) -> Outline | None:
        """That of a clean mesh, or None where something else than corners and circles may touch a plane."""
        kinds, _ = mesh.kinds
        level = LEVEL * float(np.abs(mesh.points).max())
        corners = np.flatnonzero(kinds == CORNER)
        loops = _loops(mesh, kinds)
        if not 0 < len(corners) + len(loops) <= LOOKED_AT:
            return None
        parts = [_Part(mesh.points[[k]]) for k in corners]
        for loop in loops:
            ring = _ring(mesh.points[loop], level)
            if ring is not None:
                parts.append(_Part(mesh.points[loop], ring))
        if not parts or not _spanned(mesh.points, parts, level):
            return None
        needed = _needed(parts, level)
        if len(needed) > MOST:
            return None
        return Outline(
            np.array([part.points[0] for part in needed if part.ring is None]).reshape(-1, 3),
            np.array([part.ring for part in needed if part.ring is not None]).reshape(-1, RING),
        )


def _loops(mesh: Creases, kinds: NDArray[np.int8]) -> list[Ints]:
    """Vertices of each closed crease without corners."""
    at = np.flatnonzero(mesh.crease.ravel())
    ends = mesh.faces.ravel(), np.roll(mesh.faces, -1, axis=1).ravel()
    a, b = ends[0][at], ends[1][at]
    number = len(mesh.points)
    joined = connected_components(coo_array((np.ones(len(a), np.int8), (a, b)), (number, number)), False)[1]
    touched = np.zeros(number, np.bool_)
    touched[a] = touched[b] = True
    corner = np.zeros(number, np.bool_)
    corner[joined[touched & (kinds != EDGE)]] = True
    inside = np.flatnonzero(touched & ~corner[joined])
    _, first, count = np.unique(joined[inside], return_index=True, return_counts=True)
    if len(first) > LOOKED_AT:
        return [inside] * (LOOKED_AT + 1)
    order = np.argsort(joined[inside], kind="stable")
    ended = np.cumsum(count)
    found = [inside[order[e - c : e]] for e, c in zip(ended, count, strict=True)]
    return sorted(found, key=lambda loop: int(loop[0]))


def _ring(p: Floats, level: float) -> Floats | None:
    """The circle that all points of a loop lie on, or None."""
    middle = p.mean(axis=0)
    u, v, axis = np.linalg.svd(p - middle, full_matrices=False)[2]
    x, y = (p - middle) @ u, (p - middle) @ v
    # x^2 + y^2 = 2 a x + 2 b y + c, the circle of least squares (Kasa).
    (a, b, c), *_ = np.linalg.lstsq(np.stack([2.0 * x, 2.0 * y, np.ones(len(p))], axis=1), x * x + y * y)
    radius = float(np.sqrt(max(0.0, c + a * a + b * b)))
    off = np.maximum(np.abs(np.hypot(x - a, y - b) - radius), np.abs((p - middle) @ axis))
    turn = np.sort(np.arctan2(y - b, x - a))
    widest = np.diff(np.append(turn, turn[0] + 2.0 * np.pi)).max()
    if off.max() > level or radius < 1e3 * level or widest > 1.0:
        return None
    # A direction, not a side: of both ways the one whose largest part is positive.
    axis = axis * np.sign(axis[np.argmax(np.abs(axis))])
    return np.concatenate([middle + a * u + b * v, axis, [radius]])


@dataclass(frozen=True, eq=False)
class _Part:
    """A corner, or the vertices of a rim and its ring."""

    points: Floats
    ring: Floats | None = None

    @property
    def few(self) -> Floats:
        """Enough of the vertices of a rim, evenly by their numbers."""
        step = -(-len(self.points) // AROUND)
        return self.points[::step]


def _spanned(points: Floats, parts: list[_Part], level: float) -> bool:
    """Whether all points lie in the convex hull of corners and rings."""
    left = points[_beyond_hull(points, np.concatenate([part.few for part in parts]), level)]
    # Between its vertices a ring reaches farther: what is around its axis is looked at by distances from that.
    for ring in (part.ring for part in parts if part.ring is not None):
        if len(left):
            left = left[_beyond_round(left, ring, parts, level)]
    return len(left) == 0


def _needed(parts: list[_Part], level: float) -> list[_Part]:
    """The corners and rings that no others span."""
    left = list(parts)
    for part in parts:
        if len(left) > LOOKED_AT // 4:
            hull = _hull(np.concatenate([part.few for part in left]))
            if hull is None:
                return left
            owner = np.repeat(np.arange(len(left)), [len(part.few) for part in left])
            left = [left[k] for k in sorted(set(owner[hull[1]].tolist()))]
            if len(left) > MOST:
                return left
        others = [other for other in left if other is not part]
        if part in left and others and _spanned(part.points, others, level):
            left = others
    return left


def _beyond_round(points: Floats, ring: Floats, parts: list[_Part], level: float) -> Ints:
    """Which points lie outside the hull of all rings and corners that stand around the axis of a ring."""
    heights, radii = list[float](), list[float]()
    for part in parts:
        middle = part.points[0] if part.ring is None else part.ring[:3]
        height = float((middle - ring[:3]) @ ring[3:6])
        beside = float(np.linalg.norm(middle - ring[:3] - height * ring[3:6]))
        leans = 0.0 if part.ring is None else float(np.linalg.norm(np.cross(part.ring[3:6], ring[3:6])))
        radius = 0.0 if part.ring is None else float(part.ring[6])
        if beside <= level and leans * radius <= level:
            heights.append(height)
            radii.append(radius)
    z, r = _envelope(np.array(heights), np.array(radii), level)
    d = points - ring[:3]
    along = d @ ring[3:6]
    out = np.linalg.norm(d - along[:, None] * ring[3:6], axis=1)
    within = (along >= z[0] - level) & (along <= z[-1] + level) & (out <= np.interp(along, z, r) + level)
    return np.flatnonzero(~within)


def _envelope(z: Floats, r: Floats, level: float) -> tuple[Floats, Floats]:
    """The least concave function over z that is nowhere less than r."""
    chain = list[tuple[float, float]]()
    for x, y in sorted(zip(z.tolist(), r.tolist(), strict=True)):
        if chain and x - chain[-1][0] <= level:
            x, y = chain[-1][0], max(y, chain.pop()[1])
        while len(chain) > 1:
            (a, b), (c, d) = chain[-2:]
            if (d - b) * (x - a) > (y - b) * (c - a):
                break
            chain.pop()
        chain.append((x, y))
    return np.array([x for x, _ in chain]), np.array([y for _, y in chain])


def _beyond_hull(points: Floats, spanning: Floats, level: float) -> Ints:
    """Which points lie outside the convex hull of others."""
    hull = _hull(spanning)
    if hull is None:
        return np.arange(len(points))
    found = list[Ints]()
    for begin in range(0, len(points), CHUNK):
        far = points[begin : begin + CHUNK] @ hull[0][:, :3].T + hull[0][:, 3]
        found.append(begin + np.flatnonzero(far.max(axis=1) > level))
    return np.concatenate(found)


def _hull(spanning: Floats) -> tuple[Floats, Ints] | None:
    """Outward normals and offsets of the sides of the convex hull of points, and its vertices; None for a line."""
    if len(spanning) < 3:
        return None
    middle = spanning.mean(axis=0)
    _, size, ways = np.linalg.svd(spanning - middle, full_matrices=False)
    if size[1] <= 1e-9 * size[0]:
        return None
    number, both = len(spanning), np.zeros((0, 4))
    if size[2] <= 1e-6 * size[0]:
        # A flat set has an upper and a lower side, and around it those of a body with a tip above and below.
        tip = float(np.linalg.norm(spanning - middle, axis=1).max()) * ways[2]
        spanning = np.concatenate([spanning, [middle + tip, middle - tip]])
        heights = (spanning[:number] - middle) @ ways[2]
        both = np.array([[*ways[2], -heights.max()], [*-ways[2], heights.min()]])
        both[:, 3] -= both[:, :3] @ middle
    try:
        hull = ConvexHull(spanning)
    except QhullError:
        return None
    vertices = np.asarray(hull.vertices, np.int64)
    return np.concatenate([hull.equations, both]), vertices[vertices < number]


__all__ = ["RING", "Outline"]
