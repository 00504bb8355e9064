"""A car that brakes with locked wheels from 20 m/s: v^2/(2 mu g) to a standstill, however the load moves to the front.

The tyres are brushes of one friction. Their forces build up over the relaxation length and at the end the car swings
on its tyres, a few centimetres each.

Source: Coulomb's law.
"""

from __future__ import annotations

import numpy as np

from bellcrank.verify.cart import GRAVITY, RADIUS, SINKING, cart, moving, rubber
from bellcrank.verify.cases import Quantity, Within

SPEED, FRICTION = 20.0, 0.8


def quantities() -> list[Quantity]:
    """Deceleration without pitching, the centre of mass in the road; distance and last speed with it."""
    run = moving(cart(rubber, locked=True), SPEED, 10.0, output=np.linspace(0.0, 10.0, 101))
    x, v = np.asarray(run["body.position.x"]), np.asarray(run["body.velocity.x"])
    level = moving(cart(rubber, locked=True, height=SINKING), SPEED, 1.0, output=np.linspace(0.0, 1.0, 3))
    sliding = np.diff(np.asarray(level["body.velocity.x"]))[-1] / 0.5
    stop = SPEED * SPEED / (2.0 * FRICTION * GRAVITY)
    return [
        Quantity("deceleration", float(-sliding / GRAVITY), FRICTION, 1e-6, "g", Within.RELATIVE),
        Quantity("distance", float(x[-1] - x[0]), stop, 2.0 * RADIUS, "m"),
        Quantity("speed_at_the_end", abs(float(v[-1])), 0.0, 0.01, "m/s"),
    ]
