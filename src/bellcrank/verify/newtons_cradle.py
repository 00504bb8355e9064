"""Newton's cradle: the first of five balls strikes, the last one leaves with its speed.

Elastic balls of equal mass in a row. In touch, blow after blow passes through the row (sequential propagation, followed
event by event). A millimetre apart they strike one after the other, which steps of 0.1 ms resolve as well.

Source: conservation of momentum and energy, pair by pair.
"""

from __future__ import annotations

from typing import Any

from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity

BALLS, RADIUS = 5, 0.05


def run(gap: float, **options: Any) -> Result:
    """The first ball comes with 1 m/s."""
    system = System("cradle", gravity=(0.0, 0.0, 0.0))
    shapes = []
    for k in range(BALLS):
        x = k * (2.0 * RADIUS + gap) - (0.1 if k == 0 else 0.0)
        ball = system.body(f"ball {k}", mass=1.0, inertia=(0.001,) * 3, at=(x, 0.0, 0.0))
        system.prismatic(f"guide {k}", system.ground, ball, axis="x")
        shapes.append(ball.sphere(RADIUS))
        if k:
            system.contact(f"contact {k}", shapes[k - 1], shapes[k], restitution=1.0)
    return system.simulate(0.2, output=10, initial={"guide 0": (0.0, 1.0)}, **options)


def quantities() -> list[Quantity]:
    """Speeds of all balls at the end [m/s]."""
    rows = []
    for name, gap, options, exact in (
        ("", 0.0, {}, 1e-9),
        ("stepping_", 1e-3, {"impacts": "stepping", "step": 1e-4}, 1e-5),
    ):
        found = run(gap, **options)
        for k in range(BALLS):
            speed = float(found[f"ball {k}.velocity.x"][-1])
            rows.append(Quantity(f"{name}ball_{k}", speed, float(k == BALLS - 1), exact, "m/s"))
    return rows
