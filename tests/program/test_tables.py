"""Tables against NumPy and SciPy, as constants and compiled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator

from bellcrank.program.derive import jacobian
from bellcrank.program.evaluate import evaluate
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import compile_program
from bellcrank.program.program import Program
from bellcrank.program.tables import linear_table, smooth_table, table_and_integral

X = np.array([-1.0, 0.0, 0.5, 2.0, 2.5, 4.0])
Y = np.array([1.0, 3.0, 2.0, 2.0, -1.0, 0.5])
INSIDE = np.concatenate([X, np.linspace(-1.0, 4.0, 101)])
OUTSIDE = np.array([-3.0, -1.5, 4.25, 9.0])


def both_ways(table, points):
    """The values from constant folding and from machine code, which must agree."""
    graph = Graph()
    x = graph.input("x")
    compiled = compile_program(Program.of([x], [table(x)])).many(points[:, None])[:, 0]
    folded = np.array([table(float(p)) for p in points])
    np.testing.assert_allclose(compiled, folded, rtol=1e-14, atol=1e-14)
    return compiled


def test_linear():
    np.testing.assert_allclose(both_ways(linear_table(X, Y), INSIDE), np.interp(INSIDE, X, Y), atol=1e-14)
    np.testing.assert_allclose(both_ways(linear_table(X, Y), OUTSIDE), [1.0, 1.0, 0.5, 0.5], atol=1e-14)
    steep = both_ways(linear_table(X, Y, extrapolate="linear"), OUTSIDE)
    np.testing.assert_allclose(steep, [-3.0, 0.0, 0.75, 5.5], atol=1e-14)


@pytest.mark.parametrize("ends", ["not-a-knot", "natural"])
def test_spline(ends):
    spline = CubicSpline(X, Y, bc_type=ends)
    table = smooth_table(X, Y, ends=ends)
    np.testing.assert_allclose(both_ways(table, INSIDE), spline(INSIDE), atol=1e-13)
    np.testing.assert_allclose(both_ways(table, OUTSIDE), [1.0, 1.0, 0.5, 0.5], atol=1e-13)
    straight = smooth_table(X, Y, ends=ends, extrapolate="linear")
    near = np.where(OUTSIDE < 0.0, X[0], X[-1])
    expected = spline(near) + spline(near, 1) * (OUTSIDE - near)
    np.testing.assert_allclose(both_ways(straight, OUTSIDE), expected, atol=1e-12)
    np.testing.assert_allclose(both_ways(straight, INSIDE), spline(INSIDE), atol=1e-13)


def test_monotone():
    rising = np.array([0.0, 0.0, 1.0, 1.0, 5.0, 5.1])
    found = both_ways(smooth_table(X, rising, monotone=True), INSIDE)
    np.testing.assert_allclose(found, PchipInterpolator(X, rising)(INSIDE), atol=1e-13)
    assert (np.diff(found[len(X) :]) >= -1e-14).all()


@pytest.mark.parametrize("make", [linear_table, smooth_table])
def test_two_points_make_a_line(make):
    found = both_ways(make([0.0, 2.0], [1.0, 5.0]), np.array([-1.0, 0.0, 0.5, 2.0, 3.0]))
    np.testing.assert_allclose(found, [1.0, 1.0, 2.0, 5.0, 5.0], atol=1e-14)


def test_nan_stays():
    assert np.isnan(both_ways(linear_table(X, Y), np.array([np.nan]))).all()
    assert np.isnan(both_ways(smooth_table(X, Y, extrapolate="linear"), np.array([np.nan]))).all()


def test_numpy_interp_is_traced():
    graph = Graph()
    x = graph.input("x")
    found = compile_program(Program.of([x], [np.interp(x, X, Y)])).many(INSIDE[:, None])[:, 0]
    np.testing.assert_allclose(found, np.interp(INSIDE, X, Y), atol=1e-14)


@pytest.mark.parametrize("make", [linear_table, smooth_table])
@pytest.mark.parametrize(
    ("xs", "ys", "message"),
    [
        ([0.0, 2.0, 1.0], [0.0, 0.0, 0.0], "number 2 .1. follows 2"),
        ([0.0, 1.0, 1.0], [0.0, 0.0, 0.0], "must increase"),
        ([0.0, np.nan], [0.0, 1.0], "points of a table must be finite; number 1"),
        ([0.0, 1.0], [np.inf, 1.0], "values of a table must be finite; number 0"),
        ([0.0, 1.0], [1.0], "2 points, 1 values"),
        ([0.0], [1.0], "at least two"),
        ([[0.0, 1.0]], [[0.0, 1.0]], "rows of numbers"),
    ],
)
def test_bad_data(make, xs, ys, message):
    with pytest.raises(ValueError, match=message):
        make(xs, ys)


def test_bad_options():
    with pytest.raises(ValueError, match="'constant' or 'linear', not 'cubic'"):
        linear_table(X, Y, extrapolate="cubic")
    with pytest.raises(ValueError, match="not 'clamped'"):
        smooth_table(X, Y, ends="clamped")


def test_the_slope_of_an_integral_is_its_table_at_the_ends_too() -> None:
    table, integral = table_and_integral([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    graph = Graph()
    x = graph.input("x")
    outputs = [jacobian([f(x)], [x])[0][0] for f in (integral, table)] + [table(x)]
    program = Program.of([x], outputs)
    for at in (-0.5, 0.0, 0.5, 1.0, 2.0, 2.5):
        slope, bend, value = evaluate(program, np.array([at]))
        assert slope == pytest.approx(value, rel=1e-12)
        assert bend == pytest.approx(1.0)
