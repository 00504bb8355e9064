"""Natural frequencies of beams against closed forms, with the order in which they are approached."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from bellcrank.flexible import (
    Chord,
    Clamped,
    MassModel,
    Material,
    MeanAxes,
    NormalModes,
    Theory,
    beam,
    circle,
    rectangle,
)

STEEL = Material(200e9, density=7830.0, poisson=0.3)
L, D = 0.3048, 0.0064
ROD = circle(D)
SPEED = np.sqrt(STEEL.young * ROD.bending_z / (STEEL.density * ROD.area))


def roots(function, count):
    """The first positive roots of a characteristic equation in beta L."""
    grid = np.linspace(0.5, 4.0 * count + 2, 4000)
    values = function(grid)
    found = [
        brentq(function, a, b, xtol=1e-14)
        for a, b, fa, fb in zip(grid[:-1], grid[1:], values[:-1], values[1:], strict=True)
        if fa * fb < 0
    ]
    return np.array(found[:count])


def bending(beta_l):
    return beta_l**2 * SPEED / L**2 / (2 * np.pi)


CASES = {
    "clamped": (Clamped("start"), roots(lambda b: np.cos(b) + 1 / np.cosh(b), 3)),
    "pinned": (Chord("start", "end"), np.pi * np.arange(1, 4)),
    "free": (MeanAxes(), roots(lambda b: np.cos(b) - 1 / np.cosh(b), 3)),
}


def rod(elements, **options):
    return beam("rod", L, ROD, STEEL, elements, planar=True, **options)


@pytest.mark.parametrize("case", CASES)
def test_euler_bernoulli_frequencies_converge_with_the_fourth_order(case):
    frame, beta_l = CASES[case]
    exact = bending(beta_l)
    errors = np.array(
        [rod(n).reduce(NormalModes(along={"y": 3}), frame).frequencies / exact - 1 for n in (8, 16, 32)]
    )
    assert (errors > 0).all(), "consistent mass converges from above"
    orders = np.log2(errors[:-1] / errors[1:])
    np.testing.assert_allclose(orders[-1], 4.0, atol=0.1)
    assert errors[-1].max() < 1e-4


def test_axial_frequencies_converge_with_the_second_order():
    exact = STEEL.bar_wave_speed / (4 * L)
    errors = np.array(
        [
            rod(n).reduce(NormalModes(along={"x": 1}), Clamped("start")).frequencies[0] / exact - 1
            for n in (5, 10, 20)
        ]
    )
    np.testing.assert_allclose(np.log2(errors[:-1] / errors[1:]), 2.0, atol=0.02)


def test_torsional_frequency_of_a_round_bar():
    exact = np.sqrt(STEEL.shear / STEEL.density) / (4 * L)
    member = beam("bar", L, ROD, STEEL, 40).reduce(NormalModes(along={"turn": 1}), Clamped("start"))
    np.testing.assert_allclose(member.frequencies, exact, rtol=1e-4)


def test_the_rod_of_the_slider_crank():
    """Numbers of the connecting rod of Ahn, Lee (1994): 30.48 cm, 0.64 cm, 7830 kg/m3, 200 GPa."""
    model = rod(40)
    member = model.reduce(NormalModes(along={"y": 3, "x": 1}), Chord("start", "end"))
    assert model.mass == pytest.approx(0.076776, rel=1e-5)
    assert STEEL.young * ROD.bending_z == pytest.approx(16.4710, rel=1e-5)
    assert STEEL.young * ROD.area == pytest.approx(6.43398e6, rel=1e-6)
    np.testing.assert_allclose(member.frequencies, [136.724, 546.895, 1230.51, 4145.33], rtol=1e-4)


def test_lumped_mass_converges_from_below_and_slower():
    exact = bending(np.pi)
    errors = np.array(
        [
            rod(n, mass=MassModel.LUMPED).reduce(NormalModes(count=1), Chord("start", "end")).frequencies[0]
            / exact
            - 1
            for n in (2, 4, 8)
        ]
    )
    assert (errors < 0).all()
    assert errors[0] == pytest.approx(np.sqrt(96) / np.pi**2 - 1, rel=1e-9), "one mass m/2 on 48 EI / L^3"


def test_lumped_axial_frequency_of_one_element():
    member = rod(1, mass="lumped").reduce(NormalModes(along={"x": 1}), Clamped("start"))
    k, m = STEEL.young * ROD.area / L, member.mass / 2
    np.testing.assert_allclose(member.frequencies, np.sqrt(k / m) / (2 * np.pi), rtol=1e-12)


def test_timoshenko_pinned_frequencies_converge_with_the_second_order():
    """Closed form for the simply supported Timoshenko beam with rotary inertia: a quadratic in omega^2."""
    section = rectangle(0.04, 0.03)
    k = np.pi * np.arange(1, 4) / L
    r2 = section.bending_z / section.area
    c2, s2 = STEEL.young / STEEL.density, section.shear_y * STEEL.shear / STEEL.density
    # w^4 - w^2 (s2/r2 + k^2 (c2 + s2)) + c2 s2 k^4 = 0
    b = s2 / r2 + k**2 * (c2 + s2)
    exact = np.sqrt((b - np.sqrt(b * b - 4 * c2 * s2 * k**4)) / 2) / (2 * np.pi)
    errors = []
    for n in (20, 40, 80):
        model = beam("thick", L, section, STEEL, n, theory=Theory.TIMOSHENKO, planar=True)
        member = model.reduce(NormalModes(along={"y": 3}), Chord("start", "end"))
        errors.append(member.frequencies / exact - 1)
    orders = np.log2(np.array(errors)[:-1] / np.array(errors)[1:])
    np.testing.assert_allclose(orders, 2.0, atol=0.1)
    assert errors[-1].max() < 2e-4


def test_rotary_inertia_of_a_pinned_euler_bernoulli_beam():
    member = rod(30, rotary_inertia=True).reduce(NormalModes(along={"y": 2}), Chord("start", "end"))
    k = np.pi * np.arange(1, 3) / L
    r2 = ROD.bending_z / ROD.area
    np.testing.assert_allclose(member.frequencies, bending(k * L) / np.sqrt(1 + r2 * k**2), rtol=1e-5)


def test_timoshenko_element_is_exact_in_statics_and_does_not_lock():
    for height in (0.1, 1e-3):
        section = rectangle(height, 0.02)
        model = beam("b", 1.0, section, STEEL, 1, theory="timoshenko", planar=True)
        from bellcrank.flexible.held import Held

        frame = Clamped("start")
        held = Held(model, frame.conditions(model), "start")
        load = model.place("end").translation.toarray()[1]
        exact = 1 / (3 * STEEL.young * section.bending_z) + 1 / (section.shear_y * STEEL.shear * section.area)
        assert load @ held.solve(load) == pytest.approx(exact, rel=1e-9)


def test_tapered_cantilever_wedge():
    """A wedge sharp at its tip: omega = 5.315 sqrt(E h^2 / (12 rho)) / L^2 (Kirchhoff 1879)."""
    length, h = 1.0, 0.02

    def section(x):
        return rectangle(max(h * (1 - x / length), 1e-7), 0.03)

    member = beam("wedge", length, section, STEEL, 40, planar=True, check_units=False).reduce(
        NormalModes(along={"y": 1}), Clamped("start")
    )
    w = 5.315 * np.sqrt(STEEL.young / (12 * STEEL.density)) * h / length**2
    assert member.frequencies[0] * 2 * np.pi == pytest.approx(w, rel=2e-4)
