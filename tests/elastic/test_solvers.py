"""Contact forces: conditions hold, and the direct active set and the paper's iteration agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from bellcrank.elastic.accelerated import AcceleratedIteration, accelerator
from bellcrank.elastic.active_set import DirectActiveSet, _sweeps
from bellcrank.elastic.problem import ContactProblem, ContactSolution


def problem(seed: int, points: int, dimension: int, friction: float) -> ContactProblem:
    """Random contact: a compliance that decays with distance, as an elastic body has."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0.0, 1.0, points))
    decay = np.exp(-np.abs(x[:, None] - x[None, :]) / 0.1)
    mixing = rng.normal(scale=0.15, size=(dimension, dimension))
    local = np.eye(dimension) + mixing @ mixing.T
    c = np.kron(decay, local)
    free = rng.normal(scale=0.1, size=(points, dimension))
    return ContactProblem(c, free, np.full(points, friction), np.zeros_like(free))


def assert_conditions(given: ContactProblem, found: ContactSolution) -> None:
    """(7) of the paper."""
    p = found.force
    s = given.free + (given.compliance @ p.ravel()).reshape(p.shape)
    scale, size = np.abs(p).max() + 1e-30, np.abs(given.free).max()
    assert p[:, 0].max() <= 0.0
    assert s[:, 0].max() <= 1e-9 * size
    assert np.abs(p[:, 0] * s[:, 0]).max() <= 1e-9 * size * scale
    bound = -given.friction * p[:, 0]
    pull, slip = np.linalg.norm(p[:, 1:], axis=1), np.linalg.norm(s[:, 1:], axis=1)
    assert (pull - bound).max() <= 1e-9 * scale
    inside = pull < bound * (1.0 - 1e-6)
    assert slip[inside].max(initial=0.0) <= 1e-9 * size
    against = (p[:, 1:] * s[:, 1:]).sum(axis=1) + pull * slip
    assert np.abs(against).max() <= 1e-8 * size * scale


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 25), st.sampled_from([2, 3]), st.sampled_from([0.0, 0.2, 0.5]))
def test_contact_conditions_hold(seed: int, points: int, dimension: int, friction: float) -> None:
    case = problem(seed, points, dimension, friction)
    assert_conditions(case, DirectActiveSet().solve(case))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 25))
def test_without_friction_it_is_a_convex_program(seed: int, points: int) -> None:
    case = problem(seed, points, 2, 0.0)
    c = case.compliance[::2, ::2]
    lower = np.linalg.cholesky(c)
    x, _ = nnls(lower.T, np.linalg.solve(lower, case.free[:, 0]))
    np.testing.assert_allclose(DirectActiveSet().solve(case).force[:, 0], -x, atol=1e-10)


@pytest.mark.parametrize("friction", [0.0, 0.3])
@pytest.mark.parametrize("level", [4, 6, 8])
def test_paper_iteration_agrees(level: int, friction: float) -> None:
    for seed in range(10):
        case = problem(seed, 12, 2, friction)
        direct, paper = DirectActiveSet().solve(case), AcceleratedIteration(level).solve(case)
        np.testing.assert_allclose(paper.force, direct.force, atol=1e-9 * np.abs(direct.force).max())
        np.testing.assert_array_equal(paper.active, direct.active)


def test_sweeps_agree() -> None:
    for seed in range(5):
        case = problem(seed, 8, 3, 0.3)
        direct = DirectActiveSet().solve(case).force
        np.testing.assert_allclose(
            _sweeps(case, np.zeros_like(direct)), direct, atol=1e-9 * np.abs(direct).max()
        )


@pytest.mark.parametrize("level", [1, 2, 5, 12, 25])
def test_rescaled_levels_stay_finite_and_shrink_errors_as_said(level: int) -> None:
    c = problem(3, 15, 2, 0.0).compliance
    a_n, factor = accelerator(c, level)
    assert np.isfinite(a_n).all()
    worst = np.abs(np.linalg.eigvals(np.eye(len(c)) - c @ a_n)).max()
    assert worst <= factor + 1e-9
    assert factor < 1.0
    if level >= 12:
        assert worst < 1e-6


@pytest.mark.parametrize("solver", [DirectActiveSet(), AcceleratedIteration(6)])
def test_correction_solves(solver: DirectActiveSet | AcceleratedIteration) -> None:
    c = problem(5, 9, 2, 0.0).compliance
    error = np.random.default_rng(2).normal(size=len(c))
    change, _ = solver.correct(c, error, 7.0)
    assert np.abs(error + 7.0 * c @ change).max() < 1e-9
