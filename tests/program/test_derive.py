"""Derivatives against the complex step, closed forms and each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from bellcrank.program.derive import directional, jacobian, jvp_program
from bellcrank.program.evaluate import RULES, evaluate
from bellcrank.program.functions import atan2, cos, gather, interval, maximum, minimum, sin, sqrt, where
from bellcrank.program.graph import Graph
from bellcrank.program.program import Program
from bellcrank.program.tables import linear_table, smooth_table
from bellcrank.program.trace import OPS, Expr, function, power
from program.samples import N_IN, chain, close, programs, states


def complex_step(program, x, direction):
    """Im f(x + ih d) / h: exact to rounding where f is analytic (Squire and Trapp 1998)."""
    h = 1e-200
    known = {e.id: complex(v, h * d) for e, v, d in zip(program.inputs, x, direction, strict=True)}
    for node in program.operations:
        known[node.id] = RULES[node.op](*[known[a.id] if isinstance(a, Expr) else a for a in node.args])
    return np.array([known[o.id].imag / h if isinstance(o, Expr) else 0.0 for o in program.outputs])


def slope(make, at):
    """The value and derivative of a function of one traced number."""
    graph = Graph()
    x = graph.input("x")
    y = make(x)
    return evaluate(Program.of([x], [y, *directional([y], {x.id: 1.0})]), [at])


@settings(max_examples=30, deadline=None)
@given(programs(smooth=True), states)
def test_against_complex_step(program, rows):
    moved = jvp_program(program)
    for k, x in enumerate(rows):
        direction = np.cos(np.arange(N_IN) + k)
        found = evaluate(moved, [*x, *direction])
        n = len(program.outputs)
        np.testing.assert_array_equal(found[:n], evaluate(program, x))
        close(found[n:], complex_step(program, x, direction))


@settings(max_examples=30, deadline=None)
@given(programs(), states)
def test_jacobian_times_direction_is_directional(program, rows):
    rows = np.array(rows)
    direction = np.array([0.5, -1.25, 2.0, 0.75, -0.5])
    columns = jacobian(program.outputs, program.inputs)
    flat = [(i, j, v) for i, row in enumerate(columns) for j, v in row.items()]
    values = evaluate(Program.of(program.inputs, [v for _, _, v in flat]), rows.T)
    product = np.zeros((len(columns), len(rows)))
    for (i, j, _), value in zip(flat, values, strict=True):
        product[i] += value * direction[j]
    seeds = {e.id: d for e, d in zip(program.inputs, direction.tolist(), strict=True)}
    along = directional(program.outputs, seeds)
    close(product, evaluate(Program.of(program.inputs, along), rows.T), 1e-8)


@pytest.mark.parametrize(
    ("make", "at", "expected"),
    [
        (lambda x: sqrt(x), 4.0, 0.25),
        (lambda x: 1.0 / x, 4.0, -1.0 / 16.0),
        (lambda x: x / (x + 1.0), 3.0, 1.0 / 16.0),
        (lambda x: function("tan", x), 0.5, 1.0 / math.cos(0.5) ** 2),
        (lambda x: function("asin", x), 0.6, 1.25),
        (lambda x: function("acos", x), 0.6, -1.25),
        (lambda x: function("sinh", x), 0.7, math.cosh(0.7)),
        (lambda x: function("cosh", x), 0.7, math.sinh(0.7)),
        (lambda x: function("tanh", x), 0.7, 1.0 / math.cosh(0.7) ** 2),
        (lambda x: function("exp", x), 0.7, math.exp(0.7)),
        (lambda x: function("log", x), 0.7, 1.0 / 0.7),
        (lambda x: power(x, 2.5), 1.7, 2.5 * 1.7**1.5),
        (lambda x: power(2.0, x), 1.7, math.log(2.0) * 2.0**1.7),
        (lambda x: power(x, x), 1.7, 1.7**1.7 * (math.log(1.7) + 1.0)),
        (lambda x: power(x, -3), 2.0, -3.0 / 16.0),
        (lambda x: power(x, x + 1.0), 0.0, 1.0),
        (lambda x: atan2(x, 2.0), 1.0, 2.0 / 5.0),
        (lambda x: atan2(2.0, x), 1.0, -2.0 / 5.0),
        (lambda x: atan2(sin(x), cos(x)), 2.5, 1.0),
        (lambda x: abs(x), -2.0, -1.0),
        (lambda x: abs(x), 0.0, 0.0),
        (lambda x: function("floor", x) + x, 2.5, 1.0),
        (lambda x: minimum(x, x * x), 0.5, 1.0),
        (lambda x: minimum(x, x * x), -0.5, 1.0),
        (lambda x: minimum(x, x * x), 0.0, 1.0),
        (lambda x: maximum(x, x * x), 0.5, 1.0),
        (lambda x: maximum(x, x * x), 3.0, 6.0),
        (lambda x: maximum(x, 2.0), 1.0, 0.0),
        (lambda x: maximum(3.0 * x, 2.0), 1.0, 3.0),
        (lambda x: where(x < 1.0, x * x, 5.0 * x), 0.5, 1.0),
        (lambda x: where(x < 1.0, x * x, 5.0 * x), 2.0, 5.0),
        (lambda x: x * gather(interval(x, [0.0, 1.0, 2.0]), [3.0, 4.0]), 1.5, 4.0),
        (lambda x: linear_table([0.0, 1.0, 3.0], [0.0, 2.0, 3.0])(x), 2.0, 0.5),
        (lambda x: linear_table([0.0, 1.0, 3.0], [0.0, 2.0, 3.0])(x), 4.0, 0.0),
        (lambda x: smooth_table([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 8.0, 27.0])(x), 1.25, 3.0 * 1.25**2),
    ],
)
def test_closed_forms(make, at, expected):
    assert slope(make, at)[1] == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_square_root_at_zero_is_steep():
    assert slope(sqrt, 0.0)[1] == math.inf


def test_every_operation_has_a_derivative():
    from bellcrank.program.derive import _RULES, PIECEWISE_CONSTANT

    assert set(OPS) == {*_RULES, *PIECEWISE_CONSTANT, "input"}
    assert not PIECEWISE_CONSTANT & set(_RULES)


def test_structural_zeros_are_left_out():
    graph = Graph()
    x = [graph.input(f"x{k}") for k in range(4)]
    rows = jacobian([x[0] * x[1], x[2] + 1.0, 7.0, x[3] * 2.0 - function("floor", x[0])], x)
    assert [sorted(row) for row in rows] == [[0, 1], [2], [], [3]]
    assert rows[1][2] == 1.0
    assert rows[3][3] == 2.0


def test_computed_node_as_independent_variable():
    graph = Graph()
    x = graph.input("x")
    s = sin(x)
    (rate,) = directional([s * s + x], {s.id: 1.0})
    assert evaluate(Program.of([x], [rate]), [0.4])[0] == pytest.approx(2.0 * math.sin(0.4))
    ((row),) = jacobian([s * s + x], [s])
    assert evaluate(Program.of([x], [row[0]]), [0.4])[0] == pytest.approx(2.0 * math.sin(0.4))


def test_second_derivatives_by_repetition():
    graph = Graph()
    x = graph.input("x")
    twice = jvp_program(jvp_program(Program.of([x], [sin(x) * x])))
    assert len({e.args[0] for e in twice.inputs}) == 4
    found = evaluate(twice, [0.4, 1.0, 1.0, 0.0])
    assert found[3] == pytest.approx(2.0 * math.cos(0.4) - 0.4 * math.sin(0.4), rel=1e-14)


def test_jacobian_of_a_chain_costs_little_more_than_its_columns():
    program = chain(10)
    columns = jacobian(program.outputs, program.inputs)
    n = len(program.inputs)
    whole = Program.of(program.inputs, [*program.outputs, *(v for row in columns for v in row.values())])
    assert len(whole.operations) < 3.0 * n * len(program.operations)
    rng = np.random.default_rng(5)
    x = rng.uniform(-0.5, 0.5, n)
    k = 3
    found = evaluate(Program.of(program.inputs, [row.get(k, 0.0) for row in columns]), x)
    np.testing.assert_allclose(found, complex_step(program, x, np.eye(n)[k]), rtol=1e-11, atol=1e-11)
