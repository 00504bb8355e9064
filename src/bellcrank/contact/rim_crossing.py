"""How far apart the rims of two open surfaces are, an edge against an edge, in compiled code."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.rim_numbers import (
    OF_SIDE,
    OUTWARDS,
    REACHED,
    RIM_PAD,
    STEP_OFF,
    STEP_ON,
    VALUE,
)
from bellcrank.simulate.compiled import part

Floats = NDArray[np.float64]

PARALLEL = 1e-2
"""Square of the sine of the angle below which two rims lie along each other."""


@part
def outer_side(pad: Floats, at: int) -> int:
    """Where the numbers of the side of a rim stand that a point is farther out of."""
    other = at + OF_SIDE
    if pad[at + REACHED] < 0.5:
        return other
    return other if pad[other + REACHED] > 0.5 and pad[other + VALUE] > pad[at + VALUE] else at


@part
def between_rims(
    pad: Floats, nx: float, ny: float, nz: float, mx: float, my: float, mz: float, rx: float, ry: float, rz: float,
    at: int, longest: float,
) -> float:  # fmt: skip
    """How far apart two rims are that both hold, negative where they have crossed; their points' steps go to the pad.

    n, m: Normals of both surfaces. r: From point to point.
    """
    o = outer_side(pad, at)
    p = outer_side(pad, at + RIM_PAD)
    e = pad[o + VALUE]
    f = pad[p + VALUE]
    ax = pad[o + OUTWARDS]
    ay = pad[o + OUTWARDS + 1]
    az = pad[o + OUTWARDS + 2]
    bx = pad[p + OUTWARDS]
    by = pad[p + OUTWARDS + 1]
    bz = pad[p + OUTWARDS + 2]
    ux = ny * az - nz * ay
    uy = nz * ax - nx * az
    uz = nx * ay - ny * ax
    vx = my * bz - mz * by
    vy = mz * bx - mx * bz
    vz = mx * by - my * bx
    dx = rx + e * ax - f * bx
    dy = ry + e * ay - f * by
    dz = rz + e * az - f * bz
    cosine = ux * vx + uy * vy + uz * vz
    sine = 1.0 - cosine * cosine
    along_u = ux * dx + uy * dy + uz * dz
    along_v = vx * dx + vy * dy + vz * dz
    on_u = along_u
    on_v = 0.0
    apart = math.sqrt(max(0.0, dx * dx + dy * dy + dz * dz - along_u * along_u))
    if sine > PARALLEL:
        on_u = (along_u - cosine * along_v) / sine
        on_v = (cosine * along_u - along_v) / sine
        cx = uy * vz - uz * vy
        cy = uz * vx - ux * vz
        cz = ux * vy - uy * vx
        apart = (cx * dx + cy * dy + cz * dz) / math.sqrt(sine)
        out_a = cx * ax + cy * ay + cz * az
        out_b = cx * bx + cy * by + cz * bz
        if out_a * out_b > 0.0:
            # Both surfaces end towards the same side: neither edge can hold the other.
            apart = abs(apart)
        elif out_a < out_b:
            apart = -apart
    on_u = max(-longest, min(on_u, longest))
    on_v = max(-longest, min(on_v, longest))
    pad[at + STEP_ON] = on_u * ux - e * ax
    pad[at + STEP_ON + 1] = on_u * uy - e * ay
    pad[at + STEP_ON + 2] = on_u * uz - e * az
    pad[at + STEP_OFF] = on_v * vx - f * bx
    pad[at + STEP_OFF + 1] = on_v * vy - f * by
    pad[at + STEP_OFF + 2] = on_v * vz - f * bz
    return apart


__all__ = ["between_rims"]
