"""Parametric surfaces as contact shapes: Bezier patches, and B-splines as the Bezier patches they are made of.

A B-spline is cut into its polynomial pieces once; the control points of each are its blossom at the ends of the knot
interval, by de Boor's algorithm. De Casteljau's algorithm does the rest.

Source: Farin (2002), Curves and Surfaces for CAGD, sections 8.2 (de Boor), 8.4 (blossoms), 16.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.contact.patches import Patched, patch_at
from bellcrank.errors import ModelError

Array = NDArray[np.float64]

SHARE = 5
"""Points along each side of a patch by which it is searched."""
SLACK = 0.05
"""How far, in parameters, a patch is used beyond its seams, so that contacts do not flicker there."""


@dataclass(frozen=True, eq=False)
class Parametric(Patched):
    """A surface of Bezier patches, which should join smoothly; it ends at its rim.

    nets: Control points of all patches, (patches, rows, columns, 3) [m]. sign: +1 where the outward normal is u x v, -1
    where it is v x u. Made by :meth:`bezier` or :meth:`b_spline`.
    """

    nets: Array
    sign: float = 1.0

    def __post_init__(self) -> None:
        nets = np.ascontiguousarray(self.nets, dtype=np.float64)
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
        net = np.asarray(control, dtype=np.float64)
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
        net = np.asarray(control, dtype=np.float64)
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
    def _sampled(self) -> tuple[Array, Array, Array, NDArray[np.int64]]:
        """Points, normals, parameters and patch of what the tree is over."""
        along = np.linspace(0.0, 1.0, SHARE)
        every = self.nets.transpose(1, 2, 0, 3)
        points, normals, places = [], [], []
        for u in along.tolist():
            for v in along.tolist():
                p, a, b, *_ = patch_at(every, u, v)
                n = self.sign * np.cross(a, b)
                size = np.linalg.norm(n, axis=1)[:, None]
                points.append(p)
                normals.append(np.where(size > 0.0, n / np.maximum(size, 1e-300), [[0.0, 0.0, 1.0]]))
                places.append(np.tile([u, v], (len(p), 1)))
        which = np.repeat(np.arange(len(self.nets)), SHARE * SHARE)
        rows = [np.stack(x, axis=1).reshape(len(which), -1) for x in (points, normals, places)]
        return rows[0], rows[1], rows[2], which

    @cached_property
    def points(self) -> Array:  # type: ignore[override]
        """Points spread over all patches."""
        return self._sampled[0]

    @cached_property
    def normals(self) -> Array:  # type: ignore[override]
        """Their normals."""
        return self._sampled[1]

    @cached_property
    def spacing(self) -> float:  # type: ignore[override]
        """About the distance of those points [m]."""
        p = self.points.reshape(len(self.nets), SHARE, SHARE, 3)
        far = np.linalg.norm(np.diff(p, axis=1), axis=3).ravel()
        return float(np.median(far[far > 0.0]))

    @cached_property
    def _rims(self) -> Array:
        """Limits of u and v of each patch: a little beyond seams, far beyond rims."""
        ends = {
            "u0": (0, slice(None)),
            "u1": (-1, slice(None)),
            "v0": (slice(None), 0),
            "v1": (slice(None), -1),
        }
        size = 1e-6 * self.spacing
        count: dict[tuple[int, ...], int] = {}
        keys = []
        for net in self.nets:
            for end in ends.values():
                middle = np.round(net[end].mean(axis=0) / size).astype(np.int64)
                key = tuple(int(x) for x in middle)
                keys.append(key)
                count[key] = count.get(key, 0) + 1
        seam = np.array([count[key] > 1 for key in keys]).reshape(-1, 4)
        out = np.where(seam, SLACK, 0.0)
        return np.stack([-out[:, 0], 1.0 + out[:, 1], -out[:, 2], 1.0 + out[:, 3]], axis=1)

    def candidates(self, x: Array) -> list[tuple[Array, float, float, Array]]:
        _, _, where, which = self._sampled
        _, near = self.nearest_points.query(x, min(8, len(which)))
        found: dict[int, tuple[Array, float, float, Array]] = {}
        for k in np.atleast_1d(near):
            patch = int(which[k])
            found.setdefault(
                patch, (self.nets[patch], float(where[k, 0]), float(where[k, 1]), self._rims[patch])
            )
        return list(found.values())


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
