"""The rim of an open sampled surface: a smooth curve through its outermost samples, beyond which there is no surface.

Beside f, whose zero is the surface, stands a second function of the same kind over the samples of the rim,

    e(x) = sum w_i e_i / sum w_i,   e_i = t_i . d - k_i (s_i . d)^2 / 2,   d = x - p_i,

s_i being the direction of the rim at its sample, t_i the one outwards across it in the surface, and k_i the curvature
of the rim towards t_i. The surface is where f = 0 and e <= 0, its rim where both vanish. Corners divide a rim into
sides, each with a function of its own: the surface ends where one of them does, in a notch where both of them do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import ModelError

Array = NDArray[np.float64]
Index = NDArray[np.int64]

REACH = 1.35
"""Radius of the weight of a rim's sample over its distance from the farther of its neighbours on the rim."""
CORNER = 0.6
"""Angle by which a rim turns at a sample [rad] from which on it may be a corner."""
ALONE = 1.5
"""How much more it must turn there than it does around, as a coarse circle turns everywhere."""
SMOOTH = 0.6
"""Angles below which five samples, not three, tell the direction and the curvature of a rim."""
NOWHERE = 1e6
"""Rows without a sample lie so many distances of samples away."""
FEWEST = 8
"""Samples around a hole; what is smaller is covered by the surface."""

# columns of a rim's samples: position, t, s, k, radius of the weight, side; in tables of compiled code also whether
# another one follows at the same place, which is a corner then, and whether the surface is hollow there
OUT = 3
ALONG = 6
BEND = 9
WEIGHT = 10
SIDE = 11
ROW = 12
FOLLOWED = 12
NOTCH = 13
# columns of chords: row where it begins, and where it ends; the chord before and the one after it, -1 at a corner
START = 0
END = 1
BEFORE = 2
AFTER = 3
CHORD = 4


@dataclass(frozen=True, eq=False)
class Rim:
    """Rows of all rims of a surface, those of a corner one behind the other.

    rows: (number, ROW). samples: The sample of each row. notches: Whether the corner of a row is hollow. chords: From
    row to row along each side, in order (chords, CHORD).
    """

    rows: Array
    samples: Index
    notches: NDArray[np.bool_]
    chords: Index

    @staticmethod
    def of(points: Array, normals: Array, neighbours: Index, loops: Sequence[Index]) -> Rim:
        """Of loops of samples, each in order around it."""
        rows, samples, notches = list[Array](), list[Index](), list[NDArray[np.bool_]]()
        chords = list[Index]()
        sides = 0
        for loop in loops:
            own = _Loop.of(points, normals, neighbours, loop)
            for members, closed in own.sides():
                rows.append(own.rows(members, closed, sides))
                samples.append(own.samples[members])
                notches.append(own.corner[members] & (own.turn[members] < 0.0))
                first = sum(len(part) for part in rows[:-1])
                chords.append(_chords(len(members), closed, first, sum(len(part) for part in chords)))
                sides += 1
        if not rows:
            empty = np.zeros((0, CHORD), np.int64)
            return Rim(np.zeros((0, ROW)), np.zeros(0, np.int64), np.zeros(0, np.bool_), empty)
        all_samples = np.concatenate(samples)
        order = np.argsort(all_samples, kind="stable")
        places = np.argsort(order)
        found = np.concatenate(chords)
        found[:, :BEFORE] = places[found[:, :BEFORE]]
        return Rim(np.concatenate(rows)[order], all_samples[order], np.concatenate(notches)[order], found)

    def first(self, number: int) -> Index:
        """The first row of each sample of the surface, -1 for one that is on no rim."""
        found = np.full(number, -1, dtype=np.int64)
        found[self.samples[::-1]] = np.arange(len(self.samples))[::-1]
        return found

    def reach(self, number: int) -> Array:
        """The radius of the weight of each sample in e; zero for one that is on no rim."""
        found = np.zeros(number)
        np.maximum.at(found, self.samples, self.rows[:, WEIGHT])
        return found

    @property
    def bulge(self) -> float:
        """How far a rim may lie outside its samples [m], about."""
        wide = self.rows[:, WEIGHT] / REACH
        return float(np.quantile(np.abs(self.rows[:, BEND]) * wide**2, 0.99)) if len(wide) else 0.0

    def piece(self, x: Array, room: int, spacing: float) -> Array:
        """What a program takes of the rims around a point: rows, then whether the surface goes on where one of two
        sides does.

        In place of its side a row has 1 for that of the nearest one, 0 for others.
        """
        if not room:
            return np.zeros(0)
        far = np.linalg.norm(self.rows[:, :3] - x, axis=1)
        near = np.argsort(far, kind="stable")[:room]
        near = near[far[near] < 2.0 * self.rows[near, WEIGHT]]
        table = np.zeros((room, ROW))
        table[:, :3], table[:, WEIGHT] = x + NOWHERE * spacing, spacing
        rows = self.rows[near]
        either = 0.0
        if len(near):
            same = (rows[:, SIDE] == rows[0, SIDE]) & (rows[:, OUT:ALONG] @ rows[0, OUT:ALONG] > 0.0)
            d = rows[~same, :3] - rows[0, :3]
            ahead = d @ rows[0, OUT:ALONG] - 0.5 * rows[0, BEND] * (d @ rows[0, ALONG:BEND]) ** 2
            # At the corner between two sides that is rounding.
            own = self.samples[self.rows[:, SIDE] == self.rows[near[0], SIDE]]
            shared = np.isin(self.samples[near[~same]], own)
            weight = rows[~same, WEIGHT]
            ahead = np.where(shared, np.where(self.notches[near[~same]], weight, -weight), ahead)
            either = float(ahead.sum() > 0.0)
            rows[:, SIDE] = same
            table[: len(near)] = rows
        return np.append(table.ravel(), either)

    def capacity(self, margin: float) -> int:
        """The most rows whose weight reaches into the margin around a point of a rim."""
        from scipy.spatial import cKDTree

        if not len(self.rows):
            return 0
        p, radius = self.rows[:, :3], self.rows[:, WEIGHT]
        near = cKDTree(p).query_ball_point(p, 2.0 * (float(radius.max()) + margin))
        most = 0
        for k, around in enumerate(near):
            # Halfway to neighbours as many or more may reach as at the sample itself.
            others = np.asarray(around)
            places = 0.5 * (p[k] + p[others])
            far = np.linalg.norm(places[:, None] - p[others], axis=2)
            most = max(most, int((far < radius[others] + margin).sum(axis=1).max()))
        return most + 2


@dataclass(frozen=True, eq=False)
class _Loop:
    """One rim: samples in order with the surface on their left, seen from outside."""

    samples: Index
    p: Array
    n: Array
    turn: Array
    corner: NDArray[np.bool_]

    @staticmethod
    def of(points: Array, normals: Array, neighbours: Index, loop: Index) -> _Loop:
        inward = points[neighbours[loop]].mean(axis=1) - points[loop]
        p, n = points[loop], normals[loop]
        way = np.roll(p, -1, axis=0) - np.roll(p, 1, axis=0)
        if float(np.einsum("ij,ij->", np.cross(way, n), inward)) > 0.0:
            loop = loop[::-1].copy()
            p, n = points[loop], normals[loop]
        after = np.roll(p, -1, axis=0) - p
        before = np.roll(after, 1, axis=0)
        across = np.cross(n, before)
        turn = np.arctan2(
            np.einsum("ij,ij->i", after, across),
            np.einsum("ij,ij->i", after, np.cross(across, n)),
        )
        around = np.median(np.abs(np.stack([np.roll(turn, k) for k in range(-2, 3)])), axis=0)
        return _Loop(loop, p, n, turn, (np.abs(turn) > CORNER) & (np.abs(turn) > ALONE * around))

    def sides(self) -> list[tuple[Index, bool]]:
        """Members of each side from corner to corner, and whether it has no corner."""
        number, corners = len(self.samples), np.flatnonzero(self.corner)
        if len(corners) == 0:
            return [(np.arange(number), True)]
        ends = np.append(corners[1:], corners[0] + number)
        return [
            (np.arange(first, last + 1) % number, False) for first, last in zip(corners, ends, strict=True)
        ]

    def rows(self, members: Index, closed: bool, side: int) -> Array:
        """Of the samples of one side."""
        count = len(members)
        widths = np.full(count, min(5, count))
        place = np.arange(count)
        bent = np.abs(self.turn) > SMOOTH
        for shift in (-1, 0, 1):
            other = (place + shift) % count
            inner = other if closed else np.clip(place + shift, 1, max(count - 2, 1)) % count
            widths[bent[members[inner]]] = min(3, count)
        p, n = self.p[members], self.n[members]
        first, second = np.zeros((count, 3)), np.zeros((count, 3))
        for width in np.unique(widths):
            own = np.flatnonzero(widths == width)
            begin = own - width // 2
            if not closed:
                begin = np.clip(begin, 0, count - width)
            window = begin[:, None] + np.arange(width)
            first[own], second[own] = _derivatives(p[window % count], own - begin)
        speed = np.linalg.norm(first, axis=1)[:, None]
        s = first - n * np.einsum("ij,ij->i", first, n)[:, None]
        s /= np.linalg.norm(s, axis=1)[:, None]
        t = np.cross(s, n)
        found = np.zeros((count, ROW))
        found[:, :3], found[:, OUT:ALONG], found[:, ALONG:BEND] = p, t, s
        found[:, BEND] = np.einsum("ij,ij->i", t, second / speed**2)
        lengths = np.linalg.norm(np.roll(self.p, -1, axis=0) - self.p, axis=1)
        found[:, WEIGHT] = REACH * np.maximum(lengths, np.roll(lengths, 1))[members]
        found[:, SIDE] = side
        return found


def _chords(count: int, closed: bool, row: int, chord: int) -> Index:
    """Those of a side of so many rows, of which the first has this number, as the first chord has."""
    number = count if closed else count - 1
    k = np.arange(number)
    found = np.stack([row + k, row + (k + 1) % count, chord + k - 1, chord + k + 1], axis=1)
    if number:
        found[0, BEFORE] = chord + number - 1 if closed else -1
        found[-1, AFTER] = chord if closed else -1
    return found


def _derivatives(p: Array, own: Index) -> tuple[Array, Array]:
    """First and second derivatives of the polynomials through windows of points (number, width, 3), at own ones."""
    number, width, _ = p.shape
    u = np.zeros((number, width))
    u[:, 1:] = np.cumsum(np.linalg.norm(np.diff(p, axis=1), axis=2), axis=1)
    picked = np.arange(number)
    u -= u[picked, own][:, None]
    size = np.abs(u).max(axis=1)[:, None]
    powers = (u / size)[:, :, None] ** np.arange(width)
    c = np.linalg.solve(powers, p - p[picked, own][:, None])
    second = 2.0 * c[:, 2] / size**2 if width > 2 else np.zeros((number, 3))
    return c[:, 1] / size, second


def checked(loops: Sequence[Index], number: int) -> tuple[Index, ...]:
    """Rims as they were given: loops of at least three samples, none of them twice."""
    try:
        given = [np.asarray(loop, dtype=np.float64) for loop in loops]
        whole = all(np.array_equal(loop, np.round(loop)) for loop in given)
    except (TypeError, ValueError):
        whole = False
    if not whole:
        raise ModelError("the rims of a sampled surface are loops of whole numbers, those of its samples")
    found = tuple(loop.astype(np.int64) for loop in given)
    for k, loop in enumerate(found):
        if loop.ndim != 1 or len(loop) < 3 or len(np.unique(loop)) < len(loop):
            raise ModelError(f"rim {k} of the sampled surface is no loop of three or more different samples")
        if loop.min() < 0 or loop.max() >= number:
            raise ModelError(f"rim {k} of the sampled surface names a sample that does not exist")
    return found


__all__ = ["Rim", "checked"]
