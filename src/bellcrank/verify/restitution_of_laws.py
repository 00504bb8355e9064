"""Restitution delivered against restitution asked for, 0.1 to 1, for every law of the normal force.

The balls of `two-balls` strike each other once for each law and each restitution. The calibrated law and Kelvin and
Voigt's, with the damping chosen for it, deliver what is asked; Hertz's returns everything; the published factors
deliver what follows from them. At a tenth and at ten times the size, with the masses that go with it, the calibrated
law delivers the same.

Source: a (1 + e) = ln((1 + a) / (1 - a e)) with the factors of Hunt and Crossley (1975), Lankarani and Nikravesh (1990)
and Flores et al. (2011), solved here by bisection; the exponent, the stiffness and the masses are not in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from bellcrank.contact.laws import kelvin_voigt_damping
from bellcrank.model import System
from bellcrank.verify.cases import Quantity
from bellcrank.verify.two_balls import run

ASKED = tuple(k / 10 for k in range(1, 11))
FACTORS: dict[str, Callable[[float], float]] = {
    "hunt-crossley": lambda e: 3 * (1 - e) / 2,
    "lankarani-nikravesh": lambda e: 3 * (1 - e * e) / 4,
    "flores": lambda e: 8 * (1 - e) / (5 * e),
}
STIFFNESS = 1e6
TOLERANCE = 1e-8


def expected(a: float) -> float:
    """The root of the relation between 0 and 1, where the left side begins below the right one."""
    if a == 0.0:
        return 1.0
    low, high = 0.0, min(1.0, 1.0 / a)
    for _ in range(200):
        e = 0.5 * (low + high)
        ends = 1.0 - a * e
        before = ends > 0.0 and a * (1.0 + e) > math.log((1.0 + a) / ends)
        low, high = (e, high) if before else (low, e)
    return low


def delivered(**contact: object) -> float:
    """Speed of parting over the speed of approach, 1 m/s."""
    found = run(output=5, **contact)
    return float(found["right.velocity.x"][-1] - found["left.velocity.x"][-1])


def at_size(size: float, restitution: float) -> float:
    """Speed of parting over the speed of approach, for balls `size` times as large, from moduli."""
    system = System("two balls of another size", gravity=(0.0, 0.0, 0.0))
    radius, mass = 0.1 * size, 4.0 * size**3
    shapes = []
    for name, x in (("left", -1.01 * radius), ("right", radius)):
        ball = system.body(name, mass=mass, inertia=(0.4 * mass * radius**2,) * 3, at=(x, 0.0, 0.0))
        system.free(f"{name} flight", system.ground, ball)
        shapes.append(ball.sphere(radius))
    left, right = shapes
    system.contact(
        "hit", left, right, treatment="continuous", restitution=restitution, young=1e8, poisson=0.3
    )
    found = system.simulate(
        0.05 * size, initial={"left flight": {"velocity": (1.0, 0.0, 0.0)}}, tolerance=1e-11, output=5
    )
    return float(found["right.velocity.x"][-1] - found["left.velocity.x"][-1])


def quantities() -> list[Quantity]:
    """One row for each law and each restitution, then the calibrated law at other sizes."""
    rows = [Quantity("hertz", delivered(law="hertz", stiffness=STIFFNESS), 1.0, TOLERANCE)]
    for e in ASKED:
        rows.append(
            Quantity(
                f"calibrated_{e:g}",
                delivered(law="calibrated", restitution=e, stiffness=STIFFNESS),
                e,
                TOLERANCE,
            )
        )
        damping = kelvin_voigt_damping(STIFFNESS, 0.5, e)
        struck = delivered(law="kelvin-voigt", stiffness=STIFFNESS, damping=damping)
        rows.append(Quantity(f"kelvin_voigt_{e:g}", struck, e, TOLERANCE))
        for law, factor in FACTORS.items():
            struck = delivered(law=law, restitution=e, stiffness=STIFFNESS)
            rows.append(Quantity(f"{law.replace('-', '_')}_{e:g}", struck, expected(factor(e)), TOLERANCE))
    for size in (0.1, 10.0):
        rows.append(Quantity(f"calibrated_0.5_size_{size:g}", at_size(size, 0.5), 0.5, TOLERANCE))
    return rows
