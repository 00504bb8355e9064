"""Rigid obstacles: plane, sphere and any surface given by its distance; at rest or moved along a path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bellcrank.elastic.lattices import Array
from bellcrank.errors import ModelError

if TYPE_CHECKING:
    from bellcrank.contact.shapes import Shape

Path = Callable[[float], Sequence[float]]
"""Displacement of an obstacle [m] at a time [s]; twice differentiable."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Obstacle(ABC):
    """Something rigid that elastic bodies meet.

    velocity: constant velocity [m/s]. path: displacement over time instead [m]; its derivatives are taken numerically.
    """

    velocity: Sequence[float] = ()
    path: Path | None = None

    flat = False
    """Whether its normals are the same everywhere, so that one linearisation a step is exact."""

    @abstractmethod
    def distance(self, x: Array) -> tuple[Array, Array]:
        """Signed distances [m], negative inside, and unit normals out of the obstacle, at rest. x: shape (k, d)."""

    def gap(self, x: Array, t: float) -> tuple[Array, Array]:
        """Distances and normals at time t."""
        return self.distance(x - self.travel(t, x.shape[1]))

    def travel(self, t: float, d: int) -> Array:
        """Displacement at time t [m]."""
        if self.path is not None:
            return np.asarray(self.path(t), float)
        return t * self.speed(t, 0.0, d)

    def speed(self, t: float, step: float, d: int) -> Array:
        """Velocity at time t [m/s]; `step` sets the increment of the numerical derivative."""
        if self.path is None:
            return np.asarray(self.velocity or np.zeros(d), float)
        h = 1e-3 * step
        return (self.travel(t + h, d) - self.travel(t - h, d)) / (2.0 * h)

    def rate(self, t: float, step: float, d: int) -> Array:
        """Acceleration at time t [m/s^2]."""
        if self.path is None:
            return np.zeros(d)
        h = 0.05 * step
        return (self.travel(t + h, d) - 2.0 * self.travel(t, d) + self.travel(t - h, d)) / h**2

    def check(self, d: int, axisymmetric: bool) -> None:
        """Refuse what does not fit bodies of `d` dimensions."""
        if self.path is not None and len(self.velocity):
            raise ModelError("an obstacle has a velocity or a path, not both")
        moved = self.travel(0.0, d) if self.path is not None else self.speed(0.0, 0.0, d)
        for what in ("point", "normal", "centre", "radius", "size", "velocity"):
            if not np.isfinite(getattr(self, what, 0.0)).all():
                raise ModelError(f"{what} of an obstacle must be finite, not {getattr(self, what)}")
        if moved.shape != (d,):
            raise ModelError(f"the motion of an obstacle needs {d} components, not {moved.size}")
        if axisymmetric and abs(moved[0]) > 0.0:
            raise ModelError("an obstacle can only move along the axis of an axisymmetric body")


@dataclass(frozen=True, eq=False)
class RigidPlane(Obstacle):
    """The half space behind a plane.

    point: on the plane [m]. normal: out of the obstacle, to where the bodies are.
    """

    point: Sequence[float] = (0.0, 0.0)
    normal: Sequence[float] = (0.0, 1.0)

    flat = True

    def distance(self, x: Array) -> tuple[Array, Array]:
        """Along the normal."""
        n = np.asarray(self.normal, float)
        n = n / np.linalg.norm(n)
        return (x - np.asarray(self.point, float)) @ n, np.broadcast_to(n, x.shape)

    def check(self, d: int, axisymmetric: bool) -> None:
        """Dimensions, and symmetry about the axis."""
        super().check(d, axisymmetric)
        if len(self.point) != d or len(self.normal) != d:
            raise ModelError(f"point and normal of a plane need {d} components here")
        if not np.linalg.norm(self.normal) > 0.0:
            raise ModelError("the normal of a plane must not be zero")
        if axisymmetric and self.normal[0] != 0.0:
            raise ModelError("a plane that meets an axisymmetric body must be normal to its axis")


@dataclass(frozen=True, eq=False)
class RigidSphere(Obstacle):
    """A sphere (in plane problems a cylinder), or the room inside one.

    centre: [m]. radius: [m]. hollow: bodies are inside.
    """

    centre: Sequence[float]
    radius: float
    hollow: bool = False

    def distance(self, x: Array) -> tuple[Array, Array]:
        """From the centre."""
        spoke = x - np.asarray(self.centre, float)
        length = np.linalg.norm(spoke, axis=1)
        sign = -1.0 if self.hollow else 1.0
        n = sign * spoke / np.where(length > 0.0, length, 1.0)[:, None]
        return sign * (length - self.radius), n

    def check(self, d: int, axisymmetric: bool) -> None:
        """Dimensions, and symmetry about the axis."""
        super().check(d, axisymmetric)
        if len(self.centre) != d or self.radius <= 0.0:
            raise ModelError(f"a sphere needs a centre of {d} components and a positive radius")
        if axisymmetric and self.centre[0] != 0.0:
            raise ModelError("a sphere that meets an axisymmetric body must have its centre on the axis")


@dataclass(frozen=True, eq=False)
class RigidSurface(Obstacle):
    """The surface where a function vanishes.

    level: function of positions, shape (k, d), positive outside, zero on the surface; it need not be a distance. Its
    gradient is taken numerically and the distance is level / |gradient|, exact on the surface. size: a length over
    which the surface bends [m].
    """

    level: Callable[[Array], Array]
    size: float = 1.0

    def distance(self, x: Array) -> tuple[Array, Array]:
        """Of first order."""
        h = 1e-6 * self.size
        value = np.asarray(self.level(x), float)
        slope = np.empty_like(x)
        for k in range(x.shape[1]):
            shift = np.zeros(x.shape[1])
            shift[k] = h
            slope[:, k] = (self.level(x + shift) - self.level(x - shift)) / (2.0 * h)
        length = np.linalg.norm(slope, axis=1)
        if np.any(length == 0.0):
            raise ModelError(
                "the level function of a rigid surface has no gradient at a node; give it one there"
            )
        return value / length, slope / length[:, None]


def rigid_shape(
    shape: Shape,
    at: Sequence[float] = (0.0, 0.0, 0.0),
    rotation: Sequence[Sequence[float]] | None = None,
    *,
    velocity: Sequence[float] = (),
    path: Path | None = None,
) -> RigidSurface:
    """An obstacle of one of the shapes of :mod:`bellcrank.contact.shapes`, such as an ellipsoid or a capsule.

    at: World position of its frame [m]; in flat problems the shape is cut by the plane z = 0. rotation: From its frame
    to the world, 3x3.
    """
    origin = np.zeros(3)
    origin[: len(at)] = at
    turn = np.eye(3) if rotation is None else np.asarray(rotation, float)
    if turn.shape != (3, 3) or not np.allclose(turn @ turn.T, np.eye(3), atol=1e-9):
        raise ModelError("the rotation of a rigid shape must be a 3x3 rotation matrix")

    def level(x: Array) -> Array:
        spatial = np.zeros((len(x), 3))
        spatial[:, : x.shape[1]] = x
        local = (spatial - origin) @ turn
        return np.array([float(shape.implicit((a, b, c))) for a, b, c in local.tolist()])  # type: ignore[arg-type]

    reach = shape.bounding_radius()
    size = float(reach) if isinstance(reach, int | float) and np.isfinite(reach) else 1.0
    return RigidSurface(level, size, velocity=velocity, path=path)
