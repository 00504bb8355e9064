"""The C file against the kernel, and as it would run in hardware in the loop."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from bellcrank.mechanism import analyse
from bellcrank.mechanism.export import export_of
from bellcrank.model import System
from bellcrank.program.c import emit_c
from bellcrank.program.evaluate import evaluate
from bellcrank.program.kernel import compile_program
from bellcrank.verify.full_car import full_car_system
from mechanism.linkages import four_bar
from program.c_compiler import library, needs_gcc, pointer, relative
from program.samples import close, programs, states

pytestmark = needs_gcc


def chain_system(links: int = 6) -> System:
    """Hinges about turning axes, a spring at the end whose stiffness is a parameter."""
    system = System("chain of /* links */", gravity=(0.0, 0.0, -9.81))
    last = system.ground
    for k in range(links):
        body = system.body(f"link {k}", 1.0 + k, (0.1, 0.2, 0.3), (0.2, 0.0, 0.1), at=(0.5 * k, 0.0, 0.0))
        system.revolute(f"hinge {k}", last, body, at=(0.5 * k, 0.0, 0.0), axis="xyz"[k % 3])
        last = body
    stiffness = system.parameter("stiffness", 120.0)
    system.spring("spring", system.ground.point(1, 1, 1), last.point(0.3, 0, 0), stiffness, free_length=1.0)
    return system


MECHANISMS = {"car": lambda: full_car_system("bump"), "four-bar": four_bar, "chain": chain_system}


@pytest.fixture(params=MECHANISMS, scope="module")
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    mechanism = analyse(MECHANISMS[request.param]())
    path = tmp_path_factory.mktemp("c") / "mechanism.c"
    mechanism.export_c(path, "machine")
    return mechanism, export_of(mechanism), library(path)


def random_inputs(mechanism, rng: np.random.Generator) -> np.ndarray:
    """Near the start, moving; loops need not be closed for the programs to agree."""
    x = mechanism.kernel_input()
    n = mechanism.linkage.positions + mechanism.degrees_of_freedom
    x[0] = rng.uniform(0.0, 2.0)
    x[1 : 1 + n] += rng.normal(0.0, 0.05, n)
    return x


def test_numbers_are_the_kernels(exported) -> None:
    mechanism, programs, built = exported
    n = len(programs.states)
    functions = [(programs.rates, built.machine_rates), (programs.full, built.machine_outputs)]
    rng = np.random.default_rng(3)
    for program, function in functions:
        kernel = compile_program(program)
        for _ in range(20):
            x = random_inputs(mechanism, rng)
            y, p, out = x[1 : 1 + n].copy(), np.append(x[1 + n :], 0.0), np.empty(len(program.outputs))
            function(ctypes.c_double(x[0]), pointer(y), pointer(p), pointer(out))
            assert relative(out, kernel(x)) < 1e-13


def test_projection_closes_the_loops(exported) -> None:
    mechanism, programs, built = exported
    built.machine_project.restype = ctypes.c_double
    x = random_inputs(mechanism, np.random.default_rng(4))
    n = len(programs.states)
    y, p, margin = x[1 : 1 + n].copy(), np.append(x[1 + n :], 0.0), np.zeros(1)
    left = built.machine_project(ctypes.c_double(x[0]), pointer(y), pointer(p), pointer(margin))
    assert left <= 1e-11
    assert margin[0] > 0.0
    if programs.projection is not None:
        kernel, z = compile_program(programs.projection), x.copy()
        for _ in range(8):
            z[1 : 1 + n] = kernel(z)[:n]
        np.testing.assert_allclose(y, z[1 : 1 + n], rtol=0.0, atol=1e-12)


def test_fixed_steps_follow_the_simulation(exported) -> None:
    mechanism, programs, built = exported
    n = len(programs.states)
    t, y, p = np.zeros(1), np.zeros(n), np.zeros(len(programs.parameters) + 1)
    built.machine_initialise(pointer(t), pointer(y), pointer(p))
    np.testing.assert_array_equal(y, programs.start)
    np.testing.assert_array_equal(p[:-1], programs.values)
    h = 1e-3
    for _ in range(50):
        assert built.machine_step(pointer(t), pointer(y), pointer(p), ctypes.c_double(h)) == 0
    assert t[0] == pytest.approx(0.05, abs=1e-15)
    expected = mechanism.simulate(0.05, integrator="runge_kutta4", step=h, output=1)
    # The same method, so the same numbers, but for how the steps add up.
    np.testing.assert_allclose(y[: mechanism.linkage.positions], expected.q[-1], rtol=0.0, atol=1e-11)


def test_a_step_that_fails_changes_nothing(exported) -> None:
    _, programs, built = exported
    t, y = np.zeros(1), np.array(programs.start)
    p = np.append(programs.values, 0.0)
    y[-1] = np.inf
    before = y.copy()
    assert built.machine_step(pointer(t), pointer(y), pointer(p), ctypes.c_double(1e-3)) == 2
    np.testing.assert_array_equal(y, before)
    assert t[0] == 0.0


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=programs(), rows=states)
def test_any_program(tmp_path_factory: pytest.TempPathFactory, program, rows) -> None:
    source = tmp_path_factory.mktemp("any") / "program.c"
    source.write_text(emit_c(program, "program"))
    built = library(source)
    for row in [*rows, [np.nan] * 5]:
        x, y = np.array(row), np.empty(len(program.outputs))
        built.program(pointer(x), pointer(y))
        expected = evaluate(program, x)
        close(y, expected)


def test_small_pieces_give_the_same_bits(tmp_path) -> None:
    from bellcrank.program.c import HEAD, functions

    program = analyse(full_car_system("bump")).traced().rates
    texts = [HEAD, functions(program, "whole", limit=10**9), functions(program, "cut", limit=37)]
    (tmp_path / "both.c").write_text("\n".join(texts))
    built = library(tmp_path / "both.c")
    x = np.random.default_rng(1).normal(0.0, 0.3, len(program.inputs))
    whole, cut = np.empty(len(program.outputs)), np.empty(len(program.outputs))
    built.whole(pointer(x), pointer(whole))
    built.cut(pointer(x), pointer(cut))
    np.testing.assert_array_equal(whole, cut)
