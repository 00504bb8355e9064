"""Friction and restitution of rigid contacts as parameters: runs, changes during a run, batches, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.files import dumps, loads

G = 9.81
STEPS = {"impacts": "stepping", "step": 1e-3}
TREATMENTS: list[dict[str, Any]] = [{}, STEPS]
SLIDING = {"fly": {"velocity": (2.0, 0.0, 0.0)}}


def block(friction: Any = None) -> bc.System:
    """A block on a floor, with the parameters mu and wet, whose product is its friction."""
    system = bc.System("block", gravity=(0.0, 0.0, -G))
    mu, wet = system.parameter("mu", 0.3), system.parameter("wet", 1.0)
    body = system.body("block", mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, 0.1))
    system.free("fly", system.ground, body)
    rough = mu * wet if friction is None else friction
    system.contact("floor", system.ground.plane(), body.box(0.1, 0.1, 0.1), restitution=0.0, friction=rough)
    return system


def slid(mu: float, time: float) -> float:
    """How far a body slides that begins at 2 m/s."""
    time = min(time, 2.0 / (mu * G) if mu > 0.0 else time)
    return 2.0 * time - 0.5 * mu * G * time**2


@pytest.mark.parametrize("how", TREATMENTS)
def test_friction_of_a_parameter_does_what_a_number_does(how: dict[str, Any]) -> None:
    system = block()
    for mu in (0.0, 0.1, 0.6):
        found = system.simulate(
            1.0, parameters={"mu": 2.0 * mu, "wet": 0.5}, initial=SLIDING, output=2, **how
        )
        plain = block(mu).simulate(1.0, initial=SLIDING, output=2, **how)
        x = found["block.position.x"][-1]
        assert x == pytest.approx(slid(mu, 1.0), abs=2e-6)
        assert x == pytest.approx(plain["block.position.x"][-1], abs=1e-12)


@pytest.mark.parametrize("how", TREATMENTS)
def test_friction_changes_during_a_run(how: dict[str, Any]) -> None:
    ice = bc.Event("ice", lambda m: m["t"] - 0.2, parameters={"mu": 0.0})
    found = block().simulate(0.5, initial=SLIDING, events=[ice], output=2, **how)
    after = 2.0 - 0.3 * G * 0.2
    assert found["block.position.x"][-1] == pytest.approx(slid(0.3, 0.2) + 0.3 * after, abs=2e-3 * after)
    rain = bc.Controller("rain", 0.25, [], lambda t, m: {"wet": 0.5 if t > 0.2 else 1.0})
    found = block().simulate(0.5, initial=SLIDING, controllers=[rain], output=2, **how)
    first, speed = slid(0.3, 0.25), 2.0 - 0.3 * G * 0.25
    then = speed * 0.25 - 0.5 * 0.15 * G * 0.25**2
    assert found["block.position.x"][-1] == pytest.approx(first + then, abs=1e-6)


def falling() -> bc.System:
    """Balls that fall on a floor and do not meet, as a group; e, mu and their resistance to rolling are parameters."""
    system = bc.System("balls", gravity=(0.0, 0.0, -G))
    e, mu, rolling = (system.parameter(name, x) for name, x in (("e", 0.5), ("mu", 0.2), ("rolling", 0.0)))
    system.ground.collides(system.ground.plane())
    for k in range(2):
        body = system.body(f"ball {k}", mass=1.0, inertia=(0.004,) * 3, at=(float(k), 0.0, 0.3))
        system.free(f"fly {k}", system.ground, body)
        body.collides(body.sphere(0.1))
    system.contacts_between(restitution=e, friction=mu, rolling_resistance=rolling)
    return system


def test_laws_of_groups_are_parameters() -> None:
    table = {"e": [0.0, 0.4, 1.0], "mu": [0.0, 0.03, 0.06], "fly 1.x_rate": [1.0] * 3}
    names = ["ball 1.velocity.z", "ball 1.velocity.x"]
    many = falling().simulate_many(table, 0.22, quantities=names, output=2, **STEPS)
    struck = G * np.sqrt(2.0 * 0.2 / G)
    for k, (e, mu) in enumerate(zip(table["e"], table["mu"], strict=True)):
        up = e * struck - G * (0.22 - struck / G) if e else 0.0
        assert many[names[0]][k, -1] == pytest.approx(up, abs=0.02)
        # The ball slides all through the strike: Coulomb's bound mu (1 + e) of its speed.
        assert many[names[1]][k, -1] == pytest.approx(1.0 - mu * (1.0 + e) * struck, abs=0.01)


def test_rolling_resistance_of_a_parameter_stops_a_ball() -> None:
    system, length = falling(), 0.004
    rest = {
        "fly 0": {"z": 0.1},
        "fly 1": {"z": 0.1, "velocity": (1.0, 0.0, 0.0), "angular_velocity": (0.0, 10.0, 0.0)},
    }
    free, held = (
        system.simulate(0.5, initial=rest, parameters={"e": 0.0, "rolling": x}, output=2, **STEPS)
        for x in (0.0, length)
    )
    assert free["ball 1.velocity.x"][-1] == pytest.approx(1.0, abs=1e-6)
    # A moment rho m g about the line of contact, I + m r^2 there.
    slower = length * G / (0.1 * (1.0 + 0.004 / 0.1**2)) * 0.5
    assert held["ball 1.velocity.x"][-1] == pytest.approx(1.0 - slower, abs=1e-4)


def test_a_file_says_laws_by_parameters() -> None:
    system = loads(dumps(block()))
    found = system.simulate(1.0, parameters={"mu": 0.2, "wet": 0.5}, initial=SLIDING, output=2)
    assert found["block.position.x"][-1] == pytest.approx(slid(0.1, 1.0), abs=1e-9)
    assert dumps(loads(dumps(falling()))) == dumps(falling())


def test_restitution_of_stops_is_a_parameter() -> None:
    system = bc.System("rail")
    e = system.parameter("e", 0.5)
    slider = system.body("slider", mass=1.0, inertia=(0.1,) * 3)
    system.prismatic("rail", system.ground, slider, axis="x", limits=bc.Limits(None, 0.1, restitution=e))
    for given in (0.0, 0.3, 1.0):
        for how in TREATMENTS:
            found = system.simulate(
                0.3, initial={"rail": {"displacement_rate": 1.0}}, parameters={"e": given}, output=2, **how
            )
            assert found["slider.velocity.x"][-1] == pytest.approx(-given, abs=1e-12)


@pytest.mark.parametrize("how", TREATMENTS)
def test_coefficients_that_are_none_are_named(how: dict[str, Any]) -> None:
    with pytest.raises(
        bc.ModelError, match=r"friction of contact 'floor.*' is -0\.3 with the parameter values"
    ):
        block().simulate(0.1, parameters={"wet": -1.0}, **how)
    with pytest.raises(bc.ModelError, match=r"friction of contact 'floor' is -1; it must not be negative"):
        block(-1.0)
    if how:
        with pytest.raises(bc.ModelError, match=r"restitution of contacts_between 'collisions' is 2 with"):
            falling().simulate(0.1, parameters={"e": 2.0}, **how)


def test_contacts_that_press_know_their_restitution_beforehand() -> None:
    system = block()
    a, b = system.ground.plane(), system.bodies["block"].sphere(0.1)
    with pytest.raises(bc.ModelError, match="restitution of contact 'press' is a plain number"):
        system.contact("press", a, b, restitution=system.parameter("e", 0.5), treatment="continuous")


def test_linearised_slip_knows_how_friction_of_a_parameter_changes_it() -> None:
    system = bc.System("ball", gravity=(0.0, 0.0, -G))
    mu = system.parameter("mu", 0.3)
    ball = system.body("block", mass=1.0, inertia=(0.004,) * 3, at=(0.0, 0.0, 0.1))
    system.free("fly", system.ground, ball)
    system.contact("floor", system.ground.plane(), ball.sphere(0.1), friction=mu**2)
    found = system.linearize(initial=SLIDING, inputs=["mu"], outputs=["block.acceleration.x"])
    assert found.D[0, 0] == pytest.approx(-2.0 * 0.3 * G, rel=1e-9)
