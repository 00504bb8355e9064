"""Sliding in space: friction against the slip to its very end, and rolling from there on, to the tolerance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from bellcrank.model import System
from bellcrank.result.result import Result

G = 9.81


def ball(radius: float, friction: float, slope: float = 0.0) -> System:
    """A solid ball on a plane that falls towards x by an angle [rad]; z is upright to it."""
    system = System("ball", gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)))
    body = system.body("ball", mass=1.0, inertia=(0.4 * radius**2,) * 3, at=(0.0, 0.0, radius))
    system.free("flight", system.ground, body)
    system.contact("floor", system.ground.plane(), body.sphere(radius), restitution=0.0, friction=friction)
    return system


def speeds(result: Result) -> NDArray[np.float64]:
    return result["ball.velocity"].to_numpy()


@pytest.mark.parametrize("tolerance", [1e-3, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize(
    ("radius", "friction", "turn"), [(0.1, 0.2, 0.0), (0.1, 0.2, 0.8), (0.01, 0.05, 0.3)]
)
def test_a_thrown_ball_rolls_at_five_sevenths_of_its_speed(
    radius: float, friction: float, turn: float, tolerance: float
) -> None:
    rolls = 2.0 / (7.0 * friction * G)
    along = np.array([math.cos(turn), math.sin(turn), 0.0])
    times = np.linspace(0.0, 1.5 * rolls, 61)
    start = {"flight": {"velocity": tuple(along)}}
    result = ball(radius, friction).simulate(1.5 * rolls, initial=start, tolerance=tolerance, output=times)
    expected = np.where(times < rolls, 1.0 - friction * G * times, 5.0 / 7.0)[:, None] * along
    # Local errors add up while it turns, 0.5 rad or more a step.
    turned = 5.0 / 7.0 * rolls / radius
    assert np.abs(speeds(result) - expected).max() < tolerance * max(2.0, turned / 2.0)
    (stick,) = [c for c in result.contact_changes if c.what == "stick"]
    assert stick.time == pytest.approx(rolls, rel=tolerance * max(3.0, turned))


def slip_of_a_ball(
    velocity: tuple[float, float], friction: float, slope: float, times: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float | None]:
    """Velocities of a ball without spin on a slope, and when its slip ends; by SciPy, without a contact of ours.

    The slip s changes by g_t - 7/2 mu g_n s / |s| and the velocity v by g_t - mu g_n s / |s|, by 5/7 g_t once it rolls.
    """
    down, normal = np.array([G * math.sin(slope), 0.0]), G * math.cos(slope)

    def rate(t: float, y: NDArray[np.float64]) -> NDArray[np.float64]:
        rub = friction * normal * y[2:] / np.hypot(*y[2:])
        return np.concatenate([down - rub, down - 3.5 * rub])

    def ended(t: float, y: NDArray[np.float64]) -> float:
        return float(np.hypot(*y[2:])) - 1e-9

    ended.terminal = True  # type: ignore[attr-defined]
    start = np.array([*velocity, *velocity])
    solved = solve_ivp(rate, (0.0, times[-1]), start, "DOP853", times, events=ended, rtol=1e-12, atol=1e-14)
    if not len(solved.t_events[0]):
        return solved.y[:2].T, None
    end, last = float(solved.t_events[0][0]), solved.y_events[0][0]
    rolling = last[:2] + np.outer(times[times > end] - end, 5.0 / 7.0 * down)
    return np.vstack([solved.y[:2].T, rolling]), end


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("velocity", [(0.0, 1.0), (-0.7, 0.4), (0.5, -2.0)])
def test_slip_that_turns_on_a_slope_ends_when_it_should(
    velocity: tuple[float, float], tolerance: float
) -> None:
    friction, slope, times = 0.3, 0.25, np.linspace(0.0, 0.8, 33)
    expected, end = slip_of_a_ball(velocity, friction, slope, times)
    start = {"flight": {"velocity": (*velocity, 0.0)}}
    result = ball(0.1, friction, slope).simulate(0.8, initial=start, tolerance=tolerance, output=times)
    assert np.abs(speeds(result)[:, :2] - expected).max() < 30.0 * tolerance
    (stick,) = [c for c in result.contact_changes if c.what == "stick"]
    assert stick.time == pytest.approx(end, abs=30.0 * tolerance)


def test_slip_that_only_turns_goes_on() -> None:
    """A slope too steep to roll on: the slip turns by more than a right angle and never ends."""
    velocity, friction, slope, times = (-1.0, 1.0), 0.1, 0.9, np.linspace(0.0, 1.0, 41)
    expected, end = slip_of_a_ball(velocity, friction, slope, times)
    assert end is None
    start = {"flight": {"velocity": (*velocity, 0.0)}}
    result = ball(0.1, friction, slope).simulate(1.0, initial=start, tolerance=1e-9, output=times)
    assert np.abs(speeds(result)[:, :2] - expected).max() < 1e-7
    assert [c.what for c in result.contact_changes] == ["rest"]
