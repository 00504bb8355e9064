"""Runs by steps where contacts are hardest: progress always, energy never up, nothing silent."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.model import Body, System
from bellcrank.result.result import Result
from impacts.models import G


def cube(system: System, name: str, half: float, at: tuple[float, float, float], mass: float) -> Body:
    """A free cube that collides."""
    body = system.body(name, mass=mass, inertia=(2.0 / 3.0 * mass * half * half,) * 3, at=at)
    system.free(f"{name} flight", system.ground, body)
    body.collides(body.box(half, half, half))
    return body


def run(system: System, duration: float = 0.3, **more: object) -> Result:
    return system.simulate(duration, impacts="stepping", step=1e-3, **({"output": 30} | more))


def check(result: Result) -> None:
    """Finite, not inside each other, energy not up, every step solved."""
    energy = np.asarray(result["energy.total"])
    assert np.isfinite(result.q).all()
    assert all(impact.energy_after <= impact.energy_before * (1.0 + 1e-9) for impact in result.impacts)
    # Between impacts, what bodies turn into each other in a step is taken out of their positions, which lifts them.
    assert np.diff(energy).max() < 1e-5 * max(np.ptp(energy), abs(energy[0]))
    assert result.run.penetration < 1e-6
    assert result.run.unsolved == 0
    assert result.run.residual < 1e-6


@pytest.mark.parametrize("ratio", [1e-6, 1e6])
def test_bodies_of_very_different_masses(ratio: float) -> None:
    """A cube on another that is a million times as heavy or as light, laid on it or dropped."""
    for gap in (0.0, 0.05):
        system = System("two", gravity=(0.0, 0.0, -G))
        system.ground.collides(system.ground.plane())
        cube(system, "lower", 0.05, (0.0, 0.0, 0.05), 1.0)
        cube(system, "upper", 0.05, (0.003, 0.002, 0.15 + gap), ratio)
        system.contacts_between(restitution=0.2, friction=0.5)
        result = run(system)
        check(result)
        force = np.asarray(result["lower.contact_force"])[-1, 2]
        assert force == pytest.approx(G, rel=1e-3)


@pytest.mark.parametrize("friction", [0.0, 10.0])
@pytest.mark.parametrize("restitution", [0.0, 1.0])
def test_extreme_coefficients(friction: float, restitution: float) -> None:
    system = System("thrown", gravity=(0.0, 0.0, -G))
    system.ground.collides(system.ground.plane())
    cube(system, "lower", 0.05, (0.0, 0.0, 0.06), 1.0)
    cube(system, "upper", 0.04, (0.03, 0.01, 0.17), 0.5)
    system.contacts_between(restitution=restitution, friction=friction)
    spin = {"upper flight": {"angular_velocity": (3.0, 2.0, 1.0), "velocity": (0.5, 0.0, -1.0)}}
    check(run(system, initial=spin))


def test_wedged_between_walls() -> None:
    """A ball pressed into a groove narrower than its friction holds: it stays."""
    system = System("groove", gravity=(0.0, 0.0, -G))
    angle, radius = 0.1, 0.1
    walls = [
        system.ground.plane(normal=(side * math.cos(angle), 0.0, math.sin(angle))) for side in (1.0, -1.0)
    ]
    body = system.body("ball", mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, radius / math.sin(angle)))
    system.free("flight", system.ground, body)
    system.contacts_between(walls, body.sphere(radius), restitution=0.0, friction=0.5)
    check(result := run(system))
    assert result["ball.position.z"][-1] == pytest.approx(radius / math.sin(angle), abs=1e-6)
    assert np.asarray(result["ball.contact_force"])[-1] == pytest.approx([0.0, 0.0, G], abs=1e-3)


@pytest.mark.parametrize("slope", [0.3, 1.0, 2.0])
def test_a_ball_falls_between_rough_walls(slope: float) -> None:
    """It sticks to both and cannot bounce off both: it comes to rest in the groove, and the record says why."""
    system = System("groove", gravity=(0.0, 0.0, -G))
    ground = system.ground
    ground.collides(*(ground.plane(normal=(side, 0.0, slope)) for side in (1.0, -1.0)))
    ball = system.body("ball", mass=1.0, inertia=(4e-3,) * 3, at=(0.0, 0.0, 1.2))
    system.free("flight", ground, ball)
    ball.collides(ball.sphere(0.1))
    system.contacts_between(restitution=0.5, friction=10.0)
    result = run(system, 1.5)
    check(result)
    assert any(impact.law_limited for impact in result.impacts)
    assert result["ball.position"][-1] == pytest.approx(
        [0.0, 0.0, 0.1 * math.hypot(1.0, slope) / slope], abs=1e-3
    )
    assert np.abs(result["ball.velocity"][-1]).max() < 1e-6


def test_table_on_four_legs_carries_its_weight() -> None:
    """Redundant supports share a load that is not determined; their sum is."""
    system = System("table", gravity=(0.0, 0.0, -G))
    system.ground.collides(system.ground.plane())
    top = system.body("table", mass=2.0, inertia=(0.05, 0.08, 0.1), at=(0.0, 0.0, 0.42))
    system.free("flight", system.ground, top)
    top.collides(top.box(0.4, 0.3, 0.02))
    for x in (-0.35, 0.35):
        for y in (-0.25, 0.25):
            top.collides(top.box(0.02, 0.02, 0.2, at=(x, y, -0.22)))
    system.contacts_between(restitution=0.0, friction=0.6)
    check(result := run(system, initial={"flight": {"velocity": (1.0, 0.2, 0.0)}}))
    force = np.asarray(result["table.contact_force"])
    assert force[:, 2] == pytest.approx(2.0 * G, rel=1e-3)
    way = np.asarray(result["table.position"])[-1, :2]
    assert np.linalg.norm(way) == pytest.approx(1.04 / (2.0 * 0.6 * G), rel=2e-2)


def test_overlapping_starts_are_said() -> None:
    system = System("inside", gravity=(0.0, 0.0, -G))
    system.ground.collides(system.ground.plane())
    cube(system, "a", 0.05, (0.0, 0.0, 0.05), 1.0)
    cube(system, "b", 0.05, (0.0, 0.0, 0.12), 1.0)
    system.contacts_between()
    with pytest.raises(ModelError, match=r"'a' and 'b' start 30 mm inside each other"):
        run(system)
