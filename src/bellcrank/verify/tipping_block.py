"""Block on an incline, by fields of depth: slides for mu < tan(angle) < width / height, tips for the opposite order.

A block 0.1 m wide and 0.2 m high stands on a rough plane. Below both limits it stays. With mu = 0.3 it slides down at
g (sin - mu cos); with mu = 0.9 it turns about its lower edge, whose angular velocity follows from the energy. It does
so 2 % above each limit, and 2 % below it the block stays.

Source: closed forms of a rigid block, friction of Coulomb; I = 4/3 m (a^2 + b^2) about the edge, a and b half of width
and height.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.contact.friction import Coulomb
from bellcrank.model import System
from bellcrank.result.result import Result
from bellcrank.verify.cases import Quantity, Within

MASS, GRAVITY = 1.0, 9.81
HALF = (0.05, 0.05, 0.1)
SLIPPERY, ROUGH = 0.3, 0.9
# Sharp and hard, so that the block tips about its geometric edge: a soft one, let go 2 % below the limit, rocks on its
# edge and falls.
ROUNDING, MODULUS = 1e-4, 3e9
SLIP_SPEED = 1e-4
BELOW, ABOVE = 0.98, 1.02
# Turns [rad] of a block that stands, which is the elastic sinking of one side, and of one that falls over.
STANDING, TIPPED = 1e-3, 0.2


def on_incline(slope: float, friction: float, duration: float) -> Result:
    """A block let go; slope: tan of the angle of the incline, which falls along x."""
    angle = math.atan(slope)
    system = System("block", gravity=(GRAVITY * math.sin(angle), 0.0, -GRAVITY * math.cos(angle)))
    x, y, z = (4.0 * h * h for h in HALF)
    inertia = tuple(MASS / 12.0 * s for s in (y + z, x + z, x + y))
    block = system.body("block", mass=MASS, inertia=inertia, at=(0.0, 0.0, HALF[2]))
    system.free("flight", system.ground, block)
    system.contact(
        "floor",
        system.ground.plane(),
        block.box(*HALF, rounding=ROUNDING),
        restitution=0.3,
        friction=Coulomb(friction, slip_speed=SLIP_SPEED),
        treatment="continuous",
        method="field",
        young=(math.inf, MODULUS),
        approach_speed=0.01,
    )
    return system.simulate(duration, tolerance=1e-7, output=np.linspace(0.0, duration, 101))


def turn(run: Result) -> float:
    """Angle of the block about y at the end [rad]."""
    across = np.asarray(run["block.rotation"][-1])
    return math.atan2(across[0, 2], across[2, 2])


def tipping_rate(slope: float, angle: float) -> float:
    """Angular velocity of a block that turned by an angle about its edge [rad/s], by its energy."""
    a, _, b = HALF
    cos = math.cos(math.atan(slope))
    along = a - a * math.cos(angle) + b * math.sin(angle)
    up = b * math.cos(angle) + a * math.sin(angle) - b
    return math.sqrt(2.0 * GRAVITY * cos * (slope * along - up) / (4.0 / 3.0 * (a * a + b * b)))


def acceleration(run: Result) -> float:
    """Down the incline, over the second half of a run [m/s^2]; at first the friction of small slip speeds is less."""
    t, v = run.time, run["block.velocity.x"]
    return float((v[-1] - v[50]) / (t[-1] - t[50]))


def sliding(slope: float, friction: float) -> float:
    """Acceleration of a block that slides [m/s^2]."""
    return GRAVITY * math.cos(math.atan(slope)) * (slope - friction)


def creep(slope: float, friction: float) -> float:
    """Speed at which regularised friction holds a block [m/s]."""
    share = slope / friction
    return SLIP_SPEED * share / math.sqrt(1.0 - share * share)


def quantities() -> list[Quantity]:
    """One run well beyond each limit, and one close to it on either side."""
    relative, limit = Within.RELATIVE, HALF[0] / HALF[2]
    rows = []
    for name, slope in (("slides", 0.4), ("slides_just_above", ABOVE * SLIPPERY)):
        run = on_incline(slope, SLIPPERY, 0.5)
        found, expected = acceleration(run), sliding(slope, SLIPPERY)
        rows.append(Quantity(f"{name}_acceleration", found, expected, 1e-3, "m/s^2", relative))
        rows.append(Quantity(f"{name}_turn", abs(turn(run)), STANDING, 0.0, "rad", Within.AT_MOST))
    run = on_incline(BELOW * SLIPPERY, SLIPPERY, 0.5)
    found, expected = float(run["block.velocity.x"][-1]), creep(BELOW * SLIPPERY, SLIPPERY)
    rows.append(Quantity("stays_just_below_speed", found, expected, 1e-6, "m/s", relative))
    for name, slope, duration in (("tips", 0.7, 0.3), ("tips_just_above", ABOVE * limit, 0.5)):
        run = on_incline(slope, ROUGH, duration)
        found, expected = float(run["block.angular_velocity.y"][-1]), tipping_rate(slope, turn(run))
        rows.append(Quantity(f"{name}_turn", turn(run), TIPPED, 0.0, "rad", Within.AT_LEAST))
        rows.append(Quantity(f"{name}_rate", found, expected, 5e-3, "rad/s", relative))
    run = on_incline(BELOW * limit, ROUGH, 0.5)
    rows.append(Quantity("stands_just_below_turn", abs(turn(run)), STANDING, 0.0, "rad", Within.AT_MOST))
    return rows
