"""Code with registers by next use: the bits of LLVM, few moves, and text that the assembler of every platform takes."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bellcrank.mechanism import analyse
from bellcrank.program import jit, x86
from bellcrank.program.functions import cos, sqrt, where
from bellcrank.program.graph import Graph
from bellcrank.program.llvm import emit
from bellcrank.program.program import Program
from bellcrank.verify.full_car import full_car_system

pytestmark = pytest.mark.skipif(x86.registers() == 0, reason="not Linux on x86-64 with FMA")

HERE = x86.registers()
CASES = [(16, 1)] + ([(32, 1), (32, 4), (32, 8)] if HERE == 32 else [])
"""Registers, and states at once."""
LIMIT = 20
RULES = {
    "add": lambda a, b, c: a + b,
    "sub": lambda a, b, c: a - b,
    "mul": lambda a, b, c: a * b,
    "div": lambda a, b, c: a / (b * b + 0.5),
    "neg": lambda a, b, c: -a,
    "both negative": lambda a, b, c: -(a * b) - c,
    "fused": lambda a, b, c: a * b + c,
    "taken off": lambda a, b, c: c - a * b,
    "square": lambda a, b, c: a * a - a,
    "constant": lambda a, b, c: 0.25 * a - 1.5,
    "sqrt": lambda a, b, c: sqrt(a * a + 0.25),
    "cos": lambda a, b, c: cos(a),
    "where": lambda a, b, c: where(a < b, a, c),
}
ARITHMETIC = RULES.keys() - {"cos", "where"}


def with_registers(patch, count, program, limit=LIMIT, lanes=1):
    """The module of a program for a processor with so many registers; none leaves all to LLVM."""
    patch.setattr(x86, "registers", lambda: count)
    return emit(program, lanes, limit)


def evaluated(text, program, rows, lanes=1):
    """The results of a module for so many states at once, without the cache of machine code."""
    binding, machine = jit.start(), jit.machine(1)
    module = binding.parse_assembly(text)
    module.verify()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    engine = jit.loaded([machine.emit_object(module)])
    kernel = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(engine.get_function_address("kernel"))
    results = []
    for together in np.split(rows, len(rows) // lanes):
        x, y = np.ascontiguousarray(together.T, dtype=float), np.zeros((len(program.outputs), lanes))
        kernel(x.ctypes.data, y.ctypes.data)
        results.append(y.T)
    return np.vstack(results)


@st.composite
def alike(draw):
    """A program on two alike halves and what is between them, far longer than the registers are many."""
    graph = Graph()
    middle = [graph.input(f"m{k}") for k in range(3)]
    sides = [[graph.input(f"{side}{k}") for k in range(3)] for side in "lr"]
    graph.twins = {f"l{k}": f"r{k}" for k in range(3)} | {f"r{k}": f"l{k}" for k in range(3)}
    center, left, right = [*middle, -0.5], [*sides[0]], [*sides[1]]
    names = [*sorted(RULES), *sorted(ARITHMETIC) * 4]
    for _ in range(draw(st.integers(50, 120))):
        rule = RULES[draw(st.sampled_from(names))]
        back = [draw(st.integers(1, 12)) for _ in range(3)]
        kind = draw(st.sampled_from(("center", "across", "side", "side")))
        if kind == "center":
            center.append(rule(*(center[-min(k, len(center))] for k in back)))
        elif kind == "across":
            k = min(back[0], len(left))
            center.append(left[-k] + center[-min(back[1], len(center))] + right[-k])
        else:
            common, signs = draw(st.booleans()), (1.0, draw(st.sampled_from((1.0, -1.0))))
            made = []
            for side, sign in zip((left, right), signs, strict=True):
                pools = side, center if common else side, side
                made.append(
                    sign * rule(*(pool[-min(k, len(pool))] for pool, k in zip(pools, back, strict=True)))
                )
            left.append(made[0])
            right.append(made[1])
    return Program.of([*middle, *sides[0], *sides[1]], [*center[-3:], *left[-3:], *right[-3:], center[0]])


@settings(max_examples=25, deadline=None)
@given(program=alike())
def test_bits_are_those_of_llvm(program):
    """Also where a zero has a sign, with the registers of an older processor, and for several states at once."""
    rng = np.random.default_rng(3)
    rows = np.vstack([rng.normal(size=(6, 9)), np.zeros(9), -np.zeros(9), rng.integers(-1, 2, (8, 9))])
    with pytest.MonkeyPatch.context() as patch, np.errstate(all="ignore"):
        for count, lanes in CASES:
            expected = evaluated(with_registers(patch, 0, program, LIMIT, lanes), program, rows, lanes)
            found = evaluated(with_registers(patch, count, program, LIMIT, lanes), program, rows, lanes)
            np.testing.assert_array_equal(found, expected)
            number = ~np.isnan(expected)
            np.testing.assert_array_equal(np.signbit(found[number]), np.signbit(expected[number]))


def instructions(text):
    """What the lines of native functions do."""
    return re.findall(r'^module asm "(?:{evex} )?(v\w+)', text, re.MULTILINE)


def sum_of_squares(count):
    graph = Graph()
    x = [graph.input(f"x{k}") for k in range(count)]
    return Program.of(x, [sum((a * a - b * c for a, b, c in zip(x, x[1:], x[2:], strict=False)), 0.0)])


def test_what_is_used_once_is_read_where_it_lies(monkeypatch):
    """One load a square and one a product: its other factor comes with the operation."""
    count = 60
    found = instructions(with_registers(monkeypatch, 32, sum_of_squares(count)))
    loads = [name for name in found if name.startswith("vmov")]
    # Every input is one factor of a square, which needs it in a register; the result is stored.
    assert len(loads) <= count + 1
    assert len(found) - len(loads) == 2 * (count - 2)


@pytest.mark.parametrize("count", [16, 32])
def test_what_fits_into_registers_is_not_moved(monkeypatch, count):
    """Fourteen sums of parts that they share: the one constant is loaded, the sums are stored, and that is all."""
    graph = Graph()
    x = [graph.input(f"x{k}") for k in range(30)]
    sums = list(x[:14])
    for turn in range(6):
        sums = [a + x[14 + (turn + k) % 16] * 0.5 for k, a in enumerate(sums)]
    found = instructions(with_registers(monkeypatch, count, Program.of(x, sums)))
    assert sorted(found) == ["vaddsd"] * 84 + ["vmovsd"] * 15 + ["vmulsd"] * 16


def test_a_car_takes_one_and_a_half_instructions_a_step(monkeypatch):
    program = analyse(full_car_system()).traced().accelerations
    text = with_registers(monkeypatch, 32, program, 200)
    found = instructions(text)
    done = sum(not name.startswith("vmov") for name in found)
    assert len(found) < 1.5 * done


@pytest.mark.parametrize(
    "triple", ["x86_64-pc-windows-msvc", "x86_64-apple-darwin", "x86_64-unknown-linux-gnu"]
)
def test_every_platform_assembles_it(monkeypatch, triple):
    binding = jit.start()
    module = binding.parse_assembly(with_registers(monkeypatch, 32, sum_of_squares(40)))
    machine = binding.Target.from_triple(triple).create_target_machine(
        cpu="skylake-avx512", opt=1, reloc="static", codemodel="jitdefault", jit=True
    )
    module.triple, module.data_layout = triple, str(machine.target_data)
    assert len(machine.emit_object(module)) > 1000
