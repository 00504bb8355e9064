"""The translation of loops: the interpreter runs the same text, what is not in the language is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bellcrank.simulate import METHODS, Options
from bellcrank.simulate.compiled import Unit, vector
from bellcrank.simulate.run import Run
from bellcrank.simulate.translate import NotTranslatable, translate
from bellcrank.simulate.unpacking import Floats
from simulate.problems import falling_ball, pendulum_in_the_plane, van_der_pol


def _both(unit, values):
    """Answers of the interpreter and of the machine code."""
    found = []
    for compiled in (False, True):
        out, ints = np.zeros(40), np.zeros(1, np.int64)
        rest = [np.zeros(1) for _ in range(7)]
        arrays = (ints, ints, out, np.array(values), *rest[:5], ints, rest[5])
        status = unit(*arrays) if compiled else unit.function(*arrays)
        found.append((status, out))
    return found


SECOND = 1


@Unit
def _arithmetic(
    _0: Any, _1: Any, out_at: Any, x_at: Any, _4: Any, _5: Any, _6: Any, _7: Any, _8: Any, _9: Any, _10: Any
) -> int:
    out = vector(out_at, 40)
    x = vector(x_at, 2)
    a = x[0]
    b = x[1]
    out[0] = a + b * 2 - a / b
    out[1] = -(a**3) + abs(b) ** 0.25
    out[2] = min(a, b) + 10.0 * max(a, b)
    out[3] = math.sqrt(abs(a)) + math.exp(0.1 * b) + math.log(1.0 + abs(a))
    out[4] = np.sign(a) + np.sign(b)
    for k in range(-9, 9, 4):
        out[5] += k % 7
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
    return k if math.isfinite(a) and not math.isnan(b) else -1


@pytest.mark.parametrize("values", [(0.3, -2.5), (-4.0, 1.5), (2.0, 200.0), (math.nan, 1.0), (math.inf, 2.0)])
def test_arithmetic_and_control_flow(values):
    with np.errstate(invalid="ignore"):
        (status, expected), (compiled_status, out) = _both(_arithmetic, values)
    assert compiled_status == status
    # A contracted product and sum may differ in the last place.
    np.testing.assert_allclose(out, expected, rtol=1e-15)


@pytest.mark.parametrize("method", [m for m in METHODS if m != "auto"])
@pytest.mark.parametrize("problem", [pendulum_in_the_plane, falling_ball, lambda: van_der_pol(0.1)])
def test_the_interpreter_makes_the_same_steps(method, problem, monkeypatch):
    options = Options(rtol=1e-6, atol=1e-8, fixed_step=0.01 if method == "runge_kutta4" else 0.0)
    found = []
    for compiled in (True, False):
        run = Run(problem(), method, np.linspace(0.05, 0.4, 8), 0.4, options)
        if not compiled:
            unit = run.integrator.advance
            monkeypatch.setattr(type(unit), "__call__", lambda self, *arrays: self.function(*arrays))
        while run.advance(10**6) != 0:
            pass
        found.append(run)
    assert found[0].ints.tolist() == found[1].ints.tolist()
    assert found[0].out_y == pytest.approx(found[1].out_y, rel=1e-11, abs=1e-12)


def _text(x_at: Any) -> int:
    return x_at + "text"


def _mixed(x_at: Any) -> int:
    x = vector(x_at, 3)
    k = 1
    k += x[0]
    return k


def _unknown(x_at: Any) -> int:
    return sorted(x_at)


def _listed(x_at: Any) -> int:
    total = 0
    for k in (1, 2):
        total += k
    return total


def _varying(x_at: Any) -> int:
    x = vector(x_at, 3)
    both = (x, x)
    k = 1
    return both[k]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_varying, "a part of a tuple that varies"),
        (_text, "'text' is not in the language"),
        (_mixed, "double in place of i64"),
        (_unknown, "the function 'sorted'"),
        (_listed, "for k in"),
    ],
)
def test_what_is_not_in_the_language_is_refused_with_its_line(function, message):
    with pytest.raises(NotTranslatable, match=message) as caught:
        translate(function, ["double"], "unit")
    first = function.__code__.co_firstlineno
    line = int(str(caught.value).split("line ")[1].split(":")[0])
    assert first < line <= first + 4


def _views(pointers: Any, length: int) -> tuple[Floats, Floats, int]:
    """Arrays behind two of the pointers."""
    out_at, x_at = pointers[2], pointers[3]
    first = vector(out_at, length)
    return first, vector(x_at, 2), 2 * length


def _filled(value: float, *pointers: Any) -> None:
    out, _, length = _views(pointers, 4)
    out[3] = value + length


@Unit
def _unpacked(*pointers: Any) -> int:
    length = 7
    out, x, twice = _views(pointers, 5)
    out[0] = x[0] + twice
    out[1] = length
    _filled(x[1], *pointers)
    return twice


def test_functions_that_return_arrays_are_written_out():
    interpreted, compiled = _both(_unpacked, [0.5, 2.5])
    assert interpreted[0] == compiled[0] == 10
    np.testing.assert_array_equal(interpreted[1], compiled[1])
    np.testing.assert_array_equal(compiled[1][:4], [10.5, 7.0, 0.0, 10.5])


def _branching(pointers: Any) -> tuple[Floats, int]:
    x = vector(pointers[3], 2)
    if x[0] > 0.0:
        return x, 1
    return x, 2


def _endless(pointers: Any) -> tuple[Floats, int]:
    x = vector(pointers[3], 2)
    x[0] = 1.0


def _through_a_branch(*pointers: Any) -> int:
    _, k = _branching(pointers)
    return k


def _without_end(*pointers: Any) -> int:
    _, k = _endless(pointers)
    return k


@pytest.mark.parametrize("function", [_through_a_branch, _without_end])
def test_functions_that_return_arrays_have_one_way_through(function):
    with pytest.raises(NotTranslatable, match="returns arrays"):
        translate(function, ("i64", "i64", *["double"] * 7, "i64", "double"), "unit")
