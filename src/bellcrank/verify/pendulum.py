"""Simple pendulum released from horizontal, over many periods.

A point mass of 1 kg on a massless link of 1 m swings through 180 degrees. Period and positions follow from
Jacobi's elliptic functions.

Source: IFToMM Multibody Benchmark Library, problem A01; closed form by elliptic functions.
"""

from __future__ import annotations

import numpy as np

from bellcrank.model import System
from bellcrank.run.events import Event
from bellcrank.verify.cases import Quantity

POSITIONS = {
    10: (0.275087462576117, -0.961419205099125),
    100: (0.18151335142699682, -0.9833884803340639),
    1000: (-0.68323018855, -0.73020306042),
}
"""time [s]: x, y [m]."""


def pendulum() -> System:
    """The pendulum in its start pose."""
    system = System("pendulum", gravity=(0.0, -9.81, 0.0))
    bob = system.body("bob", mass=1.0, inertia=(0.0, 0.0, 0.0), at=(1.0, 0.0, 0.0))
    system.revolute("bearing", system.ground, bob, at=(0.0, 0.0, 0.0), axis="z")
    return system


def quantities() -> list[Quantity]:
    """Period, positions and energy."""
    back = Event("back at the top", lambda m: m["bearing.angle_rate"], direction=-1)
    run = pendulum().simulate(
        1000.0, tolerance=1e-13, integrator="dop853", output=np.arange(0.0, 1001.0), events=[back]
    )
    x, y = run["bob.position.x"], run["bob.position.y"]
    energy = run["energy.total"]
    turning = [e.time for e in run.events if e.time > 0.1]
    found = [Quantity("period", turning[0], 2.3678419475762373, 1e-11, "s")]
    for t, (x_ref, y_ref) in POSITIONS.items():
        tolerance = 1e-10 * t
        found.append(Quantity(f"x_at_{t}", float(x[t]), x_ref, tolerance, "m"))
        found.append(Quantity(f"y_at_{t}", float(y[t]), y_ref, tolerance, "m"))
    drift = float(np.ptp(energy)) / 9.81
    return [*found, Quantity("energy_drift", drift, 0.0, 1e-9, "of m g l")]
