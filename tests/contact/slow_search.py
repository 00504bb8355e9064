"""Contact points of sampled surfaces sample by sample, refined by the program of the equations of motion.

The steps are those of :mod:`bellcrank.contact.several`, in Python: a second, slow way to the same points.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from bellcrank.contact.closest import Closest, closest
from bellcrank.contact.found import FREE, HELD, NONE, Found, parked
from bellcrank.contact.partners import bend, slope
from bellcrank.contact.sampled import Sampled
from bellcrank.contact.shapes import Capsule, Plane, Shape, Sphere
from bellcrank.contact.source import Source, input_names, leader, local_of
from bellcrank.contact.steps import frame
from bellcrank.contact.tree_layout import PLANE, SEGMENT
from bellcrank.contact.tree_search import Search
from bellcrank.errors import ModelError
from bellcrank.math.tuples import mat, vec
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import Kernel, compile_program
from bellcrank.program.program import Program
from bellcrank.program.trace import Scalar

Array = NDArray[np.float64]

ROUNDS = 30
"""How often samples are gathered anew on the way to a contact point."""
FLAT = 3e-4
"""Curvature of the gap times the distance of samples below which it counts as flat."""
NEAR = 4.0
"""Contact points closer than so many distances of samples are one."""
APART = 1.5
"""Held contact points keep at least so many distances of samples from each other."""
WALL = 0.3
"""Slope down to a neighbour beyond which a sample is one of a wall, which does not lie on the other shape."""
EVEN = 1e-3
"""Heights that differ by less, over the distance of samples, are as good as the same."""
OPPOSED = -0.9
"""Cosine between the normals of two flat sides that lie on each other."""


class SlowPair:
    """Closest points of a surface of data and another shape, from anywhere or from the last ones."""

    def __init__(self, a: Shape, b: Shape) -> None:
        self.a, self.b = a, b
        self.sources = tuple(s for s in (a, b) if isinstance(s, Source))
        if not self.sources:
            raise ModelError("one of the two shapes must be a surface of data, such as Sampled")
        self.first = leader(a, b) == 0
        found, self.other = (a, b) if self.first else (b, a)
        assert isinstance(found, Source)
        self.source = found
        two = isinstance(self.other, Source)
        self._search = Search(self.source.tree, self.other.tree if isinstance(self.other, Source) else None)
        self._two = two
        self._heights = None if two or self._simple else compile_program(self._height_program())
        self._blank = np.full(len(self.source.points), np.inf)

    @cached_property
    def _kernel(self) -> Kernel:
        return compile_program(self._program())

    @property
    def _simple(self) -> bool:
        return isinstance(self.other, Plane | Capsule) or type(self.other) is Sphere

    def _program(self) -> Program:
        """Pose of b seen from a, the hold, the pieces of both surfaces -> distance, normal, both points."""
        graph = Graph()
        pose = [graph.input(f"pose {k}") for k in range(12)]
        hold = [graph.input(f"hold {k}") for k in range(4)]
        inputs: list[Scalar] = [*pose, *hold]
        shapes: list[Shape] = []
        for shape, letter in ((self.a, "a"), (self.b, "b")):
            if isinstance(shape, Source):
                own = [graph.input(name) for name in input_names(shape, letter)]
                inputs += own
                piece = local_of(shape, own)
                if (letter == "a") == self.first:
                    piece = replace(piece, hold=(hold[0], hold[1], hold[2], hold[3]), leads=True)
                shapes.append(piece)
            else:
                shapes.append(shape)
        unit = mat(np.eye(3).tolist())
        R, c = mat([pose[0:3], pose[3:6], pose[6:9]]), vec(pose[9:12])
        found: Closest = closest(shapes[0], unit, (0.0, 0.0, 0.0), shapes[1], R, c)
        outputs = [found.distance, *found.normal, *found.point_a, *found.point_b]
        return Program.of(inputs, [graph.bring(o) for o in outputs], "sampled pair")  # type: ignore[arg-type]

    def _height_program(self) -> Program:
        """A point of the other shape's frame -> f and its slope."""
        graph = Graph()
        x = vec([graph.input(f"x {k}") for k in range(3)])
        f, g = slope(self.other, x)
        return Program.of(list(x), [graph.bring(o) for o in (f, *g)], "heights")  # type: ignore[arg-type]

    def refined(
        self,
        R: Array,
        c: Array,
        x: Array,
        y: Array,
        sample: int = -1,
        hold: tuple[float, ...] = FREE,
        partner: int = -1,
    ) -> Found:
        """Newton's method from points of each own frame."""
        pose = np.concatenate([R.ravel(), c, hold])
        for _ in range(ROUNDS):
            own = [s.numbers(p) for s, p in ((self.a, x), (self.b, y)) if isinstance(s, Source)]
            if not all(inside for _, inside in own):
                way = R @ y + c - x
                return Found(
                    math.inf, way / max(float(np.linalg.norm(way)), 1e-300), x, y, sample, partner, NONE
                )
            row = self._kernel(np.concatenate([pose, *(numbers for numbers, _ in own)]))
            if not np.all(np.isfinite(row)):
                break
            before = x, y
            x, y = row[4:7].copy(), R.T @ (row[7:10] - c)
            moved = [
                float(np.linalg.norm(p - q)) > s.settled * s.spacing
                for s, p, q in zip((self.a, self.b), (x, y), before, strict=True)
                if isinstance(s, Source)
            ]
            if not any(moved) or hold[0] == 0.0:
                return Found(
                    float(row[0]),
                    row[1:4].copy(),
                    x,
                    y,
                    sample,
                    partner,
                    (hold[0], hold[1], hold[2], hold[3]),
                )
        raise ModelError(
            "no contact point found on a sampled surface: it is flat, or too coarse for its curvature; "
            "give the contact points=4"
        )

    def _seen(self, R: Array, c: Array) -> tuple[Array, Array]:
        """Pose of the other shape seen from the source."""
        return (R, c) if self.first else (R.T, -R.T @ c)

    def _target(self, R: Array, c: Array) -> tuple[int, Array]:
        """The other shape, or a ball around it, as the tree knows it."""
        if isinstance(self.other, Plane):
            n = R[:, 2]
            return PLANE, np.append(n, n @ c)
        if isinstance(self.other, Capsule):
            half = float(self.other.half_length) * R[:, 2]
            return SEGMENT, np.concatenate([c, half, [float(self.other.radius)]])
        return SEGMENT, np.concatenate([c, np.zeros(3), [float(self.other.bounding_radius())]])

    def lowest(self, R: Array, c: Array, start: tuple[int, int] | None = None) -> tuple[int, int, float]:
        """The sample nearest to the other shape (and the other's, where it has samples), and a bound on its distance.

        R, c: Pose of the other seen from the source. start: Samples to begin with, such as those of the last time.
        """
        if self._two:
            return self._search.nearest(R, c, start if start is not None and min(start) >= 0 else None)
        i, h = self._search.lowest(*self._target(R, c), None if start is None else start[0])
        return i, -1, h

    def low(self, R: Array, c: Array, bound: float) -> tuple[NDArray[np.int64], Array, NDArray[np.int64]]:
        """Samples less than `bound` above the other shape, their heights, and the nearest of the other's samples."""
        if self._two:
            assert isinstance(self.other, Source)
            i, j = self._search.near(R, c, bound + self.other.spacing)
            d = (self.source.points[i] - c) @ R - self.other.points[j]
            heights = np.einsum("ij,ij->i", d, self.other.normals[j])
            if isinstance(self.other, Sampled):
                H = self.other._fitted[2][j]
                heights = heights - 0.5 * np.einsum("ij,ijk,ik->i", d, H, d)
            kept = heights < bound
            return i[kept], heights[kept], j[kept]
        i, heights = self._search.low(*self._target(R, c), bound)
        if isinstance(self.other, Plane):
            i, heights = i[self._first[i]], heights[self._first[i]]
        if self._heights is not None and len(i):
            rows = self._heights.many(np.ascontiguousarray((self.source.points[i] - c) @ R))
            heights = rows[:, 0] / np.maximum(np.linalg.norm(rows[:, 1:], axis=1), 1e-300)
            kept = heights < bound
            i, heights = i[kept], heights[kept]
        return i, heights, np.full(len(i), -1)

    @cached_property
    def _first(self) -> NDArray[np.bool_]:
        """Which samples a plane may meet first: of edges and flat sides those that span the convex hull."""
        assert isinstance(self.source, Sampled)
        far, _, H = self.source._fitted
        found = ~self.source.sharp & (far * np.abs(H).max(axis=(1, 2)) > 1e-7)
        found[ConvexHull(self.source.points).vertices] = True
        return np.asarray(found)

    @cached_property
    def band(self) -> float:
        """How far above the other shape contact points are looked for [m]."""
        size, s = float(self.source.bounding_radius()), self.source.spacing
        slack = self.source.bulge + (self.other.bulge if isinstance(self.other, Source) else 0.0)
        return max(2.0 * slack, min(0.05 * size, 200.0 * s * s / size), 1e-6 * size)

    def contacts(
        self, R: Array, c: Array, points: int, before: list[Found | None] | None = None
    ) -> tuple[list[Found], float]:
        """Up to so many contact points, and how far the bodies may move before others could touch [m].

        before: The last ones in their slots; those that stay are given back in the same slots.
        """
        S, t = self._seen(R, c)
        band = self.band
        old = next((f for f in before or [] if f is not None and f.sample >= 0), None)
        slack = self.source.bulge + (self.other.bulge if isinstance(self.other, Source) else 0.0)
        nearest, partner, least = self.lowest(S, t, None if old is None else (old.sample, old.partner))
        # Samples of two surfaces miss each other by up to their distances.
        miss = self.other.spacing if isinstance(self.other, Source) else 0.0
        if self._heights is None and least > band + miss:
            return [self._from_sample(R, c, S, t, nearest, partner)] * points, least - miss - slack
        i, heights, j = self.low(S, t, band)
        if not len(i):
            if self._heights is None:
                return [self._from_sample(R, c, S, t, nearest, partner)] * points, 0.5 * band
            # A ball around the other shape is all the tree knew: take the sample that is truly lowest.
            i, heights, j = self.low(S, t, math.inf)
            k = int(np.argmin(heights))
            return [self._from_sample(R, c, S, t, int(i[k]), -1)] * points, max(
                0.5 * band, 0.5 * float(heights[k])
            )
        minima = self._minima(i, heights)
        # The deepest first; of those equally deep, as on a flat side, the outermost.
        p = self.source.points[i]
        out = np.linalg.norm(p[minima] - p.mean(axis=0), axis=1)
        steps = np.round(heights[minima] / (1e-6 * self.source.spacing))
        minima = minima[np.lexsort((-out, steps))]
        if points == 1:
            return [self._single(R, c, S, t, i, heights, j, minima)], band - slack
        minima = self._spread(i, heights, minima, points)
        return self._several(R, c, S, t, (i, heights, j, minima), points, before or []), band - slack

    def _minima(self, i: NDArray[np.int64], heights: Array) -> NDArray[np.int64]:
        """Which of the samples i are no higher than their neighbours."""
        if not isinstance(self.source, Sampled):
            return np.array([int(np.argmin(heights))])
        self._blank[i] = heights
        low = self._blank[self.source.neighbours[i]].min(axis=1)
        self._blank[i] = np.inf
        return np.flatnonzero(heights <= low + 1e-12 * self.source.spacing)

    def _spread(
        self, i: NDArray[np.int64], heights: Array, minima: NDArray[np.int64], points: int
    ) -> NDArray[np.int64]:
        """As many of the lowest first as there are points, of those equally low the one farthest from those before."""
        left, first = minima.tolist(), minima[:1].tolist()
        left = left[1:]
        while left and len(first) < points:
            limit = heights[left[0]] + EVEN * self.source.spacing
            same = [k for k in left if heights[k] <= limit]
            best = max(same, key=lambda k: self._apart(int(i[k]), self.source.points[i[first]]))
            first.append(best)
            left.remove(best)
        return np.array(first + left)

    def _apart(self, sample: int, taken: Array) -> float:
        """The product of the distances of a sample from points."""
        far = np.linalg.norm(np.asarray(taken) - self.source.points[sample], axis=1)
        return float(np.prod(far / self.source.spacing))

    def _slopes(self, i: NDArray[np.int64], heights: Array) -> Array:
        """How steeply the height falls from each of the samples i to a neighbour."""
        assert isinstance(self.source, Sampled)
        self._blank[i] = heights
        near = self.source.neighbours[i]
        fall = heights[:, None] - self._blank[near]
        self._blank[i] = np.inf
        way = np.linalg.norm(self.source.points[near] - self.source.points[i][:, None], axis=2)
        return np.asarray(np.maximum(fall / way, 0.0).max(axis=1))

    def _from_sample(self, R: Array, c: Array, S: Array, t: Array, i: int, j: int) -> Found:
        """A pair that does not touch: the nearest samples as they are."""
        p = self.source.points[i]
        q = self.other.points[j] if isinstance(self.other, Source) and j >= 0 else S.T @ (p - t)
        x, y = (p, q) if self.first else (q, p)
        try:
            return self.refined(R, c, x, y, i, FREE, j)
        except ModelError:
            return self.refined(R, c, x, y, i, HELD, j)

    def _single(
        self, R: Array, c: Array, S: Array, t: Array, i: NDArray[np.int64], heights: Array,
        j: NDArray[np.int64], minima: NDArray[np.int64],
    ) -> Found:  # fmt: skip
        k = int(minima[0])
        p = self.source.points[i[k]]
        q = self.other.points[j[k]] if isinstance(self.other, Source) else S.T @ (p - t)
        found = self.refined(R, c, *((p, q) if self.first else (q, p)), int(i[k]), FREE, int(j[k]))
        here = found.x if self.first else found.y
        apart = (
            np.linalg.norm(self.source.points[i[minima]] - here, axis=1) > 2.0 * NEAR * self.source.spacing
        )
        others = minima[apart & (heights[minima] < -self.source.bulge - 1e-9 * self.source.spacing)]
        if len(others) and found.gap < 0.0:
            place = ", ".join(f"{v:.4g}" for v in self.source.points[i[others[0]]])
            raise ModelError(
                f"the surfaces touch at more than one point, among them at ({place}) of the sampled one; "
                "give the contact points=2 or more"
            )
        return found

    def _several(
        self, R: Array, c: Array, S: Array, t: Array,
        low: tuple[NDArray[np.int64], Array, NDArray[np.int64], NDArray[np.int64]],
        points: int, before: list[Found | None],
    ) -> list[Found]:  # fmt: skip
        i, heights, j, minima = low
        source = self.source
        assert isinstance(source, Sampled)
        place = {int(s): k for k, s in enumerate(i)}
        slots: list[Found | None] = [None] * points
        taken: list[Array] = []
        gaps: list[float] = []

        def take(slot: int, found: Found) -> None:
            slots[slot] = found
            taken.append(found.x if self.first else found.y)
            gaps.append(found.gap)

        def far(x: Array) -> float:
            return min((float(np.linalg.norm(x - p)) for p in taken), default=math.inf)

        for slot, old in enumerate(before):
            # What carries stays: a change would jump.
            if old is not None and old.gap < 0.0 and old.sample in place and old.hold[0] < 2.0:
                k = place[old.sample]
                found = self._tried(R, c, S, t, int(i[k]), int(j[k]), old.hold)
                if found is not None and found.gap < 0.0:
                    take(slot, found)
        down = self._slopes(i, heights)
        lying = [down[k] < WALL and self._lies(S, t, int(i[k]), int(j[k])) for k in range(len(i))]
        for k in minima:
            if len(taken) >= points:
                break
            # On flat sides all are minima: the deepest counts, the others are chosen by their places.
            if (lying[k] and k != minima[0]) or far(source.points[i[k]]) < NEAR * source.spacing:
                continue
            found = self._tried(R, c, S, t, int(i[k]), int(j[k]), None)
            if found is not None and far(found.x if self.first else found.y) >= NEAR * source.spacing:
                take(_slot(slots, before, found, self.first), found)
        rest = [k for k in range(len(i)) if lying[k]]
        turns = self.band / float(source.bounding_radius())
        while rest and len(taken) < points:
            # What may come down farthest below the points before the next search; between two of them nothing does.
            apart = [(0.5 if source.sharp[i[k]] else APART) * source.spacing for k in rest]
            rest = [k for k, least in zip(rest, apart, strict=True) if far(source.points[i[k]]) >= least]
            if not rest:
                break
            spread = [
                (
                    not _between(taken, gaps, source.points[i[k]], float(heights[k]), 0.5 * source.spacing),
                    sum(float(np.linalg.norm(source.points[i[k]] - p)) - heights[k] / turns for p in taken),
                )
                for k in rest
            ]
            best = spread.index(max(spread))
            k = rest.pop(best)
            found = self._tried(R, c, S, t, int(i[k]), int(j[k]), None)
            least = (0.5 if source.sharp[i[k]] else APART) * source.spacing
            wide = found is not None and far(found.x if self.first else found.y) >= least
            if found is not None and found.hold[0] < 2.0 and wide:
                take(_slot(slots, before, found, self.first), found)
        filled = [s for s in slots if s is not None]
        if not filled:
            filled = [self._from_sample(R, c, S, t, int(i[minima[0]]), int(j[minima[0]]))]
            slots[0] = filled[0]
        return [s if s is not None else parked(filled[0]) for s in slots]

    def _tried(
        self, R: Array, c: Array, S: Array, t: Array, i: int, j: int, hold: tuple[float, ...] | None
    ) -> Found | None:
        p = self.source.points[i]
        q = self.other.points[j] if isinstance(self.other, Source) else S.T @ (p - t)
        way = self._hold(S, t, i, j) if hold is None else hold
        try:
            return self.refined(R, c, *((p, q) if self.first else (q, p)), i, way, j)
        except ModelError:
            return None if hold is not None else self._tried(R, c, S, t, i, j, HELD)

    def _bent(self, S: Array, t: Array, i: int, j: int) -> tuple[Array, Array, Array]:
        """Curvatures of the gap at a sample along two tangents of it, and the other's normal there."""
        source = self.source
        n = source.normals[i]
        E = np.array([[float(v) for v in e] for e in frame((float(n[0]), float(n[1]), float(n[2])))])
        K = E @ source.bends(i) @ E.T
        if isinstance(self.other, Source):
            other = self.other.normals[j]
            K = K + (E @ S) @ self.other.bends(j) @ (E @ S).T
            return K, E, S @ other
        y = vec([float(v) for v in S.T @ (source.points[i] - t)])
        e1, e2 = (vec([float(v) for v in S.T @ e]) for e in E)
        b11, b12, b22 = (float(v) for v in bend(self.other, y, e1, e2))  # type: ignore[arg-type]
        g = np.array([float(v) for v in slope(self.other, y)[1]])  # type: ignore[arg-type]
        return K + np.array([[b11, b12], [b12, b22]]), E, S @ (g / np.linalg.norm(g))

    def _hold(self, S: Array, t: Array, i: int, j: int) -> tuple[float, float, float, float]:
        """How a contact point that begins at a sample may move."""
        source = self.source
        assert isinstance(source, Sampled)
        if source.sharp[i]:
            return HELD
        K, E, _ = self._bent(S, t, i, j)
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        bent = values * source.spacing > FLAT
        if bent.all():
            return FREE
        if not bent.any():
            return HELD
        e = vectors[:, int(np.argmin(values))] @ E
        return (1.0, float(e[0]), float(e[1]), float(e[2]))

    def _lies(self, S: Array, t: Array, i: int, j: int) -> bool:
        """Whether a sample lies flat on the other shape, or on an edge or a corner of the side that does."""
        source = self.source
        assert isinstance(source, Sampled)
        if source.sharp[i]:
            return True
        K, _, other = self._bent(S, t, i, j)
        flat = bool((np.linalg.eigvalsh(0.5 * (K + K.T)) * source.spacing <= FLAT).any())
        return flat and float(source.normals[i] @ other) < OPPOSED


def _between(taken: list[Array], gaps: list[float], x: Array, height: float, near: float) -> bool:
    """Whether a place lies between two contact points, near their line, and no lower than that."""
    for k, p in enumerate(taken):
        for m, q in enumerate(taken[:k]):
            share = float((x - p) @ (q - p)) / max(float((q - p) @ (q - p)), 1e-300)
            beside = 0.0 < share < 1.0 and float(np.linalg.norm(x - p - share * (q - p))) < near
            if beside and height >= gaps[k] + share * (gaps[m] - gaps[k]) - 1e-6 * near:
                return True
    return False


def _slot(slots: list[Found | None], before: list[Found | None], found: Found, first: bool) -> int:
    """The free slot whose last point was nearest."""
    free = [k for k, s in enumerate(slots) if s is None]
    x = found.x if first else found.y

    def way(k: int) -> float:
        old = before[k] if k < len(before) else None
        if old is None or old.sample < 0:
            return 1e300
        return float(np.linalg.norm((old.x if first else old.y) - x))

    return min(free, key=way)


__all__ = ["SlowPair"]
