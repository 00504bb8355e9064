"""Meshed sphere thrown along a plane, by fields of depth: slides, then rolls at five sevenths of its speed.

A geodesic sphere of 0.1 m radius and 1 kg starts at 1 m/s without spin on a plane it presses on with its weight,
friction 0.3; it rolls after 2 v / (7 mu g). Its inertia is that of a solid sphere. Nothing is damped, since damping
acts on every vertex that sinks in or comes out, and so resists rolling. The patch is 0.16 mm deep and friction acts
within it, so that the speed of rolling lies a few ten-thousandths below five sevenths.

Source: closed form; the angular momentum about the line of contact is kept.
"""

from __future__ import annotations

import numpy as np

from bellcrank.contact.fields import SOFT
from bellcrank.contact.friction import Coulomb
from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within
from bellcrank.verify.restitution_of_shapes import meshed_sphere

FRICTION, GRAVITY, SPEED = 0.3, 9.81, 1.0
MASS, RADIUS = 1.0, 0.1
SPACING = 2e-3


def thrown_mesh() -> System:
    """The sphere at rest on the plane, as deep in it as its weight presses it by Hertz's law."""
    system = System("a mesh that rolls", gravity=(0.0, 0.0, -GRAVITY))
    depth = (MASS * GRAVITY * 0.75 / (SOFT * RADIUS**0.5)) ** (2.0 / 3.0)
    inertia = 0.4 * MASS * RADIUS**2
    ball = system.body("ball", mass=MASS, inertia=(inertia,) * 3, at=(0.0, 0.0, RADIUS - depth))
    system.free("flight", system.ground, ball)
    system.contact(
        "floor",
        system.ground.plane(),
        ball.shape(meshed_sphere(RADIUS, SPACING)),
        restitution=1.0,
        friction=Coulomb(FRICTION),
        treatment="continuous",
        method="field",
    )
    return system


def quantities() -> list[Quantity]:
    """Speed at half the time to rolling, and speed and spin once it rolls."""
    rolls = 2.0 * SPEED / (7.0 * FRICTION * GRAVITY)
    run = thrown_mesh().simulate(
        2.0 * rolls,
        initial={"flight": {"velocity": (SPEED, 0.0, 0.0)}},
        tolerance=1e-6,
        output=np.linspace(0.0, 2.0 * rolls, 201),
    )
    speed, spin = float(run["ball.velocity.x"][-1]), float(run["ball.angular_velocity.y"][-1])
    # The sphere bobs on its facets: its own upward momentum came with friction, too.
    middle = 50
    half = float(run["ball.velocity.x"][middle])
    pressed = GRAVITY * float(run.time[middle]) + float(run["ball.velocity.z"][middle])
    relative = Within.RELATIVE
    return [
        Quantity("rolling_speed", speed, 5.0 / 7.0 * SPEED, 1e-3, "m/s", relative),
        Quantity("spin", spin * RADIUS, 5.0 / 7.0 * SPEED, 1e-3, "m/s", relative),
        Quantity("speed_half_way", half, SPEED - FRICTION * pressed, 1e-5, "m/s", relative),
    ]
