"""The parts of a mechanism as an engineer would draw them, from the model alone.

Links are bars with eyes, arms reach to all their joints, planar links lie in layers so that they pass each other; gears
have teeth, springs wire, bearings on the ground a pedestal. A body with visuals of its own is drawn by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bellcrank.contact.patch import coarser
from bellcrank.flexible.recovery import outer_faces
from bellcrank.flexible.rods import Rod
from bellcrank.math.normals import across
from bellcrank.model.forces import Cable, FieldContact, Spring, Tyre
from bellcrank.model.forces.element import Line
from bellcrank.model.joints.joint import Mark
from bellcrank.model.parameters import value
from bellcrank.result.deformation import deformed, edges_of
from bellcrank.result.patches import patches
from bellcrank.roads import heights
from bellcrank.view.cams import cams
from bellcrank.view.gears import gears
from bellcrank.view.links import Link, along
from bellcrank.view.placing import GROUND, Placing, quaternions
from bellcrank.view.scene import (
    AROUND,
    COLOURS,
    GROUND_COLOUR,
    Array,
    Arrows,
    Deforming,
    Index,
    Patches,
    Scene,
    Trace,
    colour_of,
)
from bellcrank.view.shapes import (
    Solid,
    around,
    ball,
    box,
    coil,
    cylinder,
    drawn_out,
    hull,
    mantle,
    plate,
    rod,
    tiles,
    tube,
    tyre,
)
from bellcrank.view.stress import stress_at
from bellcrank.view.touching import solid

if TYPE_CHECKING:
    from bellcrank.model.frames import Frame
    from bellcrank.model.joints import Joint

PIN, METAL, SPRING, TYRE = "#3f464f", "#9aa3ad", "#75818d", ("#2b2f35", "#c3c9d1", "#8b949e")
ARROWS = {"force": ("N", "#c8352b"), "reaction": ("N", "#2458c4"), "velocity": ("m/s", "#1f8a4c")}
"""Units and colours of the kinds of arrows."""
UNSEEN = 1e-4
"""Shapes smaller than this share of the mechanism are not drawn: they stand for points."""
MOST_WET, LEAST_WET = 200_000, 60
"""Triangles of all contact patches in all frames, some 10 MB of a page, and those that a patch may have in any case."""
MOST_LINES = 800
"""Of one flexible body; finer meshes are drawn in part."""
SAME = 0.02
"""Difference of the half axes of a section, over the larger, that no eye sees."""
FEW_POINTS = 7
"""Points that a forging holds by arms; a body held at more of them is a frame of tubes."""


@dataclass(frozen=True, eq=False)
class Hold:
    """Where something holds a body: point and axis in body axes, the axis of a pin only. ball: A ball joint."""

    point: Array
    axis: Array | None = None
    ball: bool = False


class Builder(Placing):
    """Makes the scene of a result."""

    def scene(self, arrows: Sequence[str] = (), traces: Sequence[str] = ()) -> Scene:
        """Put it together; `arrows` names kinds of arrows, `traces` points such as ``rod.point(1, 0, 0)``."""
        self.up, self.view, self.planar = self.eye()
        self.links: list[Link] = []
        self.carriers: list[tuple[Array, Array]] = []
        # Gears and cams by their bodies: what is made to a profile.
        self.profiled: dict[str, list[Solid]] = {}
        if len(self.positions):
            for made in (gears(self), cams(self)):
                for name, parts in made.items():
                    self.profiled.setdefault(name, []).extend(parts)
        solids = [(k, s) for name, k in self.number.items() if k >= 0 for s in self._body(name, colour_of(k))]
        ground = self.system.ground.name
        solids += [(GROUND, s) for s in (*self._visuals(ground), *self.profiled.get(ground, ()))]
        for joint in self.joints:
            solids += list(self._joint(joint))
        for f in self.system.forces.values():
            if f.drawn is Line.PLAIN:
                feet = [self.vector(e.position) for e in f.frames if self.number[e.body.name] == GROUND]
                solids += [(GROUND, s) for place in feet for s in self._support(place, None)]
        solids += list(self._pulleys())
        solids += list(self._touching())
        solids += [(GROUND, s) for s in self._road()]
        first = len(self.names) + len(self.carriers)
        solids += [(first + k, s) for k, s in self._between()]
        positions = np.stack([*np.moveaxis(self.positions, 1, 0), *(p for p, _ in self.carriers)], axis=1)
        turned = quaternions(
            np.stack([*np.moveaxis(self.rotations, 1, 0), *(R for _, R in self.carriers)], axis=1)
        )
        stretch = np.ones(positions.shape[:2])
        if self.links:
            placed = [self._placed(link) for link in self.links]
            positions = np.concatenate([positions, np.stack([p for p, _, _ in placed], axis=1)], axis=1)
            turned = np.concatenate([turned, np.stack([q for _, q, _ in placed], axis=1)], axis=1)
            stretch = np.concatenate([stretch, np.stack([s for _, _, s in placed], axis=1)], axis=1)
        masses = [value(b.mass, self.parameters) for b in self.system.bodies.values()]
        return Scene(
            (*self.names, *("" for _ in range(positions.shape[1] - len(self.names)))),
            tuple(solids),
            tuple(self.links),
            self.result.time,
            positions,
            turned,
            stretch,
            self.up,
            self.view,
            self.size,
            self.planar,
            tuple(self._deforming()),
            tuple(self._patches()),
            tuple(a for kind in arrows if (a := self._arrows(kind)) is not None),
            tuple(self._trace(name, k) for k, name in enumerate(traces)),
            int(np.argmax(masses)) if masses else 0,
            np.array([self.vector(b.center_of_mass) for b in self.system.bodies.values()]).reshape(-1, 3),
        )

    @cached_property
    def layers(self) -> dict[str, int]:
        """Planar bodies that share a pin lie in different layers, counted towards the eye."""
        if not self.planar:
            return {}
        beside: dict[str, set[str]] = {name: set() for name in self.names}
        at: dict[tuple[int, ...], set[str]] = {}
        for joint in self.joints:
            if Mark.PIN not in joint.marks:
                continue
            ends = {f.body.name for f in (joint.a, joint.b)} & set(beside)
            place = self.world(joint.a.body.name, self.vector(joint.a.position)[None])[0]
            # Pins in one place go through all that they hold.
            at.setdefault(tuple(np.round(place / self.width).astype(int)), set()).update(ends)
        for ends in at.values():
            for name in ends:
                beside[name] |= ends - {name}
        found: dict[str, int] = {}
        for name in self.names:
            taken = {found[other] for other in beside[name] if other in found}
            found[name] = next(k for k in range(len(taken) + 1) if k not in taken)
        return found

    def shift(self, name: str, layer: int | None = None) -> Array:
        """How far a planar body is drawn towards the eye, in its own axes."""
        if not self.planar:
            return np.zeros(3)
        k = self.layers.get(name, -1) if layer is None else layer
        return self._own(name, self.view) * (1.05 * self.width * k)

    def _own(self, name: str, direction: Array) -> Array:
        """A world direction in the axes of a body at the start."""
        k = self.number[name]
        return direction if k == GROUND or not len(self.rotations) else direction @ self.rotations[0, k]

    def _holds(self, name: str) -> list[Hold]:
        """Where joints, forces and contacts hold a body, one for each place; a pin counts before others."""
        found: list[Hold] = []
        for joint in self.joints:
            for f in (joint.a, joint.b):
                if f.body.name == name:
                    pin = Mark.PIN in joint.marks
                    axis = self.matrix(f.rotation)[:, 2] if pin else None
                    found.append(Hold(self.vector(f.position), axis, Mark.BALL in joint.marks))
        found.sort(key=lambda h: (h.axis is None, not h.ball))
        for force in self.system.forces.values():
            found += [Hold(self.vector(f.position)) for f in force.held_at if f.body.name == name]
        found += [Hold(self.vector(f.position)) for f in self.touching.get(name, ())]
        kept: list[Hold] = []
        for h in found:
            if all(np.linalg.norm(h.point - k.point) > 0.5 * self.width for k in kept):
                kept.append(h)
        return kept

    def _visuals(self, name: str) -> Iterator[Solid]:
        body = self.system.bodies.get(name, self.system.ground)
        for v in body.visuals:
            turned = self.matrix(v.frame.rotation)
            colour = v.colour or (colour_of(self.number[name]) if self.number[name] >= 0 else GROUND_COLOUR)
            found = solid(v.shape, self.vector, self.size, colour, v.opacity, turned.T @ self.up)
            if found is not None:
                moved = found.corners @ turned.T + self.vector(v.frame.position)
                yield replace(found, corners=moved, colour=colour)

    def _body(self, name: str, colour: str) -> Iterator[Solid]:
        body = self.system.bodies[name]
        if body.visuals:
            yield from self._visuals(name)
            return
        if body.member is not None:
            return
        wheels = [f for f in self.wheels() if f.frame.body.name == name]
        for f in wheels:
            radius = self.radius(f)
            wide = float(f.law.width) if isinstance(f, Tyre) else 0.0
            at, axis = self.vector(f.frame.position), self.vector(f.axis)
            yield from tyre(at, axis, radius, wide if wide > 0.0 else 0.6 * radius, TYRE)
        yield from self.profiled.get(name, ())
        if wheels or (name in self.touching and not self.held(name)):
            return
        holds = self._holds(name)
        yield from (replace(s, corners=s.corners + self.shift(name)) for s in self._link(name, holds, colour))

    def _link(self, name: str, holds: list[Hold], colour: str) -> Iterator[Solid]:
        """A body by the places that hold it."""
        body, w = self.system.bodies[name], self.width
        center = self.vector(body.center_of_mass)
        points = np.array([h.point for h in holds]).reshape(-1, 3)
        spread = (
            np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[1]
            if len(points) > 1
            else np.zeros(3)
        )
        slides = [j for j in self.joints if j.slider and name in (j.a.body.name, j.b.body.name)]
        if slides:
            own = slides[0].a if slides[0].a.body.name == name else slides[0].b
            wide = 2.6 * w if len(points) < 2 else 2.0 * w
            yield box(self.vector(own.position), self.matrix(own.rotation), (wide, wide, 1.7 * wide), colour)
        if spread[0] > 0.5 * w:
            yield from (
                self._flat(name, holds, points, colour)
                if self.planar
                else self._spatial(holds, points, colour)
            )
        elif slides or name in self.profiled:
            return
        elif len(points) == 1 and np.linalg.norm(points[0] - center) > w:
            heavy = float(np.clip(0.5 * np.mean(self.bulk(body)), 1.3 * w, 4.0 * w))
            yield from (
                self._flat(name, [*holds, Hold(center)], np.vstack([points, center]), colour, 1)
                if self.planar
                else self._spatial([*holds, Hold(center)], np.vstack([points, center]), colour)
            )
            yield ball(center, heavy, colour, 19)
        elif name not in self.touching:
            yield box(center, np.eye(3), np.clip(self.bulk(body), 1.5 * w, 0.5 * self.size), colour)

    def _flat(
        self, name: str, holds: list[Hold], points: Array, colour: str, eyes: int | None = None
    ) -> Iterator[Solid]:
        """A planar link: a web around all its points with an eye at each."""
        w, n = self.width, self._own(name, self.view)
        x, y = across(n)
        middle = points.mean(axis=0)
        flat = np.column_stack([(points - middle) @ x, (points - middle) @ y])
        outline, off = around(flat, 0.62 * w)
        yield drawn_out(outline, middle + off[0] * x + off[1] * y, x, y, 0.55 * w, colour)
        for h in holds[:eyes]:
            yield cylinder(h.point, n, 1.15 * w, 0.9 * w, colour)

    def _spatial(self, holds: list[Hold], points: Array, colour: str) -> Iterator[Solid]:
        """A link in space: a bar, a fork, a forging with arms, or a frame of tubes."""
        w = self.width
        middle = points.mean(axis=0)
        _, spread, axes = np.linalg.svd(points - middle, full_matrices=False)
        for h in holds:
            yield from self._eye(h, colour)
        if len(points) == 2 or spread[1] < 0.5 * w:
            order = np.argsort(points @ axes[0])
            yield rod(points[order[0]], points[order[-1]], 0.48 * w, colour)
            return
        balls = [k for k, h in enumerate(holds) if h.ball]
        if len(points) > FEW_POINTS and (len(spread) < 3 or spread[2] < 0.5 * w):
            normal = axes[2] if len(axes) > 2 else np.cross(axes[0], axes[1])
            yield plate(points, normal, 0.5 * w, colour, 0.6 * w)
            return
        if len(points) > FEW_POINTS:
            shell = hull(points, colour, 0.22)
            yield replace(shell, sharp=False)
            for i, j in shell.edges:
                yield rod(shell.corners[i], shell.corners[j], 0.4 * w, colour)
            return
        if len(points) == 3 or (len(balls) == 1 and (len(spread) < 3 or spread[2] < 1.5 * w)):
            hub = balls[0] if len(balls) == 1 else _apex(points)
            rest = [k for k in range(len(points)) if k != hub]
            for k in rest:
                yield rod(points[hub], points[k], 0.62 * w, colour, 0.42 * w)
            web = np.vstack([points[hub], *(points[hub] + 0.55 * (points[k] - points[hub]) for k in rest)])
            yield plate(web, axes[-1] if len(axes) > 2 else np.cross(axes[0], axes[1]), 0.3 * w, colour)
            return
        yield ball(middle, 0.95 * w, colour)
        for p in points:
            if np.linalg.norm(p - middle) > 0.3 * w:
                yield rod(middle, p, 0.85 * w, colour, 0.5 * w)

    def _eye(self, hold: Hold, colour: str) -> Iterator[Solid]:
        w = self.width
        if hold.axis is not None:
            yield tube(hold.point, hold.axis, 1.05 * w, 0.5 * w, 1.5 * w, colour)
        elif not hold.ball:
            yield ball(hold.point, 0.6 * w, colour)

    def _joint(self, joint: Joint) -> Iterator[tuple[int, Solid]]:
        w, a, b = self.width, joint.a, joint.b
        # A rigid body carries the mark where there is one: nodes of flexible ones move against their axes.
        firm = [f for f in (b, a) if self.number[f.body.name] != GROUND and f.body.member is None]
        carrier = firm[0] if firm else b if self.number[b.body.name] != GROUND else a
        k, at = self.number[carrier.body.name], self.vector(carrier.position)
        axis = self.matrix(carrier.rotation)[:, 2]
        grounded = [f for f in (a, b) if self.number[f.body.name] == GROUND]
        if Mark.PIN in joint.marks:
            if self.planar:
                held = sorted(self.layers.get(f.body.name, -1) for f in (a, b))
                low, high = (s * 1.05 * w for s in held)
                n, long = self._own(carrier.body.name, self.view), high - low + 1.35 * w
            else:
                low, high, n, long = 0.0, 0.0, axis, 2.0 * w
            # A shaft comes out of the hub of its gear, which lies where it is.
            hubs = [float(np.ptp(s.corners @ n)) for s in self.profiled.get(carrier.body.name, ())]
            if hubs:
                yield k, cylinder(at, n, 1.1 * w, 1.15 * max(hubs), PIN)
            else:
                yield k, cylinder(at + 0.5 * (low + high) * n, n, 0.55 * w, long, PIN)
        if Mark.BALL in joint.marks:
            yield k, ball(at, 1.0 * w, PIN)
        if not grounded:
            return
        place, turned = self.vector(grounded[0].position), self.matrix(grounded[0].rotation)
        if Mark.GUIDE in joint.marks:
            low, high = self._travel(joint, place, turned[:, 2])
            center = place + turned[:, 2] * (low + high) / 2
            below = self._below(turned[:, 2])
            if self.planar:
                center = center - 1.75 * w * below
            sizes = (0.6 * w, 0.6 * w, high - low + 8 * w)
            side = np.cross(turned[:, 2], below)
            axes = np.column_stack([below, side, turned[:, 2]])
            yield GROUND, box(center, axes, sizes, GROUND_COLOUR)
            if self.planar:
                start = center - 0.3 * w * below
                yield GROUND, _hatching(start, turned[:, 2], -below, sizes[2], w)
        if Mark.SUPPORT in joint.marks and Mark.GUIDE not in joint.marks:
            pin = Mark.PIN in joint.marks
            yield from ((GROUND, s) for s in self._support(place, turned[:, 2] if pin else None))

    def _support(self, place: Array, axis: Array | None) -> Iterator[Solid]:
        """A pedestal under a bearing, behind it where the mechanism is seen from one side, hatched below."""
        w, up = self.width, self.up
        if self.planar:
            axis, place = self.view, place - 1.05 * w * self.view
        if axis is None:
            axis = across(up)[0]
        if abs(float(axis @ up)) > 0.8:
            base = place - 1.3 * w * np.sign(axis @ up) * axis
            yield cylinder(base, axis, 2.2 * w, 0.7 * w, GROUND_COLOUR)
            yield cylinder(base + 0.4 * w * up, axis, 1.2 * w, 1.4 * w, GROUND_COLOUR)
            return
        up = up - axis * float(axis @ up)
        up /= np.linalg.norm(up)
        side = np.cross(up, axis)
        feet = np.array([(0.0, 0.0), (-1.5 * w, -3.0 * w), (1.5 * w, -3.0 * w)])
        outline, middle = around(feet, np.array([1.2 * w, 0.2 * w, 0.2 * w]))
        cheeks = (0.0,) if self.planar else (-1.15 * w, 1.15 * w)
        for off in cheeks:
            center = place + off * axis + middle[0] * side + middle[1] * up
            yield drawn_out(outline, center, side, up, 0.6 * w, GROUND_COLOUR)
        foot = place - 3.35 * w * up
        yield box(
            foot,
            np.column_stack([side, up, axis]),
            (5.2 * w, 0.45 * w, 2.2 * w if self.planar else 3.6 * w),
            GROUND_COLOUR,
        )
        yield _hatching(foot - 0.22 * w * up, side, -up, 5.2 * w, w)

    def _below(self, along_it: Array) -> Array:
        side = self.up - along_it * float(along_it @ self.up)
        length = float(np.linalg.norm(side))
        if length > 0.1:
            return side / length
        return np.cross(self.view, along_it) if self.planar else np.asarray(across(along_it)[0])

    def _travel(self, joint: Joint, place: Array, along_it: Array) -> tuple[float, float]:
        """How far the body goes along a guide fixed to the ground [m]."""
        other = joint.b if self.number[joint.a.body.name] == GROUND else joint.a
        k, at = self.number[other.body.name], self.vector(other.position)
        s = (self.positions[:, k] + self.rotations[:, k] @ at - place) @ along_it
        return (float(s.min()), float(s.max())) if len(s) else (0.0, 0.0)

    def _touching(self) -> Iterator[tuple[int, Solid]]:
        """The shapes of contacts as they are."""
        drawn: set[tuple[str, int]] = set()
        for side in self.sides:
            name = side.frame.body.name
            # Several contact points of one shape know a piece or a spot of it each.
            shape = side.shape.whole
            if (name, id(shape)) in drawn or side.frame.body.visuals:
                continue
            drawn.add((name, id(shape)))
            k, turned = self.number[name], self.matrix(side.frame.rotation)
            colour = colour_of(k) if k != GROUND else GROUND_COLOUR
            found = solid(shape, self.vector, self.size, colour, 1.0, turned.T @ self.up)
            moving = self.moving(side.frame)
            if found is None or np.ptp(found.corners, axis=0).max() < UNSEEN * self.size:
                continue
            corners = found.corners @ turned.T
            if moving is None:
                yield k, replace(found, corners=corners + self.vector(side.frame.position))
                continue
            own = self.rotations[:, k]
            self.carriers.append((self.positions[:, k] + np.einsum("fij,fj->fi", own, moving), own))
            yield len(self.names) + len(self.carriers) - 1, replace(found, corners=corners)

    def _between(self) -> Iterator[tuple[int, Solid]]:
        """Springs, dampers and rods, on links by their number."""
        for joint in self.joints:
            if Mark.ROD in joint.marks:
                yield from self._rod(joint.a, joint.b)
        for f in self.system.forces.values():
            if isinstance(f, Cable):
                yield from self._cable(f)
            elif f.drawn is not None:
                a, b = f.frames
                sprung, damped = True, False
                if isinstance(f, Spring):
                    sprung = value(f.stiffness, self.parameters) != 0.0
                    damped = value(f.damping, self.parameters) != 0.0
                if f.drawn is Line.PLAIN:
                    yield from self._rod(a, b)
                else:
                    yield from self._strut(a, b, sprung, damped)

    def _on(self, a: Frame, b: Frame, **more: Any) -> int:
        """The number of a new link between two points."""
        k, m = self.number[a.body.name], self.number[b.body.name]
        at_a, at_b = self.vector(a.position), self.vector(b.position)
        if self.planar and not (a.body.member or b.body.member):
            at_a, at_b = at_a + self.shift(a.body.name), at_b + self.shift(b.body.name)
        self.links.append(Link(k, at_a, m, at_b, moving_a=self.moving(a), moving_b=self.moving(b), **more))
        return len(self.links) - 1

    def _rod(self, a: Frame, b: Frame) -> Iterator[tuple[int, Solid]]:
        w = self.width
        _, _, lengths = self._ends(self._link_of(a, b))
        length = float(lengths[0]) if len(lengths) else 0.0
        if length < 0.5 * w:
            # A bushing: a sleeve of rubber, in a bracket where one side is the ground.
            yield self._on(a, b), ball(np.zeros(3), 0.9 * w, TYRE[0])
            return
        z, o = np.array([0.0, 0.0, 1.0]), np.zeros(3)
        k = self._on(a, b, length=length)
        yield k, rod(o, length * z, 0.3 * w, METAL)
        yield self._on(a, b), ball(o, 0.6 * w, PIN)
        yield self._on(a, b, from_b=True), ball(o, 0.6 * w, PIN)

    def _link_of(self, a: Frame, b: Frame) -> Link:
        self._on(a, b)
        return self.links.pop()

    def _strut(self, a: Frame, b: Frame, sprung: bool, damped: bool) -> Iterator[tuple[int, Solid]]:
        """A spring from a to b, around a damper where it damps."""
        w = self.width
        _, _, lengths = self._ends(self._link_of(a, b))
        if not len(lengths) or float(lengths.max()) < 0.5 * w:
            return
        longest, shortest = float(lengths.max()), max(float(lengths.min()), 0.05 * float(lengths.max()))
        length = float(np.clip(lengths[0], shortest, longest)) or longest
        z, o = np.array([0.0, 0.0, 1.0]), np.zeros(3)
        radius = min(1.6 * w, 0.2 * shortest + 0.3 * w)
        wire = min(0.24 * w, 0.2 * radius)
        low, rigid, top = self._on(a, b, length=length), self._on(a, b), self._on(a, b, from_b=True)
        yield rigid, ball(o, 0.55 * w, PIN)
        yield top, ball(o, 0.55 * w, PIN)
        seat = min(0.9 * w, 0.1 * shortest)
        if damped:
            body = 0.62 * shortest
            yield (
                rigid,
                cylinder((seat + 0.5 * body) * z, z, 0.62 * radius if sprung else 0.8 * w, body, METAL),
            )
            yield top, rod(o, -(0.95 * shortest - seat) * z, 0.26 * radius if sprung else 0.3 * w, "#d5dae0")
        else:
            yield rigid, rod(o, seat * z, 0.25 * w, PIN)
            yield top, rod(o, -seat * z, 0.25 * w, PIN)
        if sprung:
            # The seats keep their thickness while the coil between them is drawn out.
            turns = float(np.clip(length / (4.5 * wire + 1e-300), 4.0, 9.0))
            wound = coil(length - 2.0 * seat, radius, wire, SPRING, float(np.round(turns)))
            yield low, replace(wound, corners=wound.corners + seat * z)
            yield rigid, cylinder(seat * z, z, radius + 1.6 * wire, 0.7 * wire + 0.1 * w, PIN)
            yield top, cylinder(-seat * z, z, radius + 1.6 * wire, 0.7 * wire + 0.1 * w, PIN)

    def _cable(self, cable: Cable) -> Iterator[tuple[int, Solid]]:
        """A cable from point to point, tangent to the pulleys between them.

        The pieces are those of :mod:`bellcrank.model.forces.cable`, worked out over the frames.
        """
        w, z, o = self.width, np.array([0.0, 0.0, 1.0]), np.zeros(3)
        radii = [0.0, *(value(r, self.parameters) for r in cable.radii), 0.0]
        places = [self._over_time(frame) for frame in cable.points]
        for k in range(len(places) - 1):
            axis = self._axis_over_time(cable.points[max(k, 1)])
            D, d = places[k + 1] - places[k], radii[k + 1] - radii[k]
            apart = np.einsum("fi,fi->f", D, D)[:, None]
            straight = np.sqrt(np.maximum(apart - d * d, 0.0))
            e = (straight * D - d * np.cross(axis, D)) / np.maximum(apart, 1e-300)
            side = np.cross(e, axis)
            begin, end = places[k] + radii[k] * side, places[k + 1] + radii[k + 1] * side
            length = float(straight[0, 0]) if len(straight) else 0.0
            if length > 0.0:
                self.links.append(Link(GROUND, o, GROUND, o, length=length, moving_a=begin, moving_b=end))
                yield len(self.links) - 1, rod(o, length * z, 0.15 * w, PIN)

    def _pulleys(self) -> Iterator[tuple[int, Solid]]:
        """The pulleys of cables, on their bodies."""
        for cable in self.system.forces.values():
            if not isinstance(cable, Cable):
                continue
            for frame, given in zip(cable.points[1:-1], cable.radii, strict=True):
                radius = abs(value(given, self.parameters))
                if radius > 0.0:
                    at, axis = self.vector(frame.position), self.vector([row[2] for row in frame.rotation])
                    yield self.number[frame.body.name], cylinder(at, axis, radius, 0.6 * self.width, METAL)

    def _axis_over_time(self, frame: Frame) -> Array:
        """The z axis of a frame in world axes over the frames."""
        k, axis = self.number[frame.body.name], self.vector([row[2] for row in frame.rotation])
        if k == GROUND:
            return np.broadcast_to(axis, (len(self.positions), 3))
        return np.asarray(self.rotations[:, k] @ axis)

    def _ends(self, link: Link) -> tuple[Array, Array, Array]:
        """Both points over the frames (n, 3) and their distance (n,)."""
        ends = []
        for k, at, moving in ((link.a, link.at_a, link.moving_a), (link.b, link.at_b, link.moving_b)):
            given = np.broadcast_to(at, (len(self.positions), 3)) if moving is None else moving
            ends.append(
                given
                if k == GROUND
                else self.positions[:, k] + np.einsum("fij,fj->fi", self.rotations[:, k], given)
            )
        return ends[0], ends[1], np.linalg.norm(ends[1] - ends[0], axis=1)

    def _placed(self, link: Link) -> tuple[Array, Array, Array]:
        """Position, quaternion and stretch of a link over the frames."""
        a, b, lengths = self._ends(link)
        stretch = lengths / link.length if link.length else np.ones(len(lengths))
        return b if link.from_b else a, along(b - a), stretch

    def _deforming(self) -> Iterator[Deforming]:
        for name, body in self.system.bodies.items():
            if body.member is None:
                continue
            if isinstance(body.member, Rod) and not _is_round(body.member):
                yield self._bent(name, body.member)
                continue
            points, cells = deformed(self.result, name, self.magnified)
            faces = outer_faces(cells, body.member.drawn_points)
            lines = edges_of(faces if len(faces) else cells)
            beams = cells.shape[1:] == (2,)
            paths = _chains(lines) if beams else ()
            if len(lines) > MOST_LINES and not beams:
                lines = lines[np.linspace(0, len(lines) - 1, MOST_LINES).astype(int)]
            used, numbered = np.unique(np.concatenate([lines.ravel(), faces.ravel()]), return_inverse=True)
            place = np.full(points.shape[1], -1)
            place[used] = np.arange(len(used))
            k, ends = self.number[name], lines.size
            yield Deforming(
                k,
                points[:, used],
                numbered[:ends].reshape(-1, 2),
                colour_of(k),
                self.width if beams else 0.1 * self.width,
                numbered[ends:].reshape(-1, 3),
                stress_at(self.result, name, used),
                tuple(place[path] for path in paths),
            )

    def _bent(self, name: str, member: Rod) -> Deforming:
        """A rod as a bar with the section of :func:`_half_axes`; slender ones are drawn thicker."""
        rest, arcs, k = member.drawn_points, member.drawn_arcs, self.number[name]
        places, axes = member.poses(arcs, self.result[f"{name}.modes"].to_numpy())
        R = self.rotations[:, k]
        middle = self.positions[:, k][:, None] + (rest + self.magnified * (places - rest)) @ R.transpose(
            0, 2, 1
        )
        axes = R[:, None] @ axes
        half = _half_axes(member)
        half *= max(1.0, 0.5 * self.width / half.max())
        half = np.maximum(half, 0.1 * self.width)
        turn = 2.0 * np.pi * np.arange(AROUND) / AROUND
        ring = half[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
        corners = middle[:, :, None] + np.einsum("tpij,paj->tpai", axes[..., 1:], ring)
        stress = stress_at(self.result, name, np.arange(len(arcs)))
        return Deforming(
            k,
            corners.reshape(len(corners), -1, 3),
            np.zeros((0, 2), np.int64),
            colour_of(k),
            self.width,
            mantle(len(arcs), AROUND),
            None if stress is None else np.repeat(stress, AROUND, axis=1),
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

    def _arrows(self, kind: str) -> Arrows | None:
        """Vectors of a kind over the frames, None where there are none."""
        unit, colour = ARROWS[kind]
        if kind == "velocity":
            names = [n for n, b in self.system.bodies.items() if b.member is None]
            at = [f"{n}.center_position" for n in names]
            vectors = [f"{n}.center_velocity" for n in names]
            table = [np.asarray(x) for x in self.result.compute([*at, *vectors])]
            places, arrows = table[: len(names)], table[len(names) :]
        else:
            ends: dict[str, Frame] = {}
            if kind == "reaction":
                ends = {j.name: j.b for j in self.joints}
            else:
                known = self.result.quantities.table
                ends = {
                    n: f.frames[-1]
                    for n, f in self.system.forces.items()
                    if f.frames and len(getattr(known.get(f"{n}.force"), "components", ())) == 3
                }
            names = list(ends)
            arrows = (
                [np.asarray(x) for x in self.result.compute([f"{n}.force" for n in names])] if names else []
            )
            places = [self._over_time(f) for f in ends.values()]
        if not names:
            return None
        return Arrows(
            kind,
            unit,
            colour,
            tuple(names),
            np.stack(places, axis=1),
            np.nan_to_num(np.stack(arrows, axis=1)),
        )

    def _over_time(self, frame: Frame) -> Array:
        """A point in world axes over the frames."""
        k, at = self.number[frame.body.name], self.moving(frame)
        at = np.broadcast_to(self.vector(frame.position), (len(self.positions), 3)) if at is None else at
        return at if k == GROUND else self.positions[:, k] + np.einsum("fij,fj->fi", self.rotations[:, k], at)

    def _trace(self, name: str, number: int) -> Trace:
        whole = f"{name}_position" if name.endswith(".center") else f"{name}.position"
        return Trace(name, np.asarray(self.result[whole]), COLOURS[(number + 3) % len(COLOURS)])

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
        yield tiles(corners, len(xs), len(ys))


def _half_axes(member: Rod) -> Array:
    """Along y and z of sections at the arcs by which a rod is drawn [m], (p, 2): of ellipses that bend as stiffly."""
    K = member.stiffness_table.at(member.drawn_arcs)
    return np.asarray(2.0 * np.sqrt(K[:, (2, 1), (2, 1)] / K[:, 3, 3][:, None]))


def _is_round(member: Rod) -> bool:
    y, z = _half_axes(member).T
    return bool(np.abs(y - z).max() < SAME * max(y.max(), z.max()))


def _hatching(start: Array, along_it: Array, down: Array, length: float, w: float) -> Solid:
    """Strokes below what is fixed to the ground."""
    n = max(4, int(length / (0.75 * w)))
    s = np.linspace(-0.5 * length + 0.3 * w, 0.5 * length, n)
    top = start + s[:, None] * along_it
    bottom = top + 0.7 * w * (down - 0.9 * along_it)
    rail = np.array([start - 0.5 * length * along_it, start + 0.5 * length * along_it])
    corners = np.vstack([top, bottom, rail])
    lines = np.column_stack([np.arange(n), n + np.arange(n)])
    return Solid(
        corners, np.zeros((0, 3), dtype=np.int64), PIN, lines=np.vstack([lines, [[2 * n, 2 * n + 1]]])
    )


def _apex(points: Array) -> int:
    """Of three points the one opposite the shortest side: the tip of a fork."""
    sides = [np.linalg.norm(points[(k + 1) % 3] - points[(k + 2) % 3]) for k in range(3)]
    return int(np.argmin(sides))


def _chains(lines: Index) -> tuple[Index, ...]:
    """Paths of points that cover all lines, each broken where more than two lines meet."""
    beside: dict[int, list[int]] = {}
    for a, b in lines.tolist():
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    left = {tuple(sorted(pair)) for pair in lines.tolist()}
    paths = []
    starts = [p for p, near in beside.items() if len(near) != 2] + list(beside)
    for start in starts:
        for step in beside[start]:
            if tuple(sorted((start, step))) not in left:
                continue
            path = [start, step]
            left.discard(tuple(sorted((start, step))))
            while len(beside[path[-1]]) == 2:
                after = [p for p in beside[path[-1]] if tuple(sorted((path[-1], p))) in left]
                if not after:
                    break
                left.discard(tuple(sorted((path[-1], after[0]))))
                path.append(after[0])
            paths.append(np.array(path))
    return tuple(paths)
