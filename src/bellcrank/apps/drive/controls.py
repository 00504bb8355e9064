"""What a driver asks for, and how fast hands and feet follow it; a scripted drive, and one along a course."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bellcrank.apps.drive.car import RACK_TRAVEL
from bellcrank.vehicles import Vehicle, path_follower

Array = NDArray[np.float64]

STEER_RATE, PEDAL_RATE = 3.0, 5.0
"""Full strokes a second."""
CALM = 9.0
"""Speed [m/s] at which the rack goes half as far as at rest, so that keys stay usable at any speed."""
LAPS = 50
"""Of a course that a chauffeur drives; straight on after that."""


@dataclass(frozen=True)
class Wish:
    """What is asked for. steer: -1 (right) to 1 (left). throttle: -1 (back) to 1. brake: 0 to 1."""

    steer: float = 0.0
    throttle: float = 0.0
    brake: float = 0.0

    @staticmethod
    def of(message: object) -> Wish:
        """From a message of the page; what is not a number counts as 0, all is clipped."""
        given = message if isinstance(message, dict) else {}

        def number(name: str, low: float) -> float:
            value = given.get(name, 0.0)
            plain = isinstance(value, int | float) and not isinstance(value, bool)
            return min(1.0, max(low, float(value))) if plain and math.isfinite(value) else 0.0

        return Wish(number("steer", -1.0), number("throttle", -1.0), number("brake", 0.0))


@dataclass
class Controls:
    """Where the controls are now, each moving towards its wish at its own rate."""

    steer: float = 0.0
    throttle: float = 0.0
    brake: float = 0.0

    def follow(self, wish: Wish, dt: float) -> None:
        """Move on by dt [s]."""
        self.steer = _towards(self.steer, wish.steer, STEER_RATE * dt)
        self.throttle = _towards(self.throttle, wish.throttle, PEDAL_RATE * dt)
        self.brake = _towards(self.brake, wish.brake, PEDAL_RATE * dt)

    def rack(self, speed: float) -> float:
        """Where the rack is to be at a speed [m/s]: [m]."""
        return self.steer * reach(speed)


def reach(speed: float) -> float:
    """How far the rack goes to either side at a speed [m/s]: [m]."""
    return RACK_TRAVEL / (1.0 + (speed / CALM) ** 2)


def _towards(value: float, wanted: float, most: float) -> float:
    return value + float(np.clip(wanted - value, -most, most))


def manoeuvre(share: float) -> Wish:
    """A set drive over a share (0 to 1) of its duration: accelerate, weave, turn while braking lightly, stop."""
    if share < 0.4:
        return Wish(throttle=0.9)
    if share < 0.7:
        return Wish(steer=0.5 * math.sin(4.0 * math.pi * (share - 0.4) / 0.3), throttle=0.4)
    if share < 0.85:
        return Wish(steer=0.6, brake=0.15)
    return Wish(brake=0.8)


class Chauffeur:
    """Drives along a closed course, at the speed that its bends and the brakes allow.

    course: Points [m]. fastest: [m/s]. sideways, back: Accelerations in bends and by the brakes [m/s^2].
    """

    def __init__(
        self, vehicle: Vehicle, course: Array, fastest: float = 20.0, sideways: float = 4.0, back: float = 3.0
    ) -> None:
        self.vehicle, self.course = vehicle, course
        steps = np.roll(course, -1, axis=0) - course
        length = np.linalg.norm(steps, axis=1)
        heading = np.unwrap(np.arctan2(steps[:, 1], steps[:, 0]))
        turned = np.diff(
            heading, prepend=heading[-1] - 2.0 * np.pi * round((heading[-1] - heading[0]) / 2 / np.pi)
        )
        bends = np.abs(turned) / length
        self.speeds = np.minimum(fastest, np.sqrt(sideways / np.maximum(bends, 1e-9)))
        # Twice around, backwards: each speed is one from which the next can be had by braking.
        for k in reversed(range(2 * len(course))):
            here, following = k % len(course), (k + 1) % len(course)
            most = math.sqrt(self.speeds[following] ** 2 + 2.0 * back * length[here])
            self.speeds[here] = min(self.speeds[here], most)
        self.begin()

    def begin(self) -> None:
        """From the start of the course on."""
        laps = np.vstack([self.course] * LAPS)
        self._steering = path_follower(self.vehicle, laps).function

    def wish(self, t: float, measured: Mapping[str, Array]) -> Wish:
        """What to ask for. measured: Position, velocity and rotation of the chassis."""
        at, v = measured["chassis.position"][:2], float(np.hypot(*measured["chassis.velocity"][:2]))
        rack = (self._steering(t, measured) or {})[self.vehicle.steering]
        nearest = int(np.argmin(np.sum((self.course - at) ** 2, axis=1)))
        missing = float(self.speeds[nearest]) - v
        steer = min(1.0, max(-1.0, rack / reach(v)))
        return Wish(steer, min(1.0, max(0.0, 0.5 * missing)), min(1.0, max(0.0, -0.3 * missing)))
