"""Stiffened members far from straight: the mass matrix stays positive and motions converge with the modes."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.flexible import (
    Clamped,
    Material,
    Member,
    NormalModes,
    assumed_shapes,
    beam,
    polynomial,
    rectangle,
)
from bellcrank.mechanics.flexible import Shape

RUBBER = Material(1e8, density=2700.0, poisson=0.3)


def blade(modes: int, planar: bool = True) -> Member:
    model = beam("blade", 1.0, rectangle(0.01, 0.012), RUBBER, 12, planar=planar)
    return model.reduce(NormalModes(modes), Clamped("start"))


def mass_matrix(member: Member, eta: np.ndarray) -> np.ndarray:
    """Over the frame's rotation and velocity and the modal rates."""
    at = Shape.of(member).deformed([float(x) for x in eta])
    n = member.modes
    M = np.zeros((6 + n, 6 + n))
    inertia = at.inertia()
    for k in range(6):
        unit = np.eye(6)[k]
        M[:6, k] = np.concatenate(inertia.momentum(tuple(unit[:3]), tuple(unit[3:])))
    for k in range(n):
        M[:6, 6 + k] = M[6 + k, :6] = np.concatenate(at.P[k])
        M[6 + k, 6:] = [float(at.modal_mass(k, j)) for j in range(n)]
    return M


@pytest.mark.parametrize("planar", [True, False])
def test_mass_matrix_is_positive_for_any_deflection(planar: bool) -> None:
    member = blade(8, planar)
    rng = np.random.default_rng(0)
    reach = 1.0 / np.abs(member.node("end").translation).max(axis=0).clip(1e-3)
    for scale in (0.0, 0.1, 1.0, 10.0):
        for _ in range(5):
            M = mass_matrix(member, scale * reach * rng.uniform(-1.0, 1.0, 8))
            size = np.sqrt(np.diag(M))
            size[size == 0.0] = 1.0
            assert np.linalg.eigvalsh(M / np.outer(size, size))[0] > -1e-12


def test_a_soft_pendulum_clamped_at_its_pin_converges_with_the_modes() -> None:
    """Its tip bends by half its length; with products of second-order displacements dropped, runs end within 0.1 s."""
    tips = []
    for modes in (1, 4, 8):
        member = blade(modes)
        system = bc.System("pendulum", gravity=(0.0, -9.81, 0.0))
        body = system.flexible_body("blade", member)
        system.revolute("pin", system.ground.point(0.0, 0.0, 0.0), body.node("start"), axis="z")
        run = system.simulate(0.25, tolerance=1e-8, output=11)
        energy = run["energy.total"].to_numpy()
        assert np.ptp(energy) < 1e-6
        tips.append(run["blade.end.position"].to_numpy()[-1])
    assert np.linalg.norm(tips[1] - tips[2]) < 0.01
    assert abs(member.position("end", run["blade.modes"].to_numpy()[-1])[1]) > 0.3


def test_curvature_of_second_order_is_that_of_a_bent_beam() -> None:
    """v = a x^2 has v' v'' = 4 a^2 x, so the further strain energy is 1/2 EI 16 a^4 / 3."""
    section = rectangle(0.02, 0.01)
    member = assumed_shapes("arm", 1.0, section, RUBBER, [polynomial("y", (0.0, 0.0, 1.0), 1.0)])
    a, EI = 0.05, RUBBER.young * section.bending_z
    energy = Shape.of(member).deformed([a]).strain_energy()
    assert energy == pytest.approx(0.5 * EI * (4 * a**2 + 16 * a**4 / 3), rel=1e-10)
    assert Shape.of(member.without_stiffening()).deformed([a]).strain_energy() == pytest.approx(2 * EI * a**2)
