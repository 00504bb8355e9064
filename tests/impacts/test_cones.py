"""Impulses in Coulomb's cones: the laws themselves, on random problems."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.impacts import cones

SIZE = 6


def problem(seed: int, contacts: int, nodes: int, friction: float = 0.6, spread: float = 0.0) -> cones.Cones:
    """Random mass matrices, a part of them 10^spread times as heavy, under random rows."""
    rng = np.random.default_rng(seed)
    c = cones.cones_of(np.arange(nodes + 1) * SIZE, contacts)
    masses = []
    for k in range(nodes):
        root = rng.normal(size=(SIZE, SIZE))
        masses.append((root @ root.T + np.eye(SIZE)) * 10.0 ** (spread * rng.integers(2)))
        c.mass[SIZE * k : SIZE * (k + 1), :SIZE] = masses[-1]
    c.counts[cones.CONTACTS] = contacts
    for i in range(contacts):
        c.node[i] = rng.choice(nodes, 2, replace=False)
        if rng.random() < 0.3:
            c.node[i, 0] = -1
        W = np.zeros((3, 3))
        for side, node in enumerate(c.node[i]):
            if node >= 0:
                own = slice(6 * i + 3 * side, 6 * i + 3 * side + 3)
                c.rows[own, :SIZE] = rng.normal(size=(3, SIZE))
                c.columns[own, :SIZE] = np.linalg.solve(masses[node], c.rows[own, :SIZE].T).T
                W += c.rows[own] @ c.columns[own].T
        c.local[i] = (W + cones.SINGULAR * np.trace(W) * np.diag([0.0, 1.0, 1.0]))[np.triu_indices(3)]
    c.friction[:], c.free[:] = rng.uniform(0.0, friction, contacts), rng.normal(size=SIZE * nodes)
    return c


def velocities(c: cones.Cones) -> np.ndarray:
    """Of all contacts after the impulses."""
    return np.array([[cones.velocity(c, i, k) for k in range(3)] for i in range(len(c.p))])


@pytest.mark.parametrize(("contacts", "nodes"), [(5, 3), (12, 6), (25, 8)])
def test_impulses_fulfil_the_laws_of_coulomb_and_signorini(contacts: int, nodes: int) -> None:
    for seed in range(8):
        c = problem(seed, contacts, nodes)
        cones.solve_problem(c, 1e-10)
        assert c.statistics[cones.RESIDUAL] < 1e-10
        v, p = velocities(c), c.p
        rub, slip = np.linalg.norm(p[:, 1:], axis=1), np.linalg.norm(v[:, 1:], axis=1)
        assert (p[:, 0] >= 0.0).all()
        assert (v[:, 0] > -1e-8).all()
        assert np.abs(p[:, 0] * v[:, 0]).max() < 1e-7
        assert (rub <= c.friction * p[:, 0] * (1.0 + 1e-12)).all()
        assert np.abs((p[:, 1:] * v[:, 1:]).sum(axis=1) + c.friction * p[:, 0] * slip).max() < 1e-7


def test_contacts_apart_neither_press_nor_close() -> None:
    """Half of the contacts of a crowd lie apart by what may close in a step; those left out are none that would."""
    left_out = 0
    for seed in range(8):
        c = problem(seed, 60, 20)
        gaps = np.random.default_rng(seed).uniform(0.0, 2.0, 60)
        c.bound[::2] = -gaps[::2]
        cones.solve_problem(c, 1e-10)
        assert c.statistics[cones.RESIDUAL] < 1e-10
        v, p = velocities(c), c.p
        assert (p[:, 0] >= 0.0).all()
        assert (v[:, 0] - c.bound > -1e-8).all()
        assert np.abs(p[:, 0] * (v[:, 0] - c.bound)).max() < 1e-7
        left_out += int((c.part == cones.OUT).sum())
    assert left_out > 60


def test_heavy_bodies_on_light_ones() -> None:
    """A million times as heavy: sweeps alone do not get there."""
    for seed in range(6):
        c = problem(seed, 10, 5, spread=6.0)
        cones.solve_problem(c, 1e-6)
        assert c.statistics[cones.RESIDUAL] < 1e-6


def test_compiled_impulses_are_those_of_the_interpreter() -> None:
    machine, plain = problem(1, 4, 3), problem(1, 4, 3)
    cones.solve_problem(machine, 1e-10)
    cones.solve_problem.function(plain, 1e-10)
    assert plain.p == pytest.approx(machine.p, rel=1e-7, abs=1e-9)


def test_islands_are_the_parts_that_contacts_join() -> None:
    c = cones.cones_of(np.arange(7) * SIZE, 5)
    c.counts[cones.CONTACTS] = 5
    c.node[:] = [(0, 1), (-1, 4), (2, 3), (1, 5), (-1, 3)]
    cones.find_islands(c)
    count = int(c.counts[cones.ISLANDS])
    found = [c.order[c.begin[k] : c.begin[k + 1]].tolist() for k in range(count)]
    assert found == [[0, 3], [1], [2, 4]]


def test_one_body_disturbed_in_a_crowd() -> None:
    """The impulses solve the problem after a blow to one of many bodies: most contacts need no new state."""
    for seed in range(4):
        c = problem(seed, 90, 40)
        cones.solve_problem(c, 1e-10)
        quiet = c.p.copy()
        struck = c.node[quiet[:, 0].argmax()].max()
        c.free[SIZE * struck : SIZE * (struck + 1)] += np.random.default_rng(seed).normal(size=SIZE)
        cones.solve_problem(c, 1e-10)
        assert c.statistics[cones.RESIDUAL] < 1e-10
        u = c.free.copy()
        for i in range(90):
            for side, node in enumerate(c.node[i]):
                if node >= 0:
                    own = slice(6 * i + 3 * side, 6 * i + 3 * side + 3)
                    u[SIZE * node : SIZE * (node + 1)] += c.p[i] @ c.columns[own, :SIZE]
        assert c.u == pytest.approx(u, abs=1e-9)
        assert np.abs(c.p - quiet).max() > 1e-3


def test_a_problem_has_the_same_bits_after_another_one() -> None:
    fresh, used, other = problem(1, 60, 20), problem(1, 60, 20), problem(2, 60, 20)
    cones.solve_problem(fresh, 1e-10)
    for name in ("rows", "columns", "mass", "local", "friction", "free", "node"):
        mine, its = getattr(used, name), getattr(other, name)
        kept = mine.copy()
        mine[:] = its
        its[:] = kept
    cones.solve_problem(used, 1e-10)
    for name in ("rows", "columns", "mass", "local", "friction", "free", "node"):
        getattr(used, name)[:] = getattr(other, name)
    used.p[:] = 0.0
    cones.solve_problem(used, 1e-10)
    assert used.p.tobytes() == fresh.p.tobytes()
    assert used.u.tobytes() == fresh.u.tobytes()
