"""The patch of paper C: the samples around the closest one as control points of a quadratic Bezier patch.

Park, Shin, Sohn, Yoo (2003), section 2.1, equations (1) to (3): 3 x 3 samples of a structured grid, evaluated by de
Casteljau's algorithm. As published it does not pass through the samples: on a sphere of radius R it lies
R (h1^2 + h2^2) / 4 inside, h being the angles between samples, and has half the curvature. It is kept to compare with;
contacts use :class:`~bellcrank.contact.sampled.Sampled`.

Differs in: (1) is read with a sum for its second "=" sign, and the first sum up to n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError

Array = NDArray[np.float64]

STEPS = 20
"""Newton steps for the foot of a point on a patch."""


def de_casteljau(control: Array, t: float) -> tuple[Array, Array]:
    """Point and derivative of the Bezier curve with the control points (number, ...) at t (3)."""
    row = control
    while len(row) > 2:
        row = (1.0 - t) * row[:-1] + t * row[1:]
    return (1.0 - t) * row[0] + t * row[1], (len(control) - 1) * (row[1] - row[0])


def patch_at(control: Array, u: float, v: float) -> tuple[Array, Array, Array]:
    """Point of a patch with control points (3, 3, 3) and its derivatives by u and v (1, 2)."""
    along, across = de_casteljau(control, u)
    point, by_v = de_casteljau(along, v)
    return point, de_casteljau(across, v)[0], by_v


@dataclass(frozen=True, eq=False)
class BezierGrid:
    """A structured grid of points (rows, columns, 3), covered by the patches of paper C.

    around: Whether the columns close to a ring.
    """

    grid: Array
    around: bool = False

    def __post_init__(self) -> None:
        if self.grid.ndim != 3 or self.grid.shape[2] != 3 or min(self.grid.shape[:2]) < 3:
            raise ModelError(
                f"a grid of samples has the shape (rows, columns, 3), at least 3 x 3, not {self.grid.shape}"
            )

    def block(self, row: int, column: int) -> Array:
        """The 3 x 3 samples around one; at a rim the nearest whole block."""
        rows = min(max(row, 1), self.grid.shape[0] - 2) + np.arange(-1, 2)
        number = self.grid.shape[1]
        columns = (
            column + np.arange(-1, 2) if self.around else min(max(column, 1), number - 2) + np.arange(-1, 2)
        )
        return self.grid[np.ix_(rows, columns % number)]

    def nearest(self, x: Array) -> tuple[Array, Array]:
        """The point nearest to x on the patch around the closest sample, and the unit normal there."""
        square = ((self.grid - x) ** 2).sum(axis=2)
        row, column = np.unravel_index(int(square.argmin()), square.shape)
        control = self.block(int(row), int(column))
        u = v = 0.5
        for _ in range(STEPS):
            p, a, b = patch_at(control, u, v)
            # Gauss and Newton: the patch bends little over one block.
            M = np.array([[a @ a, a @ b], [a @ b, b @ b]])
            du, dv = np.linalg.solve(M, [a @ (x - p), b @ (x - p)])
            u, v = float(np.clip(u + du, 0.0, 1.0)), float(np.clip(v + dv, 0.0, 1.0))
        p, a, b = patch_at(control, u, v)
        n = np.cross(a, b)
        return p, n / np.linalg.norm(n)


__all__ = ["BezierGrid", "de_casteljau", "patch_at"]
