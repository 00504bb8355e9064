"""A method says of itself all that others need to know: a new one is one file."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank.integrate
from bellcrank.errors import ModelError
from bellcrank.integrate import METHODS, Options, integrate
from bellcrank.integrate.methods import AUTO, load
from integrate.problems import oscillator

HEUN = """
import numpy as np
from bellcrank.integrate.embedded import Table, integrator

METHOD = integrator(Table(
    name="heun", purpose="explicit, order 2, fixed step", sources=("Heun 1900",), order=2,
    a=np.array([[0.0, 0.0], [1.0, 0.0]]), b=np.array([0.5, 0.5]), c=np.array([0.0, 1.0]), errors=np.zeros((0, 3)),
    extra_a=np.zeros((0, 3)), extra_c=np.zeros(0), dense=np.zeros((0, 3)), exponent=0.0, beta=0.0, grow=1.0, shrink=1.0,
    stability=2.0, reach=1.0,
))
"""


def test_every_method_says_what_it_is():
    methods = [load(name) for name in METHODS if name != AUTO]
    assert [m.name for m in methods] == [name for name in METHODS if name != AUTO]
    assert all(m.purpose and m.sources for m in methods)
    assert {m.name for m in methods if m.implicit} == {"radau", "generalised_alpha"}
    assert {m.name for m in methods if not m.adaptive} == {"runge_kutta4"}


def test_a_file_adds_a_method(tmp_path, monkeypatch):
    (tmp_path / "heun.py").write_text(HEUN)
    monkeypatch.setattr(bellcrank.integrate, "__path__", [*bellcrank.integrate.__path__, str(tmp_path)])
    assert "heun" in METHODS
    with pytest.raises(ModelError, match="fixed_step"):
        integrate(oscillator(), "heun", [1.0], Options())
    errors = []
    for step in (0.01, 0.005):
        run = integrate(oscillator(), "heun", [1.0], Options(fixed_step=step))
        errors.append(np.linalg.norm(run.y[-1] - [np.cos(1.0), -np.sin(1.0)]))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)
