"""The patch of paper C: the samples around the closest one as control points of a quadratic Bezier patch.

Park, Shin, Sohn, Yoo (2003), section 2.1, equations (1) to (3): 3 x 3 samples of a structured grid, evaluated by de
Casteljau's algorithm. As published it does not pass through the samples: on a sphere of radius R it lies
R (h1^2 + h2^2) / 4 inside, h being the angles between samples, and has half the curvature; where the closest sample
changes, the surface jumps by a part of that. :class:`~bellcrank.contact.sampled.Sampled` passes through the samples.

Differs in: (1) is read with a sum for its second "=" sign, and the first sum up to n.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.given import numbers
from bellcrank.contact.patches import HEAD, Patched, patch_at
from bellcrank.errors import ModelError

if TYPE_CHECKING:
    from bellcrank.contact.covering import Covering

Array = NDArray[np.float64]

REACH = 0.3
"""How far from its middle, in parameters, a patch is used; half way to the next sample would be 0.25."""


@dataclass(frozen=True, eq=False)
class BezierGrid(Patched):
    """A structured grid of points (rows, columns, 3), covered by the patches of paper C.

    around: Whether the columns close to a ring. inside: A point all normals point away from [m]; without it they are
    rows x columns, right-handed.
    """

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

    @property
    def degrees(self) -> tuple[int, int]:  # type: ignore[override]
        """Quadratic both ways."""
        return 2, 2

    @cached_property
    def points(self) -> Array:  # type: ignore[override]
        """The samples."""
        return self.grid.reshape(-1, 3)

    @cached_property
    def _crossed(self) -> Array:
        g = np.concatenate([self.grid[:, -1:], self.grid, self.grid[:, :1]], axis=1)
        across = np.gradient(g, axis=1)[:, 1:-1] if self.around else np.gradient(self.grid, axis=1)
        n = np.cross(np.gradient(self.grid, axis=0), across).reshape(-1, 3)
        return np.asarray(n / np.maximum(np.linalg.norm(n, axis=1)[:, None], 1e-300))

    @cached_property
    def sign(self) -> float:  # type: ignore[override]
        """Whether rows x columns points outwards."""
        if self.inside is None:
            return 1.0
        away = np.einsum("ij,ij->i", self.points - np.asarray(self.inside), self._crossed)
        if (away > 0.0).any() and (away < 0.0).any():
            raise ModelError("the grid does not turn the same side to `inside` everywhere; leave inside= out")
        return 1.0 if away[0] > 0.0 else -1.0

    @cached_property
    def normals(self) -> Array:  # type: ignore[override]
        """Of the samples, outward, by differences."""
        return self.sign * self._crossed

    @cached_property
    def spacing(self) -> float:  # type: ignore[override]
        """The middle distance of neighbours that are not the same point [m]."""
        rows, columns = (np.linalg.norm(np.diff(self.grid, axis=k), axis=2) for k in (0, 1))
        every = np.concatenate([rows.ravel(), columns.ravel()])
        return float(np.median(every[every > 1e-9 * every.max()]))

    def block(self, row: int, column: int) -> Array:
        """The 3 x 3 samples around one; at a rim the nearest whole block."""
        rows = min(max(row, 1), self.grid.shape[0] - 2) + np.arange(-1, 2)
        number = self.grid.shape[1]
        columns = (
            column + np.arange(-1, 2) if self.around else min(max(column, 1), number - 2) + np.arange(-1, 2)
        )
        return self.grid[np.ix_(rows, columns % number)]

    @cached_property
    def _blocks(self) -> tuple[Array, Array, NDArray[np.bool_]]:
        """Control points of all blocks, one for each sample that is not on a rim, their limits, and which are rims."""
        rows, columns = self.grid.shape[:2]
        inner = range(columns) if self.around else range(1, columns - 1)
        nets = np.array([self.block(row, column) for row in range(1, rows - 1) for column in inner])
        row, column = np.divmod(np.arange(len(nets)), len(inner))
        ends = [row == 0, row == rows - 3]
        ends += 2 * [np.zeros(len(nets), np.bool_)] if self.around else [column == 0, column == columns - 3]
        rims = np.stack(ends, axis=1)
        limits = np.where(rims, [0.0, 1.0, 0.0, 1.0], [0.5 - REACH, 0.5 + REACH, 0.5 - REACH, 0.5 + REACH])
        return nets, limits, rims

    def covered(self, width: float, edges: bool) -> Covering:
        """The middles of the patches, which lie below the samples, and the ends of those at rims."""
        from bellcrank.contact.covering import Covering, evaluated, known, packed

        def make() -> Covering:
            nets, limits, rims = self._blocks
            rows, columns = self.grid.shape[:2]
            row, column = np.divmod(np.arange(rows * columns), columns)
            here, there = (
                np.clip(row, 1, rows - 2),
                column if self.around else np.clip(column, 1, columns - 2),
            )
            inner, first = (columns, 0) if self.around else (columns - 2, 1)
            places = np.stack(
                [(here - 1) * inner + there - first, 0.5 + 0.5 * (row - here), 0.5 + 0.5 * (column - there)],
                axis=1,
            ).astype(np.float64)
            points, normals, bent = (
                np.empty((len(row), 3)),
                np.empty((len(row), 3)),
                np.empty((len(row), 3, 3)),
            )
            for u, v in np.unique(places[:, 1:], axis=0):
                own = np.flatnonzero((places[:, 1] == u) & (places[:, 2] == v))
                found = evaluated(
                    nets[places[own, 0].astype(np.int64)], np.array([u]), np.array([v]), self.sign
                )
                points[own], normals[own], bent[own] = (x[:, 0, 0] for x in found)
            return Covering(
                points, normals, of=self, bent=bent, edges=np.zeros(len(row), np.bool_), places=places,
                nets=packed(nets, limits, rims),
            )  # fmt: skip

        return known(self, "grid", make)

    def nearest(self, x: Array) -> tuple[Array, Array]:
        """The point nearest to x on the patch around the closest sample, and the unit normal there."""
        table = self.piece(x)[1]
        p, a, b, *_ = patch_at(table[HEAD:].reshape(3, 3, 3), float(table[0]), float(table[1]))
        n = self.sign * np.cross(a, b)
        return p, n / np.linalg.norm(n)


__all__ = ["BezierGrid"]
