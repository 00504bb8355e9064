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

from bellcrank.contact.edges import AGREES, DIRECTION, EDGES, GAP, HOLDS, edge_side, edge_step, edges_hold
from bellcrank.contact.pieces import RIM
from bellcrank.contact.rim_numbers import (
    CLOSED,
    CURVES,
    OF_SIDE,
    OUTWARDS,
    REACHED,
    RIM_PAD,
    STEP_OFF,
    STEP_ON,
    VALUE,
    outside,
    rim_numbers,
    seen_from_first,
)
from bellcrank.contact.settling import between_points, tangents
from bellcrank.contact.turning import turned, turned_back
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAVES = 0.5
"""Cosine between a rim and the line a point is on from which on the point stays where the line is on it."""
LEAST = 1e-9
"""Of the curvature of the gap along a rim, over one by the spacing, below which a point stays where it is on it."""

CREEPS = 0.02
"""Last Newton step over the spacing that will do where all steps are made."""
ROUNDING = 1e-9
"""How far beyond a rim a point may lie, over the spacing."""
SETTLED = 4e-12
"""Last Newton step over the spacing."""

# what holds a contact point
ON_A = 2
ON_B = 3
NEITHER = 4
# what comes of a step, beside what comes of Newton's method
BEYOND = -1
LOST = 0
FOUND = 1
INSIDE = 5
MOVED = 6


@part
def form(b11: float, b12: float, b22: float, u1: float, u2: float, v1: float, v2: float) -> float:
    """u . B v of a symmetric B."""
    return u1 * (b11 * v1 + b12 * v2) + u2 * (b12 * v1 + b22 * v2)


@part
def rim_step(
    nx: float, ny: float, nz: float, mx: float, my: float, mz: float, rx: float, ry: float, rz: float,
    o11: float, o12: float, o22: float, f11: float, f12: float, f22: float,
    along: bool, hx: float, hy: float, hz: float, off: float, longest: float, strict: bool, pad: Floats, at: int,
) -> bool:  # fmt: skip
    """Whether the rim holds a point, and the steps of it and of its foot on the other shape, into pad.

    n, m: Normals of the point's surface and of the other. r: From the point to the other. o, f: Curvatures of the
    surface along the tangents of n and of the other along those of m. along, h, off: Whether the point stays in a
    plane, the normal of it, and its distance from it. strict: Whether the rim also holds where the foot of the other's
    point lies beyond it.
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
        crosses = hx * sx + hy * sy + hz * sz
        if along and abs(crosses) > LEAVES:
            way = (off + e * (hx * tx + hy * ty + hz * tz)) / crosses
            way = max(-longest, min(way, longest))
        elif stiff * longest > LEAST:
            way = -(gx * sx + gy * sy + gz * sz - mixed * e) / stiff
            way = max(-longest, min(way, longest))
        left = push - outer * e + mixed * way
        if along and not strict and abs(crosses) <= LEAVES and e <= ROUNDING * longest:
            # In a plane along the rim a point stays where it is.
            left = 1.0
        if strict:
            # To the foot of the other's point, across the normal.
            foot = e + tx * rx + ty * ry + tz * rz
            if foot > ROUNDING * longest:
                left = -1.0
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
def bounded(
    given: Floats, table_a: Floats, near_a: Ints, count_a: int, i: int, table_b: Floats, near_b: Ints, count_b: int,
    j: int, bx: float, by: float, bz: float, rx: float, ry: float, rz: float, b11: float, b12: float, b22: float,
    a11: float, a12: float, a22: float, hold: float, hx: float, hy: float, hz: float, off: float, longest: float,
    pad: Floats, a: int, b: int, at: int,
) -> int:  # fmt: skip
    """Which rim holds the points at pad[a + 4] and pad[b + 4]; the steps of x and of y, seen from a, into pad.

    i, j: Their nearest samples, -1 where there are none. a, b: Curvatures of both along the tangents of their normals,
    b also the other's normal. r: From x to y. off: Of x from the plane it stays in.
    """
    other = at + RIM_PAD
    slack = ROUNDING * longest
    on_b = False
    if j >= 0 and table_b[j, RIM] > CLOSED:
        on_b = rim_numbers(
            table_b, near_b, count_b, pad[b + 4], pad[b + 5], pad[b + 6], pad[b + 1], pad[b + 2], pad[b + 3], pad, other
        )  # fmt: skip
        if on_b:
            seen_from_first(given, pad, other)
    if hold < 0.5:
        # The foot of a point that is held must lie on the surface.
        if on_b and outside(pad, other, 0.0, 0.0, 0.0, slack):
            return NEITHER
        return INSIDE
    nx = pad[a + 1]
    ny = pad[a + 2]
    nz = pad[a + 3]
    along = hold < 1.5
    held_a = False
    on_a = False
    if i >= 0 and table_a[i, RIM] > CLOSED:
        on_a = rim_numbers(table_a, near_a, count_a, pad[a + 4], pad[a + 5], pad[a + 6], nx, ny, nz, pad, at)
        if on_a:
            held_a = rim_step(
                nx, ny, nz, bx, by, bz, rx, ry, rz, a11, a12, a22, b11, b12, b22, along, hx, hy, hz, off, longest,
                False,
                pad, at,
            )  # fmt: skip
            if held_a:
                x = pad[at + STEP_OFF]
                y = pad[at + STEP_OFF + 1]
                z = pad[at + STEP_OFF + 2]
                if not (on_b and outside(pad, other, x, y, z, slack)):
                    return ON_A
    if not on_b:
        return INSIDE
    held_b = rim_step(
        bx, by, bz, nx, ny, nz, -rx, -ry, -rz, b11, b12, b22, a11, a12, a22, along, hx, hy, hz, off, longest, True,
        pad, other,
    )  # fmt: skip
    if not held_b:
        return INSIDE
    x = pad[other + STEP_OFF]
    y = pad[other + STEP_OFF + 1]
    z = pad[other + STEP_OFF + 2]
    crossed = on_a and outside(pad, at, x, y, z, slack)
    for m in range(3):
        pad[at + STEP_ON + m] = pad[other + STEP_OFF + m]
        pad[at + STEP_OFF + m] = pad[other + STEP_ON + m]
    return NEITHER if crossed else ON_B


@part
def along_side(
    pad: Floats, side: int, nx: float, ny: float, nz: float, b11: float, b12: float, b22: float
) -> float:
    """The curvature of a surface along a side of its rim; b: Along the tangents of its normal n."""
    tx = pad[side + OUTWARDS]
    ty = pad[side + OUTWARDS + 1]
    tz = pad[side + OUTWARDS + 2]
    sx = ny * tz - nz * ty
    sy = nz * tx - nx * tz
    sz = nx * ty - ny * tx
    ux, uy, uz, vx, vy, vz = tangents(nx, ny, nz)
    s1 = ux * sx + uy * sy + uz * sz
    s2 = vx * sx + vy * sy + vz * sz
    return form(b11, b12, b22, s1, s2, s1, s2)


@part
def edges_end(pad: Floats, told: int, why: int) -> None:
    """Keep why two edges do not hold each other, and at what gap; the least of all."""
    if pad[told + GAP] < pad[told + EDGES]:
        pad[told + EDGES] = pad[told + GAP]
        pad[told + EDGES + 1] = 1.0 * why


@part
def at_rim(
    given: Floats, table_a: Floats, near_a: Ints, count_a: int, i: int, table_b: Floats, near_b: Ints, count_b: int,
    j: int, b11: float, b12: float, b22: float, a11: float, a12: float, a22: float, hold: float, hx: float, hy: float,
    hz: float, off: float, longest: float, step: int, creeps: bool, rest: int, pad: Floats, a: int,
    b: int, at: int, answer: Floats, to: int,
) -> int:  # fmt: skip
    """A step of Newton's method where a rim holds a point: MOVED, FOUND with an answer, BEYOND, LOST; else INSIDE."""
    bx, by, bz = turned(given, pad[b + 1], pad[b + 2], pad[b + 3])
    rx, ry, rz = between_points(given, pad, a, b)
    rim = bounded(
        given, table_a, near_a, count_a, i, table_b, near_b, count_b, j, bx, by, bz, rx, ry, rz, b11, b12, b22,
        a11, a12, a22, hold, hx, hy, hz, off, longest, pad, a, b, at,
    )  # fmt: skip
    if rim == INSIDE:
        return INSIDE
    if hold < 0.5:
        return BEYOND if rest <= 0 else INSIDE
    told = at + 2 * RIM_PAD
    if rim == NEITHER:
        o = edge_side(pad, at)
        p = edge_side(pad, at + RIM_PAD)
        bent_a = along_side(pad, o, pad[a + 1], pad[a + 2], pad[a + 3], a11, a12, a22)
        bent_b = along_side(pad, p, bx, by, bz, b11, b12, b22)
        edge_step(
            pad, at, o, p, pad[a + 1], pad[a + 2], pad[a + 3], bx, by, bz, rx, ry, rz, bent_a, bent_b, longest, told
        )  # fmt: skip
    size = 0.0
    for m in range(3):
        size += (
            pad[at + STEP_ON + m] * pad[at + STEP_ON + m] + pad[at + STEP_OFF + m] * pad[at + STEP_OFF + m]
        )
    size = math.sqrt(size)
    if not math.isfinite(size):
        return LOST
    near = size < SETTLED * longest or (step > 12 and size < 1e3 * SETTLED * longest)
    if near or (creeps and size < CREEPS * longest):
        nx = -bx
        ny = -by
        nz = -bz
        if rim == ON_B:
            nx = pad[a + 1]
            ny = pad[a + 2]
            nz = pad[a + 3]
        if rim == NEITHER:
            nx = pad[told + DIRECTION]
            ny = pad[told + DIRECTION + 1]
            nz = pad[told + DIRECTION + 2]
            along_n = nx * pad[a + 1] + ny * pad[a + 2] + nz * pad[a + 3]
            why = edges_hold(pad, told, along_n, nx * bx + ny * by + nz * bz, longest)
            if hold < 1.5 or not max(along_n, -(nx * bx + ny * by + nz * bz)) > AGREES:
                # In a plane it is on no edge of the other's, and others are not those that it came from the side to.
                return BEYOND
            if why != HOLDS:
                edges_end(pad, told, why)
                return BEYOND
        answer[to] = nx * rx + ny * ry + nz * rz
        answer[to + 1] = nx
        answer[to + 2] = ny
        answer[to + 3] = nz
        for m in range(3):
            answer[to + 4 + m] = pad[a + 4 + m]
            answer[to + 7 + m] = pad[b + 4 + m]
        return FOUND
    x, y, z = turned_back(given, pad[at + STEP_OFF], pad[at + STEP_OFF + 1], pad[at + STEP_OFF + 2])
    for m in range(3):
        pad[a + 4 + m] += pad[at + STEP_ON + m]
    pad[b + 4] += x
    pad[b + 5] += y
    pad[b + 6] += z
    return MOVED


__all__ = ["BEYOND", "FOUND", "INSIDE", "LOST", "MOVED", "at_rim", "edges_end"]
