"""CasADi functions against the kernel, and their derivatives against differences and our own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from bellcrank.mechanism import analyse
from bellcrank.program.derive import jvp_program
from bellcrank.program.evaluate import evaluate
from bellcrank.program.kernel import compile_program
from bellcrank.verify.full_car import full_car_system
from mechanism.linkages import four_bar
from program.c_compiler import relative
from program.samples import close, programs, states
from program.test_c import chain_system, random_inputs

pytest.importorskip("casadi", reason="CasADi is not installed")

MECHANISMS = {"car": lambda: full_car_system("bump"), "four-bar": four_bar, "chain": chain_system}


@pytest.mark.parametrize("name", MECHANISMS)
def test_numbers_are_the_kernels(name: str) -> None:
    mechanism = analyse(MECHANISMS[name]())
    functions = mechanism.export_casadi()
    traced = mechanism.traced()
    n = len(functions.states)
    rng = np.random.default_rng(3)
    rates, full = compile_program(traced.rates), compile_program(traced.full)
    for _ in range(5):
        x = random_inputs(mechanism, rng)
        t, y, p = x[0], x[1 : 1 + n], x[1 + n :]
        assert relative(np.array(functions.rates(t, y, p)).ravel(), rates(x)) < 1e-13
        outputs = np.concatenate([np.array(a).ravel() for a in functions.outputs(t, y, p)])
        assert relative(outputs, full(x)) < 1e-13


def test_derivatives() -> None:
    import casadi

    mechanism = analyse(chain_system())
    functions = mechanism.export_casadi()
    n = len(functions.states)
    x = random_inputs(mechanism, np.random.default_rng(5))
    t, y, p = casadi.SX.sym("t"), casadi.SX.sym("y", n), casadi.SX.sym("p", len(functions.parameters))
    jacobian = casadi.Function("jacobian", [t, y, p], [casadi.jacobian(functions.rates(t, y, p), y)])
    found = np.array(jacobian(x[0], x[1 : 1 + n], x[1 + n :]))
    tangent = compile_program(jvp_program(mechanism.traced().rates))
    for k in range(n):
        direction = np.zeros(len(x))
        direction[1 + k] = 1.0
        assert relative(found[:, k], tangent(np.concatenate([x, direction]))[n:]) < 1e-11


@settings(max_examples=25, deadline=None)
@given(program=programs(), rows=states)
def test_any_program(program, rows) -> None:
    from bellcrank.program.casadi import casadi_function

    function = casadi_function(program)
    for row in rows:
        close(np.array(function(np.array(row))).ravel(), evaluate(program, np.array(row)))


def test_sizes_must_fit() -> None:
    from bellcrank.program.casadi import casadi_function

    program = analyse(four_bar()).traced().rates
    with pytest.raises(ValueError, match="the vectors hold 3"):
        casadi_function(program, {"x": 3})
