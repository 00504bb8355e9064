"""Lasting contact: blocks on slopes, tipping, stick and slip, and the paradox of the jammed rod."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.impacts import ContactState, JammedContact, after_slip_stops, contact_forces
from bellcrank.impacts.coulomb import CoulombProblem

G = 9.81
OPEN, STICK, SLIP = ContactState.OPEN, ContactState.STICK, ContactState.SLIP


def slope(angle: float) -> np.ndarray:
    """A point mass of 2 kg: free acceleration along (normal, tangent)."""
    return np.array([-G * np.cos(angle), -G * np.sin(angle)])


@pytest.mark.parametrize("tangents", [1, 2])
def test_a_block_on_a_slope_sticks_below_the_friction_angle(tangents):
    W = np.eye(1 + tangents) / 2.0
    for angle, state in ((0.2, STICK), (0.5, SLIP)):
        free = np.r_[slope(angle), np.zeros(tangents - 1)]
        found = contact_forces(W, free, 0.4, tangents=tangents)
        assert found.states == (state,)
        assert found.forces[0] == pytest.approx(2 * G * np.cos(angle), rel=1e-13)
        if state is STICK:
            assert found.forces[1] == pytest.approx(2 * G * np.sin(angle), rel=1e-13)
            assert found.margin[0] == pytest.approx(2 * G * (0.4 * np.cos(angle) - np.sin(angle)), rel=1e-12)
        else:
            assert found.accelerations[1] == pytest.approx(
                -G * (np.sin(angle) - 0.4 * np.cos(angle)), rel=1e-12
            )
            assert found.slip[0, 0] == pytest.approx(-1.0)


def test_sliding_uphill_brakes_and_then_sticks_or_returns():
    W = np.eye(2) / 2.0
    up = contact_forces(W, slope(0.5), 0.4, [[1.0]])
    assert up.accelerations[1] == pytest.approx(-G * (np.sin(0.5) + 0.4 * np.cos(0.5)), rel=1e-13)
    assert after_slip_stops(W, slope(0.5), 0.4, [[1.0]], 0).states == (SLIP,)
    assert after_slip_stops(W, slope(0.2), 0.4, [[1.0]], 0).states == (STICK,)


def test_what_is_pulled_lets_go():
    found = contact_forces(np.eye(2), [0.3, 1.0], 0.5)
    assert found.released == (0,)
    np.testing.assert_array_equal(found.forces, 0.0)


def test_sticking_may_need_more_than_sliding():
    W = np.eye(2)
    free = np.array([-10.0, 4.5])
    assert contact_forces(W, free, 0.4, sticking_friction=0.5).states == (STICK,)
    loose = contact_forces(W, np.array([-10.0, 5.5]), 0.4, sticking_friction=0.5)
    assert loose.states == (SLIP,)
    assert loose.accelerations[1] == pytest.approx(1.5, rel=1e-13)
    with pytest.raises(ModelError, match="sticking friction"):
        contact_forces(W, free, 0.4, sticking_friction=0.3)


def block(width: float, height: float, angle: float):
    """A block of 1 kg on two feet: W and free accelerations, feet (left, right), rows normal, tangent."""
    J = np.array(
        [[1.0, 0.0, -width / 2], [0.0, 1.0, height / 2], [1.0, 0.0, width / 2], [0.0, 1.0, height / 2]]
    )
    M = np.diag([1.0, 1.0, (width**2 + height**2) / 12])
    free = np.array([-G * np.cos(angle), -G * np.sin(angle), 0.0])
    return J @ np.linalg.solve(M, J.T), J @ free


def test_a_tall_block_tips_and_a_low_one_stays():
    """It tips about the lower foot where tan(angle) > width / height."""
    W, free = block(1.0, 1.5, 0.5)
    assert contact_forces(W, free, 0.9).states == (STICK, STICK)
    W, free = block(1.0, 2.5, 0.5)
    found = contact_forces(W, free, 0.9)
    assert found.states == (STICK, OPEN)
    J = np.array([1.0, 2.5])
    inertia = (1.0 + 2.5**2) / 3
    assert np.any(found.accelerations[2] > 0)
    assert found.accelerations[2] == pytest.approx(
        (G * np.sin(0.5) * J[1] / 2 - G * np.cos(0.5) * J[0] / 2) / inertia, rel=1e-12
    )


def test_spatial_friction_opposes_the_way_it_begins_to_slide():
    rng = np.random.default_rng(21)
    for contacts in (1, 1, 1, 2, 3):
        for _ in range(15):
            n = 3 * contacts
            J = rng.normal(size=(n, n + 2))
            W, free = J @ J.T, rng.normal(size=n)
            mu = rng.uniform(0.05, 0.6, contacts)
            found = contact_forces(W, free, mu, tangents=2)
            f, a = found.forces.reshape(-1, 3), found.accelerations.reshape(-1, 3)
            for i, state in enumerate(found.states):
                assert f[i, 0] >= -1e-12
                assert a[i, 0] >= -1e-8
                assert abs(f[i, 0] * a[i, 0]) < 1e-7
                assert np.linalg.norm(f[i, 1:]) <= mu[i] * f[i, 0] + 1e-8
                if state is SLIP:
                    direction = a[i, 1:] / np.linalg.norm(a[i, 1:])
                    np.testing.assert_allclose(f[i, 1:], -mu[i] * f[i, 0] * direction, atol=1e-6)


def test_planar_contacts_are_exact():
    rng = np.random.default_rng(22)
    for _ in range(100):
        J = rng.normal(size=(6, 8))
        W, free, mu = J @ J.T, rng.normal(size=6), rng.uniform(0, 1, 3)
        found = CoulombProblem.of(W, free, mu).solve()
        assert found is not None
        assert found.miss < 1e-11


def test_painleves_rod_jams():
    """A steep sliding rod with much friction: no force keeps it from digging in."""
    angle, mu = np.deg2rad(60), 2.0
    x, y = -0.5 * np.cos(angle), -0.5 * np.sin(angle)
    J = np.array([[0.0, 1.0, x], [1.0, 0.0, -y]])
    W = J @ np.diag([1.0, 1.0, 12.0]) @ J.T
    digs = [s for s in (-1.0, 1.0) if W[0, 0] - mu * s * W[0, 1] < 0]
    assert digs
    with pytest.raises(JammedContact, match="Painleve"):
        contact_forces(W, [-G, 0.0], mu, [digs])
    assert contact_forces(W, [-G, 0.0], mu, [[-digs[0]]]).states == (SLIP,)


def _table(mass: float, pull: float) -> tuple[np.ndarray, np.ndarray]:
    """W [1/kg] and free accelerations [m/s^2] of a square table on four feet, pulled along x at its middle."""
    half, height = 0.5, 0.4
    inverse = np.diag([1.0 / mass] * 3 + [1.0 / (0.2 * mass)] * 3)
    rows = []
    for x, y in ((half, half), (half, -half), (-half, half), (-half, -half)):
        foot = np.array([x, y, -height])
        for direction in ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)):
            rows.append(np.concatenate([direction, np.cross(foot, direction)]))
    J = np.array(rows)
    return J @ inverse @ J.T, J @ np.array([pull / mass, 0.0, -9.81, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("pull", [0.0, 5.0])
def test_a_table_stands_on_its_feet(pull):
    W, free = _table(3.0, pull)
    found = contact_forces(W, free, 0.6, tangents=2)
    forces = found.forces.reshape(4, 3)
    # Statics: the pull at the height of the middle tips the load towards the front feet.
    front, back = 3.0 * 9.81 / 4 + pull * 0.4 / 2, 3.0 * 9.81 / 4 - pull * 0.4 / 2
    assert forces[:, 0] == pytest.approx([front, front, back, back], rel=1e-12)
    assert forces[:, 1].sum() == pytest.approx(-pull, abs=1e-12)
    assert np.all(np.hypot(forces[:, 1], forces[:, 2]) <= 0.6 * forces[:, 0])
    assert set(found.states) == {STICK}
    assert found.residual < 1e-12


def test_bodies_apart_do_not_disturb_each_other():
    # One table stands, one of another mass slides along, one begins to slide: what each does alone.
    tables = [(*_table(3.0, 5.0), 0.0), (*_table(0.01, 0.0), 0.7), (*_table(50.0, 600.0), 0.0)]
    W, free = np.zeros((36, 36)), np.concatenate([a for _, a, _ in tables])
    slip = np.zeros((12, 2))
    for k, (own, _, speed) in enumerate(tables):
        W[12 * k : 12 * k + 12, 12 * k : 12 * k + 12] = own
        slip[4 * k : 4 * k + 4, 1] = speed
    whole = contact_forces(W, free, 0.5, slip, tangents=2)
    for k, (own, a, _) in enumerate(tables):
        alone = contact_forces(own, a, 0.5, slip[4 * k : 4 * k + 4], tangents=2)
        assert np.array_equal(whole.forces[12 * k : 12 * k + 12], alone.forces)
        assert whole.states[4 * k : 4 * k + 4] == alone.states
    assert set(whole.states) == {STICK, SLIP}
