"""Lasting contact: sticking, sliding, rolling and letting go against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank.contact import Superellipsoid
from bellcrank.impacts.errors import ContactError
from bellcrank.model import System
from impacts.models import TIGHT, G, ball, block_on_slope, disc

SLOPE = 0.3


@pytest.mark.parametrize(("friction", "speed"), [(0.0, 0.0), (0.2, 0.0), (0.5, 0.0), (0.5, 2.0), (0.2, -1.0)])
def test_block_on_slope(friction: float, speed: float) -> None:
    """Slides, sticks, stops, or turns round, as Coulomb's law says."""
    start = {"plane": {"x": (0.0, speed), "y": (0.0, 0.0)}}
    result = block_on_slope(friction, SLOPE).simulate(2.0, initial=start, **TIGHT)
    down, rub = G * math.sin(SLOPE), friction * G * math.cos(SLOPE)
    if speed > 0.0:
        stop = speed / (rub - down)
        expected = 0.5 * speed * stop
        stick = next(c for c in result.contact_changes if c.what == "stick")
        assert stick.time == pytest.approx(stop, rel=1e-11)
    elif speed < 0.0:
        turn = -speed / (down + rub)
        expected = 0.5 * speed * turn + 0.5 * (down - rub) * (2.0 - turn) ** 2
    else:
        expected = 2.0 * max(down - rub, 0.0)
    assert result["block.position.x"][-1] == pytest.approx(expected, abs=1e-12)
    assert np.abs(result["foot.gap"]).max() < 1e-13
    force = result["foot.normal_force"]
    assert np.allclose(force, 2.0 * G * math.cos(SLOPE), rtol=1e-12)
    assert np.all(np.abs(result["foot.friction_force.x"]) <= friction * force * (1.0 + 1e-12) + 1e-12)
    assert result.ledger.relative_residual < 1e-9


def test_disc_rolls_down() -> None:
    """a = g sin / (1 + I / (m r^2)), and friction makes no work."""
    result = disc(0.5, 0.01, SLOPE).simulate(1.0, **TIGHT)
    expected = 0.5 * G * math.sin(SLOPE) / (1.0 + 0.01 / (2.0 * 0.01))
    assert result["disc.position.x"][-1] == pytest.approx(expected, rel=1e-12)
    assert np.ptp(result["energy.total"]) < 1e-11
    assert np.abs(result["rim.slip"]).max() < 1e-12


@pytest.mark.parametrize("share", [0.4, 0.5])
def test_slip_to_roll(share: float) -> None:
    """Rolling begins at v / (mu g (1 + 1/share)): 2 v / (7 mu g) for a ball, v / (3 mu g) for a disc."""
    mu, v = 0.2, 3.0
    start = {"plane": {"x": (0.0, v), "y": (0.0, 0.0)}}
    result = disc(mu, share * 2.0 * 0.01).simulate(1.5, initial=start, output=1500, **TIGHT)
    (stick,) = [c for c in result.contact_changes if c.what == "stick"]
    assert stick.time == pytest.approx(v / (mu * G * (1.0 + 1.0 / share)), rel=1e-11)
    assert result["disc.velocity.x"][-1] == pytest.approx(v / (1.0 + share), rel=1e-11)
    lost = 0.5 * 2.0 * v**2 * share / (1.0 + share)
    assert result.ledger.contacts[-1] == pytest.approx(-lost, rel=1e-9)
    assert result.ledger.relative_residual < 1e-9


def test_ball_in_space_slips_then_rolls() -> None:
    system = System("ball", gravity=(0.0, 0.0, -G))
    body = system.body("ball", mass=1.0, inertia=(0.016,) * 3, at=(0.0, 0.0, 0.2))
    system.free("free", system.ground, body)
    system.contact("floor", system.ground.plane(), body.sphere(0.2), restitution=0.5, friction=0.3)
    start = {"free": {"velocity": (2.4, 1.8, 0.0)}}
    result = system.simulate(0.5, initial=start, **TIGHT)
    (stick,) = [c for c in result.contact_changes if c.what == "stick"]
    assert stick.time == pytest.approx(2.0 * 3.0 / (7.0 * 0.3 * G), rel=1e-9)
    assert np.allclose(result["ball.velocity"][-1], [2.4 * 5 / 7, 1.8 * 5 / 7, 0.0], atol=2e-9)
    assert np.allclose(result["floor.normal_force"], G, rtol=1e-10)


def test_spinning_ball_presses_with_its_weight() -> None:
    """The turning axes of a free body leave the force alone."""
    system = System("ball", gravity=(0.0, 0.0, -G))
    body = system.body("ball", mass=1.0, inertia=(0.016, 0.017, 0.018), at=(0.0, 0.0, 0.2))
    system.free("free", system.ground, body)
    system.contact("floor", system.ground.plane(), body.sphere(0.2), restitution=0.5)
    start = {"free": {"velocity": (3.0, 0.0, 0.0), "angular_velocity": (1.0, 5.0, 2.0)}}
    result = system.simulate(1.0, initial=start, **TIGHT)
    assert np.allclose(result["floor.normal_force"], G, rtol=1e-10)
    assert np.allclose(result["ball.velocity.x"], 3.0, rtol=1e-10)


def test_ball_leaves_a_shaken_table() -> None:
    """It lets go where the table falls faster than g: sin(w t) = g / (A w^2)."""
    A, w = 0.05, 20.0
    system = System("table", gravity=(0.0, 0.0, -G))
    table = system.body("table", mass=5.0, inertia=(1.0, 1.0, 1.0))
    body = system.body("ball", mass=1.0, inertia=(1.0, 1.0, 1.0), at=(0.0, 0.0, 0.2))
    system.prismatic("lift", system.ground, table, axis="z")
    system.prismatic("shaft", system.ground, body, axis="z")
    system.driver("lift", lambda t: A * np.sin(w * t), name="shaker")
    system.contact("touch", table.plane(), body.sphere(0.2), restitution=0.0)
    result = system.simulate(0.12, output=600, **TIGHT)
    release = next(c for c in result.contact_changes if c.what == "release")
    expected = math.asin(G / (A * w * w)) / w
    assert release.time == pytest.approx(expected, rel=1e-10)
    before = result.time < expected
    push = G - A * w * w * np.sin(w * result.time[before])
    assert np.allclose(result["touch.normal_force"][before], push, rtol=1e-9, atol=1e-9)
    assert not np.any(result["touch.normal_force"][result.time > expected + 1e-9])
    # The driver lifts both while they touch, the table alone afterwards.
    effort = 5.0 * (G - A * w * w * np.sin(w * result.time)) + result["touch.normal_force"]
    assert np.allclose(result["shaker.effort"], effort, rtol=1e-8, atol=1e-8)
    assert result.ledger.relative_residual < 1e-6


def test_reactions_of_a_loop_that_leans_on_a_contact() -> None:
    """A pendulum at rest on a stop: the pivot carries what the stop does not."""
    system = System("lever", gravity=(0.0, -G, 0.0))
    lever = system.body("lever", mass=3.0, inertia=(1.0,) * 3, at=(1.0, 0.0, 0.0))
    system.revolute("pivot", system.ground, lever, at=(0.0, 0.0, 0.0))
    stop = system.ground.line(at=(0.0, -0.1, 0.0))
    system.contact("stop", stop, lever.circle(0.1, at=(0.5, 0.0, 0.0)), restitution=0.0)
    result = system.simulate(0.2, output=4, **TIGHT)
    assert np.allclose(result["stop.force.y"], 3.0 * G / 1.5, rtol=1e-12)
    assert np.allclose(result["pivot.force.y"], 3.0 * G * (1.0 - 1.0 / 1.5), rtol=1e-11)
    assert np.allclose(result["pivot.torque.z"], 0.0, atol=1e-11)


def test_rod_falling_flat_rests_on_both_feet() -> None:
    system = System("bar", gravity=(0.0, -G, 0.0))
    bar = system.body("bar", mass=1.0, inertia=(0.1,) * 3, at=(0.0, 0.5, 0.0))
    system.planar("plane", system.ground, bar, axis="z")
    for name, x in (("left", -0.5), ("right", 0.5)):
        foot = bar.circle(0.1, at=(x, 0.0, 0.0))
        system.contact(name, system.ground.line(), foot, restitution=0.5, friction=0.3)
    result = system.simulate(2.0, **TIGHT)
    end = math.sqrt(2 * 0.4 / G) * 1.5 / 0.5
    assert {c.contact: c.time for c in result.contact_changes} == pytest.approx({"left": end, "right": end})
    assert result["left.normal_force"][-1] == pytest.approx(0.5 * G)
    assert result["right.normal_force"][-1] == pytest.approx(0.5 * G)


def test_resting_start_and_rest_is_kept() -> None:
    result = ball(0.8, height=0.2).simulate(5.0)
    assert len(result.impacts) == 0
    assert np.abs(result["ball.position.z"] - 0.2).max() < 1e-14


def test_a_contact_point_of_which_the_motion_is_unknown_is_told() -> None:
    system = System("box that is none", gravity=(0.0, 0.0, -9.81))
    body = system.body("body", mass=1.0, inertia=(0.004, 0.005, 0.006), at=(0.0, 0.0, 0.11))
    system.free("flight", system.ground, body)
    shape = Superellipsoid(0.1, 0.1, 0.1, (4.0, 4.0))
    system.contact("floor", system.ground.plane(), body.shape(shape), restitution=0.3, friction=0.3)
    with pytest.raises(ContactError, match="flat at that point without being a plane") as stopped:
        system.simulate(0.3)
    assert len(stopped.value.result) > 0
