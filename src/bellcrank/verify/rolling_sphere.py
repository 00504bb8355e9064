"""Sphere thrown along a plane: slides, then rolls at five sevenths of its speed.

A steel ball of 0.01 m radius starts at 1 m/s without spin on a plane it presses on with its weight, friction 0.2; it
rolls after 2 v / (7 mu g).

Source: closed form; the angular momentum about the line of contact is kept.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.contact.friction import Coulomb
from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within
from bellcrank.verify.hertz_impact import MASS, POISSON, RADIUS, YOUNG

FRICTION, GRAVITY, SPEED = 0.2, 9.81, 1.0


def thrown_ball(slip_speed: float = 1e-3) -> System:
    """The ball at rest on the plane, as deep in it as its weight presses it."""
    system = System("rolling", gravity=(0.0, 0.0, -GRAVITY))
    modulus = YOUNG / (1.0 - POISSON**2)
    depth = (MASS * GRAVITY * 0.75 / (modulus * math.sqrt(RADIUS))) ** (2.0 / 3.0)
    inertia = 0.4 * MASS * RADIUS**2
    ball = system.body("ball", mass=MASS, inertia=(inertia,) * 3, at=(0.0, 0.0, RADIUS - depth))
    system.free("flight", system.ground, ball)
    system.contact(
        "floor",
        system.ground.plane(),
        ball.sphere(RADIUS),
        restitution=0.5,
        friction=Coulomb(FRICTION, slip_speed=slip_speed),
        treatment="continuous",
        young=(math.inf, YOUNG),
        poisson=POISSON,
        approach_speed=0.01,
    )
    return system


def quantities() -> list[Quantity]:
    """Speed and spin once it rolls, and the slip left over."""
    rolls = 2.0 * SPEED / (7.0 * FRICTION * GRAVITY)
    run = thrown_ball().simulate(
        2.0 * rolls,
        initial={"flight": {"velocity": (SPEED, 0.0, 0.0)}},
        tolerance=1e-9,
        output=np.linspace(0.0, 2.0 * rolls, 201),
    )
    speed, spin = float(run["ball.velocity.x"][-1]), float(run["ball.angular_velocity.y"][-1])
    half = float(np.interp(0.5 * rolls, run.time, run["ball.velocity.x"]))
    relative = Within.RELATIVE
    return [
        Quantity("rolling_speed", speed, 5.0 / 7.0 * SPEED, 1e-4, "m/s", relative),
        Quantity("spin", spin * RADIUS, 5.0 / 7.0 * SPEED, 1e-4, "m/s", relative),
        Quantity("speed_half_way", half, SPEED - FRICTION * GRAVITY * 0.5 * rolls, 1e-4, "m/s", relative),
        Quantity("slip", float(abs(run["floor.slip.x"][-1])), 1e-6, 0.0, "m/s", Within.AT_MOST),
    ]
