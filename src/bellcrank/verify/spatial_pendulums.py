"""Two pendulums in space that meet: time of touch, speed of approach, speeds after it.

Solid balls of 1 kg and radius 0.5 m on massless rods of 2 m from spherical joints 1 m apart, so that they hang just
touching. The right one is let go 30 degrees out with 1 m/s towards the other; K = 1e4 N/m, D = 10 N s/m, no pulling.

Source: Park, Shin, Sohn, Yoo (2003), section 3.2; tight integration in unit vectors, `contact_cases.json`.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

RADIUS, LENGTH, GRAVITY = 0.5, 2.0, 9.8066


def pendulums() -> System:
    """Both pendulums in the x-z plane, z up."""
    system = System("pendulums", gravity=(0.0, 0.0, -GRAVITY))
    inertia = 0.4 * RADIUS**2
    shapes = []
    for name, x, angle in (("left", -0.5, 0.0), ("right", 0.5, math.pi / 6.0)):
        at = (x + LENGTH * math.sin(angle), 0.0, -LENGTH * math.cos(angle))
        ball = system.body(name, mass=1.0, inertia=(inertia,) * 3, at=at)
        system.spherical(f"{name} pivot", system.ground, ball, at=(x, 0.0, 0.0))
        shapes.append(ball.sphere(RADIUS))
    left, right = shapes
    system.contact(
        "hit", left, right, treatment="continuous", law="kelvin-voigt", stiffness=1e4, damping=10.0
    )
    return system


def quantities() -> list[Quantity]:
    """The moment of touch, the speeds when the force ends, and a state after the impact."""
    touch, release = 0.5354799371984961, 0.557020044522288
    run = pendulums().simulate(
        1.0,
        initial={"right pivot": {"angular_velocity": (0.0, 0.5, 0.0)}},
        tolerance=1e-12,
        integrator="dop853",
        output=np.array([0.0, touch, release, 1.0]),
    )
    times = [e.time for e in run.events if e.name in ("hit: touch", "hit: release")]
    right, left = run["right.velocity.x"], run["left.velocity.x"]
    aside = float(np.abs(run["right.position.y"]).max())
    return [
        Quantity("touch", times[0], touch, 1e-9, "s"),
        Quantity("approach_speed", float(run["hit.rate"][1]), 2.4753104956240217, 1e-8, "m/s"),
        Quantity("contact_ends", times[1], release, 1e-8, "s"),
        Quantity("right_ball_after", float(right[2]), -0.23326712312828196, 1e-8, "m/s"),
        Quantity("left_ball_after", float(left[2]), -2.2391820646402385, 1e-8, "m/s"),
        Quantity("right_x_after_1s", float(run["right.position.x"][-1]), 0.39646684155220085, 1e-8, "m"),
        Quantity("out_of_plane", aside, 1e-12, 0.0, "m", Within.AT_MOST),
    ]
