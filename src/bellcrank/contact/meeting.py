"""The search of one pair, a sampled surface and another shape, as one piece of machine code with its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.covering import Covering, narrowest, searched, settles
from bellcrank.contact.curving import settle_on_patch
from bellcrank.contact.descent import fill
from bellcrank.contact.edge_pairs import BALL, CHORD, IN_A_BALL, edges_of
from bellcrank.contact.edge_search import edge_error
from bellcrank.contact.frusta import COLUMNS as FRUSTUM
from bellcrank.contact.gathering import gather
from bellcrank.contact.holding import LARGE
from bellcrank.contact.meeting_layout import (
    BAND,
    BEND,
    BENDS_B,
    BULGE_A,
    BULGE_B,
    CLEARANCE,
    COUNTS,
    CURVED,
    EDGES_A,
    EDGES_B,
    FACING,
    FOLLOW,
    FOUND,
    GIVEN,
    HEADER,
    HOLD,
    LIFT,
    LOST,
    LOW,
    MARGIN_A,
    MARGIN_B,
    MARKS,
    MEASURES,
    MOST_POINTS,
    NEAR_A,
    NEAR_B,
    NEIGHBOURS,
    NODES_A,
    NODES_B,
    OUTWARDS,
    PAD,
    PADS,
    PARTS,
    PATCHES_A,
    PATCHES_B,
    PLACE,
    POINTS,
    RADIUS,
    RIM,
    RIMS_A,
    RIMS_B,
    ROOM_A,
    ROOM_B,
    ROWS,
    ROWS_A,
    ROWS_B,
    SEARCH,
    SEEN,
    SIZE_A,
    SIZE_B,
    SLOPE,
    SLOT,
    SPACING_A,
    SPACING_B,
    STACK,
    TABLE_A,
    TABLE_B,
    TURNS,
    WHICH,
    WIDTH,
)
from bellcrank.contact.overlooked import LEAST
from bellcrank.contact.pieces import COLUMNS, SAMPLE, SLOPES
from bellcrank.contact.pieces import GIVEN as DESCENT_GIVEN
from bellcrank.contact.pieces import HEADER as DESCENT_HEADER
from bellcrank.contact.refinement import BEYOND, CROSSING
from bellcrank.contact.refinement import FOUND as SETTLED
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.several import search
from bellcrank.contact.shapes import Shape
from bellcrank.contact.slots import remember
from bellcrank.contact.smooth import DISTANCE, ROUND, SURFACE, Smooth
from bellcrank.contact.source import Source
from bellcrank.contact.staying import rounded
from bellcrank.contact.tree_layout import (
    KIND,
    LEAVES_A,
    LEAVES_B,
    LOOKED,
    N_A,
    N_B,
    ROOM,
    WHAT,
    WIDTH_A,
    WIDTH_B,
)
from bellcrank.contact.uncarried import NEAR
from bellcrank.contact.units import Unit, matrix, part, vector

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ALL = 3 * MOST_POINTS + 2
"""Slots of before and of now, a trial, one between two of them, and places without a contact point."""


@part
def write_pieces(
    header: Ints, given: Floats, tables: Any, scratch: Any, slot: Floats, piece_a: Floats, piece_b: Floats
) -> None:
    """The surfaces around the points of a slot."""
    table_a, nodes_a, table_b, nodes_b = tables[TABLE_A], tables[NODES_A], tables[TABLE_B], tables[NODES_B]
    stack, near_a, near_b = scratch[STACK], scratch[NEAR_A], scratch[NEAR_B]
    pad, counts = scratch[PAD], scratch[COUNTS]
    counts[0] = -1
    counts[1] = -1
    for k in range(3):
        pad[SLOPES + 4 + k] = slot[4 + k]
        pad[SLOPES + 12 + k] = slot[7 + k]
    if header[PATCHES_A] != 0:
        settle_on_patch(
            header[PATCHES_A], table_a, nodes_a, header[LEAVES_A], header[WIDTH_A], 0, pad, counts, stack, near_a,
            piece_a, 1,
        )  # fmt: skip
    else:
        gather(
            table_a, nodes_a, header[LEAVES_A], header[WIDTH_A], header[ROOM_A], given[MARGIN_A], given[SPACING_A],
            slot[4], slot[5], slot[6], stack, near_a, piece_a, header[RIMS_A],
        )  # fmt: skip
    if header[PATCHES_B] != 0:
        settle_on_patch(
            header[PATCHES_B], table_b, nodes_b, header[LEAVES_B], header[WIDTH_B], 1, pad, counts, stack, near_b,
            piece_b, 1,
        )  # fmt: skip
    elif header[KIND] == SURFACE:
        gather(
            table_b, nodes_b, header[LEAVES_B], header[WIDTH_B], header[ROOM_B], given[MARGIN_B], given[SPACING_B],
            slot[7], slot[8], slot[9], stack, near_b, piece_b, header[RIMS_B],
        )  # fmt: skip


@Unit
def meet(
    header_at: Any,
    numbers_at: Any,
    given_at: Any,
    table_a_at: Any,
    nodes_a_at: Any,
    table_b_at: Any,
    nodes_b_at: Any,
    floats_at: Any,
    pad_at: Any,
    neighbours_at: Any,
    slots_at: Any,
) -> int:
    """Search all contact points, or follow one; what came of it."""
    header = vector(header_at, HEADER)
    given = vector(given_at, GIVEN)
    n_a, n_b = header[N_A], header[N_B]
    table_a = matrix(table_a_at, 0, n_a + header[ROWS_A], SAMPLE)
    nodes_a = matrix(nodes_a_at, 0, 2 * header[LEAVES_A] - 1, COLUMNS)
    table_b = matrix(table_b_at, 0, n_b + header[ROWS_B], SAMPLE)
    nodes_b = matrix(nodes_b_at, 0, 2 * header[LEAVES_B] - 1, COLUMNS)
    marks_a = matrix(floats_at, 0, n_a, MARKS)
    marks_b = matrix(floats_at, MARKS * n_a, n_b, MARKS)
    blanks = matrix(floats_at, MARKS * (n_a + n_b), 1, n_a)
    measures = matrix(floats_at, MARKS * (n_a + n_b) + n_a, n_a, MEASURES)
    rows = matrix(numbers_at, 0, ROWS, WIDTH)
    kept = matrix(numbers_at, ROWS * WIDTH, ALL, 2)
    low = matrix(numbers_at, ROWS * WIDTH + 2 * ALL, n_a, LOW)
    neighbours = matrix(neighbours_at, 0, n_a, NEIGHBOURS)
    pad = vector(pad_at, PADS)
    slots = matrix(slots_at, 0, ALL, SLOT)
    size_a, size_b = header[SIZE_A], header[SIZE_B]
    pieces_a = matrix(slots_at, ALL * SLOT, MOST_POINTS, size_a)
    pieces_b = matrix(slots_at, ALL * SLOT + MOST_POINTS * size_a, MOST_POINTS, size_b)
    behind = MARKS * (n_a + n_b) + n_a + MEASURES * n_a
    all_a, all_b = 2 * header[LEAVES_A] - 1, 2 * header[LEAVES_B] - 1
    turns_a = matrix(floats_at, behind, all_a, TURNS)
    turns_b = matrix(floats_at, behind + TURNS * all_a, all_b, TURNS)
    behind += TURNS * (all_a + all_b)
    frusta = matrix(floats_at, behind, header[PARTS], FRUSTUM)
    behind += header[PARTS] * FRUSTUM
    chords_a = matrix(floats_at, behind, header[EDGES_A], CHORD)
    behind += header[EDGES_A] * CHORD
    chords_b = matrix(floats_at, behind, header[EDGES_B], CHORD)
    behind += header[EDGES_B] * CHORD
    number = (header[EDGES_A] + IN_A_BALL - 1) // IN_A_BALL
    balls_a = matrix(floats_at, behind, number, BALL)
    balls_b = matrix(floats_at, behind + number * BALL, (header[EDGES_B] + IN_A_BALL - 1) // IN_A_BALL, BALL)
    tables = (
        table_a, nodes_a, marks_a, table_b, nodes_b, marks_b, turns_a, turns_b, frusta, chords_a, balls_a, chords_b,
        balls_b,
    )  # fmt: skip
    # What waits in a search of one tree lies where low samples will.
    queue = matrix(numbers_at, ROWS * WIDTH + 2 * ALL, 1, LOW * n_a)
    bounds = matrix(floats_at, MARKS * (n_a + n_b) + n_a, 1, MEASURES * n_a)
    descent = matrix(header_at, HEADER, 1, DESCENT_HEADER)
    pose = matrix(given_at, GIVEN, 1, DESCENT_GIVEN)
    scratch = (pad, rows[0], rows[1], rows[2], rows[3], queue[0], bounds[0], descent[0], pose[0])
    if header[WHAT] == FOLLOW:
        k = header[WHICH]
        pad[CROSSING] = LARGE
        how = remember(header, given, tables, scratch, slots, kept, k)
        if how == SETTLED:
            write_pieces(header, given, tables, scratch, slots[k], pieces_a[k], pieces_b[k])
            return FOUND
        if how != BEYOND:
            return LOST
        ends = edge_error(given, pad)
        return ends if ends != FOUND else BEYOND
    header[LOOKED] = 0
    given[RIM] = LARGE
    came = search(header, given, tables, scratch, neighbours, blanks[0], low, measures, slots, kept)
    given[CLEARANCE] = min(given[CLEARANCE], max(given[RIM], LEAST * given[SPACING_A]))
    points = header[POINTS]
    filled = -1
    for k in range(points):
        if kept[points + k, PLACE] >= 0:
            write_pieces(header, given, tables, scratch, slots[points + k], pieces_a[k], pieces_b[k])
            if filled < 0:
                filled = k
    for k in range(points):
        if filled >= 0 and kept[points + k, PLACE] < 0:
            # An empty slot keeps a piece that is good for something.
            for m in range(size_a):
                pieces_a[k, m] = pieces_a[filled, m]
            for m in range(size_b):
                pieces_b[k, m] = pieces_b[filled, m]
    return came


class Meeting:
    """A sampled surface and another shape, sampled or smooth; keeps scratch, so one thread uses it at a time.

    slots: Contact points (ALL, SLOT), those of before and, behind as many as are asked for, those of
    now; gap, normal from the surface to the other in the surface's frame, the points in each own frame, and the hold.
    kept: Beside them the places of their samples in the trees, -1 for none. pieces: The samples around them.
    """

    def __init__(self, leads: Source, follows: Shape) -> None:
        surface, other = searched(leads, follows, True), searched(follows, leads, False)
        assert isinstance(surface, Sampled)
        self.surface, self.other = surface, other
        partner = other if isinstance(other, Sampled) else surface
        self._smooth = None if isinstance(other, Sampled) else Smooth(other)
        self._header = np.zeros(HEADER + DESCENT_HEADER, np.int64)
        self._given = np.zeros(GIVEN + DESCENT_GIVEN)
        n_a, n_b = len(surface.tree.order), len(partner.tree.order)
        self._fill(surface, partner, n_a, n_b)
        edges = () if self._smooth is not None or self.patched else edges_of(surface, partner)
        if edges:
            self._header[[EDGES_A, EDGES_B]] = len(edges[0]), len(edges[1])
        behind = MARKS * (n_a + n_b) + n_a + MEASURES * n_a
        around = np.zeros(0) if self._smooth is None else self._smooth.frusta.ravel()
        turned = np.concatenate(
            [surface.facing.turns.ravel(), partner.facing.turns.ravel(), around, *(e.ravel() for e in edges)]
        )
        floats = np.zeros(behind + len(turned))
        floats[behind:] = turned
        floats[: MARKS * n_a] = surface.facing.marks.ravel()
        floats[MARKS * n_a : MARKS * (n_a + n_b)] = partner.facing.marks.ravel()
        floats[MARKS * (n_a + n_b) : MARKS * (n_a + n_b) + n_a] = LARGE
        numbers = np.zeros(ROWS * WIDTH + 2 * ALL + LOW * n_a, np.int64)
        self.kept = numbers[ROWS * WIDTH : ROWS * WIDTH + 2 * ALL].reshape(ALL, 2)
        self.kept[:] = -1
        self._places = surface.facing.places, partner.facing.places
        size_a, size_b = (int(self._header[k]) for k in (SIZE_A, SIZE_B))
        slots = np.zeros(ALL * SLOT + MOST_POINTS * (size_a + size_b))
        self.slots = slots[: ALL * SLOT].reshape(ALL, SLOT)
        pieces = slots[ALL * SLOT :]
        self.pieces = (
            pieces[: MOST_POINTS * size_a].reshape(MOST_POINTS, size_a),
            pieces[MOST_POINTS * size_a :].reshape(MOST_POINTS, size_b),
        )
        tables = (surface.pieces.table, surface.pieces.nodes, partner.pieces.table, partner.pieces.nodes)
        self._pad = np.zeros(PADS)
        self._arrays = (
            self._header, numbers, self._given, *tables, floats, self._pad, surface.facing.neighbours, slots,
        )  # fmt: skip
        self._pointers = tuple(array.__array_interface__["data"][0] for array in self._arrays)

    def _fill(self, surface: Sampled, partner: Sampled, n_a: int, n_b: int) -> None:
        """What stays the same from search to search."""
        header, given, smooth = self._header, self._given, self._smooth
        header[[N_A, LEAVES_A, WIDTH_A]] = n_a, surface.tree.leaves, surface.tree.width
        header[[N_B, LEAVES_B, WIDTH_B]] = n_b, partner.tree.leaves, partner.tree.width
        header[ROOM] = n_a
        header[[RIMS_A, ROWS_A, ROWS_B]] = surface.rim_room, len(surface.rim.rows), len(partner.rim.rows)
        header[[ROOM_A, SIZE_A, PATCHES_A]] = surface.capacity, 3 + surface.entries, settles(surface)
        given[[SPACING_A, BULGE_A, MARGIN_A]] = surface.spacing, surface.bulge, surface.margin
        if smooth is None:
            header[[KIND, ROOM_B, SIZE_B]] = SURFACE, partner.capacity, 3 + partner.entries
            header[[PATCHES_B, RIMS_B]] = settles(partner), partner.rim_room
            given[[SPACING_B, BULGE_B, MARGIN_B]] = partner.spacing, partner.bulge, partner.margin
        else:
            header[SIZE_B] = 3
            header[[KIND, SLOPE, BEND]] = smooth.kind, smooth.slope.address, smooth.bend.address
            given[RADIUS] = smooth.radius
            header[PARTS] = len(smooth.frusta)
            given[BULGE_B] = self._between
            given[LIFT] = self._lift
        # Of patches little is known between the points that they are searched by.
        convex = rounded(partner) if smooth is None else smooth.kind != ROUND
        if convex and not self.patched:
            header[OUTWARDS] = 1 if surface.rims else 2
        given[BENDS_B] = -1.0
        if smooth is not None and smooth.kind <= DISTANCE and not self.patched:
            given[BENDS_B] = 1.0 / narrowest(self.other)
        given[BAND] = self.band
        given[FACING] = self.band / float(surface.bounding_radius())
        sides = (surface, partner)
        header[CURVED] = smooth is None and not (self.patched or any(s.rims or s.sharp.any() for s in sides))
        fill(header[HEADER:], given[GIVEN:], *sides, NEAR * surface.spacing, self.band + partner.spacing)

    @property
    def _between(self) -> float:
        """How far the other shape may come between samples [m]; patches are there as well."""
        if isinstance(self.other, Sampled):
            return self.other.bulge
        s = self.surface.spacing
        return (
            min(0.5 * s, 0.5 * s * s / narrowest(self.other)) if isinstance(self.surface, Covering) else 0.0
        )

    @property
    def _lift(self) -> float:
        """How much farther the surface comes out of its samples on a rim than elsewhere [m], above a smooth shape.

        A rim through samples in no rows is jagged: it comes out by as much as they lie apart, where the surface does by
        the square of that. Were as much looked for everywhere, it would be as many samples as grow with the root.
        """
        return 0.0 if isinstance(self.other, Sampled) else self.surface.bulge - self.surface.inner_bulge

    @property
    def band(self) -> float:
        """How far above the other shape contact points are looked for [m], on rims; elsewhere less by the lift."""
        size, s = float(self.surface.bounding_radius()), self.surface.spacing
        slack = self.surface.bulge + self._between - self._lift
        return self._lift + max(2.0 * slack, min(0.05 * size, 600.0 * s * s / size), 1e-6 * size)

    @property
    def patched(self) -> bool:
        """Whether a side is made of patches."""
        return any(isinstance(side, Covering) for side in (self.surface, self.other))

    @property
    def edged(self) -> bool:
        """Whether both are open surfaces of samples, whose edges may meet."""
        return bool(self._header[EDGES_A])

    @property
    def curved(self) -> bool:
        """Whether both are sampled, closed and without edges; far apart they are searched by their quadrics."""
        return bool(self._header[CURVED])

    @property
    def clearance(self) -> float:
        """How far the bodies may move before other points than those found could touch [m]."""
        return float(self._given[CLEARANCE])

    @property
    def looked(self) -> int:
        """Nodes of the surface's tree looked at by the last search."""
        return int(self._header[LOOKED])

    def pose(self, R: Floats, c: Floats) -> None:
        """Rotation and origin of the other shape seen from the surface."""
        self._given[:9], self._given[9:12] = R.ravel(), c

    def put(
        self, k: int, x: Floats, y: Floats, samples: tuple[int, int], hold: Floats | tuple[float, ...]
    ) -> None:
        """A contact point of before: points in each own frame, samples (-1 for an empty slot), and how it moves."""
        self.slots[k, 4:7], self.slots[k, 7:10], self.slots[k, HOLD : HOLD + 4] = x, y, hold
        i, j = samples
        self.kept[k] = self._places[0][i] if i >= 0 else -1, self._places[1][j] if j >= 0 else -1

    def empty(self, k: int) -> None:
        """No contact point of before in a slot."""
        self.kept[k] = -1

    def search(self, points: int) -> int:
        """Search up to so many points, from those that were put; FOUND, LOST where there is none, or SEVERAL."""
        self._header[WHAT], self._header[POINTS] = SEARCH, points
        return meet.at(self._pointers)

    def follow(self, k: int) -> int:
        """Bring the point that was put into a slot up to date; FOUND, LOST, BEYOND a rim, or how an edge ends."""
        self._header[WHAT], self._header[WHICH] = FOLLOW, k
        return meet.at(self._pointers)

    def samples(self, k: int) -> tuple[int, int]:
        """The samples of a slot and -1 where there is none."""
        i, j = self.kept[k].tolist()
        other = self.other.tree.order if isinstance(self.other, Sampled) else None
        return (
            int(self.surface.tree.order[i]) if i >= 0 else -1,
            int(other[j]) if other is not None and j >= 0 else -1,
        )

    @property
    def seen(self) -> int:
        """At how many places at least the surfaces touch, when there are SEVERAL or UNCARRIED ones."""
        return int(self._header[SEEN])

    @property
    def elsewhere(self) -> Floats:
        """Where else the surfaces touch, when there are SEVERAL points [m]."""
        found: Floats = self.surface.pieces.table[int(self._header[WHICH]), :3]
        return found

    @property
    def last(self) -> Floats:
        """Where a point was that has ENDED [m]."""
        found: Floats = self.slots[2 * int(self._header[POINTS]), 4:7]
        return found


__all__ = ["Meeting"]
