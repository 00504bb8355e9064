"""Multipliers from every formulation against those of the full multiplier system."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.formulations import lagrange
from bellcrank.mechanism import Formulation, analyse
from bellcrank.program.evaluate import evaluate
from bellcrank.program.program import Program
from bellcrank.verify.full_car import full_car_system
from reference.mechanisms import mechanism


def _full_system(found: object, x: np.ndarray) -> np.ndarray:
    traced = found.traced(Formulation.LAGRANGE)  # type: ignore[attr-defined]
    eq = traced.equations
    solved = lagrange.solution(eq)[1]
    count = len(eq.loops.equations)
    return evaluate(Program.of(eq.inputs, [solved.get(e, 0.0) for e in range(count)]), x)


@pytest.mark.parametrize(
    "family", ["platform", "suspension", "bennett", "nested planar loops", "coupled", "driven"]
)
@pytest.mark.parametrize(
    "formulation", [Formulation.INDEPENDENT, Formulation.RECURSIVE, Formulation.PARTITIONING]
)
def test_multipliers_follow_from_accelerations(family: str, formulation: Formulation) -> None:
    found = analyse(mechanism(family, 3))
    x = found.kernel_input().copy()
    n = len(found.partition.independent)
    place = slice(1 + found.linkage.positions, 1 + found.linkage.positions + n)
    x[place] = np.random.default_rng(4).standard_normal(n)
    expected = _full_system(found, x)
    values = evaluate(found.traced(formulation).multipliers, x)
    np.testing.assert_allclose(values, expected, atol=1e-9 * max(1.0, np.abs(expected).max()))


def test_a_wheel_loop_driven_by_the_rack() -> None:
    found = analyse(full_car_system())
    x = found.kernel_input()
    expected = _full_system(found, x)
    values = evaluate(found.traced(Formulation.INDEPENDENT).multipliers, x)
    np.testing.assert_allclose(values, expected, atol=1e-9 * np.abs(expected).max())
