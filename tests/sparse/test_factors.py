"""Sparse equations: solutions against dense ones, order and forecast, failures that say where."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as la
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bellcrank.sparse import cholesky
from bellcrank.sparse.cholesky import Elimination, NotPositive, TooLarge
from bellcrank.sparse.dissection import dissected
from bellcrank.sparse.iterations import lowest_modes, solve_mass

Array = NDArray[np.float64]


def lattice(n: int, width: int = 3) -> tuple[sp.csr_array, Array]:
    """Springs between the neighbours on a cube of n^3 places with `width` unknowns each, held nowhere."""
    line = sp.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    line = sp.csr_array(line - sp.diags_array(np.eye(n)[0] + np.eye(n)[-1]))
    one = sp.eye_array(n)
    K = sum(sp.kron(sp.kron(a, b), c) for a, b, c in ((line, one, one), (one, line, one), (one, one, line)))
    places = np.stack(np.meshgrid(*[np.arange(n, dtype=float)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    mixed = np.eye(width) + 0.2
    return sp.csr_array(sp.kron(K, mixed)), np.repeat(places, width, axis=0)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(8, 400), st.integers(0, 5))
def test_solutions_are_those_of_a_dense_solver(seed: int, n: int, tail: int) -> None:
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=3.0 / n, rng=rng)
    A = A @ A.T + 0.1 * sp.eye_array(n)
    B = sp.random_array((tail, n), density=0.5, rng=rng) + sp.eye_array(tail, n) if tail else None
    if B is not None:
        A = sp.block_array([[A, B.T], [B, None]])
    A = sp.csr_array(A)
    last = np.arange(n, A.shape[0])
    right = rng.standard_normal((A.shape[0], 3))
    factor = Elimination(A, rng.standard_normal((A.shape[0], 2)), last).factorised(A)
    scale = np.abs(la.solve(A.toarray(), right)).max()
    np.testing.assert_allclose(factor.solve(right), la.solve(A.toarray(), right), atol=1e-8 * scale)
    np.testing.assert_allclose(factor.solve(right[:, 0]), factor.solve(right)[:, 0], atol=1e-9 * scale)


@pytest.mark.parametrize("apart", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("sizes", [(2, 5), (3, 6), (3, 3, 6)])
def test_bodies_beside_each_other(sizes: tuple[int, ...], apart: float) -> None:
    """A cut through one of them leaves another one connected to nothing behind it."""
    bodies = [lattice(n) for n in sizes]
    A = sp.csr_array(sp.block_diag([K for K, _ in bodies])) + sp.eye_array(sum(3 * n**3 for n in sizes))
    x = np.vstack([places + np.array([2.0, 0.3, apart]) * k for k, (_, places) in enumerate(bodies)])
    right = np.random.default_rng(4).standard_normal(A.shape[0])
    found = Elimination(A, x).factorised(sp.csr_array(A)).solve(right)
    np.testing.assert_allclose(A @ found, right, atol=1e-12 * np.abs(right).max() * A.shape[0])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(8, 400), st.integers(0, 5), st.sampled_from([1e-3, 1.0, 1e9]))
def test_factors_in_single_precision_solve_to_double(seed: int, n: int, tail: int, unit: float) -> None:
    """Whatever the units, with last unknowns that make the matrix indefinite and without."""
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=3.0 / n, rng=rng)
    A = unit * (A @ A.T + 1e-3 * sp.eye_array(n))
    B = sp.random_array((tail, n), density=0.5, rng=rng) + sp.eye_array(tail, n) if tail else None
    if B is not None:
        A = sp.block_array([[A, unit * B.T], [unit * B, None]])
    A = sp.csr_array(A)
    right = rng.standard_normal((A.shape[0], 20))
    right[:, 3] = 0.0
    elimination = Elimination(A, rng.standard_normal((A.shape[0], 2)), np.arange(n, A.shape[0]))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(cholesky, "SINGLE", 0)
        factor = elimination.factorised(A)
    found, wanted = factor.solve(right), la.solve(A.toarray(), right)
    assert factor.single
    np.testing.assert_allclose(found, wanted, atol=1e-10 * np.abs(wanted).max())
    np.testing.assert_array_equal(found[:, 3], 0.0)


def test_where_single_precision_does_not_do_factors_are_double(monkeypatch: pytest.MonkeyPatch) -> None:
    """A condition number beyond 1e10: the residual is that of double factors all the same."""
    K, places = lattice(8)
    A = sp.csr_array(K + 1e-10 * sp.eye_array(K.shape[0]))
    right = np.random.default_rng(0).standard_normal((A.shape[0], 2))
    wanted = Elimination(A, places).factorised(A).solve(right)
    monkeypatch.setattr(cholesky, "SINGLE", 0)
    elimination = Elimination(A, places)
    factor = elimination.factorised(A)
    assert factor.single
    assert elimination.forecast.memory < elimination.forecast_of(single=False).memory
    np.testing.assert_array_equal(factor.solve(right), wanted)
    assert not factor.single


def test_half_solutions_give_corners_of_the_inverse() -> None:
    K, places = lattice(6)
    A = sp.csr_array(K + sp.eye_array(K.shape[0]))
    at = np.array([5, 17, 300, 640])
    rows, y = Elimination(A, places).factorised(A).half(at)
    np.testing.assert_allclose(y.T @ y, np.linalg.inv(A.toarray())[np.ix_(at, at)], atol=1e-13)
    assert len(rows) < A.shape[0]


def test_every_unknown_is_eliminated_once_and_halves_do_not_touch() -> None:
    K, places = lattice(10, 1)
    parts = dissected(K, places, np.array([3]))
    order = np.concatenate([part.unknowns for part in parts])
    assert sorted(order) == list(range(1000))
    assert parts[-1].unknowns.tolist() == [3]
    left, right = (_below(parts, child) for child in parts[parts[-1].children[0]].children)
    assert K[left][:, right].nnz == 0
    # A cube of 10^3 is separated by one plane of 10^2.
    assert len(parts[parts[-1].children[0]].unknowns) == 100


def _below(parts: list, top: int) -> list[int]:
    found = list(parts[top].unknowns)
    for child in parts[top].children:
        found += _below(parts, child)
    return found


def test_fill_grows_as_nested_dissection_promises() -> None:
    """Entries as n^(4/3), operations as n^2, for n unknowns in space (George 1973)."""
    small, large = (Elimination(*lattice(n, 1)).forecast for n in (12, 24))
    assert large.entries / small.entries < 1.1 * 8 ** (4 / 3)
    assert large.operations / small.operations < 1.1 * 8**2


def test_forecast_is_what_the_factors_hold() -> None:
    K, places = lattice(8)
    elimination = Elimination(K + sp.eye_array(K.shape[0]), places)
    factor = elimination.factorised(K + sp.eye_array(K.shape[0]))
    assert elimination.forecast.entries == sum(a.size + b.size for a, b in factor._blocks)
    assert elimination.forecast.memory >= 8 * elimination.forecast.entries
    assert "1536 unknowns" in str(elimination.forecast)


def test_what_nothing_holds_is_named() -> None:
    K, places = lattice(4, 1)
    with pytest.raises(NotPositive):
        Elimination(K, places).factorised(K)
    loose = sp.csr_array(sp.block_diag([K + sp.eye_array(64), sp.csr_array((1, 1))]))
    with pytest.raises(NotPositive, match="unknown 64"):
        Elimination(loose, np.vstack([places, [9.0, 9.0, 9.0]])).factorised(loose)


def test_too_large_is_known_before(monkeypatch: pytest.MonkeyPatch) -> None:
    K, places = lattice(4, 1)
    monkeypatch.setattr(cholesky, "free_memory", lambda: 1000)
    with pytest.raises(TooLarge, match="64 unknowns needs"):
        Elimination(K, places).factorised(K + sp.eye_array(64))


def test_progress_ends_at_one() -> None:
    K, places = lattice(6)
    A = sp.csr_array(K + sp.eye_array(K.shape[0]))
    shares: list[float] = []
    Elimination(A, places).factorised(A, shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)


def test_lowest_modes_of_a_cube_with_all_their_multiplicities() -> None:
    """Frequencies of springs on a lattice: sums of 4 sin^2(pi k / 2 n); many coincide."""
    n = 7
    K, places = lattice(n, 1)
    one = 4 * np.sin(np.pi * np.arange(n) / (2 * n)) ** 2
    exact = np.sort((one[:, None, None] + one[:, None] + one).ravel())[:12]
    A = sp.csr_array(K / 1.2 + sp.eye_array(n**3))
    factor = Elimination(A, places).factorised(A)
    X = lowest_modes(factor.solve, sp.eye_array(n**3, format="csr"), 12)
    np.testing.assert_allclose(np.einsum("ij,ij->j", X, A @ X), exact + 1.0, rtol=1e-12)
    np.testing.assert_allclose(X.T @ X, np.eye(12), atol=1e-12)


def test_mass_matrices_settle_by_iteration_and_others_say_so() -> None:
    n = 300
    M = sp.csr_array(sp.diags_array([np.ones(n - 1), 4 * np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1]))
    right = np.random.default_rng(1).standard_normal((n, 2))
    found = solve_mass(M, right)
    assert found is not None
    np.testing.assert_allclose(found, la.solve(M.toarray(), right), rtol=1e-10)
    assert solve_mass(sp.csr_array(sp.diags_array(np.arange(3.0))), np.ones(3)) is None
