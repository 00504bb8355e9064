"""Programs that call others: the same numbers as written out, exact rates, and code that is made once."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.program import kernel
from bellcrank.program.count import count
from bellcrank.program.derive import directional, jvp_program
from bellcrank.program.evaluate import evaluate
from bellcrank.program.functions import sin, where
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import compile_program
from bellcrank.program.llvm import linked
from bellcrank.program.program import Program
from bellcrank.program.schedule import schedule
from bellcrank.program.step import Pair
from bellcrank.program.subprogram import Subprogram, called, inlined
from bellcrank.program.trace import compare


def inner() -> Subprogram:
    """(a, b, c) -> a b + sin c, a / b, 3."""
    return Subprogram.traced("inner", 3, lambda x: [x[0] * x[1] + sin(x[2]), x[0] / x[1], 3.0])


def outer(blocks: tuple[tuple[int, int], ...] = ((1, 2), (4, 2))) -> Subprogram:
    """Calls the inner one thrice; some of its inputs are handed over where they stand."""
    one = inner()

    def build(x):
        first, second, third = one(*x[:3]), one(*x[2:5]), one(x[0] + 1.0, x[1], 2.0)
        return [first[0] * x[5], second[1] + x[6], third[0] + third[2]]

    return Subprogram.traced("outer", 7, build, blocks)


def program() -> Program:
    target, graph = outer(), Graph()
    x = [graph.input(f"x{k}") for k in range(9)]
    # Blocks in a row among the inputs, out of a row, and computed.
    a, b = target(*x[1:8]), target(*x[3:6], x[8], x[2] * x[2], x[0], 1.5)
    chosen = where(compare("lt", a[0], b[0]), a[1], b[2])
    return Program.of(x, [*a, *b, chosen * a[2]], "caller")


def by_hand(x: np.ndarray) -> list[float]:
    def small(a, b, c):
        return a * b + np.sin(c), a / b, 3.0

    def large(a, b, c, d, e, f, g):
        return small(a, b, c)[0] * f, small(c, d, e)[1] + g, small(a + 1.0, b, 2.0)[0] + 3.0

    a, b = large(*x[1:8]), large(*x[3:6], x[8], x[2] * x[2], x[0], 1.5)
    return [*a, *b, (a[1] if a[0] < b[0] else b[2]) * a[2]]


STATES = np.random.default_rng(3).normal(size=(11, 9))


def test_numbers_are_those_of_the_formulas() -> None:
    made = program()
    expected = np.array([by_hand(x) for x in STATES])
    assert len(called(made)) == 2
    run = compile_program(made)
    assert run.many(STATES) == pytest.approx(expected, rel=1e-14, abs=1e-14)
    assert pytest.approx(expected, rel=1e-14, abs=1e-14) == evaluate(made, STATES.T).T
    written = inlined(made)
    assert not called(written)
    assert compile_program(written).many(STATES) == pytest.approx(expected, rel=1e-14, abs=1e-14)


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("limit", [2, 320])
def test_lanes_and_pieces_change_no_bit(lanes: int, limit: int) -> None:
    made = program()
    expected = compile_program(made).many(STATES)
    assert np.array_equal(compile_program(made, lanes, limit).many(STATES), expected)


def test_rates_are_those_of_the_formulas() -> None:
    made = program()
    along = np.random.default_rng(4).normal(size=9)
    rates = compile_program(jvp_program(made))
    for x in STATES:
        step = 1e-6
        expected = (np.array(by_hand(x + step * along)) - by_hand(x - step * along)) / (2.0 * step)
        found = rates(np.concatenate([x, along]))
        assert found[: len(expected)] == pytest.approx(by_hand(x), rel=1e-13, abs=1e-13)
        assert found[len(expected) :] == pytest.approx(expected, rel=1e-7, abs=1e-7)


def test_rates_of_what_is_computed_from_calls() -> None:
    """The tangents themselves may hang on results of the call: d/dt of sin(x) with dx/dt = sin(x) is sin x cos x."""
    sine, graph = Subprogram.traced("sine", 1, lambda x: [sin(x[0])]), Graph()
    x = graph.input("x")
    (y,) = sine(x)
    (rate,) = directional([y], {x.id: y})
    run = compile_program(Program.of([x], [rate]))
    assert run(np.array([0.7]))[0] == pytest.approx(0.5 * np.sin(1.4), rel=1e-15)


def test_operations_are_counted_where_they_are_done() -> None:
    counted = count(inner().program)
    target, graph = inner(), Graph()
    x = [graph.input(f"x{k}") for k in range(6)]
    whole = Program.of(x, [target(*x[:3])[0] + target(*x[3:])[0]])
    assert counted.operations == {"mul": 1, "sin": 1, "add": 1, "div": 1}
    assert count(whole).total == 2 * counted.total + 1


def test_code_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELLCRANK_CACHE", "off")
    made: list[Subprogram | None] = []
    emit = kernel.emit

    def noted(program, lanes, limit, target=None):
        made.append(target)
        return emit(program, lanes, limit, target)

    monkeypatch.setattr(kernel, "emit", noted)
    target = inner()
    for scale in (2.0, 3.0, 4.0):
        graph = Graph()
        x = [graph.input(f"x{k}") for k in range(3)]
        run = compile_program(Program.of(x, [scale * target(*x)[0]]))
        assert run(np.array([1.0, 2.0, 0.0]))[0] == 2.0 * scale
    assert made.count(None) == 3
    assert [m for m in made if m is not None] == [target]


def test_many_constant_outputs_are_copied() -> None:
    """Between computed ones, with signs of zeros and in lanes."""
    graph = Graph()
    x = graph.input("x")
    row = [0.0, -0.0, *(float(k) for k in range(40))]
    made = Program.of([x], [x * x, *row, x, *row[2:5], x + 1.0])
    expected = np.array([9.0, *row, 3.0, *row[2:5], 4.0])
    for lanes in (1, 4):
        found = compile_program(made, lanes).many(np.array([[3.0], [3.0]]))[1]
        assert found.tobytes() == expected.tobytes()


def test_parameters_of_a_model_come_from_the_caller() -> None:
    """A length that is a parameter reaches the search of the contact point, and may change between runs."""
    from bellcrank.model import System

    def drop(width, **given):
        system = System("drop", gravity=(0.0, 0.0, 0.0))
        made = system.parameter("width", 0.2) if width is None else width
        body = system.body("body", mass=1.0, inertia=(1.0,) * 3, at=(0.0, 0.0, 0.35))
        system.free("flight", system.ground, body)
        # Steps go by the size of bodies, told by parameters as they were given: here something else is larger.
        system.spring("slack", body.point(1.0, 0.0, 0.0), system.ground, stiffness=0.0, free_length=1.0)
        shapes = system.ground.ellipsoid(0.3, 0.3, 0.1), body.ellipsoid(0.1, 0.1, made)
        system.contact("floor", *shapes, stiffness=1e5, treatment="continuous", law="hertz")
        return system.simulate(0.2, output=4, initial={"flight": {"velocity": (0, 0, -1.0)}}, **given)

    for width in (0.2, 0.15):
        free = drop(None, parameters={"width": width})
        assert free["body.position.z"] == pytest.approx(drop(width)["body.position.z"], rel=1e-12)
        touch = next(e for e in free.events if e.name == "floor: touch")
        assert touch.time == pytest.approx(0.35 - 0.1 - width, rel=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_calls_made_together_change_no_bit(seed: int) -> None:
    """Calls and sines that hang on each other in any way; with eight states in lanes each call is made by itself."""
    random = np.random.default_rng(seed)
    targets, graph = [inner(), outer()], Graph()
    x = [graph.input(f"x{k}") for k in range(9)]
    known = [*x, 1.5]
    for _ in range(int(random.integers(1, 14))):
        target = targets[int(random.integers(2))]
        row = int(random.integers(3))
        whole = [*x[row : row + 7]] if random.random() < 0.3 else []
        args = whole or [known[int(random.integers(len(known)))] for _ in range(7)]
        found = target(x[0], *args[1 : len(target.program.inputs)])
        known += [found[0] * 0.1, sin(found[1])]
    made = Program.of(x, known)
    apart = compile_program(made, lanes=8).many(STATES)
    assert np.array_equal(compile_program(made).many(STATES), apart, equal_nan=True)
    assert np.array_equal(compile_program(made, lanes=2, limit=3).many(STATES), apart, equal_nan=True)
    assert apart == pytest.approx(evaluate(made, STATES.T).T, rel=1e-9, nan_ok=True)


@pytest.mark.parametrize(("calls", "width"), [(1, 1), (2, 2), (3, 4), (4, 4), (9, 4)])
def test_as_many_calls_are_made_at_once_as_there_are(calls: int, width: int) -> None:
    """Also of lost numbers; a call that needs another one waits for it."""
    target, graph = outer(), Graph()
    x = [graph.input(f"x{k}") for k in range(8 * calls)]
    ends = [target(*x[8 * k : 8 * k + 7])[0] for k in range(calls)]
    last = target(*ends[:1], *x[1:7])
    made = Program.of(x, [*ends, *last])
    # The three calls within are made at once in any case.
    assert {(t.digest, n) for t, n in linked(made, 1)} == {(target.digest, width), (inner().digest, 4)}
    X = np.random.default_rng(calls).normal(size=(8, 8 * calls))
    X[3, 5] = np.nan
    X[4, 1] = 0.0
    assert np.array_equal(
        compile_program(made).many(X), compile_program(made, lanes=8).many(X), equal_nan=True
    )


def test_what_follows_calls_on_twins_shares_registers() -> None:
    target, graph = inner(), Graph()
    x = [graph.input(f"x{k}") for k in range(7)]
    graph.twins = {f"x{k}": f"x{(k + 3) % 6}" for k in range(6)}
    halves = []
    for one in (x[:3], x[3:6]):
        first, second, _ = target(one[0] * x[6], one[1], one[2] + 2.0 * one[0])
        value = first
        for k in range(10):
            value = value * second + float(k)
        halves.append(value)
    made = Program.of(x, [*halves, halves[0] - halves[1]])
    units = [u for piece in schedule(made, pairs=True, calls=4).pieces for u in piece.steps]
    # Ten of them behind the calls.
    assert sum(isinstance(u, Pair) for u in units) >= 12
    X = np.random.default_rng(8).normal(size=(8, 7))
    assert np.array_equal(compile_program(made).many(X), compile_program(made, lanes=8).many(X))
