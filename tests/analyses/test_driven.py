"""Kinematic analysis and inverse dynamics against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analyses.mechanisms import four_bar, g, pendulum, slider_crank
from bellcrank.errors import ModelError, SingularMechanism

BARS = (1.0, 0.3, 0.9, 0.8)


def turning(t):
    return math.radians(60.0) + 2.0 * t + 0.3 * np.sin(t)


@pytest.fixture(scope="module")
def turned():
    return four_bar(*BARS, drive=turning).kinematics(10.0, output=500)


def test_four_bar_follows_freudenstein(turned) -> None:
    """A tan^2(phi/2) + B tan(phi/2) + C = 0 (Freudenstein 1954)."""
    d, a, b, c = BARS
    theta = turning(turned.time)
    K1, K2, K3 = d / a, d / c, (a * a - b * b + c * c + d * d) / (2 * a * c)
    A = np.cos(theta) - K1 - K2 * np.cos(theta) + K3
    B = -2 * np.sin(theta)
    C = K1 - (K2 + 1) * np.cos(theta) + K3
    phi = 2 * np.arctan2(-B - np.sqrt(B * B - 4 * A * C), 2 * A)
    miss = np.angle(np.exp(1j * (phi - turned["D.angle"].to_numpy())))
    assert np.abs(miss).max() < 1e-12
    assert turned["constraints.position"].max() < 1e-12
    assert turned["constraints.velocity"].max() < 1e-12


def test_energy_closes_over_a_driven_motion(turned) -> None:
    assert turned["power.drivers"].to_numpy() == pytest.approx(
        np.gradient(turned["energy.total"].to_numpy(), turned.time, edge_order=2), abs=2e-2
    )


def test_simulating_a_driven_mechanism_gives_the_same(turned) -> None:
    run = four_bar(*BARS, drive=turning).simulate(10.0, output=500)
    assert run.q == pytest.approx(turned.q, abs=1e-12)
    assert run.u == pytest.approx(turned.u, abs=1e-12)
    assert run.du == pytest.approx(turned.du, abs=1e-11)
    assert run["motor.effort"].to_numpy() == pytest.approx(turned["motor.effort"].to_numpy(), abs=1e-11)


def test_slider_crank_in_closed_form() -> None:
    """x = r cos a + sqrt(l^2 - r^2 sin^2 a); the massless crank carries torque m x'' dx/da."""
    r, rod, m = 0.1, 0.35, 2.0
    run = slider_crank(r, rod, m, drive=lambda t: math.radians(40.0) + 5 * t + t * t).kinematics(3.0)
    a, rate, second = math.radians(40.0) + 5 * run.time + run.time**2, 5 + 2 * run.time, 2.0
    root = np.sqrt(rod**2 - (r * np.sin(a)) ** 2)
    by_angle = -r * np.sin(a) * (1 + r * np.cos(a) / root)
    twice = -r * np.cos(a) - r * r * (np.cos(2 * a) / root + (r * np.sin(a) * np.cos(a)) ** 2 / root**3)
    acceleration = twice * rate**2 + by_angle * second
    assert run["slider.position.x"] == pytest.approx(r * np.cos(a) + root, abs=1e-12)
    assert run["slider.velocity.x"] == pytest.approx(by_angle * rate, abs=1e-11)
    assert run["slider.acceleration.x"] == pytest.approx(acceleration, abs=1e-10)
    assert run["motor.effort"] == pytest.approx(m * acceleration * by_angle, abs=1e-10)
    assert run["guide.force.y"] == pytest.approx(m * acceleration * r * np.sin(a) / root, abs=1e-10)


def test_freedoms_without_drivers_are_named() -> None:
    with pytest.raises(ModelError, match=r"1 left: .*system\.driver"):
        four_bar(*BARS).kinematics(1.0)


def test_a_driver_beyond_reach_is_told() -> None:
    system = slider_crank(drive=None)
    system.driver("wrist", lambda t: 0.18 + 0.1 * t, name="impossible")
    with pytest.raises(SingularMechanism, match="cannot be followed at t ="):
        system.kinematics(10.0, output=50)


def test_pendulum_torque_for_a_told_motion() -> None:
    """tau = m l^2 a'' + m g l sin a."""
    L, m = 1.3, 2.0
    inverse = pendulum(L, m).inverse_dynamics({"pin": lambda t: 0.4 * np.sin(3 * t)}, 2.0, output=200)
    t = inverse.result.time
    a, second = 0.4 * np.sin(3 * t), -3.6 * np.sin(3 * t)
    assert inverse["pin.angle"] == pytest.approx(m * L**2 * second + m * g * L * np.sin(a), abs=1e-11)
    assert inverse["pin.angle"].unit == "N m"


def test_a_motion_told_by_values_is_splined(turned) -> None:
    inverse = four_bar(*BARS).inverse_dynamics({"A.angle": turning(turned.time)}, 10.0, output=500)
    inner = slice(10, -10)
    assert inverse["A.angle"][inner] == pytest.approx(turned["motor.effort"][inner], abs=1e-4)


def test_inverse_of_a_result_and_of_own_drivers(turned) -> None:
    free = four_bar(*BARS).mechanism()
    assert free.inverse_dynamics(turned, actuators=["A"])["A.angle"] == pytest.approx(
        turned["motor.effort"].to_numpy(), abs=1e-11
    )
    own = four_bar(*BARS, drive=turning).inverse_dynamics(duration=10.0, output=500)
    assert own["motor"] == pytest.approx(turned["motor.effort"].to_numpy(), abs=1e-11)


def test_inverse_of_a_free_run_needs_no_effort() -> None:
    system = four_bar(*BARS)
    run = system.simulate(1.0, initial={"A": (1.0, 4.0)}, output=50)
    inverse = system.mechanism().inverse_dynamics(run)
    (effort,) = inverse.efforts.values()
    assert np.abs(effort).max() < 1e-9


def test_an_effort_at_another_joint_does_the_same_work(turned) -> None:
    inverse = four_bar(*BARS).mechanism().inverse_dynamics(turned, actuators=["D"])
    power = inverse["D.angle"] * turned["D.angle_rate"]
    # Near the rocker's turning points it has no leverage.
    usable = np.abs(turned["D.angle_rate"]) > 0.1
    assert power[usable] == pytest.approx(turned["motor.power"][usable].to_numpy(), rel=1e-7, abs=1e-8)
