"""Newton's method for the closest points of a sampled surface and another shape, in compiled code.

The equations are those of :mod:`bellcrank.contact.local`; here the samples whose weights reach a point are gathered on
the way, from the tree, and only as many steps are made as it takes. The other shape is a sampled surface too, or a
smooth one whose slope and curvature are kernels.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.curving import (
    bending_across,
    bent,
    off_a_patch,
    own_bending,
    pulled_smooth,
    settle_on_patch,
    smooth_bending,
)
from bellcrank.contact.edges import DIRECTION, EDGES, GAP, HOLDS, RELEASED, closest_edges, edges_hold
from bellcrank.contact.learning import LEARNING, STEPPED, forget, learn, learnt, stepped
from bellcrank.contact.patch_points import PADDED
from bellcrank.contact.pieces import MIDDLES, RIM, SLOPES
from bellcrank.contact.rim_numbers import CLOSED, RIM_PAD
from bellcrank.contact.rim_steps import BEYOND, FOUND, INSIDE, LOST, MOVED, at_rim, edges_end
from bellcrank.contact.settling import between_points, settle, tangents
from bellcrank.contact.turning import turned, turned_back
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ITERATIONS = 60
"""Newton steps at most; six or so are enough."""
SETTLED = 1e-12
"""Last Newton step over the spacing."""
CREEPS = 0.02
"""Last Newton step over the spacing that will do where all steps are made."""
DOWNHILL = 10
"""Steps along the slope of the gap where it does not curve upwards yet, at most."""
LEANS = 1e-2
"""Square of the sine between a plane and the surface it cuts, at least."""

# pad, behind that of patches
RIMS = PADDED
TOLD = RIMS + 2 * RIM_PAD  # what two edges tell
CROSSING = TOLD + EDGES  # the least gap of two edges that do not hold each other
WHY = CROSSING + 1  # and why not
BEHIND = CROSSING + 2  # the least height of a body that is behind an open surface
LEARNT = CROSSING + 3
WIDE_PAD = LEARNT + LEARNING


@part
def from_edge_to_edge(
    given: Floats, table_a: Floats, nodes_a: Floats, leaves_a: int, width_a: int, spacing_a: float, table_b: Floats,
    nodes_b: Floats, leaves_b: int, width_b: int, spacing_b: float, pad: Floats, stack: Ints, near_a: Ints,
    near_b: Ints, counts: Ints, within: float, answer: Floats, at: int,
) -> int:  # fmt: skip
    """The closest points of two rims from points in pad that are on them within so much of the spacing.

    FOUND where the edges hold each other, with an answer; BEYOND where they do not, and nothing else does; LOST where
    something else may: then the points are those that were given, or those of the edges that one rim lets go of.
    """
    a = SLOPES
    b = SLOPES + 8
    x = pad[a + 4]
    y = pad[a + 5]
    z = pad[a + 6]
    u = pad[b + 4]
    v = pad[b + 5]
    w = pad[b + 6]
    how = closest_edges(
        given, table_a, nodes_a, leaves_a, width_a, spacing_a, table_b, nodes_b, leaves_b, width_b, spacing_b, pad,
        stack, near_a, near_b, counts, RIMS, TOLD, within,
    )  # fmt: skip
    if how != FOUND:
        pad[a + 4] = x
        pad[a + 5] = y
        pad[a + 6] = z
        pad[b + 4] = u
        pad[b + 5] = v
        pad[b + 6] = w
        return LOST
    bx, by, bz = turned(given, pad[b + 1], pad[b + 2], pad[b + 3])
    along_n = 0.0
    for m in range(3):
        along_n += pad[TOLD + DIRECTION + m] * pad[a + 1 + m]
    along_m = pad[TOLD + DIRECTION] * bx + pad[TOLD + DIRECTION + 1] * by + pad[TOLD + DIRECTION + 2] * bz
    why = edges_hold(pad, TOLD, along_n, along_m, min(spacing_a, spacing_b))
    if why == RELEASED:
        return LOST
    if why != HOLDS:
        edges_end(pad, TOLD, why)
        return BEYOND
    answer[at] = pad[TOLD + GAP]
    for m in range(3):
        answer[at + 1 + m] = pad[TOLD + DIRECTION + m]
        answer[at + 4 + m] = pad[a + 4 + m]
        answer[at + 7 + m] = pad[b + 4 + m]
    return FOUND


@part
def refined(
    given: Floats,
    table_a: Floats,
    nodes_a: Floats,
    leaves_a: int,
    width_a: int,
    spacing_a: float,
    table_b: Floats,
    nodes_b: Floats,
    leaves_b: int,
    width_b: int,
    spacing_b: float,
    slope: int,
    bend: int,
    patches_a: int,
    patches_b: int,
    rims: int,
    hold: float,
    hx: float,
    hy: float,
    hz: float,
    pad: Floats,
    stack: Ints,
    near_a: Ints,
    near_b: Ints,
    counts: Ints,
    answer: Floats,
    at: int,
    learns: int,
) -> int:
    """Newton's method from the points in pad; FOUND with the points in the answer, LOST, or BEYOND the rim.

    slope, bend: Kernels of a smooth other shape; 0 where it is sampled. patches_a, patches_b: What settles on surfaces
    of patches; 0 for samples. rims: 0 where both surfaces are known to be closed. hold: As in
    :class:`~bellcrank.contact.source.Around`; where it is less than 2 the other's point is the foot of the held one,
    and the normal is the other's. answer: Gap, normal (3), x (3), y (3). learns: 1 where it starts from a
    known point, for which it learns the curvatures; of one that is looked for they may be those of an edge.
    """
    margin_a = 0.25 * spacing_a
    margin_b = 0.25 * spacing_b
    longest = spacing_a
    if slope == 0:
        longest = min(spacing_a, spacing_b)
    open_a = patches_a == 0 and table_a[0, RIM] > CLOSED
    open_b = slope == 0 and patches_b == 0 and table_b[0, RIM] > CLOSED
    has_rims = rims != 0 and (open_a or open_b)
    free = hold > 1.5
    held = hold < 0.5
    a = SLOPES
    b = SLOPES + 8
    counts[0] = -1
    counts[1] = -1
    sx = pad[a + 4]
    sy = pad[a + 5]
    sz = pad[a + 6]
    rest = 2
    downhill = 0
    last = 1e300
    i = -1
    j = -1
    forget(pad, LEARNT)
    for k in range(ITERATIONS):
        if not held and patches_a != 0:
            settle_on_patch(
                patches_a, table_a, nodes_a, leaves_a, width_a, 0, pad, counts, stack, near_a, answer, 0
            )
        elif not held:
            i = settle(
                table_a, nodes_a, leaves_a, width_a, margin_a, pad, a, MIDDLES, counts, 0, stack, near_a
            )
            if i < 0:
                return BEYOND
        if patches_b != 0:
            settle_on_patch(
                patches_b, table_b, nodes_b, leaves_b, width_b, 1, pad, counts, stack, near_b, answer, 0
            )
        elif slope == 0:
            j = settle(
                table_b, nodes_b, leaves_b, width_b, margin_b, pad, b, MIDDLES + 3, counts, 1, stack, near_b
            )
            if j < 0:
                return BEYOND
        else:
            pulled_smooth(slope, pad, b)
        if has_rims:
            b11, b12, b22 = bending_across(given, patches_b, table_b, j, bend, pad, b)
            a11 = 0.0
            a12 = 0.0
            a22 = 0.0
            if not held:
                a11, a12, a22 = own_bending(patches_a, table_a, i, pad, a)
            away = hx * (sx - pad[a + 4]) + hy * (sy - pad[a + 5]) + hz * (sz - pad[a + 6])
            rim = at_rim(
                given, table_a, near_a, counts[0], i, table_b, near_b, counts[1], j, b11, b12, b22, a11, a12, a22,
                hold, hx, hy, hz, away, longest, k, k == ITERATIONS - 1, rest, pad, a, b, RIMS, answer, at,
            )  # fmt: skip
            if rim == MOVED:
                rest = 2
                # A step along a rim tells nothing of the curvatures inside.
                pad[LEARNT + STEPPED] = 0.0
                continue
            if rim != INSIDE:
                return rim
        bx, by, bz = turned(given, pad[b + 1], pad[b + 2], pad[b + 3])
        rx, ry, rz = between_points(given, pad, a, b)
        if not math.isfinite(rx + ry + rz):
            return LOST
        nx = -bx
        ny = -by
        nz = -bz
        if not held:
            nx = pad[a + 1]
            ny = pad[a + 2]
            nz = pad[a + 3]
        d = nx * rx + ny * ry + nz * rz
        # Where curvatures are told badly, on coarse samples, it creeps: that is near enough for pieces to be gathered.
        creeps = k == ITERATIONS - 1 and (held or last < CREEPS * longest)
        if rest <= 0 or creeps:
            if (not held and off_a_patch(patches_a, 0, d, pad)) or off_a_patch(patches_b, 1, d, pad):
                return BEYOND
            if not free:
                nx = -bx
                ny = -by
                nz = -bz
                d = nx * rx + ny * ry + nz * rz
            # Normals must be opposed.
            elif nx * bx + ny * by + nz * bz > 0.0:
                return LOST
            answer[at] = d
            answer[at + 1] = nx
            answer[at + 2] = ny
            answer[at + 3] = nz
            for m in range(3):
                answer[at + 4 + m] = pad[a + 4 + m]
                answer[at + 7 + m] = pad[b + 4 + m]
            return FOUND
        ux, uy, uz, vx, vy, vz = tangents(nx, ny, nz)
        fx, fy, fz = turned_back(given, ux, uy, uz)
        gx, gy, gz = turned_back(given, vx, vy, vz)
        b11 = 0.0
        b12 = 0.0
        b22 = 0.0
        if slope == 0:
            b11 = bent(patches_b, table_b, j, pad, 1, fx, fy, fz, fx, fy, fz)
            b12 = bent(patches_b, table_b, j, pad, 1, fx, fy, fz, gx, gy, gz)
            b22 = bent(patches_b, table_b, j, pad, 1, gx, gy, gz, gx, gy, gz)
        else:
            b11, b12, b22 = smooth_bending(bend, pad, b + 4, fx, fy, fz, gx, gy, gz)
        t1 = 0.0
        t2 = 0.0
        size = 0.0
        mx = -rx
        my = -ry
        mz = -rz
        if not held:
            r1 = ux * rx + uy * ry + uz * rz
            r2 = vx * rx + vy * ry + vz * rz
            s1 = ux * bx + uy * by + uz * bz
            s2 = vx * bx + vy * by + vz * bz
            a11 = bent(patches_a, table_a, i, pad, 0, ux, uy, uz, ux, uy, uz)
            a12 = bent(patches_a, table_a, i, pad, 0, ux, uy, uz, vx, vy, vz)
            a22 = bent(patches_a, table_a, i, pad, 0, vx, vy, vz, vx, vy, vz)
            w1 = 0.0
            w2 = 0.0
            regular = False
            A11 = a11 + b11 + d * (b11 * a11 + b12 * a12)
            A12 = a12 + b12 + d * (b11 * a12 + b12 * a22)
            A21 = a12 + b12 + d * (b12 * a11 + b22 * a12)
            A22 = a22 + b22 + d * (b12 * a12 + b22 * a22)
            if free:
                w1 = b11 * r1 + b12 * r2 - s1
                w2 = b12 * r1 + b22 * r2 - s2
                learn(pad, LEARNT, w1 * ux + w2 * vx, w1 * uy + w2 * vy, w1 * uz + w2 * vz, longest)
                L11 = A11 + learnt(pad, LEARNT, ux, uy, uz, ux, uy, uz)
                L12 = A12 + learnt(pad, LEARNT, ux, uy, uz, vx, vy, vz)
                L21 = A21 + learnt(pad, LEARNT, vx, vy, vz, ux, uy, uz)
                L22 = A22 + learnt(pad, LEARNT, vx, vy, vz, vx, vy, vz)
                if L11 * L22 - L12 * L21 > 0.0 and L11 + L22 > 0.0:
                    A11 = L11
                    A12 = L12
                    A21 = L21
                    A22 = L22
                else:
                    forget(pad, LEARNT)
                determinant = A11 * A22 - A12 * A21
                regular = determinant > 0.0 and A11 + A22 > 0.0
                if regular:
                    t1 = (A22 * w1 - A12 * w2) / determinant
                    t2 = (A11 * w2 - A21 * w1) / determinant
                else:
                    # Flat against each other, or not near enough to the bottom yet.
                    downhill += 1
                    steep = abs(A11) + abs(A12) + abs(A21) + abs(A22)
                    if downhill > DOWNHILL or not steep > 0.0:
                        return LOST
                    t1 = w1 / steep
                    t2 = w2 / steep
                    rest = 2
            else:
                # Along the cut of the plane with the normal h: f is its way, o the way back into the plane.
                h1 = hx * ux + hy * uy + hz * uz
                h2 = hx * vx + hy * vy + hz * vz
                wide = h1 * h1 + h2 * h2
                if not wide > LEANS:
                    return LOST
                inverse = 1.0 / math.sqrt(wide)
                f1 = -h2 * inverse
                f2 = h1 * inverse
                off = hx * (sx - pad[a + 4]) + hy * (sy - pad[a + 5]) + hz * (sz - pad[a + 6])
                lean = (hx * nx + hy * ny + hz * nz) * (hx * bx + hy * by + hz * bz)
                turn = (lean - nx * bx - ny * by - nz * bz) / wide
                v1 = b11 * f1 + b12 * f2
                v2 = b12 * f1 + b22 * f2
                along = f1 * (a11 * f1 + a12 * f2) + f2 * (a12 * f1 + a22 * f2)
                stiff = turn * along + f1 * v1 + f2 * v2 - d * (v1 * v1 + v2 * v2)
                if not stiff > 0.0:
                    return LOST
                single = -(f1 * s1 + f2 * s2) / stiff
                t1 = single * f1 + off * h1 / wide
                t2 = single * f2 + off * h2 / wide
            size = math.sqrt(t1 * t1 + t2 * t2)
            share = 1.0
            if size > longest:
                share = longest / size
                t1 *= share
                t2 *= share
            if regular and learns != 0:
                stepped(
                    pad, LEARNT, t1, t2, ux, uy, uz, vx, vy, vz, A11, A12, A21, A22, w1, w2, 1.0 - share
                )  # fmt: skip
            mx += t1 * ux + t2 * vx
            my += t1 * uy + t2 * vy
            mz += t1 * uz + t2 * vz
            if free:
                y1 = t1 + d * (a11 * t1 + a12 * t2) - r1
                y2 = t2 + d * (a12 * t1 + a22 * t2) - r2
                mx = y1 * ux + y2 * vx
                my = y1 * uy + y2 * vy
                mz = y1 * uz + y2 * vz
            pad[a + 4] += t1 * ux + t2 * vx
            pad[a + 5] += t1 * uy + t2 * vy
            pad[a + 6] += t1 * uz + t2 * vz
        if not free:
            # The foot of the held point, by Newton's method: (I + d K_b) dy = the way to it across b's normal.
            sink = mx * bx + my * by + mz * bz
            mx -= sink * bx
            my -= sink * by
            mz -= sink * bz
            m1 = ux * mx + uy * my + uz * mz
            m2 = vx * mx + vy * my + vz * mz
            c11 = 1.0 + d * b11
            c12 = d * b12
            c22 = 1.0 + d * b22
            det = c11 * c22 - c12 * c12
            if det > 0.0 and c11 + c22 > 0.0:
                k1 = (c22 * m1 - c12 * m2) / det
                k2 = (c11 * m2 - c12 * m1) / det
                m1 = k1
                m2 = k2
            mx = m1 * ux + m2 * vx
            my = m1 * uy + m2 * vy
            mz = m1 * uz + m2 * vz
        yx, yy, yz = turned_back(given, mx, my, mz)
        pad[b + 4] += yx
        pad[b + 5] += yy
        pad[b + 6] += yz
        follow = math.sqrt(mx * mx + my * my + mz * mz)
        last = size + follow
        if size < SETTLED * longest and follow < 4.0 * SETTLED * longest:
            rest = 0
        elif k > 12 and size + follow < 1e3 * SETTLED * longest:
            # Rounding ends it before.
            rest -= 1
    return LOST


__all__ = ["BEYOND", "FOUND", "LOST", "WIDE_PAD", "from_edge_to_edge", "refined"]
