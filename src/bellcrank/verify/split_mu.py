"""A car that brakes with locked wheels, one side on ice: it turns to the side that holds.

With friction mu on the left and mu/5 on the right, deceleration and yaw acceleration at the beginning are
0.6 mu g and 0.4 mu m g (half the track)/I_z; the centre of mass lies in the road, so that no load moves.

Source: Coulomb's law.
"""

from __future__ import annotations

from bellcrank.program.functions import where
from bellcrank.program.trace import Scalar
from bellcrank.verify.cart import GRAVITY, HALF_TRACK, INERTIA, MASS, SINKING, cart, moving, rubber
from bellcrank.verify.cases import Quantity, Within

SPEED, FRICTION, ICE = 20.0, 0.8, 0.2


def road(x: Scalar, y: Scalar, t: Scalar) -> Scalar:
    """Friction of a place over that of the tyre."""
    return where(y > 0.0, 1.0, ICE)


def quantities() -> list[Quantity]:
    """Accelerations at the start, and the side to which the car has turned after a second."""
    system = cart(rubber, locked=True, height=SINKING, friction=road, transient=False)
    run = moving(system, SPEED, 1.0)
    slowing = -float(run["body.acceleration.x"][0])
    turning = float(run["body.angular_acceleration.z"][0])
    shares = 0.5 * (1.0 + ICE), 0.5 * (1.0 - ICE)
    moment = shares[1] * FRICTION * MASS * GRAVITY * HALF_TRACK / INERTIA[2]
    return [
        Quantity("deceleration", slowing / GRAVITY, shares[0] * FRICTION, 1e-6, "g", Within.RELATIVE),
        Quantity("yaw_acceleration", turning, moment, 5e-6, "rad/s^2", Within.RELATIVE),
        Quantity("yaw_rate", float(run["body.angular_velocity.z"][-1]), 0.3, 0.0, "rad/s", Within.AT_LEAST),
    ]
