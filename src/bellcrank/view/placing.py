"""Where everything of a mechanism is over the frames of a picture, how large it is, and where to look at it from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.model import forces as described
from bellcrank.model.joints.joint import Plane
from bellcrank.model.parameters import value

if TYPE_CHECKING:
    from bellcrank.model.bodies import Body
    from bellcrank.model.frames import Frame
    from bellcrank.model.joints import Joint
    from bellcrank.result.result import Result

Array = NDArray[np.float64]

GROUND = -1
"""Its number among the bodies."""


def thinned(result: Result, frames: int) -> Result:
    """The result with at most so many outputs, spread evenly in time."""
    if len(result) <= frames:
        return result
    wanted = np.linspace(result.time[0], result.time[-1], frames)
    right = np.clip(np.searchsorted(result.time, wanted), 1, len(result) - 1)
    nearer = wanted - result.time[right - 1] < result.time[right] - wanted
    rows = np.unique(np.where(nearer, right - 1, right))
    names = ["time", "q", "u", "du", "parameters"]
    names += ["contact_forces"] if result.contact_forces is not None else []
    return replace(result, **{k: getattr(result, k)[rows] for k in names}, _computed={})


class Placing:
    """A result by its frames: bodies by number, numbers of the model with parameters put in."""

    def __init__(self, result: Result, frames: int, magnified: float = 1.0) -> None:
        self.result = thinned(result, frames)
        self.magnified = magnified
        self.system = result.mechanism.system
        names = list(self.system.parameters)
        start = result.parameters[0] if len(result) else result.mechanism.parameter_values
        self.parameters = dict(zip(names, (float(x) for x in start), strict=True))
        self.names = tuple(self.system.bodies)
        self.number = {name: k for k, name in enumerate(self.names)} | {self.system.ground.name: GROUND}
        self.joints = [j for j in self.system.joints.values() if j.constraints]
        tables = self.result.compute([f"{b}.{what}" for b in self.names for what in ("position", "rotation")])
        self.positions = np.stack([np.asarray(x) for x in tables[::2]], axis=1)
        self.rotations = np.stack([np.asarray(x) for x in tables[1::2]], axis=1)
        self.contacts = [*self.system.contacts.values()]
        self.contacts += [
            f.contact for f in self.system.forces.values() if isinstance(f, described.ContactForce)
        ]
        self.touching: dict[str, list[Frame]] = {}
        self.sides = [side for c in self.contacts for side in (c.a, c.b)]
        self.sides += [side for group in self.system.collisions.values() for side in group.shapes]
        for side in self.sides:
            self.touching.setdefault(side.frame.body.name, []).append(side.frame)
        self.points = {name: self.points_of(name) for name in (*self.names, self.system.ground.name)}
        self.size = self.extent()
        self.width = self.size * float(np.clip(0.05 / np.sqrt(len(self.names)), 0.008, 0.022))

    def vector(self, numbers: Any) -> Array:
        """Numbers of the model, parameters put in."""
        return np.array([value(x, self.parameters) for x in numbers])

    def matrix(self, rows: Any) -> Array:
        """A matrix of the model, parameters put in."""
        return np.array([self.vector(row) for row in rows])

    def points_of(self, name: str) -> Array:
        """Where joints and forces hold a body, in its axes."""
        frames: list[Frame] = [f for j in self.joints for f in (j.a, j.b)]
        for force in self.system.forces.values():
            frames += force.held_at
        found = [self.vector(f.position) for f in frames if f.body.name == name]
        return np.array(found).reshape(-1, 3)

    def world(self, name: str, points: Array, frame: int = 0) -> Array:
        k = self.number[name]
        if k == GROUND or not len(self.positions):
            return points
        return np.asarray(points @ self.rotations[frame, k].T + self.positions[frame, k])

    def extent(self) -> float:
        """The extent of the mechanism in its first frame [m], bodies' centres and points."""
        rows = [self.world(n, self.points[n]) for n in self.names]
        rows += [self.world(n, self.vector(b.center_of_mass)[None]) for n, b in self.system.bodies.items()]
        rows.append(self.points[self.system.ground.name])
        sides = self.sides
        rows += [self.world(s.frame.body.name, self.vector(s.frame.position)[None]) for s in sides]
        every = np.vstack(rows)
        extent = float(np.linalg.norm(np.ptp(every, axis=0)))
        wheels = [value(f.radius, self.parameters) for f in self.wheels()]
        bodies = [float(np.linalg.norm(self.bulk(b))) for b in self.system.bodies.values()]
        wheels += [value(s.shape.bounding_radius(), self.parameters) for s in sides]
        return (
            max([extent, *(2 * r for r in wheels if np.isfinite(r)), 0.2 * max(bodies, default=0.0)]) or 1.0
        )

    def wheels(self) -> list[described.GroundSpring | described.Tyre]:
        kinds = (described.GroundSpring, described.Tyre)
        return [f for f in self.system.forces.values() if isinstance(f, kinds)]

    def bulk(self, body: Body) -> Array:
        """Edges of the solid box with a body's mass and inertia [m]."""
        mass, inertia = value(body.mass, self.parameters), np.diag(self.matrix(body.inertia))
        if mass <= 0.0:
            return np.zeros(3)
        return np.asarray(np.sqrt(np.maximum(6.0 / mass * (inertia.sum() - 2.0 * inertia), 0.0)))

    def eye(self) -> tuple[Array, Array, bool]:
        """The upward direction, the direction of view, and whether all motion is in one plane."""
        g = self.vector(self.system.gravity)
        up = -g / np.linalg.norm(g) if np.linalg.norm(g) > 0 else np.array([0.0, 0.0, 1.0])
        normal = self._plane()
        if normal is not None:
            if abs(normal @ up) > 0.9:
                up = np.eye(3)[1] if abs(normal[1]) < 0.9 else np.eye(3)[2]
            return up, normal, True
        x = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
        side = np.cross(up, x)
        view = 0.62 * x - 1.0 * side + 0.42 * up
        return up, view / np.linalg.norm(view), False

    def _plane(self) -> Array | None:
        """The normal of the one plane everything moves in, or None."""
        normal: Array | None = None
        for joint in self.system.joints.values():
            axis = self.world(joint.a.body.name, self.matrix(joint.a.rotation)[:, 2][None])[0]
            axis = axis - self.world(joint.a.body.name, np.zeros((1, 3)))[0]
            if joint.plane is Plane.NORMAL:
                normal = axis if normal is None else normal
        if normal is None:
            return None
        for joint in self.system.joints.values():
            axis = self.world(joint.a.body.name, self.matrix(joint.a.rotation)[:, 2][None])[0]
            axis = axis - self.world(joint.a.body.name, np.zeros((1, 3)))[0]
            if joint.plane is Plane.NORMAL and abs(axis @ normal) < 0.9999:
                return None
            if joint.plane is Plane.ALONG and abs(axis @ normal) > 1e-4:
                return None
            if joint.plane is Plane.NONE:
                return None
        sign = 1.0 if normal[int(np.argmax(np.abs(normal)))] > 0 else -1.0
        toward = -1.0 if abs(normal[1]) > 0.9 else 1.0
        return np.asarray(sign * toward * normal)

    def held(self, name: str) -> bool:
        """Whether joints, or forces at more than one point, give a body a look of its own."""
        jointed = any(name in (j.a.body.name, j.b.body.name) for j in self.joints)
        return jointed or len(apart(self.points[name], 0.5 * self.width)) > 1

    def on(self, joint: Joint, name: str) -> Array:
        return self.vector((joint.a if joint.a.body.name == name else joint.b).position)

    def moving(self, frame: Frame) -> Array | None:
        """A node of a flexible body in its axes over the frames, its deformation magnified."""
        member = frame.body.member
        if member is None:
            return None
        node = member.node(self.vector(frame.position))
        eta = self.result[f"{frame.body.name}.modes"].to_numpy()
        moved = member.position(node, eta) - node.position
        return np.asarray(node.position + self.magnified * moved)


def apart(points: Array, distance: float) -> Array:
    """Points without those that lie on an earlier one."""
    kept: list[Array] = []
    for p in points:
        if all(np.linalg.norm(p - q) > distance for q in kept):
            kept.append(p)
    return np.array(kept).reshape(-1, 3)


def quaternions(R: Array) -> Array:
    """Unit quaternions (w, x, y, z) of rotation matrices (..., 3, 3), without jumps of sign along the first axis."""
    m = np.moveaxis(R, (-2, -1), (0, 1))
    four = np.stack(
        [
            1 + m[0, 0] + m[1, 1] + m[2, 2],
            1 + m[0, 0] - m[1, 1] - m[2, 2],
            1 - m[0, 0] + m[1, 1] - m[2, 2],
            1 - m[0, 0] - m[1, 1] + m[2, 2],
        ]
    )
    x, y, z = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
    xy, yz, zx = m[0, 1] + m[1, 0], m[1, 2] + m[2, 1], m[0, 2] + m[2, 0]
    rows = np.array([[four[0], x, y, z], [x, four[1], xy, zx], [y, xy, four[2], yz], [z, zx, yz, four[3]]])
    best = four.argmax(axis=0)
    q = np.take_along_axis(rows, best[None, None], axis=0)[0]
    q = np.moveaxis(q, 0, -1)
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    dots = np.sum(q[1:] * q[:-1], axis=-1, keepdims=True)
    signs = np.cumprod(np.concatenate([np.ones_like(q[:1, ..., :1]), np.where(dots < 0, -1.0, 1.0)]), axis=0)
    return np.asarray(q * signs)
