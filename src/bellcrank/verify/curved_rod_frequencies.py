"""Natural frequencies of straight and curved rods against closed forms.

A ring of two half circles that are welded to each other in a closed loop, free in space: bending in its plane and out
of it. A straight cantilever: bending, torsional and longitudinal waves.

Source: thin rings: Love, Treatise on the Mathematical Theory of Elasticity, section 293: in the plane
w^2 = n^2 (n^2 - 1)^2 / (n^2 + 1) EI / (m R^4), out of it, for a round section, n^2 + 1 + nu in the denominator.
Cantilever: cos k cosh k = -1; shafts and bars: quarter waves.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

from bellcrank.fe.material import Material
from bellcrank.flexible import circle, rod
from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

MATERIAL = Material(70e9, density=2700.0, poisson=0.3)
SECTION = circle(0.004)
RADIUS, LENGTH = 0.5, 1.0


def ring_frequencies(bending: tuple[int, int], torsion: int) -> list[float]:
    """Of the free ring [rad/s], those of its motion as a rigid body left out; coordinates are those of each half."""
    halves = [
        rod(
            name,
            math.pi * RADIUS,
            SECTION,
            MATERIAL,
            curvature=(0.0, 0.0, 1.0 / RADIUS),
            bending=bending,
            torsion=torsion,
            slices=20,
        )
        for name in ("first", "second")
    ]
    system = System("ring", gravity=(0.0, 0.0, 0.0))
    first = system.flexible_body("first", halves[0])
    second = system.flexible_body("second", halves[1], at=(0.0, 2.0 * RADIUS, 0.0), angle=math.pi)
    system.free("flight", system.ground, first.node("start"))
    system.fixed("weld", first.node("end"), second.node("start"))
    system.fixed("closing weld", second.node("end"), first.node("start"))
    return sorted(2.0 * math.pi * float(mode.frequency) for mode in system.linearize().modes)


def cantilever_frequencies() -> list[float]:
    """Of a straight rod on a wall [rad/s]."""
    system = System("cantilever", gravity=(0.0, 0.0, 0.0))
    member = rod("rod", LENGTH, SECTION, MATERIAL, bending=(0, 8), torsion=6, stretch=6)
    body = system.flexible_body("rod", member)
    system.fixed("wall", system.ground, body.node("start"))
    return sorted(2.0 * math.pi * float(mode.frequency) for mode in system.linearize().modes)


def nearest(found: list[float], reference: float) -> float:
    """The frequency closest to a reference."""
    return min(found, key=lambda w: abs(w - reference))


def quantities() -> list[Quantity]:
    """Lowest frequencies of both, over their closed forms' units."""
    unit = math.sqrt(MATERIAL.young * SECTION.bending_z / (MATERIAL.density * SECTION.area))
    rows = []
    in_plane, out_of_plane = ring_frequencies((0, 9), 0), ring_frequencies((6, 3), 6)
    for where, n, more, found in (
        ("in", 2, 0.0, in_plane),
        ("in", 3, 0.0, in_plane),
        ("out_of", 2, MATERIAL.poisson, out_of_plane),
    ):
        exact = n * (n * n - 1.0) / math.sqrt(n * n + 1.0 + more) * unit / RADIUS**2
        value = nearest(found, exact)
        rows.append(Quantity(f"ring_{n}_{where}_plane", value, exact, 2e-4, "rad/s", Within.RELATIVE))
    straight = cantilever_frequencies()
    for n in (1, 2, 3):
        k = brentq(lambda k: math.cos(k) + 1.0 / math.cosh(k), (n - 1) * math.pi, n * math.pi, xtol=1e-14)
        exact = k * k * unit / LENGTH**2
        value = nearest(straight, exact)
        rows.append(Quantity(f"bending_{n}", value, exact, 2e-4, "rad/s", Within.RELATIVE))
    speeds = {"torsion": math.sqrt(MATERIAL.shear / MATERIAL.density), "stretch": MATERIAL.bar_wave_speed}
    for what, speed in speeds.items():
        for n in (1, 2):
            exact = (n - 0.5) * np.pi * speed / LENGTH
            value = nearest(straight, exact)
            rows.append(Quantity(f"{what}_{n}", value, exact, 2e-4, "rad/s", Within.RELATIVE))
    return rows
