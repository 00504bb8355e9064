"""Order conditions and transformations that the tables must satisfy."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

import numpy as np
import pytest

from bellcrank.integrate import dop853, dormand_prince5, radau, runge_kutta4, runge_kutta5
from integrate.trees import density, symmetry, trees, weights

TABLES = [dop853.TABLE, dormand_prince5.TABLE, runge_kutta5.TABLE, runge_kutta4.TABLE]
FIFTH = [dormand_prince5.TABLE, runge_kutta5.TABLE]


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.name)
def test_quadrature_conditions(table):
    for k in range(table.order):
        assert table.b @ table.c**k == pytest.approx(1 / (k + 1), abs=1e-14)


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.name)
def test_nodes_are_row_sums(table):
    assert table.a.sum(axis=1) == pytest.approx(table.c, abs=1e-13)
    if len(table.extra_c):
        assert table.extra_a.sum(axis=1) == pytest.approx(table.extra_c, abs=1e-13)


def test_the_trees_are_as_many_as_there_are():
    """Cayley's numbers, and n! = sum over the trees of n nodes of n! / (density symmetry) times its own labellings."""
    assert [len(trees(order)) for order in range(1, 9)] == [1, 1, 2, 4, 9, 20, 48, 115]
    # The exact solution of y' = y has the derivative 1 at every order; labelled trees: (n - 1)! of them.
    for order in range(1, 9):
        labelled = sum(Fraction(factorial(order), density(t) * symmetry(t)) for t in trees(order))
        assert labelled == factorial(order - 1)


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.name)
def test_every_order_condition_holds_up_to_the_order_and_not_beyond(table):
    def residuals(order):
        return [table.b @ weights(tree, table.a) - 1 / density(tree) for tree in trees(order)]

    for order in range(1, table.order + 1):
        assert residuals(order) == pytest.approx(np.zeros(len(trees(order))), abs=1e-14)
    assert np.abs(residuals(table.order + 1)).max() > 1e-7


def _with_the_end(table):
    """The stages and, as one more, the rates at the end."""
    s = len(table.b)
    a = np.zeros((s + 1, s + 1))
    a[:s, :s], a[s, :s] = table.a, table.b
    return a


@pytest.mark.parametrize("table", FIFTH, ids=lambda t: t.name)
def test_the_error_estimate_is_of_order_four(table):
    a = _with_the_end(table)
    for order in range(1, 5):
        for tree in trees(order):
            assert table.errors[0] @ weights(tree, a) == pytest.approx(0, abs=1e-14)
    assert max(abs(table.errors[0] @ weights(tree, a)) for tree in trees(5)) > 1e-4


@pytest.mark.parametrize("table", FIFTH, ids=lambda t: t.name)
@pytest.mark.parametrize("theta", [0.2, 0.5, 0.9])
def test_the_dense_output_is_of_order_four(table, theta):
    """b(theta) from the cubic of Hermite and the row of the table, as the loop builds it."""
    a, s = _with_the_end(table), len(table.b)
    b = (3 - 2 * theta) * theta**2 * np.append(table.b, 0.0)
    b[0] += theta * (1 - theta) ** 2
    b[s] -= theta**2 * (1 - theta)
    b += theta**2 * (1 - theta) ** 2 * table.dense[0]
    for order in range(1, 5):
        for tree in trees(order):
            assert b @ weights(tree, a) == pytest.approx(theta**order / density(tree), abs=1e-14)


def test_the_method_for_damped_mechanisms_is_what_it_is_said_to_be():
    """Its polynomial, the norm of its errors of order six, and those of the method it is compared with."""

    def error(table):
        off = [(table.b @ weights(t, table.a) - 1 / density(t)) / symmetry(t) for t in trees(6)]
        return np.linalg.norm(off)

    table = runge_kutta5.TABLE
    power, coefficients = np.ones(7), []
    for k in range(1, 8):
        coefficients.append(factorial(k) * table.b @ power)
        power = table.a @ power
    assert coefficients == pytest.approx([1, 1, 1, 1, 1, 1, 0.57], abs=1e-12)
    assert error(table) == pytest.approx(4.04e-5, rel=1e-2)
    assert error(dormand_prince5.TABLE) == pytest.approx(3.99e-4, rel=1e-2)


@pytest.mark.parametrize("table", [dop853.TABLE, *FIFTH], ids=lambda t: t.name)
def test_error_weights_vanish_on_low_degrees(table):
    nodes = np.append(table.c, 1.0)
    for row in table.errors:
        assert row.sum() == pytest.approx(0, abs=1e-14)
        assert row @ nodes == pytest.approx(0, abs=1e-14)


def test_radau_transformation_splits_the_inverse_of_its_matrix():
    r = np.sqrt(6)
    a = np.array(
        [
            [(88 - 7 * r) / 360, (296 - 169 * r) / 1800, (-2 + 3 * r) / 225],
            [(296 + 169 * r) / 1800, (88 + 7 * r) / 360, (-2 - 3 * r) / 225],
            [(16 - r) / 36, (16 + r) / 36, 1 / 9],
        ]
    )
    t = np.array([[radau.T11, radau.T12, radau.T13], [radau.T21, radau.T22, radau.T23], [1, 1, 0]])
    inverse = np.array(
        [
            [radau.I11, radau.I12, radau.I13],
            [radau.I21, radau.I22, radau.I23],
            [radau.I31, radau.I32, radau.I33],
        ]
    )
    assert inverse @ t == pytest.approx(np.eye(3), abs=1e-14)
    blocks = inverse @ np.linalg.inv(a) @ t
    expected = [[radau.GAMMA, 0, 0], [0, radau.ALPHA, radau.BETA], [0, -radau.BETA, radau.ALPHA]]
    assert blocks == pytest.approx(np.array(expected), abs=1e-12)


@pytest.mark.parametrize("shift", [0.5, 1.5])
def test_halving_formulas_are_exact_to_degree_six(shift):
    states = {0.5: (80, 135, 40, 1), 1.5: (12, 135, 108, 1)}[shift]
    slopes = {0.5: (-15, 90, 15), 1.5: (-3, -54, 27)}[shift]
    for k in range(7):
        past = sum(w * float(-j) ** k for j, w in enumerate(states))
        rate = sum(w * (k * float(-j) ** (k - 1) if k else 0.0) for j, w in enumerate(slopes))
        assert (past + rate) / 256 == pytest.approx((-shift) ** k, abs=1e-12)


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.name)
def test_the_stability_region_ends_where_it_is_said_to(table):
    """R(z) = 1 + z b (1 - z A)^-1 1 leaves the unit disc there on the negative real axis, and nowhere before."""

    def growth(z):
        s = len(table.b)
        return abs(1.0 + z * table.b @ np.linalg.solve(np.eye(s) - z * table.a, np.ones(s)))

    assert growth(-0.995 * table.stability) < 1.0 < growth(-1.005 * table.stability)
    assert all(growth(-x) < 1.0 for x in np.linspace(0.01, 0.995, 50) * table.stability)
    directions = np.exp(1j * np.radians([95, 100, 120, 135, 160]))
    assert all(growth(0.97 * table.reach * x) < 1.0 for x in directions)
    assert any(growth(1.1 * table.reach * x) > 1.0 for x in directions)


def test_the_modifiers_make_the_method_of_hamming_exact_for_degree_five():
    """Without them it is exact for degree 4: Hamming, J. ACM 6 (1959) 37-47, in rational numbers."""

    def steps(degree, modified):
        def y(t):
            return Fraction(t) ** degree

        def f(t):
            return degree * Fraction(t) ** (degree - 1) if degree else Fraction(0)

        # The gap of the step before is that of this one: for degree 5 it is a constant.
        predicted = y(-3) + Fraction(4, 3) * (2 * f(0) - f(-1) + 2 * f(-2))
        corrected = (9 * y(0) - y(-2)) / 8 + Fraction(3, 8) * (f(1) + 2 * f(0) - f(-1))
        gap = predicted - corrected
        if not modified:
            return predicted - y(1), corrected - y(1)
        return predicted - Fraction(112, 121) * gap - y(1), corrected + Fraction(9, 121) * gap - y(1)

    for degree in range(5):
        assert steps(degree, False) == steps(degree, True) == (0, 0)
    fifth = 120
    assert steps(5, False) == (-Fraction(112, 360) * fifth, Fraction(9, 360) * fifth)
    assert steps(5, True) == (0, 0)
    assert all(steps(6, True))
