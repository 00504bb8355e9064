"""Ball in a box: energy over 1000 elastic impacts with six walls.

A ball of radius 0.1 m flies in a cube of 1 m without gravity, friction or loss. Its speeds along the three axes change
sign alone, and walls are struck (10 + 7 + 5) / 0.8 times a second. Followed event by event, and by steps of 1 ms.

Source: closed form.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.mechanism import Mechanism, analyse
from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

SPEED, RADIUS, HALF = (10.0, 7.0, 5.0), 0.1, 0.5
DURATION = 37.01


def box() -> Mechanism:
    """The ball in the middle of the box."""
    system = System("box", gravity=(0.0, 0.0, 0.0))
    ball = system.body("ball", mass=1.0, inertia=(0.004,) * 3)
    system.free("flight", system.ground, ball)
    sphere = ball.sphere(RADIUS)
    for axis in range(3):
        for side in (-1.0, 1.0):
            normal = [0.0, 0.0, 0.0]
            normal[axis] = -side
            wall = system.ground.plane(at=tuple(-HALF * x for x in normal), normal=tuple(normal))
            system.contact(f"wall {axis} {side:+.0f}", wall, sphere, restitution=1.0)
    return analyse(system, initial={"flight": {"velocity": SPEED}})


def quantities() -> list[Quantity]:
    """Energy, speeds and the number of impacts."""
    mechanism, rows = box(), []
    energy = 0.5 * sum(v * v for v in SPEED)
    # From the middle a wall is reached after half of a passage.
    struck = sum(int(v * DURATION / (2.0 * (HALF - RADIUS)) + 0.5) for v in SPEED)
    steps: dict[str, Any] = {"impacts": "stepping", "step": 1e-3}
    for name, options, spare in (("", {}, 0), ("stepping_", steps, 20)):
        run = mechanism.simulate(DURATION, output=100, **options)
        change = float(np.abs(np.asarray(run["energy.kinetic"]) / energy - 1.0).max())
        count = sum(len(impact.contacts) for impact in run.impacts)
        rows.append(Quantity(f"{name}impacts", count, struck, spare))
        rows.append(Quantity(f"{name}energy_change", change, 1e-9, 0.0, "", Within.AT_MOST))
    return rows
