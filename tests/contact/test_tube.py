"""The tube: its field against distances, and a peg that stays in its bore."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.contact import Sphere, Tube
from bellcrank.contact.shapes import depths
from bellcrank.model import System


def test_depth_is_the_distance_to_the_wall() -> None:
    """Away from the rims, inside the wall, in the bore and outside."""
    tube = Tube(0.5, 0.4, 1.0)
    x = np.array([0.0, 0.1, 0.39, 0.42, 0.48, 0.7])
    points = np.stack([x * 0.6, x * 0.8, 0.3 + 0.0 * x], axis=1)
    found, slopes = depths(tube.field, points)
    assert found[1:] == pytest.approx(np.minimum(0.5 - x, x - 0.4)[1:], abs=1e-12)
    assert np.linalg.norm(slopes[1:], axis=1) == pytest.approx(1.0)
    ends = depths(tube.field, np.array([[0.45, 0.0, 1.2], [0.0, -0.45, -0.99]]))[0]
    assert ends == pytest.approx([-0.2, 0.01], abs=1e-12)


def test_a_ball_is_pushed_towards_the_axis() -> None:
    """Pressed into the bore beside its lowest point, it is pushed along the radius."""
    system = System("ball in a tube")
    ball = system.body("ball", 0.2, (1e-5, 1e-5, 1e-5), at=(0.0486, 0.0, -0.0648))
    system.planar("plane", system.ground, ball, axis="y")
    wall = system.ground.shape(Tube(0.12, 0.1, 0.05), rotation=((1, 0, 0), (0, 0, -1), (0, 1, 0)))
    system.contact("bore", wall, ball.shape(Sphere(0.02)), treatment="continuous", method="field", young=1e8)
    result = system.simulate(1e-6)
    x, _, z = np.asarray(result["bore.force"])[0]
    assert np.asarray(result["bore.penetration"])[0] == pytest.approx(0.001, rel=0.02)
    assert x < 0.0 < z
    assert x / z == pytest.approx(-0.0486 / 0.0648, rel=5e-3)
