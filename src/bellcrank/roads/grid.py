"""Grids: heights over a rectangle, by rows or from the triangles of a mesh."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from bellcrank.base.keys import ARRAY, NUMBER, PACKED, Keys, any_of, list_of, may, must
from bellcrank.errors import ModelError
from bellcrank.program.functions import Numbers, gather
from bellcrank.program.trace import Scalar
from bellcrank.roads.road import MOST_HEIGHTS, Axis, Road, number, numbers, pad, points, table


@dataclass(frozen=True, eq=False)
class Grid(Road):
    """Heights on a rectangular grid.

    x, y: Places of its lines [m], increasing, at any distances. z: Heights [m], a row for each x. at: Where its origin
    lies [m]. heading: Of its x axis about the vertical [rad]. Beyond its ends the road stays as high as it is there.
    """

    kind: ClassVar[str] = "grid"
    keys: ClassVar[Keys] = Keys(
        "Heights on a rectangular grid.",
        must(
            "x",
            any_of(list_of(NUMBER), PACKED),
            "Places of its lines [m], increasing.",
            plain=True,
            dimensions=1,
        ),
        must(
            "y",
            any_of(list_of(NUMBER), PACKED),
            "Places of its lines [m], increasing.",
            plain=True,
            dimensions=1,
        ),
        must("z", PACKED, f"Heights, a row for each x. {ARRAY}", dimensions=2),
        may("at", list_of(NUMBER, 2), "Where its origin lies [m]; (0, 0) where missing.", plain=True),
        may("heading", NUMBER, "Of its x axis about the vertical [rad]; 0 where missing.", plain=True),
    )

    x: Any
    y: Any
    z: Any
    at: tuple[float, float] = (0.0, 0.0)
    heading: float = 0.0

    def __post_init__(self) -> None:
        for name in "xy":
            object.__setattr__(self, name, points(f"{name} of a road grid", getattr(self, name)))
        z = numbers("z of a road grid", self.z)
        if z.shape != (len(self.x), len(self.y)):
            raise ModelError(
                f"z of a road grid must have {len(self.x)} rows of {len(self.y)} heights, a row for each x, not the "
                f"shape {z.shape}"
            )
        object.__setattr__(self, "z", z)
        at = numbers("at of a road grid", self.at)
        if at.shape != (2,):
            raise ModelError(f"at of a road grid must be two numbers, not {self.at!r}")
        object.__setattr__(self, "at", (float(at[0]), float(at[1])))
        object.__setattr__(self, "heading", number("heading of a road grid", self.heading))

    @cached_property
    def _axes(self) -> tuple[Axis, Axis]:
        return Axis(self.x), Axis(self.y)

    @cached_property
    def _table(self) -> Numbers:
        return table(pad(self.z))

    def __call__(self, x: Scalar, y: Scalar, t: Scalar = 0.0) -> Scalar:
        dx, dy = x - self.at[0], y - self.at[1]
        if self.heading:
            c, s = math.cos(self.heading), math.sin(self.heading)
            dx, dy = c * dx + s * dy, c * dy - s * dx
        (k, rows), (m, columns) = self._axes[0].weights(dx), self._axes[1].weights(dy)
        size = float(self._axes[1].size)
        total: Scalar = 0.0
        for i, w in enumerate(rows):
            start = (k + float(i)) * size + m
            row: Scalar = 0.0
            for j, v in enumerate(columns):
                row = row + v * gather(start + float(j), self._table)
            total = total + w * row
        return total

    @classmethod
    def from_mesh(cls, vertices: ArrayLike, triangles: ArrayLike, cell: float, base: float = 0.0) -> Grid:
        """The upper side of a mesh, sampled every `cell` [m].

        vertices: Rows of x, y, z [m]. triangles: Rows of three numbers of vertices. base: Height where there is no
        triangle [m]. Edges shorter than a cell are lost.
        """
        v, faces = (
            numbers("vertices of a road mesh", vertices),
            numbers("triangles of a road mesh", triangles),
        )
        if v.ndim != 2 or v.shape[1] != 3 or faces.ndim != 2 or faces.shape[1] != 3 or not len(faces):
            raise ModelError("a road mesh has rows of three coordinates and rows of three vertices")
        if not np.all((faces >= 0) & (faces < len(v)) & (faces == np.round(faces))):
            raise ModelError(f"triangles of a road mesh must name vertices 0 to {len(v) - 1}")
        number("cell of a road mesh", cell, positive=True)
        base = number("base of a road mesh", base)
        low = v[:, :2].min(axis=0)
        counts = np.maximum(np.ceil((v[:, :2].max(axis=0) - low) / cell), 1.0) + 1.0
        size = float(counts[0]) * float(counts[1])
        if size > MOST_HEIGHTS:
            raise ModelError(
                f"a road mesh with a cell of {cell:g} m has {size:.3g} heights; take a larger cell"
            )
        xs, ys = (low[k] + cell * np.arange(int(counts[k])) for k in range(2))
        z = np.full((len(xs), len(ys)), -np.inf)
        for a, b, c in v[faces.astype(int)]:
            area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
            if area == 0.0:
                continue
            corners = np.array([a, b, c])
            i, j = (
                slice(
                    int(np.floor((corners[:, k].min() - low[k]) / cell)),
                    int(np.ceil((corners[:, k].max() - low[k]) / cell)) + 1,
                )
                for k in range(2)
            )
            px, py = xs[i, None], ys[None, j]
            p = ((b[0] - px) * (c[1] - py) - (b[1] - py) * (c[0] - px)) / area
            q = ((c[0] - px) * (a[1] - py) - (c[1] - py) * (a[0] - px)) / area
            r = 1.0 - p - q
            # Nodes on a shared edge belong to both triangles, whatever the rounding.
            inside = np.minimum(np.minimum(p, q), r) >= -1e-9
            z[i, j] = np.where(inside, np.maximum(z[i, j], p * a[2] + q * b[2] + r * c[2]), z[i, j])
        return cls(xs, ys, np.where(np.isfinite(z), z, base))
