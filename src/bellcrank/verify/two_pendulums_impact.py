"""Two pendulums with a round and an elliptic bob that strike each other: time, contact point, impulses.

Gravity along x. Pendulum 1 hangs from the origin, starts along -y and carries a circle of 0.1 m; pendulum 2 hangs from
(0, 0.3), starts at rest along x and carries an ellipse of 0.5 m along the rod and 0.1 m across.

Source: Park, Yoo, Hwang, Yang (2000), example 3 (0.67 s); numbers from an independent solution in minimal coordinates.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within
from bellcrank.verify.slider_crank_impact import ELEVEN, impulses_on_a_line

IMPULSE = 3.432494125978
"""Impulse at e = 0 [N s]."""


def two_pendulums(restitution: float = 1.0, friction: float = 0.0, law: str = "newton") -> System:
    """The two pendulums at their start."""
    system = System("two pendulums", gravity=(9.81, 0.0, 0.0))
    ground = system.ground
    one = system.body("one", mass=1.0, inertia=(0.3, 0.3, 0.3), at=(0.0, -0.5, 0.0), angle=-0.5 * math.pi)
    two = system.body("two", mass=2.0, inertia=(1.0, 1.0, 1.0), at=(0.5, 0.3, 0.0))
    system.revolute("first pivot", ground, one, at=(0.0, 0.0, 0.0))
    system.revolute("second pivot", ground, two, at=(0.0, 0.3, 0.0))
    round_bob, flat_bob = one.circle(0.1), two.ellipse(0.5, 0.1)
    system.contact("clash", round_bob, flat_bob, restitution=restitution, friction=friction, law=law)
    return system


def run(restitution: float = 1.0, duration: float = 2.5) -> Result:
    """From rest."""
    return two_pendulums(restitution).simulate(duration, tolerance=1e-12, integrator="dop853")


def quantities() -> list[Quantity]:
    """The quantities of the published example, and the line of impulse over 1 + e."""
    elastic = run()
    first, second = elastic.impacts[0], elastic.impacts[1]
    impulses = np.array([run(float(e), 0.7).impacts[0].impulse for e in ELEVEN])
    names = elastic.mechanism.speed_names
    rates = [float(first.speeds_after[names.index(f"{j}.angle")]) for j in ("first pivot", "second pivot")]
    point, relative = first.contacts[0].point, Within.RELATIVE
    drift = float(np.ptp(elastic["energy.total"]) / elastic["energy.kinetic"].max())
    return [
        Quantity("impact_time", first.time, 0.668702961765, 1e-9, "s", relative),
        Quantity("contact_x", float(point[0]), 0.490282701054, 1e-9, "m", relative),
        Quantity("contact_y", float(point[1]), 0.200018886963, 1e-9, "m", relative),
        Quantity("impulse_e0", float(impulses[0]), IMPULSE, 1e-8, "N s", relative),
        Quantity("impulse_e1", first.impulse, 2.0 * IMPULSE, 1e-8, "N s", relative),
        Quantity("second_impact_time_e1", second.time, 1.959872535, 1e-9, "s", relative),
        Quantity("first_rate_after", rates[0], -1.929443989, 1e-9, "rad/s", relative),
        Quantity("second_rate_after", rates[1], 2.245618596, 1e-9, "rad/s", relative),
        impulses_on_a_line(impulses),
        Quantity("energy_drift", drift, 1e-9, 0.0, "relative", Within.AT_MOST),
    ]
