"""The text for graphics processors, run on this one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from bellcrank.integrate import dop853, dormand_prince5, runge_kutta4, runge_kutta5
from bellcrank.integrate.cuda import Problem, integration
from bellcrank.mechanism import analyse
from bellcrank.mechanism.export import export_of
from bellcrank.program import cuda, gpu
from bellcrank.program.evaluate import evaluate as interpreted
from bellcrank.program.functions import cos, sin
from bellcrank.program.gpu import evaluate, integrate_adaptive, integrate_fixed
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import compile_program
from bellcrank.program.order import few_live
from bellcrank.program.program import Program
from bellcrank.program.schedule import schedule
from bellcrank.verify.full_car import full_car_system
from mechanism.linkages import four_bar
from program.c_compiler import needs_gxx, relative
from program.cuda_shim import Processor
from program.samples import close, programs, states
from program.test_c import chain_system

pytestmark = needs_gxx


def problem_of(mechanism) -> Problem:
    e = export_of(mechanism)
    return Problem(e.rates, e.projection, len(e.states), len(e.parameters))


def rows_near(mechanism, count: int, spread: float = 0.02) -> np.ndarray:
    rng = np.random.default_rng(8)
    x = np.tile(mechanism.kernel_input(), (count, 1))
    n = mechanism.linkage.positions + mechanism.degrees_of_freedom
    x[:, 1 : 1 + n] += rng.normal(0.0, spread, (count, n))
    return x


@pytest.mark.parametrize(("precision", "bound"), [("double", 1e-13), ("single", 2e-4)])
def test_the_car(tmp_path, precision: str, bound: float) -> None:
    mechanism = analyse(full_car_system("bump"))
    problem = problem_of(mechanism)
    x = rows_near(mechanism, 5)
    n = problem.states
    source = cuda.evaluation(problem.rates, n, precision, 4)
    real = np.float64 if precision == "double" else np.float32
    got = evaluate(Processor(tmp_path), source, 4, x[:, 0], x[:, 1 : 1 + n], x[:, 1 + n :], n, real)
    expected = compile_program(problem.rates).many(x)
    assert relative(got, expected) < bound


@pytest.mark.parametrize(
    ("precision", "largest", "bound"), [("double", 2.0**27, 3e-16), ("single", 3e3, 2e-7)]
)
def test_sine_and_cosine(tmp_path, precision: str, largest: float, bound: float) -> None:
    graph = Graph()
    t, y = graph.input("t"), graph.input("y")
    program = Program.of([t, y], [sin(y), cos(y)])
    real = np.float64 if precision == "double" else np.float32
    rng = np.random.default_rng(2)
    turns = np.arange(-50, 51) * (np.pi / 2)
    y = np.concatenate([turns, rng.uniform(-4, 4, 200), rng.uniform(-largest, largest, 200)]).astype(real)
    source = cuda.evaluation(program, 1, precision, 8)
    got = evaluate(
        Processor(tmp_path),
        source,
        8,
        np.zeros(len(y)),
        y[:, None].astype(float),
        np.zeros((len(y), 0)),
        2,
        real,
    )
    exact = np.stack([np.sin(y.astype(float)), np.cos(y.astype(float))], axis=1)
    assert np.abs(got - exact).max() < bound
    far = evaluate(Processor(tmp_path), source, 8, np.zeros(1), np.array([[1e12]]), np.zeros((1, 0)), 2, real)
    assert np.isnan(far).all()


@pytest.mark.parametrize("make", [four_bar, chain_system], ids=["four-bar", "chain"])
def test_fixed_steps(tmp_path, make) -> None:
    mechanism = analyse(make())
    problem = problem_of(mechanism)
    x = mechanism.kernel_input()
    n, rows = problem.states, 3
    y, p = np.tile(x[1 : 1 + n], (rows, 1)), np.tile(x[1 + n :], (rows, 1))
    source = integration(problem, runge_kutta4.TABLE, "double", 2)
    found, status = integrate_fixed(
        Processor(tmp_path), source, 2, 0.0, y, p, 1e-3, 100, 50, np.float64, 1e-11
    )
    assert not status.any()
    expected = mechanism.simulate(0.1, integrator="runge_kutta4", step=1e-3, output=2)
    positions = mechanism.linkage.positions
    for sample in (0, 1):
        for row in range(rows):
            got = found[sample, :positions, row]
            np.testing.assert_allclose(got, expected.q[sample + 1], rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("table", [dormand_prince5.TABLE, runge_kutta5.TABLE], ids=lambda t: t.name)
@pytest.mark.parametrize("make", [four_bar, chain_system], ids=["four-bar", "chain"])
def test_adaptive_steps(tmp_path, make, table) -> None:
    mechanism = analyse(make())
    problem = problem_of(mechanism)
    x = mechanism.kernel_input()
    n = problem.states
    y, p = x[None, 1 : 1 + n].repeat(3, 0), x[None, 1 + n :].repeat(3, 0)
    if p.size:
        p[1] *= 2.0
    source = integration(problem, table, "double", 2)
    times = np.array([0.1, 0.25, 0.3])
    found, status, counts = integrate_adaptive(
        Processor(tmp_path), source, 2, 0.0, y, p, times, 1e-10, 1e-12, np.float64, 1e-11
    )
    assert not status.any()
    assert (counts > 3).all()
    expected = mechanism.simulate(0.3, integrator="dop853", tolerance=1e-12, output=times)
    positions = mechanism.linkage.positions
    np.testing.assert_allclose(found[:, :positions, 0], expected.q, rtol=0.0, atol=1e-8)
    np.testing.assert_array_equal(found[:, :, 0], found[:, :, 2])


def test_a_state_that_is_not_finite_is_reported(tmp_path) -> None:
    mechanism = analyse(four_bar())
    problem = problem_of(mechanism)
    x = mechanism.kernel_input()
    y = np.tile(x[1:], (2, 1))
    y[1, -1] = np.inf
    none = np.zeros((2, 0))
    fixed = integration(problem, runge_kutta4.TABLE, "double", 2)
    _, status = integrate_fixed(Processor(tmp_path), fixed, 2, 0.0, y, none, 1e-3, 10, 10, np.float64, 1e-11)
    np.testing.assert_array_equal(status, [0, 2])


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=programs(), rows=states)
def test_any_program(tmp_path_factory: pytest.TempPathFactory, program, rows) -> None:
    on = Processor(tmp_path_factory.mktemp("any"))
    x = np.array([*rows, [np.nan] * 5])
    source = cuda.evaluation(program, 3, "double", 4)
    got = evaluate(on, source, 4, x[:, 0], x[:, 1:4], x[:, 4:], len(program.outputs), np.float64)
    close(got, interpreted(program, x.T).T)


def test_the_order_keeps_fewer_values_alive() -> None:
    plan = schedule(analyse(full_car_system("bump")).traced().rates, 1, 10**9)

    def peak(steps) -> int:
        last = {a: k for k, s in enumerate(steps) for a in s.args if type(a) is int}
        alive: set[int] = set()
        most = 0
        for k, s in enumerate(steps):
            alive |= {o for o in s.outs if last.get(o, -1) > k}
            alive -= {a for a in s.args if type(a) is int and last[a] == k}
            most = max(most, len(alive))
        return most

    before = plan.single()
    after = few_live(before)
    assert sorted(before) == sorted(after)
    assert peak(after) < peak(before)


def test_without_a_device_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(self) -> None:
        raise gpu.GpuUnavailable("nothing here")

    monkeypatch.setattr(gpu.CupyDevice, "__init__", nothing)
    monkeypatch.setattr(gpu.DriverDevice, "__init__", nothing)
    with pytest.raises(gpu.GpuUnavailable, match=r"nothing here.*pip install.*simulate_many"):
        gpu.device.__wrapped__()


def test_unknown_methods_are_refused() -> None:
    with pytest.raises(ValueError, match="no kernel for methods with several error estimates, as 'dop853'"):
        integration(problem_of(analyse(four_bar())), dop853.TABLE)
