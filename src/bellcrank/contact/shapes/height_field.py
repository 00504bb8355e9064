"""A terrain: heights on a grid, solid below them or above."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bellcrank.base.keys import NUMBER, PACKED, TRUTH, Keys, list_of, may, must
from bellcrank.contact.given import is_positive, numbers
from bellcrank.contact.shapes.base import FieldShape, Floats, check_plain
from bellcrank.contact.shapes.fields import Field, Tangent, depths, smooth_maximum
from bellcrank.contact.shapes.splines import Weights, beyond, coefficients, slopes, weights
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.math.vectors import Vector
from bellcrank.program.loops import Reals2, compiled, value
from bellcrank.program.trace import Scalar


class HeightFieldField(NamedTuple):
    """The depth below a spline surface to first order: the vertical one over the slope of the terrain.

    The slope is one on the surface. Beyond the grid the terrain goes on level with its margin.

    table: Coefficients of the spline, three more on each side than intervals end there. dx, dy: Of the grid [m].
    side: 1 where the solid lies below, -1 above. steepest: No slope of the terrain is more. bend: No second derivative
    of the vertical depth over the grid is more [1/m].
    """

    table: Reals2
    dx: float
    dy: float
    side: float
    steepest: float
    bend: float

    def height(self, x: Vector) -> tuple[float, float, float]:
        """The terrain at x and its slopes."""
        rows, columns = self.table.shape
        u, v = _held(x.x / self.dx, rows - 7), _held(x.y / self.dy, columns - 7)
        # The table begins one interval before the grid.
        i, j = int(value(u) + 1.0), int(value(v) + 1.0)
        across, along = u + 1.0 - i, v + 1.0 - j
        a, b = weights(across), weights(along)
        level = _sum(self.table, i, j, a, b)
        return (
            level,
            _sum(self.table, i, j, slopes(across), b) / self.dx,
            _sum(self.table, i, j, a, slopes(along)) / self.dy,
        )

    def depth(self, x: Vector) -> float:
        level, a, b = self.height(x)
        return self.side * (level - x.z) / (1.0 + a * a + b * b) ** 0.5  # type: ignore[no-any-return]

    def bound(self, x: Vector, r: float) -> float:
        level, _, _ = self.height(x)
        slant = (1.0 + self.steepest * self.steepest) ** 0.5
        # The vertical depth changes no faster than by `slant`, and is at most that times the depth.
        most = self.side * (level - x.z) + slant * r
        return most if most > 0.0 else most / slant  # type: ignore[no-any-return]

    def tangent(self, x: Vector) -> Tangent:
        """By the vertical depth, which has the sign of the depth; over the grid, where its curvature is known."""
        rows, columns = self.table.shape
        level, a, b = self.height(x)
        steep = self.side * (level - x.z)
        slant = (1.0 + self.steepest * self.steepest) ** 0.5
        across = min(x.x, (rows - 7) * self.dx - x.x)
        along = min(x.y, (columns - 7) * self.dy - x.y)
        return Tangent(
            steep,
            Vector(a, b, -1.0) * self.side,
            self.bend,
            max(min(across, along), 0.0),
            steep if steep > 0.0 else steep / slant,
        )


@compiled
def _held(u: float, last: int) -> float:
    """A coordinate in intervals, which stays within half an interval around the grid."""
    below = -smooth_maximum(-u, -(last + 0.5), 0.5)
    return smooth_maximum(below, -0.5, 0.5)


@compiled
def _sum(table: Reals2, i: int, j: int, a: Weights, b: Weights) -> float:
    """Of 6 by 6 coefficients, each times both weights."""
    return a.dot(
        b.row(table, i, j),
        b.row(table, i + 1, j),
        b.row(table, i + 2, j),
        b.row(table, i + 3, j),
        b.row(table, i + 4, j),
        b.row(table, i + 5, j),
    )


@dataclass(frozen=True, eq=False)
class HeightField(FieldShape):
    """A terrain through heights on a grid, as a quintic spline.

    heights: z [m] at x = i dx, y = j dy of its frame, (n, m), at least two each way. spacing: Of the grid [m], one
    number or (dx, dy). above: Whether the solid lies above the heights, as a roof, instead of below.
    """

    kind = "height_field"
    keys = Keys(
        "A terrain through heights on a grid.",
        must("heights", PACKED, "z [m] in rows along x, written like points.", dimensions=2),
        must("spacing", list_of(NUMBER, 2), "Of the grid along x and y [m]. Plain numbers.", plain=True),
        may("above", TRUTH, "Whether the solid lies above the heights, as a roof."),
    )

    heights: ArrayLike
    spacing: float | tuple[float, float]
    above: bool = False

    def __post_init__(self) -> None:
        given = numbers(self.heights, "the heights of a height field")
        if given.ndim != 2 or min(given.shape) < 2 or not np.all(np.isfinite(given)):
            raise ModelError(
                f"height field: heights are finite numbers in rows, at least 2 by 2, not of shape {given.shape}"
            )
        object.__setattr__(self, "heights", given)
        steps = self.spacing if isinstance(self.spacing, tuple | list) else (self.spacing, self.spacing)
        for step in steps:
            check_plain("height field", spacing=step)
        if len(steps) != 2 or not all(is_positive(step) for step in steps):
            raise ModelError(
                f"height field: spacing is one or two positive lengths [m], not {self.spacing!r}"
            )
        object.__setattr__(self, "spacing", (float(steps[0]), float(steps[1])))

    @property
    def _grid(self) -> tuple[Floats, float, float]:
        dx, dy = self.spacing  # type: ignore[misc]
        return np.asarray(self.heights), dx, dy

    def implicit(self, s: Vec) -> Scalar:
        raise ModelError("a height field has no formula; it meets other shapes by its field")

    def bounding_radius(self) -> Scalar:
        return math.inf

    @cached_property
    def field(self) -> Field:
        heights, dx, dy = self._grid
        along = beyond(coefficients(heights))
        table = np.ascontiguousarray(beyond(coefficients(along.T)).T)
        # The slope of a spline lies between the differences of its coefficients.
        steepest = math.hypot(
            np.abs(np.diff(table, axis=0)).max() / dx, np.abs(np.diff(table, axis=1)).max() / dy
        )
        # Likewise the second derivatives; an eigenvalue is at most the sum of a row (Gershgorin).
        side = -1.0 if self.above else 1.0
        mixed = np.abs(np.diff(np.diff(table, axis=0), axis=1)).max() / (dx * dy)
        along_x, along_y = (
            (side * np.diff(table, 2, axis=k)).max() / step**2 for k, step in ((0, dx), (1, dy))
        )
        bend = max(float(max(along_x, along_y) + mixed), 0.0)
        return HeightFieldField(table, dx, dy, side, steepest, bend)

    def triangles(self, spacing: float | None = None) -> Triangles | None:
        """The terrain over the grid, an open surface; spacing: Longest step of its grid [m], that given if missing."""
        heights, dx, dy = self._grid
        parts = [1 if spacing is None else math.ceil(step / spacing - 1e-9) for step in (dx, dy)]
        n, m = ((k - 1) * part + 1 for k, part in zip(heights.shape, parts, strict=True))
        x, y = np.arange(n) * (dx / parts[0]), np.arange(m) * (dy / parts[1])
        flat = np.stack([np.repeat(x, m), np.tile(y, n), np.zeros(n * m)], axis=1)
        number = np.arange(n * m).reshape(n, m)
        a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
        faces = np.concatenate([np.stack(f, axis=-1).reshape(-1, 3) for f in ((a, b, c), (a, c, d))])
        if parts == [1, 1]:
            flat[:, 2] = heights.reshape(-1)
        else:
            depth, slope = depths(self.field, flat)
            # The depth is linear in z.
            flat[:, 2] = -depth / slope[:, 2]
        return Triangles(flat, faces[:, ::-1] if self.above else faces)

    @property
    def volume(self) -> float:
        return math.inf


__all__ = ["HeightField", "HeightFieldField"]
