"""Elastic sphere on a rigid plane: approach, peak force and duration of Hertz's impact.

A steel ball of radius 0.01 m (210 GPa, 0.3, 7850 kg/m^3) meets a rigid plane at 0.1 and 1 m/s; the stiffness comes
from the moduli and the curvature of the ball.

Source: Hertz (1881); Johnson (1985), section 11.4: approach (15 m v^2 / (16 E* sqrt R))^(2/5), duration
2.94327518432 approach / v; checked by integration to 1e-9.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within

RADIUS, YOUNG, POISSON, DENSITY = 0.01, 210e9, 0.3, 7850.0
MASS = DENSITY * 4.0 / 3.0 * math.pi * RADIUS**3


def ball_on_plane(size: float = 1.0) -> System:
    """The ball just above the plane z = 0, `size` times as large."""
    system = System("hertz", gravity=(0.0, 0.0, 0.0))
    radius, mass = RADIUS * size, MASS * size**3
    inertia = 0.4 * mass * radius**2
    ball = system.body("ball", mass=mass, inertia=(inertia,) * 3, at=(0.0, 0.0, radius * 1.001))
    system.free("flight", system.ground, ball)
    system.contact(
        "impact",
        system.ground.plane(),
        ball.sphere(radius),
        law="hertz",
        treatment="continuous",
        young=(math.inf, YOUNG),
        poisson=POISSON,
    )
    return system


def impact(speed: float, size: float = 1.0) -> Result:
    """The whole impact, with outputs through the contact; its length is about that of Hertz."""
    begin, length = 1e-3 * RADIUS * size / speed, 9e-5 * size * speed**-0.2 * 0.1**0.2
    times = np.concatenate([[0.0], begin + np.linspace(0.0, 1.1 * length, 401)])
    return ball_on_plane(size).simulate(
        float(times[-1]),
        initial={"flight": {"velocity": (0.0, 0.0, -speed)}},
        tolerance=1e-13,
        integrator="dop853",
        output=times,
    )


def peak(run: Result, name: str) -> float:
    """The largest value between the outputs, by the parabola through the three around it."""
    y = np.asarray(run[name])
    k = int(y.argmax())
    a, b, c = y[k - 1 : k + 2]
    return float(b + (a - c) ** 2 / (8.0 * (2.0 * b - a - c)))


def duration(run: Result) -> float:
    """From touch to parting [s]."""
    times = {e.name.rpartition(": ")[2]: e.time for e in run.events}
    return float(times["part"] - times["touch"])


def quantities() -> list[Quantity]:
    """Both speeds."""
    found = []
    references = {
        0.1: (2.820334734e-6, 145.736261, 8.301021234e-5),
        1.0: (1.779510914e-5, 2309.764079, 5.237590314e-5),
    }
    for speed, (approach, force, time) in references.items():
        run = impact(speed)
        tag = f"{speed:g}".replace(".", "")
        after = float(run["ball.velocity.z"][-1]) / speed
        relative = Within.RELATIVE
        found += [
            Quantity(f"approach_v{tag}", peak(run, "impact.penetration"), approach, 1e-8, "m", relative),
            Quantity(f"peak_force_v{tag}", peak(run, "impact.normal_force"), force, 1e-8, "N", relative),
            Quantity(f"duration_v{tag}", duration(run), time, 1e-8, "s", relative),
            Quantity(f"restitution_v{tag}", after, 1.0, 1e-9),
        ]
    return found
