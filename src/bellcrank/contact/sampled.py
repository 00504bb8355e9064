"""Surfaces given by samples: points with normals, made into one smooth surface that passes through them.

Around every sample i the surface is taken as the quadric q_i(x) = n_i . d - d . H_i d / 2 = 0, d = x - p_i, fitted to
the neighbours. The whole is the zero of their mean

    f(x) = sum w_i q_i / sum w_i,   w_i = (1 - d^2 / R_i^2)^3 / (d^2 / R_i^2) where d < R_i, else 0,

which passes through every sample with its normal, has continuous normals and curvatures, and needs no triangles.

Sources: Franke and Nielson (1980) for the weights; Ohtake et al. (2003) for partition of unity implicits; Cazals and
Pouget (2005) for the fits.
Differs in: paper C takes the samples around the closest one as control points of a Bezier patch, which misses them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.contact.clouds import check_given, check_normals, check_rest, grid_normals, is_hollow
from bellcrank.contact.fitting_bar import FittingBar
from bellcrank.contact.given import numbers
from bellcrank.contact.pieces import BACK
from bellcrank.contact.rims import ROW, Rim, checked
from bellcrank.contact.source import Source
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.program.trace import Scalar

if TYPE_CHECKING:
    from bellcrank.contact.bezier import BezierGrid
    from bellcrank.contact.facing import Facing
    from bellcrank.contact.local import Local
    from bellcrank.contact.outline import Outline
    from bellcrank.contact.pieces import Pieces
    from bellcrank.contact.recognised import Standing
    from bellcrank.contact.sheets import Cut
    from bellcrank.contact.tree import Tree

Array = NDArray[np.float64]

NEIGHBOURS = 18
"""Samples a quadric is fitted to."""
REACH = 1.35
"""Radius of a sample's weight over the distance of its sixth neighbour."""
MARGIN = 0.25
"""How far, over that distance, the contact point may move before samples are gathered anew."""
CROWDED = 48
"""Most samples around a contact point that a program takes in."""
MOST = 2_000_000
"""Samples of a surface at most: they are fitted at a few microseconds and half a kilobyte each."""
CHUNK = 50_000
"""Samples that are looked at together, which keeps the memory small."""
SHARP = 0.6
"""Angle between the normals of neighbours [rad] beyond which a sample counts as one of an edge."""
RIM = 1.0
"""Distance of a contact point from the nearest sample, over the radius of its weight, beyond which the surface ends."""
ENTRIES = 13
"""Numbers a sample hands to a program: position, normal, six of H, radius of its weight."""


@dataclass(frozen=True, eq=False)
class Sampled(Source):
    """A surface through samples, convex or not.

    points: [m], (number, 3). normals: Outward, (number, 3). notes: What was repaired. rims: Of an open surface, the
    samples along each of its rims, in order around it; () for a closed one. Where they are not given they are found
    from the points. The surface ends at its rims, which are smooth curves through these samples and touch as edges do;
    sharp edges within it are rounded over about the distance of the samples, but where it is cut. outline: The corners
    and round rims with which it touches a plane, where there is nothing else that could; None where there may be. cut:
    The mesh it came from, where that has creases: along them it is cut where it meets a round shape. rounding: By how
    much its creases are rounded where it is not [m], measured.
    """

    points: Array
    normals: Array
    notes: tuple[str, ...] = field(default=())
    rims: tuple[NDArray[np.int64], ...] | None = field(default=None)
    outline: Outline | None = field(default=None)
    cut: Cut | None = field(default=None)
    rounding: float = 0.0

    def __post_init__(self) -> None:
        points, normals = (
            numbers(x, f"{key} of a sampled surface")
            for x, key in ((self.points, "points"), (self.normals, "normals"))
        )
        check_given(points, normals, MOST)
        check_rest(self.notes, self.outline, self.cut)
        object.__setattr__(self, "points", points)
        largest = np.abs(normals).max(axis=1)[:, None]
        # Lengths whose squares cannot be told are brought near to one.
        normals = np.where((largest > 1e-100) & (largest < 1e100), normals, normals / largest)
        size = np.linalg.norm(normals, axis=1)[:, None]
        # Unit normals stay what they are to the last bit.
        unit = np.where(np.abs(size - 1.0) < 4e-16, normals, normals / size)
        object.__setattr__(self, "normals", unit)
        object.__setattr__(self, "rims", self._loops())
        if self.capacity > CROWDED:
            raise ModelError(
                f"sampled surface: up to {self.capacity} samples lie around one point, far closer together one way "
                "than another; sample more evenly"
            )

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
        surface: "through" the samples, or the "bezier" patches of paper C, which miss them as published.
        around: Whether the columns of a "bezier" grid close to a ring.
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
        from scipy.spatial import cKDTree

        from bellcrank.contact.rim_loops import of_grid

        points, normals = g.reshape(-1, 3), grid_normals(g, middle)
        return Sampled(points, normals, rims=of_grid(g, cKDTree(points)))

    @staticmethod
    def from_mesh(
        vertices: ArrayLike, faces: ArrayLike, *, spacing: float | None = None, scale: float = 1.0
    ) -> Sampled:
        """Samples of a triangle mesh; what is wrong with it is repaired with a note, or refused.

        spacing: How far apart samples lie [m]. Without it the vertices are taken where they lie evenly; else large
        triangles are divided, on the smooth surface that the mesh stands for and with its creases, and crowded
        vertices thinned out, to a distance that follows from the mesh. scale: Of the coordinates, 1e-3 for
        millimetres.
        """
        from bellcrank.contact.meshes import sampled
        from bellcrank.contact.rounding import rounding

        points, normals, notes, rims, outline, cut, mesh = sampled(
            vertices, faces, spacing, scale, MOST, CROWDED
        )
        made = Sampled(points, normals, notes, rims, outline, cut)
        object.__setattr__(made, "rounding", rounding(made, mesh))
        return made

    @staticmethod
    def from_file(path: str | PathLike[str], *, spacing: float | None = None, scale: float = 1.0) -> Sampled:
        """A mesh file (STL, OBJ, PLY), read by trimesh [m]; spacing and scale as for :meth:`from_mesh`."""
        from bellcrank.fe.triangle_files import read_triangles as read

        return Sampled.from_mesh(*read(path), spacing=spacing, scale=scale)

    @cached_property
    def _fitted(self) -> tuple[Array, Array, Array]:
        """Distance of the sixth neighbour, corrected normals (number, 3) and H (number, 3, 3)."""
        from bellcrank.contact.quadrics import fitted

        number = len(self.points)
        count = min(NEIGHBOURS, number - 1)
        distance, n, H = np.empty(number), self.normals.copy(), np.empty((number, 9))
        neighbours = np.empty((number, min(8, count)), np.int64)
        most = np.empty(number, np.int8)

        def fit(begin: int) -> bool:
            rows = slice(begin, begin + CHUNK)
            far, near = self.nearest_points.query(self.points[rows], count + 1)
            distance[rows], neighbours[rows] = far[:, 6], near[:, 1:9]
            most[rows] = np.count_nonzero(far < (REACH + MARGIN) * far[:, 6:7], axis=1)
            fitted(self.points, self.normals, n, H, np.ascontiguousarray(near[:, 1:]), begin)
            return bool(far[:, 1].all())

        bar, whole = FittingBar(number), True
        # Both parts leave the interpreter to others meanwhile.
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for done, good in enumerate(pool.map(fit, range(0, number, CHUNK)), 1):
                whole = whole and good
                bar.show(done * CHUNK)
        bar.close()
        if not whole:
            raise ModelError(
                "samples hold the same point twice; leave one out (numpy.unique(points, axis=0)), or unite the parts "
                "of a mesh that touch each other"
            )
        # A sphere of a sample's weight and margin that holds all that were asked for may hold more.
        most[most > count] = CROWDED + 1
        self.__dict__["neighbours"], self.__dict__["_crowd"] = neighbours, most
        return distance, n, H.reshape(number, 3, 3)

    @cached_property
    def neighbours(self) -> NDArray[np.int64]:
        """The nearest eight samples of each."""
        _ = self._fitted
        return np.asarray(self.__dict__["neighbours"])

    def _loops(self) -> tuple[NDArray[np.int64], ...]:
        """The rims as they were given, or found."""
        if self.rims is not None:
            return checked(self.rims, len(self.points))
        from bellcrank.contact.rim_loops import of_points

        check_normals(self.points, self.normals, self.neighbours)
        loops, loose = of_points(self.points, self.normals, self.neighbours, self.nearest_points)
        if loose and not loops:
            note = (
                f"{loose} samples have neighbours on one side only, but none of them lead around a rim: taken as "
                "closed; where the surface is open give rims="
            )
            object.__setattr__(self, "notes", (*self.notes, note))
        if not loops and is_hollow(self.points, self.normals, self._fitted[0]):
            note = "its samples face inwards: a hollow, which touches what is inside it"
            object.__setattr__(self, "notes", (*self.notes, note))
        return loops

    @cached_property
    def rim(self) -> Rim:
        """The curves the surface ends at."""
        return Rim.of(self.points, self._fitted[1], self.neighbours, self.rims or ())

    @cached_property
    def tree(self) -> Tree:
        """The bounding-volume tree over the points, whose nodes follow rims."""
        from bellcrank.contact.tree import Tree

        return Tree.over(
            self.points, self.normals, np.concatenate([np.zeros(0, np.int64), *(self.rims or ())])
        )

    @cached_property
    def rim_room(self) -> int:
        """Samples of a rim that a program takes in; none for a closed surface."""
        return self.rim.capacity(self.margin)

    @cached_property
    def sharp(self) -> NDArray[np.bool_]:
        """Samples on edges and corners: the normals around them differ by more than a smooth surface lets expect."""
        least = np.ones(len(self.normals))
        for near in self.neighbours.T:
            cosine = np.einsum("ij,ij->i", self.normals, self.normals[near])
            # The other side of a thin body is no edge.
            np.minimum(least, np.where(cosine < BACK, 1.0, cosine), out=least)
        return np.asarray(least < np.cos(SHARP))

    @cached_property
    def reach(self) -> Array:
        """R_i [m]."""
        return np.maximum(REACH * self._fitted[0], self.rim.reach(len(self.points)))

    @cached_property
    def spacing(self) -> float:
        """The least distance of a sixth neighbour [m]."""
        return float(self._fitted[0].min())

    @cached_property
    def margin(self) -> float:
        """How far the contact point may move before samples are gathered anew [m]."""
        return MARGIN * self.spacing

    @cached_property
    def capacity(self) -> int:
        """The most samples whose weight reaches into the margin around any point of the surface, and a few to spare."""
        wider = self.reach > REACH * self._fitted[0]
        radii, most = self.reach + self.margin, np.where(wider, CROWDED + 1, self.__dict__["_crowd"])
        order = np.argsort(-most, kind="stable")
        found = 0
        for begin in range(0, len(order), CHUNK):
            rows = order[begin : begin + CHUNK]
            # The margin is that of the closest samples, so the others hold no more than was counted for them.
            if most[rows[0]] <= found:
                break
            counts = self.nearest_points.query_ball_point(
                self.points[rows], radii[rows], return_length=True, workers=-1
            )
            found = max(found, int(np.max(counts)))
        return found + 4

    @property
    def entries(self) -> int:
        return self.capacity * ENTRIES + (self.rim_room * ROW + 1 if self.rim_room else 0)

    def piece(self, x: Array) -> tuple[Array, Array, bool]:
        """x, and for each sample around it, the nearest first, its ENTRIES; then those of its rim."""
        number = len(self.points)
        far, near = self.nearest_points.query(x, min(self.capacity, number))
        table = np.zeros((self.capacity, ENTRIES))
        _, n, H = self._fitted
        same = n[near] @ n[near[0]] >= BACK
        far, near = far[same], near[same]
        k = len(near)
        table[:k, 0:3], table[:k, 3:6] = self.points[near], n[near]
        table[:k, 6:12] = H[near][:, (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]
        table[:k, 12] = self.reach[near]
        table[k:, 0:3], table[k:, 12] = table[0, 0:3] + 1e6 * self.spacing, self.spacing
        entries = np.concatenate([table.ravel(), self.rim.piece(x, self.rim_room, self.spacing)])
        return x, entries, bool(far[0] <= RIM * self.reach[near[0]])

    def local(self, start: Vec, inputs: Sequence[Scalar], turn: Scalar) -> Local:
        from bellcrank.contact.local import Local

        return Local(self, start, tuple(inputs), turn)

    @cached_property
    def pieces(self) -> Pieces:
        """What the compiled search of two such surfaces takes."""
        from bellcrank.contact.pieces import Pieces

        return Pieces.of(self)

    @cached_property
    def facing(self) -> Facing:
        """What the compiled search of contact points takes besides."""
        from bellcrank.contact.facing import Facing

        return Facing.of(self)

    @cached_property
    def standing(self) -> Standing | None:
        """The box, cylinder or polyhedron that the mesh it came from is, or None."""
        from bellcrank.contact.recognised import recognised

        return recognised(self)

    @cached_property
    def least_curvature(self) -> tuple[float, int]:
        """The least principal curvature of the surface [1/m], negative in dents, and the sample it is at."""
        # H is that of the tangent plane: its third value, along the normal, is zero.
        _, n, H = self._fitted
        size = float(np.abs(H).max())
        values = np.linalg.eigvalsh(-H + 2.0 * size * np.einsum("ij,ik->ijk", n, n))[:, 0]
        k = int(np.argmin(values))
        return float(values[k]), k

    @cached_property
    def bending(self) -> float:
        """The largest principal curvature of the surface, outwards or inwards [1/m]."""
        return float(np.abs(np.linalg.eigvalsh(self._fitted[2])).max())

    def bends(self, k: int) -> Array:
        return np.asarray(-self._fitted[2][k])

    @cached_property
    def inner_bulge(self) -> float:
        """How far the surface may lie outside its samples [m], about, but at rims."""
        # Corners stick out themselves.
        bent = np.abs(self._fitted[2]).max(axis=(1, 2))[~self.sharp]
        return float(np.quantile(bent * self._fitted[0][~self.sharp] ** 2, 0.99)) if len(bent) else 0.0

    @cached_property
    def bulge(self) -> float:
        return max(self.inner_bulge, self.rim.bulge)


__all__ = ["CROWDED", "ENTRIES", "Sampled"]
