"""Surfaces of patches in compiled searches: the foot of a point, the normal and the curvature there, and the piece.

A search knows such a surface by points spread over it (:mod:`bellcrank.contact.covering`), which lead to the patches
around a place. Newton's method finds the foot of a point on a patch; of the patches around it the one that comes
nearest with what it covers is taken. Behind the table of samples stand the sizes of patches, the patch and the
parameters of every sample, and the patches themselves.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.patch_points import (
    CONTROL,
    PADDED,
    PATCHED,
    RIMS,
    STATE,
    TANGENTS,
    TRIAL,
    U,
    V,
    foot,
    missed,
    over,
    told,
)
from bellcrank.contact.pieces import COLUMNS, REACH, SAMPLE, SLOPES
from bellcrank.contact.settling import CROWD, gathered
from bellcrank.contact.tree import BALL
from bellcrank.contact.units import Unit, matrix, part, vector

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SAME = 1e-9
"""Parameters that differ by less are the same: a rim is not left, and a patch not changed, by less."""
CHANGES = 8
"""How often a patch is changed in one search of a point before seams that are no smooth ones stop it."""
HYSTERESIS = 0.6
"""How far, in parameters, a point may then lie beyond what a patch covers."""
WINDOW = 0.5
"""How far, in parameters, a contact point may move before its patch is told anew; a program's foot begins there."""
INNER = 0.05
"""How far it may move where it lies beyond what its patch covers already, but not beyond a rim."""
NARROW = 1e-4
"""How far it may move there, over the length of a patch, where that is a longer way in parameters."""
BESIDE = 1e-4
"""How far into a patch from a side that is a single point."""
LARGE = 1e300

# behind the samples: sizes of patches and the sign of their normals, then for each place of the tree patch, u and v
ROWS = 0
NET = 1
SIGN = 2
SIZES = 4
PLACE = 3
# counts, behind those of samples gathered: what a call is about, and changes of patches on each side
LEAVES = 2
WIDTH = 3
SIDE = 4
WRITES = 5
CHANGED = 6


@part
def nearest(
    table: Floats, nodes: Floats, leaves: int, width: int, x: float, y: float, z: float, stack: Ints
) -> int:
    """The sample nearest to a point."""
    best = 0
    least = LARGE
    top = 1
    stack[0] = 0
    while top > 0:
        top -= 1
        k = stack[top]
        dx = x - nodes[k, 0]
        dy = y - nodes[k, 1]
        dz = z - nodes[k, 2]
        far = math.sqrt(dx * dx + dy * dy + dz * dz) - nodes[k, BALL]
        if far > 0.0 and far * far >= least:
            continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                dx = x - table[i, 0]
                dy = y - table[i, 1]
                dz = z - table[i, 2]
                square = dx * dx + dy * dy + dz * dz
                if table[i, REACH] > 0.0 and square < least:
                    least = square
                    best = i
            continue
        # The nearer child comes first.
        left = 2 * k + 1
        ax = x - nodes[left, 0]
        ay = y - nodes[left, 1]
        az = z - nodes[left, 2]
        bx = x - nodes[left + 1, 0]
        by = y - nodes[left + 1, 1]
        bz = z - nodes[left + 1, 2]
        first = left
        if ax * ax + ay * ay + az * az > bx * bx + by * by + bz * bz:
            first = left + 1
        stack[top] = 2 * left + 1 - first
        stack[top + 1] = first
        top += 2
    return best


@part
def begin(
    places: Floats, nets: Floats, rows: int, columns: int, i: int, x: float, y: float, z: float, pad: Floats
) -> None:
    """The foot of a point on the patch of a sample, as a trial."""
    pad[TRIAL] = places[i, 0]
    pad[TRIAL + U] = places[i, 1]
    pad[TRIAL + V] = places[i, 2]
    foot(nets, int(places[i, 0]), rows, columns, x, y, z, pad, TRIAL)


@part
def keep(pad: Floats, at: int) -> None:
    """The trial is better."""
    for k in range(3):
        pad[at + k] = pad[TRIAL + k]


@part
def choose(
    table: Floats, nodes: Floats, leaves: int, width: int, places: Floats, nets: Floats, rows: int, columns: int,
    x: float, y: float, z: float, pad: Floats, at: int, stack: Ints, near: Ints,
) -> None:  # fmt: skip
    """The patch that comes nearest to a point with what it covers, and the foot on it."""
    best = LARGE
    if pad[at] >= 0.0:
        best = missed(nets, int(pad[at]), rows, columns, x, y, z, pad, at)
    i = nearest(table, nodes, leaves, width, x, y, z, stack)
    if places[i, 0] != pad[at]:
        begin(places, nets, rows, columns, i, x, y, z, pad)
        far = missed(nets, int(pad[TRIAL]), rows, columns, x, y, z, pad, TRIAL)
        if far < best:
            best = far
            keep(pad, at)
    patch = int(pad[at])
    if over(nets, patch, pad[at + U], pad[at + V]) <= SAME:
        return
    first = places[i, 0]
    count = gathered(table, nodes, leaves, width, x, y, z, table[i, REACH], stack, near)
    if count < 0:
        count = CROWD
    for k in range(count):
        own = places[near[k], 0]
        if own == first or own == pad[at]:
            continue
        # Of each patch its sample nearest to the point.
        dx = x - table[near[k], 0]
        dy = y - table[near[k], 1]
        dz = z - table[near[k], 2]
        square = dx * dx + dy * dy + dz * dz
        leads = True
        for m in range(count):
            if places[near[m], 0] == own and m != k:
                dx = x - table[near[m], 0]
                dy = y - table[near[m], 1]
                dz = z - table[near[m], 2]
                other = dx * dx + dy * dy + dz * dz
                if other < square or (other == square and m < k):
                    leads = False
                    break
        if leads:
            begin(places, nets, rows, columns, near[k], x, y, z, pad)
            far = missed(nets, int(own), rows, columns, x, y, z, pad, TRIAL)
            if far < best:
                best = far
                keep(pad, at)


@part
def write(nets: Floats, patch: int, numbers: int, pad: Floats, at: int, to: int, piece: Floats) -> None:
    """The patch as the equations of motion take it: point, u, v, their limits until it is told anew, control points."""
    for k in range(3):
        piece[k] = pad[to + 4 + k]
    for k in range(2):
        own = pad[at + U + k]
        piece[3 + k] = own
        if min(pad[at + TANGENTS], pad[at + TANGENTS + 1]) <= BESIDE * max(
            pad[at + TANGENTS], pad[at + TANGENTS + 1]
        ):
            # A program takes the curvature there, which a single point does not tell.
            piece[3 + k] = own + BESIDE * (0.5 - own)
        low = max(nets[patch, 2 * k], own - WINDOW)
        high = min(nets[patch, 2 * k + 1], own + WINDOW)
        # A point on a rim leaves it at the next step; one between patches that do not join has some room.
        if own - SAME < low:
            low = own - (SAME if nets[patch, RIMS + 2 * k] > -LARGE else INNER)
        if own + SAME > high:
            high = own + (SAME if nets[patch, RIMS + 2 * k + 1] < LARGE else INNER)
        # Near a side that is a single point little way is made along it, and patches hardly differ.
        longer = max(pad[at + TANGENTS], pad[at + TANGENTS + 1])
        short = min(1.0, NARROW * longer / max(pad[at + TANGENTS + k], 1e-300))
        if short > 2.0 * NARROW:
            if nets[patch, RIMS + 2 * k] <= -LARGE:
                low = min(low, own - short)
            if nets[patch, RIMS + 2 * k + 1] >= LARGE:
                high = max(high, own + short)
        piece[5 + 2 * k] = low
        piece[6 + 2 * k] = high
    for k in range(numbers):
        piece[9 + k] = nets[patch, CONTROL + k]


@Unit
def settle_patch(
    near_at: Any,
    counts_at: Any,
    table_at: Any,
    nodes_at: Any,
    pad_at: Any,
    piece_at: Any,
    unused_0: Any,
    unused_1: Any,
    unused_2: Any,
    stack_at: Any,
    unused_3: Any,
) -> int:
    """Pull a point of one side in the pad onto its surface of patches, with normal and curvature, or write its piece.

    Like :func:`bellcrank.contact.settling.settle`; where counts has -1 of a side, its patch is looked for anew.
    """
    counts = vector(counts_at, CHANGED + 2)
    leaves, width, side = counts[LEAVES], counts[WIDTH], counts[SIDE]
    number = leaves * width
    near = vector(near_at, CROWD)
    stack = vector(stack_at, 1)
    pad = vector(pad_at, PADDED)
    table = matrix(table_at, 0, number, SAMPLE)
    nodes = matrix(nodes_at, 0, 2 * leaves - 1, COLUMNS)
    sizes = matrix(table_at, SAMPLE * number, 1, SIZES)
    rows = int(sizes[0, ROWS])
    columns = int(sizes[0, NET])
    numbers = 3 * rows * columns
    places = matrix(table_at, SAMPLE * number + SIZES, number, PLACE)
    nets = matrix(table_at, (SAMPLE + PLACE) * number + SIZES, 1, CONTROL + numbers)
    at = PATCHED + STATE * side
    to = SLOPES + 8 * side
    x = pad[to + 4]
    y = pad[to + 5]
    z = pad[to + 6]
    if counts[side] < 0:
        counts[side] = 1
        counts[CHANGED + side] = 0
        pad[at] = -1.0
    far = LARGE
    if pad[at] >= 0.0:
        foot(nets, int(pad[at]), rows, columns, x, y, z, pad, at)
        far = over(nets, int(pad[at]), pad[at + U], pad[at + V])
    if far > (SAME if counts[CHANGED + side] < CHANGES else HYSTERESIS):
        before = pad[at]
        choose(table, nodes, leaves, width, places, nets, rows, columns, x, y, z, pad, at, stack, near)
        if pad[at] != before:
            counts[CHANGED + side] += 1
    patch = int(pad[at])
    told(nets, patch, rows, columns, sizes[0, SIGN], pad, at, to)
    if counts[WRITES] == 1:
        write(nets, patch, numbers, pad, at, to, vector(piece_at, 9 + numbers))
    return 0


__all__ = ["settle_patch"]
