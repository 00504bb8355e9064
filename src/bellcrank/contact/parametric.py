"""Parametric surfaces as contact shapes: Bezier patches, and B-splines as the Bezier patches they are made of.

A B-spline is cut into its polynomial pieces once; the control points of each are its blossom at the ends of the knot
interval, by de Boor's algorithm. De Casteljau's algorithm does the rest.

Source: Farin (2002), Curves and Surfaces for CAGD, sections 8.2 (de Boor), 8.4 (blossoms), 16.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.contact.given import numbers
from bellcrank.contact.patches import Patched
from bellcrank.errors import ModelError

if TYPE_CHECKING:
    from bellcrank.contact.covering import Covering

Array = NDArray[np.float64]

SLACK = 0.005
"""How far, in parameters, a patch is used beyond its seams, so that contacts do not flicker there. Where patches join
with their curvature it differs from the next one there by the cube of this."""
CREASE = 0.02
"""Angle between the normals of patches along a seam [rad] beyond which it is a crease, and no contact crosses it."""


@dataclass(frozen=True, eq=False)
class Parametric(Patched):
    """A surface of Bezier patches; it ends at its rim.

    Where patches do not join smoothly they meet in a crease, which touches at points along it.
    nets: Control points of all patches, (patches, rows, columns, 3) [m]. sign: +1 where the outward normal is u x v, -1
    where it is v x u. Made by :meth:`bezier` or :meth:`b_spline`.
    """

    nets: Array
    sign: float = 1.0

    def __post_init__(self) -> None:
        nets = numbers(self.nets, "control points of patches")
        if nets.ndim != 4 or nets.shape[3] != 3 or min(nets.shape[1:3]) < 2:
            raise ModelError(
                f"control points of patches have the shape (patches, rows, columns, 3), not {nets.shape}"
            )
        if not np.isfinite(nets).all():
            raise ModelError("a control point is not a number")
        if max(nets.shape[1:3]) > 8:
            raise ModelError(f"patches of degree {max(nets.shape[1:3]) - 1} are too high; 7 is the most")
        if self.sign not in (1.0, -1.0):
            raise ModelError(f"sign of a parametric surface is 1 or -1, not {self.sign!r}")
        object.__setattr__(self, "nets", nets)

    @staticmethod
    def bezier(control: ArrayLike, outward: bool = True) -> Parametric:
        """One Bezier patch; control: (rows, columns, 3) [m]. outward: Whether rows x columns points outwards."""
        net = numbers(control, "control points")
        if net.ndim != 3:
            raise ModelError(f"control points have the shape (rows, columns, 3), not {net.shape}")
        return Parametric(net[None], 1.0 if outward else -1.0)

    @staticmethod
    def b_spline(
        control: ArrayLike,
        degrees: tuple[int, int] = (3, 3),
        knots: tuple[Sequence[float], Sequence[float]] | None = None,
        around: tuple[bool, bool] = (False, False),
        outward: bool = True,
    ) -> Parametric:
        """A B-spline surface; control: (rows, columns, 3) [m], its rows and columns closed to rings where `around`.

        knots: Of both directions, number of control points + degree + 1 each; uniform where missing, clamped at the
        rims of directions that do not close. outward: Whether rows x columns points outwards.
        """
        net = numbers(control, "control points")
        if net.ndim != 3 or net.shape[2] != 3:
            raise ModelError(f"control points have the shape (rows, columns, 3), not {net.shape}")
        pieces = net
        for axis in (0, 1):
            degree, count = degrees[axis], net.shape[axis]
            if not 1 <= degree <= 7 or count <= degree:
                raise ModelError(
                    f"a B-spline of degree {degree} needs more than {degree} control points, not {count}"
                )
            moved = np.moveaxis(pieces, axis, 0)
            own, given = moved, None if knots is None else np.asarray(knots[axis], dtype=float)
            if around[axis]:
                own = np.concatenate([moved, moved[:degree]])
            if given is None:
                given = _uniform(len(own), degree, around[axis])
            if len(given) != len(own) + degree + 1 or np.any(np.diff(given) < 0.0):
                raise ModelError(
                    f"knots must not fall, and be {len(own) + degree + 1} for {len(own)} control points, "
                    f"not {len(given)}"
                )
            pieces = np.moveaxis(_cut(own, given, degree), 0, axis)
        m, n = degrees[0] + 1, degrees[1] + 1
        nets = pieces.reshape(pieces.shape[0] // m, m, pieces.shape[1] // n, n, 3).transpose(0, 2, 1, 3, 4)
        return Parametric(nets.reshape(-1, m, n, 3), 1.0 if outward else -1.0)

    @property
    def degrees(self) -> tuple[int, int]:  # type: ignore[override]
        """Of u and v."""
        return self.nets.shape[1] - 1, self.nets.shape[2] - 1

    @cached_property
    def points(self) -> Array:  # type: ignore[override]
        """Points spread over all patches."""
        return self.covered(math.inf, False).points

    @cached_property
    def normals(self) -> Array:  # type: ignore[override]
        """Their normals."""
        return self.covered(math.inf, False).normals

    @cached_property
    def spacing(self) -> float:  # type: ignore[override]
        """About the distance of those points [m]."""
        return self.covered(math.inf, False).spacing

    @cached_property
    def _radius(self) -> float:
        # A patch lies within its control points.
        return float(np.linalg.norm(self.nets, axis=3).max())

    @cached_property
    def _joined(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which sides of patches (u = 0, u = 1, v = 0, v = 1) are smooth seams, and which are creases."""
        from scipy.spatial import cKDTree

        from bellcrank.contact.covering import edge_of, evaluated, lengths

        nets, count = self.nets, len(self.nets)
        sides = [nets[:, 0], nets[:, -1], nets[:, :, 0], nets[:, :, -1]]
        ends = [(side.mean(axis=1), side[:, 0], side[:, -1]) for side in sides]
        middle, first, last = (np.stack(x, axis=1).reshape(-1, 3) for x in zip(*ends, strict=True))
        half = np.array([0.5])
        normals = [evaluated(nets, *edge_of(k, half), self.sign)[1][:, 0, 0] for k in range(4)]
        normal = np.stack(normals, axis=1).reshape(-1, 3)
        near = 1e-6 * float(np.median(np.concatenate(lengths(nets))))
        i, j = cKDTree(middle).query_pairs(near, output_type="ndarray").T
        gap = [
            np.linalg.norm(first[i] - p, axis=1) + np.linalg.norm(last[i] - q, axis=1)
            for p, q in ((first[j], last[j]), (last[j], first[j]))
        ]
        meet = np.minimum(*gap) < 2.0 * near
        i, j = i[meet], j[meet]
        bent = np.einsum("ij,ij->i", normal[i], normal[j]) < math.cos(CREASE)
        meets, creased = np.zeros(4 * count, np.bool_), np.zeros(4 * count, np.bool_)
        for side in (i, j):
            meets[side] = True
            creased[side[bent]] = True
        return (meets & ~creased).reshape(-1, 4), creased.reshape(-1, 4)

    @cached_property
    def _rims(self) -> Array:
        """Limits of u and v of each patch: a little beyond smooth seams, less where a side is a single point."""
        sides = (self.nets[:, 0], self.nets[:, -1], self.nets[:, :, 0], self.nets[:, :, -1])
        wide = np.stack([np.ptp(side, axis=1).max(axis=1) for side in sides], axis=1)
        single = wide <= 1e-9 * wide.max()
        out = np.where(self._joined[0], np.where(single, 0.1 * SLACK, SLACK), 0.0)
        return np.stack([-out[:, 0], 1.0 + out[:, 1], -out[:, 2], 1.0 + out[:, 3]], axis=1)

    def covered(self, width: float, edges: bool) -> Covering:
        from bellcrank.contact.covering import (
            CELLS,
            Covering,
            along_creases,
            known,
            lengths,
            packed,
            spread,
            thinned,
        )

        smooth, creases = self._joined
        width = min(width, float(np.median(np.concatenate(lengths(self.nets)))) / CELLS)
        edges = edges and bool(creases.any())

        def make() -> Covering:
            rows = [
                along_creases(self.nets, creases & edges, self.sign, width),
                spread(self.nets, self.sign, width),
            ]
            points, normals, bent, places, cells = (np.concatenate(x) for x in zip(*rows, strict=True))
            kept = thinned(points, normals, cells)
            return Covering(
                points[kept], normals[kept], of=self, bent=bent[kept], edges=kept < len(rows[0][0]),
                places=places[kept], nets=packed(self.nets, self._rims, ~smooth),
            )  # fmt: skip

        return known(self, (width, edges), make)


def _uniform(count: int, degree: int, closed: bool) -> Array:
    if closed:
        return np.arange(count + degree + 1, dtype=float)
    inner = np.arange(count - degree + 1, dtype=float)
    return np.concatenate([np.full(degree, inner[0]), inner, np.full(degree, inner[-1])])


def _cut(control: Array, knots: Array, degree: int) -> Array:
    """Control points of the Bezier pieces of B-spline curves along the first axis, one piece after the other."""
    found = []
    for k in range(degree, len(control)):
        a, b = knots[k], knots[k + 1]
        if b > a:
            found += [
                _blossom(control, knots, degree, k, [a] * (degree - j) + [b] * j) for j in range(degree + 1)
            ]
    return np.array(found)


def _blossom(control: Array, knots: Array, degree: int, k: int, at: list[float]) -> Array:
    """De Boor's algorithm in the interval k, with another parameter at every level."""
    d = [control[i] for i in range(k - degree, k + 1)]
    for level in range(1, degree + 1):
        t = at[level - 1]
        for j in range(degree, level - 1, -1):
            low, high = knots[k - degree + j], knots[k + 1 + j - level]
            share = (t - low) / (high - low)
            d[j] = (1.0 - share) * d[j - 1] + share * d[j]
    return np.asarray(d[degree])


__all__ = ["Parametric"]
