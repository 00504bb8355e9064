"""Two equal elastic bars: one strikes the other, which is at rest, and they exchange their momentum.

Steel bars 0.2 m long, sides held; meshes do not match across the bar. Contact lasts 2 L / c at the stress rho c v / 2.

Source: closed form of one-dimensional waves (Saint-Venant 1867; Goldsmith, Impact, 1960, chapter 2).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bellcrank import elastic
from bellcrank.verify.bar_on_wall import DURATION, LENGTH, SIDE, SPEED, STEEL, STRESS, bar
from bellcrank.verify.cases import Quantity, Within


def quantities() -> list[Quantity]:
    """The upper bar comes down on the lower one."""
    count = 200
    upper = bar(count, 0.0, -SPEED, "upper")
    lower = bar(count, -LENGTH, 0.0, "lower")
    wide = elastic.block(
        (SIDE, LENGTH),
        STEEL,
        element=elastic.Element.QUADRILATERAL4,
        divisions=(2, count),
        lowest=(0.0, -LENGTH),
    )
    lower = replace(lower, mesh=wide.mesh)
    step = 0.5 * LENGTH / count / STEEL.pressure_wave_speed
    run = elastic.simulate([upper, lower], elastic.Contact(lower, upper), 1.1e-4, step)
    force = np.asarray(run["contact.force"])
    first, last = run.contact_duration()
    plateau = force[(run.time > first + 0.1 * DURATION) & (run.time < first + 0.9 * DURATION)]
    velocity = {name: float(run.rebound_velocity(name)[1]) for name in ("upper", "lower")}
    total = 0.5 * (velocity["upper"] + velocity["lower"])
    relative = Within.RELATIVE
    return [
        Quantity("contact_duration", last - first + step, DURATION, 0.015, "s", relative),
        Quantity("stress", float(plateau.mean()) / SIDE**2, 0.5 * STRESS, 0.01, "Pa", relative),
        Quantity("struck_speed", -velocity["lower"], SPEED, 0.01, "m/s", relative),
        Quantity("striking_speed", -velocity["upper"], 0.0, 0.01 * SPEED, "m/s"),
        Quantity("mean_speed", -total, 0.5 * SPEED, 1e-9 * SPEED, "m/s"),
        Quantity(
            "energy_error", float(np.abs(run["energy.error"]).max()), 1e-2, 0.0, "relative", Within.AT_MOST
        ),
    ]
