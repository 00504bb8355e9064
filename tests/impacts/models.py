"""Small mechanisms with contacts."""

from __future__ import annotations

import math
from typing import Any

from bellcrank.model import System

G = 9.81


def block_on_slope(friction: float, slope: float) -> System:
    """A block that cannot turn on the line y = 0, gravity turned by the slope."""
    system = System("block", gravity=(G * math.sin(slope), -G * math.cos(slope), 0.0))
    block = system.body("block", mass=2.0, inertia=(1.0, 1.0, 1.0), at=(0.0, 0.1, 0.0))
    system.planar("plane", system.ground, block, axis="z")
    system.driver("plane", lambda t: 0.0 * t, coordinate="angle", name="upright")
    system.contact("foot", system.ground.line(), block.circle(0.1), restitution=0.0, friction=friction)
    return system


def disc(
    friction: float, inertia: float, slope: float = 0.0, mass: float = 2.0, restitution: float = 0.0
) -> System:
    """A disc of radius 0.1 m on the line y = 0."""
    system = System("disc", gravity=(G * math.sin(slope), -G * math.cos(slope), 0.0))
    body = system.body("disc", mass=mass, inertia=(inertia,) * 3, at=(0.0, 0.1, 0.0))
    system.planar("plane", system.ground, body, axis="z")
    line = system.ground.line()
    system.contact("rim", line, body.circle(0.1), restitution=restitution, friction=friction)
    return system


def ball(restitution: float, height: float = 1.0, radius: float = 0.2, **more: Any) -> System:
    """A ball that falls straight down."""
    system = System("ball", gravity=(0.0, 0.0, -G))
    body = system.body("ball", mass=1.0, inertia=(0.4, 0.4, 0.4), at=(0.0, 0.0, height))
    system.prismatic("shaft", system.ground, body, axis="z")
    system.contact("bounce", system.ground.plane(), body.sphere(radius), restitution=restitution, **more)
    return system


def tilted_rod(friction: float, degrees: float = 60.0, restitution: float = 0.0) -> System:
    """A thin rod of 1 m that touches the line y = 0 with one end."""
    angle = math.radians(degrees)
    system = System("rod", gravity=(0.0, -G, 0.0))
    above = 0.5 * math.sin(angle) + 1e-3
    rod = system.body("rod", mass=1.0, inertia=(1.0 / 12.0,) * 3, at=(0.0, above, 0.0), angle=angle)
    system.planar("plane", system.ground, rod, axis="z")
    tip = rod.circle(1e-3, at=(-0.5, 0.0, 0.0))
    system.contact("tip", system.ground.line(), tip, restitution=restitution, friction=friction)
    return system


TIGHT: dict[str, Any] = {"tolerance": 1e-11, "integrator": "dop853"}
