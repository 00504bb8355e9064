"""The search of a mesh in sheets and a smooth shape, given by a formula or by samples.

It is that of each sheet; of what they find it is told which touches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.meeting import Meeting
from bellcrank.contact.meeting_layout import (
    FOUND,
    HOLD,
    IS_BEHIND,
    LOST,
    MOST_POINTS,
    SEVERAL,
    SLOT,
    UNFOLLOWED,
)
from bellcrank.contact.overlooked import SUDDEN
from bellcrank.contact.refinement import BEYOND
from bellcrank.contact.rims import ALONG, BEND, OUT, SIDE
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.several import NEAR
from bellcrank.contact.shapes import Shape
from bellcrank.contact.sheets import Sheets, least_radius

Floats = NDArray[np.float64]

CLEARLY = 1e-2
"""Sine of the angle by which what touches leads into another sheet from which on that is sure."""
SLIGHTLY = 1e-9
"""That from which on the other sheet is asked."""
ALIKE = 0.999
"""Cosine between directions of what is the same point of a crease, found from both sheets."""
SAME = 0.5
"""Distance of such points over that of samples."""
LEAST = 2e-3
"""Motion to the next search over the distance of samples, at least."""
BEFORE_CORNERS = 0.02
"""The same along a crease towards a corner."""
SPARE = 3
"""Points of each sheet more than are asked for."""
FARTHEST = 4.0
"""Creases that are looked at, over the distance of samples."""


@dataclass(frozen=True, eq=False)
class _Place:
    """A contact point that a sheet has found.

    row: Its slot. pieces: Of the surfaces around it. samples: Of all sheets, and of the other shape or -1. index: The
    slot it stands in, of before or of its sheet. known: Whether one of before led to it. leads: The sheet it leads
    into, -1 for none, and how much.
    """

    part: int
    row: Floats
    pieces: tuple[Floats, Floats]
    samples: tuple[int, int]
    index: int
    known: bool
    leads: tuple[int, float]


class SheetMeeting:
    """A mesh in sheets and a smooth shape, with all that :class:`~bellcrank.contact.meeting.Meeting` has."""

    patched = True
    """Behind a crease another point may carry."""
    curved = False

    def __init__(self, sheets: Sheets, other: Shape) -> None:
        self.surface, self.other = sheets, other
        self.meetings = [Meeting(part, other) for part in sheets.parts]
        self.slots = np.zeros((2 * MOST_POINTS + 1, SLOT))
        self.kept = np.full((2 * MOST_POINTS + 1, 2), -1, np.int64)
        first = self.meetings[0].pieces
        self.pieces = tuple(np.zeros_like(piece) for piece in first)
        self.clearance = 0.0
        self._around = _ball_around(other)
        self._middle = np.zeros(3)
        self.elsewhere = sheets.points[0]
        self.band = max(meeting.band for meeting in self.meetings)
        self._narrow = min(least_radius(other) or 0.0, float(sheets.bounding_radius()))

    @property
    def looked(self) -> int:
        return sum(meeting.looked for meeting in self.meetings)

    def pose(self, R: Floats, c: Floats) -> None:
        """Rotation and origin of the other shape seen from the surface."""
        self._middle = R @ self._around[0] + c
        for meeting in self.meetings:
            meeting.pose(R, c)

    def put(
        self, k: int, x: Floats, y: Floats, samples: tuple[int, int], hold: Floats | tuple[float, ...]
    ) -> None:
        """A contact point of before, as in :meth:`Meeting.put`."""
        self.slots[k, 4:7], self.slots[k, 7:10], self.slots[k, HOLD : HOLD + 4] = x, y, hold
        self.kept[k] = samples

    def empty(self, k: int) -> None:
        """No contact point of before in a slot."""
        self.kept[k] = -1

    def samples(self, k: int) -> tuple[int, int]:
        """The samples of a slot and -1 where there is none."""
        return int(self.kept[k, 0]), int(self.kept[k, 1])

    def search(self, points: int) -> int:
        """Search up to so many points, from those that were put."""
        self.kept[points : 2 * points] = -1
        self.clearance = math.inf
        known = [self._parts(k) if self.kept[k, 0] >= 0 else () for k in range(points)]
        places, doubts = list[_Place](), dict[int, int]()
        least = self._least()
        for part in np.argsort(least, kind="stable").tolist():
            meeting = self.meetings[part]
            if not any(part in parts for parts in known) and self._far(float(least[part]), places):
                self.clearance = min(self.clearance, float(least[part]) - self.surface.bulge)
                continue
            came, found = self._on_sheet(part, points, max(points, 1 + SPARE), known)
            if len(found) >= points and any(place.leads[1] > CLEARLY for place in found):
                # Some of them lead into other sheets, and more may be there.
                came, found = self._on_sheet(part, points, min(points + 2 * SPARE, MOST_POINTS), known)
            # Spare points are not followed from search to search.
            if came not in (FOUND, IS_BEHIND, UNFOLLOWED):
                doubts[part] = came
            self.clearance = min(self.clearance, meeting.clearance)
            places += found
        chosen = self._chosen(places)
        for part, came in doubts.items():
            # Of a sheet all whose points lead into others nothing touches.
            if any(place.part == part for place in chosen) or not any(place.part == part for place in places):
                self.elsewhere, self.last = self.meetings[part].elsewhere, self.meetings[part].last
                return came
        chosen.sort(key=lambda place: (not (place.known and place.row[0] < 0.0), place.row[0]))
        for place in chosen[points:]:
            if place.row[0] < 0.0:
                self.elsewhere = place.row[4:7]
                return SEVERAL
            self.clearance = min(self.clearance, max(float(place.row[0]), LEAST * self.surface.spacing))
        sudden = next((place for place in chosen[:points] if self._sudden(place, points)), None)
        if sudden is not None:
            self.elsewhere = sudden.row[4:7]
            return UNFOLLOWED
        for place in chosen[:points]:
            self._take(place, points)
            self._come_back(place)
        filled = [k for k in range(points) if self.kept[points + k, 0] >= 0]
        for k in range(points):
            if filled and k not in filled:
                for piece in self.pieces:
                    piece[k] = piece[filled[0]]
        return FOUND

    def _on_sheet(
        self, part: int, points: int, each: int, known: list[tuple[int, ...]]
    ) -> tuple[int, list[_Place]]:
        """What the search of one sheet gives, of so many points."""
        meeting = self.meetings[part]
        for k in range(each):
            if k < points:
                self._hand_on(k, part, part in known[k])
            else:
                meeting.empty(k)
        came = meeting.search(each)
        rows = [k for k in range(each) if meeting.kept[each + k, 0] >= 0]
        return came, [self._place(part, each + k, k, k < points and part in known[k]) for k in rows]

    def _sudden(self, place: _Place, points: int) -> bool:
        """Whether a contact point is deep already though none was near before; of the first search nothing is said."""
        before = [self.slots[k, 4:7] for k in range(points) if self.kept[k, 0] >= 0]
        if not before or place.known or not place.row[0] < -SUDDEN * self.surface.spacing:
            return False
        return min(float(np.linalg.norm(x - place.row[4:7])) for x in before) > NEAR * self.surface.spacing

    def follow(self, k: int) -> int:
        """Bring the point that was put into a slot up to date; FOUND, LOST, or BEYOND where another search is due."""
        found, came = list[_Place](), BEYOND
        for part in self._parts(k):
            self._hand_on(k, part, True)
            how = self.meetings[part].follow(k)
            if how == FOUND:
                found.append(self._place(part, k, k, True))
            elif how != BEYOND:
                came = LOST
        chosen = self._chosen(found)
        if not chosen:
            return came
        place = chosen[0]
        self.slots[k], self.kept[k] = place.row, place.samples
        for piece, own in zip(self.pieces, place.pieces, strict=True):
            piece[k] = own
        return FOUND

    def _least(self) -> Floats:
        """How far the other shape is from each sheet at least [m]."""
        size = self._around[1]
        low, high = self.surface.boxes
        away = np.maximum(np.maximum(low - self._middle, self._middle - high), 0.0)
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", away, away)) - size)

    def _far(self, least: float, places: list[_Place]) -> bool:
        """Whether a sheet that is so far away at least needs no search: another one is nearer."""
        return least > self.band and any(place.row[0] < least for place in places)

    def _parts(self, k: int) -> tuple[int, ...]:
        """The sheets that a point of before may be on, its own first."""
        edges, own = self.surface.edges, self.surface.part(int(self.kept[k, 0]))
        near = edges.near(self.slots[k, 4:7], 1.0)
        return (own, *sorted({int(p) for p in edges.part[near]} - {own}))

    def _hand_on(self, k: int, part: int, known: bool) -> None:
        """Put a point of before to the search of a sheet, where it may be on that."""
        meeting = self.meetings[part]
        if not known:
            meeting.empty(k)
            return
        sheet, sample = self.surface.parts[part], int(self.kept[k, 0])
        x = self.slots[k, 4:7]
        if self.surface.part(sample) == part:
            i = sample - int(self.surface.begins[part])
        else:
            i = int(sheet.nearest_points.query(x)[1])
        meeting.put(k, x, self.slots[k, 7:10], (i, int(self.kept[k, 1])), self.slots[k, HOLD : HOLD + 4])

    def _place(self, part: int, row: int, k: int, known: bool) -> _Place:
        meeting = self.meetings[part]
        own, partner = meeting.samples(row)
        samples = own + int(self.surface.begins[part]), partner
        slot = meeting.slots[row].copy()
        first, second = (piece[k].copy() for piece in meeting.pieces)
        return _Place(part, slot, (first, second), samples, k, known, self._leads(part, slot))

    def _leads(self, part: int, slot: Floats) -> tuple[int, float]:
        """The sheet that a point at a crease leads into, -1 for none, and the sine of the angle by which.

        Of a hollow crease nothing touches: there it is its own.
        """
        edges, x, g = self.surface.edges, slot[4:7], slot[1:4]
        near = edges.near(x)
        if len(near) == 0:
            return -1, 0.0
        own = near[edges.part[near] == part]
        leans = edges.rows[own, OUT:ALONG] @ g
        on = np.abs(edges.beyond(own, x)) < 1e-3 * edges.spacing
        if np.any(on & (leans > CLEARLY) & (edges.turn[own] < 0.0)):
            return part, 1.0
        worst, into = 0.0, -1
        for other in sorted({int(p) for p in edges.part[near]} - {part}):
            rows = near[edges.part[near] == other]
            lead = self._into(rows, x, g)
            if lead is not None and lead > worst:
                worst, into = lead, other
        return into, worst

    def _into(self, rows: NDArray[np.int64], x: Floats, g: Floats) -> float | None:
        """How much a direction leads into a sheet whose rim a point is on, None where it is not; rows: Of that rim."""
        edges = self.surface.edges
        ways = list[tuple[Floats, Floats]]()
        of = edges.rows[rows]
        d = x - of[:, :3]
        far = np.sqrt(np.einsum("ij,ij->i", d, d))
        along = np.einsum("ij,ij->i", d, of[:, ALONG:BEND])
        off = np.abs(np.einsum("ij,ij->i", d, of[:, OUT:ALONG]) - 0.5 * of[:, BEND] * along * along)
        # Of a thin body both rims lie above each other.
        above = np.abs(np.einsum("ij,ij->i", d, edges.across[rows]))
        on = (np.maximum(far, 4.0 * above) < edges.spacing) & (off < 1e-3 * edges.spacing)
        for side in sorted(set(of[:, SIDE].tolist())):
            own = np.flatnonzero(of[:, SIDE] == side)
            k = own[np.argmin(far[own])]
            if on[k]:
                s = of[k, ALONG:BEND]
                t = of[k, OUT:ALONG] - of[k, BEND] * along[k] * s
                ways.append((t / math.sqrt(float(t @ t)), s))
        if not ways:
            return None
        if len(ways) == 1:
            return -float(ways[0][0] @ g)
        # At a corner the ways into the sheet lie between those along its sides.
        (t, s), (u, v) = ways[:2]
        return max(
            -math.copysign(1.0, float(u @ s)) * float(s @ g), -math.copysign(1.0, float(t @ v)) * float(v @ g)
        )

    def _chosen(self, places: list[_Place]) -> list[_Place]:
        """What touches of what was found."""
        near = 1.5 * self.surface.spacing
        left = list[_Place]()
        for place in places:
            into, much = place.leads
            if much > CLEARLY:
                continue
            if much > SLIGHTLY and any(
                other.part == into and float(np.linalg.norm(other.row[4:7] - place.row[4:7])) < near
                for other in places
            ):
                continue
            left.append(place)
        # Flat sheets tell best where their creases are.
        left.sort(key=lambda place: (not place.known, self.surface.parts[place.part].bulge))
        found = list[_Place]()
        for place in left:
            if not any(
                float(np.linalg.norm(other.row[4:7] - place.row[4:7])) < SAME * self.surface.spacing
                and float(other.row[1:4] @ place.row[1:4]) > ALIKE
                for other in found
            ):
                found.append(place)
        return found

    def _take(self, place: _Place, points: int) -> None:
        """Put a point into a slot: its own, or the free one whose last point was nearest."""
        k = place.index
        if self.kept[points + k, 0] >= 0 or not place.known:
            free = [m for m in range(points) if self.kept[points + m, 0] < 0]
            far = [
                float(np.linalg.norm(self.slots[m, 4:7] - place.row[4:7])) if self.kept[m, 0] >= 0 else 1e300
                for m in free
            ]
            k = free[int(np.argmin(far))]
        self.slots[points + k], self.kept[points + k] = place.row, place.samples
        for piece, own in zip(self.pieces, place.pieces, strict=True):
            piece[k] = own

    def _come_back(self, place: _Place) -> None:
        """Shorten the way to the next search to before the point may leave its sheet over a crease for another one."""
        edges, x, g = self.surface.edges, place.row[4:7], place.row[1:4]
        near = edges.near(x, 1.0 + min(self.clearance / edges.spacing, FARTHEST))
        own = near[edges.part[near] == place.part]
        if len(own) == 0:
            return
        inside = -float(edges.beyond(own, x).max())
        least = LEAST * edges.spacing
        if inside > 1e-3 * edges.spacing:
            # It comes to the crease first, and then has to turn as far as both sheets do.
            room = inside + self._narrow * float(np.abs(edges.turn[own]).min())
        else:
            room = math.inf
            for other in sorted({int(p) for p in edges.part[near]} - {place.part}):
                lead = self._into(near[edges.part[near] == other], x, g)
                room = min(room, math.inf if lead is None else -self._narrow * lead)
            corners = own[edges.corner[own]]
            if len(corners):
                far = float(np.linalg.norm(edges.rows[corners, :3] - x, axis=1).min())
                if far > 1e-3 * edges.spacing:
                    room = min(room, max(far, BEFORE_CORNERS * edges.spacing))
        self.clearance = min(self.clearance, max(room, least))


def _ball_around(shape: Shape) -> tuple[Floats, float]:
    """Middle and radius of a ball that a shape lies in [m]."""
    if isinstance(shape, Sampled):
        middle = 0.5 * (shape.points.min(axis=0) + shape.points.max(axis=0))
        return middle, float(np.linalg.norm(shape.points - middle, axis=1).max()) + shape.bulge
    reach = shape.bounding_radius()
    return np.zeros(3), float(reach) if isinstance(reach, int | float) else math.inf


__all__ = ["SheetMeeting"]
