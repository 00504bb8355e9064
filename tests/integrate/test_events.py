"""Events are found where the closed forms have them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bellcrank.integrate import Change, Options, Problem, SimulationError, Status, integrate
from integrate.problems import ADAPTIVE, falling_ball, kernel, oscillator

FIRST_IMPACT = np.sqrt(2 / 9.81)


def _bounce(restitution):
    def on_event(t, y, indices, p):
        return Change(y=np.array([0.0, -restitution * y[1]]))

    return on_event


@pytest.mark.parametrize("method", ["dop853", "dormand_prince5", "runge_kutta5", "radau"])
@pytest.mark.parametrize("restitution", [0.5, 0.8, 0.9])
def test_bouncing_ball(method, restitution):
    end = FIRST_IMPACT * (1 + restitution) / (1 - restitution)
    impacts = 12
    flights = 2 * restitution ** np.arange(1, impacts) * FIRST_IMPACT
    expected = FIRST_IMPACT + np.concatenate([[0.0], np.cumsum(flights)])
    result = integrate(
        falling_ball(),
        method,
        [0.5 * (expected[-1] + min(end, expected[-1] + flights[-1] * restitution))],
        Options(rtol=1e-10, atol=1e-12),
        on_event=_bounce(restitution),
    )
    assert [e.t for e in result.events] == pytest.approx(expected, rel=1e-12)


def test_the_bounces_converge_to_the_end_of_all_bouncing():
    restitution = 0.5
    end = 1.3545709229571927  # benchmarks, bouncing ball, e = 0.5

    def on_event(t, y, indices, p):
        if abs(y[1]) < 1e-6:
            return Change(y=np.zeros(2), p=np.zeros(1), stop=True)
        return Change(y=np.array([0.0, -restitution * y[1]]))

    result = integrate(falling_ball(), "dop853", [5.0], on_event=on_event)
    assert result.status is Status.EVENT
    assert result.events[0].t == pytest.approx(0.4515236409857309, rel=1e-13)
    assert result.end_time == pytest.approx(end, abs=1e-6)
    assert len(result.events) == 1 + int(np.ceil(np.log(1e-6 / np.sqrt(2 * 9.81)) / np.log(restitution)))


def _crossing(x, y):
    y[0] = x[1]  # cos t
    y[1] = x[1] - x[2] - 1.2  # cos t + sin t - 1.2: above zero only briefly
    y[2] = x[0] - 3.0


@pytest.mark.parametrize("method", ADAPTIVE)
def test_crossings_of_an_oscillator(method):
    problem = replace(oscillator(), events=kernel(_crossing), directions=(0, 0, 1))
    tolerance = 1e-5 if method == "generalised_alpha" else 1e-12
    result = integrate(problem, method, [20.0], Options(rtol=tolerance, atol=tolerance))
    accuracy = 2e-2 if method == "generalised_alpha" else 1e-9
    zeros = [e.t for e in result.events if 0 in e.indices]
    assert zeros == pytest.approx(np.pi / 2 + np.pi * np.arange(6), abs=accuracy)
    half_width = np.arccos(1.2 / np.sqrt(2))
    middles = np.pi / 4 + 2 * np.pi * np.arange(4)
    brief = [e.t for e in result.events if 1 in e.indices]
    edges = np.sort([*(middles - half_width), *(middles + half_width)])
    assert brief == pytest.approx(edges[edges < 20], abs=accuracy)
    (clock,) = [e.t for e in result.events if 2 in e.indices]
    assert clock == pytest.approx(3.0, rel=1e-13)


@pytest.mark.parametrize(("direction", "count"), [(1, 3), (-1, 3), (0, 6)])
def test_direction(direction, count):
    def zero(x, y):
        y[0] = x[1]

    problem = replace(oscillator(), events=kernel(zero), directions=(direction,))
    result = integrate(problem, "dop853", [20.0])
    assert len(result.events) == count
    assert all(direction == 0 or np.sign(e.y[1]) == direction for e in result.events)


@pytest.mark.parametrize("height", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize(("direction", "count"), [(0, 2), (-1, 1), (1, 1)])
def test_a_double_crossing_within_one_step_is_not_missed(height, direction, count):
    # A thrown ball passes a mark just below the top of its flight; the whole flight is one step.
    def rhs(x, y):
        y[0] = x[2]
        y[1] = -2.0

    def mark(x, y):
        y[0] = x[1] - x[3]

    # height 1 + 2 s t - t^2 with its top 1 at t = 0.37
    problem = Problem(
        kernel(rhs),
        np.array([1.0 - 0.37**2, 2 * 0.37]),
        p=np.array([1.0 - height]),
        events=kernel(mark),
        directions=(direction,),
    )
    result = integrate(problem, "dop853", [1.0], Options(first_step=1.0))
    assert result.steps == 1
    both = 0.37 + np.array([-1.0, 1.0]) * np.sqrt(height)
    expected = {0: both, 1: both[:1], -1: both[1:]}[direction]
    assert len(result.events) == count
    assert [e.t for e in result.events] == pytest.approx(expected, abs=1e-10 / np.sqrt(height) * 1e-3)


def test_a_crossing_that_shows_at_a_later_event_only_comes_first():
    # A notch between two of the places where a step is looked at; within it another event.
    def rhs(x, y):
        y[0] = 1.0

    def notch(x, y):
        y[0] = 1.0 - 4.0 * max(0.0, 1.0 - ((x[1] - 0.4) / 0.05) ** 2)
        y[1] = 0.41 - x[1]

    problem = Problem(kernel(rhs), np.array([0.0]), p=np.zeros(1), events=kernel(notch), directions=(-1, -1))
    result = integrate(problem, "dop853", [1.0], Options(first_step=1.0))
    assert result.steps == 1
    assert [e.indices for e in result.events] == [(0,), (1,)]
    assert [e.t for e in result.events] == pytest.approx([0.4 - 0.05 * np.sqrt(0.75), 0.41], abs=1e-12)


def test_watching_events_does_not_change_the_trajectory():
    problem = replace(oscillator(), events=kernel(_crossing), directions=(0, 0, 0))
    times = np.linspace(0, 20, 101)
    watched, plain = integrate(problem, "dop853", times), integrate(oscillator(), "dop853", times)
    assert len(watched.events) > 5
    assert np.array_equal(watched.y, plain.y)
    assert watched.steps == plain.steps


def test_events_at_the_same_time_come_together():
    def twice(x, y):
        y[0] = x[1]
        y[1] = 2.0 * x[1]

    problem = replace(oscillator(), events=kernel(twice), directions=(0, 0))
    result = integrate(problem, "dop853", [10.0])
    assert [e.t for e in result.events] == pytest.approx(np.pi / 2 + np.pi * np.arange(3), abs=1e-7)
    assert all(e.indices == (0, 1) for e in result.events)


def test_a_terminal_event_ends_the_run():
    problem = replace(falling_ball(), terminal=(True,))
    result = integrate(problem, "dop853", np.linspace(0, 1, 11))
    assert result.status is Status.EVENT
    assert result.end_time == pytest.approx(FIRST_IMPACT, rel=1e-12)
    assert result.t[-1] <= FIRST_IMPACT < 0.5


def test_an_event_may_change_parameters():
    # Gravity turns around at the ground.
    result = integrate(
        falling_ball(), "dop853", [2 * FIRST_IMPACT], on_event=lambda t, y, indices, p: Change(p=-p)
    )
    assert result.y[-1, 1] == pytest.approx(0.0, abs=1e-7)


def _rooted(x, y):
    y[0] = x[0] + 1.0
    y[1] = np.sqrt(1.0 - x[0]) + 0.1


@pytest.mark.parametrize("method", ["dop853", "radau", "milne_hamming"])
def test_an_event_function_that_is_no_number_ends_the_run(method):
    """Beyond t = 1 nothing could be met any more."""
    problem = replace(oscillator(), events=kernel(_rooted), directions=(0, 0), event_names=("clock", "root"))
    with pytest.raises(SimulationError, match=r"'root'.*not a number") as caught:
        integrate(problem, method, [20.0])
    assert caught.value.status is Status.EVENT_NOT_FINITE
    assert caught.value.time <= 1.0
    begun = replace(problem, t0=2.0)
    with pytest.raises(SimulationError, match=r"t = 2 s at 'root'.*not a number"):
        integrate(begun, method, [20.0])


@pytest.mark.parametrize("method", ["dop853", "dormand_prince5", "runge_kutta5", "radau"])
def test_events_that_change_nothing_are_told_once_and_in_order(method):
    """Grazing: cos t passes 1 - 1e-6 twice within one step, at -+ acos(1 - 1e-6) around every turn."""

    def level(x, g):
        g[0] = x[1] - (1.0 - 1e-6)

    problem = replace(oscillator(), events=kernel(level), directions=(0,))
    seen = integrate(problem, method, [20.0], Options(rtol=1e-10, atol=1e-10)).events
    half = math.acos(1.0 - 1e-6)
    expected = [half, *(2 * math.pi * turn + side * half for turn in (1, 2, 3) for side in (-1, 1))]
    assert [e.t for e in seen] == pytest.approx(expected, abs=1e-5)


def test_a_step_made_again_begins_with_the_signs_it_began_with():
    """Of the first step one stage alone, 7/9 of it, lies in the wall from 5 to 5.1; only the dense output knows it.

    Before the wall an event falls that counts upwards only. It must not be told where the step is made again.
    """

    def rhs(x, y):
        y[0] = x[2]
        y[1] = -1e9 * (x[1] - 5.0) if 5.0 < x[1] < 5.1 else 0.0

    def watched(x, g):
        side = 1.0 if x[1] > 5.05 else -1.0
        g[0] = g[3] = side * (x[1] - 5.05) - 0.05
        g[1] = side * x[2]
        g[2] = 2.0 - x[1]

    problem = Problem(kernel(rhs), np.array([0.0, 1.0]), events=kernel(watched), directions=(-1, 2, 1, 1))
    seen = integrate(
        problem,
        "dop853",
        [9.0],
        Options(rtol=1e-6, atol=1e-8, first_step=5.05 * 9.0 / 7.0),
        on_event=lambda t, y, indices, p: Change(p=np.zeros(0)),
    )
    # In and out of the wall, and back where it began.
    assert [(e.indices, round(e.t, 3)) for e in seen.events] == [((0,), 5.0), ((3,), 5.0), ((2,), 8.0)]
    assert seen.end_state == pytest.approx([1.0, -1.0], abs=1e-3)
