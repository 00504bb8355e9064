"""Closest points of two sampled surfaces in one piece of compiled code: trees, then Newton's method.

What is looked for in the trees is not the nearest pair of samples. Of two surfaces that nearly touch, that pair is
decided by which samples happen to face each other, among about n^(1/3) of n; a search for it opens as many leaves.
Instead every sample of a is measured above the quadrics around the samples of b, which is smooth, so that
a few nodes of each level are opened (:mod:`bellcrank.contact.tree_pairs`). All places whose height comes within what
the quadrics may err of the least one are refined, and the closest is the answer.
Newton's method is that of :mod:`bellcrank.contact.local`, from the samples whose weights reach the point.

Source: Larsen, Gottschalk, Lin, Manocha (2000) for the search of two trees.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.covering import settles
from bellcrank.contact.meeting_layout import TURNS
from bellcrank.contact.pieces import (
    ANSWER,
    BAND,
    BEST,
    COLUMNS,
    FOLLOW,
    GIVEN,
    HEADER,
    HEIGHTS,
    LEAVES_A,
    LEAVES_B,
    MEASURED,
    PATCHES_A,
    PATCHES_B,
    SAMPLE,
    SLACK,
    SLOPES,
    SPACING_A,
    SPACING_B,
    START_A,
    START_B,
    VISITED,
    WIDTH_A,
    WIDTH_B,
)
from bellcrank.contact.refinement import FOUND, WIDE_PAD, refined
from bellcrank.contact.staying import CONVEX, KNOWN, OFTEN, USED, VALID, cleared, rounded, stayed
from bellcrank.contact.tree_pairs import PLACES, QUEUE, lowest_places
from bellcrank.contact.units import Unit, matrix, part, vector

if TYPE_CHECKING:
    from bellcrank.contact.sampled import Sampled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BETWEEN = 0.25
"""How far the surface may lie below the lowest sample over its bulge: half the square of COVER, and some more."""


@part
def descended(
    header: Ints,
    found: Ints,
    given: Floats,
    table_a: Floats,
    nodes_a: Floats,
    table_b: Floats,
    nodes_b: Floats,
    pad: Floats,
    bounds: Floats,
    rows: Ints,
    answer: Floats,
) -> int:
    """The places where two sampled surfaces are closest, each refined; how many."""
    stack = rows[0]
    count = lowest_places(header, given, table_a, nodes_a, table_b, nodes_b, found, pad, stack, bounds, QUEUE)
    for k in range(count):
        answer[ANSWER * k + 11] = pad[HEIGHTS + k]
        answer[ANSWER * k + 10] = -1.0
        if pad[HEIGHTS + k] <= pad[BEST] + given[SLACK]:
            for m in range(3):
                pad[SLOPES + 4 + m] = table_a[found[2 * k], m]
                pad[SLOPES + 12 + m] = table_b[found[2 * k + 1], m]
            how = refined(
                given, table_a, nodes_a, header[LEAVES_A], header[WIDTH_A], given[SPACING_A],
                table_b, nodes_b, header[LEAVES_B], header[WIDTH_B], given[SPACING_B],
                0, 0, header[PATCHES_A], header[PATCHES_B], 0, 2.0, 0.0, 0.0, 0.0,
                pad, stack, rows[1], rows[2], rows[3], answer, ANSWER * k, 0,
            )  # fmt: skip
            # The place must be that of the samples.
            away = min(given[SPACING_A], given[SPACING_B]) + 4.0 * given[SLACK]
            if how == FOUND and abs(answer[ANSWER * k] - answer[ANSWER * k + 11]) <= away:
                answer[ANSWER * k + 10] = 1.0
    return count


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
    """The places where two sampled surfaces are closest, each refined; or only the closest, where it has stayed."""
    header = vector(header_at, HEADER)
    found = vector(found_at, 2 * PLACES)
    given = vector(given_at, GIVEN)
    leaves_a, leaves_b = header[LEAVES_A], header[LEAVES_B]
    all_a, all_b = 2 * leaves_a - 1, 2 * leaves_b - 1
    table_a = matrix(table_a_at, 0, leaves_a * header[WIDTH_A], SAMPLE)
    nodes_a = matrix(nodes_a_at, 0, all_a, COLUMNS)
    table_b = matrix(table_b_at, 0, leaves_b * header[WIDTH_B], SAMPLE)
    nodes_b = matrix(nodes_b_at, 0, all_b, COLUMNS)
    pad = vector(pad_at, WIDE_PAD)
    bounds = vector(bounds_at, QUEUE)
    rows = matrix(stack_at, 0, 4, 2 * QUEUE)
    answer = vector(answer_at, ANSWER * PLACES)
    if header[FOLLOW] == 0:
        return descended(header, found, given, table_a, nodes_a, table_b, nodes_b, pad, bounds, rows, answer)
    known = matrix(pad_at, WIDE_PAD, 1, KNOWN)[0]
    sampled = header[PATCHES_A] == 0 and header[PATCHES_B] == 0
    if sampled and stayed(header, found, given, table_a, nodes_a, table_b, nodes_b, pad, rows, answer, known):
        return 1
    turns_a = matrix(pad_at, WIDE_PAD + KNOWN, all_a, TURNS)
    turns_b = matrix(pad_at, WIDE_PAD + KNOWN + TURNS * all_a, all_b, TURNS)
    count = descended(header, found, given, table_a, nodes_a, table_b, nodes_b, pad, bounds, rows, answer)
    known[VALID] = 0.0
    if count == 1 and answer[10] > 0.0:
        cleared(
            header,
            given,
            table_a,
            nodes_a,
            turns_a,
            table_b,
            nodes_b,
            turns_b,
            pad,
            rows[0],
            bounds,
            answer,
            known,
        )
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


def fill(header: Ints, given: Floats, a: Sampled, b: Sampled, near: float, deep: float) -> None:
    """What stays the same from search to search; near and deep as of a :class:`Descent`."""
    header[:4] = a.tree.leaves, a.tree.width, b.tree.leaves, b.tree.width
    header[[PATCHES_A, PATCHES_B]] = settles(a), settles(b)
    size = float(b.bounding_radius())
    given[SLACK:] = BETWEEN * (a.bulge + b.bulge), -1e300, deep, near, a.spacing, b.spacing, size


class Descent:
    """Searches for the closest points of two sampled surfaces; keeps scratch, so one thread uses it at a time."""

    def __init__(self, a: Sampled, b: Sampled, near: float, deep: float) -> None:
        """near: Places closer than this are one [m]. deep: Overlaps that are looked for [m]."""
        self.a, self.b = a, b
        self._header, self._given = np.zeros(HEADER, np.int64), np.zeros(GIVEN)
        fill(self._header, self._given, a, b, near, deep)
        self._found, self._answer = np.zeros(2 * PLACES, np.int64), np.zeros((PLACES, ANSWER))
        self._scratch = np.zeros(WIDE_PAD + KNOWN), np.zeros(QUEUE), np.zeros((4, 2 * QUEUE), np.int64)
        self._pointers = self._addresses(self._scratch[0])
        self._following: tuple[Floats, tuple[int, ...]] | None = None

    def _addresses(self, pad: Floats) -> tuple[int, ...]:
        a, b = self.a, self.b
        _, bounds, stack = self._scratch
        arrays = (
            *(self._header, self._found, self._given),
            *(a.pieces.table, a.pieces.nodes, b.pieces.table, b.pieces.nodes),
            *(pad, bounds, stack, self._answer),
        )
        return tuple(array.__array_interface__["data"][0] for array in arrays)

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

        There are none where the search ended at its limit, as on flat sides that lie within the band of each other.
        R, c: Pose of b seen from a. start: Samples to begin with, such as those of the last time.
        """
        given, header = self._given, self._header
        given[:9], given[9:12], given[BAND] = R.ravel(), c, max(band, -1e300)
        header[FOLLOW] = 0
        header[START_A] = header[START_B] = -1
        if start is not None and min(start) >= 0:
            header[START_A], header[START_B] = self.a.tree.places[start[0]], self.b.tree.places[start[1]]
        count = max(0, descend.at(self._pointers))
        places = [self._place(k) for k in range(count)]
        return sorted(places, key=lambda place: (not place.settled, place.gap))

    def follow(self, R: Floats, c: Floats) -> Place | None:
        """The closest points after a motion since the last call; None where the search finds none.

        Where the bodies have moved by less than what kept all other places away, the points of the last time are
        refined; otherwise, and at the first call, the trees are searched.
        """
        given, header = self._given, self._header
        given[:9], given[9:12], given[BAND] = R.ravel(), c, -1e300
        if self._following is None:
            header[START_A] = header[START_B] = -1
            turns = self.a.facing.turns.ravel(), self.b.facing.turns.ravel()
            pad = np.concatenate([np.zeros(WIDE_PAD + KNOWN), *turns])
            pad[WIDE_PAD + USED] = OFTEN
            pad[WIDE_PAD + CONVEX] = float(rounded(self.a) and (self.a is self.b or rounded(self.b)))
            self._following = pad, self._addresses(pad)
        # Points on patches are settled without samples around them, by which places are told apart.
        header[FOLLOW] = int(header[PATCHES_A] == 0 and header[PATCHES_B] == 0)
        count = descend.at(self._following[1])
        if count == 1:
            header[START_A], header[START_B] = self._found[0], self._found[1]
            return self._place(0)
        places = sorted(
            (self._place(k) for k in range(count)), key=lambda place: (not place.settled, place.gap)
        )
        if not places:
            return None
        header[START_A], header[START_B] = (
            self.a.tree.places[places[0].samples[0]],
            self.b.tree.places[places[0].samples[1]],
        )
        return places[0]

    def _place(self, k: int) -> Place:
        row = self._answer[k].tolist()
        p, q = self._found[2 * k : 2 * k + 2].tolist()
        samples = int(self.a.tree.order[p]), int(self.b.tree.order[q])
        if row[10] > 0.0:
            numbers = np.array(row)
            return Place(row[0], numbers[1:4], numbers[4:7], numbers[7:10], samples, row[11], True)
        x, y = self.a.points[samples[0]], self.b.points[samples[1]]
        return Place(row[11], self.a.normals[samples[0]], x, y, samples, row[11], False)


__all__ = ["Descent", "Place", "fill"]
