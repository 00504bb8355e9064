"""Step of the steering at small angles: yaw rate and sideslip of the linear single-track model over time.

The centre of mass lies in the road, so that the car does not roll, and slip follows at once. The response of
m (v' + V r) = F_f + F_r, I r' = a F_f - b F_r with F = -C alpha is an exponential of a matrix.

Source: closed form of the single-track model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

from bellcrank.verify.cart import CORNERING, FRONT, INERTIA, MASS, REAR, SINKING, cart, linear, moving
from bellcrank.verify.cases import Quantity, Within

SPEED, STEERING = 25.0, 1e-4
TIMES = (0.05, 0.1, 0.2, 0.5, 1.0)


def response(t: float) -> NDArray[np.float64]:
    """Lateral speed [m/s] and yaw rate [rad/s] of the single-track model after a step of the steering."""
    f, r = 2.0 * CORNERING["F"], 2.0 * CORNERING["R"]
    a, b, m, inertia, V = FRONT, REAR, MASS, INERTIA[2], SPEED
    A = np.array(
        [
            [-(f + r) / (m * V), (b * r - a * f) / (m * V) - V],
            [(b * r - a * f) / (inertia * V), -(a * a * f + b * b * r) / (inertia * V)],
        ]
    )
    B = np.array([f / m, a * f / inertia]) * STEERING
    return np.asarray(np.linalg.solve(A, (expm(A * t) - np.eye(2)) @ B))


def quantities() -> list[Quantity]:
    """Yaw rate and lateral speed at five times, over their largest values."""
    system = cart(linear, steering=STEERING, height=SINKING, transient=False)
    run = moving(system, SPEED, max(TIMES), tolerance=1e-9, output=np.array((0.0, *TIMES)))
    turned = np.asarray(run["body.rotation"])
    across = np.einsum("ij,ij->i", turned[:, :, 1], np.asarray(run["body.velocity"]))
    yaw = np.asarray(run["body.angular_velocity.z"])
    rows = []
    for k, t in enumerate(TIMES, 1):
        v, r = response(t)
        rows.append(
            Quantity(f"yaw_gain_{t:g}", yaw[k] / STEERING, r / STEERING, 1e-5, "1/s", Within.RELATIVE)
        )
        rows.append(Quantity(f"sideslip_{t:g}", across[k] / STEERING, v / STEERING, 1e-4, "m/s"))
    return rows
