"""Drivers: controllers that keep a speed, follow a path, or steer by a given angle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bellcrank.errors import ModelError
from bellcrank.run.events import Controller
from bellcrank.vehicles.vehicle import Vehicle

Array = NDArray[np.float64]
PERIOD = 0.01
"""Between two calls of a driver [s]: a tenth of what a person takes."""


def speed_keeper(
    vehicle: Vehicle, speed: float | Callable[[float], float], time: float = 0.5, period: float = PERIOD
) -> Controller:
    """Keeps a speed [m/s], a number or a function of time, by the drive of the car.

    time: In which a difference is made up [s]; lasting resistances are learned in four times that.
    """
    if not vehicle.drive:
        raise ModelError("a speed can be kept only by a car with a drive: Vehicle(..., drive=PARAMETER)")
    wanted = speed if callable(speed) else lambda t: float(speed)
    learned = 0.0
    body = vehicle.body

    def control(t: float, m: Mapping[str, Any]) -> dict[str, float]:
        nonlocal learned
        v, ahead = np.asarray(m[f"{body}.velocity"]), np.reshape(m[f"{body}.rotation"], (3, 3))[:, 0]
        missing = wanted(t) - float(v @ ahead)
        learned += missing * period / (4.0 * time)
        return {vehicle.drive: vehicle.mass * (missing + learned) / time / vehicle.drive_force}

    return Controller("speed keeper", period, [f"{body}.velocity", f"{body}.rotation"], control)


LEAD = 0.2
"""Time [s] by which a driver steers ahead of a bend: what a car takes from its steering to its lateral acceleration."""
SLOW = 3.0
"""Speed [m/s] below which a driver takes the direction of the car instead of that of its motion."""


def path_follower(
    vehicle: Vehicle,
    path: ArrayLike,
    preview: float = 0.5,
    understeer: float = 0.0,
    period: float = PERIOD,
) -> Controller:
    """Steers along a path: by its curvature, and by what the car is off it at the point it looks at.

    path: Points [m], shape (n, 2), in the order they are passed. preview: How far ahead it looks [s]. understeer: K
    [s^2/m] of the car, which turns along the curvature k with the angle (L + K V^2) k of its front wheels. The
    curvature is that of the path `LEAD` ahead and the arc that makes good an offset y at the distance d, 2 y/d^2 (pure
    pursuit, R. C. Coulter, CMU-RI-TR-92-01, 1992), with y by how much the previewed point lies further to the left of
    the car than it would if the car were on the path: a car that follows is not drawn to the inside of a bend. Left is
    seen from the direction of motion, which a car with sideslip keeps to in a bend.
    """
    points = np.asarray(path, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2 or not np.all(np.isfinite(points)):
        raise ModelError(
            f"a path must be two or more points of two finite numbers, not of shape {points.shape}"
        )
    if not preview > 0.0:
        raise ModelError(f"preview of a driver must be greater than 0, not {preview!r}")
    track = _Track(points)
    body, L = vehicle.body, vehicle.wheelbase
    passed = 0.0

    def control(t: float, m: Mapping[str, Any]) -> dict[str, float]:
        nonlocal passed
        at, v = np.asarray(m[f"{body}.position"])[:2], np.asarray(m[f"{body}.velocity"])[:2]
        ahead = np.reshape(m[f"{body}.rotation"], (3, 3))[:2, 0]
        ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-9)
        speed = float(np.linalg.norm(v))
        if speed > SLOW:
            ahead = v / speed
        passed = track.nearest(at, passed, max(speed, 1.0))
        reach = max(speed * preview, L)
        goal, here = track.at(passed + reach), track.at(passed)
        window = max(LEAD * speed, L)
        offset = _left(ahead, goal - at) - _left(track.direction(passed, window), goal - here)
        bend = track.curvature(passed + LEAD * speed, window)
        angle = (L + understeer * speed * speed) * (bend + 2.0 * offset / reach**2)
        return {vehicle.steering: angle / vehicle.ratio}

    return Controller(
        "path follower", period, [f"{body}.position", f"{body}.velocity", f"{body}.rotation"], control
    )


def _left(ahead: Array, to: Array) -> float:
    """How far something lies to the left of a direction [m]."""
    return float(ahead[0] * to[1] - ahead[1] * to[0])


class _Track:
    """A path by the length gone along it, which goes on straight beyond its ends."""

    BEYOND = 1e4
    """How far it goes on [m]: no run gets there."""

    def __init__(self, points: Array) -> None:
        steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
        points = points[np.concatenate([[True], steps > 0.0])]
        if len(points) < 2:
            raise ModelError("a path must have points at different places")
        first, last = points[0] - points[1], points[-1] - points[-2]
        ends = [end * self.BEYOND / np.linalg.norm(end) for end in (first, last)]
        self.points = np.concatenate([points[:1] + ends[0], points, points[-1:] + ends[1]])
        lengths = np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))
        self.lengths = np.concatenate([[-self.BEYOND, 0.0], lengths, lengths[-1:] + self.BEYOND])

    def at(self, s: float) -> Array:
        """The place at a length."""
        return np.array([np.interp(s, self.lengths, self.points[:, k]) for k in range(2)])

    def direction(self, s: float, window: float) -> Array:
        """Along the path at a length, over a window [m]: a path of few points has no kinks then."""
        along = self.at(s + 0.5 * window) - self.at(s - 0.5 * window)
        return np.asarray(along / max(float(np.linalg.norm(along)), 1e-9))

    def curvature(self, s: float, window: float) -> float:
        """Turn of the direction over its way [1/m], to the left."""
        a, b = (self.direction(s + sign * 0.5 * window, window) for sign in (-1.0, 1.0))
        return float(np.arctan2(a[0] * b[1] - a[1] * b[0], a @ b)) / window

    def nearest(self, at: Array, passed: float, reach: float) -> float:
        """The length nearest to a place, searched from `passed` on: a path may cross itself."""
        first = int(np.searchsorted(self.lengths, passed, side="right")) - 1
        last = int(np.searchsorted(self.lengths, passed + reach)) + 1
        best, found = np.inf, passed
        for k in range(max(first, 0), min(last, len(self.points) - 1)):
            a, step = self.points[k], self.points[k + 1] - self.points[k]
            size = self.lengths[k + 1] - self.lengths[k]
            low = max(passed - self.lengths[k], 0.0)
            along = float(np.clip((at - a) @ step / size, min(low, size), size))
            away = float(np.linalg.norm(a + step * (along / size) - at))
            if away < best:
                best, found = away, float(self.lengths[k] + along)
        return found


def steer(vehicle: Vehicle, angle: Callable[[float], float], period: float = PERIOD) -> Controller:
    """Steers by a function of time [s]: angle of the front wheels [rad], held from one call to the next."""
    return Controller(
        "steering", period, [], lambda t, m: {vehicle.steering: float(angle(t)) / vehicle.ratio}
    )
