"""Belt, worm and differential: two wheels of a cart turn at different speeds behind one motor.

A motor with the torque T drives by a belt the worm of a differential, whose cage turns two shafts. The ratios are k of
the belt and n of the worm, the inertias I, J, L, R of motor, worm, left and right shaft. The cage has none: it turns at
the mean of the shafts and gives each half its torque, so that the accelerations of the shafts are

    a_L = H / L,  a_R = H / R,  2 H = n (k T - (J + k^2 I) n (a_L + a_R) / 2).

Source: closed form.
"""

from __future__ import annotations

import numpy as np

from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

MOTOR, WORM, LEFT, RIGHT = 0.01, 0.02, 3.0, 5.0
TORQUE, RADII, TEETH, STARTS, DURATION = 2.0, (0.04, 0.1), 30, 2, 1.5


def drive() -> System:
    """Five shafts side by side; a light cage."""
    system = System("belt drive", gravity=(0.0, 0.0, 0.0))
    for k, (name, inertia) in enumerate(
        {"motor": MOTOR, "worm": WORM, "cage": 0.0, "left": LEFT, "right": RIGHT}.items()
    ):
        body = system.body(name, mass=1.0, inertia=(inertia,) * 3, at=(float(k), 0.0, 0.0))
        system.revolute(f"{name} shaft", system.ground, body, at=(float(k), 0.0, 0.0), axis="z")
    system.belt("belt", "motor shaft", "worm shaft", *RADII)
    system.worm("gear", "worm shaft", "cage shaft", starts=STARTS, teeth=TEETH)
    system.differential("differential", "cage shaft", "left shaft", "right shaft")
    system.joint_force("current", "motor shaft", lambda t: TORQUE)
    return system


def quantities() -> list[Quantity]:
    """Speeds at the end, and the energy against the work of the motor."""
    run = drive().simulate(DURATION, tolerance=1e-11, output=100)
    k, n = RADII[1] / RADII[0], TEETH / STARTS
    mean = 0.5 * (1.0 / LEFT + 1.0 / RIGHT)
    half = n * k * TORQUE / (2.0 + n * n * (WORM + k * k * MOTOR) * mean)
    expected = {"left": half / LEFT, "right": half / RIGHT, "cage": half * mean, "motor": half * mean * n * k}
    found = [
        Quantity(f"{name}_speed", float(run[f"{name} shaft.angle_rate"][-1]), a * DURATION, 1e-9, "rad/s",
                 Within.RELATIVE)
        for name, a in expected.items()
    ]  # fmt: skip
    work = TORQUE * float(run["motor shaft.angle"][-1])
    energy = float(np.ptp(run["energy.kinetic"]))
    return [*found, Quantity("energy_over_work", energy / work, 1.0, 1e-9)]
