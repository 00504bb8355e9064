"""The queue method of paper A, Section 2.3: its order, its guard, and its forgetting."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.impacts import ImpactQueue

FALL = 1.2345


def distance(t: float) -> float:
    """Smooth, with its first root at FALL."""
    return float(np.exp(2.0 * (FALL - t)) - 1.0)


def worst_error(size: int, step: float) -> float:
    """The largest error over positions of the checks."""
    worst = 0.0
    for shift in np.linspace(0.0, 1.0, 21)[:-1]:
        queue = ImpactQueue(size)
        time = FALL - (size + 3 + shift) * step
        while True:
            found = queue.check(time, distance(time))
            if found is not None:
                worst = max(worst, abs(found - FALL))
                break
            time += step
    return worst


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_the_error_has_order_m(size):
    coarse, fine = worst_error(size, 0.04), worst_error(size, 0.02)
    assert np.log2(coarse / fine) == pytest.approx(size, abs=0.35)


def test_a_polynomial_of_lower_degree_is_exact():
    queue = ImpactQueue(4)
    for t in (0.0, 0.3, 0.5):
        assert queue.check(t, (0.6 - t) * (2 + t) * (3 - t)) is None
    assert queue.check(0.9, (0.6 - 0.9) * (2 + 0.9) * (3 - 0.9)) == pytest.approx(0.6, abs=1e-15)


def test_bodies_that_move_apart_do_not_collide():
    queue = ImpactQueue(3)
    assert queue.check(0.0, 0.1) is None
    assert queue.check(0.1, -1e-9, approach=0.5) is None


def test_an_emptied_queue_waits_for_two_checks():
    queue = ImpactQueue(3)
    queue.check(0.0, 0.1)
    queue.clear()
    assert queue.check(0.1, -0.1) is None
    assert len(queue) == 1


def test_mistakes():
    with pytest.raises(ValueError, match="at least 2"):
        ImpactQueue(1)
    queue = ImpactQueue(2)
    queue.check(1.0, 1.0)
    with pytest.raises(ValueError, match="forward in time"):
        queue.check(1.0, 1.0)
