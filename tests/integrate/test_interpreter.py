"""The loops of the integrators: the interpreter makes the steps that the machine code makes."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from bellcrank.integrate import METHODS, Options, Status
from bellcrank.integrate.run import Run
from bellcrank.program.loops.layout import words
from integrate.problems import falling_ball, pendulum_in_the_plane, van_der_pol


@pytest.mark.parametrize("method", [m for m in METHODS if m != "auto"])
@pytest.mark.parametrize("problem", [pendulum_in_the_plane, falling_ball, lambda: van_der_pol(0.1)])
def test_the_interpreter_makes_the_same_steps(method, problem, monkeypatch):
    options = Options(rtol=1e-6, atol=1e-8, fixed_step=0.01 if method == "runge_kutta4" else 0.0)
    found = []
    for compiled in (True, False):
        if not compiled:
            monkeypatch.setattr(Run, "_call", lambda run, entry: Status(entry.function(run.arrays)))
        run = Run(problem(), method, np.linspace(0.05, 0.4, 8), 0.4, options)
        while run.advance(10**6) != 0:
            pass
        found.append(run)
    assert found[0].ints.tolist() == found[1].ints.tolist()
    # Contracted products move step sizes in their last places, which the tolerance of the run lets be seen.
    assert found[0].out_y == pytest.approx(found[1].out_y, rel=1e-9, abs=1e-10)


def test_a_run_lays_out_its_arrays_as_entries_take_them():
    run = Run(falling_ball(), "radau", np.linspace(0.05, 0.4, 8), 0.4, Options())
    found: list[int] = []
    words(run.integrator.advance.types[0], run.arrays, found, [])
    laid_out = (ctypes.c_int64 * len(found)).from_address(run._words_at)
    assert list(laid_out) == found
