"""Surfaces given by samples: points with normals, made into one smooth surface that passes through them.

Around every sample i the surface is taken as the quadric q_i(x) = n_i . d - d . H_i d / 2 = 0, d = x - p_i, fitted to
the neighbours. The whole is the zero of their mean

    f(x) = sum w_i q_i / sum w_i,   w_i = (1 - s)^3 / s,   s = d^2 / R_i^2 where s < 1, else 0,

which passes through every sample with its normal, has continuous normals and curvatures, and needs no triangles.
It ends a little before no weight reaches any more: there is nothing to touch beyond the rim of an open surface.

Sources: Franke and Nielson (1980) for the weights; Ohtake et al. (2003) for partition of unity implicits; Cazals and
Pouget (2005) for the fits.
Differs in: Park, Shin, Sohn, Yoo (2003) take the samples around the closest one as control points of a Bezier patch,
which misses them (:mod:`bellcrank.contact.bezier`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.base.keys import ARRAY, NOT_NEGATIVE, PACKED, POSITIVE, Keys, may, must
from bellcrank.base.progress_bar import ProgressBar
from bellcrank.contact.clouds import check_given, check_normals, grid_normals, is_hollow
from bellcrank.contact.given import MOST_VERTICES, OUT_OF_SAMPLES, is_positive, numbers
from bellcrank.contact.mesh_cache import kept
from bellcrank.contact.mesh_field import MeshField
from bellcrank.contact.mesh_grid import tabulated
from bellcrank.contact.nearest import Level, Near, curvature_of, descended, nearest
from bellcrank.contact.shapes.base import FieldShape, Shape
from bellcrank.contact.surface_nets import surface_nets
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.math.vectors import IDENTITY, ZERO, Matrix, Vector
from bellcrank.program.loops import Ints, Reals, Reals2, Records, compiled, entry, gradient, value
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.contact.bezier import BezierGrid

Array = NDArray[np.float64]

NEIGHBOURS = 18
"""Samples a quadric is fitted to: twice the terms of the fit."""
REACH = 1.35
"""Radius of a sample's weight over the distance of its sixth neighbour: every point of the surface is then within reach
of several, also between the rows of a square grid."""
MOST = 2_000_000
"""Samples of a surface at most: they are fitted at a few microseconds and half a kilobyte each."""
CHUNK = 50_000
"""Samples that are looked at together, which keeps the memory small."""
END = 0.5
"""s of the nearest sample from which on the surface has ended. Within a surface one is within 0.71 of the side of
a square grid, the worst one, where s is 0.28; beyond the end f still leads back."""
BACK = -0.3
"""Cosine between normals of samples below which they belong to two sides of a thin body."""
RESOLUTION = (32, 128)
"""Cells along the longest side of the grid of depths, at least and at most: about one for each sample along it."""


class Quadric(NamedTuple):
    """A sample: position, normal, H and radius of its weight."""

    p: Vector
    n: Vector
    H: Matrix
    reach: float


class Cells(NamedTuple):
    """Which samples may reach into each cell of a grid.

    corner: Of the grid [m]. pitch: Side of a cell [m]. keys: Of the cells that hold any, ascending. first: Where their
    members begin.
    """

    corner: Vector
    pitch: float
    nx: int
    ny: int
    nz: int
    keys: Ints
    first: Ints
    members: Ints

    def find(self, x: Vector) -> int:
        """The place of the cell around x, or -1."""
        u = (x - self.corner) / self.pitch
        if not (0.0 <= u.x < self.nx and 0.0 <= u.y < self.ny and 0.0 <= u.z < self.nz):
            return -1
        key = (int(u.x) * self.ny + int(u.y)) * self.nz + int(u.z)
        low = 0
        high = len(self.keys)
        while low < high:
            middle = (low + high) // 2
            if self.keys[middle] < key:
                low = middle + 1
            else:
                high = middle
        if low < len(self.keys) and self.keys[low] == key:
            return low
        return -1

    @property
    def middle(self) -> Vector:
        """The middle of the grid [m]."""
        return self.corner + Vector(1.0 * self.nx, 1.0 * self.ny, 1.0 * self.nz) * (0.5 * self.pitch)


class Mean(NamedTuple):
    """The mean of quadrics with its slope and second derivative; known: Whether any weight reaches."""

    value: float
    slope: Vector
    bend: Matrix
    known: bool


@compiled
def nearest_sample(cells: Cells, samples: Records[Quadric], cell: int, at: Vector) -> int:
    """The sample of a cell that is nearest to a point within its reach, or -1."""
    best = -1
    if cell >= 0:
        least = 0.0
        for k in range(cells.first[cell], cells.first[cell + 1]):
            q = samples[cells.members[k]]
            far = (at - q.p).square
            if far < q.reach * q.reach and (best < 0 or far < least):
                best = cells.members[k]
                least = far
    return best


@compiled
def level_of_quadrics(cells: Cells, samples: Records[Quadric], x: Vector) -> Level:
    """f and its slope alone, as :func:`mean_of_quadrics` has them."""
    at = value(x)
    cell = cells.find(at)
    best = nearest_sample(cells, samples, cell, at)
    if best < 0:
        return Level(0.0 * x.x, ZERO, False)
    own = samples[best]
    r = x - own.p
    shrink = 1.0 / (own.reach * own.reach)
    s = r.square * shrink
    s_slope = r * (2.0 * shrink)
    free = 1.0 - s
    w = free * free * free
    w_slope = s_slope * (-3.0 * free * free)
    h = own.H @ r
    v = own.n.dot(r) - 0.5 * r.dot(h)
    total = w
    total_slope = w_slope
    sum_ = w * v
    sum_slope = w_slope * v + (own.n - h) * w
    for k in range(cells.first[cell], cells.first[cell + 1]):
        j = cells.members[k]
        q = samples[j]
        if j != best and (at - q.p).square < q.reach * q.reach and q.n.dot(own.n) > BACK:
            d = x - q.p
            narrow = 1.0 / (q.reach * q.reach)
            t = d.square * narrow
            rest = 1.0 - t
            u = rest * rest * rest / t
            u1 = -rest * rest * (1.0 + 2.0 * t) / (t * t)
            w = s * u
            w_slope = s_slope * u + d * (2.0 * narrow * s * u1)
            h = q.H @ d
            v = q.n.dot(d) - 0.5 * d.dot(h)
            total += w
            total_slope += w_slope
            sum_ += w * v
            sum_slope += w_slope * v + (q.n - h) * w
    f = sum_ / total
    return Level(f, (sum_slope - total_slope * f) / total, value(s) < END)


@compiled
def mean_of_quadrics(cells: Cells, samples: Records[Quadric], x: Vector) -> Mean:
    """f with its slope and second derivative; unknown where no weight reaches.

    Weights are multiplied by s of the nearest sample, so that none is infinite.
    """
    at = value(x)
    cell = cells.find(at)
    best = nearest_sample(cells, samples, cell, at)
    if best < 0:
        return Mean(0.0 * x.x, ZERO, Matrix(ZERO, ZERO, ZERO), False)
    own = samples[best]
    r = x - own.p
    shrink = 1.0 / (own.reach * own.reach)
    s = r.square * shrink
    s_slope = r * (2.0 * shrink)
    s_bend = 2.0 * shrink
    free = 1.0 - s
    # The nearest sample itself.
    w = free * free * free
    w_slope = s_slope * (-3.0 * free * free)
    w_bend = s_slope.outer(s_slope) * (6.0 * free) + IDENTITY * (-3.0 * free * free * s_bend)
    h = own.H @ r
    v = own.n.dot(r) - 0.5 * r.dot(h)
    v_slope = own.n - h
    total = w
    total_slope = w_slope
    total_bend = w_bend
    sum_ = w * v
    sum_slope = w_slope * v + v_slope * w
    sum_bend = w_bend * v + w_slope.outer(v_slope) + v_slope.outer(w_slope) - own.H * w
    for k in range(cells.first[cell], cells.first[cell + 1]):
        j = cells.members[k]
        q = samples[j]
        if j != best and (at - q.p).square < q.reach * q.reach and q.n.dot(own.n) > BACK:
            d = x - q.p
            narrow = 1.0 / (q.reach * q.reach)
            t = d.square * narrow
            t_slope = d * (2.0 * narrow)
            rest = 1.0 - t
            # u = (1 - t)^3 / t and its derivatives; the weight is s u.
            u = rest * rest * rest / t
            u1 = -rest * rest * (1.0 + 2.0 * t) / (t * t)
            u2 = 2.0 * (1.0 - t * t * t) / (t * t * t)
            w = s * u
            w_slope = s_slope * u + t_slope * (s * u1)
            both = s_slope.outer(t_slope)
            w_bend = (
                IDENTITY * (s_bend * u + 2.0 * narrow * s * u1)
                + (both + both.transposed) * u1
                + t_slope.outer(t_slope) * (s * u2)
            )
            h = q.H @ d
            v = q.n.dot(d) - 0.5 * d.dot(h)
            v_slope = q.n - h
            cross = w_slope.outer(v_slope)
            total += w
            total_slope += w_slope
            total_bend += w_bend
            sum_ += w * v
            sum_slope += w_slope * v + v_slope * w
            sum_bend += w_bend * v + cross + cross.transposed - q.H * w
    f = sum_ / total
    slope = (sum_slope - total_slope * f) / total
    mixed = slope.outer(total_slope)
    bend = (sum_bend - total_bend * f - mixed - mixed.transposed) / total
    return Mean(f, slope, bend, True)


class SampledSurface(NamedTuple):
    """The surface through samples. size: Of the whole [m]. field: Its depth, to come near it from anywhere."""

    cells: Cells
    samples: Records[Quadric]
    field: MeshField
    size: float

    def start(self, x: Vector) -> Vector:
        """A point of the surface near x."""
        return descended(self.field, x, self.cells.middle, self.size)

    def level(self, x: Vector) -> Level:
        """f, or the depth where no sample is near the surface."""
        found = level_of_quadrics(self.cells, self.samples, x)
        if found.slope.square > 0.0:
            return found
        d, g = gradient(self.field.depth, x)
        return Level(-d, -g, False)

    def bend(self, x: Vector) -> Matrix:
        """The second derivative of f."""
        return mean_of_quadrics(self.cells, self.samples, x).bend

    def curvature(self, y: Vector) -> Matrix:
        """Of the surface at one of its points [1/m]."""
        found = mean_of_quadrics(self.cells, self.samples, y)
        return curvature_of(found.slope, found.bend)

    def around(self, x: Vector) -> SampledSurface:
        """The surface near x, which is one everywhere."""
        return self

    def near(self, x: Vector) -> Near:
        """The surface seen from x."""
        return nearest(self, x)


@entry
def _measured(
    cells: Cells, samples: Records[Quadric], points: Reals2, closest: Ints, width: Reals, depths: Reals
) -> int:
    """Depths at points whose closest samples are given; width: About the distance of samples there [m]."""
    for i in range(len(depths)):
        x = Vector(points[i, 0], points[i, 1], points[i, 2])
        near = mean_of_quadrics(cells, samples, x)
        if near.known and near.slope.square > 0.25:
            depths[i] = -near.value / near.slope.length
        else:
            q = samples[closest[i]]
            d = x - q.p
            up = q.n.dot(d)
            # A point above the plane around a sample is that far away; beside it, as from a rim, farther.
            beside = max((d - q.n * up).length - width[closest[i]], 0.0)
            far = (up * up + beside * beside) ** 0.5
            depths[i] = -far if up > 0.0 else far
    return 0


class _CloudDepth:
    """Depths of a sampled surface at nodes of a grid; lengths in cells, the middle of the grid is the origin."""

    def __init__(self, surface: Sampled, centre: Array, spacing: float) -> None:
        self.surface, self.centre, self.spacing = surface, centre, spacing

    def __call__(self, points: Array) -> Array:
        """Depths."""
        x = np.ascontiguousarray(self.centre + self.spacing * points)
        _, closest = self.surface.nearest_points.query(x, workers=-1)
        cells, samples = self.surface.tables
        found = np.empty(len(x))
        _measured(cells, samples, x, closest.astype(np.int64), self.surface.width, found)
        return found / self.spacing

    def on_lattice(self, points: Array, keys: Any, shape: Any, step: float, known: Array) -> Array:
        """Depths at nodes."""
        return self(points)


@dataclass(frozen=True, eq=False)
class Sampled(FieldShape):
    """A surface through samples, convex or not.

    points: [m], (number, 3). normals: Outward, (number, 3). notes: What was found about it. Sharp edges are rounded
    over about the distance of the samples; give a :class:`~bellcrank.contact.mesh.Mesh` for bodies that have them.
    """

    kind: ClassVar[str] = "sampled"
    keys: ClassVar[Keys] = Keys(
        "A smooth surface through points with normals.",
        must("points", PACKED, ARRAY, dimensions=2),
        must("normals", PACKED, "Outward normals, written like the points.", dimensions=2),
        may(
            "rims",
            PACKED,
            "Numbers of the points along each rim of an open surface, -1 behind each rim, written like the points.",
            dimensions=1,
            old=OUT_OF_SAMPLES,
        ),
        may(
            "corners",
            PACKED,
            "Corners of the mesh that touch planes [m], three numbers each, written like the points.",
            dimensions=2,
            old=OUT_OF_SAMPLES,
        ),
        may(
            "rings",
            PACKED,
            "Round rims of the mesh that touch planes: centre [m], unit axis and radius [m], seven numbers each, "
            "written like the points.",
            dimensions=2,
            old=OUT_OF_SAMPLES,
        ),
        may(
            "vertices",
            PACKED,
            "Of the closed mesh that samples of an older file were taken from [m], written like the points.",
            dimensions=2,
        ),
        may(
            "triangles",
            PACKED,
            "Of that mesh: numbers of vertices, three each, written like the points.",
            dimensions=2,
            whole=MOST_VERTICES,
        ),
        may("spacing", POSITIVE, "Distance of samples on that mesh [m].", old=OUT_OF_SAMPLES),
        may(
            "rounding",
            NOT_NEGATIVE,
            "By how much edges of that mesh are rounded, at most [m].",
            old=OUT_OF_SAMPLES,
        ),
    )

    points: Array
    normals: Array
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        points, normals = (
            numbers(x, f"{key} of a sampled surface")
            for x, key in ((self.points, "points"), (self.normals, "normals"))
        )
        check_given(points, normals, MOST)
        if not (isinstance(self.notes, tuple) and all(isinstance(note, str) for note in self.notes)):
            raise ModelError(f"the notes of a sampled surface are a tuple of texts, not {self.notes!r}")
        object.__setattr__(self, "points", points)
        largest = np.abs(normals).max(axis=1)[:, None]
        # Lengths whose squares are out of range are brought near to one.
        normals = np.where((largest > 1e-100) & (largest < 1e100), normals, normals / largest)
        size = np.linalg.norm(normals, axis=1)[:, None]
        # Unit normals stay what they are to the last bit.
        unit = np.where(np.abs(size - 1.0) < 4e-16, normals, normals / size)
        object.__setattr__(self, "normals", unit)
        check_normals(self.points, self.normals, self._fitted[3])
        if is_hollow(self.points, self.normals, self.width) and not self.is_open:
            note = "its samples face inwards: a hollow, which touches what is inside it"
            object.__setattr__(self, "notes", (*self.notes, note))

    @classmethod
    def of_keys(cls, given: Mapping[str, Any]) -> Shape:
        """The samples, or the mesh with edges that those of an older file came from."""
        if "triangles" not in given:
            return cls(given["points"], given["normals"])
        from bellcrank.contact.mesh import Mesh

        if "vertices" not in given:
            raise ModelError("triangles of a sampled surface need 'vertices'")
        try:
            return Mesh(given["vertices"], given["triangles"])
        except ModelError as error:
            raise ModelError(f"triangles of a sampled surface: {error}") from None

    def to_keys(self) -> dict[str, Any]:
        return {"points": self.points, "normals": self.normals}

    @overload
    @staticmethod
    def from_grid(
        grid: ArrayLike,
        inside: ArrayLike | None = None,
        *,
        surface: Literal["through"] = "through",
        around: Literal[False] = False,
    ) -> Sampled: ...

    @overload
    @staticmethod
    def from_grid(
        grid: ArrayLike, inside: ArrayLike | None = None, *, surface: Literal["bezier"], around: bool = False
    ) -> BezierGrid: ...

    @staticmethod
    def from_grid(
        grid: ArrayLike, inside: ArrayLike | None = None, *, surface: str = "through", around: bool = False
    ) -> Sampled | BezierGrid:
        """A structured grid of points (rows, columns, 3), without doubled ones; normals from its differences.

        inside: A point all normals point away from [m]; without it they are rows x columns, right-handed.
        surface: "through" the samples, or the "bezier" patches of Park, Shin, Sohn and Yoo, which miss them as
        published. around: Whether the columns of a "bezier" grid close to a ring.
        """
        if not isinstance(around, bool | np.bool_):
            raise ModelError(f"around= of a grid is True or False, not {around!r}")
        g = numbers(grid, "points of a grid")
        middle = None if inside is None else numbers(inside, "inside= of a grid")
        if middle is not None and not (middle.shape == (3,) and np.isfinite(middle).all()):
            raise ModelError(f"inside= of a grid is a point [m], three numbers, not {inside!r}")
        if surface == "bezier":
            from bellcrank.contact.bezier import BezierGrid

            if middle is None:
                return BezierGrid(g, bool(around))
            x, y, z = middle.tolist()
            return BezierGrid(g, bool(around), (x, y, z))
        if surface != "through":
            raise ModelError(f"surface of a grid is 'through' or 'bezier', not {surface!r}")
        if around:
            raise ModelError("around= belongs to surface='bezier'; a surface through samples needs no rows")
        if g.ndim != 3 or g.shape[2] != 3 or min(g.shape[:2]) < 4:
            raise ModelError(
                f"a grid of samples has the shape (rows, columns, 3), at least 4 x 4, not {g.shape}"
            )
        if not np.isfinite(g).all():
            row, column = np.argwhere(~np.isfinite(g).all(axis=2))[0]
            raise ModelError(f"the grid has no point in row {row}, column {column}: it is not a number")
        return Sampled(g.reshape(-1, 3), grid_normals(g, middle))

    @staticmethod
    def from_mesh(vertices: ArrayLike, faces: ArrayLike, *, scale: float = 1.0) -> Sampled:
        """The vertices of a triangle mesh as samples of a smooth surface; a body with edges is better a
        :class:`~bellcrank.contact.mesh.Mesh`.

        scale: Of the coordinates, 1e-3 for millimetres.
        """
        from bellcrank.contact.mesh import Mesh

        if not is_positive(scale):
            raise ModelError(f"scale of a mesh must be a positive number, not {scale!r}")
        return Mesh(numbers(vertices, "vertices of a mesh") * scale, np.asarray(faces)).sampled()

    @staticmethod
    def from_file(path: str | PathLike[str], *, scale: float = 1.0) -> Sampled:
        """The vertices of a mesh file as samples, as for :meth:`from_mesh`."""
        from bellcrank.contact.mesh import Mesh

        return Mesh.from_file(path, scale=scale).sampled()

    @cached_property
    def nearest_points(self) -> Any:
        """A tree for the nearest samples to a place."""
        from scipy.spatial import cKDTree

        return cKDTree(self.points)

    @cached_property
    def _fitted(self) -> tuple[Array, Array, Array, NDArray[np.int64]]:
        """Distance of the sixth neighbour, corrected normals (number, 3), H (number, 9), the nearest eight of each."""
        from bellcrank.contact.quadrics import fitted

        number = len(self.points)
        count = min(NEIGHBOURS, number - 1)
        distance, n, H = np.empty(number), self.normals.copy(), np.empty((number, 9))
        neighbours = np.empty((number, min(8, count)), np.int64)

        bar, whole = ProgressBar(number, f"fitting a surface through {number} samples", None, 2.0), True
        for begin in range(0, number, CHUNK):
            rows = slice(begin, begin + CHUNK)
            far, near = self.nearest_points.query(self.points[rows], count + 1, workers=-1)
            distance[rows], neighbours[rows] = far[:, 6], near[:, 1:9]
            fitted(self.points, self.normals, n, H, np.ascontiguousarray(near[:, 1:], np.int64), begin)
            whole = whole and bool(far[:, 1].all())
            bar.show(begin + CHUNK)
        bar.close()
        if not whole:
            raise ModelError(
                "samples hold the same point twice; leave one out (numpy.unique(points, axis=0)), or unite the parts "
                "of a mesh that touch each other"
            )
        return distance, n, H, neighbours

    @property
    def width(self) -> Array:
        """The distance of the sixth neighbour of each sample [m]."""
        return self._fitted[0]

    @cached_property
    def tables(self) -> tuple[Cells, Records[Quadric]]:
        """The samples, and which of them may reach into each cell of a grid."""
        width, n, H, _ = self._fitted
        reach = REACH * width
        samples = Records.columns(Quadric, self.points, n, H, reach[:, None])
        # As wide as most weights: a sample then stands in eight cells, and a cell holds some forty.
        pitch = 2.0 * float(np.median(reach))
        corner = (self.points - reach[:, None]).min(axis=0) - 0.5 * pitch
        low = np.floor((self.points - reach[:, None] - corner) / pitch).astype(np.int64)
        many = np.floor((self.points + reach[:, None] - corner) / pitch).astype(np.int64) - low + 1
        shape = (low + many).max(axis=0)
        entries = many.prod(axis=1)
        if entries.sum() > 64 * MOST or float(np.prod(shape.astype(float))) > 2.0**62:
            raise ModelError(
                "sampled surface: its samples lie far closer together in some places than in others; sample more evenly"
            )
        which = np.repeat(np.arange(len(entries)), entries)
        within = np.arange(len(which)) - np.repeat(np.cumsum(entries) - entries, entries)
        z = within % many[which, 2]
        y = within // many[which, 2] % many[which, 1]
        x = within // (many[which, 2] * many[which, 1])
        ix, iy, iz = low[which, 0] + x, low[which, 1] + y, low[which, 2] + z
        key = (ix * shape[1] + iy) * shape[2] + iz
        order = np.argsort(key, kind="stable")
        keys, first = np.unique(key[order], return_index=True)
        nx, ny, nz = shape.tolist()
        cells = Cells(
            Vector(*corner.tolist()),
            pitch,
            nx,
            ny,
            nz,
            keys,
            np.append(first, len(key)).astype(np.int64),
            which[order],
        )
        return cells, samples

    @cached_property
    def is_open(self) -> bool:  # type: ignore[override]
        """Whether the surface has a rim: a sample on it has no neighbours in a third of the turn around it.

        A disc of N samples has 3.5 sqrt(N) of them on its rim; a few on a closed surface come of uneven samples.
        """
        n, near = self._fitted[1], self._fitted[3]
        e = np.cross(n, np.eye(3)[np.argmin(np.abs(n), axis=1)])
        f = np.cross(n, e)
        way = self.points[near] - self.points[:, None]
        angle = np.sort(np.arctan2(np.einsum("ijk,ik->ij", way, f), np.einsum("ijk,ik->ij", way, e)), axis=1)
        gaps = np.diff(angle, axis=1, append=angle[:, :1] + 2.0 * np.pi)
        return bool(np.count_nonzero(gaps.max(axis=1) > 0.8 * np.pi) > np.sqrt(len(n)))

    @cached_property
    def size(self) -> float:
        """The longest side of the box around the samples [m]."""
        return float(np.ptp(self.points, axis=0).max())

    @cached_property
    def field(self) -> MeshField:
        """The depth of points in the shape, as a record of the loop language."""
        return kept(self.points, self.normals, "samples", self._made)[0]

    def _made(self) -> tuple[MeshField, Array, float]:
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        cells = int(np.clip(self.size / float(np.median(self.width)), *RESOLUTION))
        centre, spacing = 0.5 * (low + high), self.size / cells
        return (
            tabulated(_CloudDepth(self, centre, spacing), (high - low) / spacing, centre, spacing),
            np.zeros(1),
            0.0,
        )

    @cached_property
    def surface_near(self) -> SampledSurface:
        """The surface seen from points near it, as a record of the loop language."""
        return SampledSurface(*self.tables, self.field, self.size)

    def triangles(self, spacing: float | None = None) -> Triangles:
        """The surface as triangles, where samples cover it. spacing: Their edges [m], about."""
        h = float(np.median(self.width)) if spacing is None else spacing
        h = max(h, self.size / RESOLUTION[1])
        low, high = self.points.min(axis=0) - 2.0 * h, self.points.max(axis=0) + 2.0 * h
        whole = surface_nets(self.field, low, high, h)
        far, closest = self.nearest_points.query(whole.vertices)
        within = (far < END**0.5 * REACH * self.width[closest])[whole.faces].all(axis=1)
        return Triangles(whole.vertices, whole.faces[within])

    @cached_property
    def _mass(self) -> tuple[float, Array, Array]:
        if self.is_open:
            raise ModelError("an open sampled surface holds no volume; give mass and inertia")
        whole = self.triangles()
        return whole.volume, whole.centre, whole.inertia

    @cached_property
    def least_curvature(self) -> tuple[float, int]:
        """The least principal curvature of the surface [1/m], negative in dents, and the sample it is at."""
        # H is that of the tangent plane: its third value, along the normal, is zero.
        n, H = self._fitted[1], self._fitted[2].reshape(-1, 3, 3)
        size = float(np.abs(H).max())
        values = np.linalg.eigvalsh(-H + 2.0 * size * np.einsum("ij,ik->ijk", n, n))[:, 0]
        k = int(np.argmin(values))
        return float(values[k]), k

    @cached_property
    def extent(self) -> float:
        """No point lies further than this from the origin of the frame [m]."""
        return float(np.linalg.norm(self.points, axis=1).max()) + float(self.width.max())

    def bounding_radius(self) -> Scalar:
        return self.extent

    def implicit(self, s: Vec) -> Scalar:
        raise ModelError("a sampled surface has no implicit function of traced values")


__all__ = ["Sampled", "mean_of_quadrics"]
