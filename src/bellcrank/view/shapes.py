"""Solids for drawing: triangles with smooth normals and the edges an engineer would draw.

Every solid is made here, by turning a profile, drawing out an outline, sweeping a circle or wrapping points.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.math.normals import across

Array = NDArray[np.float64]
Index = NDArray[np.int64]

CREASE = float(np.cos(np.radians(34.0)))
"""Cosine of the angle between faces from which on their edge is sharp: rounds have twelve sides or more, 30 degrees."""
SIDES = 24
"""Of round parts."""


def _none() -> Index:
    return np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Solid:
    """A part to draw, in the axes of what carries it.

    corners: (n, 3) [m]. faces: Triangles, (m, 3), counter-clockwise seen from outside. ground: A floor. lines: Pairs of
    corners drawn as lines besides the sharp edges, (k, 2). sharp: Whether edges of faces at an angle are drawn.
    endless: Drawn in part, and not held by the camera.
    """

    corners: Array
    faces: Index
    colour: str
    opacity: float = 1.0
    ground: bool = False
    lines: Index = field(default_factory=_none)
    sharp: bool = True
    endless: bool = False

    @cached_property
    def _normals(self) -> Array:
        """Of the faces, as long as twice their areas."""
        a, b, c = (self.corners[self.faces[:, k]] for k in range(3))
        return np.cross(b - a, c - a)

    @cached_property
    def _sides(self) -> tuple[Index, Index, NDArray[np.bool_]]:
        """Edges between two faces: their corners (k, 2), the faces on both sides (k, 2), whether they are sharp."""
        f = self.faces
        ends = np.concatenate([f[:, (0, 1)], f[:, (1, 2)], f[:, (2, 0)]])
        owner = np.tile(np.arange(len(f)), 3)
        ends = np.sort(ends, axis=1)
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        ends, owner = ends[order], owner[order]
        twin = np.flatnonzero((ends[1:] == ends[:-1]).all(axis=1))
        faces = np.column_stack([owner[twin], owner[twin + 1]])
        n = self._normals / np.maximum(np.linalg.norm(self._normals, axis=1, keepdims=True), 1e-300)
        folded = np.einsum("ij,ij->i", n[faces[:, 0]], n[faces[:, 1]]) < CREASE
        return ends[twin], faces, folded

    @cached_property
    def surface(self) -> tuple[Array, Array, Index]:
        """Vertices, unit normals and triangles, corners split where faces meet at a sharp edge."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        f = self.faces
        ends, faces, folded = self._sides
        ends, faces = ends[~folded], faces[~folded]
        # A corner of a face is one with that of its neighbour across a smooth edge.
        pairs = []
        for end in range(2):
            wanted = ends[:, end, None]
            pairs.append(
                np.column_stack(
                    [3 * faces[:, k] + np.argmax(f[faces[:, k]] == wanted, axis=1) for k in (0, 1)]
                )
            )
        joined = np.vstack(pairs) if pairs else _none()
        n = 3 * len(f)
        graph = coo_array((np.ones(len(joined)), (joined[:, 0], joined[:, 1])), shape=(n, n))
        count, group = connected_components(graph, directed=False)
        normals = np.zeros((count, 3))
        np.add.at(normals, group, np.repeat(self._normals, 3, axis=0))
        length = np.linalg.norm(normals, axis=1, keepdims=True)
        vertices = np.zeros((count, 3))
        vertices[group] = self.corners[f.ravel()]
        flat = np.where(length > 0.0, normals / np.where(length > 0.0, length, 1.0), [0.0, 0.0, 1.0])
        return vertices, flat, group.reshape(-1, 3).astype(np.int64)

    @cached_property
    def edges(self) -> Index:
        """Pairs of corners of the lines that are drawn."""
        if not self.sharp:
            return self.lines
        ends, _, folded = self._sides
        return np.vstack([ends[folded], self.lines])


def polygons(faces: Sequence[Sequence[int]]) -> Index:
    """Triangles of convex polygons."""
    return np.array([(f[0], f[i], f[i + 1]) for f in faces for i in range(1, len(f) - 1)]).reshape(-1, 3)


def tiles(corners: Array, rows: int, columns: int) -> Solid:
    """A floor of tiles between points in rows and columns, upside up."""
    n = columns
    quads = [
        (i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1)
        for i in range(rows - 1)
        for j in range(n - 1)
    ]
    across_it = [(i * n + j, i * n + j + 1) for i in range(rows) for j in range(n - 1)]
    along_it = [(i * n + j, (i + 1) * n + j) for i in range(rows - 1) for j in range(n)]
    lines = np.array([*across_it, *along_it])
    return Solid(
        corners, polygons(quads), "#e3e7ec", 1.0, ground=True, lines=lines, sharp=False, endless=True
    )


def joined(solids: Sequence[Solid]) -> Solid:
    """Solids of one colour as one."""
    first = np.cumsum([0, *(len(s.corners) for s in solids)])
    return Solid(
        np.vstack([s.corners for s in solids]),
        np.vstack([s.faces + n for s, n in zip(solids, first, strict=False)]),
        solids[0].colour,
        solids[0].opacity,
        solids[0].ground,
        np.vstack([s.lines + n for s, n in zip(solids, first, strict=False)]),
        solids[0].sharp,
        solids[0].endless,
    )


def hull(points: Array, colour: str, opacity: float = 1.0) -> Solid:
    """The convex hull of points in space."""
    from scipy.spatial import ConvexHull

    found = ConvexHull(points)
    faces = found.simplices.astype(np.int64)
    a, b, c = (points[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), found.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    used, numbered = np.unique(faces, return_inverse=True)
    return Solid(points[used], numbered.reshape(-1, 3), colour, opacity)


def box(center: ArrayLike, axes: ArrayLike, sizes: ArrayLike, colour: str, opacity: float = 1.0) -> Solid:
    """A box with broken edges; `axes` has its directions as columns."""
    half = 0.5 * np.asarray(sizes, dtype=float)
    cut = min(0.12 * float(half.min()), 0.03 * float(half.max()))
    rows = []
    for k in range(3):
        shrunk = half - cut
        shrunk[k] = half[k]
        rows += [shrunk * (i, j, m) for i in (-1, 1) for j in (-1, 1) for m in (-1, 1)]
    return hull(np.asarray(center) + np.array(rows) @ np.asarray(axes).T, colour, opacity)


def turned(profile: ArrayLike, center: Array, axis: Array, colour: str, sides: int = SIDES) -> Solid:
    """A profile of points (radius, height along the axis) [m] turned about an axis.

    The profile runs upwards on the outside; it is closed where it does not begin and end on the axis.
    """
    rz = np.asarray(profile, dtype=float)
    closed = bool(rz[0, 0] > 0.0 or rz[-1, 0] > 0.0)
    x, y = across(axis)
    z = axis / np.linalg.norm(axis)
    turn = 2 * np.pi * np.arange(sides) / sides
    out = np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * y
    corners: list[Array] = []
    rings: list[tuple[int, bool]] = []
    for radius, height in rz:
        rings.append((sum(len(c) for c in corners), bool(radius > 0.0)))
        middle = center + height * z
        corners.append(middle + radius * out if radius > 0.0 else middle[None])
    faces: list[tuple[int, int, int]] = []
    follow = [*pairwise(range(len(rz))), *([(len(rz) - 1, 0)] if closed else [])]
    for a, b in follow:
        (p, round_a), (q, round_b) = rings[a], rings[b]
        for k in range(sides):
            n = (k + 1) % sides
            if round_a:
                faces.append((p + k, p + n, q + n if round_b else q))
            if round_b:
                faces.append((p + k if round_a else p, q + n, q + k))
    return Solid(np.vstack(corners), np.array(faces), colour)


def cylinder(
    center: Array, axis: Array, radius: float, length: float, colour: str, sides: int = SIDES
) -> Solid:
    """A cylinder with broken edges."""
    h, c = 0.5 * length, 0.12 * min(radius, 0.5 * length)
    return turned(
        [(0, -h), (radius - c, -h), (radius, -h + c), (radius, h - c), (radius - c, h), (0, h)],
        center, axis, colour, sides,
    )  # fmt: skip


def tube(center: Array, axis: Array, outer: float, inner: float, length: float, colour: str) -> Solid:
    """A ring or a tube."""
    h = 0.5 * length
    return turned([(inner, -h), (outer, -h), (outer, h), (inner, h)], center, axis, colour)


def ball(center: Array, radius: float, colour: str, rings: int = 11) -> Solid:
    """A ball of so many rings, poles included; 11 are round enough at the size of a joint."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, rings)
    profile = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    profile[[0, -1], 0] = 0.0
    return turned(profile, center, np.array([0.0, 0.0, 1.0]), colour, 2 * rings + 2)


def rod(a: Array, b: Array, radius: float, colour: str, end: float | None = None) -> Solid:
    """A round bar between two points, of another radius at b where `end` is given."""
    length = float(np.linalg.norm(b - a))
    end = radius if end is None else end
    return turned([(0, 0), (radius, 0), (end, length), (0, length)], a, b - a, colour, 20)


def drawn_out(outline: Array, center: Array, x: Array, y: Array, thickness: float, colour: str) -> Solid:
    """An outline, counter-clockwise (n, 2) and seen whole from its origin, made thick, its rims broken."""
    z = np.cross(x, y)
    h, size = 0.5 * thickness, float(np.abs(outline).max())
    inset = outline * (1.0 - min(0.1 * thickness, 0.04 * size) / size)
    n = len(outline)
    rings = [(inset, -h), (outline, -0.8 * h), (outline, 0.8 * h), (inset, h)]
    corners = [center + ring[:, :1] * x + ring[:, 1:] * y + height * z for ring, height in rings]
    corners += [(center - h * z)[None], (center + h * z)[None]]
    faces = []
    for k in range(n):
        m = (k + 1) % n
        for low in (0, n, 2 * n):
            faces += [(low + k, low + m, low + n + m), (low + k, low + n + m, low + n + k)]
        faces += [(4 * n, m, k), (4 * n + 1, 3 * n + k, 3 * n + m)]
    return Solid(np.vstack(corners), np.array(faces), colour)


def around(points: Array, radii: ArrayLike) -> tuple[Array, Array]:
    """The outline of a belt around circles in the plane: points relative to its middle, and that middle."""
    from scipy.spatial import ConvexHull

    turn = 2 * np.pi * np.arange(48) / 48
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    every = (points[:, None] + np.broadcast_to(radii, len(points))[:, None, None] * circle).reshape(-1, 2)
    rim = every[ConvexHull(every).vertices]
    middle = points.mean(axis=0)
    return rim - middle, middle


def plate(points: Array, normal: Array, thickness: float, colour: str, margin: float = 0.0) -> Solid:
    """The hull of coplanar points, rounded by a margin and made thick."""
    from scipy.spatial import ConvexHull

    x, y = across(normal)
    center = points.mean(axis=0)
    flat = np.column_stack([(points - center) @ x, (points - center) @ y])
    if margin > 0.0:
        outline, middle = around(flat, margin)
    else:
        outline, middle = flat[ConvexHull(flat).vertices], np.zeros(2)
    return drawn_out(outline, center + middle[0] * x + middle[1] * y, x, y, thickness, colour)


def swept(path: Array, radius: ArrayLike, colour: str, sides: int = 10) -> Solid:
    """A round wire along a path, (n, 3)."""
    corners, faces = sweep(path, radius, sides)
    return Solid(corners, faces, colour)


def sweep(path: Array, radius: ArrayLike, sides: int) -> tuple[Array, Index]:
    """Corners (..., n * sides, 3) and triangles of a round wire along paths (..., n, 3), open at its ends."""
    along = np.gradient(path, axis=-2)
    along = along / np.maximum(np.linalg.norm(along, axis=-1, keepdims=True), 1e-300)
    n = path.shape[-2]
    x = np.empty_like(path)
    x[..., 0, :] = across(along[..., 0, :])[0]
    for k in range(1, n):
        # Carried along without turning about the path.
        side = x[..., k - 1, :]
        side = side - along[..., k, :] * np.sum(side * along[..., k, :], axis=-1, keepdims=True)
        x[..., k, :] = side / np.maximum(np.linalg.norm(side, axis=-1, keepdims=True), 1e-300)
    y = np.cross(along, x)
    turn = 2 * np.pi * np.arange(sides) / sides
    out = np.cos(turn)[:, None] * x[..., None, :] + np.sin(turn)[:, None] * y[..., None, :]
    thick = np.broadcast_to(np.asarray(radius, dtype=float), (n,))[:, None, None]
    corners = (path[..., None, :] + thick * out).reshape(*path.shape[:-2], n * sides, 3)
    return corners, mantle(n, sides)


def mantle(n: int, sides: int) -> Index:
    """Triangles between n rings of as many corners."""
    faces = []
    for k in range(n - 1):
        a, b = k * sides, (k + 1) * sides
        for i in range(sides):
            m = (i + 1) % sides
            faces += [(a + i, a + m, b + m), (a + i, b + m, b + i)]
    return np.array(faces, dtype=np.int64).reshape(-1, 3)


def coil(length: float, radius: float, wire: float, colour: str, turns: float = 7.0) -> Solid:
    """A coil spring from the origin along z, its end coils closed and ground flat."""
    # One coil at each end lies on the next; the rest is wound evenly.
    dead = min(1.1 * 2.0 * wire, 0.2 * length)
    s = np.linspace(0.0, turns + 2.0, int(14 * (turns + 2)) + 1)
    z = np.interp(
        s, [0.0, 1.0, turns + 1.0, turns + 2.0], [wire, wire + dead, length - wire - dead, length - wire]
    )
    path = np.column_stack([radius * np.cos(2 * np.pi * s), radius * np.sin(2 * np.pi * s), z])
    return swept(path, wire, colour, 7)


def tyre(center: Array, axis: Array, radius: float, width: float, colours: Sequence[str]) -> list[Solid]:
    """A tyre with crown, shoulders and flanks on a rim with spokes; colours of tyre, rim and spokes."""
    axis = axis / np.linalg.norm(axis)
    h, seat = 0.5 * width, 0.66 * radius
    crown = np.array(
        [(seat, -0.72 * h), (0.74 * radius, -0.94 * h), (0.85 * radius, -h), (0.94 * radius, -0.93 * h),
         (0.985 * radius, -0.76 * h), (radius, -0.4 * h), (radius, 0.0)]
    )  # fmt: skip
    around_crown = np.vstack([crown, crown[-2::-1] * (1, -1)])
    rubber = turned(around_crown, center, axis, colours[0], 56)
    # Grooves around the tread.
    ring = np.array([(0.98 * radius, -0.025 * h), (1.003 * radius, -0.025 * h)])
    groove = np.vstack([ring, ring[::-1] * (1, -1)])
    grooves = [turned(groove, center + g * h * axis, axis, "#1d2126", 56) for g in (-0.32, 0.0, 0.32)]
    rim = turned(
        [(0.58 * radius, -0.62 * h), (0.68 * radius, -0.74 * h), (0.69 * radius, -0.66 * h), (0.64 * radius, 0.0),
         (0.69 * radius, 0.66 * h), (0.68 * radius, 0.74 * h), (0.58 * radius, 0.62 * h)],
        center, axis, colours[1], 56,
    )  # fmt: skip
    x, y = across(axis)
    spokes = []
    for k in range(5):
        turn = 2 * np.pi * k / 5
        out, side = np.cos(turn) * x + np.sin(turn) * y, np.cos(turn) * y - np.sin(turn) * x
        axes = np.column_stack([out, side, axis])
        at = center + 0.36 * radius * out + 0.3 * h * axis
        spokes.append(box(at, axes, (0.52 * radius, 0.15 * radius, 0.22 * h), colours[1]))
    hub = cylinder(center + 0.25 * h * axis, axis, 0.17 * radius, 0.55 * h, colours[2])
    return [rubber, *grooves, rim, *spokes, hub]


def gear(
    center: Array,
    axis: Array,
    start: Array,
    radius: float,
    teeth: int,
    width: float,
    colour: str,
    phase: float = 0.0,
) -> list[Solid]:
    """A spur gear of a pitch radius [m]; a tooth, or a gap at phase 0.5, points along `start`.

    Tooth flanks are involutes of 20 degrees in profile: straight sides of a trapezium are close to them at this size.
    """
    x, y, axis = _plane(axis, start)
    module = 2.0 * radius / teeth
    root, tip = radius - 1.2 * module, radius + 1.0 * module
    pitch = 2 * np.pi / teeth
    # Half angles of a tooth at root, pitch circle and tip.
    profile = [(root, -0.36), (radius, -0.25), (tip, -0.12), (tip, 0.12), (radius, 0.25), (root, 0.36)]
    outline = np.array(
        [
            (r * np.cos(pitch * (k + phase + s)), r * np.sin(pitch * (k + phase + s)))
            for k in range(teeth)
            for r, s in profile
        ]
    )
    rim = drawn_out(outline, center, x, y, width, colour)
    hub = cylinder(center, axis, 0.3 * radius, 1.5 * width, colour)
    # A ring milled into both faces, and a mark by which turning shows.
    face = [
        tube(center + s * 0.5 * width * axis, axis, 0.78 * root, 0.4 * radius, 0.04 * width, darker(colour))
        for s in (-1, 1)
    ]
    holes = []
    for k in range(5):
        turn = 2 * np.pi * (k + 0.5) / 5
        at = center + (0.4 * radius + 0.78 * root) / 2 * (np.cos(turn) * x + np.sin(turn) * y)
        holes.append(cylinder(at, axis, 0.13 * radius, 1.08 * width, "#4a525c", 20))
    return [rim, hub, *face, *holes]


def ring_gear(
    center: Array,
    axis: Array,
    start: Array,
    radius: float,
    teeth: int,
    width: float,
    colour: str,
    phase: float = 0.0,
) -> Solid:
    """A ring with teeth inside, of a pitch radius [m]; a tooth, or a gap at phase 0.5, points inwards along `start`."""
    x, y, z = _plane(axis, start)
    module = 2.0 * radius / teeth
    root, tip, outer = radius + 1.2 * module, radius - 1.0 * module, radius + 3.5 * module
    pitch = 2 * np.pi / teeth
    profile = [(root, -0.36), (radius, -0.25), (tip, -0.12), (tip, 0.12), (radius, 0.25), (root, 0.36)]
    turn = np.array([pitch * (k + phase + s) for k in range(teeth) for _, s in profile])
    inside = np.tile([r for r, _ in profile], teeth)
    out = np.cos(turn)[:, None] * x + np.sin(turn)[:, None] * y
    n, h = len(turn), 0.5 * width * z
    rings = [inside[:, None] * out - h, outer * out - h, outer * out + h, inside[:, None] * out + h]
    faces = []
    for k in range(n):
        m = (k + 1) % n
        for a, b in ((0, n), (n, 2 * n), (2 * n, 3 * n), (3 * n, 0)):
            faces += [(a + k, b + m, b + k), (a + k, a + m, b + m)]
    return Solid(center + np.vstack(rings), np.array(faces), colour)


def bevel_gear(
    center: Array,
    axis: Array,
    start: Array,
    radius: float,
    teeth: int,
    apex: Array,
    colour: str,
    phase: float = 0.0,
) -> list[Solid]:
    """A bevel gear whose pitch cone has its apex on the axis; `center` and `radius` [m] are those of its larger end."""
    x, y, z = _plane(axis, start)
    module, high = 2.0 * radius / teeth, float((center - apex) @ z)
    if high < 0.0:
        y, z, high, phase = -y, -z, -high, -phase
    pitch = 2 * np.pi / teeth
    root, tip = radius - 1.2 * module, radius + 1.0 * module
    profile = [(root, -0.36), (radius, -0.25), (tip, -0.12), (tip, 0.12), (radius, 0.25), (root, 0.36)]
    turn = np.array([pitch * (k + phase + s) for k in range(teeth) for _, s in profile])
    round_ = np.column_stack([np.cos(turn), np.sin(turn)])
    outline = np.tile([r for r, _ in profile], teeth)[:, None] * round_
    # A third of the cone has teeth; a smaller back closes the larger end.
    back = 0.9 * root * round_
    rings = [(back, high + 2.5 * module), (outline, high), (outline * 2.0 / 3.0, high * 2.0 / 3.0)]
    n = len(outline)
    corners = [apex + ring[:, :1] * x + ring[:, 1:] * y + level * z for ring, level in rings]
    corners += [(apex + rings[0][1] * z)[None], (apex + rings[-1][1] * z)[None]]
    faces = []
    for k in range(n):
        m = (k + 1) % n
        for low in (0, n):
            faces += [(low + k, low + n + m, low + m), (low + k, low + n + k, low + n + m)]
        faces += [(3 * n, k, m), (3 * n + 1, 2 * n + m, 2 * n + k)]
    hub = cylinder(apex + (high + 3.0 * module) * z, z, 0.35 * radius, 6.0 * module, colour)
    return [Solid(np.vstack(corners), np.array(faces), colour), hub]


def _plane(axis: Array, start: Array) -> tuple[Array, Array, Array]:
    """Unit vectors along a direction across an axis, across both, and along the axis."""
    z = axis / np.linalg.norm(axis)
    x = start - z * float(start @ z)
    x = x / np.linalg.norm(x)
    return x, np.cross(z, x), z


def rack(
    start: Array, along: Array, up: Array, length: float, module: float, width: float, colour: str
) -> Solid:
    """A toothed bar along a line through `start` at its pitch line, its teeth towards `up`."""
    pitch = np.pi * module
    n = max(3, int(length / pitch))
    across_it = np.cross(along, up)
    blocks = [
        box(
            start - 2.2 * module * up,
            np.column_stack([along, up, across_it]),
            (n * pitch, 2.2 * module, width),
            colour,
        )
    ]
    for k in range(n):
        at = start + (k - (n - 1) / 2) * pitch * along
        flat = np.array([(-0.36, -1.2), (0.36, -1.2), (0.12, 1.0), (-0.12, 1.0)]) * (pitch, module)
        blocks.append(drawn_out(flat, at, along, up, width, colour))
    return joined(blocks)


def darker(colour: str, factor: float = 0.8) -> str:
    """A colour made darker."""
    parts = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return "#" + "".join(f"{int(np.clip(round(p * factor), 0, 255)):02x}" for p in parts)


def arrow(foot: Array, tip: Array, radius: float, colour: str) -> Solid:
    """An arrow between two points."""
    length = float(np.linalg.norm(tip - foot))
    neck = length - min(7.0 * radius, 0.5 * length)
    profile = [(0, 0), (radius, 0), (radius, neck), (2.6 * radius, neck), (0, length)]
    return turned(profile, foot, tip - foot, colour, 16)
