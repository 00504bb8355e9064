"""Designs and distributions against what defines them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bellcrank.errors import ModelError
from bellcrank.study import (
    Choice,
    Given,
    Grid,
    LatinHypercube,
    LogNormal,
    LogUniform,
    MonteCarlo,
    Normal,
    OneAtATime,
    Sobol,
    Triangular,
    Truncated,
    Uniform,
)

PEERS = [
    (Uniform(-1.0, 3.0), stats.uniform(-1.0, 4.0)),
    (LogUniform(0.1, 10.0), stats.loguniform(0.1, 10.0)),
    (Normal(2.0, 0.5), stats.norm(2.0, 0.5)),
    (LogNormal(3.0, 0.4), stats.lognorm(0.4, scale=3.0)),
    (Triangular(1.0, 2.0, 4.0), stats.triang(1.0 / 3.0, 1.0, 3.0)),
    (Triangular(1.0, 1.0, 4.0), stats.triang(0.0, 1.0, 3.0)),
    (Triangular(1.0, 4.0, 4.0), stats.triang(1.0, 1.0, 3.0)),
    (Truncated(Normal(2.0, 0.5), 1.0, 2.2), stats.truncnorm(-2.0, 0.4, 2.0, 0.5)),
]


@pytest.mark.parametrize(("ours", "peer"), PEERS, ids=lambda d: getattr(d, "kind", ""))
def test_quantiles_and_shares_are_those_of_scipy(ours, peer) -> None:
    p = np.linspace(0.001, 0.999, 57)
    np.testing.assert_allclose(ours.quantile(p), peer.ppf(p), rtol=1e-9)
    x = peer.ppf(p)
    np.testing.assert_allclose(ours.share(x), p, rtol=1e-9)
    low, high = ours.range
    assert low < ours.middle < high
    assert np.isfinite([low, high]).all()


def test_choice_takes_each_value_alike() -> None:
    found = Choice([3.0, 1.0, 2.0]).quantile((np.arange(300) + 0.5) / 300)
    np.testing.assert_array_equal(np.unique(found, return_counts=True), [[1.0, 2.0, 3.0], [100, 100, 100]])


VARIABLES = {"a": Uniform(0.0, 1.0), "b": Normal(5.0, 2.0), "c": LogUniform(1.0, 100.0)}


@pytest.mark.parametrize("design", [MonteCarlo(64, seed=7), LatinHypercube(64, seed=7), Sobol(64, seed=7)])
def test_draws_are_seeded(design) -> None:
    one, two = design.table(VARIABLES), design.table(VARIABLES)
    other = type(design)(64, seed=8).table(VARIABLES)
    for name in VARIABLES:
        np.testing.assert_array_equal(one[name], two[name])
        assert not np.array_equal(one[name], other[name])
        assert np.isfinite(one[name]).all()


def test_monte_carlo_of_more_runs_begins_with_the_same() -> None:
    few, many = MonteCarlo(10, seed=1).table(VARIABLES), MonteCarlo(100, seed=1).table(VARIABLES)
    for name in VARIABLES:
        np.testing.assert_array_equal(few[name], many[name][:10])


@pytest.mark.parametrize("design", [LatinHypercube(50, seed=3), Sobol(64, seed=3)])
def test_every_share_holds_one_run(design) -> None:
    table = design.table(VARIABLES)
    for name, d in VARIABLES.items():
        shares = np.floor(d.share(table[name]) * design.runs + 1e-9).astype(int)
        np.testing.assert_array_equal(np.sort(shares), np.arange(design.runs))


def test_sobol_integrates_better_than_chance() -> None:
    """The integral of a smooth product over the cube: errors fall about like 1/n, not like 1/sqrt(n)."""
    variables = {name: Uniform(0.0, 1.0) for name in "abcd"}

    def error(design) -> float:
        table = design.table(variables)
        return abs(np.prod([1.5 * np.sqrt(v) for v in table.values()], axis=0).mean() - 1.0)

    drawn = np.mean([error(MonteCarlo(1024, seed=s)) for s in range(8)])
    even = np.mean([error(Sobol(1024, seed=s)) for s in range(8)])
    assert even < 0.1 * drawn


def test_unscrambled_sobol_keeps_unbounded_variables_finite() -> None:
    assert np.isfinite(Sobol(8, scramble=False).table({"b": Normal(0.0, 1.0)})["b"]).all()


def test_grid_is_the_product_of_its_levels() -> None:
    variables = {"a": Uniform(0.0, 1.0), "b": Choice([4.0, 2.0]), "c": Uniform(-1.0, 1.0)}
    table = Grid({"a": 3, "c": 2}).table(variables)
    rows = set(zip(*(v.tolist() for v in table.values()), strict=True))
    assert rows == {(a, b, c) for a in (0.0, 0.5, 1.0) for b in (2.0, 4.0) for c in (-1.0, 1.0)}
    assert len(table["a"]) == 12
    assert Grid(1).table(variables)["a"].tolist() == [0.5, 0.5]


def test_one_at_a_time_moves_one_at_a_time() -> None:
    variables = {"a": Uniform(0.0, 1.0), "b": Uniform(10.0, 20.0)}
    table = OneAtATime(3, base={"a": 0.25}).table(variables)
    np.testing.assert_array_equal(table["a"], [0.25, 0.0, 0.5, 1.0, 0.25, 0.25, 0.25])
    np.testing.assert_array_equal(table["b"], [15.0, 15.0, 15.0, 15.0, 10.0, 15.0, 20.0])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Uniform(2.0, 1.0), "low must lie below high"),
        (lambda: Normal(0.0, 0.0), "deviation must be positive"),
        (lambda: Normal(np.nan, 1.0), "mean must be finite"),
        (lambda: LogUniform(0.0, 1.0), "low must be positive"),
        (lambda: Triangular(0.0, 2.0, 1.0), "low <= mode <= high"),
        (lambda: Truncated(Normal(0.0, 1.0), 50.0, 60.0), "nothing of it lies"),
        (lambda: Choice([]), "one finite value"),
        (lambda: MonteCarlo(0), "runs of a monte carlo"),
        (lambda: Grid(0), "levels of a grid"),
        (lambda: Grid({"x": 3}).table(VARIABLES), "no variable named 'x'"),
        (lambda: Grid(2000).table(VARIABLES), "8,000,000,000 runs"),
        (lambda: OneAtATime(1), "from 2 on"),
        (lambda: Given({"a": [1.0], "b": [1.0, 2.0]}).table(VARIABLES), "differ in length"),
        (lambda: MonteCarlo(3).table({}), "at least one thing"),
    ],
)
def test_mistakes_are_told(make, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        make()
