"""Every method shows its theoretical order, at the steps and between them."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.integrate import Options, integrate
from integrate.problems import (
    ADAPTIVE,
    ALL,
    ARENSTORF_PERIOD,
    arenstorf,
    spiral,
    spiral_exact,
    top,
    top_exact,
)

# method: (order at the steps, order between them, coarsest step)
ORDERS = {
    "runge_kutta4": (4, 4, 0.05),
    "dormand_prince5": (5, 5, 0.1),
    # of order six where the motion is linear, as it is here
    "runge_kutta5": (6, 5, 0.2),
    "dop853": (8, 8, 0.25),
    "radau": (5, 4, 0.1),
    "generalised_alpha": (2, 2, 0.02),
    "milne_hamming": (5, 5, 0.05),
}


def _errors(method, times, radius=0.8):
    coarsest = ORDERS[method][2]
    errors = []
    for halvings in range(3):
        options = Options(fixed_step=coarsest * 0.5**halvings, rtol=1e-12, atol=1e-13, spectral_radius=radius)
        result = integrate(spiral(), method, times, options)
        errors.append(np.abs(result.y - spiral_exact(result.t)).max())
    return np.array(errors)


@pytest.mark.parametrize("method", ALL)
def test_order_at_the_steps(method):
    errors = _errors(method, [2.0])
    observed = np.log2(errors[:-1] / errors[1:])
    assert observed[-1] == pytest.approx(ORDERS[method][0], abs=0.4), errors


@pytest.mark.parametrize(
    ("method", "order", "step"),
    [("runge_kutta4", 4, 0.1), ("dormand_prince5", 5, 0.1), ("runge_kutta5", 5, 0.1)],
)
def test_order_on_a_motion_that_is_not_linear(method, order, step):
    errors = []
    for halvings in range(3):
        end = integrate(top(), method, [5.0], Options(fixed_step=step * 0.5**halvings)).y[-1]
        errors.append(np.abs(end - top_exact(5.0)).max())
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.3), errors


@pytest.mark.parametrize("method", ALL)
def test_order_between_the_steps(method):
    times = np.append(np.linspace(0.0, 1.99, 173), 2.0)
    errors = _errors(method, times)
    observed = np.log2(errors[:-1] / errors[1:])
    assert observed[-1] > ORDERS[method][1] - 0.4, errors


@pytest.mark.parametrize("radius", [0.0, 0.5, 1.0])
def test_generalised_alpha_is_of_order_two_for_every_spectral_radius(radius):
    errors = _errors("generalised_alpha", [2.0], radius)
    assert np.log2(errors[-2] / errors[-1]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_error_follows_the_tolerance(method):
    tolerances = [1e-4, 1e-6, 1e-8]
    errors = []
    for rtol in tolerances:
        result = integrate(spiral(), method, np.linspace(0, 4, 41), Options(rtol=rtol, atol=rtol))
        errors.append(np.abs(result.y - spiral_exact(result.t)).max())
    assert errors[2] < 0.02 * errors[0]
    # Error per step goes with h^(q+1), the error at the end with h^q: for the method of order 2 that shows.
    power = 2 / 3 if method == "generalised_alpha" else 1.0
    assert all(e < 300 * tol**power for e, tol in zip(errors, tolerances, strict=True)), errors


@pytest.mark.parametrize("method", ["dop853", "dormand_prince5", "runge_kutta5", "radau"])
def test_the_arenstorf_orbit_closes(method):
    problem = arenstorf()
    result = integrate(problem, method, [ARENSTORF_PERIOD], Options(rtol=1e-12, atol=1e-12))
    assert np.abs(result.y[-1, :2] - problem.y0[:2]).max() < 5e-6


def test_dop853_needs_as_many_evaluations_as_the_published_code():
    from scipy.integrate import solve_ivp

    def rhs(t, y):
        return [0.1 * t * y[0] - (1 + t) * y[1], 0.1 * t * y[1] + (1 + t) * y[0]]

    theirs = solve_ivp(rhs, (0, 8), [1.0, 0.0], method="DOP853", rtol=1e-9, atol=1e-9)
    ours = integrate(spiral(), "dop853", [8.0], Options(rtol=1e-9, atol=1e-9))
    assert ours.evaluations < 1.15 * theirs.nfev
