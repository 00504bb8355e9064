"""Free slider-crank of spatial joints: closure, energy, speeds and reactions.

Crank 3 m, rod 4 m, masses 2, 3 and 4 kg, under gravity, started at 30 degrees with 1 rad/s. The three redundant
equations of the planar loop are found and dropped.

Source: Park, Yoo, Hwang, Yang (2000), example 1 without the block; speeds from an independent solution in
minimal coordinates. Reactions against Newton's law for the slider and the rod.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

CRANK, ROD = 3.0, 4.0
IMPACT = 2.856685118125
"""Time at which the slider of the published example would meet the block [s]."""


def slider_crank(gravity: float = 0.0, angle: float = math.pi / 6.0) -> System:
    """The mechanism drawn with the crank at `angle`."""
    system = System("slider-crank", gravity=(0.0, -gravity, 0.0))
    pin = (CRANK * math.cos(angle), CRANK * math.sin(angle), 0.0)
    reach = pin[0] + math.sqrt(ROD**2 - pin[1] ** 2)
    lean = math.atan2(-pin[1], reach - pin[0])
    crank = system.body(
        "crank", mass=2.0, inertia=(1.0, 1.0, 1.0), at=(0.5 * pin[0], 0.5 * pin[1], 0.0), angle=angle
    )
    middle = (0.5 * (pin[0] + reach), 0.5 * pin[1], 0.0)
    rod = system.body("rod", mass=3.0, inertia=(2.0, 2.0, 2.0), at=middle, angle=lean)
    slider = system.body("slider", mass=4.0, inertia=(1.0, 1.0, 1.0), at=(reach, 0.0, 0.0))
    system.revolute("main bearing", system.ground, crank, at=(0.0, 0.0, 0.0))
    system.revolute("crank pin", crank, rod, at=pin)
    system.revolute("wrist pin", rod, slider, at=(reach, 0.0, 0.0))
    system.prismatic("guide", system.ground, slider, axis="x")
    return system


def quantities() -> list[Quantity]:
    """Speeds at the time of the published impact, closure, energy and reactions over 10 s."""
    times = np.sort(np.append(np.linspace(0.0, 10.0, 1001), IMPACT))
    run = slider_crank(gravity=9.81).simulate(
        10.0,
        initial={"main bearing": (math.pi / 6.0, 1.0)},
        tolerance=1e-12,
        integrator="dop853",
        output=times,
    )
    k = int(np.searchsorted(times, IMPACT))
    energy = run["energy.total"]
    weight = np.array([0.0, -9.81, 0.0])
    slider = 4.0 * (run["slider.acceleration"] - weight) - run["wrist pin.force"] - run["guide.force"]
    rod = 3.0 * (run["rod.acceleration"] - weight) - run["crank pin.force"] + run["wrist pin.force"]
    forces = float(np.abs(run["crank pin.force"]).max())
    at_most = Within.AT_MOST
    return [
        Quantity("slider_speed", float(run["slider.velocity.x"][k]), 2.614951632628, 1e-9, "m/s"),
        Quantity("crank_rate", float(run["main bearing.angle_rate"][k]), -1.832217198, 1e-9, "rad/s"),
        Quantity("redundant_equations", len(run.mechanism.dropped), 3, 0.0),
        Quantity(
            "energy_drift",
            float(np.ptp(energy) / run["energy.kinetic"].max()),
            1e-9,
            0.0,
            "relative",
            at_most,
        ),
        Quantity("position_residual", float(run["constraints.position"].max()), 1e-10, 0.0, "m", at_most),
        Quantity("velocity_residual", float(run["constraints.velocity"].max()), 1e-9, 0.0, "m/s", at_most),
        Quantity("slider_balance", float(np.abs(slider).max()) / forces, 1e-11, 0.0, "relative", at_most),
        Quantity("rod_balance", float(np.abs(rod).max()) / forces, 1e-11, 0.0, "relative", at_most),
        Quantity("ledger_residual", run.ledger.relative_residual, 1e-9, 0.0, "relative", at_most),
    ]
