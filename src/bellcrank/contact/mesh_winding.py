"""Winding numbers of closed triangle meshes: signed crossings of a ray along z, exact also where meshes overlap.

Whether a ray passes a triangle is decided in the plane across it, edge by edge. An edge is always evaluated from its
lower end to its upper end, so two triangles that share it agree on which side a ray passes, and no ray slips between
them (Sunday 2001, Inclusion of a point in a polygon). Triangles lie in bins of that plane.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bellcrank.program.loops import Ints, Ints2, Reals, Reals2, entry

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST = 20
"""Entries in all bins together over the number of triangles, at most: large triangles lie in many bins."""


class Bins(NamedTuple):
    """Triangles by the place of their shadow in the plane z = 0.

    x, y: Corner of the bins. pitch: Their side. across, up: Their number. first: For each bin its first entry in
    `items`, and behind the last bin their number.
    """

    x: float
    y: float
    pitch: float
    across: int
    up: int
    first: Ints
    items: Ints


def bins_of(v: Array, f: Indices) -> Bins:
    """About as many bins as triangles."""
    low, high = v[f, :2].min(axis=1), v[f, :2].max(axis=1)
    corner, extent = low.min(axis=0), np.ptp(v[f.reshape(-1), :2], axis=0)
    pitch = max(float((extent[0] * extent[1] / len(f)) ** 0.5), float(extent.max()) / len(f))
    while True:
        count = np.maximum(np.ceil(extent / pitch).astype(np.int64), 1)
        start = np.clip(np.floor((low - corner) / pitch).astype(np.int64), 0, count - 1)
        end = np.clip(np.floor((high - corner) / pitch).astype(np.int64), 0, count - 1)
        wide = end - start + 1
        if int(np.prod(wide, axis=1).sum()) <= MOST * len(f) or count.max() == 1:
            break
        pitch *= 1.5
    sizes = np.prod(wide, axis=1)
    which = np.repeat(np.arange(len(f)), sizes)
    place = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    column = start[which, 0] + place // wide[which, 1]
    row = start[which, 1] + place % wide[which, 1]
    bin_ = column * count[1] + row
    order = np.argsort(bin_, kind="stable")
    first = np.searchsorted(bin_[order], np.arange(int(np.prod(count)) + 1))
    x, y = corner.tolist()
    across, up = count.tolist()
    return Bins(x, y, pitch, across, up, first.astype(np.int64), which[order].astype(np.int64))


@entry
def _windings(bins: Bins, v: Reals2, f: Ints2, points: Reals2, out: Reals) -> int:
    for n in range(len(out)):
        out[n] = 0.0
        px, py, pz = points[n, 0], points[n, 1], points[n, 2]
        i = math.floor((px - bins.x) / bins.pitch)
        j = math.floor((py - bins.y) / bins.pitch)
        if i < -1 or j < -1 or i > bins.across or j > bins.up:
            continue
        i = min(max(i, 0), bins.across - 1)
        j = min(max(j, 0), bins.up - 1)
        at = i * bins.up + j
        for m in range(bins.first[at], bins.first[at + 1]):
            t = bins.items[m]
            around = 0
            for k in range(3):
                a = f[t, k]
                b = f[t, (k + 1) % 3]
                upwards = v[a, 1] <= py
                if upwards != (v[b, 1] <= py):
                    low = a if upwards else b
                    high = b if upwards else a
                    left = (v[high, 0] - v[low, 0]) * (py - v[low, 1]) - (px - v[low, 0]) * (
                        v[high, 1] - v[low, 1]
                    )
                    if left > 0.0:
                        around += 1 if upwards else -1
            if around != 0:
                a, b, c = f[t, 0], f[t, 1], f[t, 2]
                ux, uy, uz = v[b, 0] - v[a, 0], v[b, 1] - v[a, 1], v[b, 2] - v[a, 2]
                wx, wy, wz = v[c, 0] - v[a, 0], v[c, 1] - v[a, 1], v[c, 2] - v[a, 2]
                nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
                # The height of the triangle over the point, times nz.
                over = (v[a, 2] - pz) * nz - (px - v[a, 0]) * nx - (py - v[a, 1]) * ny
                if (over > 0.0) == (nz > 0.0):
                    out[n] += around
    return 0


def windings(bins: Bins, v: Array, f: Indices, points: Array) -> Array:
    """Winding numbers of a closed mesh at points (n, 3), whole numbers. bins: Those of its triangles."""
    out = np.empty(len(points))
    given = np.ascontiguousarray(points, np.float64)
    _windings(bins, np.ascontiguousarray(v), np.ascontiguousarray(f), given, out)
    return out


__all__ = ["Bins", "bins_of", "windings"]
