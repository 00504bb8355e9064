"""The elastica: a cantilever bent far by a dead force at its tip, shear-rigid and inextensible.

Deflection across and shortening along the rod, over its length, for P L^2 / EI = 1 and 10; with 8 coordinates of
bending. How the error falls with the coordinates is reported for 2, 4 and 6.

Source: elliptic integrals (Bisshopp, Drucker, Quart. Appl. Math. 3 (1945) 272): with p = sin((pi/2 + a) / 2), a the
slope of the tip, sqrt(P L^2 / EI) = K(p) - F(p, b), sin b = 1 / (p sqrt 2).
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

from bellcrank.flexible import STEEL, circle, rod
from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

LENGTH, SECTION = 1.0, circle(0.01)
SLICES = 32
"""With the rule of fourth order the slices leave 2e-7 here."""


def closed_form(load: float) -> tuple[float, float]:
    """Deflection and shortening of the tip over the length for P L^2 / EI = `load`."""

    def start(p: float) -> float:
        return math.asin(1.0 / (p * math.sqrt(2.0)))

    def excess(p: float) -> float:
        return float(ellipk(p * p) - ellipkinc(start(p), p * p)) - math.sqrt(load)

    p = brentq(excess, math.sqrt(0.5) + 1e-12, 1.0 - 1e-12, xtol=1e-15)
    m, root = p * p, math.sqrt(load)
    deflection = 1.0 - 2.0 / root * float(ellipe(m) - ellipeinc(start(p), m))
    along = math.sqrt(2.0 * (2.0 * m - 1.0)) / root
    return deflection, 1.0 - along


def tip(load: float, coordinates: int, slices: int = SLICES) -> tuple[float, float]:
    """The same by a rod of so many coordinates."""
    system = System("elastica", gravity=(0.0, 0.0, 0.0))
    member = rod("rod", LENGTH, SECTION, STEEL, bending=(0, coordinates), torsion=0, slices=slices)
    body = system.flexible_body("rod", member)
    system.fixed("wall", system.ground, body.node("start"))
    force = load * STEEL.young * SECTION.bending_z / LENGTH**2
    system.applied_force("force", body.node("end"), lambda: (0.0, force, 0.0))
    x, y, _ = system.equilibrium()["rod.end.position"]
    return float(y) / LENGTH, 1.0 - float(x) / LENGTH


def quantities() -> list[Quantity]:
    """The tip over the length."""
    rows = []
    for load in (1, 10):
        deflection, shortening = closed_form(load)
        v, u = tip(load, 8)
        rows.append(Quantity(f"deflection_{load}", v, deflection, 1e-6))
        rows.append(Quantity(f"shortening_{load}", u, shortening, 1e-6))
    deflection, shortening = closed_form(10)
    for coordinates in (2, 4, 6):
        v, u = tip(10, coordinates)
        error = math.hypot(v - deflection, u - shortening)
        rows.append(Quantity(f"error_with_{coordinates}", error, 0.0, 0.0, "", Within.REPORTED))
    return rows
