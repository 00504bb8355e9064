"""The loop language: machine code and C do what the interpreter does with the same text; rates are exact."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from bellcrank.math.vectors import IDENTITY, Matrix, Vector, inverse
from bellcrank.program.c import emit_c
from bellcrank.program.count import count
from bellcrank.program.derive import jacobian, jvp_program
from bellcrank.program.evaluate import evaluate
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import compile_program
from bellcrank.program.loops import (
    Entry,
    Ints,
    NotTranslatable,
    Reals,
    Reals2,
    Records,
    Routine,
    call_entry,
    compiled,
    entry,
    gradient,
    ints,
    reals,
    value,
)
from bellcrank.program.program import Program
from program.c_compiler import library, needs_gcc, pointer

SECOND = 1


@entry
def _arithmetic(x: Reals, out: Reals) -> int:
    a = x[0]
    b = x[1]
    out[0] = a + b * 2 - a / b
    out[1] = -(a**3) + abs(b) ** 0.25
    out[2] = min(a, b) + 10.0 * max(a, b)
    out[3] = math.sqrt(abs(a)) + math.exp(0.1 * b) + math.log(1.0 + abs(a))
    out[4] = np.sign(a) + np.sign(b)
    for k in range(-9, 9, 4):
        out[5] += k % 7 + k // 7
        if k == 3:
            continue
        if k > 4:
            break
        out[6] = k
    k = 0
    while k < 5 and (a < b or k < 3):
        k += 1
    out[7] = k
    out[8] = 1.0 if -1.0 < a < 1.0 else b
    out[9], out[10] = out[1], out[0]
    if not a < b:
        out[11] = 1
    elif b > 100.0:
        out[11] = 2.0
    else:
        out[11] = 3.0
    for i in range(3, -1, -1):
        out[12] = 10.0 * out[12] + i
    out[13] = 0.5**i
    both = (x, out)
    out[14] = both[0][1] + both[SECOND][12]
    out[15] = int(b)
    out[16] = x[int(b) % 2]
    out[17] = (int(b) & 6) + (5 << 2) - (-9 >> 1)
    row = out[3:7]
    out[18] = row[1] + len(row)
    return k if math.isfinite(a) and not math.isnan(b) else -1


@pytest.mark.parametrize("values", [(0.3, -2.5), (-4.0, 1.5), (2.0, 200.0), (math.nan, 1.0), (math.inf, 2.0)])
def test_arithmetic_and_control_flow(values):
    found = []
    for run in (_arithmetic.function, _arithmetic):
        out = np.zeros(20)
        with np.errstate(invalid="ignore"):
            found.append((run(np.array(values), out), out))
    assert found[0][0] == found[1][0]
    # A contracted product and sum may differ in the last place.
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=1e-15)


class Ball(NamedTuple):
    """A record of a record and numbers."""

    centre: Vector
    radius: float
    next: int = 0

    def depth(self, x: Vector) -> float:
        return self.radius - (x - self.centre).length


class Scene(NamedTuple):
    """A record of arrays."""

    balls: Records[Ball]
    weights: Reals2


@compiled
def _deepest(scene: Scene, x: Vector) -> tuple[float, int]:
    best, which, i = -math.inf, -1, 0
    while i < len(scene.balls):
        depth = scene.balls[i].depth(x) * scene.weights[i, 0]
        if depth > best:
            best, which = depth, i
        i = scene.balls[i].next
    return best, which


@entry
def _records(scene: Scene, x: Vector, out: Reals, kept: Records[Ball]) -> int:
    best, which = _deepest(scene, x)
    out[0] = best
    m = Matrix(x, Vector(0.0, 1.0, 2.0), Vector(1.0, 0.0, 1.0)) + IDENTITY * 0.5
    out[1] = (m @ x).dot(x) + 2.0 * (m @ m).determinant - (x / 2.0).square
    out[2] = inverse(m).trace + x.cross(Vector(1.0, 2.0, 3.0)).outer(x).transposed.a.z
    nearest = scene.balls[which]
    kept[0] = nearest._replace(radius=2.0 * nearest.radius, next=kept[1].next + 1)
    return which


def _balls(count, seed=0):
    random = np.random.default_rng(seed)
    return Records.columns(Ball, random.normal(size=(count, 3)), np.full(count, 0.2), np.arange(count) + 1)


def test_records_vectors_and_arrays_of_records():
    scene = Scene(_balls(30), np.linspace(1.0, 2.0, 60).reshape(30, 2))
    found = []
    for run in (_records.function, _records):
        out, kept = np.zeros(3), Records.of(Ball, [Ball(Vector(0.0, 0.0, 0.0), 1.0, 7)] * 2)
        found.append((run(scene, Vector(0.3, 0.2, 0.1), out, kept), out.tolist(), kept[0]))
    assert found[1][0] == found[0][0]
    assert found[1][1] == pytest.approx(found[0][1], rel=1e-14)
    assert found[1][2] == found[0][2]
    assert found[1][2].next == 8


def test_declared_types_are_held():
    scene = Scene(_balls(3), np.zeros((3, 1)))
    with pytest.raises(TypeError, match="declared"):
        _records(scene, Vector(0.0, 0.0, 0.0), np.zeros(3, int), _balls(1))
    with pytest.raises(ValueError, match="Ball has 5 numbers"):
        Records(Ball, np.zeros((2, 4)))


@compiled
def _bisected(function: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(60):
        middle = 0.5 * (low + high)
        if function(middle) > 0.0:
            high = middle
        else:
            low = middle
    return low


@compiled
def _cubic(x: float) -> float:
    return x**3 - 2.0


@entry
def _functions(out: Reals) -> int:
    out[0] = _bisected(_cubic, 0.0, 2.0)
    stack = ints(8)
    stack[3] = 5
    sums = reals(4)
    sums[1] += stack[3]
    out[1] = sums[1] + sums[0]
    return 0


def test_functions_as_arguments_and_local_arrays():
    out = np.zeros(2)
    _functions(out)
    assert out == pytest.approx([2.0 ** (1 / 3), 5.0], rel=1e-15)


@entry
def _twice(x: Reals, k: int, factor: float) -> int:
    x[k] *= factor
    return k


@entry
def _through_an_address(address: int, x: Reals) -> int:
    return call_entry(address, x, 1, 2.5)


def test_an_entry_calls_another_by_its_address():
    x = np.ones(3)
    assert _through_an_address(_twice.address, x) == 1
    assert x.tolist() == [1.0, 2.5, 1.0]


def _text(x: Reals) -> int:
    return x[0] + "text"


def _mixed(x: Reals) -> int:
    k = 1
    k += x[0]
    return k


def _unknown(x: Reals) -> int:
    return sorted(x)


def _listed(x: Reals) -> int:
    total = 0
    for k in (1, 2):
        total += k
    return total


def _varying(x: Reals) -> int:
    both = (x, x)
    k = 1
    return both[k]


def _recursive(x: Reals) -> int:
    if x[0] > 0.0:
        x[0] -= 1.0
    return _recursive(x)


def _branching(x: Reals) -> tuple[Reals, int]:
    if x[0] > 0.0:
        return x, 1
    return x, 2


def _through_a_branch(x: Reals) -> int:
    _, k = _branching(x)
    return k


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_varying, "a part of a tuple that varies"),
        (_text, "'text' is not in the loop language"),
        (_mixed, "real in place of int"),
        (_unknown, "the function 'sorted'"),
        (_listed, "for k in"),
        (_recursive, "calls itself"),
        (_through_a_branch, "a result that is an array"),
    ],
)
def test_what_is_not_in_the_language_is_refused_with_its_line(function, message):
    with pytest.raises(NotTranslatable, match=message) as caught:
        _ = Entry(function).address
    if "line" in str(caught.value) and function is not _through_a_branch:
        first = function.__code__.co_firstlineno
        line = int(str(caught.value).split("line ")[1].split(":")[0])
        assert first < line <= first + 4


class Found(NamedTuple):
    depth: float
    normal: Vector
    which: int


def _touch(x: Vector, size: float, balls: Records[Ball], memory: Reals) -> Found:
    """The deepest of some balls, found sooner from where it was the last time, and functions of all kinds."""
    best, which, normal = -math.inf, 0, Vector(0.0, 0.0, 0.0)
    for k in range(len(balls)):
        i = (k + int(memory[0])) % len(balls)
        r = x - balls[i].centre * size
        depth = balls[i].radius - r.length
        if depth > best:
            best, which, normal = depth, i, r / -r.length
    memory[0] = which
    memory[1] += 1.0
    y = reals(2)
    y[0] = best * math.sin(x.x) + math.tanh(x.z)
    y[1] = y[0] ** 3 + math.atan2(x.y, x.z) + max(x.x, 0.1) ** 2.5 + math.asin(0.1 * x.y) / math.cosh(size)
    return Found(best + y[1] - math.exp(-x.x) * math.acos(0.2 * x.z), normal, which)


AT = np.array([0.3, 0.2, 0.5, 1.1, 0.0, 0.0])


def _traced():
    routine = Routine(_touch, (_balls(20),), memory=2)
    graph = Graph()
    inputs = [graph.input(name) for name in ("x", "y", "z", "s", "m0", "m1")]
    x, s, memory = inputs[:3], inputs[3], inputs[4:]
    found = routine(Vector(*x), s * s, memory=memory)
    return inputs, [found.depth * found.normal.x, found.depth, found.normal.y, found.which]


def test_programs_call_loops():
    inputs, outputs = _traced()
    program = Program.of(inputs, outputs)
    assert count(program).calls == 1
    assert count(program).total == 2
    kernel = compile_program(program)
    expected = evaluate(program, AT)
    assert kernel(AT) == pytest.approx(expected, rel=1e-14)
    # Plain numbers are computed at once, by the interpreter.
    plain = Routine(_touch, (_balls(20),), memory=2)
    touch = plain(Vector(*AT[:3]), AT[3] ** 2, memory=AT[4:])
    assert [touch.depth, touch.which] == pytest.approx([expected[1], expected[3]])


def test_lanes_and_rows_do_the_same():
    inputs, outputs = _traced()
    program = Program.of(inputs, outputs)
    one, four = compile_program(program), compile_program(program, 4)
    x = np.repeat(AT[:, None], 4, axis=1)
    x[0] += 0.2 * np.arange(4)
    alone = np.stack([one(x[:, lane]) for lane in range(4)], axis=1)
    np.testing.assert_array_equal(four(x), alone)
    np.testing.assert_array_equal(one.many(x.T).T, alone)
    np.testing.assert_array_equal(four.many(x.T).T, alone)


def test_memory_is_kept_among_the_inputs_and_never_in_what_a_caller_gives():
    import ctypes

    inputs, outputs = _traced()
    for lanes in (1, 4):
        kernel = compile_program(Program.of(inputs, outputs), lanes)
        x = np.repeat(AT[:, None], lanes, axis=1).squeeze()
        kernel(x)
        np.testing.assert_array_equal(x.reshape(6, lanes)[:, 0], AT)
        y = np.zeros((4, lanes))
        for _ in range(3):
            ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(kernel.address)(
                x.ctypes.data, y.ctypes.data
            )
        which, calls = x.reshape(6, lanes)[4:, -1]
        assert calls == 3.0
        assert which == y[3, -1]


def _differences(kernel, x, columns, h=1e-6):
    steps = np.eye(len(x))[:columns] * h
    return np.stack([(kernel(x + e) - kernel(x - e)) / (2 * h) for e in steps], axis=1)


def test_first_and_second_derivatives_are_exact():
    inputs, outputs = _traced()
    moving = inputs[:4]
    kernel = compile_program(Program.of(inputs, outputs))
    slopes = [row.get(j, 0.0) for row in jacobian(outputs, moving) for j in range(4)]
    first = compile_program(Program.of(inputs, slopes))
    # One call gives all columns.
    assert count(Program.of(inputs, slopes)).calls == 2
    assert first(AT).reshape(4, 4) == pytest.approx(_differences(kernel, AT, 4), abs=1e-8)
    bends = [row.get(j, 0.0) for row in jacobian(slopes, moving) for j in range(4)]
    second = compile_program(Program.of(inputs, bends))
    assert second(AT).reshape(16, 4) == pytest.approx(_differences(first, AT, 4), abs=1e-7)
    along = np.array([0.3, -0.2, 0.5, 0.1, 0.0, 0.0])
    tangent = jvp_program(Program.of(inputs, outputs))
    expected = first(AT).reshape(4, 4) @ along[:4]
    assert compile_program(tangent)(np.concatenate([AT, along]))[4:] == pytest.approx(expected, rel=1e-13)
    assert evaluate(tangent, np.concatenate([AT, along]))[4:] == pytest.approx(expected, rel=1e-13)


def _kepler(mean: float, eccentricity: float) -> float:
    """Kepler's equation by Newton; the last step, from the root, gives the rates."""
    anomaly = value(mean)
    for _ in range(30):
        anomaly = value(
            anomaly
            - (anomaly - eccentricity * math.sin(anomaly) - mean) / (1.0 - eccentricity * math.cos(anomaly))
        )
    return anomaly - (anomaly - eccentricity * math.sin(anomaly) - mean) / (
        1.0 - value(eccentricity * math.cos(anomaly))
    )


def test_the_derivative_of_an_iteration_needs_its_last_step_alone():
    graph = Graph()
    inputs = [graph.input("mean"), graph.input("eccentricity")]
    found = Routine(_kepler)(*inputs)
    slopes = compile_program(Program.of(inputs, [jacobian([found], inputs)[0][k] for k in (0, 1)]))
    anomaly = _kepler(1.2, 0.6)
    rest = 1.0 - 0.6 * math.cos(anomaly)
    assert slopes([1.2, 0.6]) == pytest.approx([1.0 / rest, math.sin(anomaly) / rest], rel=1e-14)


class Ring(NamedTuple):
    """A torus."""

    radius: float
    thickness: float

    def depth(self, x: Vector) -> float:
        around = np.sqrt(x.x * x.x + x.y * x.y + 1e-30) - self.radius
        return self.thickness - (around * around + x.z * x.z) ** 0.5 + 0.1 * np.sin(x.x) * np.arctan(x.z)


@entry
def _slope(ring: Ring, x: Vector, out: Reals) -> int:
    out[0], slope = gradient(ring.depth, x)
    out[1], out[2], out[3] = slope
    return 0


def _force(x: Vector, ring: Ring) -> Vector:
    depth, slope = gradient(ring.depth, x)
    return slope * max(depth, 0.0)


def test_gradients_within_the_language_and_their_own_derivatives():
    ring, at = Ring(1.0, 0.3), Vector(0.8, 0.3, 0.1)
    found = []
    for run in (_slope.function, _slope):
        out = np.zeros(4)
        run(ring, at, out)
        found.append(out)
    assert found[1] == pytest.approx(found[0], rel=1e-14)
    h = 1e-6
    moved = [(ring.depth(at + e * h) - ring.depth(at - e * h)) / (2 * h) for e in IDENTITY]
    assert found[0][1:] == pytest.approx(moved, abs=1e-9)
    graph = Graph()
    inputs = [graph.input(name) for name in "xyz"]
    force = list(Routine(_force, (ring,))(Vector(*inputs)))
    bends = compile_program(Program.of(inputs, [row[j] for row in jacobian(force, inputs) for j in range(3)]))
    kernel = compile_program(Program.of(inputs, force))
    assert bends(at).reshape(3, 3) == pytest.approx(_differences(kernel, np.array(at), 3), abs=1e-8)


@needs_gcc
@pytest.mark.parametrize("order", [0, 1, 2])
def test_c_does_the_same(order, tmp_path):
    inputs, outputs = _traced()
    wanted: list[Any] = outputs
    for _ in range(order):
        wanted = [row.get(j, 0.0) for row in jacobian(wanted, inputs[:4]) for j in range(4)]
    program = Program.of(inputs, wanted, "touch")
    source = tmp_path / "touch.c"
    source.write_text(emit_c(program))
    x, y = AT.copy(), np.zeros(len(wanted))
    library(source).touch(pointer(x), pointer(y))
    assert y == pytest.approx(compile_program(program)(AT), rel=1e-12, abs=1e-13)
    assert x[4] == evaluate(Program.of(inputs, outputs), AT)[3]


def _stuck(k: Ints) -> int:
    return k[0]


def test_tables_are_no_results_and_memory_is_of_the_program():
    with pytest.raises(TypeError, match="takes and gives numbers"):
        Routine(_stuck)
    routine = Routine(_touch, (_balls(3),), memory=2)
    x = Graph().input("x")
    with pytest.raises(ValueError, match="must be inputs of the program"):
        routine(Vector(x, 0.0, 0.0), 1.0, memory=[x * 2.0, x])
    with pytest.raises(ValueError, match="takes 4 numbers and 2 of memory"):
        routine(Vector(x, 0.0, 0.0), 1.0)


def _bent(eta: Reals, x: float, shapes: Reals2, out: Reals) -> float:
    total = 0.0
    for k in range(len(eta)):
        u = 0.0
        for j in range(shapes.shape[1]):
            u += shapes[k, j] * eta[j]
        total += math.sin(u) * x
        for j in range(shapes.shape[1]):
            out[j] += shapes[k, j] * math.cos(u) * x
    return total


def test_rows_of_numbers_are_inputs_and_results():
    shapes = np.random.default_rng(0).normal(size=(3, 3))
    made = Routine(_bent, (shapes,), rows=(3,), more=3)
    graph = Graph()
    inputs = [graph.input(f"e{k}") for k in range(3)]
    energy, slopes = made(inputs, 2.0)
    rates = jacobian([energy, *slopes], inputs)
    kernel = compile_program(
        Program.of(inputs, [energy, *slopes, *(rates[i].get(j, 0.0) for i in range(4) for j in range(3))])
    )
    at = np.array([0.3, -0.2, 0.5])
    found = kernel(at)
    u = shapes @ at
    second = -2.0 * shapes.T @ np.diag(np.sin(u)) @ shapes
    assert found[0] == pytest.approx(2.0 * np.sin(u).sum(), rel=1e-14)
    assert found[1:4] == pytest.approx(2.0 * shapes.T @ np.cos(u), rel=1e-14)
    assert found[4:7] == pytest.approx(found[1:4], rel=1e-14)
    assert found[7:].reshape(3, 3) == pytest.approx(second, rel=1e-13, abs=1e-14)
    energy, slopes = made(at, 2.0)
    assert [energy, *slopes] == pytest.approx(found[:4], rel=1e-14)
