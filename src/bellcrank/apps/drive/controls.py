"""What a driver asks for, and how fast hands and feet follow it; a scripted drive."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bellcrank.apps.drive.car import RACK_TRAVEL

STEER_RATE, PEDAL_RATE = 3.0, 5.0
"""Full strokes a second."""
CALM = 9.0
"""Speed [m/s] at which the rack goes half as far as at rest, so that keys stay usable at any speed."""


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
        return RACK_TRAVEL * self.steer / (1.0 + (speed / CALM) ** 2)


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
