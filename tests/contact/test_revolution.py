"""Solids of revolution: nearest points against a fine search along the profile."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.contact import ClosestKernel, Revolution, Sphere
from bellcrank.contact.closest import closest
from bellcrank.errors import ModelError
from bellcrank.verify.bat_and_ball import LENGTH, profile

UNIT = np.eye(3)


def test_ball_around_the_bat() -> None:
    kernel = ClosestKernel(Revolution(profile, LENGTH), Sphere(0.03))
    z = np.linspace(0.0, LENGTH, 200_001)
    r = np.array([profile(float(x)) for x in z])
    random = np.random.default_rng(3)
    for _ in range(200):
        angle = random.uniform(0.0, 2.0 * np.pi)
        height, around = random.uniform(0.02, LENGTH - 0.02), random.uniform(0.034, 0.2)
        c = np.array([around * np.cos(angle), around * np.sin(angle), height])
        found = kernel(UNIT, np.zeros(3), UNIT, c)
        expected = np.sqrt(np.min((r - around) ** 2 + (z - height) ** 2)) - 0.03
        assert found.distance == pytest.approx(expected, abs=1e-9)
        assert np.linalg.norm(found.normal) == pytest.approx(1.0)


def test_overlap_is_negative_and_the_normal_still_points_out() -> None:
    kernel = ClosestKernel(Revolution(profile, LENGTH), Sphere(0.03))
    found = kernel(UNIT, np.zeros(3), UNIT, np.array([0.032, 0.0, 0.8]))
    assert found.distance < -0.02
    assert found.normal[0] > 0.9


def test_ball_beyond_the_end_meets_its_flat_face() -> None:
    kernel = ClosestKernel(Revolution(profile, LENGTH), Sphere(0.03))
    found = kernel(UNIT, np.zeros(3), UNIT, np.array([0.01, 0.0, LENGTH + 0.1]))
    assert found.distance == pytest.approx(0.07)
    assert found.normal == pytest.approx([0.0, 0.0, 1.0])


def test_a_profile_that_is_none_is_refused() -> None:
    bat = Revolution(profile, LENGTH)
    with pytest.raises(ModelError, match="positive"):
        Revolution(lambda z: 0.1 - z, 0.2)
    assert (
        closest(bat, UNIT.tolist(), (0.0, 0.0, 0.0), Sphere(0.1), UNIT.tolist(), (1.0, 0.0, 0.5)).distance
        > 0.0
    )
