"""Spatial rigid slider-crank under gravity, free after a start at 6 rad/s.

The universal joint's cross lies along the slider's axis and a line of the rod that starts as (0, 2, -1).

Source: Haug, Computer Aided Kinematics and Dynamics of Mechanical Systems (1989), chapter 12; figures over time
from an independent solution at two tolerances that agree to 1e-10 in place and 1e-9 in angle.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

REFERENCE = {
    0.5: (0.1849526298, 5.583762553, 14.40816081),
    1.0: (0.2117216614, 10.913590730, 10.42759300),
    2.0: (0.2890851971, 21.072744523, 22.58424003),
    5.0: (0.2407195737, 54.333332168, 11.49499626),
}
"""time [s]: slider x [m], crank angle [rad], crank rate [rad/s]."""


def spatial_slider_crank() -> System:
    """The mechanism with its crank up."""
    system = System("spatial slider-crank", gravity=(0.0, 0.0, -9.81))
    a, b, c = np.array([0.0, 0.1, 0.12]), np.array([0.0, 0.1, 0.2]), np.array([0.2, 0.0, 0.0])
    along = (c - b) / 0.3
    across = np.array([0.0, 2.0, -1.0]) / math.sqrt(5.0)
    axes = np.column_stack([along, across, np.cross(along, across)])
    crank = system.body("crank", mass=0.12, inertia=(1e-4, 1e-4, 1e-5), at=tuple(0.5 * (a + b)))
    rod = system.body("rod", mass=0.5, inertia=(4e-4, 4e-3, 4e-3), at=tuple(0.5 * (b + c)), rotation=axes)
    slider = system.body("slider", mass=2.0, inertia=(1e-4, 1e-4, 1e-4), at=tuple(c))
    system.revolute("bearing", system.ground, crank, at=tuple(a), axis="x")
    system.spherical("ball", crank, rod, at=tuple(b))
    system.universal("cross", slider, rod, at=tuple(c), axis_a="x", axis_b=tuple(across))
    system.prismatic("guide", system.ground, slider, axis="x", at=(0.0, 0.0, 0.0))
    return system


def quantities() -> list[Quantity]:
    """Slider, crank and residuals."""
    times = [0.0, *REFERENCE]
    run = spatial_slider_crank().simulate(
        5.0, initial={"bearing": (0.0, 6.0)}, tolerance=1e-12, integrator="dop853", output=times
    )
    x, angle, rate = run["slider.position.x"], run["bearing.angle"], run["bearing.angle_rate"]
    found = []
    for k, (t, (x_ref, angle_ref, rate_ref)) in enumerate(REFERENCE.items(), start=1):
        found.append(Quantity(f"slider_x_at_{t:g}", float(x[k]), x_ref, 1e-9, "m"))
        found.append(Quantity(f"crank_angle_at_{t:g}", float(angle[k]), angle_ref, 1e-8, "rad"))
        found.append(Quantity(f"crank_rate_at_{t:g}", float(rate[k]), rate_ref, 2e-7, "rad/s"))
    residual = float(run["constraints.position"].max())
    found.append(Quantity("position_residual", residual, 1e-10, 0.0, "m", Within.AT_MOST))
    return found
