"""Newton's method for contact points that may not leave an open surface, in compiled code.

A contact point x of an open surface a makes the distance D of the other shape least among the points of a with e <= 0.
D has the slope m, the other's normal at the foot of x, and the curvature H = K_b (1 + D K_b)^-1; so with the point held
to the rim, x' = -e t + o s, the way o along it has

    (s . H s - (m . n) s . K_a s + (m . t) k) o = -s . m + e s . (H - (m . n) K_a) t,

and the rim holds where the slope left over pushes outwards. At a corner two sides of a rim may hold. Where none does,
the point is a free one inside, with the same normal: gap and force are continuous over the rim.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import RIM
from bellcrank.contact.rims import ALONG, BEND, FOLLOWED, NOTCH, OUT, SIDE, WEIGHT
from bellcrank.contact.settling import NEAR_SAMPLE, bending, tangents
from bellcrank.simulate.compiled import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CLOSED = -1.5
"""Of the numbers of rows of rims: -2 on a closed surface, -1 for samples that are not on the rim of an open one."""
LEAVES = 0.5
"""Cosine between the way a point may move and the rim from which on it may move along the rim."""
LEAST = 1e-9
"""Of the curvature of the gap along a rim, over one by the spacing, below which a point stays where it is on it."""

# what holds a contact point
INSIDE = 0
ON_A = 1
ON_B = 2
NEITHER = 3

# numbers of a rim around a point, for each of two sides: whether its weights reach, e, t (3), k; then whether the
# surface goes on where one of them does, and the steps of both points
REACHED = 0
VALUE = 1
OUTWARDS = 2
CURVES = 5
OF_SIDE = 6
EITHER = 12
STEP_ON = 13
STEP_OFF = 16
NUMBERS = 19
SUMS = NUMBERS
RIM_PAD = NUMBERS + 18


@part
def over_row(table: Floats, row: int, x: float, y: float, z: float) -> float:
    """e of one sample of a rim."""
    dx = x - table[row, 0]
    dy = y - table[row, 1]
    dz = z - table[row, 2]
    along = table[row, ALONG] * dx + table[row, ALONG + 1] * dy + table[row, ALONG + 2] * dz
    out = table[row, OUT] * dx + table[row, OUT + 1] * dy + table[row, OUT + 2] * dz
    return out - 0.5 * table[row, BEND] * along * along  # type: ignore[no-any-return]


@part
def beyond_sample(table: Floats, i: int, x: float, y: float, z: float) -> float:
    """How far a point lies beyond the rim that a sample is on; negative inside."""
    row = int(table[i, RIM])
    out = over_row(table, row, x, y, z)
    if table[row, FOLLOWED] > 0.5:
        other = over_row(table, row + 1, x, y, z)
        if table[row, NOTCH] > 0.5:
            return min(out, other)  # type: ignore[no-any-return]
        return max(out, other)  # type: ignore[no-any-return]
    return out  # type: ignore[no-any-return]


@part
def rim_numbers(
    table: Floats, near: Ints, count: int, x: float, y: float, z: float, nx: float, ny: float, nz: float,
    pad: Floats, at: int,
) -> bool:  # fmt: skip
    """e, its slope in the surface and the curvature of the rim around a point, into pad; whether any weight reaches.

    The side of the nearest row is the first; all others are the second.
    """
    first = -1
    least = 1e300
    for k in range(count):
        i = near[k]
        if table[i, RIM] >= 0.0:
            dx = x - table[i, 0]
            dy = y - table[i, 1]
            dz = z - table[i, 2]
            square = dx * dx + dy * dy + dz * dz
            if square < least:
                least = square
                first = int(table[i, RIM])
    for k in range(RIM_PAD):
        pad[at + k] = 0.0
    if first < 0:
        return False
    ahead = 0.0
    for k in range(count):
        i = near[k]
        if table[i, RIM] < 0.0:
            continue
        start = int(table[i, RIM])
        last = start + 1 if table[start, FOLLOWED] > 0.5 else start
        for row in range(start, last + 1):
            dx = x - table[row, 0]
            dy = y - table[row, 1]
            dz = z - table[row, 2]
            facing = 0.0
            for m in range(3):
                facing += table[row, OUT + m] * table[first, OUT + m]
            o = at + SUMS
            if table[row, SIDE] != table[first, SIDE] or facing <= 0.0:
                o = at + SUMS + 9
                ahead += over_row(table, first, table[row, 0], table[row, 1], table[row, 2])
            narrow = 1.0 / (table[row, WEIGHT] * table[row, WEIGHT])
            s = (dx * dx + dy * dy + dz * dz) * narrow
            if s >= 1.0:
                continue
            along = table[row, ALONG] * dx + table[row, ALONG + 1] * dy + table[row, ALONG + 2] * dz
            out = table[row, OUT] * dx + table[row, OUT + 1] * dy + table[row, OUT + 2] * dz
            e = out - 0.5 * table[row, BEND] * along * along
            left = 1.0 - s
            inverse = 1.0 / (s + NEAR_SAMPLE)
            both = left * left * inverse
            w = both * left
            steep = -2.0 * narrow * (3.0 * both + w * inverse)
            pad[o] += w
            pad[o + 1] += w * e
            pad[o + 2] += w * table[row, BEND]
            pad[o + 3] += steep * dx
            pad[o + 4] += steep * dy
            pad[o + 5] += steep * dz
            for m in range(3):
                slope = table[row, OUT + m] - table[row, BEND] * along * table[row, ALONG + m]
                d = dx if m == 0 else (dy if m == 1 else dz)
                pad[o + 6 + m] += w * slope + steep * e * d
    reached = False
    for k in range(2):
        o = at + SUMS + 9 * k
        t = at + OF_SIDE * k
        if pad[o] > 0.0:
            inverse = 1.0 / pad[o]
            e = pad[o + 1] * inverse
            gx = (pad[o + 6] - e * pad[o + 3]) * inverse
            gy = (pad[o + 7] - e * pad[o + 4]) * inverse
            gz = (pad[o + 8] - e * pad[o + 5]) * inverse
            up = gx * nx + gy * ny + gz * nz
            gx -= up * nx
            gy -= up * ny
            gz -= up * nz
            size = 1.0 / math.sqrt(max(1e-300, gx * gx + gy * gy + gz * gz))
            pad[t + REACHED] = 1.0
            pad[t + VALUE] = e * size
            pad[t + OUTWARDS] = gx * size
            pad[t + OUTWARDS + 1] = gy * size
            pad[t + OUTWARDS + 2] = gz * size
            pad[t + CURVES] = pad[o + 2] * inverse
            reached = True
    if ahead > 0.0 and pad[at + REACHED] > 0.5 and pad[at + OF_SIDE + REACHED] > 0.5:
        pad[at + EITHER] = 1.0
        # In a notch the surface goes on where one side does.
        if pad[at + VALUE] <= pad[at + OF_SIDE + VALUE]:
            pad[at + OF_SIDE + REACHED] = 0.0
        else:
            pad[at + REACHED] = 0.0
    return reached


@part
def outside(pad: Floats, at: int, x: float, y: float, z: float) -> bool:
    """Whether a step from where the numbers of a rim were taken leads beyond it."""
    for k in range(2):
        t = at + OF_SIDE * k
        if pad[t + REACHED] > 0.5:
            e = pad[t + VALUE]
            e += pad[t + OUTWARDS] * x + pad[t + OUTWARDS + 1] * y + pad[t + OUTWARDS + 2] * z
            if e > 0.0:
                return True
    return False


@part
def form(b11: float, b12: float, b22: float, u1: float, u2: float, v1: float, v2: float) -> float:
    """u . B v of a symmetric B."""
    return u1 * (b11 * v1 + b12 * v2) + u2 * (b12 * v1 + b22 * v2)


@part
def rim_step(
    nx: float, ny: float, nz: float, mx: float, my: float, mz: float, rx: float, ry: float, rz: float,
    o11: float, o12: float, o22: float, f11: float, f12: float, f22: float,
    along: bool, hx: float, hy: float, hz: float, longest: float, pad: Floats, at: int,
) -> bool:  # fmt: skip
    """Whether the rim holds a point, and the steps of it and of its foot on the other shape, into pad.

    n, m: Normals of the point's surface and of the other. r: From the point to the other. s, f: Curvatures of the
    surface along the tangents of n and of the other along those of m. along, h: Whether, and which way, the point moves.
    """
    ux, uy, uz, vx, vy, vz = tangents(mx, my, mz)
    px, py, pz, qx, qy, qz = tangents(nx, ny, nz)
    d = -(mx * rx + my * ry + mz * rz)
    c11 = 1.0 + d * f11
    c12 = d * f12
    c22 = 1.0 + d * f22
    det = c11 * c22 - c12 * c12
    if not (det > 0.0 and c11 + c22 > 0.0):
        c11 = 1.0
        c12 = 0.0
        c22 = 1.0
        det = 1.0
    h11 = (f11 * c22 - f12 * c12) / det
    h12 = (f12 * c11 - f11 * c12) / det
    h22 = (f22 * c11 - f12 * c12) / det
    r1 = ux * rx + uy * ry + uz * rz
    r2 = vx * rx + vy * ry + vz * rz
    g1 = h11 * r1 + h12 * r2
    g2 = h12 * r1 + h22 * r2
    gx = mx - g1 * ux - g2 * vx
    gy = my - g1 * uy - g2 * vy
    gz = mz - g1 * uz - g2 * vz
    opposed = -(mx * nx + my * ny + mz * nz)
    pushed_a = False
    pushed_b = False
    xa = 0.0
    ya = 0.0
    za = 0.0
    xb = 0.0
    yb = 0.0
    zb = 0.0
    for k in range(2):
        base = at + OF_SIDE * k
        if pad[base + REACHED] < 0.5:
            continue
        e = pad[base + VALUE]
        tx = pad[base + OUTWARDS]
        ty = pad[base + OUTWARDS + 1]
        tz = pad[base + OUTWARDS + 2]
        sx = ny * tz - nz * ty
        sy = nz * tx - nx * tz
        sz = nx * ty - ny * tx
        t1 = ux * tx + uy * ty + uz * tz
        t2 = vx * tx + vy * ty + vz * tz
        w1 = ux * sx + uy * sy + uz * sz
        w2 = vx * sx + vy * sy + vz * sz
        a1 = px * tx + py * ty + pz * tz
        a2 = qx * tx + qy * ty + qz * tz
        b1 = px * sx + py * sy + pz * sz
        b2 = qx * sx + qy * sy + qz * sz
        outer = form(h11, h12, h22, t1, t2, t1, t2) + opposed * form(o11, o12, o22, a1, a2, a1, a2)
        mixed = form(h11, h12, h22, w1, w2, t1, t2) + opposed * form(o11, o12, o22, b1, b2, a1, a2)
        stiff = form(h11, h12, h22, w1, w2, w1, w2) + opposed * form(o11, o12, o22, b1, b2, b1, b2)
        push = gx * tx + gy * ty + gz * tz
        stiff += push * pad[base + CURVES]
        way = 0.0
        still = along and abs(hx * sx + hy * sy + hz * sz) < LEAVES
        if not still and stiff * longest > LEAST:
            way = -(gx * sx + gy * sy + gz * sz - mixed * e) / stiff
            way = max(-longest, min(way, longest))
        left = push - outer * e + mixed * way
        if k == 0:
            pushed_a = left < 0.0
            xa = way * sx - e * tx
            ya = way * sy - e * ty
            za = way * sz - e * tz
        else:
            pushed_b = left < 0.0
            xb = way * sx - e * tx
            yb = way * sy - e * ty
            zb = way * sz - e * tz
    if not (pushed_a or pushed_b):
        return False
    a = at
    b = at + OF_SIDE
    over_b = pad[b + VALUE] + pad[b + OUTWARDS] * xa + pad[b + OUTWARDS + 1] * ya + pad[b + OUTWARDS + 2] * za
    over_a = pad[a + VALUE] + pad[a + OUTWARDS] * xb + pad[a + OUTWARDS + 1] * yb + pad[a + OUTWARDS + 2] * zb
    if not (pushed_a and (pad[b + REACHED] < 0.5 or over_b <= 0.0)):
        if pushed_b and (pad[a + REACHED] < 0.5 or over_a <= 0.0):
            xa = xb
            ya = yb
            za = zb
        else:
            # The corner: t_a . x = -e_a, t_b . x = -e_b.
            cosine = 0.0
            for m in range(3):
                cosine += pad[a + OUTWARDS + m] * pad[b + OUTWARDS + m]
            sine = 1.0 - cosine * cosine
            if sine > 1e-6:
                of_a = -(pad[a + VALUE] - cosine * pad[b + VALUE]) / sine
                of_b = -(pad[b + VALUE] - cosine * pad[a + VALUE]) / sine
                xa = of_a * pad[a + OUTWARDS] + of_b * pad[b + OUTWARDS]
                ya = of_a * pad[a + OUTWARDS + 1] + of_b * pad[b + OUTWARDS + 1]
                za = of_a * pad[a + OUTWARDS + 2] + of_b * pad[b + OUTWARDS + 2]
            elif not pushed_a:
                xa = xb
                ya = yb
                za = zb
    pad[at + STEP_ON] = xa
    pad[at + STEP_ON + 1] = ya
    pad[at + STEP_ON + 2] = za
    xa -= rx
    ya -= ry
    za -= rz
    m1 = ux * xa + uy * ya + uz * za
    m2 = vx * xa + vy * ya + vz * za
    k1 = (c22 * m1 - c12 * m2) / det
    k2 = (c11 * m2 - c12 * m1) / det
    pad[at + STEP_OFF] = k1 * ux + k2 * vx
    pad[at + STEP_OFF + 1] = k1 * uy + k2 * vy
    pad[at + STEP_OFF + 2] = k1 * uz + k2 * vz
    return True


@part
def turned(given: Floats, pad: Floats, at: int) -> None:
    """The slopes of a rim of the other surface, seen from the first."""
    for k in range(2):
        o = at + OF_SIDE * k + OUTWARDS
        x = pad[o]
        y = pad[o + 1]
        z = pad[o + 2]
        pad[o] = given[0] * x + given[1] * y + given[2] * z
        pad[o + 1] = given[3] * x + given[4] * y + given[5] * z
        pad[o + 2] = given[6] * x + given[7] * y + given[8] * z


@part
def bounded(
    given: Floats, table_a: Floats, near_a: Ints, count_a: int, i: int, table_b: Floats, near_b: Ints, count_b: int,
    j: int, bx: float, by: float, bz: float, rx: float, ry: float, rz: float, b11: float, b12: float, b22: float,
    hold: float, hx: float, hy: float, hz: float, longest: float, pad: Floats, a: int, b: int, at: int,
) -> int:  # fmt: skip
    """Which rim holds the points at pad[a + 4] and pad[b + 4]; the steps of x and of y, seen from a, into pad.

    i, j: Their nearest samples, -1 for a point that is held and for a smooth shape. b: The other's normal and its
    curvature along the tangents of it. r: From x to y.
    """
    other = at + RIM_PAD
    on_b = False
    if j >= 0 and table_b[j, RIM] > CLOSED:
        on_b = rim_numbers(
            table_b, near_b, count_b, pad[b + 4], pad[b + 5], pad[b + 6], pad[b + 1], pad[b + 2], pad[b + 3], pad, other
        )  # fmt: skip
        if on_b:
            turned(given, pad, other)
    if i < 0:
        # The foot of a point that is held must lie on the surface.
        if on_b and outside(pad, other, 0.0, 0.0, 0.0):
            return NEITHER
        return INSIDE
    nx = pad[a + 1]
    ny = pad[a + 2]
    nz = pad[a + 3]
    px, py, pz, qx, qy, qz = tangents(nx, ny, nz)
    a11 = bending(table_a, i, px, py, pz, px, py, pz)
    a12 = bending(table_a, i, px, py, pz, qx, qy, qz)
    a22 = bending(table_a, i, qx, qy, qz, qx, qy, qz)
    along = hold < 1.5
    held_a = False
    on_a = False
    if table_a[i, RIM] > CLOSED:
        on_a = rim_numbers(
            table_a, near_a, count_a, pad[a + 4], pad[a + 5], pad[a + 6], nx, ny, nz, pad, at
        )
        if on_a:
            held_a = rim_step(
                nx, ny, nz, bx, by, bz, rx, ry, rz, a11, a12, a22, b11, b12, b22, along, hx, hy, hz, longest, pad, at
            )
            if held_a and not (
                on_b and outside(pad, other, pad[at + STEP_OFF], pad[at + STEP_OFF + 1], pad[at + STEP_OFF + 2])
            ):
                return ON_A
    if not on_b:
        return INSIDE
    held_b = rim_step(
        bx, by, bz, nx, ny, nz, -rx, -ry, -rz, b11, b12, b22, a11, a12, a22, along, hx, hy, hz, longest, pad, other
    )
    if not held_b:
        return NEITHER if held_a else INSIDE
    crossed = on_a and outside(
        pad, at, pad[other + STEP_OFF], pad[other + STEP_OFF + 1], pad[other + STEP_OFF + 2]
    )
    for m in range(3):
        pad[at + STEP_ON + m] = pad[other + STEP_OFF + m]
        pad[at + STEP_OFF + m] = pad[other + STEP_ON + m]
    return NEITHER if crossed else ON_B


__all__ = ["CLOSED", "INSIDE", "NEITHER", "ON_A", "RIM_PAD", "beyond_sample", "bounded"]
