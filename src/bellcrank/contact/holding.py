"""Which low samples may become contact points, and how such a point may move, in compiled code.

Where the gap is curved both ways a contact point is free; along a line it moves across it, in a plane; on flat sides,
edges and corners it is held where it is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.curving import POINT, VALUES, smooth_bending
from bellcrank.contact.heights import above_quadric, above_smooth, seen
from bellcrank.contact.meeting_layout import (
    BEND,
    COSINE,
    GAP_BEND,
    LEVEL,
    OUTWARD,
    SHARP,
    SLOPE,
    SPACING_A,
    SPOT,
    TANGENTS,
    WAY,
)
from bellcrank.contact.pieces import RIM
from bellcrank.contact.rims import ALONG, FOLLOWED
from bellcrank.contact.rims import BEND as RIM_BEND
from bellcrank.contact.rims import OUT as OUT_OF_RIM
from bellcrank.contact.settling import bending, tangents
from bellcrank.contact.smooth import SURFACE
from bellcrank.contact.tree_layout import KIND
from bellcrank.contact.turning import turned, turned_back
from bellcrank.contact.units import part
from bellcrank.program.loops import call_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FLAT = 3e-4
"""Curvature of the gap times the distance of samples below which it counts as flat."""
NOISE = 2e-3
"""Of the curvatures of both surfaces: what samples may tell of a curvature where there is none, as along a cylinder."""
WEAK = 0.02
"""Curvature of the gap over the one across it below which a free contact point may run away along a line."""
BEYOND_RIM = 1e-3
"""Sine of the angle by which a normal leans outwards over a rim for the rim to count as what touches."""
OPPOSED = -0.9
"""Cosine between the normals of two flat sides that lie on each other."""
LARGE = 1e300


@part
def facing(
    header: Ints, given: Floats, table_a: Floats, normals_b: Floats, i: int, j: int, pad: Floats
) -> None:
    """The other's outward normal at a sample, seen from the surface, into pad. normals_b: Rows that begin with them."""
    mx = 0.0
    my = 0.0
    mz = 0.0
    if header[KIND] == SURFACE:
        mx = normals_b[j, 0]
        my = normals_b[j, 1]
        mz = normals_b[j, 2]
    else:
        seen(given, table_a, i, pad, POINT)
        call_at(header[SLOPE], pad, POINT, pad, VALUES)
        mx = pad[VALUES + 1]
        my = pad[VALUES + 2]
        mz = pad[VALUES + 3]
        size = 1.0 / math.sqrt(max(1e-300, mx * mx + my * my + mz * mz))
        mx *= size
        my *= size
        mz *= size
    x, y, z = turned(given, mx, my, mz)
    pad[OUTWARD] = x
    pad[OUTWARD + 1] = y
    pad[OUTWARD + 2] = z


@part
def gap_bend(
    header: Ints,
    given: Floats,
    table_a: Floats,
    marks_a: Floats,
    table_b: Floats,
    marks_b: Floats,
    i: int,
    j: int,
    pad: Floats,
) -> None:
    """Curvatures of the gap at a sample along two tangents, these, and the cosine between the normals, into pad.

    Also the curvature below which it counts as flat.
    """
    nx = marks_a[i, 0]
    ny = marks_a[i, 1]
    nz = marks_a[i, 2]
    ux, uy, uz, vx, vy, vz = tangents(nx, ny, nz)
    fx, fy, fz = turned_back(given, ux, uy, uz)
    gx, gy, gz = turned_back(given, vx, vy, vz)
    b11 = 0.0
    b12 = 0.0
    b22 = 0.0
    if header[KIND] == SURFACE:
        b11 = bending(table_b, j, fx, fy, fz, fx, fy, fz)
        b12 = bending(table_b, j, fx, fy, fz, gx, gy, gz)
        b22 = bending(table_b, j, gx, gy, gz, gx, gy, gz)
    else:
        seen(given, table_a, i, pad, SPOT)
        b11, b12, b22 = smooth_bending(header[BEND], pad, SPOT, fx, fy, fz, gx, gy, gz)
    facing(header, given, table_a, marks_b, i, j, pad)
    a11 = bending(table_a, i, ux, uy, uz, ux, uy, uz)
    a22 = bending(table_a, i, vx, vy, vz, vx, vy, vz)
    pad[GAP_BEND] = a11 + b11
    pad[GAP_BEND + 1] = bending(table_a, i, ux, uy, uz, vx, vy, vz) + b12
    pad[GAP_BEND + 2] = a22 + b22
    pad[LEVEL] = max(FLAT / given[SPACING_A], NOISE * (abs(a11) + abs(a22) + abs(b11) + abs(b22)))
    pad[TANGENTS] = ux
    pad[TANGENTS + 1] = uy
    pad[TANGENTS + 2] = uz
    pad[TANGENTS + 3] = vx
    pad[TANGENTS + 4] = vy
    pad[TANGENTS + 5] = vz
    pad[COSINE] = nx * pad[OUTWARD] + ny * pad[OUTWARD + 1] + nz * pad[OUTWARD + 2]


@part
def along(half: float, mixed: float, off: float, pad: Floats) -> None:
    """The way of the smaller principal value of a form over the tangents in pad, into pad."""
    e1 = -mixed
    e2 = half + off
    if half < 0.0:
        e1 = half - off
        e2 = mixed
    size = 1.0 / math.sqrt(max(1e-300, e1 * e1 + e2 * e2))
    for k in range(3):
        pad[WAY + k] = size * (e1 * pad[TANGENTS + k] + e2 * pad[TANGENTS + 3 + k])


@part
def own_line(given: Floats, table_a: Floats, i: int, pad: Floats) -> bool:
    """Whether the surface is bent one way only and the gap curves upwards that way; the other way goes to pad.

    Nearly as wide as the hole it is in, and askew, a peg has a gap whose curvatures tell nothing of where its line is.
    """
    ux = pad[TANGENTS]
    uy = pad[TANGENTS + 1]
    uz = pad[TANGENTS + 2]
    vx = pad[TANGENTS + 3]
    vy = pad[TANGENTS + 4]
    vz = pad[TANGENTS + 5]
    a11 = bending(table_a, i, ux, uy, uz, ux, uy, uz)
    a12 = bending(table_a, i, ux, uy, uz, vx, vy, vz)
    a22 = bending(table_a, i, vx, vy, vz, vx, vy, vz)
    side = 1.0 if a11 + a22 > 0.0 else -1.0
    half = 0.5 * side * (a11 - a22)
    off = math.sqrt(half * half + a12 * a12)
    middle = 0.5 * abs(a11 + a22)
    if not (middle + off > pad[LEVEL] and abs(middle - off) <= pad[LEVEL]):
        return False
    along(half, side * a12, off, pad)
    # Across it, in the tangents.
    f1 = -(pad[WAY] * vx + pad[WAY + 1] * vy + pad[WAY + 2] * vz)
    f2 = pad[WAY] * ux + pad[WAY + 1] * uy + pad[WAY + 2] * uz
    gap = f1 * (pad[GAP_BEND] * f1 + 2.0 * pad[GAP_BEND + 1] * f2) + pad[GAP_BEND + 2] * f2 * f2
    return gap > pad[LEVEL]  # type: ignore[no-any-return]


@part
def rim_bend(
    header: Ints, given: Floats, table_a: Floats, table_b: Floats, i: int, j: int, pad: Floats
) -> float:
    """The curvature of the gap along the rim that a sample is on, over what counts as flat, where the other shape lies
    beyond it; -1 elsewhere.

    The direction of the rim goes to the pad. :func:`gap_bend` comes before.
    """
    if table_a[i, RIM] < 0.0:
        return -1.0
    row = int(table_a[i, RIM])
    push = 0.0
    for k in range(3):
        push += pad[OUTWARD + k] * table_a[row, OUT_OF_RIM + k]
    if not push < -BEYOND_RIM:
        return -1.0
    if table_a[row, FOLLOWED] > 0.5:
        return LARGE
    x = table_a[row, ALONG]
    y = table_a[row, ALONG + 1]
    z = table_a[row, ALONG + 2]
    fx, fy, fz = turned_back(given, x, y, z)
    other = 0.0
    far = 0.0
    seen(given, table_a, i, pad, SPOT)
    if header[KIND] == SURFACE:
        other = bending(table_b, j, fx, fy, fz, fx, fy, fz)
        far = above_quadric(table_b, j, pad, SPOT)
    else:
        other, _mixed, _same = smooth_bending(header[BEND], pad, SPOT, fx, fy, fz, fx, fy, fz)
        far = above_smooth(header, given, table_a, i, pad)
    # That of the distance, which is flatter farther away.
    other /= max(0.1, 1.0 + far * other)
    own = -pad[COSINE] * bending(table_a, i, x, y, z, x, y, z)
    curved = push * table_a[row, RIM_BEND]
    for k in range(3):
        pad[WAY + k] = table_a[row, ALONG + k]
    flat = max(FLAT / given[SPACING_A], NOISE * (abs(own) + abs(other) + abs(curved)))
    return max(0.0, own + other + curved) / flat  # type: ignore[no-any-return]


@part
def hold_at(
    header: Ints,
    given: Floats,
    table_a: Floats,
    marks_a: Floats,
    table_b: Floats,
    marks_b: Floats,
    i: int,
    j: int,
    pad: Floats,
) -> float:
    """How a contact point that begins at a sample may move: 2, 1 in the plane whose normal goes to pad, or 0.

    Less than 2, but more than 1: freely, or in the plane, one curvature being so much smaller than the other that it
    may be noise.
    """
    if marks_a[i, SHARP] > 0.5:
        return 0.0
    gap_bend(header, given, table_a, marks_a, table_b, marks_b, i, j, pad)
    on_rim = rim_bend(header, given, table_a, table_b, i, j, pad)
    if on_rim >= 0.0:
        return 2.0 if on_rim > 1.0 else 1.0
    middle = 0.5 * (pad[GAP_BEND] + pad[GAP_BEND + 2])
    half = 0.5 * (pad[GAP_BEND] - pad[GAP_BEND + 2])
    mixed = pad[GAP_BEND + 1]
    off = math.sqrt(half * half + mixed * mixed)
    free = middle - off > pad[LEVEL]
    if free and middle - off > WEAK * (middle + off):
        return 2.0
    if not middle + off > pad[LEVEL]:
        return 0.0
    if not own_line(given, table_a, i, pad):
        # Along the line: the way of the smaller curvature.
        along(half, mixed, off, pad)
    return 1.75 if free else 1.0


@part
def lies(
    header: Ints,
    given: Floats,
    table_a: Floats,
    marks_a: Floats,
    table_b: Floats,
    marks_b: Floats,
    i: int,
    j: int,
    pad: Floats,
) -> bool:
    """Whether a sample lies flat on the other shape, or on an edge or a corner of the side that does."""
    if marks_a[i, SHARP] > 0.5:
        return True
    gap_bend(header, given, table_a, marks_a, table_b, marks_b, i, j, pad)
    on_rim = rim_bend(header, given, table_a, table_b, i, j, pad)
    if on_rim >= 0.0:
        return on_rim <= 1.0  # type: ignore[no-any-return]
    middle = 0.5 * (pad[GAP_BEND] + pad[GAP_BEND + 2])
    half = 0.5 * (pad[GAP_BEND] - pad[GAP_BEND + 2])
    least = middle - math.sqrt(half * half + pad[GAP_BEND + 1] * pad[GAP_BEND + 1])
    return least <= pad[LEVEL] and pad[COSINE] < OPPOSED  # type: ignore[no-any-return]


__all__ = ["LARGE", "facing", "hold_at", "lies"]
