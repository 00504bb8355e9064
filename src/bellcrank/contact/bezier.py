"""The patch of Park, Shin, Sohn and Yoo: the samples around the closest one as control points of a Bezier patch.

Park, Shin, Sohn, Yoo (2003), section 2.1, equations (1) to (3): 3 x 3 samples of a structured grid, evaluated by de
Casteljau's algorithm. As published it does not pass through the samples: on a sphere of radius R it lies
R (h1^2 + h2^2) / 4 inside, h being the angles between samples, and has half the curvature; where the closest sample
changes, the surface jumps by a part of that. :class:`~bellcrank.contact.sampled.Sampled` passes through the samples.

Differs in: (1) is read with a sum for its second "=" sign, and the first sum up to n.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.base.keys import ARRAY, PACKED, TRUTH, VECTOR3, Keys, may, must
from bellcrank.contact.given import numbers
from bellcrank.contact.mesh_field import MeshField
from bellcrank.contact.nearest import CLOSE, STEPS, Near, descended
from bellcrank.contact.sampled import Cells, Sampled
from bellcrank.contact.shapes.base import FieldShape
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.math.vectors import IDENTITY, Matrix, Vector, inverse
from bellcrank.program.loops import Ints, Reals2, Records, compiled, entry, value
from bellcrank.program.trace import Scalar

Array = NDArray[np.float64]


class Net(NamedTuple):
    """The 3 x 3 control points of a patch, by rows."""

    a: Vector
    b: Vector
    c: Vector
    d: Vector
    e: Vector
    f: Vector
    g: Vector
    h: Vector
    i: Vector


class Curve(NamedTuple):
    """A point of a quadratic Bezier curve, and its first two derivatives."""

    point: Vector
    slope: Vector
    bend: Vector


class Place(NamedTuple):
    """Parameters on a patch."""

    u: float
    v: float


class Patch(NamedTuple):
    """A patch at one of its places: point, derivatives by u and v, and by uu, uv, vv."""

    p: Vector
    u: Vector
    v: Vector
    uu: Vector
    uv: Vector
    vv: Vector


@compiled
def curve(a: Vector, b: Vector, c: Vector, t: float) -> Curve:
    """De Casteljau's algorithm."""
    first = a + (b - a) * t
    second = b + (c - b) * t
    return Curve(first + (second - first) * t, (second - first) * 2.0, (c - b * 2.0 + a) * 2.0)


@compiled
def patch_at(n: Net, at: Place) -> Patch:
    """The patch with these control points."""
    left, middle, right = curve(n.a, n.d, n.g, at.u), curve(n.b, n.e, n.h, at.u), curve(n.c, n.f, n.i, at.u)
    along = curve(left.point, middle.point, right.point, at.v)
    across = curve(left.slope, middle.slope, right.slope, at.v)
    bend = curve(left.bend, middle.bend, right.bend, at.v)
    return Patch(along.point, across.point, along.slope, bend.point, across.slope, along.bend)


@compiled
def place_step(q: Patch, x: Vector, at: Place) -> Place:
    """One step of Newton's method for the foot of x."""
    r = q.p - x
    h11, h12, h22 = q.u.square + q.uu.dot(r), q.u.dot(q.v) + q.uv.dot(r), q.v.square + q.vv.dot(r)
    g1, g2 = q.u.dot(r), q.v.dot(r)
    det = h11 * h22 - h12 * h12
    return Place(at.u - (h22 * g1 - h12 * g2) / det, at.v - (h11 * g2 - h12 * g1) / det)


@compiled
def fundamental(q: Patch, n: Vector) -> Matrix:
    """Second over first fundamental form, by the vectors that are one along one side and zero along the other."""
    e = q.v.cross(n) / q.u.dot(q.v.cross(n))
    f = q.u.cross(n) / q.v.dot(q.u.cross(n))
    mixed = e.outer(f)
    return -(e.outer(e) * n.dot(q.uu) + (mixed + mixed.transposed) * n.dot(q.uv) + f.outer(f) * n.dot(q.vv))


class BezierPatch(NamedTuple):
    """One patch. sign: +1 where u x v is outward."""

    net: Net
    sign: float

    def foot(self, x: Vector) -> Place:
        """The parameters of the foot of x."""
        base = value(x)
        at = Place(0.5, 0.5)
        for _ in range(STEPS):
            moved = place_step(patch_at(self.net, at), base, at)
            step = max(abs(moved.u - at.u), abs(moved.v - at.v))
            if not step < 1.0:
                break
            at = moved
            if step < CLOSE:
                break
        # With the rates of x; its differences are zero.
        found = Place(at.u + (x.x - x.x), at.v + (x.x - x.x))
        for _ in range(2):
            found = place_step(patch_at(self.net, found), x, found)
        return found

    def near(self, x: Vector) -> Near:
        """The surface seen from x."""
        at = self.foot(x)
        q = patch_at(self.net, at)
        across = q.u.cross(q.v) * self.sign
        n = across / across.length
        d = n.dot(x - q.p)
        curved = fundamental(value(q), value(n))
        # Half a patch beyond its end there is none any more.
        known = abs(value(at.u) - 0.5) < 1.0 and abs(value(at.v) - 0.5) < 1.0
        return Near(d, n, curved @ inverse(IDENTITY + curved * value(d)), known)

    def curvature(self, y: Vector) -> Matrix:
        """Of the surface at one of its points [1/m]."""
        q = patch_at(self.net, self.foot(y))
        across = q.u.cross(q.v) * self.sign
        return fundamental(q, across / across.length)


class BezierSurface(NamedTuple):
    """The patches of a grid. samples: Their middles. sign: +1 where u x v is outward. size: Of the whole [m]."""

    cells: Cells
    samples: Records[Vector]
    patches: Ints
    nets: Records[Net]
    sign: float
    field: MeshField
    size: float

    def closest(self, x: Vector) -> int:
        """The patch around the sample closest to x."""
        cell = self.cells.find(x)
        best = 0
        least = -1.0
        if cell >= 0:
            for k in range(self.cells.first[cell], self.cells.first[cell + 1]):
                d = (x - self.samples[self.cells.members[k]]).square
                if least < 0.0 or d < least:
                    least = d
                    best = self.cells.members[k]
        else:
            for k in range(len(self.samples)):
                d = (x - self.samples[k]).square
                if least < 0.0 or d < least:
                    least = d
                    best = k
        return self.patches[best]  # type: ignore[no-any-return, return-value]

    def around(self, x: Vector) -> BezierPatch:
        """The patch around the sample closest to the surface near x."""
        near = descended(self.field, x, self.cells.middle, self.size)
        return BezierPatch(self.nets[self.closest(near)], self.sign)


@entry
def _feet(surface: BezierSurface, points: Reals2, feet: Reals2, normals: Reals2) -> int:
    for i in range(len(points)):
        x = Vector(points[i, 0], points[i, 1], points[i, 2])
        near = surface.around(x).near(x)
        foot = x - near.normal * near.distance
        feet[i, 0], feet[i, 1], feet[i, 2] = foot
        normals[i, 0], normals[i, 1], normals[i, 2] = near.normal
    return 0


@dataclass(frozen=True, eq=False)
class BezierGrid(FieldShape):
    """A structured grid of points (rows, columns, 3), covered by the patches of Park, Shin, Sohn and Yoo.

    around: Whether the columns close to a ring. inside: A point all normals point away from [m]; without it they are
    rows x columns, right-handed.
    """

    kind = "bezier_grid"
    keys = Keys(
        "A structured grid of points covered by 3x3 Bezier patches.",
        must(
            "points",
            PACKED,
            ARRAY,
            python="grid",
            dimensions=3,
        ),
        may("around", TRUTH, "Whether columns close to a ring."),
        may("inside", VECTOR3, "A point that normals point away from [m].", plain=True),
    )

    grid: Array
    around: bool = False
    inside: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        grid = numbers(self.grid, "points of a grid")
        if grid.ndim != 3 or grid.shape[2] != 3 or min(grid.shape[:2]) < 3:
            raise ModelError(
                f"a grid of samples has the shape (rows, columns, 3), at least 3 x 3, not {grid.shape}"
            )
        if not np.isfinite(grid).all():
            raise ModelError("a grid of samples holds points that are not numbers; leave them out")
        object.__setattr__(self, "grid", grid)

    @cached_property
    def _crossed(self) -> Array:
        g = np.concatenate([self.grid[:, -1:], self.grid, self.grid[:, :1]], axis=1)
        across = np.gradient(g, axis=1)[:, 1:-1] if self.around else np.gradient(self.grid, axis=1)
        n = np.cross(np.gradient(self.grid, axis=0), across).reshape(-1, 3)
        return np.asarray(n / np.maximum(np.linalg.norm(n, axis=1)[:, None], 1e-300))

    @cached_property
    def sign(self) -> float:
        """Whether rows x columns points outwards."""
        if self.inside is None:
            return 1.0
        away = np.einsum("ij,ij->i", self.grid.reshape(-1, 3) - np.asarray(self.inside), self._crossed)
        if (away > 0.0).any() and (away < 0.0).any():
            raise ModelError("the grid does not turn the same side to `inside` everywhere; leave inside= out")
        return 1.0 if away[0] > 0.0 else -1.0

    @cached_property
    def _nets(self) -> tuple[Array, NDArray[np.int64]]:
        """Control points of all patches (number, 9, 3), and for each sample the number of the patch around it."""
        rows, columns = self.grid.shape[:2]
        middle = np.clip(np.arange(rows), 1, rows - 2)
        centre = np.arange(columns) if self.around else np.clip(np.arange(columns), 1, columns - 2)
        first = 0 if self.around else 1
        width = columns if self.around else columns - 2
        patch = (middle[:, None] - 1) * width + (centre[None, :] - first)
        r = np.arange(1, rows - 1)[:, None, None, None] + np.arange(-1, 2)[None, None, :, None]
        c = np.arange(first, first + width)[None, :, None, None] + np.arange(-1, 2)[None, None, None, :]
        nets = self.grid[np.broadcast_arrays(r, c % columns)[0], np.broadcast_arrays(r, c % columns)[1]]
        return nets.reshape(-1, 9, 3), patch.reshape(-1).astype(np.int64)

    @cached_property
    def _sampled(self) -> Sampled:
        """The middles of the patches as samples: by them the surface is searched."""
        nets, _ = self._nets
        w = np.array([1.0, 2.0, 1.0, 2.0, 4.0, 2.0, 1.0, 2.0, 1.0]) / 16.0
        points = np.einsum("k,nkj->nj", w, nets)
        by_u = (nets[:, 6:9] - nets[:, 0:3]).mean(axis=1)
        by_v = (nets[:, 2::3] - nets[:, 0::3]).mean(axis=1)
        normals = self.sign * np.cross(by_u, by_v)
        own = np.unique(points, axis=0, return_index=True)[1]
        own = np.sort(own[np.linalg.norm(normals[own], axis=1) > 0.0])
        return Sampled(points[own], normals[own])

    @property
    def size(self) -> float:
        """The longest side of the box around the surface [m]."""
        return self._sampled.size

    @property
    def field(self) -> MeshField:
        """The depth of points in the shape, as a record of the loop language."""
        return self._sampled.field

    @property
    def is_open(self) -> bool:
        """Whether the surface has a rim."""
        return self._sampled.is_open

    @property
    def points(self) -> Array:
        """Points of the surface, one for each patch [m], (number, 3)."""
        return self._sampled.points

    @cached_property
    def surface_near(self) -> BezierSurface:
        """The surface seen from points near it, as a record of the loop language."""
        nets, patch = self._nets
        points, normals = self.grid.reshape(-1, 3), self.sign * self._crossed
        # Samples at a pole stand there several times, or have no normal; any of them serves.
        own = np.unique(points, axis=0, return_index=True)[1]
        own = np.sort(own[np.linalg.norm(normals[own], axis=1) > 0.5])
        return BezierSurface(
            Sampled(points[own], normals[own]).tables[0],
            Records.columns(Vector, points[own]),
            patch[own],
            Records.columns(Net, np.ascontiguousarray(nets.reshape(len(nets), 27))),
            self.sign,
            self.field,
            self.size,
        )

    def nearest(self, x: Array) -> tuple[Array, Array]:
        """The point nearest to x on the patch around the closest sample, and the unit normal there."""
        foot, normal = np.empty((1, 3)), np.empty((1, 3))
        _feet(self.surface_near, np.asarray(x, float).reshape(1, 3), foot, normal)
        return foot[0], normal[0]

    def triangles(self, spacing: float | None = None) -> Triangles:
        """The surface as triangles between the middles of its patches."""
        return self._sampled.triangles(spacing)

    @property
    def _mass(self) -> tuple[float, Array, Array]:
        return self._sampled._mass

    @property
    def extent(self) -> float:
        """No point lies further than this from the origin of the frame [m]."""
        return float(np.linalg.norm(self.grid, axis=2).max())

    def bounding_radius(self) -> Scalar:
        return self.extent

    def implicit(self, s: Vec) -> Scalar:
        raise ModelError("a surface of patches has no implicit function of traced values")


__all__ = ["BezierGrid", "patch_at"]
