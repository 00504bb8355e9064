"""Impacts: closed forms, the cradle, known paradoxes, and thousands of random ones that never gain energy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from bellcrank.errors import ModelError
from bellcrank.impacts import ImpactError, ImpactLaw, solve_impact
from bellcrank.impacts.lcp import lemke
from bellcrank.impacts.routh import single_impact

LAWS = [law.value for law in ImpactLaw]
PROPAGATIONS = ["sequential", "simultaneous"]


def rod(angle: float, mass: float = 1.0, length: float = 1.0) -> np.ndarray:
    """J M^-1 J^T of the lower end of a rod, over (normal, tangent)."""
    inertia = mass * length**2 / 12
    x, y = -0.5 * length * np.cos(angle), -0.5 * length * np.sin(angle)
    J = np.array([[0.0, 1.0, x], [1.0, 0.0, -y]])
    return J @ np.diag([1 / mass, 1 / mass, 1 / inertia]) @ J.T


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("degrees", "impulse"), [(0, 0.375), (30, 0.4615385), (45, 0.6), (60, 0.8571429)])
def test_rod_on_a_frictionless_plane(law, degrees, impulse):
    """benchmarks.md: (1 + e) / (1/m + r^2/I)."""
    W = rod(np.deg2rad(degrees))
    found = solve_impact(W, [-1.0, 0.0], 0.5, law=law)
    assert found.impulses[0] == pytest.approx(1.5 / W[0, 0], rel=1e-14)
    assert found.impulses[0] == pytest.approx(impulse, abs=1e-7)


def cradle(balls: int) -> np.ndarray:
    """Gap rates of a row of equal balls."""
    return np.diff(np.eye(balls), axis=0)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("struck", [1, 2, 3])
def test_newtons_cradle_sends_off_as_many_as_came(law, struck):
    J = cradle(6)
    v = np.r_[np.ones(struck), np.zeros(6 - struck)]
    found = solve_impact(J @ J.T, J @ v, 1.0, tangents=0, law=law, propagation="sequential")
    np.testing.assert_allclose(v + J.T @ found.impulses, v[::-1], atol=1e-14)
    assert found.energy_change == pytest.approx(0.0, abs=1e-14)


def test_a_cradle_struck_from_both_sides_stays_symmetric():
    J = cradle(5)
    v = np.array([1.0, 0.0, 0.0, 0.0, -1.0])
    for propagation in PROPAGATIONS:
        found = solve_impact(J @ J.T, J @ v, 0.7, tangents=0, propagation=propagation)
        after = v + J.T @ found.impulses
        np.testing.assert_allclose(after, -after[::-1], atol=1e-13)


def test_simultaneous_cradle_moves_as_one():
    J = cradle(3)
    v = np.array([1.0, 0.0, 0.0])
    found = solve_impact(J @ J.T, J @ v, 1.0, tangents=0, propagation="simultaneous")
    np.testing.assert_allclose(v + J.T @ found.impulses, (-1 / 3, 2 / 3, 2 / 3), atol=1e-14)


def test_a_flat_rod_bounces_flat():
    """Both ends at once: m v (1 + e) is shared, whatever the propagation."""
    J = np.array([[1.0, -0.5], [1.0, 0.5]])
    W = J @ np.diag([1.0, 12.0]) @ J.T
    for propagation in PROPAGATIONS:
        for law in LAWS:
            found = solve_impact(W, [-1.0, -1.0], 0.5, tangents=0, law=law, propagation=propagation)
            np.testing.assert_allclose(found.impulses, 0.75, atol=1e-13)


def test_impulse_is_linear_in_one_plus_e():
    W = rod(0.7)
    at = [solve_impact(W, [-1.0, 0.3], e).impulses[0] for e in np.linspace(0, 1, 11)]
    np.testing.assert_allclose(at, at[0] * (1 + np.linspace(0, 1, 11)), rtol=1e-14)


@pytest.mark.parametrize("law", LAWS)
def test_a_sphere_grips_or_slides(law):
    """W is diagonal (1/m, 7/(2m)): slip stops if mu (1 + e) |v_n| >= 2/7 |v_t|."""
    W = np.diag([1.0, 3.5, 3.5])
    for v_t, mu in ((1.0, 0.1), (1.0, 0.9)):
        found = solve_impact(W, [-1.0, 0.6 * v_t, 0.8 * v_t], 0.5, mu, tangents=2, law=law)
        friction = min(mu * 1.5, v_t / 3.5)
        np.testing.assert_allclose(found.impulses, (1.5, -0.6 * friction, -0.8 * friction), atol=1e-9)


def test_slip_reverses_as_keller_says():
    """A rod whose slip stops and turns round: piecewise straight, by hand."""
    W = rod(np.deg2rad(50))
    v, mu, e = np.array([-1.0, 0.2]), 0.1, 0.5
    coupling = W[0, 1]
    v[1] *= -np.sign(coupling)  # so that the normal impulse brakes the slip
    away = np.sign(coupling)
    p, events = single_impact(W, v, e, mu, ImpactLaw.POISSON)
    assert events == ("reversal",)
    first = np.array([1.0, mu * away])
    stop = -v[1] / (W[1] @ first)
    at_stop = v + stop * (W @ first)
    second = np.array([1.0, -mu * away])
    compression = stop - at_stop[0] / (W[0] @ second)
    assert 0 < stop < compression
    end = 1.5 * compression
    np.testing.assert_allclose(p, stop * first + (end - stop) * second, rtol=1e-13)


def kane(e: float, mu: float):
    """Kane and Levinson's double pendulum: two rods of 1 m and 1 kg, the tip strikes the floor."""
    t1, t2, u = np.deg2rad(20), np.deg2rad(30), np.array([-0.1, -0.2])
    M = np.array([[1 / 3 + 1, 0.5 * np.cos(t1 - t2)], [0.5 * np.cos(t1 - t2), 1 / 3]])
    J = np.array([[np.sin(t1), np.sin(t2)], [np.cos(t1), np.cos(t2)]])
    return J @ np.linalg.solve(M, J.T), J @ u, 0.5 * u @ M @ u


def test_kanes_pendulum_does_not_gain_energy():
    W, v, energy = kane(0.7, 0.7)
    p, _ = single_impact(W, v, 0.7, 0.7, ImpactLaw.NEWTON)
    assert p @ (v + 0.5 * W @ p) > 2.0 * energy  # the paradox: three times the energy from nothing
    found = solve_impact(W, v, 0.7, 0.7, law="newton")
    assert found.energetic == (0,)
    assert -energy <= found.energy_change < 0.0
    np.testing.assert_array_equal(found.impulses, solve_impact(W, v, 0.7, 0.7, law="stronge").impulses)
    assert solve_impact(W, v, 0.7, 0.0, law="newton").energetic == ()


def test_spatial_slip_agrees_with_a_dense_integration():
    rng = np.random.default_rng(11)
    for _ in range(5):
        J = rng.normal(size=(3, 6))
        W, v, mu = J @ J.T, np.r_[-2.0, rng.normal(size=2) * 3], 0.4

        def rates(p, y, W=W, mu=mu):
            d = y[1:3] / np.linalg.norm(y[1:3])
            return W @ np.r_[1.0, -mu * d]

        p, events = single_impact(W, v, 0.0, mu, ImpactLaw.NEWTON)
        if events:  # slip stopped: the plain equations are singular there
            continue
        motion = solve_ivp(rates, (0, p[0]), v, rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(motion.y[:, -1], v + W @ p, atol=1e-8)


def test_planar_and_spatial_agree():
    rng = np.random.default_rng(12)
    for law in ImpactLaw:
        for _ in range(30):
            J = rng.normal(size=(2, 4))
            W = np.zeros((3, 3))
            W[:2, :2] = J @ J.T
            W[2, 2] = 1.0
            v = np.r_[-abs(rng.normal()), rng.normal(), 0.0]
            e, mu = rng.uniform(0, 1), rng.uniform(0.05, 1.5)
            planar, _ = single_impact(W[:2, :2], v[:2], e, mu, law)
            spatial, _ = single_impact(W, v, e, mu, law)
            np.testing.assert_allclose(spatial[:2], planar, rtol=1e-8, atol=1e-9)


def drawn(rng: np.random.Generator, contacts: int, tangents: int):
    rows = contacts * (1 + tangents)
    J = rng.normal(size=(rows, rows + rng.integers(1, 4))) / np.sqrt(rng.uniform(0.2, 3.0))
    return J @ J.T, rng.normal(size=rows), rng.uniform(0, 1, contacts), rng.uniform(0, 1.5, contacts)


@pytest.mark.parametrize("law", LAWS)
def test_impacts_never_gain_energy(law):
    """Ten thousand with all laws together."""
    rng = np.random.default_rng(LAWS.index(law))
    kinds = [(1, 1, 2800), (2, 1, 240), (4, 1, 200), (1, 2, 84), (2, 2, 14), (3, 2, 4)]
    for contacts, tangents, number in kinds:
        for k in range(number):
            W, v, e, mu = drawn(rng, contacts, tangents)
            propagation = PROPAGATIONS[k % 2] if tangents == 1 else "simultaneous"
            found = solve_impact(W, v, e, mu, tangents=tangents, law=law, propagation=propagation)
            p = found.impulses.reshape(contacts, -1)
            after = found.velocities.reshape(contacts, -1)
            before = v.reshape(contacts, -1)
            assert found.energy_change <= 1e-13
            assert np.all(after[:, 0] >= -1e-9)
            assert np.all(p[:, 0] >= -1e-13)
            assert np.all(np.linalg.norm(p[:, 1:], axis=1) <= mu * p[:, 0] + 1e-12)
            if contacts == 1:
                assert (p[0, 0] > 0.0) == (before[0, 0] < 0.0)
                if law == "newton" and p[0, 0] > 0.0 and not found.energetic:
                    assert after[0, 0] == pytest.approx(-e[0] * before[0, 0], abs=1e-9)
            elif law == "newton" and propagation == "simultaneous" and not found.energetic:
                bound = after[:, 0] + e * np.minimum(before[:, 0], 0.0)
                assert np.all(bound >= -1e-9)
                np.testing.assert_allclose(p[:, 0] * bound, 0.0, atol=1e-8)


def test_laws_coincide_for_one_contact_without_friction():
    rng = np.random.default_rng(13)
    for _ in range(50):
        W, v, e, _ = drawn(rng, 1, 2)
        results = [solve_impact(W, v, e, 0.0, tangents=2, law=law).impulses for law in LAWS]
        np.testing.assert_allclose(results[1], results[0], rtol=1e-12)
        np.testing.assert_allclose(results[2], results[0], rtol=1e-12)


def test_uncoupled_contacts_are_solved_alone():
    W = np.zeros((4, 4))
    W[:2, :2], W[2:, 2:] = rod(0.5), rod(1.0)
    v = np.array([-1.0, 0.3, -0.5, -0.2])
    both = solve_impact(W, v, 0.5, 0.2, propagation="simultaneous").impulses
    for k in (0, 2):
        alone = solve_impact(W[k : k + 2, k : k + 2], v[k : k + 2], 0.5, 0.2).impulses
        np.testing.assert_allclose(both[k : k + 2], alone, rtol=1e-14)


def test_fifty_contacts():
    rng = np.random.default_rng(14)
    W, v, e, mu = drawn(rng, 50, 1)
    found = solve_impact(W, v, e, mu, propagation="simultaneous")
    assert found.energy_change <= 0.0
    assert np.all(found.velocities[::2] >= -1e-8)


@pytest.mark.parametrize("law", LAWS)
def test_a_box_landing_on_four_corners(law):
    """Twelve impulses for six freedoms: any solution will do, the motion must be sound."""
    rng = np.random.default_rng(16)
    corners = [np.array([x, y, -0.5]) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    J = np.array([np.r_[d, np.cross(c, d)] for c in corners for d in np.eye(3)[[2, 0, 1]]])
    W = J @ np.diag([1.0, 1.0, 1.0, 6.0, 6.0, 6.0]) @ J.T
    for _ in range(8):
        v = J @ (rng.normal(size=6) * [1, 1, 1, 0.3, 0.3, 0.3] - [0, 0, 1.5, 0, 0, 0])
        mu = rng.uniform(0, 1)
        found = solve_impact(W, v, 0.5, mu, tangents=2, law=law, propagation="simultaneous")
        p = found.impulses.reshape(4, 3)
        assert found.energy_change <= 1e-13
        assert np.all(found.velocities[::3] >= -1e-8)
        assert np.all(np.linalg.norm(p[:, 1:], axis=1) <= mu * p[:, 0] + 1e-12)
        assert found.residual < 0.05


def test_lemke_on_known_problems():
    z = lemke(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-5.0, -6.0]))
    np.testing.assert_allclose(z, (4 / 3, 7 / 3), rtol=1e-14)
    assert lemke(np.array([[-1.0]]), np.array([-1.0])) is None
    rng = np.random.default_rng(15)
    for _ in range(50):
        J = rng.normal(size=(12, 8))  # singular: more contacts than freedoms
        M, q = J @ J.T, J @ rng.normal(size=8)
        z = lemke(M, q)
        assert z is not None
        w = M @ z + q
        assert np.all(w >= -1e-9)
        assert abs(z @ w) < 1e-8


def test_mistakes():
    with pytest.raises(ModelError, match="restitution must lie in"):
        solve_impact(np.eye(2), [-1.0, 0.0], 1.2)
    with pytest.raises(ModelError, match="negative"):
        solve_impact(np.eye(2), [-1.0, 0.0], 0.5, -0.1)
    with pytest.raises(ModelError, match="cannot have W"):
        solve_impact(np.eye(3), [-1.0, 0.0], 0.5)
    with pytest.raises(ImpactError, match="locked"):
        solve_impact(np.zeros((2, 2)), [-1.0, 0.0], 0.5)


def test_parting_that_friction_turns_round_is_compressed_again():
    """Slip that still turns pulls the bodies together once more before the work of restitution is done."""
    W = np.array(
        [
            [1.3237744272221077, -1.278766781389707, -1.114407033623491],
            [-1.278766781389707, 3.2453403172722077, 0.388054671796774],
            [-1.114407033623491, 0.388054671796774, 2.065633452421476],
        ]
    )
    v = np.array([-1.286304808684493, 3.4392003907421937, -0.6233030058954336])
    mu = 1.38232733
    found = solve_impact(W, v, 0.42529823, mu, tangents=2, law="stronge")
    assert found.impulses[0] > 0.0
    assert np.linalg.norm(found.impulses[1:]) <= mu * found.impulses[0] * (1.0 + 1e-12)
    assert found.velocities[0] >= 0.0
    assert found.impulses @ (0.5 * (v + found.velocities)) < 0.0
