"""A cantilever rolled up into one and two full circles by a moment at its tip.

The moment 2 pi k EI / L bends a straight rod into k circles: the tip comes back to the root. Two coordinates of
bending; the pose over eight slices is exact for a constant curvature.

Source: Euler's elastica: constant moment, constant curvature M / EI.
"""

from __future__ import annotations

import math

from bellcrank.flexible import STEEL, circle, rod
from bellcrank.model import System
from bellcrank.verify.cases import Quantity

LENGTH, SECTION = 2.0, circle(0.01)


def tip(turns: int) -> tuple[float, float]:
    """Where the tip comes to rest, over the length."""
    system = System("roll-up", gravity=(0.0, 0.0, 0.0))
    member = rod("rod", LENGTH, SECTION, STEEL, bending=(0, 2), torsion=0, slices=8)
    body = system.flexible_body("rod", member)
    system.fixed("wall", system.ground, body.node("start"))
    moment = 2.0 * math.pi * turns * STEEL.young * SECTION.bending_z / LENGTH
    system.applied_torque("moment", body.node("end"), lambda: (0.0, 0.0, moment))
    x, y, _ = system.equilibrium()["rod.end.position"]
    return float(x) / LENGTH, float(y) / LENGTH


def quantities() -> list[Quantity]:
    """The tip over the length."""
    rows = []
    for turns in (1, 2):
        x, y = tip(turns)
        rows.append(Quantity(f"tip_x_{turns}", x, 0.0, 1e-6))
        rows.append(Quantity(f"tip_y_{turns}", y, 0.0, 1e-6))
    return rows
