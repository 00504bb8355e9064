"""The car with a driver: static loads against an independent solution, tyres and terrain by their own laws."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import welch

from bellcrank.apps.drive.car import drive_car
from bellcrank.apps.drive.realtime import Stepper
from bellcrank.apps.drive.terrain import FLAT, PROVING_GROUND, TERRAINS, Rough
from bellcrank.apps.drive.tyre import Tyre
from bellcrank.mechanism import Mechanism
from bellcrank.verify.full_car_bump import TYRES, reference, rolling_start

TYRE = Tyre(0.32, 2e5, 150.0, longitudinal=12.0, lateral=15.0, friction=0.9)


@pytest.fixture(scope="module")
def level() -> Mechanism:
    return drive_car(FLAT).mechanism()


def test_static_loads_are_those_of_the_independent_solution(level: Mechanism) -> None:
    balance = level.equilibrium()
    found = [float(balance[f"{name} tyre.force.z"]) for name in TYRES]
    assert found == pytest.approx(reference()["static"]["tyre_N"], abs=1e-6)
    assert float(balance["chassis.position.z"]) == pytest.approx(0.553983068729, abs=1e-10)


@pytest.mark.parametrize("name", TERRAINS)
def test_slopes_are_those_of_the_heights(name: str) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-300, 300, 4000), rng.uniform(-300, 300, 4000)
    d = 1e-5
    _, along, across = TERRAINS[name].at(x, y)
    ground = TERRAINS[name]
    assert along == pytest.approx((ground.at(x + d, y)[0] - ground.at(x - d, y)[0]) / (2 * d), abs=2e-8)
    assert across == pytest.approx((ground.at(x, y + d)[0] - ground.at(x, y - d)[0]) / (2 * d), abs=2e-8)


def test_the_start_is_level_and_the_bumps_are_there() -> None:
    x, y = np.meshgrid(np.linspace(-3, 3, 61), np.linspace(-2, 2, 41))
    assert np.abs(PROVING_GROUND.unevenness(x, y)).max() < 1e-9
    assert PROVING_GROUND.unevenness(30.0, 0.8) == pytest.approx(0.07, abs=1e-6)
    assert PROVING_GROUND.unevenness(30.0, -0.8) == pytest.approx(0.0, abs=1e-6)


def test_sections_of_rough_ground_have_the_spectrum_of_their_class() -> None:
    """ISO 8608, class C: the variance in an octave is the integral of G_d, over many grounds."""
    x = np.arange(50.0, 1050.0, 0.25)
    for direction in ((1.0, 0.0), (0.0, 1.0)):
        spectra = []
        for seed in range(60):
            n, found = welch(Rough("C", seed).at(direction[0] * x, direction[1] * x)[0], 4.0, nperseg=2048)
            spectra.append(found)
        for low in (0.05, 0.2, 0.4):
            octave = (n >= low) & (n < 2.0 * low)
            power = np.mean(spectra, axis=0)[octave].sum() * (n[1] - n[0])
            # Some ten waves of an octave in sixty grounds: 15 % are three deviations of the mean.
            assert power == pytest.approx(256e-6 * 0.01 * 0.5 / low, rel=0.15)
    near = np.linspace(-2.0, 2.0, 21)
    assert np.abs(Rough("C").at(near, near)[0]).max() < 0.3 * np.abs(Rough("C").at(x, x)[0]).max()


def _forces(v: tuple[float, float, float], spin: float, height: float = 0.3) -> tuple[np.ndarray, float]:
    F, _, load = TYRE.forces(FLAT, (0.0, 0.0, height), v, (0.0, spin, 0.0), (0.0, 1.0, 0.0))
    return np.array(F, dtype=float), float(load)


def test_a_rolling_tyre_pushes_straight_up() -> None:
    F, load = _forces((15.0, 0.0, 0.0), 15.0 / 0.3)
    assert load == pytest.approx(2e5 * 0.02)
    assert pytest.approx([0.0, 0.0, load], abs=1e-9) == F
    assert _forces((1.0, 1.0, 0.0), 0.0, height=0.33)[0] == pytest.approx(0.0)


def test_small_slips_are_met_in_proportion() -> None:
    angle = 1e-5
    F, load = _forces((20.0, 20.0 * angle, 0.0), 20.0 / 0.3)
    share = 20.0 / math.hypot(20.0, TYRE.slow)
    assert F[1] == pytest.approx(-TYRE.lateral * load * angle * share, rel=1e-6)
    F, load = _forces((20.0, 0.0, 0.0), 20.0 * (1 + angle) / 0.3)
    assert F[0] == pytest.approx(TYRE.longitudinal * load * angle * share, rel=1e-5)


def test_no_slip_exceeds_the_limit_of_friction_and_slip_loses_energy() -> None:
    rng = np.random.default_rng(5)
    for _ in range(300):
        v = (float(rng.normal(0, 20)), float(rng.normal(0, 10)), 0.0)
        spin = float(rng.normal(0, 60))
        F, load = _forces(v, spin)
        assert np.hypot(F[0], F[1]) <= TYRE.friction * load * (1 + 1e-12)
        slip = np.array([v[0] - spin * 0.3, v[1]])
        assert F[:2] @ slip <= 0.0
    F, load = _forces((20.0, 0.0, 0.0), 0.0)
    # A locked wheel slides with C_x times its slip, about 1, far beyond the limit.
    assert abs(F[0]) == pytest.approx(TYRE.friction * load, rel=0.01)


def test_steps_of_a_millisecond_agree_with_an_error_controlled_run() -> None:
    mechanism = drive_car().mechanism()
    start = rolling_start(mechanism, 10.0)
    values = {"steering": 0.006, "throttle": 0.3, "brake": 0.0}
    stepper = Stepper(mechanism, start, 1e-3, ["chassis.position"])
    stepper.set(values)
    for _ in range(2000):
        stepper.advance()
    fixed = replace(mechanism, parameter_values=tuple(values.values())).with_programs_of(mechanism)
    result = fixed.simulate(2.0, start=start, integrator="dop853", tolerance=1e-10, output=4)
    assert stepper.time == pytest.approx(2.0)
    assert stepper.measure()["chassis.position"] == pytest.approx(result["chassis.position"][-1], abs=1e-6)
    assert result["chassis.position.y"][-1] > 1.0, "positive steering turns left"


def test_brakes_stop_the_car_within_the_limit_of_friction(level: Mechanism) -> None:
    stepper = Stepper(level, rolling_start(level, 20.0), 1e-3, ["chassis.velocity", "chassis.position"])
    stepper.set({"brake": 1.0})
    for _ in range(1500):
        stepper.advance()
    slower = 20.0 - stepper.measure()["chassis.velocity"][0]
    # Friction is 1: the mean deceleration stays below g, air drag included, and well above half of it.
    assert 0.6 * 9.81 < slower / 1.5 < 1.03 * 9.81
    assert abs(stepper.measure()["chassis.position"][1]) < 0.2
