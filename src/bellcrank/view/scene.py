"""What is drawn of a result: parts on moving frames, deforming bodies, contact patches, arrows, traces.

A scene is made once and drawn by the page, the viewer, the report, pictures, films and glTF files alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.errors import unknown_name
from bellcrank.view.links import Link, matrices
from bellcrank.view.placing import GROUND
from bellcrank.view.shapes import Solid, sweep

if TYPE_CHECKING:
    from bellcrank.result.result import Result

Array = NDArray[np.float64]
Index = NDArray[np.int64]

COLOURS = ("#3b75af", "#e1792d", "#3c9a52", "#c14a4f", "#8a63b3", "#c9a227", "#3aa6a6", "#d77aa6", "#7d8c3f")
"""Of the bodies, in turn."""
GROUND_COLOUR = "#a7adb5"
AROUND = 8
"""Sides of a beam."""
LONGEST = 0.3
"""Length of the largest arrow over the size of the mechanism."""
FITTED = 40
"""Frames that the camera is fitted to."""


@dataclass(frozen=True, eq=False)
class Deforming:
    """A flexible body: points in world axes (n, p, 3) [m] over the frames.

    faces: Triangles of the outside, (f, 3). paths: Numbers of points along each beam, drawn as a round bar of `width`
    [m]. lines: Pairs of points, the edges of a mesh. stress: [Pa], (n, p), or None where it is not known.
    """

    body: int
    points: Array
    lines: Index
    colour: str
    width: float
    faces: Index
    stress: Array | None = None
    paths: tuple[Index, ...] = ()

    def skin(self, frame: int) -> Array:
        """Corners of the triangles of `skin_faces` in a frame."""
        points = self.points[frame]
        beams = [sweep(points[path], 0.5 * self.width, AROUND)[0] for path in self.paths]
        return np.vstack([points, *beams])

    @cached_property
    def skin_faces(self) -> Index:
        """Triangles of surface and beams."""
        first, parts = self.points.shape[1], [self.faces.reshape(-1, 3)]
        for path in self.paths:
            corners, faces = sweep(self.points[0][path], 0.5 * self.width, AROUND)
            parts.append(faces + first)
            first += len(corners)
        return np.vstack(parts)

    @cached_property
    def skin_points(self) -> Index:
        """For each corner of the skin the point whose stress it shows."""
        beams = [np.repeat(path, AROUND) for path in self.paths]
        return np.concatenate([np.arange(self.points.shape[1]), *beams])


@dataclass(frozen=True, eq=False)
class Patches:
    """A contact patch over the frames: triangles one after the other, those of frame k from first[k] to first[k + 1].

    corners: (m, 3, 3) in world axes [m]. pressure: (m, 3) at the corners [Pa].
    """

    corners: Array
    pressure: Array
    first: NDArray[np.int64]

    def of(self, frame: int) -> tuple[Array, Array]:
        """Corners and pressure in one frame."""
        rows = slice(self.first[frame], self.first[frame + 1])
        return self.corners[rows], self.pressure[rows]


@dataclass(frozen=True, eq=False)
class Arrows:
    """Vectors of one kind: "force", "reaction" or "velocity".

    at, vectors: (n, k, 3) in world axes, [m] and in `unit`. names: Whose they are.
    """

    kind: str
    unit: str
    colour: str
    names: tuple[str, ...]
    at: Array
    vectors: Array

    @property
    def largest(self) -> float:
        """In its unit."""
        return float(np.linalg.norm(self.vectors, axis=-1).max(initial=0.0))

    def drawn(self, frame: int, size: float, largest: float | None = None) -> Array:
        """Feet and tips in a frame, (k, 2, 3) [m]; the largest of all is `LONGEST` of the size [m] of a mechanism."""
        scale = LONGEST * size / ((self.largest if largest is None else largest) or 1.0)
        return np.stack([self.at[frame], self.at[frame] + scale * self.vectors[frame]], axis=1)


@dataclass(frozen=True, eq=False)
class Trace:
    """The path of a point, (n, 3) in world axes [m]."""

    name: str
    points: Array
    colour: str


@dataclass(frozen=True, eq=False)
class Scene:
    """A mechanism to be drawn over some frames.

    bodies: Names of the frames that carry parts; behind those of the mechanism come nodes of flexible bodies, without a
    name, and the frames of links. solids: (number of its frame, part in the axes of that frame). time: (n,) [s].
    positions: (n, frames, 3) [m]. quaternions: (n, frames, 4). stretch: (n, frames), along z. up: unit vector. view:
    unit vector from the mechanism to the eye. size: of the mechanism [m]. planar: whether it moves in one plane, seen
    along `view`. anchor: Number of the heaviest body, with which the eye goes along.
    """

    bodies: tuple[str, ...]
    solids: tuple[tuple[int, Solid], ...]
    links: tuple[Link, ...]
    time: Array
    positions: Array
    quaternions: Array
    stretch: Array
    up: Array
    view: Array
    size: float
    planar: bool
    deforming: tuple[Deforming, ...] = ()
    patches: tuple[Patches, ...] = ()
    arrows: tuple[Arrows, ...] = ()
    traces: tuple[Trace, ...] = ()
    anchor: int = 0
    centers: Array | None = None

    @property
    def stress(self) -> float:
        """The largest stress of any flexible body [Pa], 0 where there is none."""
        known = [d.stress for d in self.deforming if d.stress is not None]
        return max((float(np.nanmax(s, initial=0.0)) for s in known), default=0.0)

    @property
    def pressure(self) -> float:
        """The largest pressure of any contact patch [Pa], 0 where there is none."""
        return max((float(p.pressure.max(initial=0.0)) for p in self.patches), default=0.0)

    @cached_property
    def rotations(self) -> Array:
        """Matrices (n, frames, 3, 3) that take what the frames carry into world axes, stretched."""
        R = matrices(self.quaternions)
        R[..., 2] *= self.stretch[..., None]
        return R

    def placed(self, frame: int, points: Array, at: int) -> Array:
        """Points of a frame, (k, 3), in world axes at one time."""
        if frame == GROUND or not len(self.time):
            return points
        return np.asarray(points @ self.rotations[at, frame].T + self.positions[at, frame])

    def resampled(self, time: Array) -> Scene:
        """The scene at other times [s], between those it has; contact patches are those of the nearest."""
        right = np.clip(np.searchsorted(self.time, time), min(1, len(self.time) - 1), len(self.time) - 1)
        left = np.maximum(right - 1, 0)
        span = self.time[right] - self.time[left]
        share = np.clip((time - self.time[left]) / np.where(span > 0.0, span, 1.0), 0.0, 1.0)

        def mixed(values: Array) -> Array:
            s = share.reshape(-1, *(1,) * (values.ndim - 1))
            return (1.0 - s) * values[left] + s * values[right]

        near = np.where(share < 0.5, left, right)
        turned = mixed(self.quaternions)
        kept = [[p.of(int(k)) for k in near] for p in self.patches]
        return replace(
            self,
            time=np.asarray(time, dtype=float),
            positions=mixed(self.positions),
            quaternions=turned / np.linalg.norm(turned, axis=-1, keepdims=True),
            stretch=mixed(self.stretch),
            deforming=tuple(
                replace(d, points=mixed(d.points), stress=None if d.stress is None else mixed(d.stress))
                for d in self.deforming
            ),
            patches=tuple(
                Patches(
                    np.concatenate([c for c, _ in rows]),
                    np.concatenate([p for _, p in rows]),
                    np.cumsum([0, *(len(c) for c, _ in rows)]),
                )
                for rows in kept
            ),
            arrows=tuple(replace(a, at=mixed(a.at), vectors=mixed(a.vectors)) for a in self.arrows),
        )

    @cached_property
    def axes(self) -> tuple[Array, Array, Array]:
        """To the right, upwards and towards the eye."""
        right = np.cross(self.up, self.view)
        right /= np.linalg.norm(right)
        return right, np.cross(self.view, right), self.view

    @cached_property
    def travels(self) -> bool:
        """Whether it goes so far that the eye goes along with it."""
        centers = self.positions.mean(axis=1)
        return bool(np.linalg.norm(np.ptp(centers, axis=0)) > 1.2 * self.size)

    def extent(self, axes: tuple[Array, ...] | None = None, at: int | None = None) -> tuple[Array, Array]:
        """Middle [m] and sizes (right, up, towards the eye) [m] of all that is drawn, floors left out.

        at: The frame alone; over all frames where None. Where it travels and the eye goes along, as seen from the body
        that the eye follows, from where that one is at the start.
        """
        towards = np.array(self.axes if axes is None else axes)
        count = len(self.time)
        frames = [at] if at is not None else np.unique(np.linspace(0, count - 1, FITTED).astype(int)).tolist()
        gone = np.zeros((count, 3))
        if at is None and self.travels:
            gone = self.positions[:, self.anchor] - self.positions[0, self.anchor]
        low, high = np.full(3, np.inf), np.full(3, -np.inf)

        def take(points: Array) -> None:
            nonlocal low, high
            if len(points):
                seen = points @ towards.T
                low, high = np.minimum(low, seen.min(axis=0)), np.maximum(high, seen.max(axis=0))

        for body, solid in self.solids:
            if not solid.endless:
                for k in frames if body >= 0 else frames[:1]:
                    take(self.placed(body, solid.corners, k) - gone[k])
        for d in self.deforming:
            for k in frames:
                take(d.points[k] - gone[k])
        if not np.isfinite(low).all():
            low = high = np.zeros(3)
        return (low + high) / 2 @ towards, np.maximum(high - low, 0.3 * self.size)


def colour_of(body: int) -> str:
    """The colour of a body by its number."""
    return COLOURS[body % len(COLOURS)]


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue, 0 to 255, of "#rrggbb"."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue


def scene(
    result: Result,
    frames: int = 600,
    magnified: float = 1.0,
    arrows: Sequence[str] = (),
    traces: Sequence[str] = (),
) -> Scene:
    """The scene of a result, with at most so many frames and the deformation of flexible bodies magnified.

    arrows: Kinds of arrows, of "force", "reaction" and "velocity". traces: Points whose paths are drawn, as quantities
    name them: ``"rod"``, ``"rod.center"`` or ``"rod.point(1, 0, 0)"``.
    """
    from bellcrank.view.parts import ARROWS, Builder

    for kind in arrows:
        if kind not in ARROWS:
            raise unknown_name("kind of arrow", kind, ARROWS)
    return Builder(result, frames, magnified).scene(arrows, traces)
