"""Points of Bezier patches in compiled code: their derivatives, the foot of a point, normal and curvature.

Source: Farin (2002), Curves and Surfaces for CAGD, sections 5.1 (Bernstein polynomials), 14.6 (tensor products), 19.3
(curvature).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import PAD
from bellcrank.contact.units import part

Floats = NDArray[np.float64]

STEPS = 30
"""Newton steps for a foot at most."""
EXACT = 1e-12
"""Last Newton step in parameters."""
SOFT = 1e-14
"""Share of the squares of tangents that is added to them, so that one of them may vanish."""
SINGLE = 1e-16
"""Square of the area between tangents, over that of their lengths, below which one of them tells no direction."""
ORDER = 8
"""Control points of a patch along one side at most."""

# rows of patches: limits of u and v, where there are rims (LARGE for none), control points
RIMS = 4
CONTROL = 8
# pad, behind what kernels of a smooth shape take: for each side patch, u, v, how far beyond a rim in parameters and
# [m], H (6), lengths of the tangents (2); the same of a trial; polynomials and their derivatives; the point of a patch
# and its derivatives; how far a point beyond a rim, or its gap, must come back
PATCHED = PAD + 16
U = 1
V = 2
OVER = 3
WAY = 4
BENDS = 5
TANGENTS = 11
STATE = 13
TRIAL = PATCHED + 2 * STATE
BASIS = TRIAL + STATE
AT = BASIS + 6 * ORDER
BEYOND_BY = AT + 18
PADDED = BEYOND_BY + 1


@part
def bernstein(degree: int, t: float, pad: Floats, at: int) -> None:
    """The polynomials of a degree at t, and their first and second derivatives, ORDER numbers each."""
    for i in range(3 * ORDER):
        pad[at + i] = 0.0
    pad[at] = 1.0
    for level in range(1, degree + 1):
        for i in range(degree + 1):
            below = pad[at + i - 1] if i > 0 else 0.0
            if level == degree:
                pad[at + ORDER + i] = degree * (below - pad[at + i])
            if level == degree - 1:
                lowest = pad[at + i - 2] if i > 1 else 0.0
                pad[at + 2 * ORDER + i] = degree * (degree - 1) * (lowest - 2.0 * below + pad[at + i])
        for back in range(level + 1):
            i = level - back
            below = pad[at + i - 1] if i > 0 else 0.0
            pad[at + i] = (1.0 - t) * pad[at + i] + t * below


@part
def evaluated(nets: Floats, patch: int, rows: int, columns: int, u: float, v: float, pad: Floats) -> None:
    """The point of a patch, its derivatives by u and v, and by uu, uv, vv, into pad[AT]."""
    bernstein(rows - 1, u, pad, BASIS)
    bernstein(columns - 1, v, pad, BASIS + 3 * ORDER)
    for k in range(18):
        pad[AT + k] = 0.0
    for i in range(rows):
        value = pad[BASIS + i]
        slope = pad[BASIS + ORDER + i]
        bend = pad[BASIS + 2 * ORDER + i]
        for c in range(3):
            along = 0.0
            by_v = 0.0
            by_vv = 0.0
            for j in range(columns):
                x = nets[patch, CONTROL + 3 * (i * columns + j) + c]
                along += pad[BASIS + 3 * ORDER + j] * x
                by_v += pad[BASIS + 4 * ORDER + j] * x
                by_vv += pad[BASIS + 5 * ORDER + j] * x
            pad[AT + c] += value * along
            pad[AT + 3 + c] += slope * along
            pad[AT + 6 + c] += value * by_v
            pad[AT + 9 + c] += bend * along
            pad[AT + 12 + c] += slope * by_v
            pad[AT + 15 + c] += value * by_vv


@part
def dots(pad: Floats, first: int, second: int) -> float:
    """Of two derivatives in pad[AT]."""
    return (  # type: ignore[no-any-return]
        pad[AT + first] * pad[AT + second]
        + pad[AT + first + 1] * pad[AT + second + 1]
        + pad[AT + first + 2] * pad[AT + second + 2]
    )


@part
def across(pad: Floats, first: int, second: int) -> tuple[float, float, float]:
    """The cross product of two derivatives in pad[AT]."""
    return (
        pad[AT + first + 1] * pad[AT + second + 2] - pad[AT + first + 2] * pad[AT + second + 1],
        pad[AT + first + 2] * pad[AT + second] - pad[AT + first] * pad[AT + second + 2],
        pad[AT + first] * pad[AT + second + 1] - pad[AT + first + 1] * pad[AT + second],
    )


@part
def foot(
    nets: Floats, patch: int, rows: int, columns: int, x: float, y: float, z: float, pad: Floats, at: int
) -> None:
    """The parameters at pad[at + U] of the point of a patch nearest to another one, from those that stand there."""
    for _ in range(STEPS):
        u = pad[at + U]
        v = pad[at + V]
        evaluated(nets, patch, rows, columns, u, v, pad)
        rx = pad[AT] - x
        ry = pad[AT + 1] - y
        rz = pad[AT + 2] - z
        g1 = pad[AT + 3] * rx + pad[AT + 4] * ry + pad[AT + 5] * rz
        g2 = pad[AT + 6] * rx + pad[AT + 7] * ry + pad[AT + 8] * rz
        m11 = dots(pad, 3, 3)
        m12 = dots(pad, 3, 6)
        m22 = dots(pad, 6, 6)
        h11 = m11 + pad[AT + 9] * rx + pad[AT + 10] * ry + pad[AT + 11] * rz
        h12 = m12 + pad[AT + 12] * rx + pad[AT + 13] * ry + pad[AT + 14] * rz
        h22 = m22 + pad[AT + 15] * rx + pad[AT + 16] * ry + pad[AT + 17] * rz
        flat = m11 * m22 - m12 * m12
        det = h11 * h22 - h12 * h12
        if not (det > 0.1 * flat and h11 > 0.0):
            # Far from the surface the second derivatives may turn the step round: Gauss and Newton's then.
            h11 = m11
            h12 = m12
            h22 = m22
            det = flat
        # Where a side of the patch is a single point nothing changes along it.
        soft = SOFT * (h11 + h22)
        det = max(det + soft * (h11 + h22), 1e-300)
        du = ((h22 + soft) * g1 - h12 * g2) / det
        dv = ((h11 + soft) * g2 - h12 * g1) / det
        size = max(abs(du), abs(dv))
        if not math.isfinite(size):
            return
        share = min(1.0, 0.5 / max(size, 1e-300))
        pad[at + U] = min(max(u - share * du, -1.0), 2.0)
        pad[at + V] = min(max(v - share * dv, -1.0), 2.0)
        if size < EXACT:
            return


@part
def over(nets: Floats, patch: int, u: float, v: float) -> float:
    """How far parameters lie beyond what a patch covers."""
    first = max(max(nets[patch, 0], 0.0) - u, u - min(nets[patch, 1], 1.0))
    second = max(max(nets[patch, 2], 0.0) - v, v - min(nets[patch, 3], 1.0))
    return max(max(first, second), 0.0)  # type: ignore[no-any-return]


@part
def missed(
    nets: Floats, patch: int, rows: int, columns: int, x: float, y: float, z: float, pad: Floats, at: int
) -> float:
    """Square of the distance of a point from what a patch covers, nearest to the foot."""
    u = min(max(pad[at + U], max(nets[patch, 0], 0.0)), min(nets[patch, 1], 1.0))
    v = min(max(pad[at + V], max(nets[patch, 2], 0.0)), min(nets[patch, 3], 1.0))
    evaluated(nets, patch, rows, columns, u, v, pad)
    dx = pad[AT] - x
    dy = pad[AT + 1] - y
    dz = pad[AT + 2] - z
    return dx * dx + dy * dy + dz * dz  # type: ignore[no-any-return]


@part
def told(
    nets: Floats, patch: int, rows: int, columns: int, sign: float, pad: Floats, at: int, to: int
) -> None:
    """Point and normal at the parameters into pad[to], curvature and how far beyond a rim they lie beside them."""
    u = pad[at + U]
    v = pad[at + V]
    evaluated(nets, patch, rows, columns, u, v, pad)
    for k in range(3):
        pad[to + 4 + k] = pad[AT + k]
    first = max(max(nets[patch, RIMS] - u, u - nets[patch, RIMS + 1]), 0.0)
    second = max(max(nets[patch, RIMS + 2] - v, v - nets[patch, RIMS + 3]), 0.0)
    pad[at + OVER] = max(first, second)
    E = dots(pad, 3, 3)
    F = dots(pad, 3, 6)
    G = dots(pad, 6, 6)
    pad[at + WAY] = math.sqrt(first * first * E + second * second * G)
    pad[at + TANGENTS] = math.sqrt(E)
    pad[at + TANGENTS + 1] = math.sqrt(G)
    nx, ny, nz = across(pad, 3, 6)
    if E * G - F * F <= SINGLE * (E + G) * (E + G):
        # A side of the patch is a single point: how the tangent along it grows tells the normal, what is beside it the
        # curvature.
        if E < G:
            nx, ny, nz = across(pad, 12, 6)
            sign = -sign if v > 0.5 else sign
        else:
            nx, ny, nz = across(pad, 3, 12)
            sign = -sign if u > 0.5 else sign
        evaluated(nets, patch, rows, columns, u + 1e-4 * (0.5 - u), v + 1e-4 * (0.5 - v), pad)
        E = dots(pad, 3, 3)
        F = dots(pad, 3, 6)
        G = dots(pad, 6, 6)
    det = 1.0 / max(E * G - F * F, 1e-300)
    size = sign / math.sqrt(max(nx * nx + ny * ny + nz * nz, 1e-300))
    nx *= size
    ny *= size
    nz *= size
    pad[to + 1] = nx
    pad[to + 2] = ny
    pad[to + 3] = nz
    # H = L a a' + M (a b' + b a') + N b b' with the dual tangents a, b.
    L = nx * pad[AT + 9] + ny * pad[AT + 10] + nz * pad[AT + 11]
    M = nx * pad[AT + 12] + ny * pad[AT + 13] + nz * pad[AT + 14]
    N = nx * pad[AT + 15] + ny * pad[AT + 16] + nz * pad[AT + 17]
    ax = det * (G * pad[AT + 3] - F * pad[AT + 6])
    ay = det * (G * pad[AT + 4] - F * pad[AT + 7])
    az = det * (G * pad[AT + 5] - F * pad[AT + 8])
    bx = det * (E * pad[AT + 6] - F * pad[AT + 3])
    by = det * (E * pad[AT + 7] - F * pad[AT + 4])
    bz = det * (E * pad[AT + 8] - F * pad[AT + 5])
    pad[at + BENDS] = L * ax * ax + 2.0 * M * ax * bx + N * bx * bx
    pad[at + BENDS + 1] = L * ay * ay + 2.0 * M * ay * by + N * by * by
    pad[at + BENDS + 2] = L * az * az + 2.0 * M * az * bz + N * bz * bz
    pad[at + BENDS + 3] = L * ax * ay + M * (ax * by + bx * ay) + N * bx * by
    pad[at + BENDS + 4] = L * ax * az + M * (ax * bz + bx * az) + N * bx * bz
    pad[at + BENDS + 5] = L * ay * az + M * (ay * bz + by * az) + N * by * bz


__all__ = ["foot", "missed", "over", "told"]
