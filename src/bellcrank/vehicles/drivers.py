"""Drivers: controllers that keep a speed, follow a path, or steer by a given angle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bellcrank.errors import ModelError
from bellcrank.run.events import Controller
from bellcrank.vehicles.vehicle import Vehicle

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


def path_follower(
    vehicle: Vehicle,
    path: ArrayLike,
    preview: float = 0.6,
    understeer: float = 0.0,
    period: float = PERIOD,
) -> Controller:
    """Steers along a path by looking ahead (pure pursuit, R. C. Coulter, CMU-RI-TR-92-01, 1992).

    path: Points [m], shape (n, 2), in the order they are passed. preview: How far ahead it looks [s]. understeer: K
    [s^2/m] of the car. The arc through the previewed point has the curvature 2 y/d^2, with y how far it lies to the
    left and d its distance; a car turns along it with the angle (L + K V^2) 2 y/d^2 of its front wheels.
    """
    points = np.asarray(path, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 2 or not np.all(np.isfinite(points)):
        raise ModelError(
            f"a path must be two or more points of two finite numbers, not of shape {points.shape}"
        )
    if not preview > 0.0:
        raise ModelError(f"preview of a driver must be greater than 0, not {preview!r}")
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    body = vehicle.body
    passed = 0

    def control(t: float, m: Mapping[str, Any]) -> dict[str, float]:
        nonlocal passed
        at, v = np.asarray(m[f"{body}.position"])[:2], np.asarray(m[f"{body}.velocity"])[:2]
        ahead = np.reshape(m[f"{body}.rotation"], (3, 3))[:2, 0]
        ahead = ahead / np.linalg.norm(ahead)
        speed = float(np.linalg.norm(v))
        # A path may cross itself: the nearest point is searched from the last one on, as far as one second goes.
        last = int(np.searchsorted(lengths, lengths[passed] + max(speed, 1.0) * 1.0)) + 1
        passed += int(np.argmin(np.linalg.norm(points[passed : last + 1] - at, axis=1)))
        goal = lengths[passed] + max(speed * preview, vehicle.wheelbase)
        aim = np.array([np.interp(goal, lengths, points[:, k]) for k in range(2)]) - at
        aside = float(ahead[0] * aim[1] - ahead[1] * aim[0])
        curvature = 2.0 * aside / max(float(aim @ aim), vehicle.wheelbase**2)
        angle = (vehicle.wheelbase + understeer * speed * speed) * curvature
        return {vehicle.steering: angle / vehicle.ratio}

    return Controller(
        "path follower", period, [f"{body}.position", f"{body}.velocity", f"{body}.rotation"], control
    )


def steer(vehicle: Vehicle, angle: Callable[[float], float], period: float = PERIOD) -> Controller:
    """Steers by a function of time [s]: angle of the front wheels [rad], held from one call to the next."""
    return Controller(
        "steering", period, [], lambda t, m: {vehicle.steering: float(angle(t)) / vehicle.ratio}
    )
