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
"""Corners, rims, and vertices between those of rims, of a mesh at most: it is another kind of body otherwise."""
LARGEST = 500_000_000
"""Vertices of a mesh times sides of the hull of these at most: looking at them takes a second."""
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
        parts, rings = [mesh.points[[k]] for k in corners], list[Floats]()
        for loop in loops:
            ring = _ring(mesh.points[loop], level)
            if ring is not None:
                parts.append(mesh.points[loop])
                rings.append(ring)
        if not parts or not _spanned(mesh.points, parts, np.array(rings).reshape(-1, RING), level):
            return None
        needed = _needed(parts, level)
        if len(needed) > MOST:
            return None
        number = len(corners)
        return Outline(
            np.array([mesh.points[corners[k]] for k in needed if k < number]).reshape(-1, 3),
            np.array([rings[k - number] for k in needed if k >= number]).reshape(-1, RING),
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


def _spanned(points: Floats, parts: list[Floats], rings: Floats, level: float) -> bool:
    """Whether all points lie in the convex hull of corners and rings."""
    spanning = np.concatenate(parts)
    beyond = _beyond(points, spanning, level)
    if len(beyond) == 0:
        return True
    if len(beyond) > LOOKED_AT * 20 or len(rings) == 0:
        return False
    # Between its vertices a ring reaches farther.
    more = [spanning]
    for ring in rings:
        d = points[beyond] - ring[:3]
        d -= (d @ ring[3:6])[:, None] * ring[3:6]
        far = np.linalg.norm(d, axis=1)[:, None]
        more.append(ring[:3] + ring[6] * d / np.maximum(far, 1e-300))
    return len(_beyond(points[beyond], np.concatenate(more), level)) == 0


def _needed(parts: list[Floats], level: float) -> list[int]:
    """Which corners and rings no others span."""
    left = list(range(len(parts)))
    extreme = _hull(np.concatenate(parts))
    if extreme is not None:
        owner = np.repeat(np.arange(len(parts)), [len(p) for p in parts])
        vertices = extreme.vertices[extreme.vertices < len(owner)]
        left = sorted(set(owner[vertices].tolist()))
    if len(left) > LOOKED_AT // 4:
        return left
    for k in list(left):
        others = [parts[j] for j in left if j != k]
        if others and len(_beyond(parts[k], np.concatenate(others), level)) == 0:
            left.remove(k)
    return left


def _beyond(points: Floats, spanning: Floats, level: float) -> Ints:
    """Which points lie outside the convex hull of others."""
    hull = _hull(spanning)
    if hull is None:
        # All in one line, or less.
        near = (
            np.linalg.norm(points[:, None] - spanning[None], axis=2).min(axis=1)
            if len(spanning) < 3
            else None
        )
        return np.arange(len(points)) if near is None else np.flatnonzero(near > level)
    if len(points) * len(hull.equations) > LARGEST:
        return np.arange(len(points))
    found = np.full(len(points), -np.inf)
    for row in hull.equations:
        np.maximum(found, points @ row[:3] + row[3], out=found)
    return np.flatnonzero(found > level)


def _hull(spanning: Floats) -> ConvexHull | None:
    """The convex hull of points, of a flat set that with a tip on either side; None where there is none."""
    if len(spanning) < 3:
        return None
    middle = spanning.mean(axis=0)
    _, size, ways = np.linalg.svd(spanning - middle, full_matrices=False)
    if size[1] <= 1e-9 * size[0]:
        return None
    if size[2] <= 1e-6 * size[0]:
        tip = float(np.linalg.norm(spanning - middle, axis=1).max()) * ways[2]
        spanning = np.concatenate([spanning, [middle + tip, middle - tip]])
    try:
        return ConvexHull(spanning)
    except QhullError:
        return None


__all__ = ["RING", "Outline"]
