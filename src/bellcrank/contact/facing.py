"""Low samples of a sampled surface that face another one, in compiled code.

Where two smooth surfaces touch at one point their normals are opposed there. Nodes of the trees whose normals cannot be
opposed hold no such point, however near they are: of all samples that are low only a few around each contact are left.
Edges and corners may touch with any normal; nodes with such samples are never left out. Bodies turn before the next
search, which normals that are nearly opposed are given room for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.alone import alone, sample_alone
from bellcrank.contact.heights import above_quadric, nearest_below, seen
from bellcrank.contact.holding import NOISE
from bellcrank.contact.meeting_layout import (
    BAND,
    FACING,
    HEIGHT,
    INNER,
    INSIDE,
    LEAST,
    MARKS,
    NEIGHBOURS,
    OUTWARDS,
    PARTNER,
    PLACE,
    SHARP,
    SPACING_B,
    SPOT,
    SURE,
    THROUGH,
    TURN,
    TURNS,
    WIDE,
    WITHIN,
)
from bellcrank.contact.pieces import COVER, REACH, RIM
from bellcrank.contact.rim_numbers import CLOSED, beyond_sample, same_way
from bellcrank.contact.tree import AXIS, BALL
from bellcrank.contact.tree_layout import LEAVES_A, LEAVES_B, LOOKED, WIDTH_A
from bellcrank.contact.turning import turned_back
from bellcrank.contact.units import part

if TYPE_CHECKING:
    from bellcrank.contact.sampled import Sampled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGE = 1e300
LEVEL = 1e-7
"""Samples are in one plane but for so much of their distance, and of the length of normals."""
ALIGNED = 1e-9
"""Sum of two opposite directions: how straight an edge is."""
ACROSS = 0.99
"""Cosine between two lines that are not the same."""
ANY = 4.0
"""More than normals can differ by."""


@dataclass(frozen=True, eq=False)
class Facing:
    """What a search of contact points takes of a sampled surface besides its pieces, made once.

    turns: Of nodes (nodes, TURNS). marks: Of places, normals and whether they are sharp (places, MARKS). places: Of
    each sample. neighbours: Places around each place.
    """

    turns: Floats
    marks: Floats
    places: Ints
    neighbours: Ints

    @staticmethod
    def of(surface: Sampled) -> Facing:
        """From the tree of a surface."""
        order = surface.tree.order
        marks = np.zeros((len(order), MARKS))
        marks[:, :3], marks[:, SHARP] = surface.normals[order], surface.sharp[order]
        marks[:, INSIDE] = no_corners(surface)[order]
        # The same places as in the pieces: of a sample that stands twice one counts.
        places = surface.tree.places
        neighbours = np.ascontiguousarray(places[surface.neighbours[order]][:, :NEIGHBOURS])
        return Facing(turns(surface), marks, places, neighbours)


def turns(surface: Sampled) -> Floats:
    """What is told of normals and curvatures in each node, also between its samples (nodes, TURNS)."""
    tree, order = surface.tree, surface.tree.order
    far, n, H = surface._fitted
    bent = COVER * far * np.abs(H).sum(axis=2).max(axis=1)
    edges = surface.sharp.copy()
    edges[surface.rim.samples] = True
    own = np.where(edges, ANY, bent)[order]
    # H is that of the tangent plane: its third value, along the normal, is moved away.
    large = 2.0 * np.abs(H).max()
    bends = np.linalg.eigvalsh(-H + large * np.einsum("ij,ik->ijk", n, n))[order, :2]
    least = bends[:, 0]
    sure = least - NOISE * np.abs(bends).sum(axis=1)
    inner = within_sides(surface, edges)[order]
    found = np.zeros((2 * tree.leaves - 1, TURNS))
    level = tree.leaves
    while level:
        here = slice(level - 1, 2 * level - 1)
        off = n[order].reshape(level, -1, 3) - tree.nodes[here, None, AXIS : AXIS + 3]
        found[here, TURN] = (np.linalg.norm(off, axis=2) + own.reshape(level, -1)).max(axis=1)
        found[here, LEAST] = least.reshape(level, -1).min(axis=1)
        found[here, SURE] = sure.reshape(level, -1).min(axis=1)
        found[here, WIDE] = far[order].reshape(level, -1).max(axis=1)
        found[here, INNER] = inner.reshape(level, -1).all(axis=1)
        level //= 2
    return found


def no_corners(surface: Sampled) -> NDArray[np.bool_]:
    """Which samples no plane meets first: on edges between two others in line, on sides between two such pairs.

    Of a straight line on a smooth surface, as along a cylinder, the surface between samples may be lower.
    """
    far, _, H = surface._fitted
    found = np.zeros(len(far), np.bool_)
    asked = np.flatnonzero(surface.sharp | (far * np.abs(H).max(axis=(1, 2)) < LEVEL))
    for some in np.array_split(asked, 1 + len(asked) // 100_000):
        ways = surface.points[surface.neighbours[some, :NEIGHBOURS]] - surface.points[some, None]
        size = np.linalg.norm(ways, axis=2, keepdims=True)
        # A sample may be its own neighbour: no direction at all, in line with none.
        ways = np.where(size > 0.0, ways / np.where(size > 0.0, size, 1.0), np.nan)
        first, second = np.zeros((len(some), 3)), np.zeros(len(some), np.bool_)
        for k in range(1, NEIGHBOURS):
            for m in range(k):
                in_line = np.linalg.norm(ways[:, m] + ways[:, k], axis=1) < ALIGNED
                new = in_line & ~first.any(axis=1)
                second |= in_line & (np.abs(np.einsum("ij,ij->i", first, ways[:, k])) < ACROSS) & ~new
                first[new] = ways[new, k]
        found[some] = np.where(surface.sharp[some], first.any(axis=1), second)
    return found


def within_sides(surface: Sampled, edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which samples lie within flat sides, all around them being in one plane and none on an edge."""
    far, n, _ = surface._fitted
    found = ~edges
    for near in surface.neighbours.T:
        off = np.einsum("ij,ij->i", surface.points[near] - surface.points, n)
        found &= (np.abs(off) < LEVEL * far) & (np.abs(n[near] - n).max(axis=1) < LEVEL) & ~edges[near]
    return found


@part
def faces(
    header: Ints,
    given: Floats,
    nodes_a: Floats,
    turns_a: Floats,
    k: int,
    nodes_b: Floats,
    turns_b: Floats,
    reached: float,
    flat: float,
    pad: Floats,
    stack: Ints,
    base: int,
) -> bool:
    """Whether any leaf of the other tree is near a node and may have a normal opposed to one of it, or lie flat on it.

    flat: Curvature of the gap that is not flat any more [1/m].
    """
    leaves = header[LEAVES_B]
    seen(given, nodes_a, k, pad, SPOT)
    ax, ay, az = turned_back(given, nodes_a[k, AXIS], nodes_a[k, AXIS + 1], nodes_a[k, AXIS + 2])
    top = base + 1
    stack[base] = 0
    while top > base:
        top -= 1
        m = stack[top]
        header[LOOKED] += 1
        dx = pad[SPOT] - nodes_b[m, 0]
        dy = pad[SPOT + 1] - nodes_b[m, 1]
        dz = pad[SPOT + 2] - nodes_b[m, 2]
        far = reached + nodes_a[k, BALL] + nodes_b[m, BALL]
        if dx * dx + dy * dy + dz * dz >= far * far:
            continue
        ox = ax + nodes_b[m, AXIS]
        oy = ay + nodes_b[m, AXIS + 1]
        oz = az + nodes_b[m, AXIS + 2]
        turn = turns_a[k, 0] + turns_b[m, 0] + given[FACING]
        if ox * ox + oy * oy + oz * oz > turn * turn and turns_a[k, 1] + turns_b[m, 1] > flat:
            continue
        if m >= leaves - 1:
            return True
        stack[top] = 2 * m + 2
        stack[top + 1] = 2 * m + 1
        top += 2
    return False


@part
def above_open(
    given: Floats, table_a: Floats, i: int, table_b: Floats, j: int, height: float, pad: Floats
) -> float:
    """The height of a sample, at pad[SPOT], above an open surface: what is beyond its rim or behind it is not below."""
    out = -LARGE
    if table_b[j, RIM] >= 0.0:
        out = beyond_sample(table_b, j, pad[SPOT], pad[SPOT + 1], pad[SPOT + 2])
    if out > 0.0:
        return math.sqrt(out * out + height * height)
    # What is deeper than the rim is near has come around it.
    deep = height < out or -height > THROUGH * given[BAND] / given[FACING]
    if height < 0.0 and (deep or same_way(given, table_a, i, table_b, j)):
        return -height
    return height


@part
def low_facing(
    header: Ints,
    given: Floats,
    table_a: Floats,
    nodes_a: Floats,
    turns_a: Floats,
    table_b: Floats,
    nodes_b: Floats,
    turns_b: Floats,
    bound: float,
    flat: float,
    low: Ints,
    measures: Floats,
    pad: Floats,
    stack: Ints,
    slots: Floats,
    known: int,
) -> int:
    """Samples less than the bound above a sampled surface that may face it, with the sample below each; how many.

    known: Contact points of before, beside which those are left out that are none (:mod:`alone`).
    """
    leaves, width = header[LEAVES_A], header[WIDTH_A]
    reached = bound + given[SPACING_B]
    count = 0
    last = -1
    top = 1
    stack[0] = 0
    while top > 0:
        top -= 1
        k = stack[top]
        if header[OUTWARDS] == 2 and alone(nodes_a, turns_a, k, slots, 0, known, pad):
            continue
        if not faces(
            header, given, nodes_a, turns_a, k, nodes_b, turns_b, reached, flat, pad, stack, top + 2
        ):
            continue
        if k >= leaves - 1:
            j = k - (leaves - 1)
            for i in range(j * width, (j + 1) * width):
                if table_a[i, REACH] > 0.0 and not (
                    header[OUTWARDS] == 2 and sample_alone(table_a, turns_a, k, i, slots, 0, known, pad)
                ):
                    seen(given, table_a, i, pad, SPOT)
                    pad[WITHIN] = reached
                    near = nearest_below(header, given, table_b, nodes_b, last, pad, stack, top + 2)
                    if near >= 0:
                        last = near
                        h = above_quadric(table_b, near, pad, SPOT)
                        if table_b[near, RIM] > CLOSED:
                            h = above_open(given, table_a, i, table_b, near, h, pad)
                        if h < bound:
                            low[count, PLACE] = i
                            low[count, PARTNER] = near
                            measures[count, HEIGHT] = h
                            count += 1
            continue
        stack[top] = 2 * k + 2
        stack[top + 1] = 2 * k + 1
        top += 2
    return count


__all__ = ["Facing", "low_facing"]
