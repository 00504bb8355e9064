"""Parametric surfaces as contact shapes: Bezier patches, and B-splines as the Bezier patches they are made of.

A B-spline is cut into its polynomial pieces once; the control points of each are its blossom at the ends of the knot
interval, by de Boor's algorithm.

Source: Farin (2002), Curves and Surfaces for CAGD, sections 8.2 (de Boor), 8.4 (blossoms), 16.2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.base.keys import ARRAY, NUMBER, PACKED, Keys, may, must
from bellcrank.contact.given import numbers
from bellcrank.contact.mesh_field import MeshField
from bellcrank.contact.sampled import Sampled, SampledSurface
from bellcrank.contact.shapes.base import FieldShape
from bellcrank.contact.triangles import Triangles
from bellcrank.errors import ModelError
from bellcrank.math.tuples import Vec
from bellcrank.program.trace import Scalar

Array = NDArray[np.float64]

CELLS = 12
"""Samples along the side of a patch of middle size: a bicubic patch turns slowly between them."""
MOST = 64
"""Samples along the side of a patch at most."""


@dataclass(frozen=True, eq=False)
class Parametric(FieldShape):
    """A surface of Bezier patches, closed or with a rim.

    It touches by samples of its patches, exact but for their distance to the fourth power; creases between patches are
    rounded by about that distance.
    nets: Control points of all patches, (patches, rows, columns, 3) [m]. sign: +1 where the outward normal is u x v, -1
    where it is v x u. Made by :meth:`bezier` or :meth:`b_spline`.
    """

    kind = "parametric"
    keys = Keys(
        "Bezier patches by their control points.",
        must(
            "points",
            PACKED,
            ARRAY,
            python="nets",
            dimensions=4,
        ),
        may("sign", NUMBER, "1 where u x v points outwards, -1 where v x u.", plain=True),
    )

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

    @cached_property
    def sampled(self) -> Sampled:
        """Points spread over all patches, with their normals, by which the surface touches."""
        long = [np.linalg.norm(np.diff(self.nets, axis=k), axis=3).sum(axis=k).mean(axis=1) for k in (1, 2)]
        pitch = float(np.median(np.concatenate(long))) / CELLS
        found = []
        for net, *sides in zip(self.nets, *long, strict=True):
            u, v = (
                (np.arange(n) + 0.5) / n for n in (int(np.clip(np.rint(x / pitch), 1, MOST)) for x in sides)
            )
            point, by_u, by_v = surface_points(net, u, v)
            found.append((point.reshape(-1, 3), self.sign * np.cross(by_u, by_v).reshape(-1, 3)))
        points, normals = (np.concatenate(x) for x in zip(*found, strict=True))
        known = np.linalg.norm(normals, axis=1) > 0.0
        return Sampled(points[known], normals[known])

    @property
    def size(self) -> float:
        """The longest side of the box around the surface [m]."""
        return self.sampled.size

    @property
    def is_open(self) -> bool:
        """Whether the surface has a rim."""
        return self.sampled.is_open

    @property
    def points(self) -> Array:
        """Points of the surface [m], (number, 3)."""
        return self.sampled.points

    @property
    def field(self) -> MeshField:
        """The depth of points in the shape, as a record of the loop language."""
        return self.sampled.field

    @property
    def surface_near(self) -> SampledSurface:
        """The surface seen from points near it, as a record of the loop language."""
        return self.sampled.surface_near

    def triangles(self, spacing: float | None = None) -> Triangles:
        """The surface as triangles; spacing: Their edges [m], about."""
        return self.sampled.triangles(spacing)

    @property
    def _mass(self) -> tuple[float, Array, Array]:
        return self.sampled._mass

    @property
    def extent(self) -> float:
        """No point lies further than this from the origin of the frame [m]."""
        # A patch lies within its control points.
        return float(np.linalg.norm(self.nets, axis=3).max())

    def bounding_radius(self) -> Scalar:
        return self.extent

    def implicit(self, s: Vec) -> Scalar:
        raise ModelError("a surface of patches has no implicit function of traced values")


def surface_points(net: Array, u: Array, v: Array) -> tuple[Array, Array, Array]:
    """Points of a Bezier patch at all pairs of parameters (len(u), len(v), 3), and their derivatives by u and v."""

    def bernstein(degree: int, t: Array) -> tuple[Array, Array]:
        k = np.arange(degree + 1)
        choose = np.array([math.comb(degree, int(i)) for i in k])
        b = choose * t[:, None] ** k * (1.0 - t[:, None]) ** (degree - k)
        low = np.array([math.comb(degree - 1, int(i)) for i in k[:-1]]) * (
            t[:, None] ** k[:-1] * (1.0 - t[:, None]) ** (degree - 1 - k[:-1])
        )
        d = np.zeros_like(b)
        d[:, 1:] += degree * low
        d[:, :-1] -= degree * low
        return b, d

    (a, a1), (b, b1) = bernstein(net.shape[0] - 1, u), bernstein(net.shape[1] - 1, v)
    return tuple(np.einsum("ui,vj,ijk->uvk", x, y, net) for x, y in ((a, b), (a1, b), (a, b1)))  # type: ignore[return-value]


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
