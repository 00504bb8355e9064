"""Where runs followed event by event meet their limits: they say so by name, and none hangs."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.model import System
from impacts.models import G, ball


def between(ratio: float) -> System:
    """An elastic ball at rest on the floor, and one so many times as heavy above it."""
    system = System("balls", gravity=(0.0, 0.0, 0.0))
    shapes = []
    for name, mass, height in (("light", 1.0, 0.1), ("heavy", ratio, 0.35)):
        body = system.body(name, mass=mass, inertia=(0.01,) * 3, at=(0.0, 0.0, height))
        system.prismatic(f"{name} guide", system.ground, body, axis="z")
        shapes.append(body.sphere(0.1))
    system.contact("floor", system.ground.plane(), shapes[0])
    system.contact("between", *shapes)
    system.initial("heavy guide", (0.0, -1.0))
    return system


def test_ball_rests_on_a_rough_floor_though_its_guide_locks_the_tangents() -> None:
    result = ball(0.5, friction=0.5).simulate(3.0)
    assert result["ball.position.z"][-1] == pytest.approx(0.2, abs=1e-12)
    assert np.asarray(result["bounce.force"])[-1] == pytest.approx([0.0, 0.0, G])


def test_heavy_ball_on_a_light_one_keeps_its_energy() -> None:
    """pi sqrt(1e4) strikes between them."""
    result = between(1e4).simulate(0.2)
    assert result["energy.kinetic"][-1] == pytest.approx(5e3, rel=1e-9)
    assert all(change.what != "plastic" for change in result.contact_changes)


def test_impact_that_does_not_end_says_so() -> None:
    with pytest.warns(UserWarning, match=r"'floor'.* met without restitution"):
        result = between(1e10).simulate(0.1)
    assert "plastic" in {change.what for change in result.contact_changes}
