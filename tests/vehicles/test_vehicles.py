"""Drivers and manoeuvres against closed forms of the single-track model, of springs, and tables of standards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import lsim

from bellcrank.errors import ModelError
from bellcrank.roads import Profile
from bellcrank.vehicles import (
    Vehicle,
    braking,
    double_lane_change,
    four_post,
    path_follower,
    ride,
    sine_with_dwell,
    speed_keeper,
    steady_circle,
    step_steer,
    vertical_weighting,
    weighted,
)
from bellcrank.verify.cart import (
    CORNERING,
    FRONT,
    GRAVITY,
    HALF_TRACK,
    INERTIA,
    LEVEL,
    MASS,
    RADIUS,
    REAR,
    SINKING,
    STEERED,
    WHEELBASE,
    driven_cart,
    linear,
    rubber,
)
from bellcrank.verify.steady_circle import understeer


@cache
def car(law: str = "linear") -> Vehicle:
    """Without height, a car neither rolls nor pitches, and linear tyres that answer at once are the single track."""
    laws = {"linear": linear, "rubber": rubber}
    system = driven_cart(laws[law], SINKING, transient=law == "rubber")
    return Vehicle(system, "body", drive="drive", brake="brake", drive_force=2.0 / RADIUS)


def single_track(speed: float, time: np.ndarray, command: np.ndarray) -> np.ndarray:
    """Lateral speed, yaw rate, yaw angle and place to the side of the single track, steered by the knuckles' spring."""
    f, r = 2.0 * CORNERING["F"], 2.0 * CORNERING["R"]
    a, b, m, J, V, w = FRONT, REAR, MASS, INERTIA[2], speed, STEERED[1]
    A = np.zeros((6, 6))
    A[0, :2] = -(f + r) / (m * V), (b * r - a * f) / (m * V) - V
    A[1, :2] = (b * r - a * f) / (J * V), -(a * a * f + b * b * r) / (J * V)
    A[0, 4], A[1, 4] = f / m, a * f / J
    A[2, 1], A[3, 0], A[3, 2] = 1.0, 1.0, V
    A[4, 5], A[5, 4], A[5, 5] = 1.0, -w * w, -2.0 * w
    B = np.zeros((6, 1))
    B[5] = w * w
    return np.asarray(lsim((A, B, np.eye(6), np.zeros((6, 1))), command, time)[1])


def test_a_car_is_measured_where_it_stands() -> None:
    assert car().wheelbase == pytest.approx(WHEELBASE)
    assert car().mass == pytest.approx(MASS, rel=1e-4)
    run = car("rubber").run(20.0, 0.05)
    assert np.abs(run["FL.slip"]).max() < 1e-6
    assert np.abs(run["RR.slip"]).max() < 1e-6


def test_the_understeer_gradient_of_the_single_track() -> None:
    found = steady_circle(car(), 20.0, [2e-3, 1e-3], duration=4.0)
    assert found.understeer_gradient == pytest.approx(understeer(), rel=1e-3)
    assert found.characteristic_speed == pytest.approx(np.sqrt(WHEELBASE / understeer()), rel=1e-3)
    sideslip = REAR / 20.0**2 - FRONT * MASS / (WHEELBASE * 2.0 * CORNERING["R"])
    assert found.sideslip_gradient == pytest.approx(sideslip, rel=1e-3)
    assert abs(found.roll_gradient) < 1e-6
    assert found.unsteady < 1e-5
    assert np.allclose(found.lateral_acceleration, 20.0 * found.yaw_rate, rtol=1e-3)


def test_a_step_of_the_steering_is_that_of_the_single_track() -> None:
    speed, angle, rise = 25.0, 1e-3, 0.1
    found = step_steer(car(), speed, angle, rise)
    time = np.linspace(0.0, 4.0, 8001)
    exact = single_track(speed, time, angle * np.clip((time - 0.2) / rise, 0.0, 1.0))
    yaw = exact[:, 1]
    assert found.yaw_gain == pytest.approx(yaw[-1] / angle, rel=1e-3)
    # The driver holds each angle for 2 ms, 1 ms late in the mean.
    assert found.response_time == pytest.approx(time[np.argmax(yaw >= 0.9 * yaw[-1])] - 0.25, abs=2e-3)
    assert found.peak_time == pytest.approx(time[np.argmax(yaw)] - 0.25, abs=5e-3)
    assert found.overshoot == pytest.approx(yaw.max() / yaw[-1] - 1.0, abs=1e-3)
    assert found.sideslip == pytest.approx(exact[-1, 0] / speed, rel=2e-3)
    assert found.tb == pytest.approx(found.peak_time * np.degrees(abs(found.sideslip)))
    mirrored = step_steer(car(), speed, -angle, rise)
    assert mirrored.response_time == pytest.approx(found.response_time, abs=1e-4)
    assert mirrored.sideslip == pytest.approx(-found.sideslip, rel=1e-3)


def test_braking_is_torque_over_radius_over_mass() -> None:
    torque, speed = 400.0, 20.0
    found = braking(car("rubber"), speed, torque)
    radius = RADIUS - SINKING
    exact = 4.0 * torque / radius / MASS
    assert found.deceleration == pytest.approx(exact, rel=2e-3)
    # Forces build up over the relaxation length, which takes some centimetres more.
    assert found.distance == pytest.approx(speed**2 / (2.0 * exact), abs=1.0)
    assert abs(found.aside) < 1e-6
    with pytest.raises(ModelError, match="still drives"):
        braking(car("rubber"), speed, torque, duration=1.0)


def test_sine_with_dwell_of_the_single_track_and_of_a_car_that_spins() -> None:
    speed, angle = 22.0, 2e-3
    found = sine_with_dwell(car(), speed, angle)
    time = np.linspace(0.0, 4.0, 8001)
    s = time - 0.2
    waits = 0.75 / 0.7
    s = np.where(s < waits + 0.5, np.minimum(s, waits), s - 0.5)
    command = angle * np.sin(2.0 * np.pi * 0.7 * np.clip(s, 0.0, 1.0 / 0.7))
    exact = single_track(speed, time, command)
    # The driver holds each angle for 5 ms.
    assert found.displacement == pytest.approx(np.interp(1.27, time, exact[:, 3]), rel=0.02)
    peak = exact[:, 1].min()
    late = np.interp(0.2 + 1.0 / 0.7 + 0.5 + 1.0, time, exact[:, 1]) / peak
    assert found.yaw_ratio_1 == pytest.approx(late, abs=2e-3)
    assert found.stable
    assert sine_with_dwell(car(), speed, -angle).displacement == pytest.approx(found.displacement, rel=1e-3)
    slippery = driven_cart(lambda corner: rubber(corner, 0.9 if corner[0] == "F" else 0.5))
    assert not sine_with_dwell(Vehicle(slippery, "body"), 25.0, 0.08).stable


def test_a_driver_keeps_to_the_lanes_until_the_tyres_slide(tmp_path: Path) -> None:
    slow = double_lane_change(car("rubber"), 20.0, output=300)
    assert slow.passed
    assert slow.clearance > 0.0
    assert abs(slow.speed_lost) < 0.1
    fast = double_lane_change(car("rubber"), 25.0, output=300)
    assert not fast.passed
    assert fast.lateral_acceleration > slow.lateral_acceleration
    slow.report(tmp_path / "lanes.html")
    assert "lane 3" in (tmp_path / "lanes.html").read_text(encoding="utf-8")


def test_a_driver_follows_a_circle_and_keeps_the_speed() -> None:
    radius, speed = 40.0, 10.0
    turned = np.linspace(0.0, 2.5, 400)
    path = radius * np.column_stack([np.sin(turned), 1.0 - np.cos(turned)])
    vehicle = car("rubber")
    drivers = [path_follower(vehicle, path, understeer=understeer()), speed_keeper(vehicle, speed)]
    run = vehicle.run(8.0, 8.0, drivers, output=100)
    away = np.linalg.norm(np.asarray(run["body.position"])[-20:, :2] - [0.0, radius], axis=1) - radius
    assert np.abs(away).max() < 0.3
    assert vehicle.motion(run).speed[-1] == pytest.approx(speed, abs=0.02)


TABLE = {
    0.5: 0.418, 1.0: 0.482, 2.0: 0.531, 3.15: 0.804, 4.0: 0.967, 5.0: 1.039, 6.3: 1.054, 8.0: 1.036, 10.0: 0.988,
    12.5: 0.902, 16.0: 0.768, 20.0: 0.636, 31.5: 0.405, 50.0: 0.246, 80.0: 0.132,
}  # fmt: skip
"""ISO 2631-1, table 3: W_k at third octaves [Hz], of three digits."""


def test_the_weights_are_those_of_the_table() -> None:
    for frequency, factor in TABLE.items():
        assert abs(vertical_weighting(frequency)) == pytest.approx(factor, abs=1e-3)
    t = np.arange(0.0, 40.0, 1.0 / 400.0)
    felt = weighted(np.sin(2.0 * np.pi * 5.0 * t), 1.0 / 400.0)[4000:-400]
    assert np.sqrt(2.0 * np.mean(felt**2)) == pytest.approx(abs(vertical_weighting(5.0)), rel=1e-3)


def test_a_ride_over_waves_is_that_of_springs_and_dampers() -> None:
    """Heave and pitch of a body on four springs, excited at the axles one after the other."""
    speed, wave, height = 15.0, 5.0, 1e-3
    x = np.arange(3.0, 80.0, 0.1)
    road = Profile(x, height * np.sin(2.0 * np.pi * (x - 3.0) / wave))
    vehicle = Vehicle(driven_cart(linear, SINKING, road=road), "body")
    found = ride(vehicle, speed, 4.0, settle=2.5)
    w = 2.0 * np.pi * speed / wave
    late = {axle: np.exp(1j * w * x / speed) for axle, x in PLACES.items()}
    a = w * w * height * abs(on_springs(w, late)[0])
    assert found.rms == pytest.approx(a / np.sqrt(2.0), rel=2e-3)
    assert found.weighted == pytest.approx(
        abs(vertical_weighting(w / (2.0 * np.pi))) * a / np.sqrt(2.0), rel=2e-3
    )
    assert found.crest == pytest.approx(np.sqrt(2.0), rel=5e-3)


PLACES = {"F": FRONT, "R": -REAR}


def on_springs(w: float, road: Mapping[str, complex]) -> np.ndarray:
    """Heave and pitch of a body at a frequency [rad/s] over heights under its axles; dampers couple the two.

    A wheel touches the road below its centre, a radius above the centre of mass: where the body pitches, the loads move
    by as much, which is a stiffness.
    """
    D = np.diag([-w * w * MASS, -w * w * INERTIA[1] + MASS * GRAVITY * RADIUS]).astype(complex)
    force = np.zeros(2, dtype=complex)
    for axle, x in PLACES.items():
        k, arm = 2.0 * (LEVEL[axle] + 2000j * w), np.array([1.0, -x])
        D += k * np.outer(arm, arm)
        force += k * arm * road[axle]
    return np.asarray(np.linalg.solve(D, force))


def test_a_shaken_car_is_a_mass_on_springs_and_dampers() -> None:
    car = Vehicle(driven_cart(linear, SINKING), "body")

    def rolled(w: float) -> complex:
        K = 2.0 * HALF_TRACK**2 * sum(LEVEL[axle] + 2000j * w for axle in "FR")
        return K / HALF_TRACK / (K - w * w * INERTIA[0])

    exact: dict[str, Callable[[float], complex]] = {
        "heave": lambda w: on_springs(w, {"F": 1.0, "R": 1.0})[0],
        "pitch": lambda w: on_springs(w, {"F": 1.0, "R": -1.0})[1],
        "roll": rolled,
    }
    for mode, response in exact.items():
        found = four_post(car, mode, band=(1.0, 12.0), duration=10.0)
        known = np.array([abs(response(2.0 * np.pi * f)) for f in found.frequency])
        inner = (found.frequency > 1.5) & (found.frequency < 11.0)
        # Kinks at both ends of the shaking are seen through samples, twenty in its shortest wave.
        assert found.body[inner] == pytest.approx(known[inner], rel=2e-3), mode
        assert found.resonance == found.frequency[np.argmax(known)]


def test_what_a_manoeuvre_lacks_is_named() -> None:
    system = driven_cart(linear)
    with pytest.raises(ModelError, match="steerin"):
        Vehicle(system, "body", steering="steerin")
    with pytest.raises(ModelError, match="with a drive"):
        speed_keeper(Vehicle(system, "body"), 10.0)
    with pytest.raises(ModelError, match="brakes by its brake"):
        braking(Vehicle(system, "body"), 10.0, 100.0)
    with pytest.raises(ModelError, match="path must be"):
        path_follower(Vehicle(system, "body"), [(0.0, np.nan), (1.0, 0.0)])
