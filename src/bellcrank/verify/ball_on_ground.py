"""Ball thrown onto the ground, fully elastic: impact times, speed, impulse.

A ball of 1 kg and radius 0.2 m starts at 1 m height with 0.1 m/s sideways; e = 1. Over 20 s the energy is kept.

Source: Park, Yoo, Hwang, Yang (2000), example 2; closed forms: impacts at sqrt(2 h / g) times 1, 3, 5, ...
"""

from __future__ import annotations

import numpy as np

from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within

RADIUS, HEIGHT, GRAVITY = 0.2, 1.0, 9.81


def ball_on_ground(restitution: float = 1.0, friction: float = 0.0, law: str = "newton") -> System:
    """The ball in the x-y plane above the line y = 0."""
    system = System("ball", gravity=(0.0, -GRAVITY, 0.0))
    ball = system.body("ball", mass=1.0, inertia=(0.4, 0.4, 0.4), at=(0.0, HEIGHT, 0.0))
    system.planar("plane", system.ground, ball, axis="z")
    line = system.ground.line()
    system.contact("bounce", line, ball.circle(RADIUS), restitution=restitution, friction=friction, law=law)
    return system


def run(restitution: float = 1.0, duration: float = 20.0) -> Result:
    """The published start."""
    return ball_on_ground(restitution).simulate(
        duration, initial={"plane": {"x": (0.0, 0.1)}}, tolerance=1e-11, integrator="dop853", output=2000
    )


def quantities() -> list[Quantity]:
    """The quantities of the published example, and the energy over 20 s."""
    result = run()
    first, _, third = result.impacts[:3]
    before, energy, relative = first.contacts[0].speed_before, result["energy.total"], Within.RELATIVE
    drift = float(np.ptp(energy) / energy[0])
    sideways = float(np.abs(result["ball.velocity.x"] - 0.1).max())
    at_most = Within.AT_MOST
    return [
        Quantity("first_impact_time", first.time, 0.403855021877, 1e-9, "s", relative),
        Quantity("third_impact_time", third.time, 5 * 0.403855021877, 1e-9, "s", relative),
        Quantity("impact_speed", -before, 3.961817764613, 1e-9, "m/s", relative),
        Quantity("impulse", first.impulse, 7.923635529225, 1e-8, "N s", relative),
        Quantity("impacts_in_20s", len(result.impacts), 25, 0.0),
        Quantity("energy_drift", drift, 1e-9, 0.0, "relative", at_most),
        Quantity("sideways_speed_change", sideways, 1e-12, 0.0, "m/s", at_most),
        Quantity("ledger_residual", result.ledger.relative_residual, 1e-9, 0.0, "relative", at_most),
    ]
