"""Samples of a surface by their height above another shape, in compiled code.

A smooth shape is known by f and its slope g. Where f is convex the shape lies behind the plane through the foot of
the slope, so no sample of a node lies nearer than f / |g| less what the node reaches towards it. Near the shape that
is its distance to second order; farther away feet are looked for (:mod:`feet`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.curving import POINT, VALUES
from bellcrank.contact.feet import begin_feet, distance, footed, reach_to
from bellcrank.contact.frusta import from_frusta
from bellcrank.contact.meeting_layout import (
    AWAY,
    RADIUS,
    SLOPE,
    SPOT,
    WITHIN,
)
from bellcrank.contact.pieces import BENT, NORMAL
from bellcrank.contact.smooth import DISTANCE, FLAT, GAUGE, ROUND
from bellcrank.contact.tree import BALL
from bellcrank.contact.tree_layout import BOUND, KIND, LEAVES_A, LOOKED, WIDTH_A
from bellcrank.contact.tree_nearest import nearest_in_b
from bellcrank.contact.tree_queue import queued, unqueued
from bellcrank.contact.turning import brought_back
from bellcrank.contact.units import part
from bellcrank.program.loops import call_at

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SAME = 1e-13
"""Distances of samples that differ by less, over the size of the shape, are the same."""
NEARLY = 0.02
"""What a bound of a node may miss of the distance of its centre, over its size squared and that of the shape."""


@part
def seen_at(given: Floats, px: float, py: float, pz: float, pad: Floats, at: int) -> None:
    """A place in the frame of the surface, in that of the other shape."""
    x, y, z = brought_back(given, px, py, pz)
    pad[at] = x
    pad[at + 1] = y
    pad[at + 2] = z


@part
def seen(given: Floats, rows: Floats, k: int, pad: Floats, at: int) -> None:
    """A point of the surface in the frame of the other shape."""
    seen_at(given, rows[k, 0], rows[k, 1], rows[k, 2], pad, at)


@part
def above_smooth(header: Ints, given: Floats, table: Floats, i: int, pad: Floats) -> float:
    """The height of a sample above a smooth shape, to second order in it."""
    seen(given, table, i, pad, POINT)
    call_at(header[SLOPE], pad, POINT, pad, VALUES)
    gx = pad[VALUES + 1]
    gy = pad[VALUES + 2]
    gz = pad[VALUES + 3]
    return pad[VALUES] / math.sqrt(max(1e-300, gx * gx + gy * gy + gz * gz))  # type: ignore[no-any-return]


@part
def sample_above(
    header: Ints, given: Floats, table: Floats, frusta: Floats, i: int, enough: float, pad: Floats
) -> float:
    """The distance of a sample from a smooth shape, or its depth; no more than is enough is asked for."""
    if header[KIND] == ROUND:
        seen(given, table, i, pad, POINT)
        far = from_frusta(given, frusta, table, -1, enough, pad)
        if far > 0.0:
            return far  # type: ignore[no-any-return]
    h = above_smooth(header, given, table, i, pad)
    if h >= enough or not h > 0.0 or not footed(header):
        return h  # type: ignore[no-any-return]
    return max(h, distance(header, given, enough, SAME * given[RADIUS], pad))  # type: ignore[no-any-return]


@part
def node_above(
    header: Ints,
    given: Floats,
    nodes: Floats,
    frusta: Floats,
    k: int,
    enough: float,
    distant: bool,
    pad: Floats,
) -> float:
    """No sample of a node is nearer to a smooth shape than this, nor deeper inside it; looks no closer than enough.

    distant: Whether what is enough may be so far away that heights are much less than distances.
    """
    seen(given, nodes, k, pad, POINT)
    kind = header[KIND]
    ball = nodes[k, BALL]
    z = pad[POINT + 2]
    size = math.sqrt(pad[POINT] * pad[POINT] + pad[POINT + 1] * pad[POINT + 1] + z * z)
    outside = size - given[RADIUS] - ball
    if kind == ROUND:
        if outside >= enough:
            return outside  # type: ignore[no-any-return]
        bound = from_frusta(given, frusta, nodes, k, enough, pad)
        return bound if bound > -ball else -given[RADIUS]  # type: ignore[no-any-return]
    call_at(header[SLOPE], pad, POINT, pad, VALUES)
    f = pad[VALUES]
    if f < 0.0 and kind != FLAT:
        deep = -given[RADIUS]
        if kind == DISTANCE:
            deep = f
        if kind == GAUGE and f > -0.999:
            # The way out along the ray from the middle.
            deep = size - size / (1.0 + f)
        return deep - ball  # type: ignore[no-any-return]
    gx = pad[VALUES + 1]
    gy = pad[VALUES + 2]
    gz = pad[VALUES + 3]
    inverse = 1.0 / math.sqrt(max(1e-300, gx * gx + gy * gy + gz * gz))
    far = f * inverse
    bound = max(outside, far - reach_to(given, nodes, k, inverse * gx, inverse * gy, inverse * gz))
    if bound >= enough or not far > ball or not footed(header) or not (distant or far > enough):
        return bound  # type: ignore[no-any-return]
    # Far away the slope does not point to the foot, which would make the bound loose by the size of the node.
    far = distance(header, given, enough + ball, NEARLY * ball * ball / (far + given[RADIUS]), pad)
    return max(bound, far - reach_to(given, nodes, k, pad[AWAY], pad[AWAY + 1], pad[AWAY + 2]))  # type: ignore[no-any-return]


@part
def lowest_above(
    header: Ints,
    given: Floats,
    table: Floats,
    nodes: Floats,
    frusta: Floats,
    start: int,
    pad: Floats,
    queue: Ints,
    bounds: Floats,
) -> int:
    """The place of the sample nearest to a smooth shape; given[BOUND] is its distance. start: Near it, or -1.

    Nodes are opened in the order of their bounds, so that none is whose bound lies above the answer.
    """
    leaves, width = header[LEAVES_A], header[WIDTH_A]
    begin_feet(pad)
    best = max(start, 0)
    given[BOUND] = sample_above(header, given, table, frusta, best, math.inf, pad)
    waiting = 0
    k = 0
    here = node_above(header, given, nodes, frusta, 0, given[BOUND], True, pad)
    while here < given[BOUND]:
        header[LOOKED] += 1
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                h = sample_above(header, given, table, frusta, i, given[BOUND], pad)
                if h < given[BOUND]:
                    given[BOUND] = h
                    best = i
        else:
            for child in range(2 * k + 1, 2 * k + 3):
                above = max(here, node_above(header, given, nodes, frusta, child, given[BOUND], True, pad))
                if above < given[BOUND]:
                    queued(queue, bounds, waiting, child, 0, above, True)
                    waiting += 1
        if waiting == 0:
            break
        here = bounds[0]
        k = queue[0]
        unqueued(queue, bounds, waiting)
        waiting -= 1
    return best


@part
def above_quadric(table: Floats, j: int, pad: Floats, at: int) -> float:
    """The height of a point above the quadric of a sample."""
    dx = pad[at] - table[j, 0]
    dy = pad[at + 1] - table[j, 1]
    dz = pad[at + 2] - table[j, 2]
    hx = table[j, BENT] * dx + table[j, BENT + 3] * dy + table[j, BENT + 4] * dz
    hy = table[j, BENT + 3] * dx + table[j, BENT + 1] * dy + table[j, BENT + 5] * dz
    hz = table[j, BENT + 4] * dx + table[j, BENT + 5] * dy + table[j, BENT + 2] * dz
    up = table[j, NORMAL] * dx + table[j, NORMAL + 1] * dy + table[j, NORMAL + 2] * dz
    return up - 0.5 * (dx * hx + dy * hy + dz * hz)  # type: ignore[no-any-return]


@part
def nearest_below(
    header: Ints, given: Floats, table: Floats, nodes: Floats, last: int, pad: Floats, stack: Ints, base: int
) -> int:
    """The other's sample nearest to the point in pad[SPOT], within pad[WITHIN]; -1 for none. last: A guess, or -1."""
    x = pad[SPOT]
    y = pad[SPOT + 1]
    z = pad[SPOT + 2]
    best = -1
    if last >= 0:
        dx = x - table[last, 0]
        dy = y - table[last, 1]
        dz = z - table[last, 2]
        far = math.sqrt(dx * dx + dy * dy + dz * dz)
        if far < pad[WITHIN]:
            pad[WITHIN] = far
            best = last
    nearer = nearest_in_b(header, given, x, y, z, table, nodes, stack, base, pad)
    return nearer if nearer >= 0 else best


__all__ = [
    "above_quadric",
    "above_smooth",
    "lowest_above",
    "nearest_below",
    "node_above",
    "sample_above",
    "seen",
    "seen_at",
]
