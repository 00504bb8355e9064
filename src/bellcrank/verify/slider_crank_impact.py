"""Slider-crank whose slider strikes a block: impact time, speeds, impulse and energy.

The mechanism of :mod:`bellcrank.verify.slider_crank` with a block of 5 kg on the slider's rail, e = 0.8. The impulse
goes through the loop to all joints; it must be linear in 1 + e.

Source: Park, Yoo, Hwang, Yang (2000), example 1; numbers from an independent solution in minimal coordinates.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within
from bellcrank.verify.slider_crank import slider_crank

RADIUS = 0.1
ELEVEN = np.linspace(0.0, 1.0, 11)


def slider_crank_with_block(restitution: float = 0.8) -> System:
    """The slider-crank, and a block at x = 7 m on the same rail."""
    system = slider_crank(gravity=9.81)
    block = system.body("block", mass=5.0, inertia=(1.0, 1.0, 1.0), at=(7.0, 0.0, 0.0))
    system.prismatic("rail", system.ground, block, axis="x")
    slider = system.bodies["slider"]
    system.contact("bump", slider.circle(RADIUS), block.circle(RADIUS), restitution=restitution)
    return system


def run(restitution: float = 0.8, duration: float = 5.0) -> Result:
    """The published start, integrated tightly."""
    return slider_crank_with_block(restitution).simulate(
        duration,
        initial={"main bearing": (math.pi / 6.0, 1.0)},
        tolerance=1e-12,
        integrator="dop853",
        output=np.array([0.0, 2.85, 3.0, duration]) if duration > 3.0 else 2,
    )


def impulses_on_a_line(impulses: np.ndarray) -> Quantity:
    """Largest departure of impulses at ELEVEN restitutions e from their best multiple of 1 + e, relative."""
    x = 1.0 + ELEVEN
    share = float(x @ impulses / (x @ x))
    departure = float(np.abs(impulses - share * x).max() / np.abs(impulses).max())
    return Quantity("impulse_over_one_plus_e", departure, 1e-10, 0.0, "", Within.AT_MOST)


def quantities() -> list[Quantity]:
    """The quantities of the published example, and the line of impulse over 1 + e."""
    result = run()
    impact = result.impacts[0]
    speeds = result.mechanism.speed_names.index
    energy = result["energy.total"]
    impulses = np.array([run(float(e), 2.9).impacts[0].impulse for e in ELEVEN])
    rail, guide, crank = (
        speeds(name) for name in ("rail.displacement", "guide.displacement", "main bearing.angle")
    )
    before, after, relative = impact.speeds_before, impact.speeds_after, Within.RELATIVE
    return [
        Quantity("impact_time", impact.time, 2.856685118125, 1e-9, "s", relative),
        Quantity("slider_speed_before", float(before[guide]), 2.614951632628, 1e-9, "m/s", relative),
        Quantity("slider_speed_after", float(after[guide]), 1.243546222278, 1e-9, "m/s", relative),
        Quantity("block_speed_after", float(after[rail]), 3.335507528380, 1e-9, "m/s", relative),
        Quantity("impulse", impact.impulse, 16.6775376419, 1e-8, "N s", relative),
        Quantity("energy_before", float(energy[1]), 61.728486536, 1e-9, "J", relative),
        Quantity("energy_after", float(energy[2]), 57.367391108, 1e-9, "J", relative),
        Quantity("crank_rate_before", float(before[crank]), -1.832217198, 1e-9, "rad/s", relative),
        Quantity("crank_rate_after", float(after[crank]), -0.871315074, 1e-9, "rad/s", relative),
        Quantity(
            "slider_speed_at_3s", float(result["slider.velocity.x"][2]), 0.890217127, 1e-9, "m/s", relative
        ),
        Quantity("impacts", len(result.impacts), 1, 0.0),
        impulses_on_a_line(impulses),
    ]
