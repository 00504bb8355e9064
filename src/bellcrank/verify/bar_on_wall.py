"""Elastic bar on a rigid wall: contact time, stress, shortening and rebound against the closed form.

A steel bar 0.2 m long flies at 100 m/s over a gap of 2 mm; its sides are held, so that strain is one-dimensional.
One wave runs to the free end and back; then the bar leaves as fast as it came.

Source: code_aster V5.03.100 (SDNV100), and c = sqrt(E (1 - nu) / (rho (1 + nu) (1 - 2 nu))), duration 2 L / c, stress
rho c v.
"""

from __future__ import annotations

import numpy as np

from bellcrank import elastic
from bellcrank.verify.cases import Quantity, Within

LENGTH, SIDE, GAP, SPEED = 0.2, 0.02, 0.002, 100.0
DURATION, STRESS, SHORTENING = 6.895132859e-5, 4.640954809e9, 3.447566429e-3
STEEL = elastic.Material(young=2e11, poisson=0.3, density=8000.0)


def bar(elements: int, lowest: float = GAP, speed: float = -SPEED, name: str = "bar") -> elastic.ElasticBody:
    """The bar, upright."""
    sides = elastic.Support(lambda x: np.ones(len(x), dtype=bool), "x")
    return elastic.block(
        (SIDE, LENGTH), STEEL, element=elastic.Element.QUADRILATERAL4, divisions=(1, elements), thickness=SIDE,
        lowest=(0.0, lowest), velocity=(0.0, speed), supports=(sides,), name=name,
    )  # fmt: skip


def quantities() -> list[Quantity]:
    """A run of 400 elements; the wave passes half an element a step."""
    body = bar(400)
    step = 0.5 * LENGTH / 400 / STEEL.pressure_wave_speed
    run = elastic.simulate(body, elastic.RigidPlane(), 1.05e-4, step, frames=400)
    force = np.asarray(run["contact.force"])
    first, last = run.contact_duration()
    plateau = force[(run.time > first + 0.1 * DURATION) & (run.time < first + 0.9 * DURATION)]
    lengths = [run.displacement(k).reshape(-1, 2)[:, 1] for k in range(len(run.frame_times))]
    top, foot = body.nodes[:, 1].argmax(), body.nodes[:, 1].argmin()
    shortest = max(float(u[foot] - u[top]) for u in lengths)
    relative = Within.RELATIVE
    energy = float(np.abs(run["energy.error"]).max())
    return [
        Quantity("contact_start", first, GAP / SPEED, 2.0 * step, "s"),
        Quantity("contact_duration", last - first + step, DURATION, 0.01, "s", relative),
        Quantity("stress", float(plateau.mean()) / SIDE**2, STRESS, 0.005, "Pa", relative),
        Quantity("shortening", shortest, SHORTENING, 0.01, "m", relative),
        Quantity("rebound_speed", float(run.rebound_velocity()[1]), SPEED, 0.01, "m/s", relative),
        Quantity("impulse", float(force.sum() * step), 2.0 * body.total_mass * SPEED, 0.01, "N s", relative),
        Quantity("energy_error", energy, 5e-3, 0.0, "relative", Within.AT_MOST),
    ]
