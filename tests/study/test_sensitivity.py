"""Global sensitivity against closed forms."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pytest

from bellcrank.errors import BellcrankError, ModelError
from bellcrank.study import Normal, Study, Uniform, morris, sobol_indices
from study.models import cart, runaway

A, B = 7.0, 0.1
ISHIGAMI = {name: Uniform(-math.pi, math.pi) for name in ("x1", "x2", "x3")}


def ishigami(x: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {"y": np.sin(x["x1"]) + A * np.sin(x["x2"]) ** 2 + B * x["x3"] ** 4 * np.sin(x["x1"])}


def test_ishigami() -> None:
    """Ishigami and Homma (1990): D = a^2/8 + b pi^4/5 + b^2 pi^8/18 + 1/2."""
    whole = A**2 / 8 + B * math.pi**4 / 5 + B**2 * math.pi**8 / 18 + 0.5
    one = 0.5 * (1 + B * math.pi**4 / 5) ** 2
    pair = B**2 * math.pi**8 * (1 / 18 - 1 / 50)
    first = {"x1": one / whole, "x2": A**2 / 8 / whole, "x3": 0.0}
    total = {"x1": (one + pair) / whole, "x2": A**2 / 8 / whole, "x3": pair / whole}
    found = sobol_indices(ISHIGAMI, ishigami, 4096, second_order=True, seed=1)
    assert found.runs == 4096 * 8
    for name in ISHIGAMI:
        assert found.first["y"][name] == pytest.approx(first[name], abs=0.01)
        assert found.total["y"][name] == pytest.approx(total[name], abs=0.01)
        # The estimate lies in its interval, with room for one in twenty to leave it.
        assert abs(found.first["y"][name] - first[name]) < 2.0 * found.first_error["y"][name] + 1e-3
    assert found.second["y"]["x1", "x3"] == pytest.approx(pair / whole, abs=0.02)
    assert found.second["y"]["x1", "x2"] == pytest.approx(0.0, abs=0.02)


def test_a_mechanism_whose_variance_is_known() -> None:
    """The cart moves by (a + 2 b + 3 c) / 4: the shares are those of 0.1^2, 0.4^2 and 0.9^2."""
    study = Study(
        cart(),
        {"a": Normal(1.0, 0.1), "b": Normal(2.0, 0.2), "c": Normal(3.0, 0.3)},
        {"end": "final of cart.position.x"},
        1.0,
        output=2,
    )
    found = study.sobol_indices(512, seed=3)
    whole = 0.1**2 + 0.4**2 + 0.9**2
    for name, share in {"a": 0.1**2 / whole, "b": 0.4**2 / whole, "c": 0.9**2 / whole}.items():
        assert found.first["end"][name] == pytest.approx(share, abs=0.02)
        assert found.total["end"][name] == pytest.approx(share, abs=0.02)


def test_effects_of_a_linear_mechanism_are_its_slopes() -> None:
    variables = {"a": Uniform(0.0, 2.0), "b": Uniform(0.0, 1.0), "c": Uniform(-1.0, 1.0)}
    study = Study(cart(), variables, {"end": "final of cart.position.x"}, 1.0, output=2)
    found = study.morris(6, seed=2)
    for name, effect in {"a": 2.0 / 4.0, "b": 2.0 / 4.0, "c": 2.0 * 3.0 / 4.0}.items():
        assert found.strength["end"][name] == pytest.approx(effect, rel=1e-8)
        assert found.mean["end"][name] == pytest.approx(effect, rel=1e-8)
        assert found.spread["end"][name] < 1e-8
    assert found.runs == 6 * 4


def test_effects_reach_unbounded_variables() -> None:
    found = morris({"x": Normal(0.0, 1.0)}, lambda t: {"y": t["x"] ** 2}, 4)
    assert np.isfinite(found.strength["y"]["x"])


def test_mistakes_are_told() -> None:
    with pytest.raises(ModelError, match="power of two"):
        sobol_indices(ISHIGAMI, ishigami, 100)
    with pytest.raises(ModelError, match="does not change"):
        sobol_indices(ISHIGAMI, lambda x: {"y": np.ones(len(x["x1"]))}, 8)
    with pytest.raises(ModelError, match="one finite number a point"):
        sobol_indices(ISHIGAMI, lambda x: {"y": np.full(len(x["x1"]), np.nan)}, 8)
    study = Study(
        runaway(), {"gain": Uniform(0.0, 100.0)}, {"end": "final of cart.position.x"}, 3.0, output=10
    )
    with pytest.raises(BellcrankError, match="runs failed, and indices need all"):
        study.sobol_indices(4)
