"""The equations on the theory pages, evaluated by hand beside the functions they name.

The mechanism is a planar slider-crank with a block before its slider, drawn stretched along x. What is set against
the package is written down here from the figure alone: centres of mass as functions of three relative angles, and
their derivatives by complex steps.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import comb

from bellcrank import elastic
from bellcrank.contact import Sampled, Sphere
from bellcrank.contact.bezier import Net, Place, patch_at
from bellcrank.contact.hertz import effective_modulus, stiffness
from bellcrank.contact.laws import (
    FACTORS,
    ForceLaw,
    calibrated_factor,
    delivered_restitution,
    normal_force,
    unclipped_force,
)
from bellcrank.contact.numeric import ClosestKernel
from bellcrank.elastic.accelerated import AcceleratedIteration, accelerator
from bellcrank.elastic.active_set import DirectActiveSet
from bellcrank.elastic.assembled import Assembled
from bellcrank.elastic.interface import ObstacleInterface
from bellcrank.elastic.problem import ContactProblem
from bellcrank.elastic.stepping import Stepper
from bellcrank.formulations.registry import FORMULATIONS
from bellcrank.impacts.impact_queue import ImpactQueue
from bellcrank.impacts.impulses import solve_impact
from bellcrank.impacts.lcp import lemke
from bellcrank.math.vectors import Vector
from bellcrank.mechanism import Mechanism, State
from bellcrank.model import System
from bellcrank.program.evaluate import evaluate
from bellcrank.program.program import Program

CRANK, ROD, G = 0.3, 1.0, 9.81
MASSES, MOMENTS = np.array([2.0, 1.5, 1.0]), np.array([0.05, 0.2, 0.01])


def described(block: bool = False) -> System:
    system = System("slider crank", gravity=(0, -G, 0))
    for name, x, mass, moment in zip(
        ("crank", "rod", "slider"), (CRANK / 2, CRANK + ROD / 2, CRANK + ROD), MASSES, MOMENTS, strict=True
    ):
        system.body(name, mass=mass, inertia=(moment,) * 3, at=(x, 0, 0))
    system.revolute("bearing", system.ground, "crank", at=(0, 0, 0))
    system.revolute("crank pin", "crank", "rod", at=(CRANK, 0, 0))
    system.revolute("wrist pin", "rod", "slider", at=(CRANK + ROD, 0, 0))
    system.prismatic("guide", system.ground, "slider", axis="x", cut=True)
    if block:
        system.body("block", mass=3.0, inertia=(1, 1, 1), at=(1.45, 0, 0))
        system.prismatic("rail", system.ground, "block", axis="x")
        system.contact(
            "bump", system.bodies["slider"].circle(0.1), system.bodies["block"].circle(0.1), restitution=0.6
        )
    return system


def centres(q: Any) -> Any:
    """x, y and angle of crank, rod and slider, shape (9,)."""
    a, b, c = q[0], q[0] + q[1], q[0] + q[1] + q[2]
    pin = np.array([CRANK * np.cos(a), CRANK * np.sin(a)])
    end = pin + np.array([ROD * np.cos(b), ROD * np.sin(b)])
    return np.concatenate([pin / 2, [a], (pin + end) / 2, [b], end, [c]])


def jacobian(function: Any, q: Any) -> Any:
    h = 1e-30
    steps = [np.where(np.arange(len(q)) == k, 1j * h, 0.0) for k in range(len(q))]
    return np.stack([np.imag(function(q + step)) / h for step in steps], axis=1)


def turning(function: Any, q: Any, u: Any) -> Any:
    """The rate of the Jacobian times the speeds: a difference of Jacobians along the motion, fourth order."""
    h = 1e-3
    along = [jacobian(function, q + k * h * u) @ u for k in (-2, -1, 1, 2)]
    return (along[0] - 8 * along[1] + 8 * along[2] - along[3]) / (12 * h)


WEIGHTS = np.ravel(np.column_stack([MASSES, MASSES, MOMENTS]))


def mass_by_hand(q: Any) -> Any:
    """Sum over the bodies of m V^T V + W^T I W."""
    S = jacobian(centres, q)
    return S.T @ (WEIGHTS[:, None] * S)


def force_by_hand(q: Any, u: Any) -> Any:
    """Gravity, less the inertia of accelerations at constant speeds."""
    gravity = np.ravel(np.column_stack([0 * MASSES, -G * MASSES, 0 * MASSES]))
    return jacobian(centres, q).T @ (gravity - WEIGHTS * turning(centres, q, u))


def loop(q: Any) -> Any:
    """The slider stays on the x axis and does not turn."""
    return centres(q)[[7, 8]]


@pytest.fixture(scope="module")
def mechanism() -> Mechanism:
    return described().mechanism(initial={"bearing": (0.7, 3.0)})


def numbers(mechanism: Mechanism, values: Any) -> Any:
    equations = mechanism.traced("lagrange").equations
    return evaluate(Program.of(equations.inputs, list(values)), mechanism.kernel_input())


def test_start_closes_the_loop(mechanism: Mechanism) -> None:
    q, u = mechanism.start.q, mechanism.start.u
    assert np.abs(loop(q)).max() < 1e-10
    assert np.abs(jacobian(loop, q) @ u).max() < 1e-9


def test_mass_matrix_and_forces(mechanism: Mechanism) -> None:
    """D (17) to (19), B (16) to (18)."""
    equations = mechanism.traced("lagrange").equations
    q, u = mechanism.start.q, mechanism.start.u
    entries = equations.tree_mass()
    M = np.zeros((3, 3))
    for (i, j), value in zip(entries, numbers(mechanism, entries.values()), strict=True):
        M[i, j] = M[j, i] = value
    np.testing.assert_allclose(M, mass_by_hand(q), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        numbers(mechanism, equations.tree_forces()), force_by_hand(q, u), rtol=1e-8, atol=1e-8
    )


def test_dependent_speeds(mechanism: Mechanism) -> None:
    """D (26) to (30), B (32): the dependent speeds are -Phi_d^-1 Phi_i times the independent ones."""
    equations = mechanism.traced("lagrange").equations
    q, u = mechanism.start.q, mechanism.start.u
    i, d = list(mechanism.partition.independent), list(mechanism.partition.dependent)
    J = jacobian(loop, q)
    by_hand = u.copy()
    by_hand[d] = -np.linalg.solve(J[:, d], J[:, i] @ u[i])
    np.testing.assert_allclose(numbers(mechanism, equations.u), by_hand, rtol=1e-11)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_accelerations(mechanism: Mechanism, formulation: str) -> None:
    """B (23) and (35) to (37), D (23) and (31) to (36): all are the solution of one dense system."""
    q, u = mechanism.start.q, mechanism.start.u
    J = jacobian(loop, q)
    system = np.block([[mass_by_hand(q), J.T], [J, np.zeros((2, 2))]])
    by_hand = np.linalg.solve(system, [*force_by_hand(q, u), *(-turning(loop, q, u))])[:3]
    traced = mechanism.traced(formulation)
    found = evaluate(traced.accelerations, mechanism.kernel_input())
    np.testing.assert_allclose(found, by_hand, rtol=1e-7)


def test_reduced_mass_matrix(mechanism: Mechanism) -> None:
    """B (35) to (37): M-bar and Q-bar as printed give the acceleration of the independent coordinate."""
    q, u = mechanism.start.q, mechanism.start.u
    (i,), d = mechanism.partition.independent, list(mechanism.partition.dependent)
    J, M, Q = jacobian(loop, q), mass_by_hand(q), force_by_hand(q, u)
    H = -np.linalg.solve(J[:, d], J[:, [i]])
    rest = np.linalg.solve(J[:, d], -turning(loop, q, u))
    reduced = M[i, i] + H.T @ M[d, i] + (M[i, d] + H.T @ M[np.ix_(d, d)]) @ H
    force = Q[i] + H.T @ Q[d] - (M[i, d] + H.T @ M[np.ix_(d, d)]) @ rest
    found = evaluate(mechanism.traced("partitioning").accelerations, mechanism.kernel_input())[i]
    assert found == pytest.approx(float(np.squeeze(force) / np.squeeze(reduced)), rel=1e-7)


def test_newtons_step_closes_the_loop(mechanism: Mechanism) -> None:
    """B (38), (39): the step of the projection, up to the square of what was open."""
    q, d = mechanism.start.q.copy(), list(mechanism.partition.dependent)
    q[d] += (2e-6, -1e-6)
    by_hand = q.copy()
    by_hand[d] -= np.linalg.solve(jacobian(loop, q)[:, d], loop(q))
    x = mechanism.kernel_input(State(0.0, q, mechanism.start.u))
    found = evaluate(mechanism.projection(mechanism.partition), x)[:3]
    np.testing.assert_allclose(found, by_hand, atol=1e-11)


def test_impact_of_a_constrained_system() -> None:
    """A (22) with (15), (21) and (26): the printed linear system, solved densely at the moment of the blow."""
    system = described(block=True)
    start = {"bearing": (1.2, -2.0)}
    first = system.simulate(2.0, initial=start, output=1, tolerance=1e-11).impacts[0]
    run = system.simulate(first.time, initial=start, output=1, tolerance=1e-11)
    names = run.mechanism.speed_names
    order = [
        names.index(n) for n in ("bearing.angle", "crank pin.angle", "wrist pin.angle", "rail.displacement")
    ]
    q = run.q[-1][order]
    before, after = first.speeds_before[order], first.speeds_after[order]

    def gap(q: Any) -> Any:
        return np.array([1.45 + q[3] - 0.2 - centres(q[:3])[6]])

    assert abs(gap(q)[0]) < 1e-9
    M = np.zeros((4, 4))
    M[:3, :3], M[3, 3] = mass_by_hand(q[:3]), 3.0
    J = np.hstack([jacobian(loop, q[:3]), np.zeros((2, 1))])
    D = jacobian(gap, q)
    dense = np.block([[M, J.T, -D.T], [np.vstack([J, D]), np.zeros((3, 3))]])
    right = np.concatenate([np.zeros(6), -(1 + 0.6) * D @ before])
    jump = np.linalg.solve(dense, right)
    np.testing.assert_allclose(after - before, jump[:4], rtol=1e-7)
    assert first.impulse == pytest.approx(jump[-1], rel=1e-7)


def test_several_impulses_obey_newtons_law() -> None:
    """A (21): v + W p = -e v for contacts that strike together, without friction."""
    rng = np.random.default_rng(3)
    J = rng.standard_normal((3, 6))
    W = J @ J.T
    v = -W @ rng.uniform(0.5, 1.0, 3)
    found = solve_impact(W, v, 0.4, tangents=0, propagation="simultaneous")
    p = np.linalg.solve(W, -(1 + 0.4) * v)
    assert p.min() > 0.0
    np.testing.assert_allclose(np.ravel(found.impulses), p, rtol=1e-10)


@pytest.mark.parametrize("size", [2, 3, 4, 6])
def test_the_queue_is_lagranges_polynomial(size: int) -> None:
    """A section 2.3: the root of sum d_k L_k(t) in the last interval."""
    times = np.linspace(0.0, 1.0, size) ** 1.3
    distance = np.cos(1.8 * times)
    queue = ImpactQueue(size)
    found = [queue.check(float(t), float(d)) for t, d in zip(times, distance, strict=True)][-1]
    assert found is not None
    weights = [np.prod([(found - s) / (t - s) for s in times if s != t]) for t in times]
    assert times[-2] < found < times[-1]
    assert abs(np.dot(weights, distance)) < 1e-12


def test_complementarity() -> None:
    """0 <= f, 0 <= W f + b, and one of both is zero."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        J = rng.standard_normal((6, 8))
        W, b = J @ J.T, rng.standard_normal(6)
        f = lemke(W, b)
        assert f is not None
        a = W @ f + b
        assert f.min() >= 0.0
        assert a.min() > -1e-9
        assert abs(f @ a) < 1e-9


def test_patch_is_bernsteins_sum() -> None:
    """C (1) to (3)."""
    rng = np.random.default_rng(7)
    P = rng.standard_normal((3, 3, 3))
    for u, v in rng.uniform(0, 1, (5, 2)):
        B_u, B_v = (np.array([comb(2, k) * x**k * (1 - x) ** (2 - k) for k in range(3)]) for x in (u, v))
        by_hand = np.einsum("i,j,ijk->k", B_u, B_v, P)
        net = Net(*(Vector(*map(float, row)) for row in P.reshape(9, 3)))
        np.testing.assert_allclose(np.array(patch_at(net, Place(u, v)).p), by_hand, rtol=1e-12)


def test_middle_of_the_common_normal() -> None:
    """n_A + n_B = 0 and d_A = d_B at the middle, for samples of a ball and a ball, apart and overlapping."""
    k = np.arange(600)
    z, turn = 1 - (2 * k + 1) / 600, np.pi * (3 - np.sqrt(5)) * k
    n = np.stack([np.sqrt(1 - z * z) * np.cos(turn), np.sqrt(1 - z * z) * np.sin(turn), z], axis=1)
    surface, way = Sampled(0.1 * n, n), np.array([0.6, 0.0, 0.8])
    for gap in (0.01, -0.002):
        found = ClosestKernel(surface, Sphere(0.05))(np.eye(3), np.zeros(3), np.eye(3), (0.15 + gap) * way)
        np.testing.assert_allclose(found.normal, way, atol=2e-3)
        assert found.distance == pytest.approx(gap, abs=1e-5)


def test_force_laws() -> None:
    """C (4), (5), (8) to (10), and no contact pulls."""
    K, D, d, rate, speed = 2e5, 30.0, 1e-3, 0.2, 1.5
    assert normal_force(ForceLaw.KELVIN_VOIGT, d, rate, K, 1.0, 0.0, speed, D) == pytest.approx(
        K * d + D * rate
    )
    a = FACTORS[ForceLaw.LANKARANI_NIKRAVESH](0.7)
    assert a == pytest.approx(0.75 * (1 - 0.49))
    wanted = K * d**1.5 * (1 + a * rate / speed)
    assert unclipped_force(ForceLaw.LANKARANI_NIKRAVESH, d, rate, K, 1.5, a, speed) == pytest.approx(wanted)
    assert normal_force(ForceLaw.LANKARANI_NIKRAVESH, d, -10 * speed, K, 1.5, a, speed) == 0.0
    assert normal_force(ForceLaw.LANKARANI_NIKRAVESH, -d, rate, K, 1.5, a, speed) == 0.0


def test_hertz() -> None:
    """C (6), (7) for two spheres, with the exponent 1/2."""
    (R_i, R_j), E, nu = (0.2, 0.5), (2e11, 7e10), (0.3, 0.33)
    h_i, h_j = ((1 - n * n) / (math.pi * e) for n, e in zip(nu, E, strict=True))
    by_hand = 4 / (3 * math.pi * (h_i + h_j)) * math.sqrt(R_i * R_j / (R_i + R_j))
    found = stiffness(effective_modulus(E, nu), (1 / R_i, 0.0, 1 / R_i), (1 / R_j, 0.0, 1 / R_j))
    assert found == pytest.approx(by_hand, rel=1e-9)


@pytest.mark.parametrize("exponent", [1.0, 1.5])
@pytest.mark.parametrize("asked", [0.3, 0.8])
def test_delivered_restitution(asked: float, exponent: float) -> None:
    """a (1 + e) = ln((1 + a) / (1 - a e)), and the motion itself says so."""
    a = calibrated_factor(asked)
    assert a * (1 + asked) == pytest.approx(math.log((1 + a) / (1 - a * asked)), rel=1e-10)
    assert delivered_restitution(a) == pytest.approx(asked, rel=1e-9)

    def motion(t: float, y: Any) -> list[float]:
        return [y[1], -1e4 * max(y[0], 0.0) ** exponent * (1 + a * y[1] / 2.0)]

    def parting(t: float, y: Any) -> float:
        return float(y[0])

    parting.terminal, parting.direction = True, -1  # type: ignore[attr-defined]
    end = solve_ivp(motion, (0, 1), [0.0, 2.0], events=parting, rtol=1e-10, atol=1e-13, max_step=1e-2)
    assert -end.y[1, -1] / 2.0 == pytest.approx(asked, rel=1e-6)


def test_accelerated_matrices() -> None:
    """E (A.1) to (A.7) as printed, before they underflow: b A_n / norm, the scale of the levels taken off."""
    rng = np.random.default_rng(11)
    J = rng.standard_normal((5, 9))
    C = J @ J.T
    norm = np.abs(C).sum(axis=1).max()
    C_n, A_n, identity = C / norm, np.eye(5), np.eye(5)
    low, high = float(np.linalg.eigvalsh(C_n)[0]), 1.0
    for _ in range(2):
        b = low + high
        C_n, A_n = C_n @ (b * identity - C_n), (b * identity - C_n) @ A_n
        low, high = low * high, b * b / 4
    by_hand = 2 / (high + low) * A_n / norm
    np.testing.assert_allclose(accelerator(C, 3)[0], by_hand, rtol=1e-9)


@pytest.mark.parametrize("solver", [DirectActiveSet(), AcceleratedIteration()], ids=["direct", "iteration"])
def test_contact_conditions(solver: Any) -> None:
    """E (7), (9): no pulling, no overlap, Coulomb's cone, slip against the friction."""
    rng = np.random.default_rng(13)
    for _ in range(10):
        J = rng.standard_normal((8, 12))
        # Penetration falls with pressure, which is negative here.
        C = 1e-3 * (J @ J.T + 8 * np.eye(8))
        free, mu = 1e-2 * rng.standard_normal((4, 2)), np.full(4, 0.2)
        p = solver.solve(ContactProblem(C, free, mu, np.zeros((4, 2)))).force
        s = free + (C @ p.ravel()).reshape(4, 2)
        assert p[:, 0].max() <= 1e-9
        assert s[:, 0].max() < 1e-9
        assert np.abs(p[:, 0] * s[:, 0]).max() < 1e-9
        assert (np.abs(p[:, 1]) - mu * np.abs(p[:, 0])).max() < 1e-8
        slipping = (np.abs(s[:, 1]) > 1e-7) & (p[:, 0] < -1e-7)
        np.testing.assert_allclose(
            p[slipping, 1], -mu[slipping] * -p[slipping, 0] * np.sign(s[slipping, 1]), atol=1e-8
        )


def test_steps_of_newmark() -> None:
    """E (1) to (4): the motion at the end of every step, and Newmark's expansions of a ball that strikes a wall."""
    alpha, delta, h = 0.3, 0.6, 0.05
    rubber = elastic.Material(young=500.0, poisson=0.3, density=1.0)
    ball = elastic.sphere(8.0, rubber, divisions=4, centre=(0.0, 8.0), velocity=(0.0, -1.0))
    system = Assembled([ball])
    interface = ObstacleInterface(elastic.Contact(ball, elastic.RigidPlane()), system)
    plain = elastic.Compatibility(velocity=False, acceleration=False)
    stepper = Stepper(system, [interface], elastic.newmark(alpha, delta), h, DirectActiveSet(), plain)
    now = stepper.start()
    for _ in range(12):
        before, now = now, stepper.advance(now)
        rest = (system.mass @ now.a + system.stiffness @ now.u - system.load - now.nodal)[system.free]
        assert np.abs(rest).max() < 1e-9 * np.abs(system.stiffness @ now.u).max() + 1e-9
        moved = before.u + h * before.v + h * h * ((0.5 - alpha) * before.a + alpha * now.a)
        np.testing.assert_allclose(now.u, moved, atol=1e-11)
        faster = before.v + h * ((1 - delta) * before.a + delta * now.a)
        np.testing.assert_allclose(now.v, faster, atol=1e-10)
    assert now.active.any()


def test_kinematics_of_the_bodies(mechanism: Mechanism) -> None:
    """D (4) to (16), B (4) to (7): poses, velocities and accelerations of all bodies along a run."""
    run = mechanism.simulate(0.5, output=5, tolerance=1e-10)
    for k, name in enumerate(("crank", "rod", "slider")):
        for row, (q, u, du) in enumerate(zip(run.q, run.u, run.du, strict=True)):
            S = jacobian(centres, q)
            place, speed = centres(q), S @ u
            rate = S @ du + turning(centres, q, u)
            for axis, letter in enumerate("xy"):
                assert run[f"{name}.position.{letter}"][row] == pytest.approx(place[3 * k + axis], abs=1e-12)
                assert run[f"{name}.velocity.{letter}"][row] == pytest.approx(speed[3 * k + axis], abs=1e-11)
                assert run[f"{name}.acceleration.{letter}"][row] == pytest.approx(
                    rate[3 * k + axis], abs=1e-6
                )
            assert run[f"{name}.angular_velocity.z"][row] == pytest.approx(speed[3 * k + 2], abs=1e-11)
