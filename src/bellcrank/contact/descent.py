"""Closest points of two sampled surfaces in one piece of compiled code: trees, then Newton's method.

What is looked for in the trees is not the nearest pair of samples. Of two surfaces that nearly touch, that pair is
decided by which samples happen to face each other, among about n^(1/3) of n; a search for it opens as many leaves.
Instead every sample of a is measured above the quadrics around the samples of b, which is smooth, so that
a few nodes of each level are opened. Nodes of b are widened by the surface between their samples. All places
whose height comes within what the quadrics may err of the least one are refined, and the closest is the answer.
Newton's method is that of :mod:`bellcrank.contact.local`, from the samples whose weights reach the point.

Source: Larsen, Gottschalk, Lin, Manocha (2000) for the search of two trees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.pieces import (
    ANSWER,
    APART,
    BAND,
    BENT,
    BEST,
    COLUMNS,
    CONE,
    DEEP,
    FACE,
    GIVEN,
    HEADER,
    HEIGHTS,
    LEAVES_A,
    LEAVES_B,
    MEASURED,
    MIDDLE,
    NORMAL,
    SAMPLE,
    SLACK,
    SLOPES,
    SPACING_A,
    SPACING_B,
    START_A,
    START_B,
    VISITED,
    WIDE_BALL,
    WIDE_DRUM,
    WIDE_HALF,
    WIDTH_A,
    WIDTH_B,
)
from bellcrank.contact.refinement import FOUND, WIDE_PAD, refined
from bellcrank.contact.tree import AXIS, BALL, DRUM, HALF
from bellcrank.contact.tree_layout import STACK
from bellcrank.simulate.compiled import Unit, matrix, part, vector

if TYPE_CHECKING:
    from bellcrank.contact.sampled import Sampled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BETWEEN = 0.25
"""How far the surface may lie below the lowest sample over its bulge: half the square of COVER, and some more."""
PLACES = 8
"""Places that are refined at most."""


@part
def parted(
    nodes_a: Floats, i: int, nodes_b: Floats, j: int, given: Floats, bound: float, pad: Floats
) -> float:
    """The least distance of samples of a and a piece of b; stops looking where it is not below the bound.

    Below zero, where they overlap, it is the least height above b along the axis of its node.
    """
    x = nodes_b[j, 0]
    y = nodes_b[j, 1]
    z = nodes_b[j, 2]
    dx = given[0] * x + given[1] * y + given[2] * z + given[9] - nodes_a[i, 0]
    dy = given[3] * x + given[4] * y + given[5] * z + given[10] - nodes_a[i, 1]
    dz = given[6] * x + given[7] * y + given[8] * z + given[11] - nodes_a[i, 2]
    square = dx * dx + dy * dy + dz * dz
    pad[MIDDLE] = square
    balls = nodes_a[i, BALL] + nodes_b[j, WIDE_BALL]
    far = balls + max(0.0, bound)
    if square >= far * far:
        return math.sqrt(square) - balls  # type: ignore[no-any-return]
    # The axes in the frame of a.
    ax = nodes_a[i, AXIS]
    ay = nodes_a[i, AXIS + 1]
    az = nodes_a[i, AXIS + 2]
    x = nodes_b[j, AXIS]
    y = nodes_b[j, AXIS + 1]
    z = nodes_b[j, AXIS + 2]
    bx = given[0] * x + given[1] * y + given[2] * z
    by = given[3] * x + given[4] * y + given[5] * z
    bz = given[6] * x + given[7] * y + given[8] * z
    cosine = ax * bx + ay * by + az * bz
    sine = math.sqrt(max(0.0, 1.0 - cosine * cosine))
    cosine = abs(cosine)
    along_a = ax * dx + ay * dy + az * dz
    along_b = bx * dx + by * dy + bz * dz
    half_a = nodes_a[i, HALF]
    drum_a = nodes_a[i, DRUM]
    half_b = nodes_b[j, WIDE_HALF]
    drum_b = nodes_b[j, WIDE_DRUM]
    thick_a = half_a + min(nodes_b[j, WIDE_BALL], cosine * half_b + sine * drum_b)
    thick_b = half_b + min(nodes_a[i, BALL], cosine * half_a + sine * drum_a)
    # Apart along an axis and apart across it: both at once.
    up_a = max(0.0, abs(along_a) - thick_a)
    up_b = max(0.0, abs(along_b) - thick_b)
    side_a = drum_a + min(nodes_b[j, WIDE_BALL], drum_b + sine * half_b)
    side_b = drum_b + min(nodes_a[i, BALL], drum_a + sine * half_a)
    side_a = max(0.0, math.sqrt(max(0.0, square - along_a * along_a)) - side_a)
    side_b = max(0.0, math.sqrt(max(0.0, square - along_b * along_b)) - side_b)
    best = max(up_a * up_a + side_a * side_a, up_b * up_b + side_b * side_b)
    if best > 0.0:
        return math.sqrt(best)
    # Overlapping pieces: how deep can it be?
    return min(0.0, -along_b - thick_b - nodes_b[j, CONE] * (math.sqrt(square) + balls))  # type: ignore[no-any-return]


@part
def measured(table_a: Floats, p: int, table_b: Floats, q: int, given: Floats, pad: Floats) -> float:
    """The height of a sample of a, in pad, above the quadric of one of b, or their distance where it is off it."""
    dx = pad[0] - table_b[q, 0]
    dy = pad[1] - table_b[q, 1]
    dz = pad[2] - table_b[q, 2]
    nx = table_b[q, NORMAL]
    ny = table_b[q, NORMAL + 1]
    nz = table_b[q, NORMAL + 2]
    square = dx * dx + dy * dy + dz * dz
    high = nx * dx + ny * dy + nz * dz
    side = square - high * high
    if side > table_b[q, FACE] * table_b[q, FACE]:
        return math.sqrt(square)
    bent = (
        table_b[q, BENT] * dx * dx
        + table_b[q, BENT + 1] * dy * dy
        + table_b[q, BENT + 2] * dz * dz
        + 2.0
        * (table_b[q, BENT + 3] * dx * dy + table_b[q, BENT + 4] * dx * dz + table_b[q, BENT + 5] * dy * dz)
    )
    height = high - 0.5 * bent
    if height < 0.0:
        if square > given[DEEP] * given[DEEP]:
            return math.sqrt(square)
        # Inside is where the sides face each other; the back of a thin body does not count.
        mx = table_a[p, NORMAL]
        my = table_a[p, NORMAL + 1]
        mz = table_a[p, NORMAL + 2]
        fx = given[0] * mx + given[3] * my + given[6] * mz
        fy = given[1] * mx + given[4] * my + given[7] * mz
        fz = given[2] * mx + given[5] * my + given[8] * mz
        if fx * nx + fy * ny + fz * nz > 0.0:
            return math.sqrt(square)
    return height  # type: ignore[no-any-return]


@part
def seen_from_b(given: Floats, table: Floats, p: int, pad: Floats) -> None:
    """A sample of a in the frame of b."""
    x = table[p, 0] - given[9]
    y = table[p, 1] - given[10]
    z = table[p, 2] - given[11]
    pad[0] = given[0] * x + given[3] * y + given[6] * z
    pad[1] = given[1] * x + given[4] * y + given[7] * z
    pad[2] = given[2] * x + given[5] * y + given[8] * z


@part
def taken(
    table: Floats, p: int, q: int, h: float, found: Ints, count: int, given: Floats, pad: Floats
) -> int:
    """Put a pair among the places, the lowest of each neighbourhood; how many there are."""
    if h < pad[BEST]:
        pad[BEST] = h
    worst = 0
    for k in range(count):
        s = found[2 * k]
        dx = table[p, 0] - table[s, 0]
        dy = table[p, 1] - table[s, 1]
        dz = table[p, 2] - table[s, 2]
        if dx * dx + dy * dy + dz * dz < given[APART] * given[APART]:
            if h < pad[HEIGHTS + k]:
                found[2 * k] = p
                found[2 * k + 1] = q
                pad[HEIGHTS + k] = h
            return count
        if pad[HEIGHTS + k] > pad[HEIGHTS + worst]:
            worst = k
    place = count
    if count >= PLACES:
        place = worst
        if h >= pad[HEIGHTS + worst]:
            return count
    found[2 * place] = p
    found[2 * place + 1] = q
    pad[HEIGHTS + place] = h
    return min(count + 1, PLACES)


@part
def lowest_places(
    header: Ints,
    given: Floats,
    table_a: Floats,
    nodes_a: Floats,
    table_b: Floats,
    nodes_b: Floats,
    found: Ints,
    pad: Floats,
    stack: Ints,
    bounds: Floats,
) -> int:
    """The samples of a lowest above b, those of b below them, and how many."""
    leaves_a, leaves_b = header[LEAVES_A], header[LEAVES_B]
    width_a, width_b = header[WIDTH_A], header[WIDTH_B]
    slack = given[SLACK]
    band = given[BAND]
    visited = 1
    tried = 0
    count = 0
    pad[BEST] = 1e300
    if header[START_A] >= 0:
        seen_from_b(given, table_a, header[START_A], pad)
        h = measured(table_a, header[START_A], table_b, header[START_B], given, pad)
        count = taken(table_a, header[START_A], header[START_B], h, found, count, given, pad)
    top = 1
    stack[0] = 0
    stack[1] = 0
    bounds[0] = -1e300
    while top > 0:
        top -= 1
        i = stack[2 * top]
        j = stack[2 * top + 1]
        if bounds[top] >= max(pad[BEST] + slack, band):
            continue
        leaf_i = i >= leaves_a - 1
        leaf_j = j >= leaves_b - 1
        if leaf_i and leaf_j:
            a = i - (leaves_a - 1)
            b = j - (leaves_b - 1)
            for p in range(a * width_a, (a + 1) * width_a):
                seen_from_b(given, table_a, p, pad)
                h = 1e300
                q = 0
                for m in range(b * width_b, (b + 1) * width_b):
                    one = measured(table_a, p, table_b, m, given, pad)
                    if one < h:
                        h = one
                        q = m
                if h < max(pad[BEST] + slack, band):
                    count = taken(table_a, p, q, h, found, count, given, pad)
            tried += width_a * width_b
            continue
        # The larger node is opened, the part whose middle is nearer looked at first.
        bound = max(pad[BEST] + slack, band)
        visited += 2
        if leaf_j or (not leaf_i and nodes_a[i, BALL] >= nodes_b[j, BALL]):
            d1 = parted(nodes_a, 2 * i + 1, nodes_b, j, given, bound, pad)
            c1 = pad[MIDDLE]
            d2 = parted(nodes_a, 2 * i + 2, nodes_b, j, given, bound, pad)
            nearer = c1 <= pad[MIDDLE]
            near = 2 * i + 1 if nearer else 2 * i + 2
            to_near = d1 if nearer else d2
            to_other = d2 if nearer else d1
            if to_other < bound:
                stack[2 * top] = 4 * i + 3 - near
                stack[2 * top + 1] = j
                bounds[top] = to_other
                top += 1
            if to_near < bound:
                stack[2 * top] = near
                stack[2 * top + 1] = j
                bounds[top] = to_near
                top += 1
        else:
            d1 = parted(nodes_a, i, nodes_b, 2 * j + 1, given, bound, pad)
            c1 = pad[MIDDLE]
            d2 = parted(nodes_a, i, nodes_b, 2 * j + 2, given, bound, pad)
            nearer = c1 <= pad[MIDDLE]
            near = 2 * j + 1 if nearer else 2 * j + 2
            to_near = d1 if nearer else d2
            to_other = d2 if nearer else d1
            if to_other < bound:
                stack[2 * top] = i
                stack[2 * top + 1] = 4 * j + 3 - near
                bounds[top] = to_other
                top += 1
            if to_near < bound:
                stack[2 * top] = i
                stack[2 * top + 1] = near
                bounds[top] = to_near
                top += 1
    header[VISITED] = visited
    header[MEASURED] = tried
    kept = 0
    for k in range(count):
        if pad[HEIGHTS + k] <= max(pad[BEST] + slack, band):
            found[2 * kept] = found[2 * k]
            found[2 * kept + 1] = found[2 * k + 1]
            pad[HEIGHTS + kept] = pad[HEIGHTS + k]
            kept += 1
    return kept


@Unit
def descend(
    header_at: Any,
    found_at: Any,
    given_at: Any,
    table_a_at: Any,
    nodes_a_at: Any,
    table_b_at: Any,
    nodes_b_at: Any,
    pad_at: Any,
    bounds_at: Any,
    stack_at: Any,
    answer_at: Any,
) -> int:
    """The places where two sampled surfaces are closest, each refined; how many."""
    header = vector(header_at, HEADER)
    found = vector(found_at, 2 * PLACES)
    given = vector(given_at, GIVEN)
    leaves_a, leaves_b = header[LEAVES_A], header[LEAVES_B]
    table_a = matrix(table_a_at, 0, leaves_a * header[WIDTH_A], SAMPLE)
    nodes_a = matrix(nodes_a_at, 0, 2 * leaves_a - 1, COLUMNS)
    table_b = matrix(table_b_at, 0, leaves_b * header[WIDTH_B], SAMPLE)
    nodes_b = matrix(nodes_b_at, 0, 2 * leaves_b - 1, COLUMNS)
    pad = vector(pad_at, WIDE_PAD)
    bounds = vector(bounds_at, STACK)
    rows = matrix(stack_at, 0, 4, 2 * STACK)
    stack = rows[0]
    answer = vector(answer_at, ANSWER * PLACES)
    count = lowest_places(header, given, table_a, nodes_a, table_b, nodes_b, found, pad, stack, bounds)
    for k in range(count):
        answer[ANSWER * k + 11] = pad[HEIGHTS + k]
        answer[ANSWER * k + 10] = -1.0
        if pad[HEIGHTS + k] <= pad[BEST] + given[SLACK]:
            for m in range(3):
                pad[SLOPES + 4 + m] = table_a[found[2 * k], m]
                pad[SLOPES + 12 + m] = table_b[found[2 * k + 1], m]
            how = refined(
                given, table_a, nodes_a, leaves_a, header[WIDTH_A], given[SPACING_A],
                table_b, nodes_b, leaves_b, header[WIDTH_B], given[SPACING_B],
                0, 0, 2.0, 0.0, 0.0, 0.0, pad, stack, rows[1], rows[2], rows[3], answer, ANSWER * k,
            )  # fmt: skip
            # The place must be that of the samples.
            away = min(given[SPACING_A], given[SPACING_B]) + 4.0 * given[SLACK]
            if how == FOUND and abs(answer[ANSWER * k] - answer[ANSWER * k + 11]) <= away:
                answer[ANSWER * k + 10] = 1.0
    return count


@dataclass(frozen=True)
class Place:
    """Where two surfaces are close: gap, normal from a to b in the frame of a, points in each own frame, samples.

    height: Of the sample of a above b [m]. settled: Whether Newton's method found the place; otherwise the gap is the
    height.
    """

    gap: float
    normal: Floats
    x: Floats
    y: Floats
    samples: tuple[int, int]
    height: float
    settled: bool


class Descent:
    """Searches for the closest points of two sampled surfaces; keeps scratch, so one thread uses it at a time."""

    def __init__(self, a: Sampled, b: Sampled, near: float, deep: float) -> None:
        """near: Places closer than this are one [m]. deep: Overlaps that are looked for [m]."""
        self.a, self.b = a, b
        self._header, self._given = np.zeros(HEADER, np.int64), np.zeros(GIVEN)
        self._header[:4] = a.tree.leaves, a.tree.width, b.tree.leaves, b.tree.width
        self._given[SLACK:] = BETWEEN * (a.bulge + b.bulge), 0.0, deep, near, a.spacing, b.spacing
        self._found, self._answer = np.zeros(2 * PLACES, np.int64), np.zeros((PLACES, ANSWER))
        self._scratch = np.zeros(WIDE_PAD), np.zeros(STACK), np.zeros((4, 2 * STACK), np.int64)
        pad, bounds, stack = self._scratch
        arrays = (
            *(self._header, self._found, self._given),
            *(a.pieces.table, a.pieces.nodes, b.pieces.table, b.pieces.nodes),
            *(pad, bounds, stack, self._answer),
        )
        self._pointers = tuple(array.__array_interface__["data"][0] for array in arrays)

    @property
    def slack(self) -> float:
        """How far the surfaces may come below the height of the lowest sample [m]."""
        return float(self._given[SLACK])

    @property
    def visited(self) -> int:
        """Pairs of nodes looked at by the last search."""
        return int(self._header[VISITED])

    @property
    def measured(self) -> int:
        """Pairs of samples looked at by the last search."""
        return int(self._header[MEASURED])

    def __call__(
        self, R: Floats, c: Floats, start: tuple[int, int] | None = None, band: float = -math.inf
    ) -> list[Place]:
        """Places that may be the closest, and those lower than `band`; those refined first, the closest of them first.

        R, c: Pose of b seen from a. start: Samples to begin with, such as those of the last time.
        """
        given, header = self._given, self._header
        given[:9], given[9:12], given[BAND] = R.ravel(), c, max(band, -1e300)
        header[START_A] = header[START_B] = -1
        if start is not None and min(start) >= 0:
            header[START_A], header[START_B] = self.a.tree.places[start[0]], self.b.tree.places[start[1]]
        count = descend.at(self._pointers)
        places = [self._place(k) for k in range(count)]
        return sorted(places, key=lambda place: (not place.settled, place.gap))

    def _place(self, k: int) -> Place:
        row = self._answer[k].tolist()
        p, q = self._found[2 * k : 2 * k + 2].tolist()
        samples = int(self.a.tree.order[p]), int(self.b.tree.order[q])
        if row[10] > 0.0:
            numbers = np.array(row)
            return Place(row[0], numbers[1:4], numbers[4:7], numbers[7:10], samples, row[11], True)
        x, y = self.a.points[samples[0]], self.b.points[samples[1]]
        return Place(row[11], self.a.normals[samples[0]], x, y, samples, row[11], False)


__all__ = ["Descent", "Place"]
