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
