"""Points pulled onto smooth shapes and surfaces of patches, and how any shape curves there, in compiled code."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.patch_points import BENDS, BEYOND_BY, OVER, PATCHED, STATE, WAY
from bellcrank.contact.patch_settling import LEAVES, SAME, SIDE, WIDTH, WRITES
from bellcrank.contact.pieces import PAD
from bellcrank.contact.settling import bending, tangents
from bellcrank.contact.turning import turned, turned_back
from bellcrank.contact.units import call_unit, part
from bellcrank.program.loops import call_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# pad, behind what descents keep there: what kernels of a smooth shape take and give
POINT = PAD
FRAME = PAD + 3
VALUES = PAD + 9


@part
def pulled_smooth(slope: int, pad: Floats, at: int) -> None:
    """Pull the point at pad[at + 4] onto a smooth shape; its unit normal goes to pad[at + 1]."""
    for k in range(3):
        pad[POINT + k] = pad[at + 4 + k]
    call_at(slope, pad, POINT, pad, VALUES)
    gx = pad[VALUES + 1]
    gy = pad[VALUES + 2]
    gz = pad[VALUES + 3]
    inverse = 1.0 / math.sqrt(max(1e-300, gx * gx + gy * gy + gz * gz))
    way = pad[VALUES] * inverse
    pad[at] = way
    pad[at + 1] = gx * inverse
    pad[at + 2] = gy * inverse
    pad[at + 3] = gz * inverse
    for k in range(3):
        pad[at + 4 + k] -= way * pad[at + 1 + k]


@part
def smooth_bending(
    bend: int, pad: Floats, at: int, ux: float, uy: float, uz: float, vx: float, vy: float, vz: float
) -> tuple[float, float, float]:
    """Curvature of a smooth shape along two tangents at the point pad[at]: 11, 12, 22."""
    for k in range(3):
        pad[POINT + k] = pad[at + k]
    pad[FRAME] = ux
    pad[FRAME + 1] = uy
    pad[FRAME + 2] = uz
    pad[FRAME + 3] = vx
    pad[FRAME + 4] = vy
    pad[FRAME + 5] = vz
    call_at(bend, pad, POINT, pad, VALUES)
    return pad[VALUES], pad[VALUES + 1], pad[VALUES + 2]


@part
def settle_on_patch(
    patches: int, table: Floats, nodes: Floats, leaves: int, width: int, side: int, pad: Floats, counts: Ints,
    stack: Ints, near: Ints, piece: Floats, writes: int,
) -> None:  # fmt: skip
    """Like :func:`settle`, on a surface of patches; or write its piece around the point."""
    counts[LEAVES] = leaves
    counts[WIDTH] = width
    counts[SIDE] = side
    counts[WRITES] = writes
    call_unit(patches, (near, counts, table, nodes, pad, piece, pad, pad, pad, stack, pad))


@part
def bent(
    patches: int, table: Floats, i: int, pad: Floats, side: int, ux: float, uy: float, uz: float, vx: float,
    vy: float, vz: float,
) -> float:  # fmt: skip
    """u . K v of a surface at the point that was settled; i: The nearest sample, whose quadric tells it."""
    if patches == 0:
        return bending(table, i, ux, uy, uz, vx, vy, vz)
    at = PATCHED + STATE * side + BENDS
    hx = pad[at] * vx + pad[at + 3] * vy + pad[at + 4] * vz
    hy = pad[at + 3] * vx + pad[at + 1] * vy + pad[at + 5] * vz
    hz = pad[at + 4] * vx + pad[at + 5] * vy + pad[at + 2] * vz
    return -(ux * hx + uy * hy + uz * hz)  # type: ignore[no-any-return]


@part
def off_a_patch(patches: int, side: int, gap: float, pad: Floats) -> bool:
    """Whether the point lies beyond a rim of patches; how far it or the gap must come back goes to the pad."""
    at = PATCHED + STATE * side
    if patches == 0 or pad[at + OVER] <= SAME:
        return False
    pad[BEYOND_BY] = max(pad[at + WAY], gap)
    return True


@part
def bending_across(
    given: Floats, patches: int, table_b: Floats, j: int, bend: int, pad: Floats, at: int
) -> tuple[float, float, float]:
    """Curvature of the other shape along the tangents of its normal seen from the surface: 11, 12, 22.

    bend: That of a smooth shape, or 0. at: Where its normal and its point stand in pad.
    """
    bx, by, bz = turned(given, pad[at + 1], pad[at + 2], pad[at + 3])
    ux, uy, uz, vx, vy, vz = tangents(bx, by, bz)
    fx, fy, fz = turned_back(given, ux, uy, uz)
    gx, gy, gz = turned_back(given, vx, vy, vz)
    if bend != 0:
        return smooth_bending(bend, pad, at + 4, fx, fy, fz, gx, gy, gz)
    b11 = bent(patches, table_b, j, pad, 1, fx, fy, fz, fx, fy, fz)
    b12 = bent(patches, table_b, j, pad, 1, fx, fy, fz, gx, gy, gz)
    b22 = bent(patches, table_b, j, pad, 1, gx, gy, gz, gx, gy, gz)
    return b11, b12, b22


@part
def own_bending(patches: int, table_a: Floats, i: int, pad: Floats, at: int) -> tuple[float, float, float]:
    """Curvature of the surface along the tangents of its normal, at pad[at + 1]: 11, 12, 22."""
    ux, uy, uz, vx, vy, vz = tangents(pad[at + 1], pad[at + 2], pad[at + 3])
    a11 = bent(patches, table_a, i, pad, 0, ux, uy, uz, ux, uy, uz)
    a12 = bent(patches, table_a, i, pad, 0, ux, uy, uz, vx, vy, vz)
    a22 = bent(patches, table_a, i, pad, 0, vx, vy, vz, vx, vy, vz)
    return a11, a12, a22


__all__ = [
    "bending_across",
    "bent",
    "off_a_patch",
    "own_bending",
    "pulled_smooth",
    "settle_on_patch",
    "smooth_bending",
]
