"""Every integrator follows every kind of continuous contact: against closed forms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bellcrank.contact import Sampled, Superellipsoid
from bellcrank.integrate import METHODS
from bellcrank.model import System
from bellcrank.model.bodies import Body
from bellcrank.model.contacts import PlacedShape

ADAPTIVE = [name for name in METHODS if name != "runge_kutta4"]


def spread(count: int) -> np.ndarray[Any, Any]:
    """Points on the unit sphere."""
    k = np.arange(count) + 0.5
    z, angle = 1.0 - 2.0 * k / count, k * math.pi * (1.0 + math.sqrt(5.0))
    r = np.sqrt(1.0 - z * z)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), z])


SHAPES: dict[str, Callable[[Body], PlacedShape]] = {
    "sphere": lambda body: body.sphere(0.1),
    "superellipsoid": lambda body: body.shape(Superellipsoid(0.1, 0.1, 0.1, (4.0, 4.0))),
    "sampled": lambda body: body.shape(Sampled(0.1 * spread(400), spread(400))),
    "box": lambda body: body.box(0.1, 0.1, 0.1),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_an_elastic_bounce_keeps_the_energy(shape: str, integrator: str) -> None:
    """Dropped by 50 mm it is on its way up again; the superellipsoid touches where it is flat."""
    system = System("drop", gravity=(0.0, 0.0, -9.81))
    body = system.body("body", mass=1.0, inertia=(4e-3,) * 3, at=(0.0, 0.0, 0.15))
    system.free("flight", system.ground, body)
    floor = system.ground.plane()
    system.contact("floor", floor, SHAPES[shape](body), law="hertz", treatment="continuous", stiffness=1e6)
    run = system.simulate(0.15, tolerance=1e-6, output=2, integrator=integrator)
    assert run["body.velocity.z"][-1] > 0.0
    assert np.ptp(run["energy.total"][[0, -1]]) < 1e-3 * 9.81 * 0.05


def test_a_body_at_rest_costs_no_more_than_the_best_method_would() -> None:
    """A box slides to rest: an explicit method must follow the vibration of its contact for ever."""
    system = System("box on a table", gravity=(0.0, 0.0, -9.81))
    box = system.body("box", mass=0.5, inertia=(8e-4,) * 3, at=(0.0, 0.0, 0.0501))
    system.free("flight", system.ground, box)
    system.contact("table", system.ground.plane(), box.box(0.05, 0.05, 0.05), 0.3, friction=0.4, young=1e8,
                   treatment="continuous", method="field")  # fmt: skip
    counted: dict[str, int] = {}
    for integrator in ("auto", "radau", "runge_kutta5"):
        run = system.simulate(
            2.0, initial={"flight": {"velocity": (0.2, 0.0, 0.0)}}, tolerance=1e-4, integrator=integrator
        )
        counted[integrator] = run.run.evaluations
        # It falls by 0.1 mm, v = 44 mm/s, and bounces once; each impact takes mu (1 + e) v off its speed of sliding.
        fall, slid = math.sqrt(2e-4 / 9.81), 0.2 - 0.4 * 1.3 * 0.0443
        way = 0.2 * fall + slid * 0.6 * fall + (slid - 0.3 * 0.4 * 1.3 * 0.0443) ** 2 / (2.0 * 0.4 * 9.81)
        assert run["box.position.x"][-1] == pytest.approx(way, rel=0.05)
    assert counted["auto"] < 1.3 * min(counted.values())
    assert 10 * counted["auto"] < counted["runge_kutta5"]
