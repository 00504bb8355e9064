"""Whether one contact point is on a line or a side along which surfaces touch, in compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.holding import WEAK, hold_at, lies
from bellcrank.contact.lowest import EVEN
from bellcrank.contact.meeting_layout import (
    GAP_BEND,
    HEIGHT,
    LEVEL,
    MARKS_A,
    MARKS_B,
    OUTWARD,
    PAD,
    PARTNER,
    PLACE,
    POINTS,
    SHARP,
    SPACING_A,
    TABLE_A,
    TABLE_B,
    TANGENTS,
    WAY,
)
from bellcrank.contact.pieces import RIM
from bellcrank.contact.slots import away
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@part
def lies_along(header: Ints, given: Floats, tables: Any, scratch: Any, i: int, j: int) -> bool:
    """Whether a sample that is none of an edge lies on the other shape, the gap being flat one way at least."""
    table_a, marks_a, table_b, marks_b = tables[TABLE_A], tables[MARKS_A], tables[TABLE_B], tables[MARKS_B]
    if marks_a[i, SHARP] > 0.5:
        return False
    return lies(header, given, table_a, marks_a, table_b, marks_b, i, j, scratch[PAD])  # type: ignore[no-any-return]


@part
def straight_to(
    header: Ints, given: Floats, tables: Any, scratch: Any, i: int, j: int, height: float, slot: Floats
) -> bool:
    """Whether the line or side that a sample lies on goes straight to a contact point, in height as well.

    Where it is curved on the way, as that of a ring that leans, the contact point has a place of its own: down a
    parabola it is half as far as the slope tells.
    """
    table_a, marks_a = tables[TABLE_A], tables[MARKS_A]
    pad = scratch[PAD]
    hold = hold_at(header, given, table_a, marks_a, tables[TABLE_B], tables[MARKS_B], i, j, pad)
    nx = marks_a[i, 0]
    ny = marks_a[i, 1]
    nz = marks_a[i, 2]
    dx = slot[4] - table_a[i, 0]
    dy = slot[5] - table_a[i, 1]
    dz = slot[6] - table_a[i, 2]
    up = dx * nx + dy * ny + dz * nz
    dx -= up * nx
    dy -= up * ny
    dz -= up * nz
    fall = height - slot[0]
    told = -(dx * pad[OUTWARD] + dy * pad[OUTWARD + 1] + dz * pad[OUTWARD + 2])
    if hold > 0.5:
        wx = pad[WAY]
        wy = pad[WAY + 1]
        wz = pad[WAY + 2]
        vx = ny * wz - nz * wy
        vy = nz * wx - nx * wz
        vz = nx * wy - ny * wx
        v1 = vx * pad[TANGENTS] + vy * pad[TANGENTS + 1] + vz * pad[TANGENTS + 2]
        v2 = vx * pad[TANGENTS + 3] + vy * pad[TANGENTS + 4] + vz * pad[TANGENTS + 5]
        beside = dx * vx + dy * vy + dz * vz
        bend = pad[GAP_BEND] * v1 * v1 + 2.0 * pad[GAP_BEND + 1] * v1 * v2 + pad[GAP_BEND + 2] * v2 * v2
        if table_a[i, RIM] < 0.0 and bend > pad[LEVEL]:
            if pad[GAP_BEND] + pad[GAP_BEND + 2] - bend < -WEAK * bend - pad[LEVEL]:
                # A saddle, where the gap falls both ways along.
                return False
            # The line is where the gap across it is lowest.
            steep = vx * pad[OUTWARD] + vy * pad[OUTWARD + 1] + vz * pad[OUTWARD + 2]
            beside += steep / bend
            fall -= 0.5 * steep * steep / bend
        if abs(beside) > 0.5 * given[SPACING_A]:
            return False
        far = dx * wx + dy * wy + dz * wz
        told = -far * (wx * pad[OUTWARD] + wy * pad[OUTWARD + 1] + wz * pad[OUTWARD + 2])
        if abs(far) < 0.5 * given[SPACING_A]:
            return False
    return abs(told - fall) < max(0.5 * abs(fall), EVEN * given[SPACING_A])  # type: ignore[no-any-return]


@part
def along_a_line(
    header: Ints, given: Floats, tables: Any, scratch: Any, low: Ints, measures: Floats, count: int, slots: Floats
) -> int:  # fmt: skip
    """Of the samples along the line or on the side of the contact point, half as deep at least, the farthest.

    -1 where there is none. One point does not tell where the force of a line is: it would jump from end to end.
    """
    table_a = tables[TABLE_A]
    points = header[POINTS]
    found = -1
    widest = 0.5 * given[SPACING_A]
    for k in range(count):
        i = low[k, PLACE]
        j = low[k, PARTNER]
        height = measures[k, HEIGHT]
        far = away(slots[points], table_a[i, 0], table_a[i, 1], table_a[i, 2])
        if (
            height < 0.5 * slots[points, 0]
            and far > widest
            and lies_along(header, given, tables, scratch, i, j)
            and straight_to(header, given, tables, scratch, i, j, height, slots[points])
        ):
            widest = far
            found = i
    return found


__all__ = ["along_a_line", "lies_along"]
