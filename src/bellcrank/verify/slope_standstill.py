"""A car with locked wheels on a slope of 20 %: it settles on its tyres and stays, for as long as one waits.

Each tyre is bent along the wheel until it holds its share of the weight, by m g sin(angle)/(4 C_x), with C_x the slip
stiffness over the relaxation length.

Source: closed form of springs; the tyres are linear along the wheel.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.tyres import LinearTyre, TyreLaw
from bellcrank.verify.cart import GRAVITY, LEVEL, MASS, RADIUS, SINKING, WHEEL, cart
from bellcrank.verify.cases import Quantity, Within

SLOPE, STIFFNESS, LENGTH = 0.2, 8e4, 0.25
DURATION = 60.0


def held(corner: str) -> TyreLaw:
    """A tyre with damping at standstill."""
    return LinearTyre(
        radius=RADIUS,
        stiffness=LEVEL[corner[0]],
        damping=2000.0,
        longitudinal=STIFFNESS,
        cornering=6e4,
        relaxation_lengths=(LENGTH, LENGTH),
    )


def quantities() -> list[Quantity]:
    """The deflection of a front and of a rear tyre, and the creep of the last half minute."""
    angle = math.atan(SLOPE)
    gravity = (-GRAVITY * math.sin(angle), 0.0, -GRAVITY * math.cos(angle))
    system = cart(held, locked=True, height=SINKING, gravity=gravity)
    run = system.simulate(DURATION, tolerance=1e-9, output=np.array([0.0, 0.5 * DURATION, DURATION]))
    expected = (MASS + 4.0 * WHEEL) * GRAVITY * math.sin(angle) / (4.0 * STIFFNESS / LENGTH)
    mean = 0.5 * (run["FL deflection x"][-1] + run["RL deflection x"][-1])
    x = np.asarray(run["body.position.x"])
    return [
        Quantity("deflection", float(mean), expected, 1e-9, "m", Within.RELATIVE),
        Quantity("creep", abs(float(x[2] - x[1])), 0.0, 1e-9, "m"),
        Quantity("speed", abs(float(run["body.velocity.x"][-1])), 0.0, 1e-9, "m/s"),
    ]
