"""The queue method of paper A: order, the table of the notes, what it costs, what it falls back to."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bellcrank.errors import ModelError, UnknownName
from bellcrank.mechanism import Mechanism
from bellcrank.verify.slider_crank_impact import slider_crank_with_block
from impacts.models import G, ball

IMPACT = 2.856685118125
START = {"main bearing": (math.pi / 6.0, 1.0)}
NOTES = {
    0.1: (9.9e-2, 3.5e-3, 2.1e-3, 1.2e-3, 7.9e-4),
    0.01: (9.9e-3, 2.3e-5, 3.1e-6, 3.8e-7, 5.6e-8),
    0.001: (9.9e-4, 2.3e-7, 3.4e-9, 4.5e-11, 7.3e-13),
}
"""Largest errors over 40 positions of the checks: naive, then m = 2 to 5."""


@pytest.fixture(scope="module")
def mechanism() -> Mechanism:
    return slider_crank_with_block().mechanism(initial=START)


def worst_error(mechanism: Mechanism, step: float, size: int, positions: int) -> float:
    """Of the impact time over positions of the impact between two checks."""
    found = []
    checks = round(IMPACT / step)
    for k in range(positions):
        h = IMPACT / (checks - (k + 0.5) / positions)
        result = mechanism.simulate(
            IMPACT + 1.5 * h,
            tolerance=1e-12,
            integrator="dop853",
            impacts="queue",
            queue_size=size,
            max_step=h,
            output=1,
        )
        found.append(abs(result.impacts[0].time - IMPACT))
    return max(found)


@pytest.mark.parametrize("step", [0.1, 0.01])
def test_table_of_the_notes(mechanism: Mechanism, step: float) -> None:
    for size, printed in zip((1, 2, 3, 4, 5), NOTES[step], strict=True):
        assert 0.3 * printed < worst_error(mechanism, step, size, 10) < 1.7 * printed


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_order_is_the_size_of_the_queue(mechanism: Mechanism, size: int) -> None:
    """The order between two steps nears m as they shrink, by the next term of the error: that is taken off."""
    errors = np.array([worst_error(mechanism, h, size, 5) for h in (0.02, 0.01, 0.005)])
    first, second = np.log2(errors[:-1] / errors[1:])
    assert 2.0 * second - first == pytest.approx(size, abs=0.08)


def test_evaluations_grow_as_in_table_3(mechanism: Mechanism) -> None:
    """Paper: CPU 1 / 1.22 / 2.57 / 3.88 / 15.6 over max steps 0.1 to 0.001; notes: evaluations 1 ... 13.95."""
    counts = {}
    for h in (0.1, 0.05, 0.01, 0.005, 0.001):
        queue = mechanism.simulate(
            5.0, tolerance=1e-6, integrator="dormand_prince5", impacts="queue", max_step=h
        )
        plain = mechanism.simulate(5.0, tolerance=1e-6, integrator="dormand_prince5", max_step=h)
        counts[h] = queue.run.evaluations
        assert queue.run.evaluations - plain.run.evaluations < 60
    ratios = [counts[h] / counts[0.1] for h in counts]
    assert ratios == sorted(ratios)
    assert 10.0 < ratios[-1] < 120.0


def test_outputs_after_the_impact_are_computed_anew(mechanism: Mechanism) -> None:
    """No output between impact and check shows the overlap."""
    times = np.linspace(0.0, 3.0, 3001)
    queue = mechanism.simulate(
        3.0, tolerance=1e-10, impacts="queue", queue_size=5, max_step=0.1, output=times
    )
    dense = mechanism.simulate(3.0, tolerance=1e-10, output=times)
    assert np.array_equal(queue.time, times)
    assert queue["bump.gap"].min() > -2e-3
    far = np.abs(times - IMPACT) > 2e-3
    assert np.abs(queue["slider.velocity.x"] - dense["slider.velocity.x"])[far].max() < 2e-2


def test_bouncing_to_rest_with_queues() -> None:
    """Flights shorter than a check interval are found on the dense output."""
    result = ball(0.8).simulate(
        6.0, impacts="queue", queue_size=4, max_step=0.01, tolerance=1e-10, integrator="dop853"
    )
    end = math.sqrt(1.6 / G) * 9.0
    assert result.contact_changes[0].time == pytest.approx(end, rel=1e-6)
    assert result["ball.position.z"][-1] == pytest.approx(0.2, abs=1e-9)


def test_options_are_checked() -> None:
    with pytest.raises(ModelError, match="max_step"):
        ball(0.8).simulate(1.0, impacts="queue")
    with pytest.raises(ModelError, match="queue_size"):
        ball(0.8).simulate(1.0, impacts="queue", max_step=0.1, queue_size=0)
    with pytest.raises(UnknownName, match="dense"):
        ball(0.8).simulate(1.0, impacts="quick")
