"""The triangular factors against NumPy, interpreted and compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bellcrank.simulate.compiled import Unit, matrix, vector
from bellcrank.simulate.linear import factorise, factorise_complex, solve, solve_complex


@Unit
def _solve(
    _0: Any, sizes: Any, _2: Any, re: Any, b: Any, _5: Any, _6: Any, _7: Any, _8: Any, places: Any, _10: Any
) -> int:
    n = vector(sizes, 1)[0]
    a = matrix(re, 0, n, n)
    pivots = vector(places, n + 1)
    regular = factorise(a, pivots, 1)
    solve(a, pivots, 1, matrix(b, 0, 1, n), 0)
    return 1 if regular else 0


@Unit
def _solve_complex(
    _0: Any, sizes: Any, _2: Any, re: Any, b: Any, im: Any, _6: Any, _7: Any, _8: Any, places: Any, _10: Any
) -> int:
    n = vector(sizes, 1)[0]
    real = matrix(re, 0, n, n)
    imaginary = matrix(im, 0, n, n)
    pivots = vector(places, n)
    regular = factorise_complex(real, imaginary, pivots, 0)
    solve_complex(real, imaginary, pivots, 0, matrix(b, 0, 2, n), 0)
    return 1 if regular else 0


def _run(unit, compiled, re, b, im=None):
    none = np.zeros(1)
    sizes, places = np.array([len(re)]), np.zeros(len(re) + 1, np.int64)
    arrays = (places, sizes, none, re, b, none if im is None else im, none, none, none, places, none)
    return bool(unit(*arrays) if compiled else unit.function(*arrays))


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
    assert _run(_solve_complex, compiled, a.copy(), b, im.copy())
    assert b[0] + 1j * b[1] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_singular_matrix_is_noticed(compiled):
    with np.errstate(divide="ignore", invalid="ignore"):
        assert not _run(_solve, compiled, np.zeros((2, 2)), np.ones((1, 2)))
