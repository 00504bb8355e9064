"""The rim of an open surface around a point, in compiled code: e and its slope, from the rows behind the samples."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import NORMAL, RIM
from bellcrank.contact.rims import ALONG, BEND, FOLLOWED, NOTCH, OUT, SIDE, WEIGHT
from bellcrank.contact.settling import NEAR_SAMPLE, SPARE
from bellcrank.contact.turning import turned
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CLOSED = -1.5
"""Of the numbers of rows of rims: -2 on a closed surface, -1 for samples that are not on the rim of an open one."""

NONE = 1e-30
"""Sum of weights where no row is anywhere near."""

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
def ahead_of(table: Floats, first: int, start: int, last: int, row: int) -> float:
    """How far a row of another side lies beyond that of the first; positive where the surface goes on there.

    At the corner between both that is rounding: whether the corner is hollow tells. start, last: Rows of its sample.
    """
    if last > start and (table[start, SIDE] == table[first, SIDE] or table[last, SIDE] == table[first, SIDE]):
        return table[row, WEIGHT] if table[row, NOTCH] > 0.5 else -table[row, WEIGHT]  # type: ignore[no-any-return]
    return over_row(table, first, table[row, 0], table[row, 1], table[row, 2])  # type: ignore[no-any-return]


@part
def between_normals(given: Floats, table_a: Floats, i: int, table_b: Floats, j: int) -> float:
    """The cosine between the normals of two samples."""
    facing = 0.0
    for k in range(3):
        for m in range(3):
            facing += given[3 * k + m] * table_b[j, NORMAL + m] * table_a[i, NORMAL + k]
    return facing


@part
def same_way(given: Floats, table_a: Floats, i: int, table_b: Floats, j: int) -> bool:
    """Whether two samples face the same way, as a body behind an open surface does."""
    return between_normals(given, table_a, i, table_b, j) >= 0.0  # type: ignore[no-any-return]


@part
def nearest_row(table: Floats, near: Ints, count: int, x: float, y: float, z: float) -> int:
    """The row of the rim whose sample is nearest to a point, of those gathered around it; -1 where there is none."""
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
    return first


@part
def other_side(table: Floats, row: int, first: int) -> bool:
    """Whether a row of a rim belongs to another side of it than the first."""
    facing = 0.0
    for m in range(3):
        facing += table[row, OUT + m] * table[first, OUT + m]
    return table[row, SIDE] != table[first, SIDE] or facing <= 0.0


@part
def rim_numbers(
    table: Floats, near: Ints, count: int, x: float, y: float, z: float, nx: float, ny: float, nz: float,
    pad: Floats, at: int,
) -> bool:  # fmt: skip
    """e, its slope in the surface and the curvature of the rim around a point, into pad; whether any weight reaches.

    The side of the nearest row is the first; all others are the second.
    """
    first = nearest_row(table, near, count, x, y, z)
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
            o = at + SUMS
            if other_side(table, row, first):
                o = at + SUMS + 9
                ahead += ahead_of(table, first, start, last, row)
            narrow = 1.0 / (table[row, WEIGHT] * table[row, WEIGHT])
            s = (dx * dx + dy * dy + dz * dz) * narrow
            along = table[row, ALONG] * dx + table[row, ALONG + 1] * dy + table[row, ALONG + 2] * dz
            out = table[row, OUT] * dx + table[row, OUT + 1] * dy + table[row, OUT + 2] * dz
            e = out - 0.5 * table[row, BEND] * along * along
            left = max(0.0, 1.0 - s)
            inverse = 1.0 / (s + NEAR_SAMPLE)
            both = left * left * inverse
            w = both * left
            steep = -2.0 * narrow * (3.0 * both + w * inverse)
            # Where no weight reaches, the nearest rows tell on which side of them a point is.
            spare = 1.0 / (1.0 + s)
            w += SPARE * spare * spare * spare * spare
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
        if pad[o] > NONE:
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
def outside(pad: Floats, at: int, x: float, y: float, z: float, slack: float) -> bool:
    """Whether a step from where the numbers of a rim were taken leads farther beyond it than rounding does."""
    for k in range(2):
        t = at + OF_SIDE * k
        if pad[t + REACHED] > 0.5:
            e = pad[t + VALUE]
            e += pad[t + OUTWARDS] * x + pad[t + OUTWARDS + 1] * y + pad[t + OUTWARDS + 2] * z
            if e > slack:
                return True
    return False


@part
def inside_rim(table: Floats, near: Ints, count: int, pad: Floats, point: int, at: int) -> float:
    """How far the point at pad[point + 4], with its normal at pad[point + 1], lies within the rim around it."""
    if not rim_numbers(
        table, near, count, pad[point + 4], pad[point + 5], pad[point + 6], pad[point + 1], pad[point + 2],
        pad[point + 3], pad, at,
    ):  # fmt: skip
        return 1e300
    least = 1e300
    for k in range(2):
        t = at + OF_SIDE * k
        if pad[t + REACHED] > 0.5:
            least = min(least, -pad[t + VALUE])
    return least


@part
def seen_from_first(given: Floats, pad: Floats, at: int) -> None:
    """The slopes of a rim of the other surface, seen from the first."""
    for k in range(2):
        o = at + OF_SIDE * k + OUTWARDS
        x, y, z = turned(given, pad[o], pad[o + 1], pad[o + 2])
        pad[o] = x
        pad[o + 1] = y
        pad[o + 2] = z


__all__ = [
    "CLOSED",
    "RIM_PAD",
    "ahead_of",
    "between_normals",
    "beyond_sample",
    "inside_rim",
    "nearest_row",
    "other_side",
    "outside",
    "over_row",
    "rim_numbers",
    "same_way",
    "seen_from_first",
]
