"""Meshes with creases, cut there into smooth sheets that end at rims.

A surface through all samples rounds its creases: within one distance of samples the sides beside them bulge. Cut along
its creases a mesh is a set of open surfaces, each of which is what it is up to the edge, and whose rims touch as edges
do (:mod:`bellcrank.contact.rims`). A crease is a rim of two sheets. Of what both find there one is taken:

    g . d <= 0 for all ways d into a sheet

must hold where a rim touches in the direction g, for each of the sheets that end there; otherwise the sheet that d
leads into is what touches. Where a crease is hollow it touches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.rim_loops import lonely, of_edges
from bellcrank.contact.rims import ALONG, BEND, OUT, REACH, WEIGHT
from bellcrank.contact.sampled import CROWDED, MARGIN, MOST, Sampled
from bellcrank.contact.shapes import Capsule, Ellipsoid, Shape, Sphere
from bellcrank.errors import ModelError
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.contact.creases import Creases

Array = NDArray[np.float64]
Index = NDArray[np.int64]

SHEETS = 64
"""Of a mesh at most: each is searched for itself."""
LARGEST = 100_000
"""Triangles of a mesh that is cut, at most: it is kept for that."""
SAMPLES = 60_000
"""Of all sheets at most: narrow ones ask for many."""
ACROSS = 0.5
"""Distance of samples over the width of a sheet."""
BESIDE = 0.6
"""How far from a sample of a rim the rim is told by it, over the distance of samples."""


@dataclass(frozen=True, eq=False)
class Cut:
    """A clean mesh with creases: points [m], faces, and the distance of samples on it [m], None for its vertices."""

    points: Array
    faces: Index
    spacing: float | None

    @staticmethod
    def of(mesh: Creases, spacing: float | None) -> Cut | None:
        """None where there is nothing to cut, the mesh is open, or too large to be kept."""
        if len(mesh.faces) > LARGEST or bool((mesh.twins < 0).any()) or not mesh.crease.any():
            return None
        return Cut(mesh.points, mesh.faces, spacing)

    @cached_property
    def sheets(self) -> tuple[Sampled, ...]:
        """The smooth sheets; none where one is too small to be sampled."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        from bellcrank.contact.creases import Creases
        from bellcrank.contact.resampling import DENSE

        mesh = Creases(self.points, self.faces)
        group = mesh.groups
        place = np.zeros(int(group.max()) + 1, np.int64)
        place[group.ravel()] = self.faces.ravel()
        number = len(place)
        a, b = group[:, [0, 1]].ravel(), group[:, [1, 2]].ravel()
        count, part = connected_components(
            coo_array((np.ones(len(a), np.int8), (a, b)), (number, number)), False
        )
        if not 1 < count <= SHEETS:
            return ()
        meshes = list[Creases]()
        for k in range(count):
            own = np.flatnonzero(part == k)
            back = np.zeros(number, np.int64)
            back[own] = np.arange(len(own))
            meshes.append(Creases(self.points[place[own]], back[group[part[group[:, 0]] == k]]))
        spacing = self.spacing
        if spacing is not None:
            spacing = min(spacing, *(_finest(one) for one in meshes))
            if DENSE * float(mesh.areas.sum()) > SAMPLES * spacing**2:
                return ()
        found = list[Sampled]()
        for one in meshes:
            sheet = _sheet(one, spacing)
            if sheet is None:
                return ()
            found.append(sheet)
        return tuple(found)


def _finest(mesh: Creases) -> float:
    """How far apart samples of a sheet may be [m]: a few of them across it."""
    from bellcrank.contact.resampling import COARSEST

    area = float(mesh.areas.sum())
    around = float(mesh.lengths.ravel()[mesh.twins < 0].sum())
    return min(COARSEST * float(np.sqrt(area)), ACROSS * 2.0 * area / around)


def least_radius(shape: Shape) -> float | None:
    """The least radius of curvature of a smooth shape [m]; None for others, and where it depends on parameters."""
    if type(shape) is Sampled:
        smooth = shape.cut is None and not shape.sharp.any()
        return 1.0 / max(shape.bending, 1e-300) if smooth else None
    given: tuple[Scalar, ...] = ()
    if type(shape) is Sphere or type(shape) is Capsule:
        given = (shape.radius,) * 3
    elif type(shape) is Ellipsoid:
        given = shape.a, shape.b, shape.c
    axes = [float(x) for x in given if isinstance(x, int | float)]
    return min(axes) ** 2 / max(axes) if len(axes) == 3 else None


def _sheet(mesh: Creases, spacing: float | None) -> Sampled | None:
    """One sheet, sampled; None where it is too small."""
    from bellcrank.contact.resampling import resampled

    try:
        made = None if spacing is None else resampled(mesh, spacing, MOST, CROWDED)
        if made is not None:
            points, normals, _, rims, _ = made
            small = sum(len(rim) for rim in rims) == 0
        else:
            points, normals = mesh.points, mesh.vertex_normals
            rims, left_out = of_edges(lonely(mesh.faces))
            small = left_out > 0
        sheet = Sampled(points, normals, (), rims)
        return None if small or not np.isfinite(sheet.rim.rows).all() else sheet
    except (ModelError, np.linalg.LinAlgError):
        return None


@dataclass(frozen=True, eq=False)
class Sheets(Sampled):
    """A mesh with creases as its smooth sheets.

    of: The whole. parts: The sheets, one behind the other in points and normals.
    """

    in_sheets: ClassVar[bool] = True
    of: Sampled = field(kw_only=True)
    parts: tuple[Sampled, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        spacing = min(part.spacing for part in self.parts)
        common = {
            "spacing": spacing,
            "margin": MARGIN * spacing,
            "capacity": max(part.capacity for part in self.parts),
            "rim_room": max(part.rim_room for part in self.parts),
        }
        # What programs take is laid out alike for all sheets.
        for shape in (self, *self.parts):
            shape.__dict__.update(common)

    @staticmethod
    def against(shape: Shape, other: Shape) -> Shape:
        """A surface as it meets another shape: in sheets, where it has creases and the other is round."""
        if not isinstance(shape, Sampled) or shape.cut is None or least_radius(other) is None:
            return shape
        if not shape.cut.sheets:
            return shape
        parts = shape.cut.sheets
        begins = np.cumsum([0, *(len(part.points) for part in parts)])
        rims = tuple(
            rim + begin for part, begin in zip(parts, begins, strict=False) for rim in part.rims or ()
        )
        made = Sheets(
            np.concatenate([part.points for part in parts]),
            np.concatenate([part.normals for part in parts]),
            (), rims, of=shape, parts=parts,
        )  # fmt: skip
        # Where one sheet does not end at another their samples do not fit together.
        return made if np.all(made.edges.turn != 0.0) else shape

    @property
    def whole(self) -> Shape:
        return self.of

    @cached_property
    def begins(self) -> Index:
        """The first sample of each sheet, and how many there are."""
        return np.cumsum([0, *(len(part.points) for part in self.parts)])

    def part(self, sample: int) -> int:
        """The sheet that a sample is on."""
        return int(np.searchsorted(self.begins, sample, side="right")) - 1

    @cached_property
    def bulge(self) -> float:
        return max(part.bulge for part in self.parts)

    def bounding_radius(self) -> float:
        return float(self.of.bounding_radius())

    def piece(self, x: Array) -> tuple[Array, Array, bool]:
        return self.parts[self.part(int(self.nearest_points.query(x)[1]))].piece(x)

    @cached_property
    def boxes(self) -> tuple[Array, Array]:
        """The least and the largest coordinates of each sheet, what is between samples included [m]."""
        low = np.stack([p.points.min(axis=0) - p.bulge for p in self.parts])
        return low, np.stack([p.points.max(axis=0) + p.bulge for p in self.parts])

    @cached_property
    def edges(self) -> Edges:
        """The rims of all sheets."""
        return Edges.of(self)


@dataclass(frozen=True, eq=False)
class Edges:
    """Samples of rims of all sheets: rows as in :mod:`bellcrank.contact.rims`, and the sheet of each.

    turn: How far the normals of both sheets differ there [rad], negative where the crease is hollow, 0 where there is
    no other sheet. corner: Whether a side of a rim ends there. spacing: The largest distance of two of them along a rim
    [m].
    """

    rows: Array
    part: Index
    turn: Array
    corner: NDArray[np.bool_]
    spacing: float

    @staticmethod
    def of(sheets: Sheets) -> Edges:
        from scipy.spatial import cKDTree

        rows = np.concatenate([part.rim.rows for part in sheets.parts])
        part = np.repeat(np.arange(len(sheets.parts)), [len(p.rim.rows) for p in sheets.parts])
        n = np.concatenate([p._fitted[1][p.rim.samples] for p in sheets.parts])
        turn, spacing = np.zeros(len(rows)), float(rows[:, WEIGHT].max()) / REACH
        near = cKDTree(rows[:, :3]).query_ball_point(rows[:, :3], BESIDE * spacing)
        for k, around in enumerate(near):
            others = np.array([j for j in around if part[j] != part[k]], np.int64)
            if len(others):
                along = np.abs(rows[others, ALONG:BEND] @ rows[k, ALONG:BEND])
                far = np.linalg.norm(rows[others, :3] - rows[k, :3], axis=1)
                j = others[np.lexsort((-along, np.round(far / (1e-6 * spacing))))[0]]
                angle = float(np.arccos(np.clip(n[j] @ n[k], -1.0, 1.0)))
                turn[k] = np.copysign(angle, float(rows[k, OUT:ALONG] @ n[j]))
        ends = np.concatenate([_twice(p.rim.samples) for p in sheets.parts])
        return Edges(rows, part, turn, ends, spacing)

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import cKDTree

        return cKDTree(self.rows[:, :3])

    @cached_property
    def across(self) -> Array:
        """Of each row the direction across the rim and the way out of the sheet."""
        return np.cross(self.rows[:, ALONG:BEND], self.rows[:, OUT:ALONG])

    def near(self, x: Array, reach: float = BESIDE) -> Index:
        """Rows around a point."""
        return np.array(self._tree.query_ball_point(x, reach * self.spacing), np.int64)

    def beyond(self, rows: Index, x: Array) -> Array:
        """e of rows at a point [m]."""
        d = x - self.rows[rows, :3]
        along = np.einsum("ij,ij->i", d, self.rows[rows, ALONG:BEND])
        out = np.einsum("ij,ij->i", d, self.rows[rows, OUT:ALONG])
        return np.asarray(out - 0.5 * self.rows[rows, BEND] * along * along)


def _twice(samples: Index) -> NDArray[np.bool_]:
    """Which of them stand there more than once."""
    _, back, count = np.unique(samples, return_inverse=True, return_counts=True)
    return np.asarray(count[back] > 1)


__all__ = ["Cut", "Edges", "Sheets", "least_radius"]
