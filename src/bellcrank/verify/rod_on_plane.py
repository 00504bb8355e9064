"""Tilted rod that falls onto a smooth plane: impulse (1 + e) / (1/m + r^2/I), and what the rod does then.

m = L = 1, falling at 1 m/s, at 0, 30, 45 and 60 degrees from the horizontal, e = 0.5; r = (L/2) cos(angle). The end of
the rod is a small circle. With e = 1 the energy is kept.

Source: closed form, impulse and momentum of a rigid rod.
"""

from __future__ import annotations

import math

from bellcrank.model import System
from bellcrank.result.impact_table import ImpactRecord
from bellcrank.verify.cases import Quantity, Within

TIP = 1e-3
"""Radius of the rod's end [m]; it moves the contact point straight down, so r stays (L/2) cos(angle)."""
CASES = (
    (0.0, 0.375, -0.625, 2.25),
    (30.0, 0.4615385, None, None),
    (45.0, 0.6, -0.4, 2.545584),
    (60.0, 0.8571429, None, None),
)


def rod_on_plane(degrees: float, restitution: float) -> System:
    """The rod just above the line y = 0, its lower end at x = -r."""
    angle = math.radians(degrees)
    system = System("rod", gravity=(0.0, 0.0, 0.0))
    above = 0.5 * math.sin(angle) + TIP + 0.01
    rod = system.body("rod", mass=1.0, inertia=(1.0 / 12.0,) * 3, at=(0.0, above, 0.0), angle=angle)
    system.planar("plane", system.ground, rod, axis="z")
    tip = rod.circle(TIP, at=(-0.5, 0.0, 0.0))
    system.contact("tip", system.ground.line(), tip, restitution=restitution)
    return system


def strike(degrees: float, restitution: float) -> tuple[ImpactRecord, float, float]:
    """The impact, and vertical speed and turning rate after it."""
    start = {"plane": {"y": (0.0, -1.0)}}
    result = rod_on_plane(degrees, restitution).simulate(
        0.015, initial=start, tolerance=1e-12, integrator="dop853"
    )
    end = len(result) - 1
    return (
        result.impacts[0],
        float(result["rod.velocity.y"][end]),
        float(result["rod.angular_velocity.z"][end]),
    )


def quantities() -> list[Quantity]:
    """Impulses at four angles against the closed form and the printed values."""
    found: list[Quantity] = []
    for degrees, printed, speed, rate in CASES:
        impact, vy, omega = strike(degrees, 0.5)
        r = 0.5 * math.cos(math.radians(degrees))
        closed = 1.5 / (1.0 + 12.0 * r * r)
        name = f"{degrees:.0f}"
        found.append(Quantity(f"impulse_{name}", impact.impulse, closed, 1e-10, "N s", Within.RELATIVE))
        found.append(Quantity(f"impulse_{name}_printed", impact.impulse, printed, 5e-8, "N s"))
        if speed is not None and rate is not None:
            found.append(Quantity(f"speed_{name}", vy, speed, 1e-9, "m/s"))
            found.append(Quantity(f"rate_{name}", abs(omega), rate, 5e-7, "rad/s"))
    kept, _, _ = strike(45.0, 1.0)
    found.append(
        Quantity("elastic_energy", kept.energy_after, kept.energy_before, 1e-12, "J", Within.RELATIVE)
    )
    return found
