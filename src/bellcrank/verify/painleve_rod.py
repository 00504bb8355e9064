"""Painleve's rod: a rod that slides on its lower end, too rough to slide on, strikes without a collision.

A uniform rod of 1 kg and 1 m, 1 rad above the floor, slides away from its upper end with 1 m/s; friction is 2 or 3,
more than 4/3. No force of sliding friction belongs to that; the end stops at once, and the rod goes on turning about
it with the angular momentum it had. Followed event by event, and by steps of 10 microseconds.

Source: Lecornu (1905); Genot, Brogliato (1999), "New results on Painleve paradoxes": the angular momentum about the end
is kept.
"""

from __future__ import annotations

import math
from typing import Any

from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

GRAVITY, ANGLE, HALF, SPEED = 9.81, 1.0, 0.5, -1.0
TIP = 1e-9
DURATION = 1e-3


def turning(friction: float, **options: Any) -> float:
    """Angular velocity of the rod a moment after the start [rad/s]."""
    system = System("rod", gravity=(0.0, -GRAVITY, 0.0))
    at = (0.0, HALF * math.sin(ANGLE) + TIP, 0.0)
    rod = system.body("rod", mass=1.0, inertia=(1.0 / 12.0,) * 3, at=at, angle=ANGLE)
    system.planar("plane", system.ground, rod, axis="z")
    tip = rod.circle(TIP, at=(-HALF, 0.0, 0.0))
    system.contact("tip", system.ground.line(), tip, restitution=0.0, friction=friction)
    run = system.simulate(DURATION, initial={"plane": {"x": (0.0, SPEED)}}, output=4, **options)
    return float(run["rod.angular_velocity.z"][-1])


def quantities() -> list[Quantity]:
    """The angular velocity with two frictions, by both treatments."""
    inertia = 1.0 / 3.0
    # Over so short a time gravity slows the turning evenly.
    expected = (-HALF * math.sin(ANGLE) * SPEED - GRAVITY * HALF * math.cos(ANGLE) * DURATION) / inertia
    rows = []
    for friction in (2.0, 3.0):
        for name, options in (
            ("", {"tolerance": 1e-10}),
            ("stepping_", {"impacts": "stepping", "step": 1e-5}),
        ):
            found = turning(friction, **options)
            rows.append(
                Quantity(f"{name}turning_{friction:g}", found, expected, 1e-4, "rad/s", Within.RELATIVE)
            )
    return rows
