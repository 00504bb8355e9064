"""Geneva wheel while its pin is in the slot: straight by a spline, and bent.

A pin on a crank of length r runs in a slot of a wheel whose axis is d = r sqrt(2) away: four slots. In a straight slot
the wheel stands at b with tan(b) = r sin(a) / (d - r cos(a)) while the crank stands at a; at the line of centres it
turns r / (d - r) times as fast as the crank. In a slot bent to the parabola y = k x^2 its angle is the root of an
equation. The crank's torque is what turns the wheel: I b'' b' W^2, by virtual work.

Source: closed form; Norton (2012), Design of Machinery, section 2.8.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from bellcrank.model import System
from bellcrank.model.constraints import SplineCurve
from bellcrank.program.trace import Scalar
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity

CRANK, RATE, INERTIA, BEND = 0.05, 10.0, 0.02, 3.0
"""Length of the crank [m], its rate [rad/s], inertia of the wheel [kg m^2], bend of the curved slot [1/m]."""
APART = CRANK * math.sqrt(2.0)
BEGIN, END = -0.75, 0.75
"""Angles of the crank to the line of centres: the pin enters and leaves at 45 degrees [rad]."""


def bent(s: Scalar) -> tuple[Scalar, Scalar, Scalar]:
    """The bent slot, from the axis of the wheel along -x."""
    return -s, BEND * s * s, 0.0


def wheel(curve: object) -> System:
    """The crank at its start, and the wheel with its slot towards the pin."""
    system = System("geneva", gravity=(0.0, 0.0, 0.0))
    crank = system.body("crank", mass=0.1, inertia=(1e-4,) * 3, angle=BEGIN)
    turned = -math.atan2(CRANK * math.sin(BEGIN), APART - CRANK * math.cos(BEGIN))
    disc = system.body("wheel", mass=1.0, inertia=(INERTIA,) * 3, at=(APART, 0.0, 0.0), angle=turned)
    system.revolute("shaft", system.ground, crank, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("axle", system.ground, disc, at=(APART, 0.0, 0.0), axis="z")
    system.driver("shaft", lambda t: BEGIN + RATE * t, name="motor")
    system.point_on_curve("slot", disc, crank.point(CRANK, 0.0, 0.0), curve, start=0.04)  # type: ignore[arg-type]
    return system


def turn(curve: object) -> Result:
    """From entry to exit."""
    return wheel(curve).kinematics((END - BEGIN) / RATE, output=60)


def bent_angle(crank: float) -> float:
    """The wheel's angle with the bent slot."""
    x, y = CRANK * math.cos(crank) - APART, CRANK * math.sin(crank)

    def miss(b: float) -> float:
        c, s = math.cos(b), math.sin(b)
        return (c * y - s * x) - BEND * (c * x + s * y) ** 2

    return float(brentq(miss, -1.2, 1.2, xtol=1e-15))


def quantities() -> list[Quantity]:
    """Angle, rate and torque of the straight slot; angle of the bent one."""
    straight = SplineCurve([(-0.1, 0.0), (-0.05, 0.0), (-0.02, 0.0), (0.0, 0.0)][::-1])
    result = turn(straight)
    a = BEGIN + RATE * result.time
    k = CRANK / APART
    angle = -np.arctan2(k * np.sin(a), 1.0 - k * np.cos(a))
    below = 1.0 - 2.0 * k * np.cos(a) + k * k
    slope = -k * (np.cos(a) - k) / below
    curvature = k * (1.0 - k * k) * np.sin(a) / below**2
    torque = INERTIA * curvature * slope * RATE**2
    curved = turn(bent)
    expected = np.array([bent_angle(x) for x in a])
    return [
        Quantity("angle_error", float(np.abs(result["axle.angle"] - angle).max()), 0.0, 1e-10, "rad"),
        Quantity("rate_at_centres", float(result["axle.angle_rate"][30]), -RATE * k / (1 - k), 1e-9, "rad/s"),
        Quantity(
            "rate_error", float(np.abs(result["axle.angle_rate"] - slope * RATE).max()), 0.0, 1e-8, "rad/s"
        ),
        Quantity("torque_error", float(np.abs(result["motor.effort"] - torque).max()), 0.0, 1e-7, "N m"),
        Quantity("bent_angle_error", float(np.abs(curved["axle.angle"] - expected).max()), 0.0, 1e-10, "rad"),
    ]
