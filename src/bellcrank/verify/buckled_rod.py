"""A pinned rod under an axial load: where it buckles, and how it then stands.

One end turns on a pin, the other on a slider that the load pushes towards it. The critical load is where the lowest
squared frequency of the straight rod vanishes. Beyond it, at 1.5 of Euler's load, the rod rests bent.

Source: Euler's load pi^2 EI / L^2; the bent shape by elliptic integrals (Timoshenko, Gere: Theory of Elastic Stability,
section 2.7): P / P_c = (2 K(p) / pi)^2, p the sine of half the slope at the pins, distance of the pins
L (2 E(p) / K(p) - 1), deflection in the middle L p / K(p).
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

from bellcrank.flexible import STEEL, circle, rod
from bellcrank.model import System
from bellcrank.verify.cases import Quantity

LENGTH, SECTION = 1.0, circle(0.01)
EULER = math.pi**2 * STEEL.young * SECTION.bending_z / LENGTH**2
COORDINATES, SLICES = 10, 24


def column() -> System:
    """The rod between its pins; the load [N] is a parameter."""
    system = System("column", gravity=(0.0, 0.0, 0.0))
    load = system.parameter("load", 0.0, "N")
    member = rod(
        "rod", LENGTH, SECTION, STEEL, bending=(0, COORDINATES), torsion=0, slices=SLICES,
        stations={"middle": LENGTH / 2.0},
    )  # fmt: skip
    body = system.flexible_body("rod", member)
    slider = system.body("slider", 1e-3, (1e-6, 1e-6, 1e-6), at=(LENGTH, 0.0, 0.0))
    system.revolute("pin", system.ground, body.node("start"), axis="z")
    system.prismatic("guide", system.ground, slider, axis="x")
    system.revolute("head", body.node("end"), slider, axis="z")
    system.applied_force("push", slider, lambda: (-load, 0.0, 0.0))
    return system


def critical_load() -> float:
    """Over Euler's."""
    system = column()

    def lowest(share: float) -> float:
        """The lowest squared frequency."""
        found = system.linearize(parameters={"load": share * EULER}).eigenvalues
        return float(-(found**2).real.max())

    return float(brentq(lowest, 0.9, 1.1, xtol=1e-7))


def buckled(share: float) -> tuple[float, float]:
    """Distance of the pins and deflection of the middle, over the length."""
    system = column()
    rest = system.equilibrium(parameters={"load": share * EULER}, initial={"rod": {"bending_z 1": 2.0}})
    return float(rest["rod.end.position.x"]) / LENGTH, abs(float(rest["rod.middle.position.y"])) / LENGTH


def quantities() -> list[Quantity]:
    """The critical load and the bent shape."""
    share = 1.5
    p = brentq(lambda p: (2.0 * ellipk(p * p) / math.pi) ** 2 - share, 1e-3, 0.99, xtol=1e-14)
    K, E = float(ellipk(p * p)), float(ellipe(p * p))
    x, y = buckled(share)
    return [
        Quantity("critical_load_ratio", critical_load(), 1.0, 1e-4),
        Quantity("pin_distance", x, 2.0 * E / K - 1.0, 1e-4),
        Quantity("deflection", y, p / K, 1e-4),
    ]
