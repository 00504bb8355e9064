"""The free slider-crank in casadi: one coordinate, integrated by CVODES of Sundials."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from typing import Any

import casadi
import numpy as np

from benchmarks.peers import minimal_simulation as minimal
from benchmarks.simulation import Rung
from benchmarks.simulation_slider_crank import error, ladder


def slider_crank(method: str, machine_code: bool = False) -> Iterator[Rung]:
    """Rungs of falling tolerance; `method` is "bdf" or "adams" (with functional iteration)."""
    y = casadi.SX.sym("y", 2)
    inertia, slope, weight = minimal.terms(y[0], casadi)
    rates = casadi.vertcat(y[1], -(0.5 * slope * y[1] ** 2 + weight) / inertia)
    options: dict[str, Any] = {"linear_multistep_method": method, "max_num_steps": 10_000_000}
    if method == "adams":
        options["nonlinear_solver_iteration"] = "functional"
    if machine_code:
        # The rates through a C compiler instead of casadi's virtual machine.
        options |= {"jit": True, "compiler": "shell", "jit_options": {"flags": ["-O3", "-march=native"]}}
    start = np.array([minimal.ANGLE, minimal.RATE])
    for tolerance in ladder(1e-3, 1e-13, 2 if machine_code else 4):
        given = options | {"reltol": tolerance, "abstol": 0.01 * tolerance}
        # The compiler's files go to the current folder, and from there when the integrator does.
        with contextlib.chdir(tempfile.mkdtemp()):
            run = casadi.integrator("run", "cvodes", {"x": y, "ode": rates}, 0.0, [minimal.DURATION], given)
        yield Rung(
            f"tolerance {tolerance:.1e}",
            lambda run=run: run(x0=start),
            lambda found: np.array(found["xf"]).ravel(),
            error,
        )
