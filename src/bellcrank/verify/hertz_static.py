"""Hertz contact: an elastic sphere pressed on a rigid plane, pressure and contact radius as the mesh is refined.

Steel sphere of 10 mm radius under 100 N; six-node triangles halved around the pole. Radius and pressure are read
from the line p^2 = p0^2 (1 - r^2 / a^2) through the nodal pressures.

Source: Johnson, Contact Mechanics (1985), (4.22) to (4.24): a = 1.481248034e-4 m, p0 = 2.176134892e9 Pa.
"""

from __future__ import annotations

import numpy as np

from bellcrank import elastic
from bellcrank.verify.cases import Quantity, Within

RADIUS, FORCE = 0.01, 100.0
CONTACT, PRESSURE, APPROACH = 1.481248034e-4, 2.176134892e9, 2.194095739e-6
LEVELS = (5, 6, 7, 8)


def pressed(level: int) -> elastic.Pressed:
    """The sphere under its load; elements are halved `level` times within two contact radii."""
    steel = elastic.Material(young=2.1e11, poisson=0.3, density=7850.0)
    ball = elastic.sphere(
        RADIUS, steel, element=elastic.Element.TRIANGLE6, refinement=level, contact_zone=2.0 * CONTACT, divisions=8,
        centre=(0.0, RADIUS),
    )  # fmt: skip
    middle = elastic.Support(lambda x: np.abs(x[:, 1] - RADIUS) < 1e-9 * RADIUS, "y", -1.0)
    return elastic.press(ball, elastic.RigidPlane(), middle, force=FORCE)


def hertz_fit(found: elastic.Pressed) -> tuple[float, float]:
    """Contact radius [m] and largest pressure [Pa]."""
    r, p = found.places[:, 0], found.pressures
    own = ~np.isnan(p)
    slope, top = np.polyfit(r[own] ** 2, p[own] ** 2, 1, w=np.sqrt(found.areas[own]))
    return float(np.sqrt(-top / slope)), float(np.sqrt(top))


def quantities() -> list[Quantity]:
    """Four meshes."""
    found = [pressed(level) for level in LEVELS]
    fits = [hertz_fit(one) for one in found]
    radius_errors = [abs(a / CONTACT - 1.0) for a, _ in fits]
    pressure_errors = [abs(p / PRESSURE - 1.0) for _, p in fits]
    r, p = found[-1].places[:, 0], found[-1].pressures
    law = PRESSURE * np.sqrt(np.maximum(1.0 - (r / CONTACT) ** 2, 0.0))
    inner = ~np.isnan(p) & (r < 0.9 * CONTACT)
    curve = float(np.abs(p - law)[inner].max() / PRESSURE)
    relative, at_most = Within.RELATIVE, Within.AT_MOST
    return [
        Quantity("contact_radius", fits[-1][0], CONTACT, 0.005, "m", relative),
        Quantity("pressure", fits[-1][1], PRESSURE, 0.005, "Pa", relative),
        Quantity("approach", found[-1].approach, APPROACH, 0.02, "m", relative),
        Quantity("force", found[-1].force, FORCE, 1e-9, "N", relative),
        Quantity("pressure_curve", curve, 0.02, 0.0, "of the peak", at_most),
        *(
            Quantity(f"radius_error_{k}", e, 0.08 / 2**k, 0.0, "relative", at_most)
            for k, e in enumerate(radius_errors)
        ),
        *(
            Quantity(f"pressure_error_{k}", e, 0.06 / 2**k, 0.0, "relative", at_most)
            for k, e in enumerate(pressure_errors)
        ),
    ]
