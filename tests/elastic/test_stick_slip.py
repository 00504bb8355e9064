"""A layer dragged by a moving wall sticks and slips as the oscillator of one freedom does."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank import elastic
from bellcrank.elastic import Element

FRICTION, PLACE, SPEED = 0.3, 0.006, 0.003
"""PLACE: Where friction and shear balance [m]. SPEED: Of the wall [m/s], half of what friction alone would reach."""
WIDTH = 100.0
"""So wide against its height of one metre that shear does not tilt it, and all nodes press alike."""


def oscillator(t: np.ndarray) -> np.ndarray:
    """Slips until it is as fast as the wall, sticks until friction is spent, slips on; one radian a second."""
    caught = np.arcsin(SPEED / PLACE)
    at = PLACE * (1.0 - np.cos(caught))
    loose = caught + (PLACE - at) / SPEED
    after = np.where(t < loose, at + SPEED * (t - caught), PLACE + SPEED * np.sin(t - loose))
    return np.where(t < caught, PLACE * (1.0 - np.cos(t)), after)


def error(step: float) -> float:
    """Of the mean displacement of the lower side of one brick that hangs from its upper one, over PLACE."""
    # Shear stiffness and a third of the mass move with the lower side; of the weight it carries half.
    body = elastic.block(
        (WIDTH, WIDTH, 1.0),
        elastic.Material(young=2.0, poisson=0.0, density=3.0),
        element=Element.HEXAHEDRON8,
        divisions=(1, 1, 1),
        supports=(elastic.Support(lambda x: x[:, 2] > 0.5, "xyz"),),
        body_force=(0.0, 0.0, -2.0 * PLACE / FRICTION),
    )
    wall = elastic.RigidPlane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), velocity=(SPEED, 0.0, 0.0))
    frames = round(10.0 / step)
    run = elastic.simulate(body, elastic.Contact(body, wall, friction=FRICTION), 10.0, step, frames=frames)
    lower = body.nodes[:, 2] < 0.5
    moved = np.array([run.displacement(k)[lower, 0].mean() for k in range(frames + 1)])
    return float(np.abs(moved - oscillator(run.frame_times)).max() / PLACE)


@pytest.mark.parametrize("step", [0.05, 0.02])
def test_stick_slip_on_a_moving_wall(step: float) -> None:
    """Friction switches at steps: no place is further off than the wall moves in one."""
    assert error(step) < SPEED * step / PLACE
