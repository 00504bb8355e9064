"""What a mechanism looks like: solids on its bodies, springs between them, the ground.

Shapes follow from the model alone: a body is drawn between the points at which joints and forces hold it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.contact.patch import coarser
from bellcrank.flexible.recovery import outer_faces
from bellcrank.math.normals import across
from bellcrank.model.forces import FieldContact, Tyre
from bellcrank.model.forces.element import Line
from bellcrank.model.joints.joint import Mark
from bellcrank.model.parameters import value
from bellcrank.result.deformation import deformed, edges_of
from bellcrank.result.patches import patches
from bellcrank.roads import heights
from bellcrank.view.placing import GROUND, Placing, apart, quaternions
from bellcrank.view.shapes import Solid, ball, bar, box, cylinder, hull, plate, wheel
from bellcrank.view.stress import stress_at
from bellcrank.view.touching import solid

if TYPE_CHECKING:
    from bellcrank.model.frames import Frame
    from bellcrank.model.joints import Joint
    from bellcrank.result.result import Result

Array = NDArray[np.float64]

COLOURS = ("#3b75af", "#e1792d", "#3c9a52", "#c14a4f", "#8a63b3", "#c9a227", "#3aa6a6", "#d77aa6", "#7d8c3f")
"""Of the bodies, in turn."""
GROUND_COLOUR, JOINT_COLOUR, TYRE = "#a7adb5", "#30363d", ("#2f343b", "#c3c9d1", "#8b949e")
UNSEEN = 1e-4
"""Shapes smaller than this share of the mechanism are not drawn: they stand for points."""
MOST_WET, LEAST_WET = 200_000, 60
"""Triangles of all contact patches in all frames, some 10 MB of a page, and those that a patch may have in any case."""
MOST_LINES = 800
"""Of one flexible body; finer meshes are drawn in part."""


@dataclass(frozen=True, eq=False)
class SpringLine:
    """A spring, or a plain rod, between two points, each of a body (its number, -1 for the ground) in body axes [m].

    moving_a, moving_b: Where the point is over the frames, (n, 3) [m], on a flexible body that deforms.
    """

    a: int
    at_a: Array
    b: int
    at_b: Array
    plain: bool
    moving_a: Array | None = None
    moving_b: Array | None = None

    def ends(self, frame: int) -> tuple[Array, Array]:
        """Both points in one frame, in the axes of their bodies."""
        a = self.at_a if self.moving_a is None else self.moving_a[frame]
        return a, self.at_b if self.moving_b is None else self.moving_b[frame]


@dataclass(frozen=True, eq=False)
class Deforming:
    """A flexible body: points in world axes (n, p, 3) [m] over the frames, joined by lines, (m, 2), of a width [m].

    faces: Triangles of the outside, (f, 3), none for beams. stress: [Pa], (n, p), or None where it is not known.
    """

    body: int
    points: Array
    lines: NDArray[np.int64]
    colour: str
    width: float
    faces: NDArray[np.int64]
    stress: Array | None = None


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
class Scene:
    """A mechanism to be drawn over some frames.

    bodies: names; behind those of the mechanism come nodes that carry shapes, without a name. solids:
    (body number, solid in body axes). time: (n,) [s]. positions: (n, bodies, 3) [m]. quaternions: (n,
    bodies, 4). up: unit vector. view: unit vector from the mechanism to the eye. size: of the mechanism
    [m]. planar: whether it moves in one plane, seen along `view`.
    """

    bodies: tuple[str, ...]
    colours: tuple[str, ...]
    solids: tuple[tuple[int, Solid], ...]
    springs: tuple[SpringLine, ...]
    time: Array
    positions: Array
    quaternions: Array
    up: Array
    view: Array
    size: float
    planar: bool
    deforming: tuple[Deforming, ...] = ()
    patches: tuple[Patches, ...] = ()

    @property
    def stress(self) -> float:
        """The largest stress of any flexible body [Pa], 0 where there is none."""
        known = [d.stress for d in self.deforming if d.stress is not None]
        return max((float(np.nanmax(s, initial=0.0)) for s in known), default=0.0)

    @property
    def pressure(self) -> float:
        """The largest pressure of any contact patch [Pa], 0 where there is none."""
        return max((float(p.pressure.max(initial=0.0)) for p in self.patches), default=0.0)


def scene(result: Result, frames: int = 600, magnified: float = 1.0) -> Scene:
    """The scene of a result, with at most so many frames and the deformation of flexible bodies magnified."""
    return _Builder(result, frames, magnified).scene()


class _Builder(Placing):
    def scene(self) -> Scene:
        """Put it together."""
        up, view, planar = self.eye()
        self.up, self.view, self.planar = up, view, planar
        solids = [
            (k, s) for name, k in self.number.items() if k >= 0 for s in self._body(name, COLOURS[k % 9])
        ]
        for joint in self.joints:
            solids += list(self._joint(joint))
        carriers: list[tuple[Array, Array]] = []
        solids += list(self._touching(carriers))
        solids += [(GROUND, s) for s in self._road()]
        names = (*self.names, *("" for _ in carriers))
        return Scene(
            names,
            tuple(COLOURS[k % len(COLOURS)] for k in range(len(names))),
            tuple(solids),
            tuple(self._springs()),
            self.result.time,
            np.stack([*np.moveaxis(self.positions, 1, 0), *(p for p, _ in carriers)], axis=1),
            quaternions(np.stack([*np.moveaxis(self.rotations, 1, 0), *(R for _, R in carriers)], axis=1)),
            up,
            view,
            self.size,
            planar,
            tuple(self._deforming()),
            tuple(self._patches()),
        )

    def _body(self, name: str, colour: str) -> Iterator[Solid]:
        body, w = self.system.bodies[name], self.width
        if body.member is not None:
            return
        center = self.vector(body.center_of_mass)
        wheels = [f for f in self.wheels() if f.frame.body.name == name]
        for f in wheels:
            radius, at = value(f.radius, self.parameters), self.vector(f.frame.position)
            width = f.law.width if isinstance(f, Tyre) else 0.6 * radius
            yield wheel(at, self.vector(f.axis), radius, width, TYRE)
        if wheels:
            return
        if name in self.touching and not self.held(name):
            return
        shown = [self.vector(f.position) for f in self.touching.get(name, ())]
        points = apart(np.vstack([self.points[name], *shown]), 0.5 * w)
        slides = [j for j in self.joints if j.slider and name in (j.a.body.name, j.b.body.name)]
        spread = np.linalg.svd(points - points.mean(axis=0), full_matrices=False) if len(points) > 1 else None
        flatness = spread[1] if spread is not None else np.zeros(3)
        if spread is not None and flatness[0] > 0.5 * w and (len(points) < 3 or flatness[1] < 0.5 * w):
            along = points @ spread[2][0]
            a, b = points[int(along.argmin())], points[int(along.argmax())]
            yield from bar(a, b, min(w, 0.25 * float(np.linalg.norm(b - a))), colour)
        elif spread is not None and len(points) > 3 and len(flatness) > 2 and flatness[2] > 1.5 * w:
            yield hull(points, colour, 0.3)
            return
        elif spread is not None and len(points) > 2:
            yield plate(points, spread[2][-1], 0.8 * w, colour)
        elif slides:
            joint = slides[0]
            own = joint.a if joint.a.body.name == name else joint.b
            yield box(points[0], self.matrix(own.rotation), (2.6 * w, 2.6 * w, 4.4 * w), colour)
            return
        elif len(points) == 1 and np.linalg.norm(points[0] - center) > w:
            yield from bar(points[0], center, 0.7 * w, colour)
            yield ball(center, 1.6 * w, colour, fine=True)
        elif name not in self.touching:
            edges = np.clip(self.bulk(body), 1.5 * w, 0.5 * self.size)
            yield box(center, np.eye(3), edges, colour, 0.85)
        if slides and any(np.linalg.norm(points - self.on(slides[0], name), axis=1) < w):
            own = slides[0].a if slides[0].a.body.name == name else slides[0].b
            if len(points) == 1:
                yield box(self.on(slides[0], name), self.matrix(own.rotation), (2 * w, 2 * w, 3 * w), colour)

    def _touching(self, carriers: list[tuple[Array, Array]]) -> Iterator[tuple[int, Solid]]:
        """The shapes of contacts, those of bodies that look like something already see-through.

        carriers: Takes positions and rotations of the nodes of flexible bodies that carry shapes.
        """
        drawn: set[tuple[str, int]] = set()
        for side in self.sides:
            name = side.frame.body.name
            # Several contact points of one shape know a piece or a spot of it each.
            shape = side.shape.whole
            if (name, id(shape)) in drawn:
                continue
            drawn.add((name, id(shape)))
            k, turned = self.number[name], self.matrix(side.frame.rotation)
            colour = COLOURS[k % len(COLOURS)] if k != GROUND else GROUND_COLOUR
            opacity = 0.45 if k != GROUND and any(True for _ in self._body(name, colour)) else 1.0
            up = turned.T @ self.up
            found = solid(shape, self.vector, self.size, colour, opacity, up)
            moving = self.moving(side.frame)
            if found is None or np.ptp(found.corners, axis=0).max() < UNSEEN * self.size:
                continue
            corners = found.corners @ turned.T
            if moving is None:
                yield k, replace(found, corners=corners + self.vector(side.frame.position))
                continue
            own = self.rotations[:, k]
            carriers.append((self.positions[:, k] + np.einsum("fij,fj->fi", own, moving), own))
            yield len(self.names) + len(carriers) - 1, replace(found, corners=corners)

    def _deforming(self) -> Iterator[Deforming]:
        for name, body in self.system.bodies.items():
            if body.member is None:
                continue
            points, cells = deformed(self.result, name, self.magnified)
            faces = outer_faces(cells)
            lines = edges_of(faces if len(faces) else cells)
            if len(lines) > MOST_LINES:
                lines = lines[np.linspace(0, len(lines) - 1, MOST_LINES).astype(int)]
            used, numbered = np.unique(np.concatenate([lines.ravel(), faces.ravel()]), return_inverse=True)
            width = self.width if cells.shape[1:] == (2,) else 0.1 * self.width
            k, ends = self.number[name], lines.size
            yield Deforming(
                k,
                points[:, used],
                numbered[:ends].reshape(-1, 2),
                COLOURS[k % len(COLOURS)],
                width,
                numbered[ends:].reshape(-1, 3),
                stress_at(self.result, name, used),
            )

    def _patches(self) -> Iterator[Patches]:
        names = [n for n, f in self.system.forces.items() if isinstance(f, FieldContact)]
        most = max(MOST_WET // max(1, len(names) * len(self.result)), LEAST_WET)
        for name in names:
            found = [coarser(p, most) for p in patches(self.result, name)]
            counts = [len(p.corners) for p in found]
            if sum(counts):
                yield Patches(
                    np.concatenate([p.corners for p in found]),
                    np.concatenate([p.pressure for p in found]),
                    np.cumsum([0, *counts]),
                )

    def _joint(self, joint: Joint) -> Iterator[tuple[int, Solid]]:
        w, a, b = self.width, joint.a, joint.b
        # A rigid body carries the mark where there is one: nodes of flexible ones move against their axes.
        firm = [f for f in (b, a) if self.number[f.body.name] != GROUND and f.body.member is None]
        carrier = firm[0] if firm else b if self.number[b.body.name] != GROUND else a
        k, at = self.number[carrier.body.name], self.vector(carrier.position)
        axis = self.matrix(carrier.rotation)[:, 2]
        if Mark.PIN in joint.marks:
            yield k, cylinder(at, axis, 0.62 * w, 1.7 * w, JOINT_COLOUR)
        if Mark.BALL in joint.marks:
            yield k, ball(at, 0.75 * w, JOINT_COLOUR)
        grounded = [f for f in (a, b) if self.number[f.body.name] == GROUND]
        if not grounded:
            return
        place, turned = self.vector(grounded[0].position), self.matrix(grounded[0].rotation)
        if Mark.GUIDE in joint.marks:
            low, high = self._travel(joint, place, turned[:, 2])
            center = place + turned[:, 2] * (low + high) / 2
            if self.planar:
                center = center - 1.9 * w * self._below(turned[:, 2])
            sizes = (0.5 * w, 0.5 * w, high - low + 8 * w)
            yield GROUND, box(center, turned, sizes, GROUND_COLOUR)
        if Mark.SUPPORT in joint.marks:
            yield GROUND, self._support(place, w)

    def _below(self, along: Array) -> Array:
        side = self.up - along * float(along @ self.up)
        length = float(np.linalg.norm(side))
        return side / length if length > 0.1 else np.cross(along, np.eye(3)[2])

    def _travel(self, joint: Joint, place: Array, along: Array) -> tuple[float, float]:
        """How far the body goes along a guide fixed to the ground [m]."""
        other = joint.b if self.number[joint.a.body.name] == GROUND else joint.a
        k, at = self.number[other.body.name], self.vector(other.position)
        s = (self.positions[:, k] + self.rotations[:, k] @ at - place) @ along
        return (float(s.min()), float(s.max())) if len(s) else (0.0, 0.0)

    def _support(self, place: Array, w: float) -> Solid:
        """A small pyramid under a bearing, behind it where the mechanism is seen from one side."""
        place = place - 2.0 * w * self.view if self.planar else place
        x, y = across(self.up)
        foot = place - 3.2 * w * self.up
        base = [foot + 1.9 * w * (i * x + j * y) for i, j in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
        faces = ((0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))
        return Solid(np.array([*base, place]), faces, (GROUND_COLOUR,))

    def _road(self) -> Iterator[Solid]:
        """The road under all wheels, as far as they go."""
        wheels = self.wheels()
        if not wheels or not len(self.positions):
            return
        tracks = []
        for f in wheels:
            k, at = self.number[f.frame.body.name], self.vector(f.frame.position)
            tracks.append(self.positions[:, k] + self.rotations[:, k] @ at)
        every = np.vstack(tracks)
        low, high = every.min(axis=0) - 0.35 * self.size, every.max(axis=0) + 0.35 * self.size
        road = next((f.road for f in wheels if f.road is not None), None)
        cell = max(self.size / 24, (high[0] - low[0]) / 90)
        xs = np.arange(low[0], high[0] + cell, cell)
        ys = np.linspace(low[1], high[1], 11)
        z = np.zeros((len(xs), len(ys)))
        if road is not None:
            z = heights(road, xs[:, None], ys[None], lambda name: self.parameters.get(name, 0.0))
        corners = np.array([(x, y, z[i, j]) for i, x in enumerate(xs) for j, y in enumerate(ys)])
        n = len(ys)
        faces = tuple(
            (i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1)
            for i in range(len(xs) - 1)
            for j in range(n - 1)
        )
        yield Solid(corners, faces, ("#eef1f4",), 1.0, ground=True)

    def _springs(self) -> Iterator[SpringLine]:
        for joint in self.joints:
            if Mark.ROD in joint.marks:
                yield self._line(joint.a, joint.b, True)
        for f in self.system.forces.values():
            if f.drawn is not None:
                a, b = f.frames
                yield self._line(a, b, f.drawn is Line.PLAIN)

    def _line(self, a: Frame, b: Frame, plain: bool) -> SpringLine:
        """Between two points."""
        k, m = self.number[a.body.name], self.number[b.body.name]
        at_a, at_b = self.vector(a.position), self.vector(b.position)
        return SpringLine(k, at_a, m, at_b, plain, self.moving(a), self.moving(b))
