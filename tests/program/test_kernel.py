"""Machine code against the NumPy interpreter and against the C library."""

from __future__ import annotations

import math
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings

from bellcrank.program.evaluate import evaluate
from bellcrank.program.functions import atan2, cos, gather, interval, maximum, minimum, sign, sin, where
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import compile_program
from bellcrank.program.llvm import emit
from bellcrank.program.loops import Reals, Reals2, call, call_at, entry
from bellcrank.program.program import Program
from bellcrank.program.schedule import schedule
from bellcrank.program.trace import FUNCTIONS_1, compare, function, power
from program.samples import chain, close, programs, states

SPECIAL = [0.0, -0.0, 0.3, -0.3, 1.0, -1.0, 2.5, -7.25, 1e-300, 1e9, -1e17, 1e300, np.inf, -np.inf, np.nan]


def of(make, n):
    """The program of `make` on n inputs."""
    graph = Graph()
    inputs = [graph.input(f"x{k}") for k in range(n)]
    made = make(*inputs)
    return Program.of(inputs, made if isinstance(made, list) else [made])


def pairs():
    return np.array([(a, b) for a in SPECIAL for b in SPECIAL])


def check_everywhere(program, rows, ulps=4):
    """Interpreter, one state, four lanes, tiny pieces: NaN in the same places, numbers within `ulps`."""
    expected = evaluate(program, rows.T).T
    one = compile_program(program).many(rows)
    np.testing.assert_array_equal(np.isnan(one), np.isnan(expected))
    finite = np.isfinite(expected)
    np.testing.assert_array_equal(one[~finite], expected[~finite])
    np.testing.assert_array_max_ulp(one[finite], expected[finite], ulps)
    for lanes, limit in ((4, 1500), (1, 1), (4, 2)):
        other = compile_program(program, lanes, limit).many(rows)
        np.testing.assert_array_equal(other, one)


@pytest.mark.parametrize("name", FUNCTIONS_1)
def test_function_of_one(name):
    rows = np.array([*SPECIAL, *np.linspace(-3.0, 3.0, 50)])[:, None]
    check_everywhere(of(lambda x: function(name, x), 1), rows)


@pytest.mark.parametrize(
    "make",
    [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: [-a, 2.0 - a, a / 3.0, 1.0 / b],
        minimum,
        maximum,
        lambda a, b: [minimum(a, 0.5), maximum(0.5, b), minimum(-1.0, a), maximum(b, 0.0)],
        atan2,
        power,
        lambda a, b: [sign(a), where(a > b, 1.0, 0.0), where(a >= b, a, 2.0), where(a == b, a, b)],
        lambda a, b: [where(a != b, a, 3.0), where(~(a < b), a, b), where(a < b, 1.0 / a, 0.0)],
        lambda a, b: [where((a < 1.0) & (b < 1.0), a, b), where((a < 1.0) | (b < 1.0), a, b)],
        lambda a, b: [a < b, a <= b, (a < b) * 2.0 + 1.0, where((a < b) | (b < 0.0), 1.0, a < 0.0)],
        lambda a, b: [5.0, a, b, a, float("inf")],
    ],
)
def test_two_arguments(make):
    check_everywhere(of(make, 2), pairs())


def test_fused_sums_round_once():
    program = of(lambda a, b, c, d: [a * b + c, a * b + c, c - a * d, a * c - d, b * b + c * c], 4)
    check_everywhere(program, np.random.default_rng(1).uniform(1.0, 2.0, (20, 4)), ulps=2**12)
    e = 2.0**-30
    fused = compile_program(of(lambda a, b: a * b - 1.0, 2))([1.0 + e, 1.0 - e])
    assert fused[0] in (-e * e, (1.0 + e) * (1.0 - e) - 1.0)


def test_tables():
    points = [-1.0, 0.0, 0.5, 2.0, 2.5, 7.0, 9.0]
    rows = np.array([*SPECIAL, *points, *np.linspace(-2.0, 10.0, 60)])[:, None]
    for n in range(2, len(points) + 1):
        values = [float(k * k) for k in range(n - 1)]

        def look_up(x, n=n, values=values):
            k = interval(x, points[:n])
            return [k, gather(k, values)]

        check_everywhere(of(look_up, 1), rows)
    check_everywhere(of(lambda x: gather(x, [3.0, 1.0, 4.0]), 1), rows)
    check_everywhere(of(lambda x: gather(interval(x, points), [3.0, 1.0]), 1), rows)
    found = compile_program(of(lambda x: interval(x, points), 1)).many(rows)[:, 0]
    known = ~np.isnan(rows[:, 0])
    expected = np.clip(np.searchsorted(points, rows[:, 0], side="right") - 1, 0, len(points) - 2)
    np.testing.assert_array_equal(found[known], expected[known])


def test_nan_is_not_lost():
    program = of(
        lambda a, b: [minimum(a, b), maximum(b, a), minimum(a, 1.0), where(a < 0.0, 1.0, 2.0), sign(a)], 2
    )
    for row in ([np.nan, 1.0], [np.nan, np.nan]):
        assert np.isnan(compile_program(program)(row)).all()
    # A condition that is decided without the NaN, and a NaN in the branch not taken, do no harm.
    harmless = of(lambda a, b: [where((b < 0.0) & (a < 0.0), 1.0, 2.0), where(b < 0.0, a, 3.0)], 2)
    np.testing.assert_array_equal(compile_program(harmless)([np.nan, 1.0]), [2.0, 3.0])


@settings(max_examples=25, deadline=None)
@given(programs(), states)
def test_random_programs(program, rows):
    rows = np.array(rows)
    expected = evaluate(program, rows.T).T
    one = compile_program(program)
    close(one.many(rows), expected)
    assert emit(program) == emit(program)
    for lanes, limit in ((1, 3), (4, 1500), (4, 7)):
        np.testing.assert_array_equal(compile_program(program, lanes, limit).many(rows), one.many(rows))


def test_effort_changes_no_bits(monkeypatch):
    rows = np.random.default_rng(4).uniform(-0.5, 0.5, (5, len(chain(12).inputs)))
    found = []
    for effort in "01":
        monkeypatch.setenv("BELLCRANK_EFFORT", effort)
        found.append(compile_program(chain(12)).many(rows))
    np.testing.assert_array_equal(*found)


def test_chain_in_pieces():
    program = chain(12)
    rows = np.random.default_rng(3).uniform(-0.5, 0.5, (10, len(program.inputs)))
    expected = evaluate(program, rows.T).T
    one = compile_program(program).many(rows)
    np.testing.assert_allclose(one, expected, rtol=1e-10, atol=1e-9)
    for lanes, limit in ((1, 100), (1, 10**6), (4, 100), (8, 300), (2, 300)):
        np.testing.assert_array_equal(compile_program(program, lanes, limit).many(rows), one)


def test_workspace_slots_are_reused():
    plan = schedule(chain(40), limit=200)
    crossing = sum(len(piece.saves) for piece in plan.pieces)
    assert 0 < plan.slots < crossing
    for piece in plan.pieces:
        assert len(piece.steps) <= 200


def test_large_workspace_comes_from_the_heap():
    graph = Graph()
    x = graph.input("x")
    terms = [sin(x * (1.0 + k)) for k in range(2300)]
    total = 0.0
    for term in reversed(terms):
        total = total * 0.5 + term
    program = Program.of([x], [total])
    assert "@malloc" in emit(program, 4, 100)
    row = np.array([[0.3]])
    one = compile_program(program).many(row)
    np.testing.assert_array_equal(compile_program(program, 4, 100).many(row), one)
    close(one, evaluate(program, row.T).T)


def test_text_does_not_depend_on_the_history_of_the_graph():
    def make(before):
        graph = Graph()
        for k in range(before):
            graph.input(f"unused {k}")
        a, b = graph.input("a"), graph.input("b")
        return Program.of([a, b], [sin(a) * b + cos(a), minimum(a, b)])

    assert emit(make(0)) == emit(make(5))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 30.0, 1e3, 1e5, 2.0**28, 1e12])
def test_sine_and_cosine_within_one_unit_in_the_last_place(scale):
    rng = np.random.default_rng(int(scale))
    x = rng.uniform(-scale, scale, 4000)
    quarters = rng.integers(0, max(2, int(scale / math.pi)), 2000).astype(float)
    near = quarters * (math.pi / 2.0)
    x = np.concatenate([x, near, np.nextafter(near, 0.0), np.nextafter(near, np.inf)])
    x = x[: len(x) // 8 * 8]
    graph = Graph()
    angles = [graph.input(f"a{k}") for k in range(8)]
    wide = Program.of(angles, [f(a) for a in angles for f in (sin, cos)])
    found = compile_program(wide).many(x.reshape(-1, 8)).reshape(-1, 2)
    expected = np.array([(math.sin(v), math.cos(v)) for v in x])
    np.testing.assert_array_max_ulp(found, expected, 1)
    single = of(lambda a: [sin(a), cos(a)], 1)
    np.testing.assert_array_equal(compile_program(single).many(x[:, None]), found)
    np.testing.assert_array_equal(compile_program(single, 4).many(x[:, None]), found)


def test_sine_of_special_values():
    kernel = compile_program(of(lambda a, b: [sin(a), cos(a), sin(b), cos(b)], 2))
    for wrong in (np.nan, np.inf, -np.inf):
        found = kernel([wrong, 0.5])
        assert np.isnan(found[:2]).all()
        # The neighbour in the same vector keeps its bits.
        np.testing.assert_array_equal(found[2:], kernel([1.0, 0.5])[2:])
    zero = kernel([-0.0, 5e-324])
    assert math.copysign(1.0, zero[0]) == -1.0
    np.testing.assert_array_equal(zero, [0.0, 1.0, 5e-324, 1.0])


def test_shapes_are_checked():
    kernel = compile_program(of(lambda a, b: a * b, 2))
    four = compile_program(of(lambda a, b: a * b, 2), lanes=4)
    assert four(np.ones((2, 4))).shape == (1, 4)
    assert four.many(np.ones((7, 2))).shape == (7, 1)
    assert kernel.many(np.ones((0, 2))).shape == (0, 1)
    assert kernel.many(np.ones((3, 4))[:, ::2]).shape == (3, 1)
    for wrong in (lambda: kernel([1.0]), lambda: kernel(np.ones((2, 1))), lambda: four([1.0, 2.0])):
        with pytest.raises(ValueError, match="takes inputs of shape"):
            wrong()
    with pytest.raises(ValueError, match="takes rows of shape"):
        kernel.many(np.ones(2))
    with pytest.raises(ValueError, match="lanes"):
        compile_program(of(lambda a: a, 1), lanes=3)
    with pytest.raises(ValueError, match="takes inputs of shape"):
        evaluate(of(lambda a: a, 1), [1.0, 2.0])


def test_program_of_constants():
    kernel = compile_program(Program.of([], [1.5, -2.0]))
    np.testing.assert_array_equal(kernel(np.empty(0)), [1.5, -2.0])
    assert compile_program(Program.of([], []))(np.empty(0)).shape == (0,)


def test_condition_from_another_piece():
    def make(a, b):
        condition = compare("lt", a, b)
        long = a
        for _ in range(20):
            long = sin(long) + b
        return [where(condition, long, a), condition * long]

    check_everywhere(of(make, 2), pairs()[:, ::-1], ulps=2**20)


def test_threads_compile_at_once():
    programs_ = [of(lambda a, k=k: sin(a) * (k + 2.0) + k, 1) for k in range(6)]
    results = {}

    def work(k):
        results[k] = compile_program(programs_[k])([0.5])[0]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(6):
        close(results[k], math.sin(0.5) * (k + 2.0) + k)


@entry
def _run(address: int, x: Reals, y: Reals2) -> int:
    call(address, x, y[1])
    call_at(address, x, 1, y, 4)
    return 0


def test_call_from_a_loop():
    kernel = compile_program(of(lambda a, b: [a * b, a - b], 2))
    x, y = np.array([2.0, 3.0, 5.0]), np.zeros((3, 2))
    for run in (_run.function, _run):
        run(kernel.address, x, y)
        np.testing.assert_array_equal(y, [[0.0, 0.0], [6.0, -1.0], [15.0, -2.0]])


def test_importing_the_kernel_leaves_numba_alone():
    code = "import sys, bellcrank.program.kernel; print('numba' in sys.modules, 'scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_zeros_of_both_signs_are_two_numbers():
    """Alike but for the sign of a zero, in one state and in four lanes."""

    def make(x):
        outs = [where(compare("lt", 0.0, x), zero, 1.0) for zero in (0.0, -0.0)]
        return [*outs, atan2(0.0, x), atan2(-0.0, x)]

    rows = np.array([[-2.0], [2.0], [3.0], [-1.0]])
    expected = np.array([[1.0, 1.0, math.pi, -math.pi], [0.0, -0.0, 0.0, -0.0]])[[0, 1, 1, 0]]
    for lanes in (1, 4):
        values = compile_program(of(make, 1), lanes).many(rows)
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(np.signbit(values), np.signbit(expected))
