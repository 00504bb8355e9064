"""Steady circle at small steering angles: the yaw rate of the single-track model with its understeer gradient.

A car on linear tyres with the front wheels turned by delta runs at a speed V with the yaw rate
V delta/(L + K V^2), K = m/L (b/C_f - a/C_r). Two steering angles give the limit of small ones.

Source: closed form of the single-track model, Riekert and Schunck, Ingenieur-Archiv 11 (1940) 210-224.
"""

from __future__ import annotations

from bellcrank.verify.cart import CORNERING, FRONT, MASS, REAR, WHEELBASE, cart, linear, moving
from bellcrank.verify.cases import Quantity, Within

SPEEDS = (10.0, 30.0)
STEERING = 1e-4


def understeer() -> float:
    """The understeer gradient over the wheelbase, K [s^2/m]."""
    return MASS / WHEELBASE * (REAR / (2.0 * CORNERING["F"]) - FRONT / (2.0 * CORNERING["R"]))


def quantities() -> list[Quantity]:
    """Yaw rate over steering angle at two speeds, and the understeer gradient from both."""
    rows, gains = [], []
    for speed in SPEEDS:
        run = moving(cart(linear, steering=STEERING), speed, 3.0, tolerance=1e-9)
        gain = float(run["body.angular_velocity.z"][-1]) / STEERING
        expected = speed / (WHEELBASE + understeer() * speed * speed)
        rows.append(Quantity(f"yaw_gain_{speed:g}", gain, expected, 1e-5, "1/s", Within.RELATIVE))
        gains.append(gain)
    (v, w), (g, h) = SPEEDS, gains
    found = (w / h - v / g) / (w * w - v * v)
    rows.append(Quantity("understeer_gradient", found, understeer(), 2e-5, "s^2/m", Within.RELATIVE))
    return rows
