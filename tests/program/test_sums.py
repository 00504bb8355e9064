"""Sums of products: one instruction a product, and the numbers of what was traced."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bellcrank.program.evaluate import evaluate
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import compile_program
from bellcrank.program.program import Program
from bellcrank.program.schedule import schedule


def steps_of(outputs, inputs):
    return [s.op for s in schedule(Program.of(inputs, outputs)).single()]


def traced(count):
    graph = Graph()
    return [graph.input(f"x{k}") for k in range(count)]


def test_a_scalar_product_taken_off_costs_its_products():
    y, *x = traced(7)
    dot = x[0] * x[1] + x[2] * x[3] + x[4] * x[5]
    assert steps_of([y - dot], [y, *x]) == ["fnma"] * 3
    assert steps_of([dot - y], [y, *x]) == ["fms", "fma", "fma"]
    assert steps_of([-dot - (-y)], [y, *x]) == ["fnma"] * 3
    assert steps_of([1.5 - dot], [y, *x]) == ["fnma"] * 3


def test_what_is_used_twice_is_made_once():
    y, *x = traced(7)
    dot = x[0] * x[1] + x[2] * x[3] + x[4] * x[5]
    assert sorted(steps_of([y - dot, dot * y], [y, *x])) == ["fma", "fma", "mul", "mul", "sub"]


def test_what_is_late_comes_last():
    """A recursion waits for one instruction a turn, however many products are known before."""
    *x, late = inputs = traced(13)
    for k in range(3):
        a, b, c, d = x[4 * k : 4 * k + 4]
        late = d - (late * a + b * c + a * b + c * c)
    depth: dict[int, int] = {}
    for step in schedule(Program.of(inputs, [late])).single():
        depth[step.outs[0]] = 1 + max(depth.get(v, 0) for v in step.reads())
    assert max(depth.values()) == 4 + 2


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_numbers_are_those_of_the_trace(data):
    """Any nest of sums, differences and products of a few inputs, some of it shared."""
    x = traced(5)
    values = [*x, 0.75, -2.0]
    for _ in range(data.draw(st.integers(3, 25))):
        a, b = (values[data.draw(st.integers(0, len(values) - 1))] for _ in range(2))
        values.append(
            {
                "+": lambda a=a, b=b: a + b,
                "-": lambda a=a, b=b: a - b,
                "*": lambda a=a, b=b: a * b,
                "n": lambda a=a: -a,
            }[data.draw(st.sampled_from("+-*n"))]()
        )
    program = Program.of(x, values[-4:])
    X = np.random.default_rng(5).uniform(0.5, 1.0, size=(5, 4))
    found = compile_program(program).many(X.T)
    # Exact sums of magnitudes bound what roundings may do.
    exact = np.array(evaluate(program, X.astype(np.longdouble))).reshape(len(found.T), -1).T.astype(float)
    scale = max(1.0, float(np.abs(np.array(evaluate(Program.of(x, values[7:]), X))).max()))
    np.testing.assert_allclose(found, exact, rtol=0.0, atol=1e-14 * 25 * scale)
    assert np.array_equal(found[:4], compile_program(program, lanes=4).many(X.T))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_negated_sums_of_products(sign):
    a, b, c, d = x = traced(4)
    program = Program.of(x, [sign * -(a * b + c * d), sign * (-(a * b) - c * d), sign * (-a * b - 2.0)])
    values = np.array([1.5, -2.0, 0.25, 3.0])
    expected = [sign * 2.25, sign * 2.25, sign * 1.0]
    assert compile_program(program)(values) == pytest.approx(expected, rel=1e-15)
