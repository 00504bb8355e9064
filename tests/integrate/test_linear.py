"""The triangular factors against NumPy, interpreted and compiled."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.integrate.linear import factorise, factorise_complex, solve, solve_complex
from bellcrank.program.loops import Ints, Reals2, entry


@entry
def _solve(a: Reals2, b: Reals2, pivots: Ints) -> int:
    regular = factorise(a, pivots, 1)
    solve(a, pivots, 1, b, 0)
    return 1 if regular else 0


@entry
def _solve_complex(real: Reals2, imaginary: Reals2, b: Reals2, pivots: Ints) -> int:
    regular = factorise_complex(real, imaginary, pivots, 0)
    solve_complex(real, imaginary, pivots, 0, b, 0)
    return 1 if regular else 0


def _run(entry, compiled, *arrays):
    places = np.zeros(len(arrays[0]) + 1, np.int64)
    return bool((entry if compiled else entry.function)(*arrays, places))


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_solutions(n, compiled):
    random = np.random.default_rng(n)
    a, b = random.normal(size=(n, n)), random.normal(size=(2, n))
    expected = np.linalg.solve(a, b[0])
    x = b.copy()
    assert _run(_solve, compiled, a.copy(), x)
    assert x[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    im = random.normal(size=(n, n))
    expected = np.linalg.solve(a + 1j * im, b[0] + 1j * b[1])
    assert _run(_solve_complex, compiled, a.copy(), im.copy(), b)
    assert b[0] + 1j * b[1] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_singular_matrix_is_noticed(compiled):
    with np.errstate(divide="ignore", invalid="ignore"):
        assert not _run(_solve, compiled, np.zeros((2, 2)), np.ones((1, 2)))
