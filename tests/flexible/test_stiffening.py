"""Second-order displacements: closed forms, rotating beams, and solids against beams."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from bellcrank.flexible import (
    Chord,
    Clamped,
    Material,
    MeanAxes,
    NormalModes,
    assumed_shapes,
    beam,
    circle,
    polynomial,
    rectangle,
    sine,
    solid,
)

STEEL = Material(200e9, density=7830.0, poisson=0.3)
L = 0.5


def centrifugal(member, speed):
    """Stiffness in axes that turn about z: K - Omega^2 int rho (s . s across z), to second order in the coordinates."""
    A, GG = member.shortening_coupling, member.modal_coupling
    across = A[..., 0, 0] + A[..., 1, 1] + GG[..., 0, 0] + GG[..., 1, 1]
    return member.stiffness - speed**2 * across


# Uniform cantilever without hub, flapping; frequencies over sqrt(EI / (m L^4)) for the rotation speed in the same unit.
# As quoted after Wright, Smith, Thresher, Wang, J. Appl. Mech. 49 (1982) 197; the print itself was not at hand, so the
# values are checked by `flapping`, a solution of its own.
WRIGHT = {
    0: (3.5160, 22.0345),
    1: (3.6816, 22.1810),
    2: (4.1373, 22.6149),
    3: (4.7973, 23.3203),
    4: (5.5850, 24.2733),
    5: (6.4495, 25.4461),
    6: (7.3604, 26.8091),
    8: (9.2568, 29.9954),
    10: (11.2023, 33.6404),
    12: (13.1702, 37.6031),
}


def flapping(speed, terms=14):
    """Ritz's method for int w_xx^2 + Omega^2 (1 - x^2) / 2 w_x^2 over int w^2, with x^2 times Legendre polynomials."""
    t, weight = np.polynomial.legendre.leggauss(40)
    x, weight = (t + 1) / 2, weight / 2
    square = np.polynomial.Polynomial([0, 0, 1])
    basis = [
        square * np.polynomial.Legendre.basis(k, domain=[0, 1]).convert(kind=np.polynomial.Polynomial)
        for k in range(terms)
    ]
    w, slope, bend = (np.array([p.deriv(d)(x) if d else p(x) for p in basis]) for d in (0, 1, 2))
    K = (bend * weight) @ bend.T + (slope * (weight * speed**2 * (1 - x**2) / 2)) @ slope.T
    return np.sqrt(eigh(K, (w * weight) @ w.T, eigvals_only=True)[:2])


@pytest.mark.parametrize("speed", WRIGHT)
def test_published_flapping_frequencies(speed):
    np.testing.assert_allclose(WRIGHT[speed], flapping(speed), rtol=2e-5)


@pytest.mark.parametrize("speed", WRIGHT)
def test_flapping_frequencies_of_a_rotating_cantilever(speed):
    section = circle(0.008)
    model = beam("blade", L, section, STEEL, 16)
    member = model.reduce(NormalModes(along={"z": 8}), Clamped("start"))
    unit = np.sqrt(STEEL.young * section.bending_y / (STEEL.density * section.area)) / L**2
    squares = np.linalg.eigvalsh(centrifugal(member, speed * unit))
    np.testing.assert_allclose(np.sqrt(squares[:2]) / unit, flapping(speed), rtol=1e-4)


def test_lead_lag_frequency_is_flapping_less_the_speed():
    """In-plane: omega_lag^2 = omega_flap^2 - Omega^2 for a round blade on a hub of no radius."""
    section = circle(0.008)
    model = beam("blade", L, section, STEEL, 16)
    unit = np.sqrt(STEEL.young * section.bending_y / (STEEL.density * section.area)) / L**2
    frame = Clamped("start")
    flap, lag = (model.reduce(NormalModes(along={axis: 5}), frame) for axis in ("z", "y"))
    a, b = (np.linalg.eigvalsh(centrifugal(m, 6 * unit)) / unit**2 for m in (flap, lag))
    np.testing.assert_allclose(b, a - 36, rtol=1e-6)


def test_the_end_of_a_sine_comes_nearer():
    """int v'^2 over a half wave of amplitude a is (a pi / L)^2 L / 2."""
    shapes = [sine("y", k, L) for k in (1, 2, 3)] + [sine("z", 1, L)]
    member = assumed_shapes("rod", L, circle(0.01), STEEL, shapes, points={"middle": L / 2})
    k = np.array([1, 2, 3, 1])
    np.testing.assert_allclose(
        member.node("end").shortening[0], -np.diag((k * np.pi / L) ** 2 * L / 2), atol=1e-9 * 1e3
    )
    a = np.array([0.01, 0, 0, 0])
    assert member.position("end", a)[0] == pytest.approx(L - (0.01 * np.pi) ** 2 / (4 * L), rel=1e-12)
    assert member.position("middle", a)[1] == pytest.approx(0.01)


def test_elements_draw_together_as_the_smooth_mode_does():
    errors = []
    exact = assumed_shapes("rod", L, circle(0.01), STEEL, [sine("y", 1, L), sine("y", 2, L)])
    scale = np.sqrt(2 / exact.mass)
    for elements in (4, 8, 16):
        model = beam("rod", L, circle(0.01), STEEL, elements, planar=True)
        member = model.reduce(NormalModes(along={"y": 2}), Chord("start", "end"))
        difference = member.shortening_coupling[..., 0, 0] - scale**2 * exact.shortening_coupling[..., 0, 0]
        errors.append(np.abs(difference).max())
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 3.8).all()


def test_foreshortening_in_mean_axes_has_no_momentum():
    model = beam("rod", L, circle(0.01), STEEL, 8, planar=True)
    member = model.reduce(NormalModes(along={"y": 3}), MeanAxes())
    assert np.abs(member.shortening_momentum).max() < 1e-9 * np.abs(member.node("end").shortening).max()
    gap = member.node("end").shortening[0] - member.node("start").shortening[0]
    assert (np.linalg.eigvalsh(gap) < 0).all()


@pytest.mark.parametrize("kind", ["hexahedra", "tetrahedra"])
def test_a_slender_solid_draws_together_like_a_beam(kind):
    skfem = pytest.importorskip("skfem")
    h, b = 0.02, 0.015
    grid = (np.linspace(0, L, 11), np.linspace(-h / 2, h / 2, 2), np.linspace(-b / 2, b / 2, 2))
    mesh = (skfem.MeshHex if kind == "hexahedra" else skfem.MeshTet).init_tensor(*grid)
    ends = {"start": lambda x: x[0] < 1e-9, "end": lambda x: x[0] > L - 1e-9}
    material = Material(200e9, density=7830.0, poisson=0.0)
    body = solid("bar", mesh, material, ends, order=2, rigid=("start",))
    chosen = NormalModes(along={"y": 1, "z": 1, "x": 1})
    member = body.reduce(chosen, Clamped("start"))
    line = beam("bar", L, rectangle(h, b, 0.0), material, 20, theory="timoshenko")
    reference = line.reduce(chosen, Clamped("start"))
    np.testing.assert_allclose(member.frequencies, reference.frequencies, rtol=3e-3)
    np.testing.assert_allclose(member.momentum, reference.momentum, atol=2e-3)
    for ours, theirs in (
        (member.node("end").shortening[0], reference.node("end").shortening[0]),
        (member.shortening_momentum[..., 0], reference.shortening_momentum[..., 0]),
        (member.shortening_coupling[..., 0, 0], reference.shortening_coupling[..., 0, 0]),
    ):
        np.testing.assert_allclose(ours, theirs, atol=4e-3 * np.abs(theirs).max())


def test_matrices_of_the_published_elastic_slider_crank():
    """Shape functions of Simeon's crank (IVP test set): two sines across, a quadratic along, b = h = 8 mm, 0.3 m."""
    length, side = 0.3, 0.008
    member = assumed_shapes(
        "rod",
        length,
        rectangle(side, side),
        Material(2e11, density=7870.0, poisson=0.3),
        [
            sine("y", 1, length),
            sine("y", 2, length),
            polynomial("x", (0, 4, -4), length),
            polynomial("x", (0, -1, 2), length),
        ],
    )
    m, EA, EI = member.mass, 2e11 * side**2, 2e11 * side**4 / 12
    assert m == pytest.approx(0.151104, rel=1e-12)
    assert member.inertia[2, 2] == pytest.approx(0.0045339259, rel=1e-8)
    axial_mass = np.array([[8, 1], [1, 2]]) / 15
    axial_stiffness = np.array([[16, -8], [-8, 7]]) / 3
    zero = np.zeros((2, 2))
    np.testing.assert_allclose(
        member.modal_mass / m, np.block([[np.eye(2) / 2, zero], [zero, axial_mass]]), atol=1e-12
    )
    np.testing.assert_allclose(member.stiffness[2:, 2:] * length / EA, axial_stiffness, rtol=1e-12)
    np.testing.assert_allclose(
        np.diag(member.stiffness)[:2] * length**3 / EI, np.pi**4 * np.array([0.5, 8]), rtol=1e-12
    )
    np.testing.assert_allclose(member.momentum[:, 0] / m, [0, 0, 2 / 3, 1 / 6], atol=1e-12)
    np.testing.assert_allclose(member.momentum[:, 1] / m, [2 / np.pi, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(member.coupling[:, 0, 0] / m / length, [0, 0, 1 / 3, 1 / 6], atol=1e-12)
    np.testing.assert_allclose(
        member.coupling[:, 1, 0] / m / length, [1 / np.pi, -1 / (2 * np.pi), 0, 0], atol=1e-12
    )
