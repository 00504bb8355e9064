"""Bodies with flat sides and hollow edges, covered by the largest convex parts that they hold.

The planes of all sides cut the convex hull into cells, each of which is inside the body or outside. Cells are united as
long as their union is convex: their volumes are then that of its hull. The parts overlap, so that what lies in a hollow
corner finds both sides that it touches go on behind the corner.

Of the sides of a part that is there which is a side of the body; edges and corners where two of its sides meet that
stick out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from bellcrank.contact.creases import LEVEL, Creases
from bellcrank.contact.polyhedra import NONE, WIDEST, Face, Part
from bellcrank.contact.recognised import around, flat_sides

Floats = NDArray[np.float64]

PARTS = 6
"""Of a body at most: each is met for itself."""
CELLS = 16
"""At most."""
BEHIND = 0.01
"""How far a side goes on behind a hollow edge, over the size of the body."""


@dataclass(frozen=True, eq=False)
class _Body:
    """A mesh with flat sides: planes (number, 4) of the sides, n . x = d, with the triangles of each.

    level: What is rounding [m]. size: Of the body [m].
    """

    mesh: Creases
    planes: Floats
    level: float
    size: float

    @staticmethod
    def of(mesh: Creases) -> _Body | None:
        sides = flat_sides(mesh)
        if sides is None:
            return None
        size = float(np.ptp(mesh.points, axis=0).max())
        level = 10.0 * LEVEL * size
        found = list[Floats]()
        for normal, points in sides:
            row = np.append(normal, float((points @ normal).mean()))
            if not any(_same(row, other, level, size) for other in found):
                found.append(row)
        return _Body(mesh, np.array(found), level, size)

    def inside(self, x: Floats) -> bool:
        """Whether a point is inside, by the solid angles of all triangles (Van Oosterom and Strackee 1983)."""
        a, b, c = (self.mesh.points[self.mesh.faces[:, k]] - x for k in range(3))
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        above = np.einsum("ij,ij->i", a, np.cross(b, c))
        below = (
            la * lb * lc
            + np.einsum("ij,ij->i", a, b) * lc
            + np.einsum("ij,ij->i", b, c) * la
            + np.einsum("ij,ij->i", c, a) * lb
        )
        return bool(abs(float(np.arctan2(above, below).sum())) > np.pi)

    @property
    def volume(self) -> float:
        a, b, c = (self.mesh.points[self.mesh.faces[:, k]] - self.mesh.points[0] for k in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0

    def on_plane(self, plane: Floats) -> NDArray[np.bool_]:
        """Which triangles lie in a plane, facing its way."""
        off = np.abs(self.mesh.points @ plane[:3] - plane[3]) <= self.level
        same = self.mesh.face_normals @ plane[:3] > 1.0 - 1e-6
        return np.asarray(off[self.mesh.faces].all(axis=1) & same)

    def edges(self, plane: Floats, outwards: bool) -> list[tuple[Floats, Floats]]:
        """Ends of the creases around the sides in a plane that stick out, or that are hollow."""
        mesh = self.mesh
        own = np.repeat(self.on_plane(plane), 3)
        at = np.flatnonzero(own & ~own[np.maximum(mesh.twins, 0)] & (mesh.twins >= 0))
        start, end = mesh.faces.ravel()[at], mesh.faces[at // 3, (at + 1) % 3]
        twin = mesh.twins[at]
        apex = mesh.points[mesh.faces[twin // 3, (twin + 2) % 3]]
        below = apex @ plane[:3] < plane[3]
        # A side that goes on in the same plane, turned over, is neither.
        return [
            (mesh.points[i], mesh.points[j])
            for i, j, down in zip(start, end, below, strict=True)
            if down == outwards
        ]


def covered(mesh: Creases) -> tuple[Part, ...] | None:
    """The convex parts of a closed mesh with flat sides, or None where it has others, or too many."""
    body = _Body.of(mesh)
    if body is None:
        return None
    try:
        cells = _cells(body)
        unions = None if cells is None else _unions(cells, body)
        return None if unions is None else _parts(unions, body)
    except QhullError:
        return None


def _same(one: Floats, other: Floats, level: float, size: float) -> bool:
    """Whether two planes are one, facing the same way."""
    return bool(np.linalg.norm(one[:3] - other[:3]) * size <= level and abs(one[3] - other[3]) <= level)


def _cells(body: _Body) -> list[Floats] | None:
    """Corners of the cells inside."""
    cells = [body.mesh.points[ConvexHull(body.mesh.points).vertices]]
    for plane in body.planes:
        cut = list[Floats]()
        for cell in cells:
            cut += _halves(cell, plane, body.level)
        cells = cut
        if len(cells) > 4 * CELLS:
            return None
    found = [cell for cell in cells if body.inside(cell.mean(axis=0))]
    volume = sum(_volume(cell) for cell in found)
    # Where planes are not quite the same cells are slivers, and the sum tells.
    whole = abs(volume - body.volume) <= 1e-6 * body.volume
    return found if whole and len(found) <= CELLS else None


def _halves(cell: Floats, plane: Floats, level: float) -> list[Floats]:
    """A convex cell on both sides of a plane."""
    height = cell @ plane[:3] - plane[3]
    up, down = height > level, height < -level
    if not (up.any() and down.any()):
        return [cell]
    # All ways from one side to the other cross the plane within its cut.
    part = height[up][:, None] / (height[up][:, None] - height[down][None])
    across = cell[up][:, None] + part[..., None] * (cell[down][None] - cell[up][:, None])
    cut = np.concatenate([across.reshape(-1, 3), cell[~up & ~down]])
    found = list[Floats]()
    for side in (up, down):
        points = np.concatenate([cell[side], cut])
        found.append(points[ConvexHull(points).vertices])
    return found


def _volume(points: Floats) -> float:
    return float(ConvexHull(points).volume)


def _unions(cells: list[Floats], body: _Body) -> list[Floats] | None:
    """Corners of the largest convex unions of cells."""
    volumes = np.array([_volume(cell) for cell in cells])

    @cache
    def convex(own: frozenset[int]) -> frozenset[int] | None:
        """All cells in the hull of some, where these fill it."""
        hull = ConvexHull(np.concatenate([cells[k] for k in sorted(own)]))
        out = [float((cell @ hull.equations[:, :3].T + hull.equations[:, 3]).max()) for cell in cells]
        within = np.array(out) <= body.level
        filled = float(volumes[within].sum())
        if abs(filled - hull.volume) > 1e-6 * hull.volume:
            return None
        return frozenset(np.flatnonzero(within).tolist())

    largest = set[frozenset[int]]()
    for first in range(len(cells)):
        for order in range(len(cells)):
            own = frozenset({first})
            for k in np.roll(np.arange(len(cells)), -order).tolist():
                if k not in own:
                    own = convex(own | {k}) or own
            largest.add(own)
    kept = [s for s in largest if not any(s < other for other in largest)]
    kept.sort(key=lambda s: (-float(volumes[list(s)].sum()), sorted(s)))
    if len(kept) > PARTS:
        return None
    found = list[Floats]()
    for union in kept:
        points = np.concatenate([cells[k] for k in sorted(union)])
        found.append(points[ConvexHull(points).vertices])
    return found


def _parts(unions: list[Floats], body: _Body) -> tuple[Part, ...] | None:
    """The parts with what of their sides, edges and corners is there; None where something would be missing."""
    claims = _Claims(body)
    found = list[Part]()
    for k, points in enumerate(unions):
        hidden, faces, ways = list[Floats](), list[Face](), list[Floats]()
        for plane in _planes(points, body):
            corners = around(points[np.abs(points @ plane[:3] - plane[3]) <= body.level], plane[:3])
            if corners is None:
                return None
            own = next((p for p in body.planes if _same(p, plane, body.level, body.size)), None)
            if own is None:
                hidden.append(plane)
                continue
            face = claims.face(own, corners, ways)
            others = [p for m, p in enumerate(unions) if m != k]
            closed = claims.closed(own, corners, others)
            if face is None or closed is None:
                return None
            faces.append(replace(face, closed=closed))
        if not faces:
            return None
        found.append(Part(points, tuple(faces), _each_once(ways), np.array(hidden).reshape(-1, 4)))
    return tuple(found) if claims.complete() else None


def _planes(points: Floats, body: _Body) -> list[Floats]:
    """Of the sides of a convex part."""
    found = list[Floats]()
    for row in ConvexHull(points).equations:
        plane = np.append(row[:3], -row[3])
        if not any(_same(plane, other, body.level, body.size) for other in found):
            found.append(plane)
    return found


def _each_once(ways: list[Floats]) -> Floats:
    found = list[Floats]()
    for way in ways:
        if not any(float(np.linalg.norm(np.cross(way, other))) < 1e-9 for other in found):
            found.append(way)
    return np.array(found).reshape(-1, 3)


class _Claims:
    """Which edges and corners of a body its parts have."""

    def __init__(self, body: _Body) -> None:
        self.body = body
        self.edges = [(plane, body.edges(plane, True)) for plane in body.planes]
        self.taken: list[tuple[Floats, Floats, Floats]] = []
        self.corners: list[tuple[Floats, Floats]] = []

    def face(self, plane: Floats, corners: Floats, ways: list[Floats]) -> Face | None:
        """A side of a part in a plane of the body; None where an edge would have more than two stretches.

        ways: Directions of edges, to which those are added that stick out.
        """
        whole = Face.whole(plane[:3], corners)
        number, level = len(corners), self.body.level
        all_of, spans = list[list[tuple[float, float]]](), np.tile([*NONE, *NONE], (number, 1))
        for k in range(number):
            start, end = corners[k], corners[(k + 1) % number]
            own = self._stretches(plane, start, end)
            all_of.append(own)
            if own:
                ways.append((end - start) / np.linalg.norm(end - start))
            if len(own) > 2:
                return None
            way = (end - start) / np.linalg.norm(end - start)
            for m, (low, high) in enumerate(own):
                spans[k, 2 * m : 2 * m + 2] = low, high
                self.taken.append((plane, start + low * way, start + high * way))
        turns = np.zeros(number)
        for k in range(number):
            before, length = all_of[k - 1], float(np.linalg.norm(corners[k] - corners[k - 1]))
            reaches = any(high >= length - level for _, high in before)
            begins = any(low <= level for low, _ in all_of[k])
            if reaches and begins:
                turns[k] = whole.turns[k]
                self.corners.append((plane, corners[k]))
        lengths = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
        # What ends at a corner of the side is bounded by the side itself.
        for m in (0, 2):
            at_start, at_end = spans[:, m] <= level, spans[:, m + 1] >= lengths - level
            nothing = spans[:, m] > spans[:, m + 1]
            spans[:, m] = np.where(at_start & ~nothing, -WIDEST, spans[:, m])
            spans[:, m + 1] = np.where(at_end & ~nothing, WIDEST, spans[:, m + 1])
        return replace(whole, turns=turns, spans=spans)

    def _has(self, plane: Floats, corner: Floats) -> bool:
        level, size = self.body.level, self.body.size
        return any(
            _same(plane, p, level, size) and float(np.linalg.norm(x - corner)) <= level
            for p, x in self.corners
        )

    def _stretches(self, plane: Floats, start: Floats, end: Floats) -> list[tuple[float, float]]:
        """Where an edge of a part lies on edges of the body that stick out, from its start on [m]."""
        level = self.body.level
        found = list[tuple[float, float]]()
        for other, edges in self.edges:
            if _same(plane, other, level, self.body.size):
                for p, q in edges:
                    stretch = _along(p, q, start, end, level)
                    if stretch is not None:
                        found.append(stretch)
        return _united(found, level)

    def closed(self, plane: Floats, corners: Floats, others: list[Floats]) -> tuple[Floats, ...] | None:
        """What of a side lies within the body, but for a strip behind each hollow edge; None for odd shapes."""
        body, found = self.body, list[Floats]()
        hollow = body.edges(plane, False)
        for points in others:
            height = points @ plane[:3] - plane[3]
            if not (height.max() > body.level and height.min() < -body.level):
                continue
            up = _halves(points, plane, body.level)[0]
            cut = around(up[np.abs(up @ plane[:3] - plane[3]) <= body.level], plane[:3])
            if cut is None:
                continue
            for p, q in hollow:
                cut = _moved_back(cut, p, q, plane[:3], BEHIND * body.size, body.level)
                if cut is None:
                    break
            if cut is not None and _meets(cut, corners, plane[:3], body.level):
                found.append(cut)
        return tuple(found)

    def complete(self) -> bool:
        """Whether a part has every edge that sticks out, and every corner between two of them."""
        level, size = self.body.level, self.body.size
        for plane, edges in self.edges:
            for p, q in edges:
                left = [(0.0, float(np.linalg.norm(q - p)))]
                for other, start, end in self.taken:
                    if _same(plane, other, level, size):
                        left = _without(left, _along(start, end, p, q, level), 3.0 * level)
                if left:
                    return False
                for r, s in edges:
                    turn = float(np.cross(q - p, s - r) @ plane[:3])
                    size_of = float(np.linalg.norm(q - p) * np.linalg.norm(s - r))
                    if np.linalg.norm(r - q) <= level and turn > LEVEL * size_of and not self._has(plane, q):
                        return False
        return True


def _along(p: Floats, q: Floats, start: Floats, end: Floats, level: float) -> tuple[float, float] | None:
    """The stretch of a line from start to end, within it, that another one lies on; None where it does not."""
    length = float(np.linalg.norm(end - start))
    way = (end - start) / length
    for x in (p, q):
        if float(np.linalg.norm(x - start - ((x - start) @ way) * way)) > level:
            return None
    low, high = sorted((float((p - start) @ way), float((q - start) @ way)))
    low, high = max(low, 0.0), min(high, length)
    return (low, high) if high - low > level else None


def _united(stretches: list[tuple[float, float]], level: float) -> list[tuple[float, float]]:
    found = list[tuple[float, float]]()
    for low, high in sorted(stretches):
        if found and low <= found[-1][1] + level:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return found


def _without(
    stretches: list[tuple[float, float]], other: tuple[float, float] | None, level: float
) -> list[tuple[float, float]]:
    """Stretches less another one."""
    if other is None:
        return stretches
    found = list[tuple[float, float]]()
    for low, high in stretches:
        pieces = (low, min(high, other[0])), (max(low, other[1]), high)
        found += [piece for piece in pieces if piece[1] - piece[0] > level]
    return found


def _moved_back(
    polygon: Floats, p: Floats, q: Floats, normal: Floats, by: float, level: float
) -> Floats | None:
    """A convex polygon less a strip along an edge of it that lies on a line; None where nothing is left."""
    number = len(polygon)
    for k in range(number):
        start, end = polygon[k], polygon[(k + 1) % number]
        if _along(p, q, start, end, level) is None:
            continue
        way = (end - start) / np.linalg.norm(end - start)
        inward = np.cross(normal, way)
        height = (polygon - start) @ inward
        if height.max() <= by + level:
            return None
        plane = np.append(inward, float(start @ inward) + by)
        kept = [polygon[height > by]]
        for i in range(number):
            a, b = height[i] - by, height[(i + 1) % number] - by
            if a * b < 0.0:
                x = polygon[i] + a / (a - b) * (polygon[(i + 1) % number] - polygon[i])
                kept.append(x[None] - (float(x @ inward) - plane[3]) * inward)
        return around(np.concatenate(kept), normal)
    return polygon


def _meets(one: Floats, other: Floats, normal: Floats, level: float) -> bool:
    """Whether two convex polygons in a plane overlap."""
    for a, b in ((one, other), (other, one)):
        ways = np.roll(a, -1, axis=0) - a
        for start, way in zip(a, ways, strict=True):
            inward = np.cross(normal, way / np.linalg.norm(way))
            if float(((b - start) @ inward).max()) <= level:
                return False
    return True


__all__ = ["covered"]
