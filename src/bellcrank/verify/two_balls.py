"""Two balls in Kelvin and Voigt's contact: restitution delivered, deepest overlap, times of contact.

Balls of 1 kg and radius 1 m, 0.05 m apart, one at 1 m/s, the other at rest; K = 1e4 N/m, D = 10 N s/m. The contact does
not pull: it ends when its force does.

Source: Park, Shin, Sohn, Yoo (2003), section 3.1, with masses and speeds chosen; closed form of the damped
oscillator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within


def two_balls(**contact: Any) -> System:
    """The balls on the x axis; what is given goes to the contact."""
    system = System("two balls", gravity=(0.0, 0.0, 0.0))
    shapes = []
    for name, x in (("left", -1.05), ("right", 1.0)):
        ball = system.body(name, mass=1.0, inertia=(0.4, 0.4, 0.4), at=(x, 0.0, 0.0))
        system.free(f"{name} flight", system.ground, ball)
        shapes.append(ball.sphere(1.0))
    left, right = shapes
    system.contact("hit", left, right, treatment="continuous", **contact)
    return system


def run(output: int = 400, **contact: Any) -> Result:
    """0.1 s from the published start, and the balls' whole contact."""
    return two_balls(**contact).simulate(
        0.1,
        initial={"left flight": {"velocity": (1.0, 0.0, 0.0)}},
        tolerance=1e-11,
        integrator="dop853",
        output=output,
    )


def quantities() -> list[Quantity]:
    """The reference numbers of the case without pulling."""
    from bellcrank.verify.hertz_impact import peak

    result = run(law="kelvin-voigt", stiffness=1e4, damping=10.0)
    left, right = (float(result[f"{name}.velocity.x"][-1]) for name in ("left", "right"))
    times = {e.name: e.time for e in result.events}
    momentum = float(np.abs(result["momentum.x"] - 1.0).max())
    relative = Within.RELATIVE
    return [
        Quantity("restitution", right - left, 0.8084243834102636, 1e-9),
        Quantity("first_ball_after", left, 0.09578780829486822, 1e-9, "m/s"),
        Quantity("deepest", peak(result, "hit.penetration"), 0.006357768411204765, 1e-6, "m", relative),
        Quantity("contact_from", times["hit: touch"], 0.05, 1e-9, "s"),
        Quantity("contact_to", times["hit: release"], 0.07126681313515604, 1e-9, "s"),
        Quantity("momentum_change", momentum, 1e-12, 0.0, "kg m/s", Within.AT_MOST),
    ]
