"""The triangular factors against NumPy."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from bellcrank.simulate.linear import factorise, factorise_complex, solve, solve_complex


@numba.njit
def _solve(a, b):
    pivots = np.zeros(len(b[0]) + 1, np.int64)
    regular = factorise(a, pivots, 1)
    solve(a, pivots, 1, b, 0)
    return regular


@numba.njit
def _solve_complex(re, im, b):
    pivots = np.zeros(len(b[0]), np.int64)
    regular = factorise_complex(re, im, pivots, 0)
    solve_complex(re, im, pivots, 0, b, 0)
    return regular


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_solutions(n):
    random = np.random.default_rng(n)
    a, b = random.normal(size=(n, n)), random.normal(size=(2, n))
    expected = np.linalg.solve(a, b[0])
    x = b.copy()
    assert _solve(a.copy(), x)
    assert x[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    im = random.normal(size=(n, n))
    expected = np.linalg.solve(a + 1j * im, b[0] + 1j * b[1])
    assert _solve_complex(a.copy(), im.copy(), b)
    assert b[0] + 1j * b[1] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_singular_matrix_is_noticed():
    assert not _solve(np.zeros((2, 2)), np.ones((1, 2)))
