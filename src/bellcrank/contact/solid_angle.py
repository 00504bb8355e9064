"""The solid angle under which triangles are seen: exact near by, by the moments of boxes of them from far away.

A surface with normals n at points y is seen from q under the integral of n . D, D = (y - q) / |y - q|^3. About the
centroid c of the triangles in a box, with r = c - q and w = y - c, that is

    N_i D_i + M_ji dD_i / dr_j + T_jki d2D_i / dr_j dr_k + ...,    N = int n, M = int w n, T = int w w n / 2,

    M_ji dD_i / dr_j = tr M / |r|^3 - 3 r.M.r / |r|^5
    T_jki d2D_i / dr_j dr_k = 15 T(r, r, r) / |r|^7 - 3 t.r / |r|^5,    t_k = 2 T_iki + T_iik.

Sources: Barill et al. (2018), Fast winding numbers for soups and clouds, section 3; van Oosterom, Strackee (1983), The
solid angle of a plane triangle.
"""

from __future__ import annotations

import math
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.mesh_distance import DEEPEST, LEAF, Triangle, tree_of
from bellcrank.math.vectors import Matrix, Vector
from bellcrank.program.loops import Reals, Reals2, Records, compiled, entry, ints

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

FAR = 2.0
"""Distance over the radius of a box beyond which its moments stand for it, as in the source: what they leave out adds
up to less than 2e-3 of the sphere on robots and on balls, where what is asked is more or less than a half."""


class Cubic(NamedTuple):
    """A homogeneous polynomial of degree three, by its coefficients."""

    xxx: float
    yyy: float
    zzz: float
    xxy: float
    xxz: float
    xyy: float
    yyz: float
    xzz: float
    yzz: float
    xyz: float

    def at(self, r: Vector) -> float:
        """Its value."""
        return (  # type: ignore[no-any-return]
            r.x * r.x * (self.xxx * r.x + self.xxy * r.y + self.xxz * r.z)
            + r.y * r.y * (self.xyy * r.x + self.yyy * r.y + self.yyz * r.z)
            + r.z * r.z * (self.xzz * r.x + self.yzz * r.y + self.zzz * r.z)
            + self.xyz * r.x * r.y * r.z
        )


class Moments(NamedTuple):
    """Of the triangles in a box. centre: Of their area. radius: None of them lies further from it.

    area, first, cubic, bent: N, M, the polynomial T(r, r, r), and t.
    """

    centre: Vector
    radius: float
    area: Vector
    first: Matrix
    cubic: Cubic
    bent: Vector


class Seen(NamedTuple):
    """Boxes around triangles: 2k and 2k + 1 share what is in box k, box 1 holds all; the last ones hold `LEAF`."""

    boxes: Records[Moments]
    triangles: Records[Triangle]
    leaves: int


@compiled
def _of_triangle(t: Triangle, q: Vector) -> float:
    a, b, c = t.a - q, t.b - q, t.c - q
    x, y, z = a.length, b.length, c.length
    return 2.0 * math.atan2(a.dot(b.cross(c)), x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y)


@entry
def _solid_angles(seen: Seen, points: Reals2, out: Reals) -> int:
    waiting = ints(DEEPEST)
    for n in range(len(out)):
        q = Vector(points[n, 0], points[n, 1], points[n, 2])
        found = 0.0
        waiting[0] = 1
        count = 1
        while count > 0:
            count -= 1
            k = waiting[count]
            box = seen.boxes[k]
            r = box.centre - q
            square = r.square
            if square > FAR * FAR * box.radius * box.radius:
                u = 1.0 / square
                turned = 5.0 * u * box.cubic.at(r) - box.bent.dot(r) - r.dot(box.first @ r)
                found += u * math.sqrt(u) * (box.area.dot(r) + box.first.trace + 3.0 * u * turned)
            elif k >= seen.leaves:
                for t in range((k - seen.leaves) * LEAF, (k - seen.leaves + 1) * LEAF):
                    found += _of_triangle(seen.triangles[t], q)
            else:
                waiting[count], waiting[count + 1] = 2 * k + 1, 2 * k
                count += 2
        out[n] = found / (4.0 * math.pi)
    return 0


def seen_of(v: Array, f: Indices) -> Seen:
    """Boxes with their moments, in the tree of distances."""
    # Full boxes, so that the last triangle does not count twice: the rest has no area.
    leaves = 2 ** max(math.ceil(math.log2(len(f) / LEAF)), 0)
    filled = np.concatenate([f, np.repeat(f[-1:, :1], 3, axis=1).repeat(LEAF * leaves - len(f), axis=0)])
    tree = tree_of(v, filled)
    return Seen(_moments(tree.triangles.words.reshape(-1, 3, 3)), tree.triangles, leaves)


def _moments(corners: Array) -> Records[Moments]:
    """Of all boxes, from those of single triangles up; corners: (triangles, 3, 3)."""
    centre = corners.mean(axis=1)
    from_centre = corners - centre[:, None]
    area = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    size, radius = np.linalg.norm(area, axis=1), np.linalg.norm(from_centre, axis=2).max(axis=1)
    first = np.zeros((len(corners), 3, 3))
    second = np.einsum("nvj,nvk,ni->njki", from_centre, from_centre, area) / 24.0
    levels = []
    width = LEAF
    while True:
        sizes, centres, areas, firsts, seconds, radii = (
            x.reshape(-1, width, *x.shape[1:]) for x in (size, centre, area, first, second, radius)
        )
        size, area = sizes.sum(axis=1), areas.sum(axis=1)
        centre = np.einsum("nb,nbj->nj", sizes, centres)
        centre /= np.maximum(size, np.finfo(float).tiny)[:, None]
        w = centres - centre[:, None]
        # Boxes without area are not looked at, however near.
        radius = np.where(sizes > 0.0, np.linalg.norm(w, axis=2) + radii, 0.0).max(axis=1)
        first = firsts.sum(axis=1) + np.einsum("nbj,nbi->nji", w, areas)
        # Half of w M, and of w w N, which is so in j and k already.
        mixed = np.einsum("nbj,nbki->njki", w, firsts + 0.5 * w[..., :, None] * areas[..., None, :])
        second = seconds.sum(axis=1) + 0.5 * (mixed + mixed.swapaxes(1, 2))
        levels.append((centre, radius, area, first, second))
        if len(size) == 1:
            break
        width = 2
    centre, radius, area, first, second = (
        np.concatenate([np.zeros((1, *parts[0].shape[1:])), *parts[::-1]])
        for parts in zip(*levels, strict=True)
    )
    bent = 2.0 * np.einsum("niki->nk", second) + np.einsum("niik->nk", second)
    return Records.columns(Moments, centre, radius, area, first, _cubic(second), bent)


def _cubic(t: Array) -> Array:
    """Coefficients of the polynomials T(r, r, r), in the order of :class:`Cubic`."""
    places = ["xyz".index(axis) for name in Cubic._fields for axis in name]
    return np.stack(
        [
            np.sum([t[:, i, j, k] for i, j, k in sorted(set(permutations(places[n : n + 3])))], axis=0)
            for n in range(0, len(places), 3)
        ],
        axis=1,
    )


def solid_angles(seen: Seen, points: Array) -> Array:
    """Under which triangles are seen from points (n, 3), over that of a sphere; positive from behind."""
    out = np.empty(len(points))
    _solid_angles(seen, np.ascontiguousarray(points, np.float64), out)
    return out


__all__ = ["Seen", "seen_of", "solid_angles"]
