"""What lies below an open surface though it has come around its rim, not through it, in compiled code."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.edges import (
    DIRECTION,
    GAP,
    ON_RIM,
    OUT_A,
    RELEASED,
    SIDE_A,
    SIDE_B,
    closest_edges,
    edges_hold,
)
from bellcrank.contact.edges import FOUND as EDGES_FOUND
from bellcrank.contact.heights import seen_at
from bellcrank.contact.meeting_layout import (
    COUNTS,
    HOLD,
    NEAR_A,
    NEAR_B,
    NODES_A,
    NODES_B,
    PAD,
    SPACING_A,
    SPACING_B,
    STACK,
    TABLE_A,
    TABLE_B,
)
from bellcrank.contact.pieces import MIDDLES, SLOPES
from bellcrank.contact.refinement import RIMS, TOLD
from bellcrank.contact.rim_numbers import OUTWARDS, inside_rim
from bellcrank.contact.settling import between_points, settle
from bellcrank.contact.tree_layout import LEAVES_A, LEAVES_B, WIDTH_A, WIDTH_B
from bellcrank.contact.turning import turned
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FAR = 1e3
"""Over the distance of samples: from there edges may be looked for."""
ALIKE = 0.5
"""What two depths at the same place may differ by, of themselves."""
BESIDE = 1e-3
"""How far beyond a rim a place is that is not on it, over the distance of samples."""
BENDS = 0.1
"""And besides over the way that straight lines were followed to it."""
LEVEL = 1e-4
"""Square of the sine between two surfaces below which one does not come through the other."""


@part
def passes_beside(
    table: Floats, nodes: Floats, leaves: int, width: int, spacing: float, stack: Ints, near: Ints, counts: Ints,
    pad: Floats, which: int, slack: float,
) -> bool:  # fmt: skip
    """Whether a place, at pad[SLOPES + 8 which + 4], is farther beyond the rim of a surface than so much."""
    at = SLOPES + 8 * which
    counts[which] = -1
    for _ in range(2):
        if (
            settle(
                table,
                nodes,
                leaves,
                width,
                0.25 * spacing,
                pad,
                at,
                MIDDLES + 3 * which,
                counts,
                which,
                stack,
                near,
            )
            < 0
        ):
            return True
    return inside_rim(table, near, counts[which], pad, at, RIMS) < -slack  # type: ignore[no-any-return]


@part
def on_both(header: Ints, given: Floats, tables: Any, scratch: Any, way: float) -> bool:
    """Whether a place near both surfaces, at pad[SLOPES + 4], is beyond no rim of either.

    way: How far it lies from where it was seen along straight lines, which tells how well it is known.
    """
    pad = scratch[PAD]
    slack = BESIDE * min(given[SPACING_A], given[SPACING_B]) + BENDS * way
    seen_at(given, pad[SLOPES + 4], pad[SLOPES + 5], pad[SLOPES + 6], pad, SLOPES + 12)
    return not passes_beside(
        tables[TABLE_A], tables[NODES_A], header[LEAVES_A], header[WIDTH_A], given[SPACING_A], scratch[STACK],
        scratch[NEAR_A], scratch[COUNTS], pad, 0, slack,
    ) and not passes_beside(
        tables[TABLE_B], tables[NODES_B], header[LEAVES_B], header[WIDTH_B], given[SPACING_B], scratch[STACK],
        scratch[NEAR_B], scratch[COUNTS], pad, 1, slack,
    )  # fmt: skip


@part
def edges_cut(header: Ints, given: Floats, tables: Any, scratch: Any) -> bool:
    """Whether the sheets behind two edges that have crossed do cut each other, where the edge of b meets a.

    What the edges tell stands in the pad, and their points and normals. With the gap g along n the edge of b meets a at
    x + o u - w t, w = -g / (n . t), where o follows from the part across n and across the edge of b.
    """
    pad = scratch[PAD]
    a = SLOPES
    b = SLOPES + 8
    out = int(pad[TOLD + SIDE_A]) + OUTWARDS
    other = int(pad[TOLD + SIDE_B]) + OUTWARDS
    nx = pad[TOLD + DIRECTION]
    ny = pad[TOLD + DIRECTION + 1]
    nz = pad[TOLD + DIRECTION + 2]
    tx = pad[out]
    ty = pad[out + 1]
    tz = pad[out + 2]
    ux = pad[a + 2] * tz - pad[a + 3] * ty
    uy = pad[a + 3] * tx - pad[a + 1] * tz
    uz = pad[a + 1] * ty - pad[a + 2] * tx
    mx, my, mz = turned(given, pad[b + 1], pad[b + 2], pad[b + 3])
    vx = my * pad[other + 2] - mz * pad[other + 1]
    vy = mz * pad[other] - mx * pad[other + 2]
    vz = mx * pad[other + 1] - my * pad[other]
    # Across n and the edge of b.
    hx = ny * vz - nz * vy
    hy = nz * vx - nx * vz
    hz = nx * vy - ny * vx
    back = -pad[TOLD + GAP] / pad[TOLD + OUT_A]
    along = back * (hx * tx + hy * ty + hz * tz) / (hx * ux + hy * uy + hz * uz)
    pad[a + 4] += along * ux - back * tx
    pad[a + 5] += along * uy - back * ty
    pad[a + 6] += along * uz - back * tz
    return on_both(header, given, tables, scratch, abs(along) + abs(back))  # type: ignore[no-any-return]


@part
def lets_go(header: Ints, given: Floats, tables: Any, scratch: Any, depth: float) -> bool:
    """Whether the edges near two points are as deep, but one of them is on the side of the other sheet."""
    pad = scratch[PAD]
    x = pad[SLOPES + 4]
    y = pad[SLOPES + 5]
    z = pad[SLOPES + 6]
    how = closest_edges(
        given, tables[TABLE_A], tables[NODES_A], header[LEAVES_A], header[WIDTH_A], given[SPACING_A], tables[TABLE_B],
        tables[NODES_B], header[LEAVES_B], header[WIDTH_B], given[SPACING_B], pad, scratch[STACK], scratch[NEAR_A],
        scratch[NEAR_B], scratch[COUNTS], RIMS, TOLD, FAR,
    )  # fmt: skip
    if how != EDGES_FOUND:
        return False
    x -= pad[SLOPES + 4]
    y -= pad[SLOPES + 5]
    z -= pad[SLOPES + 6]
    mx, my, mz = turned(given, pad[SLOPES + 9], pad[SLOPES + 10], pad[SLOPES + 11])
    along_n = 0.0
    for m in range(3):
        along_n += pad[TOLD + DIRECTION + m] * pad[SLOPES + 1 + m]
    along_m = pad[TOLD + DIRECTION] * mx + pad[TOLD + DIRECTION + 1] * my + pad[TOLD + DIRECTION + 2] * mz
    longest = min(given[SPACING_A], given[SPACING_B])
    near = x * x + y * y + z * z < longest * longest and abs(pad[TOLD + GAP] + depth) < ALIKE * depth
    return near and edges_hold(pad, TOLD, along_n, along_m, longest) == RELEASED


@part
def come_around(header: Ints, given: Floats, tables: Any, scratch: Any, slot: Floats) -> bool:
    """Whether what lies below one of two open surfaces has come around its rim.

    The edge of one surface, or a point of it that is held, lies below the other: then either the rim is nearer than it
    is deep, or the surface it belongs to passes beside that rim where it rises from there.
    """
    pad, counts = scratch[PAD], scratch[COUNTS]
    table_a, table_b = tables[TABLE_A], tables[TABLE_B]
    depth = -slot[0]
    if not depth > 0.0:
        return False
    a = SLOPES
    b = SLOPES + 8
    on_rim = ON_RIM * min(given[SPACING_A], given[SPACING_B])
    held = slot[HOLD] < 0.5
    if held:
        # Its own surface was not asked for.
        counts[0] = -1
        i = settle(
            table_a, tables[NODES_A], header[LEAVES_A], header[WIDTH_A], 0.25 * given[SPACING_A], pad, a, MIDDLES,
            counts, 0, scratch[STACK], scratch[NEAR_A],
        )  # fmt: skip
        if i < 0:
            return False
    inside_a = inside_rim(table_a, scratch[NEAR_A], counts[0], pad, a, RIMS)
    inside_b = inside_rim(table_b, scratch[NEAR_B], counts[1], pad, b, RIMS)
    mx, my, mz = turned(given, pad[b + 1], pad[b + 2], pad[b + 3])
    nx = pad[a + 1]
    ny = pad[a + 2]
    nz = pad[a + 3]
    cosine = nx * mx + ny * my + nz * mz
    level = 1.0 - cosine * cosine
    if not (held or min(inside_a, inside_b) < on_rim):
        return False
    from_a = held or inside_a < on_rim
    if (inside_b if from_a else inside_a) < depth and not lets_go(header, given, tables, scratch, depth):
        return True
    if level < LEVEL:
        return False
    # Up along the one surface to where that meets the other.
    rise = depth / level
    for m in range(3):
        pad[a + 4 + m] = slot[4 + m]
        pad[b + 4 + m] = slot[7 + m]
    if from_a:
        pad[a + 4] += rise * (mx - cosine * nx)
        pad[a + 5] += rise * (my - cosine * ny)
        pad[a + 6] += rise * (mz - cosine * nz)
    else:
        rx, ry, rz = between_points(given, pad, a, b)
        pad[a + 4] += rx + rise * (nx - cosine * mx)
        pad[a + 5] += ry + rise * (ny - cosine * my)
        pad[a + 6] += rz + rise * (nz - cosine * mz)
    return not on_both(header, given, tables, scratch, rise * math.sqrt(level))


__all__ = ["come_around", "edges_cut"]
