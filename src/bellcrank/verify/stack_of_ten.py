"""Stack of ten cubes at rest, by steps: the floor bears the weight of all of them.

Cubes of 0.1 m and 1 kg, laid on each other without a gap, friction 0.5, steps of 1 ms, for one second.

Source: statics.
"""

from __future__ import annotations

import numpy as np

from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

CUBES, HALF, GRAVITY = 10, 0.05, 9.81


def quantities() -> list[Quantity]:
    """What the lowest cube presses with, and how little the stack moves."""
    system = System("stack", gravity=(0.0, 0.0, -GRAVITY))
    below = system.ground.plane()
    for k in range(CUBES):
        at = (0.0, 0.0, HALF * (2 * k + 1))
        cube = system.body(f"cube {k}", mass=1.0, inertia=(2.0 / 3.0 * HALF * HALF,) * 3, at=at)
        system.free(f"flight {k}", system.ground, cube)
        shape = cube.box(HALF, HALF, HALF)
        system.contact(f"side {k}", below, shape, restitution=0.0, friction=0.5)
        below = shape
    run = system.simulate(1.0, impacts="stepping", step=1e-3, output=20)
    lowest = sum(np.asarray(run[f"side 0 {k}.normal_force"])[-1] for k in range(1, 9))
    sunk = abs(float(run[f"cube {CUBES - 1}.position.z"][-1]) - HALF * (2 * CUBES - 1))
    at_most = Within.AT_MOST
    return [
        Quantity("bottom_force_ratio", float(lowest) / (CUBES * GRAVITY), 1.0, 1e-4, "", Within.RELATIVE),
        Quantity("top_moved", sunk, 1e-7, 0.0, "m", at_most),
        Quantity("kinetic_energy", float(run["energy.kinetic"][-1]), 1e-9, 0.0, "J", at_most),
        Quantity("penetration", run.run.penetration, 1e-6, 0.0, "size", at_most),
        Quantity("impacts", len(run.impacts), 0, 0.0),
    ]
