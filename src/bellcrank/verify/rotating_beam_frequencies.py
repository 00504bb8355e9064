"""Frequencies of a rotating cantilever: the mechanism linearised about steady rotation.

A round blade clamped to a hub of no radius that is driven at constant speed. Without geometric stiffening the
flapping frequency would not depend on the speed. In the plane of rotation omega_lag^2 = omega_flap^2 - Omega^2.
All in units of sqrt(EI / m L^4).

Source: Wright, Smith, Thresher, Wang, J. Appl. Mech. 49 (1982) 197, as quoted in the literature; the print was not at
hand, so the values were confirmed by Ritz's method to their last digit (tests/flexible/test_stiffening.py).
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.flexible import Clamped, Material, NormalModes, beam, circle
from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

LENGTH, SECTION = 0.5, circle(0.008)
STEEL = Material(young=200e9, density=7830.0, poisson=0.3)
UNIT = math.sqrt(STEEL.young * SECTION.bending_y / (STEEL.density * SECTION.area)) / LENGTH**2
FLAPPING = {
    0: (3.5160, 22.0345),
    2: (4.1373, 22.6149),
    4: (5.5850, 24.2733),
    8: (9.2568, 29.9954),
    12: (13.1702, 37.6031),
}
"""Speed: first and second frequency."""


def frequencies(speed: float, axis: str, stiffening: bool = True) -> list[float]:
    """Of bending along `axis` (z: flapping, y: in the plane of rotation), in units."""
    model = beam("blade", LENGTH, SECTION, STEEL, 24)
    member = model.reduce(NormalModes(along={axis: 10}), Clamped("start"), stiffening=stiffening)
    system = System("rotating beam", gravity=(0.0, 0.0, 0.0))
    hub = system.body("hub", mass=1.0, inertia=(1.0, 1.0, 1.0))
    blade = system.flexible_body("blade", member)
    shaft = system.revolute("shaft", system.ground, hub, at=(0.0, 0.0, 0.0))
    system.fixed("root", hub.point(0.0, 0.0, 0.0), blade.node("start"))
    system.driver(shaft, lambda t: speed * UNIT * t, name="motor")
    values = system.linearize().eigenvalues
    return [float(x) for x in np.sort(np.abs(values.imag))[::2] / UNIT]


def quantities() -> list[Quantity]:
    """Flapping at five speeds, in-plane at one, and what the linear theory would say."""
    rows = []
    for speed, reference in FLAPPING.items():
        found = frequencies(speed, "z")
        for n in (0, 1):
            name = f"flap_{n + 1}_at_{speed}"
            rows.append(Quantity(name, found[n], reference[n], 1e-4, "", Within.RELATIVE))
    lag = math.sqrt(FLAPPING[4][0] ** 2 - 4.0**2)
    rows.append(Quantity("lag_1_at_4", frequencies(4, "y")[0], lag, 1e-4, "", Within.RELATIVE))
    linear = frequencies(12, "z", stiffening=False)[0]
    rows.append(
        Quantity("flap_1_at_12_without_stiffening", linear, FLAPPING[0][0], 1e-4, "", Within.RELATIVE)
    )
    return rows
