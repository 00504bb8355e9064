"""Impacts of mechanisms: energy never rises, momentum is kept, impulses stay in the cone of friction."""

from __future__ import annotations

import math

import numpy as np
import pytest
from bellcrank.result.impact_table import ImpactRecord

from bellcrank.impacts.contacts import Contacts
from bellcrank.mechanism import Mechanism, State
from bellcrank.model import System
from bellcrank.verify.two_pendulums_impact import two_pendulums
from impacts.models import TIGHT, tilted_rod

LAWS = ("newton", "poisson", "stronge")


def strikes(mechanism: Mechanism, states: list[State]) -> list[ImpactRecord]:
    """Impacts of given states, all contacts taken to touch."""
    contacts = Contacts.of(mechanism)
    p = np.array(mechanism.parameter_values)
    for state in states:
        contacts.strike(state, p, contacts.names)
    return contacts.records


def check(records: list[ImpactRecord], friction: float) -> None:
    assert records
    for r in records:
        assert r.energy_after <= r.energy_before * (1.0 + 1e-12)
        for c in r.contacts:
            assert c.impulse >= 0.0
            assert np.linalg.norm(c.friction_impulse) <= friction * c.impulse * (1.0 + 1e-9) + 1e-12
            assert c.speed_after >= -1e-9 * max(1.0, abs(c.speed_before))


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("friction", [0.0, 0.3, 1.5])
def test_random_impacts_of_two_pendulums(law: str, friction: float) -> None:
    rng = np.random.default_rng(7)
    mechanism = two_pendulums(0.9, friction, law).mechanism()
    states = [
        State(0.0, mechanism.start.q + rng.uniform(-0.5, 0.5, 2), rng.normal(0.0, 3.0, 2)) for _ in range(300)
    ]
    check(strikes(mechanism, states), friction)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_random_impacts_of_a_rod(law: str, e: float) -> None:
    rng = np.random.default_rng(3)
    system = tilted_rod(0.8, restitution=e)
    contact = system.contacts["tip"]
    del system.contacts["tip"]
    system.contact("tip", contact.a, contact.b, e, 0.8, law)
    mechanism = system.mechanism()
    states = []
    for _ in range(300):
        q = mechanism.start.q.copy()
        q[2] = rng.uniform(-1.0, 2.0)
        states.append(State(0.0, q, rng.normal(0.0, 3.0, 3)))
    check(strikes(mechanism, states), 0.8)


@pytest.mark.parametrize("law", LAWS)
def test_random_impacts_in_space_keep_momentum(law: str) -> None:
    """Two free ellipsoids: nothing from outside, so both momenta are kept."""
    rng = np.random.default_rng(11)
    system = System("pair", gravity=(0.0, 0.0, 0.0))
    one = system.body("one", mass=1.0, inertia=(0.02, 0.03, 0.04), at=(0.0, 0.0, 0.0))
    two = system.body("two", mass=2.0, inertia=(0.05, 0.06, 0.04), at=(0.8, 0.1, 0.2))
    system.free("first", system.ground, one)
    system.free("second", system.ground, two)
    shapes = one.ellipsoid(0.3, 0.2, 0.1), two.ellipsoid(0.2, 0.25, 0.3)
    system.contact("hit", *shapes, restitution=0.7, friction=0.4, law=law)
    mechanism = system.mechanism()
    hits = 0
    for _ in range(10):
        start = {
            "first": {
                "velocity": rng.normal((2.0, 0.2, 0.4), 0.3),
                "angular_velocity": rng.normal(0, 3, 3),
            },
            "second": {"velocity": rng.normal(0, 0.3, 3), "angular_velocity": rng.normal(0, 3, 3)},
        }
        result = mechanism.simulate(0.5, initial=start, output=20, **TIGHT)
        hits += len(result.impacts)
        check(list(result.impacts), 0.4) if len(result.impacts) else None
        scale = np.abs(result["momentum"]).max()
        assert np.abs(result["momentum"] - result["momentum"][0]).max() < 1e-10 * scale
        turning = result["angular_momentum"]
        assert np.abs(turning - turning[0]).max() < 1e-8 * np.abs(turning).max()
        assert result["energy.kinetic"][-1] <= result["energy.kinetic"][0] * (1.0 + 1e-9)
    assert hits >= 5


def cradle() -> System:
    """Five balls in a row, the first a little away."""
    system = System("cradle")
    balls = []
    for i in range(5):
        x = 0.2 * i - (0.5 if i == 0 else 0.0)
        balls.append(system.body(f"ball {i}", mass=1.0, inertia=(1.0,) * 3, at=(x, 0.0, 0.0)))
        system.prismatic(f"rail {i}", system.ground, balls[-1], axis="x")
    for i in range(4):
        system.contact(f"pair {i}", balls[i].sphere(0.1), balls[i + 1].sphere(0.1), restitution=1.0)
    return system


def test_cradle_sends_off_only_the_last() -> None:
    result = cradle().simulate(2.0, initial={"rail 0": (0.0, 1.0)}, **TIGHT)
    speeds = [float(result[f"ball {i}.velocity.x"][-1]) for i in range(5)]
    assert speeds == pytest.approx([0.0, 0.0, 0.0, 0.0, 1.0], abs=1e-12)
    assert len(result.impacts) == 1


def test_cradle_struck_all_at_once_keeps_energy_and_momentum() -> None:
    start = {"rail 0": (0.0, 1.0)}
    result = cradle().simulate(1.0, initial=start, propagation="simultaneous", **TIGHT)
    speeds = np.array([float(result[f"ball {i}.velocity.x"][-1]) for i in range(5)])
    assert speeds.sum() == pytest.approx(1.0)
    assert (speeds**2).sum() <= 1.0 + 1e-12
    assert speeds[0] < 0.0 < speeds[1]


def test_newton_with_friction_that_would_raise_energy_is_told() -> None:
    """Kane's case: slip reverses during the impact; the record says that the law was limited."""
    mechanism = tilted_rod(1.5, 50.0, 1.0).mechanism()
    speeds = [np.array([v, -1.0, w]) for v in np.linspace(-5.0, 5.0, 21) for w in (-3.0, 0.0, 3.0)]
    records = strikes(mechanism, [State(0.0, mechanism.start.q, u) for u in speeds])
    check(records, 1.5)
    limited = [r.law_limited for r in records]
    assert any(limited)
    assert not all(limited)


@pytest.mark.parametrize("law", LAWS)
def test_laws_agree_without_friction(law: str) -> None:
    system = two_pendulums(0.6, 0.0, law)
    (impact, *_) = system.simulate(0.7, **TIGHT).impacts
    assert impact.impulse == pytest.approx(3.432494125978 * 1.6, rel=1e-8)
    assert math.isclose(impact.contacts[0].speed_after, -0.6 * impact.contacts[0].speed_before, rel_tol=1e-9)
