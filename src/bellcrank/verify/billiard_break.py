"""Billiard break: fifteen balls in a triangle, struck by a sixteenth along the axis of symmetry, by steps of 0.1 ms.

Elastic balls without friction that slide on a plane, a hundredth of a millimetre apart. Whatever the order of the
blows, momentum is conserved, energy never rises, and the two halves of the triangle fly apart as mirror images. Blows
that follow each other within a step are one: balls that were at rest against each other then part without restitution,
which costs some of the energy.

Source: conservation of momentum, and symmetry.
"""

from __future__ import annotations

import math

import numpy as np

from bellcrank.model import System
from bellcrank.verify.cases import Quantity, Within

RADIUS, GAP, SPEED, ROWS = 0.0286, 1e-5, 5.0, 5


def places() -> list[tuple[float, float]]:
    """Of the cue ball, then of the triangle row by row [m]."""
    pitch = 2.0 * RADIUS + GAP
    found = [(-0.1, 0.0)]
    for row in range(ROWS):
        found += [(pitch * row * math.sqrt(0.75), pitch * (k - 0.5 * row)) for k in range(row + 1)]
    return found


def quantities() -> list[Quantity]:
    """Momentum, energy and symmetry after the break."""
    system = System("break", gravity=(0.0, 0.0, 0.0))
    for k, (x, y) in enumerate(places()):
        ball = system.body(f"ball {k}", mass=1.0, inertia=(0.4 * RADIUS**2,) * 3, at=(x, y, 0.0))
        system.planar(f"cloth {k}", system.ground, ball, axis="z")
        ball.collides(ball.sphere(RADIUS))
    system.contacts_between(restitution=1.0, friction=0.0)
    run = system.simulate(
        0.1, impacts="stepping", step=1e-4, output=20, initial={"cloth 0": {"x": (-0.1, SPEED)}}
    )
    balls = range(1 + ROWS * (ROWS + 1) // 2)
    at = np.array([np.asarray(run[f"ball {k}.position"])[-1, :2] for k in balls])
    mirrored = np.linalg.norm(at[:, None] - (at * [1.0, -1.0])[None], axis=2).min(axis=1).max()
    energy = np.asarray(run["energy.kinetic"])
    momentum = np.asarray(run["momentum"])
    relative, at_most = Within.RELATIVE, Within.AT_MOST
    return [
        Quantity("momentum_along", float(momentum[-1, 0]), SPEED, 1e-10, "N s", relative),
        Quantity("momentum_across", abs(float(momentum[-1, 1])), 1e-9, 0.0, "N s", at_most),
        Quantity("energy_ratio", float(energy[-1] / energy[0]), 1.0, 0.0, "", at_most),
        Quantity("largest_rise_of_energy", float(np.diff(energy).max() / energy[0]), 1e-9, 0.0, "", at_most),
        # Impulses are solved to 1e-6 in an order that is not symmetric, and blow after blow spreads the difference.
        Quantity("symmetry", float(mirrored) / RADIUS, 1e-3, 0.0, "radii", at_most),
    ]
