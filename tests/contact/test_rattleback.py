"""The rattleback: what skewed inertia does on a curved underside, against the equations of rolling without slip."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.model import System
from bellcrank.verify import rattleback
from bellcrank.verify.rattleback import MASS, SIZES, inertia, reference, steady_modes

START, TIMES = np.array([0.1, 0.0, -5.0]), np.linspace(0.0, 1.0, 11)


def test_the_equations_keep_their_energy() -> None:
    y = reference(START, TIMES)
    w, n = y[:, :3], y[:, 3:]
    below = -(SIZES**2 * n) / np.sqrt(n**2 @ SIZES**2)[:, None]
    v = np.cross(below, w)
    energy = 0.5 * np.einsum("ki,ij,kj->k", w, inertia(), w) + 0.5 * MASS * (v**2).sum(axis=1)
    energy -= MASS * 9.81 * (below * n).sum(axis=1)
    assert np.ptp(energy) <= 1e-10 * energy[0]


def test_only_skewed_inertia_lets_oscillations_grow() -> None:
    straight, _ = steady_modes(5.0, inertia(0.0))
    assert np.abs(straight.real).max() < 1e-6
    for skew in (5.0, -5.0):
        values, _ = steady_modes(5.0, inertia(np.radians(skew)))
        quick = values[np.argmax(values.imag)]
        assert np.sign(quick.real) == -np.sign(skew)
        assert abs(quick.real) > 10.0


def test_the_motion_is_that_of_rolling_to_the_tolerance() -> None:
    expected = reference(START, TIMES)
    assert expected[0, 2] < -4.9
    assert expected[-1, 2] > 0.5  # it has turned back
    for tolerance in (1e-6, 1e-8, 1e-10):
        miss = np.abs(rattleback.run(True, START, TIMES, tolerance) - expected).max()
        assert miss < 3e3 * tolerance  # what is small grows by the hundredfold as the stone begins to rattle


def test_stiffer_contacts_come_closer_to_rolling(monkeypatch: pytest.MonkeyPatch) -> None:
    expected, misses = reference(START, TIMES), []
    for stiffness in (1e7, 1e9, 1e11):
        monkeypatch.setattr(rattleback, "STIFFNESS", stiffness)
        misses.append(np.abs(rattleback.run(False, START, TIMES) - expected).max())
    # The stone sinks in by (m g / K)^(2/3), by which it rolls on another ellipsoid.
    assert misses[0] > 5.0 * misses[1] > 25.0 * misses[2]
    assert misses[2] < 5e-3


@pytest.mark.parametrize("form", ["matrix", "six numbers"])
def test_products_of_inertia_are_taken_as_they_are_given(form: str) -> None:
    J = np.array([[0.02, -0.004, 0.003], [-0.004, 0.03, 0.002], [0.003, 0.002, 0.035]])
    given = J if form == "matrix" else (*np.diag(J), J[0, 1], J[0, 2], J[1, 2])
    system = System("free", gravity=(0.0, 0.0, 0.0))
    body = system.body("stone", mass=1.0, inertia=given)
    system.free("flight", system.ground, body)
    w = np.array([1.0, -2.0, 3.0])
    result = system.simulate(1e-3, initial={"flight": {"angular_velocity": tuple(w)}}, output=2)
    found = result["stone.angular_acceleration"].to_numpy()[0]
    assert found == pytest.approx(np.linalg.solve(J, -np.cross(w, J @ w)), rel=1e-12)
