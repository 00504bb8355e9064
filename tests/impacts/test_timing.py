"""When impacts are found: nothing is missed, however short the overlap and long the step."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank.model import System
from impacts.models import TIGHT, G, ball


def bullet(x: float, offset: float = 0.0, speed: float = 800.0, **options: object) -> object:
    """A shot of 1 mm at another 1 mm sphere that stands."""
    system = System("bullet")
    shot = system.body("bullet", mass=1e-3, inertia=(1e-9,) * 3, at=(x, offset, 0.0))
    system.planar("plane", system.ground, shot, axis="z")
    system.contact("hit", shot.circle(1e-3), system.ground.circle(1e-3), restitution=0.5)
    return system.simulate(
        1.0, initial={"plane": {"x": (0.0, speed)}}, output=2, integrator="dop853", **options
    )


@pytest.mark.parametrize("x", [-37.123, -50.0, -3.3, -77.7, -400.0])
def test_no_tunnelling(x: float) -> None:
    """4 mm of way in steps of many metres."""
    result = bullet(x)
    assert len(result.impacts) == 1
    assert result.impacts[0].time == pytest.approx((-x - 2e-3) / 800.0, rel=1e-12)
    assert result.run.steps < 60


@pytest.mark.parametrize("x", [-37.123, -3.3])
def test_no_tunnelling_with_queues(x: float) -> None:
    result = bullet(x, impacts="queue", max_step=0.1)
    assert result.impacts[0].time == pytest.approx((-x - 2e-3) / 800.0, rel=1e-12)


@pytest.mark.parametrize(("offset", "hits"), [(1.9e-3, 1), (1.99999e-3, 1), (2.0000001e-3, 0)])
def test_grazing(offset: float, hits: int) -> None:
    assert len(bullet(-31.4, offset, 100.0).impacts) == hits


@pytest.mark.parametrize("integrator", ["dop853", "dormand_prince5", "radau", "auto", "milne_hamming"])
def test_all_integrators(integrator: str) -> None:
    result = ball(0.8).simulate(1.0, integrator=integrator, tolerance=1e-9, output=3)
    t = math.sqrt(1.6 / G)
    assert result.impacts.times == pytest.approx([t, t * (1 + 2 * 0.8)][: len(result.impacts)], rel=1e-8)
    assert len(result.impacts) == 1 if t * 2.6 > 1.0 else 2


def test_pendulum_that_just_touches_a_pin() -> None:
    """0.1 um of overlap at the fastest point of the swing."""
    system = System("pendulum", gravity=(0.0, -G, 0.0))
    bob = system.body("bob", mass=1.0, inertia=(1e-3,) * 3, at=(1.0, 0.0, 0.0))
    system.revolute("pivot", system.ground, bob, at=(0.0, 0.0, 0.0))
    pin = system.ground.circle(1e-4, at=(0.0, -1.0001999, 0.0))
    system.contact("pin", bob.circle(1e-4), pin, restitution=1.0)
    result = system.simulate(3.0, output=3, integrator="dop853", tolerance=1e-6)
    assert len(result.impacts) == 3


def test_two_contacts_at_the_same_instant() -> None:
    system = System("two", gravity=(0.0, -G, 0.0))
    for name, mass, x in (("a", 1.0, 0.0), ("b", 2.0, 3.0)):
        body = system.body(name, mass=mass, inertia=(1.0,) * 3, at=(x, 1.0, 0.0))
        system.prismatic(f"shaft {name}", system.ground, body, axis="y")
        system.contact(f"foot {name}", system.ground.line(), body.circle(0.2), restitution=0.5)
    result = system.simulate(0.7, **TIGHT)
    (impact,) = result.impacts
    speed = math.sqrt(2 * G * 0.8)
    assert [c.impulse for c in impact.contacts] == pytest.approx([1.5 * speed, 3.0 * speed])


def test_several_impacts_between_two_outputs() -> None:
    result = ball(0.5).simulate(3.0, output=[0.0, 3.0], **TIGHT)
    assert len(result) == 2
    t = math.sqrt(1.6 / G)
    times = [t * (1.0 + 2.0 * sum(0.5**k for k in range(1, n + 1))) for n in range(6)]
    assert result.impacts.times[:6] == pytest.approx(times, rel=1e-10)


def test_output_at_the_very_time_of_an_impact() -> None:
    first = ball(0.8).simulate(1.0, **TIGHT).impacts[0]
    times = [0.0, first.time, np.nextafter(first.time, 1.0), 1.0]
    result = ball(0.8).simulate(1.0, output=times, **TIGHT)
    assert result.time.tolist() == times
    speed = result["ball.velocity.z"]
    assert speed[1] == pytest.approx(first.contacts[0].speed_before, rel=1e-9)
    assert speed[2] == pytest.approx(first.contacts[0].speed_after, rel=1e-9)
    assert result.ledger.relative_residual < 1e-9


def test_first_output_after_many_impacts() -> None:
    result = ball(0.5).simulate(3.0, output=[2.9, 3.0], **TIGHT)
    assert result["ball.position.z"] == pytest.approx([0.2, 0.2])
