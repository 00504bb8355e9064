"""Resuming, interrupting, sampling and failing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from bellcrank.errors import ModelError, UnknownName
from bellcrank.integrate import Options, Problem, Sample, SimulationError, Status, integrate
from bellcrank.integrate.loop import Driver
from bellcrank.integrate.run import Run
from bellcrank.run.simulation import output_times
from integrate.problems import ALL, kernel, oscillator, pendulum_in_the_plane, van_der_pol

TIMES = np.linspace(0.0, 6.0, 61)


def _options(method, **others):
    return Options(fixed_step=0.01 if method == "runge_kutta4" else 0.0, repartition_threshold=0.0, **others)


def _finish(run, steps):
    while run.advance(steps) is Status.RUNNING:
        pass
    return run


@pytest.mark.parametrize("method", ALL)
def test_resuming_gives_the_same_bits(method):
    def run():
        return Run(pendulum_in_the_plane(), method, TIMES, 6.0, _options(method))

    whole, stepwise, first = _finish(run(), 10**9), _finish(run(), 1), run()
    for _ in range(7):
        first.advance(1)
    second = run()
    second.restore(first.snapshot())
    _finish(second, 3)
    for other in (stepwise, second):
        assert np.array_equal(whole.out_y, other.out_y)
        assert np.array_equal(whole.y, other.y)
        assert np.array_equal(whole.reals, other.reals)


@pytest.mark.parametrize("method", ALL)
def test_the_same_run_gives_the_same_bits(method):
    first, second = (integrate(oscillator(), method, TIMES, _options(method)) for _ in range(2))
    assert np.array_equal(first.y, second.y)
    assert first.evaluations == second.evaluations


def test_output_times_do_not_change_the_steps():
    fine = integrate(oscillator(), "dop853", np.linspace(0, 6, 601))
    coarse = integrate(oscillator(), "dop853", [0.0, 6.0])
    assert fine.steps == coarse.steps
    assert np.array_equal(fine.y[-1], coarse.y[-1])


@pytest.mark.posix
def test_interrupting_keeps_what_there_is():
    def interrupt(progress):
        if progress.t > 100.0:
            os.kill(os.getpid(), signal.SIGINT)

    options = Options(chunk_seconds=1e-4, max_step=1e-3)
    result = integrate(oscillator(), "dop853", np.linspace(0, 1e4, 100001), options, on_chunk=interrupt)
    assert result.status is Status.INTERRUPTED
    assert 100.0 < result.end_time < 1e4
    assert result.t[-1] == pytest.approx(result.end_time, abs=0.1)
    assert result.y[:, 0] == pytest.approx(np.cos(result.t), abs=1e-6)


def test_progress_is_told_in_order():
    seen = []
    options = Options(chunk_seconds=1e-3, max_step=1e-3)
    integrate(oscillator(), "dop853", [100.0], options, on_chunk=lambda progress: seen.append(progress.t))
    assert len(seen) > 3
    assert seen == sorted(seen)


@pytest.mark.parametrize("method", ["dop853", "radau", "milne_hamming"])
def test_a_sampled_controller_acts_exactly_at_its_instants(method):
    # A mass under a force that stands still between samples: the motion is the exact discrete-time recursion.
    def rhs(x, y):
        y[0] = x[2]
        y[1] = x[3]

    period, gain, damping = 0.1, 4.0, 3.0
    called = []

    def control(t, y, p):
        called.append((t, y))
        return {0: -gain * y[0] - damping * y[1]}

    problem = Problem(kernel(rhs), np.array([1.0, 0.0]), p=np.zeros(1))
    result = integrate(problem, method, [3.0], samples=[Sample(period, control)])
    y = np.array([1.0, 0.0])
    for k, (t, sampled) in enumerate(called):
        assert t == k * period
        assert sampled == pytest.approx(y, abs=1e-9)
        force = -gain * y[0] - damping * y[1]
        y = np.array([y[0] + period * y[1] + 0.5 * period**2 * force, y[1] + period * force])
    assert len(called) == 30
    assert result.y[-1] == pytest.approx(y, abs=1e-9)


def test_a_sample_does_not_lose_the_step_size():
    problem = replace(oscillator(), p=np.zeros(1))
    plain = integrate(problem, "dop853", [60.0])
    sampled = integrate(problem, "dop853", [60.0], samples=[Sample(20.0, lambda t, y, p: {0: t})])
    assert sampled.steps <= plain.steps + 6


def test_accelerations_that_are_not_numbers():
    def rhs(x, y):
        y[0] = 1.0
        y[1] = np.sqrt(1.0 - x[0])

    problem = Problem(kernel(rhs), np.zeros(2), names=("angle", "speed"))
    with pytest.raises(SimulationError, match=r"'speed'.*not finite") as caught:
        integrate(problem, "dop853", np.linspace(0, 2, 21))
    assert caught.value.status is Status.NOT_FINITE
    assert caught.value.time == pytest.approx(1.0, abs=1e-3)
    assert len(caught.value.trajectory.t) >= 10
    with pytest.raises(SimulationError) as caught:
        integrate(replace(problem, t0=1.5), "radau", [2.0])
    assert caught.value.index == 1


@pytest.mark.parametrize("method", ["dop853", "dormand_prince5", "runge_kutta5", "radau", "milne_hamming"])
def test_a_solution_that_ends(method):
    def rhs(x, y):
        y[0] = x[1] * x[1]

    problem = Problem(kernel(rhs), np.ones(1))
    with pytest.raises(SimulationError) as caught:
        integrate(problem, method, np.linspace(0, 2, 21), Options(atol=1e-8))
    assert caught.value.status in (Status.STEP_UNDERFLOW, Status.NOT_FINITE, Status.NEWTON_FAILED)
    assert caught.value.time == pytest.approx(1.0, abs=1e-6)
    kept = caught.value.trajectory
    assert kept.y[:10, 0] == pytest.approx(1 / (1 - kept.t[:10]), rel=1e-5)


def test_too_many_steps():
    with pytest.raises(SimulationError, match="radau") as caught:
        integrate(van_der_pol(1e-6), "dop853", [2.0], Options(max_steps=500))
    assert caught.value.status is Status.TOO_MANY_STEPS


def test_an_equation_newton_cannot_solve():
    def rhs(x, y):
        # A force that jumps at every rounding: no step is short enough.
        y[0] = 1e18 * (1.0 if np.sin(1e18 * x[1]) > 0.0 else -1.0)

    problem = Problem(kernel(rhs), np.zeros(1))
    with pytest.raises(SimulationError) as caught:
        integrate(problem, "radau", [1.0], Options(fixed_step=0.1))
    assert caught.value.status is Status.NEWTON_FAILED


def test_mistakes_are_named():
    with pytest.raises(UnknownName, match="did you mean 'radau'"):
        integrate(oscillator(), "radua", [1.0])
    with pytest.raises(ValueError, match="fixed_step"):
        integrate(oscillator(), "runge_kutta4", [1.0])
    with pytest.raises(ValueError, match="ascending"):
        integrate(oscillator(), "dop853", [1.0, 0.5])
    with pytest.raises(ValueError, match="atol has shape"):
        integrate(oscillator(), "dop853", [1.0], Options(atol=[1.0, 2.0, 3.0]))


def test_importing_does_not_load_the_compiler():
    code = "import sys, bellcrank.integrate; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_status_has_advice():
    assert all(status.advice for status in Status)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (4, [0, 0.25, 0.5, 0.75, 1]),
        (0.25, [0, 0.25, 0.5, 0.75, 1]),
        (0.4, [0, 0.4, 0.8, 1]),
        ([0.1, 0.7], [0.1, 0.7]),
    ],
)
def test_output_by_count_interval_or_times(output, expected):
    np.testing.assert_allclose(output_times(0.0, 1.0, output), expected, rtol=1e-15)


@pytest.mark.parametrize("output", [0, -1, 0.0, -0.5, 2.0, float("nan"), [0.2, 0.1], []])
def test_output_that_makes_no_sense(output):
    with pytest.raises(ModelError, match="output"):
        output_times(0.0, 1.0, output)


def test_outputs_handed_out_stay_as_they_are_where_the_run_goes_on():
    run = Run(pendulum_in_the_plane(), "dop853", TIMES, 3.0, _options("dop853"))
    driver = Driver(run, None, None)
    first = driver.drive()
    handed_out = first.t.copy(), first.y.copy(), first.partition.copy()
    run.end = 6.0
    second = driver.drive()
    assert first.end_time == 3.0
    assert second.t.tolist() == TIMES.tolist()
    for now, before, later in zip((first.t, first.y, first.partition), handed_out, second[:3], strict=True):
        assert np.array_equal(now, before)
        assert np.array_equal(later[: len(now)], before)
