"""Two rims of open surfaces against each other, an edge against an edge, in compiled code.

With x on one rim and y on the other, d = y - x, unit tangents u and v, and the rims' own curvatures x'' and y'', the
closest points are where d . u = d . v = 0. Newton's method for the ways o and p along both:

    (1 - d . x'') o - (u . v) p = d . u,   -(u . v) o + (1 + d . y'') p = -d . v,

in which a rim curves by k in its surface and with the surface: x'' = k t - (u . K u) n. The direction of the contact is
that of u x v, which stays what it is as the edges cross: the gap is d along it, negative once they have. An edge of
thickness zero is touched from all sides but from within its sheet, so the direction must lead out of both sheets, t
being the way out across each rim: it points along t of the first and against t of the second. That tells its sign.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import MIDDLES, SLOPES
from bellcrank.contact.rim_numbers import (
    CURVES,
    EITHER,
    OF_SIDE,
    OUTWARDS,
    REACHED,
    RIM_PAD,
    STEP_OFF,
    STEP_ON,
    VALUE,
    rim_numbers,
    seen_from_first,
)
from bellcrank.contact.settling import bending, between_points, settle
from bellcrank.contact.turning import turned, turned_back
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PARALLEL = 0.02
"""Sine of the angle below which two rims lie along each other."""
ITERATIONS = 40
"""Newton steps at most."""
SETTLED = 4e-12
"""Last Newton step over the spacing,"""
ROUNDED = 4e-9
"""and where rounding ends it before."""
ON_RIM = 1e-6
"""How far from its rim a point may lie that is on it, over the spacing."""
LEVEL = 1e-9
"""Sine of the angle by which a direction may lead into a sheet that it is level with."""
AGREES = 0.5
"""Cosine between the direction of two edges and the normal of the side that one of them comes from, at least."""
CORNER = 1e-9
"""How far beyond the end of a side a point of its rim may lie, over the spacing."""

# what two edges tell: gap, direction from the first to the second (3), how far that leads out of each sheet (sines),
# the sine of the angle between the edges, how far the points lie beyond the ends of their sides, at most, and where the
# numbers of these sides stand
GAP = 0
DIRECTION = 1
OUT_A = 4
OUT_B = 5
SINE = 6
PAST = 7
SIDE_A = 8
SIDE_B = 9
EDGES = 10

# what comes of it
LOST = 0
FOUND = 1
NONE = 2
# what becomes of a contact of two edges
HOLDS = 0
RELEASED = 1
ALONG_EACH_OTHER = 2
OFF_END = 3
BEHIND_EDGE = 4


@part
def edge_side(pad: Floats, at: int) -> int:
    """Where the numbers of the side of a rim stand that a point is farther out of; in a notch the one that ends it."""
    other = at + OF_SIDE
    if pad[at + REACHED] < 0.5:
        return other
    return other if pad[other + REACHED] > 0.5 and pad[other + VALUE] > pad[at + VALUE] else at


@part
def same_edge_side(pad: Floats, at: int, tx: float, ty: float, tz: float) -> int:
    """Where the numbers of the side of a rim stand that leads out of the surface most nearly the same way."""
    other = at + OF_SIDE
    first = pad[at + OUTWARDS] * tx + pad[at + OUTWARDS + 1] * ty + pad[at + OUTWARDS + 2] * tz
    second = pad[other + OUTWARDS] * tx + pad[other + OUTWARDS + 1] * ty + pad[other + OUTWARDS + 2] * tz
    return other if second > first else at


@part
def past_end(pad: Floats, at: int, side: int, x: float, y: float, z: float) -> float:
    """How far a step from where the numbers of a rim were taken leads beyond the end of one side of it.

    side: Where its numbers stand. The other one ends it; in a notch it goes on beyond that.
    """
    other = at + OF_SIDE if side == at else at
    size = 0.0
    for m in range(3):
        size += abs(pad[other + OUTWARDS + m])
    if not size > 0.0:
        return -1e300
    e = pad[other + VALUE]
    e += pad[other + OUTWARDS] * x + pad[other + OUTWARDS + 1] * y + pad[other + OUTWARDS + 2] * z
    return -e if pad[at + EITHER] > 0.5 else e  # type: ignore[no-any-return]


@part
def edge_step(
    pad: Floats, at: int, o: int, p: int, nx: float, ny: float, nz: float, mx: float, my: float, mz: float,
    rx: float, ry: float, rz: float, bent_a: float, bent_b: float, longest: float, to: int,
) -> float:  # fmt: skip
    """A Newton step of both points towards the closest ones of two rims; its size, negative where there is none.

    The steps go to pad[at + STEP_ON] and pad[at + STEP_OFF], what the edges tell after them to pad[to]. o, p: Where the
    sides of both rims stand in the pad. n, m: Normals of both surfaces. r: From point to point. bent: Curvatures of the
    surfaces along their rims.
    """
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
    along_u = ux * dx + uy * dy + uz * dz
    along_v = vx * dx + vy * dy + vz * dz
    own = pad[o + CURVES] * (ax * dx + ay * dy + az * dz) - bent_a * (nx * dx + ny * dy + nz * dz)
    other = pad[p + CURVES] * (bx * dx + by * dy + bz * dz) - bent_b * (mx * dx + my * dy + mz * dz)
    h11 = 1.0 - own
    h22 = 1.0 + other
    det = h11 * h22 - cosine * cosine
    least = 1e-2 * PARALLEL * PARALLEL
    if not (h11 > 0.0 and det > least):
        h11 = 1.0
        h22 = 1.0
        det = 1.0 - cosine * cosine
    on_u = along_u
    on_v = 0.0
    if det > least:
        on_u = (h22 * along_u - cosine * along_v) / det
        on_v = (cosine * along_u - h11 * along_v) / det
    on_u = max(-longest, min(on_u, longest))
    on_v = max(-longest, min(on_v, longest))
    pad[at + STEP_ON] = on_u * ux - e * ax
    pad[at + STEP_ON + 1] = on_u * uy - e * ay
    pad[at + STEP_ON + 2] = on_u * uz - e * az
    pad[at + STEP_OFF] = on_v * vx - f * bx
    pad[at + STEP_OFF + 1] = on_v * vy - f * by
    pad[at + STEP_OFF + 2] = on_v * vz - f * bz
    cx = uy * vz - uz * vy
    cy = uz * vx - ux * vz
    cz = ux * vy - uy * vx
    sine = math.sqrt(cx * cx + cy * cy + cz * cz)
    if not sine > PARALLEL:
        # Along each other the direction is known only as long as they are apart.
        cx = dx - on_u * ux + on_v * vx
        cy = dy - on_u * uy + on_v * vy
        cz = dz - on_u * uz + on_v * vz
    size = 1.0 / math.sqrt(max(1e-300, cx * cx + cy * cy + cz * cz))
    out_a = size * (cx * ax + cy * ay + cz * az)
    out_b = -size * (cx * bx + cy * by + cz * bz)
    if sine > PARALLEL and out_a + out_b < 0.0:
        size = -size
        out_a = -out_a
        out_b = -out_b
    pad[to + GAP] = size * (cx * dx + cy * dy + cz * dz)
    pad[to + DIRECTION] = size * cx
    pad[to + DIRECTION + 1] = size * cy
    pad[to + DIRECTION + 2] = size * cz
    pad[to + OUT_A] = out_a
    pad[to + OUT_B] = out_b
    pad[to + SINE] = sine
    pad[to + SIDE_A] = 1.0 * o
    pad[to + SIDE_B] = 1.0 * p
    pad[to + PAST] = max(
        past_end(pad, at, o, pad[at + STEP_ON], pad[at + STEP_ON + 1], pad[at + STEP_ON + 2]),
        past_end(pad, at + RIM_PAD, p, pad[at + STEP_OFF], pad[at + STEP_OFF + 1], pad[at + STEP_OFF + 2]),
    )
    ax = pad[at + STEP_ON]
    ay = pad[at + STEP_ON + 1]
    az = pad[at + STEP_ON + 2]
    bx = pad[at + STEP_OFF]
    by = pad[at + STEP_OFF + 1]
    bz = pad[at + STEP_OFF + 2]
    square = ax * ax + ay * ay + az * az + bx * bx + by * by + bz * bz
    return math.sqrt(square) if math.isfinite(square) else -1.0


@part
def within_cones(pad: Floats, to: int, least: float) -> bool:
    """Whether two edges that cross hold each other: the direction leads out of both sheets, by so much at least."""
    return (  # type: ignore[no-any-return]
        pad[to + SINE] > PARALLEL and pad[to + OUT_A] > least and pad[to + OUT_B] > least
    )


@part
def edges_hold(pad: Floats, to: int, along_n: float, along_m: float, longest: float) -> int:
    """What becomes of a contact of two edges: HOLDS, or why it does not.

    along: Cosines between the direction of the contact and the normals of both surfaces. Where it leads into a sheet
    from its outside that sheet's edge is not what touches any more, but the sheet is, which is RELEASED to; from behind
    a sheet there is nothing to touch.
    """
    if not pad[to + SINE] > PARALLEL:
        return ALONG_EACH_OTHER
    into_a = pad[to + OUT_A] < -LEVEL
    into_b = pad[to + OUT_B] < -LEVEL
    if (into_a and along_n > 0.0) or (into_b and along_m < 0.0):
        return RELEASED
    if into_a or into_b:
        return BEHIND_EDGE
    if pad[to + PAST] > CORNER * longest:
        return OFF_END
    return HOLDS


@part
def closest_edges(
    given: Floats, table_a: Floats, nodes_a: Floats, leaves_a: int, width_a: int, spacing_a: float,
    table_b: Floats, nodes_b: Floats, leaves_b: int, width_b: int, spacing_b: float, pad: Floats, stack: Ints,
    near_a: Ints, near_b: Ints, counts: Ints, at: int, to: int, within: float,
) -> int:  # fmt: skip
    """The closest points of the rims of two open surfaces, from the points at pad[SLOPES + 4] and pad[SLOPES + 12] on.

    FOUND: the points stand there too, in each own frame, the places of their nearest samples in counts[2] and
    counts[3], and what the edges tell at pad[to]. NONE: a point has left its surface, or did not begin within so much
    of the spacing of its rim. LOST: it did not settle. given: Pose of b seen from a. tables, nodes, leaves, width: As
    of :class:`bellcrank.contact.pieces.Pieces`, the rows of rims behind the samples. at: Room of 2 RIM_PAD in the pad.
    """
    a = SLOPES
    b = SLOPES + 8
    counts[0] = -1
    counts[1] = -1
    longest = min(spacing_a, spacing_b)
    rest = 1
    tx = 0.0
    ty = 0.0
    tz = 0.0
    wx = 0.0
    wy = 0.0
    wz = 0.0
    for k in range(ITERATIONS):
        i = settle(
            table_a, nodes_a, leaves_a, width_a, 0.25 * spacing_a, pad, a, MIDDLES, counts, 0, stack, near_a
        )
        j = settle(
            table_b, nodes_b, leaves_b, width_b, 0.25 * spacing_b, pad, b, MIDDLES + 3, counts, 1, stack, near_b
        )  # fmt: skip
        if i < 0 or j < 0:
            return NONE
        counts[2] = i
        counts[3] = j
        nx = pad[a + 1]
        ny = pad[a + 2]
        nz = pad[a + 3]
        if not rim_numbers(
            table_a, near_a, counts[0], pad[a + 4], pad[a + 5], pad[a + 6], nx, ny, nz, pad, at
        ) or not rim_numbers(
            table_b, near_b, counts[1], pad[b + 4], pad[b + 5], pad[b + 6], pad[b + 1], pad[b + 2], pad[b + 3], pad,
            at + RIM_PAD,
        ):  # fmt: skip
            return NONE
        seen_from_first(given, pad, at + RIM_PAD)
        o = edge_side(pad, at) if k == 0 else same_edge_side(pad, at, tx, ty, tz)
        p = edge_side(pad, at + RIM_PAD) if k == 0 else same_edge_side(pad, at + RIM_PAD, wx, wy, wz)
        if k == 0 and max(abs(pad[o + VALUE]), abs(pad[p + VALUE])) > within * longest:
            return NONE
        tx = pad[o + OUTWARDS]
        ty = pad[o + OUTWARDS + 1]
        tz = pad[o + OUTWARDS + 2]
        wx = pad[p + OUTWARDS]
        wy = pad[p + OUTWARDS + 1]
        wz = pad[p + OUTWARDS + 2]
        mx, my, mz = turned(given, pad[b + 1], pad[b + 2], pad[b + 3])
        rx, ry, rz = between_points(given, pad, a, b)
        ux = ny * tz - nz * ty
        uy = nz * tx - nx * tz
        uz = nx * ty - ny * tx
        vx, vy, vz = turned_back(given, my * wz - mz * wy, mz * wx - mx * wz, mx * wy - my * wx)
        size = edge_step(
            pad, at, o, p, nx, ny, nz, mx, my, mz, rx, ry, rz, bending(table_a, i, ux, uy, uz, ux, uy, uz),
            bending(table_b, j, vx, vy, vz, vx, vy, vz), longest, to,
        )  # fmt: skip
        if size < 0.0:
            return LOST
        if rest <= 0:
            return FOUND
        x, y, z = turned_back(given, pad[at + STEP_OFF], pad[at + STEP_OFF + 1], pad[at + STEP_OFF + 2])
        for m in range(3):
            pad[a + 4 + m] += pad[at + STEP_ON + m]
        pad[b + 4] += x
        pad[b + 5] += y
        pad[b + 6] += z
        if size < SETTLED * longest or (k > 12 and size < ROUNDED * longest):
            # Once more, for the numbers to be those of the points.
            rest -= 1
    return LOST


__all__ = ["closest_edges", "edge_side", "edge_step", "edges_hold", "past_end", "within_cones"]
