"""The rim of an open surface around a contact point as the equations of motion take it, in compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import RIM
from bellcrank.contact.rim_numbers import ahead_of, nearest_row, other_side
from bellcrank.contact.rims import FOLLOWED, NOWHERE, ROW, SIDE, WEIGHT
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@part
def rim_entries(room: int) -> int:
    """Numbers of so many rows of a rim."""
    return ROW * room + 1 if room > 0 else 0


@part
def rim_piece(
    table: Floats, near: Ints, count: int, room: int, margin: float, spacing: float, x: float, y: float, z: float,
    piece: Floats, at: int,
) -> None:  # fmt: skip
    """What :meth:`bellcrank.contact.rims.Rim.piece` tells, of the samples around a point; to `piece` from `at` on."""
    first = nearest_row(table, near, count, x, y, z)
    taken = 0
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
            far = table[row, WEIGHT] + margin
            if taken >= room or dx * dx + dy * dy + dz * dz >= far * far:
                continue
            here = at + ROW * taken
            for m in range(ROW):
                piece[here + m] = table[row, m]
            piece[here + SIDE] = 1.0
            if other_side(table, row, first):
                piece[here + SIDE] = 0.0
                ahead += ahead_of(table, first, start, last, row)
            taken += 1
    for k in range(taken, room):
        here = at + ROW * k
        for m in range(ROW):
            piece[here + m] = 0.0
        piece[here] = x + NOWHERE * spacing
        piece[here + 1] = y + NOWHERE * spacing
        piece[here + 2] = z + NOWHERE * spacing
        piece[here + WEIGHT] = spacing
    piece[at + ROW * room] = 1.0 if ahead > 0.0 else 0.0


__all__ = ["rim_entries", "rim_piece"]
