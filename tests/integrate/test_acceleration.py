"""Anderson's acceleration against what theory says of it on linear problems."""

import numpy as np
import pytest

from bellcrank.integrate import layout as at
from bellcrank.integrate.acceleration import COLUMNS, KEPT_ROWS, accelerate


@pytest.mark.parametrize("rank", [1, 2, 4])
@pytest.mark.parametrize("rows", [1, 3])
def test_a_correction_that_misses_a_few_directions_is_found_in_as_many_iterations(rank, rows):
    """x = b - A x with A of low rank and eigenvalues far above one, where plain iterations fly off.

    Without rounding the iterates are those of GMRES (Walker, Ni, theorem 2.2): exact after rank + 1 corrections, and
    one more step.
    """
    random = np.random.default_rng(rank + 10 * rows)
    n = 8
    left, right = random.normal(size=(2, rows * n, rank))
    A, b = 30.0 * left @ right.T, random.normal(size=rows * n)
    reals = np.zeros(at.REALS)
    reals[at.RTOL] = 1e-6
    v = np.zeros((at.OWN + rows, n))
    v[at.ATOL] = 10.0 ** random.uniform(-9, -6, n)
    memory = np.zeros((KEPT_ROWS, rows * n))
    x, known = np.zeros(rows * n), -1
    for _ in range(rank + 2):
        v[at.OWN :] = (b - A @ x - x).reshape(rows, n)
        known = accelerate(reals, v, memory, at.OWN, rows, known)
        x = x + v[at.OWN :].reshape(-1)
    assert rank <= known <= COLUMNS
    assert x == pytest.approx(np.linalg.solve(np.eye(rows * n) + A, b), rel=1e-7, abs=1e-9)
