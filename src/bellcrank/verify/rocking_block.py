"""Rocking block: energy kept at an impact from one lower corner to the other, and the times of the impacts.

A block of slenderness atan(b / h) = 0.2 rad, tilted by 0.1 rad about one corner and let go; without restitution, and
too rough to slip. The angular velocity falls to 1 - 3/2 sin^2(0.2) of itself at every impact. Between them the block
turns about a corner; times are quadratures of its energy. Followed event by event, and by steps of 0.2 ms.

Source: Housner (1963), "The behavior of inverted pendulum structures during earthquakes", Bull. Seismol. Soc. Am. 53.
"""

from __future__ import annotations

import math
from typing import Any

from scipy.integrate import quad

from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within

GRAVITY, RADIUS, SLENDERNESS, TILT = 9.81, 0.5, 0.2, 0.1
# So small that a corner is one, and so large that the gap is not lost in rounding.
CORNER = 1e-9
STEP = 2e-4
# Below this energy [J] a corner settles; impacts lie further apart than this [s].
LEAST, APART = 1e-3, 0.1


def run(**options: Any) -> Result:
    """The block let go, for 1.6 s."""
    b, h = RADIUS * math.sin(SLENDERNESS), RADIUS * math.cos(SLENDERNESS)
    system = System("block", gravity=(0.0, -GRAVITY, 0.0))
    # On its right corner, which lies at the origin; turned clockwise.
    at = (-RADIUS * math.sin(SLENDERNESS - TILT), RADIUS * math.cos(SLENDERNESS - TILT) + CORNER, 0.0)
    inertia = RADIUS * RADIUS / 3.0
    block = system.body("block", mass=1.0, inertia=(inertia,) * 3, at=at, angle=-TILT)
    system.planar("plane", system.ground, block, axis="z")
    for name, x in (("left", -b), ("right", b)):
        corner = block.circle(CORNER, at=(x, -h, 0.0))
        system.contact(name, system.ground.line(), corner, restitution=0.0, friction=5.0)
    return system.simulate(1.6, output=600, **options)


def quarter(tilt: float) -> float:
    """Time of the fall from rest at a tilt [s]."""
    p = math.sqrt(0.75 * GRAVITY / RADIUS)

    def rate(s: float) -> float:
        angle = tilt - s * s
        fallen = math.cos(SLENDERNESS - tilt) - math.cos(SLENDERNESS - angle)
        return 2.0 * s / math.sqrt(2.0 * p * p * fallen)

    return float(quad(rate, 0.0, math.sqrt(tilt), epsabs=1e-13, epsrel=1e-13)[0])


def impact_times(kept: float) -> list[float]:
    """Of the first three impacts [s]."""
    level, tilt = math.cos(SLENDERNESS), TILT
    times = [quarter(tilt)]
    for _ in range(2):
        tilt = SLENDERNESS - math.acos(level + kept * (math.cos(SLENDERNESS - tilt) - level))
        times.append(times[-1] + 2.0 * quarter(tilt))
    return times


def blows(result: Result) -> list[tuple[float, float]]:
    """Time of each impact, and the energy kept in it; by steps a plastic impact may take two of them."""
    found: list[tuple[float, float]] = []
    before, last = 0.0, -1.0
    for impact in result.impacts:
        if impact.energy_before < LEAST:
            continue
        if impact.time - last > APART:
            before = impact.energy_before
            found.append((impact.time, 0.0))
        found[-1] = found[-1][0], impact.energy_after / before
        last = impact.time
    return found


def quantities() -> list[Quantity]:
    """Energy kept, and times, event by event and by steps."""
    kept = (1.0 - 1.5 * math.sin(SLENDERNESS) ** 2) ** 2
    expected = impact_times(kept)
    rows = []
    steps = {"impacts": "stepping", "step": STEP}
    for name, options, exact in (("", {"tolerance": 1e-10}, 1e-6), ("stepping_", steps, 5e-3)):
        found = blows(run(**options))
        rows.append(Quantity(f"{name}energy_ratio", found[0][1], kept, exact, "", Within.RELATIVE))
        for number, ((time, _), reference) in enumerate(zip(found, expected, strict=True)):
            rows.append(Quantity(f"{name}time_{number + 1}", time, reference, exact, "s", Within.RELATIVE))
    return rows
