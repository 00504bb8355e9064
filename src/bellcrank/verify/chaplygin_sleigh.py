"""Chaplygin's sleigh: a body on ice with one blade, which moves along the blade only.

The centre of mass is a ahead of the blade. With v along the blade, w the angular velocity, K = (I + m a^2) / m and
c^2 = v^2 + K w^2, which the energy keeps,

    v = c tanh(x),  w = c / sqrt(K) / cosh(x),  x = a c t / K + x0,  angle = 2 sqrt(K) / a atan(tanh(x / 2)) + const:

though nothing dissipates, the sleigh turns until it moves straight ahead, its centre of mass in front.

Source: closed form; Chaplygin (1911); Neimark and Fufaev (1972), Dynamics of Nonholonomic Systems, chapter 2.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.model import System
from bellcrank.verify.cases import Quantity

MASS, INERTIA, AHEAD = 3.0, 0.4, 0.3
SPEED, TURNING, DURATION = -1.0, 2.0, 4.0
"""At the start it moves backwards [m/s] and turns [rad/s]."""


def sleigh() -> System:
    """The sleigh with its blade at the origin, along x."""
    system = System("sleigh", gravity=(0.0, 0.0, 0.0))
    body = system.body("sleigh", mass=MASS, inertia=(INERTIA,) * 3, center_of_mass=(AHEAD, 0.0, 0.0))
    system.planar("ice", system.ground, body, axis="z")
    system.knife_edge("blade", system.ground, body, axis="y")
    return system


def quantities() -> list[Quantity]:
    """Speed, turning and heading at the end, and the force across the blade all along."""
    start = {"ice": {"x": (0.0, SPEED), "angle": (0.0, TURNING)}}
    run = sleigh().simulate(DURATION, initial=start, tolerance=1e-12, output=200)
    K = INERTIA / MASS + AHEAD**2
    c = math.sqrt(SPEED**2 + K * TURNING**2)
    x0 = math.atanh(SPEED / c)
    x = AHEAD * c / K * run.time + x0
    v, w = c * np.tanh(x), c / math.sqrt(K) / np.cosh(x)
    heading = 2.0 * math.sqrt(K) / AHEAD * (np.arctan(np.tanh(0.5 * x)) - math.atan(math.tanh(0.5 * x0)))
    angle = np.asarray(run["ice.angle"])
    along = run["sleigh.velocity.x"] * np.cos(angle) + run["sleigh.velocity.y"] * np.sin(angle)
    # Across the blade the centre of mass is accelerated by a w-dot + v w.
    push = MASS * (AHEAD * (-AHEAD * v * w / K) + v * w)
    return [
        Quantity("degrees_of_freedom", run.mechanism.degrees_of_freedom, 2, 0.0),
        Quantity("position_freedoms", run.mechanism.position_freedoms, 3, 0.0),
        Quantity("speed_at_end", float(along[-1]), float(v[-1]), 1e-9, "m/s"),
        Quantity("heading_at_end", float(angle[-1]), float(heading[-1]), 1e-9, "rad"),
        Quantity("heading_error", float(np.abs(angle - heading).max()), 0.0, 1e-9, "rad"),
        Quantity("turning_error", float(np.abs(run["ice.angle_rate"] - w).max()), 0.0, 1e-9, "rad/s"),
        Quantity("force_error", float(np.abs(run["blade.lateral_force"] - push).max()), 0.0, 1e-8, "N"),
        Quantity("energy_drift", float(np.ptp(run["energy.total"])), 0.0, 1e-9, "J"),
    ]
