"""The samples around a contact point as the equations of motion take them, in compiled code."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import REACH
from bellcrank.contact.rim_pieces import rim_piece
from bellcrank.contact.sampled import ENTRIES
from bellcrank.contact.settling import CROWD, gathered
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NOWHERE = 1e6
"""Rows without a sample lie so many distances of samples away."""


@part
def square_to(table: Floats, i: int, x: float, y: float, z: float) -> float:
    """Square of the distance of a sample from a point."""
    dx = x - table[i, 0]
    dy = y - table[i, 1]
    dz = z - table[i, 2]
    return dx * dx + dy * dy + dz * dz  # type: ignore[no-any-return]


@part
def gather(
    table: Floats,
    nodes: Floats,
    leaves: int,
    width: int,
    room: int,
    margin: float,
    spacing: float,
    x: float,
    y: float,
    z: float,
    stack: Ints,
    near: Ints,
    piece: Floats,
    rim_room: int,
) -> bool:
    """The point, then the ENTRIES of each sample whose weight reaches into the margin around it, the nearest first.

    Where there are more than the room the nearest are taken. Behind them stands the rim of an open surface.
    False where none is near, or far too many.
    """
    count = gathered(table, nodes, leaves, width, x, y, z, margin, stack, near)
    if count < 0:
        count = CROWD
    if count == 0:
        return False
    # The nearest comes first; all are put in order only where some must be left out.
    ordered = count if count > room else 1
    for k in range(min(ordered, room)):
        first = k
        for m in range(k + 1, count):
            if square_to(table, near[m], x, y, z) < square_to(table, near[first], x, y, z):
                first = m
        other = near[k]
        near[k] = near[first]
        near[first] = other
    piece[0] = x
    piece[1] = y
    piece[2] = z
    for k in range(room):
        at = 3 + ENTRIES * k
        if k < count:
            for m in range(ENTRIES):
                piece[at + m] = table[near[k], m]
        else:
            for m in range(ENTRIES):
                piece[at + m] = 0.0
            for m in range(3):
                piece[at + m] = table[near[0], m] + NOWHERE * spacing
            piece[at + REACH] = spacing
    if rim_room > 0:
        rim_piece(
            table, near, min(count, CROWD), rim_room, margin, spacing, x, y, z, piece, 3 + ENTRIES * room
        )
    return True


__all__ = ["gather"]
