"""Our start state of the car as placements of its bodies, for codes with coordinates of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np


def placements(mechanism: Any) -> dict[str, tuple[Any, Any, Any, Any]]:
    """Centre of mass [m], rotation, its velocity [m/s] and angular velocity [rad/s] of every body, in world axes."""
    from bellcrank.run.simulation import simulate

    # A run of next to no time: its first output is the start.
    run = simulate(replace(mechanism), 1e-9, output=1, integrator="dop853", progress=False)
    found = {}
    for name in mechanism.system.bodies:
        if name != "ground":
            values = (
                run[f"{name}.{what}"] for what in ("position", "rotation", "velocity", "angular_velocity")
            )
            found[name] = tuple(np.asarray(v)[0] for v in values)
    return found
