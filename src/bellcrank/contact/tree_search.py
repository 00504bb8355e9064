"""Searches of bounding-volume trees, in compiled code.

They go down the tree, nearest part first, and leave out parts that cannot hold a better sample (branch and bound).
A good start, such as the samples of the last time, leaves out nearly everything.

Source: Larsen, Gottschalk, Lin, Manocha (2000) for the search of two trees.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.tree import NODE, Tree
from bellcrank.contact.tree_heights import low_samples
from bellcrank.contact.tree_layout import (
    BOUND,
    GIVEN,
    HEADER,
    KIND,
    LEAVES_A,
    LEAVES_B,
    LOOKED,
    N_A,
    N_B,
    OTHER,
    PLANE,
    ROOM,
    SEGMENT,
    STACK,
    WHAT,
    WIDTH_A,
    WIDTH_B,
)
from bellcrank.contact.tree_nearest import near_samples, nearest_pair
from bellcrank.contact.units import Unit, matrix, vector

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WAITING = 4096
"""Pairs of nodes that wait at most."""


@Unit
def search(
    header_at: Any,
    found_at: Any,
    given_at: Any,
    points_a_at: Any,
    nodes_a_at: Any,
    points_b_at: Any,
    nodes_b_at: Any,
    far_at: Any,
    pad_at: Any,
    stack_at: Any,
    bounds_at: Any,
) -> int:
    """One search by kind: lowest sample, all low ones, nearest pair, all near ones; how many were found."""
    header = vector(header_at, HEADER)
    given = vector(given_at, GIVEN)
    found = vector(found_at, 2 * header[ROOM])
    far = vector(far_at, header[ROOM])
    pad = vector(pad_at, 8)
    stack = vector(stack_at, STACK)
    points_a = matrix(points_a_at, 0, header[N_A], 3)
    nodes_a = matrix(nodes_a_at, 0, 2 * header[LEAVES_A] - 1, NODE)
    points_b = matrix(points_b_at, 0, header[N_B], 3)
    nodes_b = matrix(nodes_b_at, 0, 2 * header[LEAVES_B] - 1, NODE)
    what = header[WHAT]
    header[LOOKED] = 0
    if what < 2:
        return low_samples(header, given, points_a, nodes_a, what == 1, found, far, stack)
    if what == 2:
        queue = matrix(stack_at, STACK, 1, 2 * WAITING)
        bounds = vector(bounds_at, WAITING)
        return nearest_pair(
            header,
            given,
            points_a,
            nodes_a,
            points_b,
            nodes_b,
            found,
            stack,
            pad,
            queue[0],
            bounds,
            WAITING,
            0.0,
        )
    return near_samples(header, given, points_a, nodes_a, points_b, nodes_b, found, far, stack, pad)


class Search:
    """Searches over one or two trees; keeps its own scratch, so one thread uses it at a time."""

    def __init__(self, a: Tree, b: Tree | None = None, room: int = 512) -> None:
        self.a, self.b = a, b
        self._header = np.zeros(HEADER, np.int64)
        self._given, self._pad = np.zeros(GIVEN), np.zeros(8)
        self._stack, self._bounds = np.zeros(STACK + 2 * WAITING, np.int64), np.zeros(WAITING)
        self._take_room(room)

    def _take_room(self, room: int) -> None:
        self._found, self._far = np.zeros(2 * room, np.int64), np.zeros(room)
        self._header[ROOM] = room

    def _run(self, what: int, bound: float) -> int:
        a, b = self.a, self.b or self.a
        sizes = (len(a.points), a.leaves, len(b.points), b.leaves, a.width, b.width)
        self._header[[N_A, LEAVES_A, N_B, LEAVES_B, WIDTH_A, WIDTH_B]] = sizes
        self._header[WHAT] = what
        self._given[BOUND] = bound
        arrays = (a.points, a.nodes, b.points, b.nodes)
        return int(
            search(
                self._header,
                self._found,
                self._given,
                *arrays,
                self._far,
                self._pad,
                self._stack,
                self._bounds,
            )
        )

    @property
    def looked(self) -> int:
        """Nodes, or pairs of them, looked at by the last search."""
        return int(self._header[LOOKED])

    def _other(self, kind: int, numbers: Floats) -> None:
        self._header[KIND] = kind
        self._given[OTHER : OTHER + len(numbers)] = numbers

    def lowest(self, kind: int, numbers: Floats, start: int | None = None) -> tuple[int, float]:
        """The sample lowest above a plane (normal, offset) or a segment (middle, half, radius), and its height.

        start: A sample near it, such as that of the last time.
        """
        self._other(kind, numbers)
        bound = math.inf
        if start is not None:
            place = self.a.places[start]
            bound = float(np.nextafter(self._height(kind, numbers, self.a.points[place]), np.inf))
        count = self._run(0, bound)
        place = int(self._found[0]) if count else int(self.a.places[start or 0])
        return int(self.a.order[place]), float(self._given[BOUND])

    @staticmethod
    def _height(kind: int, numbers: Floats, x: Floats) -> float:
        if kind == PLANE:
            return float(numbers[:3] @ x - numbers[3])
        d, u = x - numbers[:3], numbers[3:6]
        square = float(u @ u)
        along = min(1.0, max(-1.0, float(d @ u) / square)) if square > 0.0 else 0.0
        return float(np.linalg.norm(d - along * u) - numbers[6])

    def low(self, kind: int, numbers: Floats, bound: float) -> tuple[Ints, Floats]:
        """All samples less than `bound` above a plane or segment, and their heights."""
        self._other(kind, numbers)
        count = self._all(1, bound)
        samples, once = np.unique(self.a.order[self._found[:count]], return_index=True)
        return samples, self._far[:count][once]

    def _all(self, what: int, bound: float) -> int:
        count = self._run(what, bound)
        if count > self._header[ROOM]:
            self._take_room(2 * count)
            count = self._run(what, bound)
        return count

    def _pose(self, R: Floats, c: Floats) -> None:
        self._given[:9], self._given[9:12] = R.ravel(), c

    def nearest(
        self, R: Floats, c: Floats, start: tuple[int, int] | None = None, bound: float = math.inf
    ) -> tuple[int, int, float]:
        """The samples of a and b nearest to each other, and their distance; -1 where none is within `bound`.

        R, c: Pose of b seen from a. start: A pair near it, such as that of the last time.
        """
        assert self.b is not None
        self._pose(R, c)
        places = (-1, -1)
        if start is not None:
            places = int(self.a.places[start[0]]), int(self.b.places[start[1]])
            gap = self.a.points[places[0]] - (R @ self.b.points[places[1]] + c)
            bound = min(bound, float(np.linalg.norm(gap)))
        count = self._run(2, bound)
        if count:
            places = int(self._found[0]), int(self._found[1])
        if places[0] < 0:
            return -1, -1, math.inf
        return int(self.a.order[places[0]]), int(self.b.order[places[1]]), float(self._given[BOUND])

    def near(self, R: Floats, c: Floats, bound: float) -> tuple[Ints, Ints]:
        """All samples of a within `bound` of one of b, and the nearest one of b to each."""
        assert self.b is not None
        self._pose(R, c)
        count = self._all(3, bound)
        pairs = self._found[: 2 * count].reshape(-1, 2)
        samples, once = np.unique(self.a.order[pairs[:, 0]], return_index=True)
        return samples, self.b.order[pairs[once, 1]]


__all__ = ["PLANE", "SEGMENT", "Search", "Tree"]
