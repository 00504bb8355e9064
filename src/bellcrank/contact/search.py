"""Contact points of a surface of data and another shape: found by the trees, refined by Newton's method, tracked.

Surfaces against each other and against smooth shapes are searched by compiled code: one point of two sampled
surfaces by :mod:`bellcrank.contact.descent`, everything else by :mod:`bellcrank.contact.meeting`. Surfaces of patches
are searched by points on them (:mod:`bellcrank.contact.covering`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.descent import Descent
from bellcrank.contact.found import FREE, NONE, Found, Hold, parked
from bellcrank.contact.meeting import Meeting
from bellcrank.contact.meeting_layout import (
    BEHIND_EDGE,
    CROSSED,
    DEEPER,
    ENDED,
    FOUND,
    HOLD,
    IS_BEHIND,
    LOST,
    MOST_POINTS,
    OFF_END,
    SEVERAL,
    UNCARRIED,
    UNFOLLOWED,
)
from bellcrank.contact.refinement import BEYOND
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import Shape
from bellcrank.contact.sheet_meeting import SheetMeeting
from bellcrank.contact.sheets import Sheets
from bellcrank.contact.source import Around, Source, leader
from bellcrank.contact.uncarried import NEAR
from bellcrank.errors import ModelError
from bellcrank.program.trace import Scalar

Array = NDArray[np.float64]
T = TypeVar("T")

FLAT_OR_COARSE = (
    "no contact point found on a surface: it is flat, or too coarse for its curvature, or the other body is "
    "behind it; give the contact points=4, or see which way its normals point"
)


EDGES_END = {
    CROSSED: (
        "the edges of both open surfaces lie along each other, a line of contact whose direction nothing tells; turn "
        "one of them, close one of the surfaces, as by giving it a thickness, or let it reach farther"
    ),
    OFF_END: (
        "an edge of one open surface that presses against one of the other slides off over its end, a corner of the "
        "rim, and its force would end with a jump; let the surface reach farther, or round its corner"
    ),
    BEHIND_EDGE: (
        "an edge of one open surface that presses against one of the other gets behind that surface, where there is "
        "nothing to touch; see which way normals point, close the surface, or give it a thickness"
    ),
}
"""What becomes of contacts of two edges that there is no contact point for."""


class SampledPair:
    """Closest points of a surface of data and another shape, from anywhere or from the last ones.

    meeting: The compiled search.
    """

    def __init__(self, a: Shape, b: Shape) -> None:
        self.a, self.b = a, b
        if not any(isinstance(s, Source) for s in (a, b)):
            raise ModelError("one of the two shapes must be a surface of data, such as Sampled")
        self.first = leader(a, b) == 0
        source, other = (a, b) if self.first else (b, a)
        assert isinstance(source, Source)
        self.meeting: Meeting | SheetMeeting = (
            SheetMeeting(source, other) if isinstance(source, Sheets) else Meeting(source, other)
        )
        # As they are searched: surfaces of patches by points on them.
        self.source, self.other = self.meeting.surface, self.meeting.other
        self._descent: Descent | None = None
        self._slack = 0.0
        # Descents measure above quadrics, which go on beyond rims.
        if isinstance(self.other, Sampled) and not (self.source.rims or self.other.rims):
            near = NEAR * self.source.spacing
            self._slack = self.source.bulge + self.other.bulge
            self._descent = Descent(self.source, self.other, near, self.meeting.band + self.other.spacing)

    def __call__(
        self, R: Array, c: Array, start: tuple[Array, Array] | None = None
    ) -> tuple[float, Array, Array, Array, Array, Array]:
        """Distance, normal and points in the frame of a, and the points in each own frame.

        R, c: Pose of b seen from a. start: The points of the last time in each own frame; without them the trees are
        searched.
        """
        if start is None:
            near = self.closest(R, c)
            found = self.contacts(R, c, 1)[0][0] if near is None else near
        else:
            try:
                found = self.refined(R, c, *start)
            except ModelError:
                found = self.contacts(R, c, 1)[0][0]
        return found.gap, found.normal, found.x, R @ found.y + c, found.x, found.y

    def refined(
        self, R: Array, c: Array, x: Array, y: Array, sample: int = -1, hold: Hold = FREE, partner: int = -1
    ) -> Found:
        """Newton's method from points of each own frame."""
        self.meeting.pose(*self.seen(R, c))
        self.meeting.put(0, *self.turned(x, y), (sample, partner), hold)
        how = self.meeting.follow(0)
        if how == BEYOND:
            way = R @ y + c - x
            return Found(math.inf, way / max(float(np.linalg.norm(way)), 1e-300), x, y, sample, partner, NONE)
        if how != FOUND:
            raise ModelError(EDGES_END.get(how, FLAT_OR_COARSE))
        return replace(self._told(0, R), sample=sample, partner=partner)

    def closest(
        self, R: Array, c: Array, start: tuple[int, int] | None = None, band: float = -math.inf
    ) -> Found | None:
        """The closest points of two sampled surfaces; None where there may be several, or none is found."""
        if self._descent is None:
            return None
        S, t = self.seen(R, c)
        places = self._descent(S, t, start, band)
        if not places or not places[0].settled:
            return None
        best = places[0]
        here = best.gap + self._descent.slack
        if any(place.height < here and not place.settled for place in places):
            return None
        if best.gap < 0.0:
            # More than one place may touch: that is looked at sample by sample.
            far, deep = 2.0 * NEAR * self.source.spacing, -self.source.bulge
            if any(p.height < deep and float(np.linalg.norm(p.x - best.x)) > far for p in places[1:]):
                return None
        if self.first:
            return Found(best.gap, best.normal, best.x, best.y, *best.samples)
        return Found(best.gap, -(R @ best.normal), best.y, best.x, *best.samples)

    def seen(self, R: Array, c: Array) -> tuple[Array, Array]:
        """Pose of the other shape seen from the surface that is searched."""
        return (R, c) if self.first else (R.T, -R.T @ c)

    def turned(self, of_a: T, of_b: T) -> tuple[T, T]:
        """What belongs to a and b, that of the surface that is searched first."""
        return (of_a, of_b) if self.first else (of_b, of_a)

    def contacts(
        self, R: Array, c: Array, points: int, before: list[Found | None] | None = None
    ) -> tuple[list[Found], float]:
        """Up to so many contact points, and how far the bodies may move before others could touch [m].

        before: The last ones in their slots; those that stay are given back in the same slots.
        """
        meeting = self.meeting
        meeting.pose(*self.seen(R, c))
        for k in range(points):
            point = before[k] if before is not None and k < len(before) else None
            if point is None or point.sample < 0:
                meeting.empty(k)
            else:
                meeting.put(k, *self.turned(point.x, point.y), (point.sample, point.partner), point.hold)
        self.check(meeting.search(points))
        found = [
            self._told(points + k, R) if meeting.kept[points + k, 0] >= 0 else None for k in range(points)
        ]
        filled = next((f for f in found if f is not None), None) or self._nowhere(R, c)
        if points == 1 and filled.gap > meeting.band and not meeting.curved:
            # Far apart nearest samples, by which surfaces with rims or edges are searched, may lead to other points.
            alone = self.closest(R, c, (filled.sample, filled.partner))
            if alone is not None:
                return [alone], alone.gap - self._slack
        return [parked(filled) if f is None else f for f in found], meeting.clearance

    def check(self, came: int) -> None:
        """Raise where a search has not come to an end."""
        if came == LOST:
            raise ModelError(FLAT_OR_COARSE)
        if came in EDGES_END:
            raise ModelError(EDGES_END[came])
        at = self.meeting.last if came == ENDED else self.meeting.elsewhere
        place = ", ".join(f"{v:.4g}" for v in at)
        if came == IS_BEHIND and isinstance(self.meeting, SheetMeeting):
            raise ModelError(
                f"a body comes upon a side of a mesh from inside, at ({place}) of it; let it start outside, or give "
                "the mesh a cavity"
            )
        if came == IS_BEHIND:
            raise ModelError(
                f"a body comes upon an open surface from behind, at ({place}) of the sampled one, where there is "
                "nothing to touch; see which way normals point, close the surface, or give it a thickness"
            )
        if came == DEEPER:
            raise ModelError(
                f"at ({place}) of the surface the bodies overlap more deeply than at the contact points that "
                f"are followed; give the contact more points (up to points={MOST_POINTS}), or a shape of several pieces"
            )
        if came == UNFOLLOWED:
            raise ModelError(
                f"at ({place}) of the surface the bodies overlap already, where no contact point was followed as they "
                "touched: its force would begin with a jump; give the contact more points "
                f"(up to points={MOST_POINTS}), or a shape of several pieces"
            )
        if came == ENDED:
            raise ModelError(
                f"at ({place}) of the surface a contact point that presses comes to its end, as where two of them run "
                "together into one place, and their force would jump; give the contact more points "
                f"(up to points={MOST_POINTS}), or divide the surface, and give each part a contact of its own"
            )
        if came == SEVERAL:
            raise ModelError(
                f"the surfaces touch at more than one point, among them at ({place}) of the surface of data; "
                f"give the contact points={self.meeting.seen} or more"
            )
        if came == UNCARRIED:
            seen = self.meeting.seen
            advice = f"points={seen}" if seen <= MOST_POINTS else f"at most points={MOST_POINTS} are possible"
            raise ModelError(
                f"at ({place}) of the surface the bodies overlap as well, where none of the contact points that are "
                f"followed is; give the contact more points ({advice}), or a shape of several pieces"
            )

    def _told(self, k: int, R: Array) -> Found:
        """A slot of the meeting."""
        row = self.meeting.slots[k].copy()
        n, x, y = row[1:4], row[4:7], row[7:10]
        hold = (float(row[HOLD]), float(row[HOLD + 1]), float(row[HOLD + 2]), float(row[HOLD + 3]))
        if not self.first:
            n, x, y = -(R @ n), y, x
        sample, partner = self.meeting.samples(k)
        return Found(float(row[0]), n, x, y, sample, partner, hold)

    def _nowhere(self, R: Array, c: Array) -> Found:
        """A pair whose closest points lie beyond a rim."""
        p = self.source.points[0]
        S, t = self.seen(R, c)
        q = S.T @ (p - t)
        n = -S[:, 2] if self.first else S[:, 2]
        x, y = self.turned(p, q)
        return Found(math.inf, n, x, y, -1, -1, NONE)


def held(piece: Around, hold: tuple[Scalar, Scalar, Scalar, Scalar]) -> Around:
    """A piece of surface whose contact point moves as told."""
    return replace(piece, hold=hold, leads=True)


__all__ = ["EDGES_END", "Found", "SampledPair", "held"]
