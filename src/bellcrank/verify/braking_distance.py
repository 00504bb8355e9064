"""A car that brakes with locked wheels from 20 m/s: v^2/(2 mu g) to a standstill, however the load moves to the front.

The tyres are brushes of one friction. While they slide, the carcass is bent by s/k = 12 mm, with the relaxation length
s and k the slip stiffness over the friction; at the end the car swings back, no faster than the carcass can push it.

Source: Coulomb's law.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.verify.cart import GRAVITY, RADIUS, SINKING, cart, moving, rubber
from bellcrank.verify.cases import Quantity, Within

SPEED, FRICTION = 20.0, 0.8
BENT = RADIUS * FRICTION / 20.0
"""How far the carcass of a tyre that slides is bent [m]; the centre of mass falls by less than a centimetre."""


def quantities() -> list[Quantity]:
    """Deceleration without pitching, the centre of mass in the road; distance and last speed with it."""
    run = moving(cart(rubber, locked=True), SPEED, 10.0, output=np.linspace(0.0, 10.0, 1001))
    x, v = np.asarray(run["body.position.x"]), np.asarray(run["body.velocity.x"])
    level = moving(cart(rubber, locked=True, height=SINKING), SPEED, 1.0, output=np.linspace(0.0, 1.0, 3))
    sliding = np.diff(np.asarray(level["body.velocity.x"]))[-1] / 0.5
    stop = SPEED * SPEED / (2.0 * FRICTION * GRAVITY)
    # The energy of a spring of the stiffness mu m g/BENT, bent by BENT.
    swing = math.sqrt(FRICTION * GRAVITY * BENT)
    return [
        Quantity("deceleration", float(-sliding / GRAVITY), FRICTION, 1e-6, "g", Within.RELATIVE),
        Quantity("distance", float(x[-1] - x[0]), stop, BENT + 0.01, "m"),
        Quantity("speed_back", float(-v.min()), swing, 0.0, "m/s", Within.AT_MOST),
        Quantity("speed_at_the_end", abs(float(v[-1])), 0.0, 0.01, "m/s"),
    ]
