"""Constraints are kept at every output, and a decaying partition is noticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bellcrank.integrate import Options, SimulationError, Status, integrate
from integrate.problems import ALL, kernel, pendulum_in_the_plane

# Benchmarks, simple pendulum (A01), from Jacobi's elliptic functions.
REFERENCE = {
    0.5: (0.3910487915505462, -0.9203699487851923),
    1.0: (-0.9862917511318754, -0.165010853125541),
    5.0: (0.9423054350437567, -0.3347543384140022),
    10.0: (0.275087462576117, -0.961419205099125),
}


def _options(method, **others):
    if method == "runge_kutta4":
        return Options(fixed_step=2e-3, repartition_threshold=0.0, **others)
    tolerance = 1e-7 if method == "generalised_alpha" else 1e-10
    return Options(rtol=tolerance, atol=tolerance, repartition_threshold=0.0, **others)


@pytest.mark.parametrize("method", [*ALL, "auto"])
def test_pendulum(method):
    result = integrate(pendulum_in_the_plane(), method, sorted(REFERENCE), _options(method))
    accuracy = 3e-3 if method == "generalised_alpha" else 1e-7
    assert result.y[:, :2] == pytest.approx(np.array([REFERENCE[t] for t in result.t]), abs=accuracy)


@pytest.mark.parametrize("method", ALL)
def test_every_output_is_on_the_circle(method):
    times = np.linspace(0, 10, 997)
    y = integrate(pendulum_in_the_plane(), method, times, _options(method)).y
    assert np.abs(y[:, 0] ** 2 + y[:, 1] ** 2 - 1).max() < 1e-10
    assert np.abs(y[:, 0] * y[:, 2] + y[:, 1] * y[:, 3]).max() < 1e-10


def test_without_projection_the_pendulum_drifts():
    times = np.linspace(0, 10, 11)
    y = integrate(replace(pendulum_in_the_plane(), project=0), "dormand_prince5", times, Options(rtol=1e-6)).y
    assert np.abs(y[:, 0] ** 2 + y[:, 1] ** 2 - 1).max() > 1e-8


def test_repartition_is_asked_for_and_the_run_goes_on():
    problem = replace(pendulum_in_the_plane(), y0=np.array([0.0, -1.0, 6.5, 0.0]))

    def by_x(x, y):
        px, py, vx, vy = x[1], x[2], x[3], x[4]
        square = px * px + py * py
        shift = 0.5 * (1.0 - square) / square
        px *= 1.0 + shift
        py *= 1.0 + shift
        out = (px * vx + py * vy) / (px * px + py * py)
        y[0], y[1] = px, py
        y[2], y[3] = vx - out * px, vy - out * py
        y[4] = abs(square - 1.0)
        y[5] = abs(px)

    partitions = [problem, replace(problem, project=kernel(by_x))]
    asked = []

    def other(t, y, p):
        asked.append((t, y))
        return partitions[len(asked) % 2], y

    times = np.linspace(0, 5, 501)
    result = integrate(problem, "dop853", times, Options(repartition_threshold=0.3), on_repartition=other)
    plain = integrate(problem, "dop853", times, Options(repartition_threshold=0.0))
    assert len(asked) > 5
    assert result.repartitions == tuple(t for t, _ in asked)
    for k, (_, y) in enumerate(asked):
        assert abs(y[1 - k % 2]) < 0.3
    assert np.all(np.diff(result.partition) >= 0)
    assert result.partition[-1] == len(asked)
    assert result.y == pytest.approx(plain.y, abs=1e-5)


@pytest.mark.parametrize("method", ["dop853", "radau", "milne_hamming"])
def test_a_partition_that_alone_loses_rank_is_changed_at_the_last_moment(method):
    """The margin tells nothing; the rank falls with the height, which a slow pendulum passes in many small steps."""

    def by_height(x, y):
        px, py, vx, vy = x[1], x[2], x[3], x[4]
        square = px * px + py * py
        shift = 0.5 * (1.0 - square) / square
        px *= 1.0 + shift
        py *= 1.0 + shift
        out = (px * vx + py * vy) / (px * px + py * py)
        y[0], y[1] = px, py
        y[2], y[3] = vx - out * px, vy - out * py
        y[4] = abs(square - 1.0)
        y[5] = 1.0
        y[6] = abs(py)

    sound = replace(pendulum_in_the_plane(), y0=np.array([0.8, -0.6, 2.4, 3.2]))
    problem = replace(sound, project=kernel(by_height))
    options = replace(_options(method), max_step=1e-4)
    times = np.linspace(0.0, 0.5, 26)
    with pytest.raises(SimulationError) as caught:
        integrate(problem, method, times, options)
    assert caught.value.status is Status.CHANGE_POINT
    assert caught.value.trajectory.end_state[1] == pytest.approx(0.0, abs=2e-3)
    result = integrate(problem, method, times, options, on_repartition=lambda t, y, p: (sound, y))
    assert len(result.repartitions) == 1
    plain = integrate(sound, method, times, options)
    assert result.y == pytest.approx(plain.y, abs=1e-8)


def test_a_run_goes_on_where_there_is_no_better_partition():
    result = integrate(pendulum_in_the_plane(), "dop853", [3.0], Options(repartition_threshold=0.5))
    assert result.status is Status.DONE
    assert result.repartitions == ()


def test_constraints_that_cannot_be_met():
    # A slider pulled beyond the length of its link: y^2 = 1 - x^2 has no solution for t > 1.
    def rhs(x, y):
        y[0] = 1.0
        y[1] = 0.0

    def project(x, y):
        residual = x[1] * x[1] + x[2] * x[2] - 1.0
        y[0] = x[1]
        y[1] = x[2] - 0.5 * residual / x[2]
        y[2] = abs(residual)
        y[3] = abs(x[2])

    problem = replace(
        pendulum_in_the_plane(), rhs=kernel(rhs), project=kernel(project), y0=np.array([0.0, 1.0])
    )
    with pytest.raises(SimulationError, match="loops cannot be closed") as caught:
        integrate(problem, "dop853", np.linspace(0, 2, 21), Options(repartition_threshold=0.0, max_step=0.05))
    assert caught.value.status is Status.CONSTRAINTS
    assert caught.value.time == pytest.approx(1.0, abs=1e-2)
    assert caught.value.trajectory.t[-1] >= 0.9
