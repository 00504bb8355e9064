"""Parts of a surface that hold no contact point besides one that is known, in compiled code.

The distance h from a convex shape is a convex function, inside it as well as outside. So of a known point w and any
other place x of the surface, h(x) >= h(w) + g(w) . (x - w) and h(w) >= h(x) + g(x) . (w - x), g being the shape's
normals. Where x is a contact point its normal n(x) is opposed, g(x) = -n(x), and both together tell
(n(x) + g(w)) . (x - w) <= 0. On a surface that curves outwards around w it is greater, by the curvature times the
square of the way: there is no other contact point, whatever the shape is, and there will be none as the bodies move,
since where the surface curves outwards two points neither meet nor part.

Only nodes near to w, within two or three of their own sizes, are not told so, which are a few of each level. All the
others are left out of the search without a look at their samples.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.meeting_layout import LEVELS, SURE, TURN, WIDE
from bellcrank.contact.pieces import BENT, FACE, NORMAL
from bellcrank.contact.tree_layout import AXIS, BALL
from bellcrank.contact.units import part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BESIDE = 4.0
"""Samples nearer to a known point belong to it, over the distance of their sixth neighbours."""
ASKEW = 0.5
"""Normals of such samples differ by less."""
AROUND = 4.0
"""Nodes nearer to a known point, over their size, are parted without a look at their heights."""
EDGES = 2.0
"""Normals of nodes without edges do not turn so far."""


@part
def told(rows: Floats, k: int, axis: int, size: float, turn: float, slots: Floats, s: int) -> bool:
    """Whether within a size of a place, its normals turning by so much, there is no contact point besides one."""
    x = rows[k, 0] - slots[s, 4]
    y = rows[k, 1] - slots[s, 5]
    z = rows[k, 2] - slots[s, 6]
    nx = rows[k, axis] - slots[s, 1]
    ny = rows[k, axis + 1] - slots[s, 2]
    nz = rows[k, axis + 2] - slots[s, 3]
    far = math.sqrt(x * x + y * y + z * z)
    off = math.sqrt(nx * nx + ny * ny + nz * nz)
    return nx * x + ny * y + nz * z > off * size + turn * (far + size)  # type: ignore[no-any-return]


@part
def alone(nodes: Floats, turns: Floats, k: int, slots: Floats, first: int, points: int, pad: Floats) -> bool:
    """Whether a node holds no contact point since one is known.

    first, points: Slots of those, whose levels are in the pad.
    """
    size = nodes[k, BALL] + turns[k, WIDE]
    for s in range(points):
        if turns[k, SURE] > pad[LEVELS + s] and told(nodes, k, AXIS, size, turns[k, TURN], slots, first + s):
            return True
    return False


@part
def around(nodes: Floats, turns: Floats, k: int, slots: Floats, first: int, points: int, pad: Floats) -> bool:
    """Whether a node lies so near a known point that its parts are told more of than itself."""
    for s in range(points):
        if turns[k, SURE] > pad[LEVELS + s]:
            square = 0.0
            for m in range(3):
                square += (nodes[k, m] - slots[first + s, 4 + m]) * (nodes[k, m] - slots[first + s, 4 + m])
            size = AROUND * (nodes[k, BALL] + turns[k, WIDE])
            if square < size * size:
                return True
    return False


@part
def sample_alone(
    table: Floats, turns: Floats, k: int, i: int, slots: Floats, first: int, points: int, pad: Floats
) -> bool:
    """The same of the surface around one sample of a node, which its own curvature tells more of."""
    size = table[i, FACE]
    for s in range(points):
        if turns[k, SURE] > pad[LEVELS + s] and turns[k, TURN] < EDGES:
            square = table[i, BENT] * table[i, BENT]
            for m in range(1, 6):
                square += (1.0 if m < 3 else 2.0) * table[i, BENT + m] * table[i, BENT + m]
            if told(table, i, NORMAL, size, size * math.sqrt(square), slots, first + s):
                return True
    return False


@part
def beside(
    table: Floats, turns: Floats, k: int, i: int, slots: Floats, first: int, points: int, pad: Floats
) -> bool:
    """Whether a sample lies so near a known point, on a surface that curves outwards, that it belongs to it."""
    for s in range(points):
        if turns[k, SURE] > pad[LEVELS + s] and turns[k, TURN] < EDGES:
            way = 0.0
            off = 0.0
            for m in range(3):
                way += (table[i, m] - slots[first + s, 4 + m]) * (table[i, m] - slots[first + s, 4 + m])
                off += (table[i, NORMAL + m] - slots[first + s, 1 + m]) * (
                    table[i, NORMAL + m] - slots[first + s, 1 + m]
                )
            if way < BESIDE * BESIDE * table[i, FACE] * table[i, FACE] and off < ASKEW * ASKEW:
                return True
    return False


__all__ = ["alone", "around", "beside", "sample_alone"]
