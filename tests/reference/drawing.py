"""Drawing of random mechanisms: bodies and joints in a start pose, so that loops are closed at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bellcrank.model import Joint, System
from reference.engine import Array, turn

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "screw", "fixed", "free")
FREEDOMS = {
    "fixed": 0, "revolute": 1, "prismatic": 1, "screw": 1, "cylindrical": 2,
    "universal": 2, "spherical": 3, "planar": 3, "free": 6,
}  # fmt: skip


class Drawing:
    """A system that grows by random bodies and joints."""

    def __init__(self, rng: np.random.Generator, name: str, aligned: bool | None = None) -> None:
        self.rng = rng
        self.aligned = bool(rng.random() < 0.3) if aligned is None else aligned
        self.system = System(name, gravity=tuple(rng.uniform(-10, 10, 3)))
        self.count = 0

    def point(self, size: float = 1.0) -> Array:
        """A world point [m]."""
        return np.round(self.rng.uniform(-size, size, 3), 3)

    def direction(self) -> Array:
        """A world direction; along an axis where the drawing is aligned."""
        if self.aligned:
            return np.eye(3)[self.rng.integers(3)]
        v = self.rng.normal(size=3)
        return v / np.linalg.norm(v)

    def rotation(self) -> Array:
        """A rotation; none where the drawing is aligned."""
        return np.eye(3) if self.aligned else turn(self.rng.uniform(-1.5, 1.5, 3))

    def body(self, name: str = "", massless: bool = False, at: Any = None, rotation: Any = None) -> str:
        """A body of random mass, its inertia that of a few point masses about their centre."""
        self.count += 1
        name = name or f"body {self.count}"
        at = self.point() if at is None else at
        rotation = self.rotation() if rotation is None else rotation
        if massless:
            self.system.body(name, 0.0, at=at, rotation=rotation)
            return name
        masses = self.rng.uniform(0.1, 1.0, 5)
        points = self.rng.uniform(-0.5, 0.5, (5, 3))
        center = masses @ points / masses.sum()
        inertia = sum(
            m * ((p @ p) * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points - center, strict=True)
        )
        self.system.body(name, float(masses.sum()), inertia, center, at=at, rotation=rotation)
        return name

    def joint(
        self,
        kind: str,
        a: str,
        b: str,
        at: Any = None,
        axis: Any = None,
        cut: bool | None = None,
        turned: bool | None = None,
    ) -> Joint:
        """A joint of this kind; now and then from b to a (`turned`)."""
        self.count += 1
        name = f"{kind} {self.count}"
        if self.rng.random() < 0.3 if turned is None else turned:
            a, b = b, a
        at = self.point() if at is None else at
        axis = self.direction() if axis is None else axis
        make = getattr(self.system, kind)
        if kind in ("spherical", "fixed"):
            return make(name, a, b, at=at, cut=cut)
        if kind == "free":
            return make(name, a, b, cut=cut)
        if kind == "universal":
            return make(name, a, b, at=at, axis_a=axis, axis_b=self.normal_to(axis), cut=cut)
        if kind == "screw":
            return make(name, a, b, at=at, axis=axis, pitch=float(self.rng.uniform(0.05, 0.3)), cut=cut)
        return make(name, a, b, at=at, axis=axis, cut=cut)

    def frame(self, body: str, at: Array, axes: Array) -> Any:
        """A frame of a body (or the ground) at a world point with world axes in the start pose."""
        owner = self.system.ground if body == "ground" else self.system.bodies[body]
        return owner.frame(owner.local(at), rotation=owner.start_rotation().T @ axes)

    def normal_to(self, axis: Array) -> Array:
        """A direction at right angles to `axis`."""
        if self.aligned and np.count_nonzero(axis) == 1:
            return np.roll(np.asarray(axis), 1)
        v = np.cross(axis, self.rng.normal(size=3))
        return v / np.linalg.norm(v)

    def pick(self, items: Sequence[Any]) -> Any:
        """One of the items."""
        return items[int(self.rng.integers(len(items)))]


def add_forces(drawing: Drawing, count: int = 4) -> None:
    """Random forces of every kind, between random bodies of the system."""
    system, rng = drawing.system, drawing.rng
    bodies = list(system.bodies.values())
    for i in range(count):
        body = drawing.pick(bodies)
        others = [system.ground, *(b for b in bodies if b is not body)]
        here, there = body.point(drawing.point(0.4)), drawing.pick(others).point(drawing.point(0.4))
        k, c, s = rng.uniform(1, 20), rng.uniform(0.1, 2), rng.uniform(0.5, 2)
        with_scalars = [joint for joint in system.joints.values() if joint.scalar_coordinates]
        kind = drawing.pick(FORCE_KINDS if with_scalars else FORCE_KINDS[:-2])
        name = f"{kind} force {i}"
        if kind == "spring":
            system.spring(name, there, here, system.parameter(f"stiffness {i}", k, "N/m"), c, s)
        elif kind == "line":
            system.force(name, there, here, lambda length, rate, t, k=k, c=c: (
                k * np.maximum(1.0 - length, 0.0) ** 2 - c * rate * np.sqrt(1.0 + rate**2) + np.sin(t)
            ))  # fmt: skip
        elif kind == "bushing":
            frame = there.body.frame(there.position, turn(rng.uniform(-1, 1, 3)))
            system.bushing(name, frame, here, rng.uniform(1, 9, 6), rng.uniform(0.1, 1, 6))
        elif kind == "applied":
            system.applied_force(
                name, here,
                lambda t, position, velocity, c=c: -c * velocity + np.cos(t) * position,
                axes=drawing.pick(["world", "body"]),
            )  # fmt: skip
        elif kind == "torque":
            system.applied_torque(
                name, here,
                lambda t, rotation, angular_velocity, c=c, s=s: s * rotation[:, 0] - c * angular_velocity,
                axes=drawing.pick(["world", "body"]),
            )  # fmt: skip
        elif kind == "ground":
            system.ground_spring(
                name, here, axis="y", radius=float(rng.uniform(0.5, 2.0)), stiffness=k, damping=c,
                longitudinal=2 * c, lateral=3 * c, reference_load=s,
                road=lambda x, y, t: 0.1 * np.sin(x + t) * np.cos(2 * y),
            )  # fmt: skip
        else:
            joint = drawing.pick(with_scalars)
            coordinate = drawing.pick(joint.scalar_coordinates)
            if kind == "torsion":
                system.torsion_spring(name, joint, k, c, 0.1, coordinate)
            else:
                system.joint_force(
                    name,
                    joint,
                    lambda coordinate, rate, t, c=c: np.sin(coordinate) - c * rate + t,
                    coordinate,
                )


FORCE_KINDS = ("spring", "line", "bushing", "applied", "torque", "ground", "torsion", "joint")
