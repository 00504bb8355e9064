"""Twins in one register: the bits of single steps, and as many joined as there are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bellcrank.mechanism import analyse
from bellcrank.model import System
from bellcrank.program.functions import cos, maximum, sin, sqrt, where
from bellcrank.program.graph import Graph
from bellcrank.program.kernel import compile_program
from bellcrank.program.program import Program
from bellcrank.program.schedule import schedule
from bellcrank.program.step import Pair
from bellcrank.verify.full_car import full_car_system


def halves(signs, constants, shared_first=True):
    """The same formulas on two sides of a body, mirrored by signs, added up in the middle."""
    graph = Graph()
    body = [graph.input(f"b.{k}") for k in range(3)]
    sides = [[graph.input(f"{side}.{k}") for k in range(3)] for side in "lr"]
    graph.twins = {f"l.{k}": f"r.{k}" for k in range(3)} | {f"r.{k}": f"l.{k}" for k in range(3)}
    results = []
    for side, sign, c in zip(sides, signs, constants, strict=True):
        x, y, z = side
        shared = body[0] * c + body[1] if shared_first else body[0] - sign * body[1] * c
        a = sin(x) * shared + sign * c * cos(y)
        b = a * a - sign * (z * shared - x * body[2])
        d = sqrt(b * b + 1.0) / (a * a + 2.0)
        e = where(z > 0.0, d * a, maximum(b, a + z))
        results.append((a, -b, d * sign - e, e * (b - sign * c)))
    total = [left + right for left, right in zip(*results, strict=True)]
    return graph, Program.of([*body, *sides[0], *sides[1]], [*results[0], *results[1], *total])


def pairs_of(program):
    return [u for piece in schedule(program, pairs=True).pieces for u in piece.steps if isinstance(u, Pair)]


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1)])
@pytest.mark.parametrize("limit", [7, 320])
@pytest.mark.parametrize("shared_first", [True, False])
def test_bits_are_those_of_single_steps(signs, limit, shared_first):
    graph, program = halves(signs, (0.3, -1.7), shared_first)
    X = np.random.default_rng(2).normal(size=(40, 9))
    joined = compile_program(program, limit=limit)
    assert len(pairs_of(program)) > 8
    np.testing.assert_array_equal(joined.many(X), compile_program(program, lanes=4).many(X))
    # Twins have a say in the order of sums, and in nothing else.
    graph.twins = {}
    apart = compile_program(Program.of(program.inputs, program.outputs), limit=limit)
    np.testing.assert_allclose(joined.many(X), apart.many(X), rtol=1e-13, atol=1e-13)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_wrong_hint_does_no_harm(data):
    """Twins are a hint: any matching of inputs gives the same numbers, and the same bits in one state and in four."""
    graph, program = halves((1, -1), (0.5, 2.5))
    names = [e.args[0] for e in program.inputs]
    shuffled = data.draw(st.permutations(names))
    expected = compile_program(program, lanes=4)
    graph.twins = {
        a: b for p, q in zip(shuffled[::2], shuffled[1::2], strict=False) for a, b in ((p, q), (q, p))
    }
    again = Program.of(program.inputs, program.outputs)
    X = np.random.default_rng(3).normal(size=(8, 9))
    other = compile_program(again, limit=20).many(X)
    np.testing.assert_array_equal(other, compile_program(again, lanes=4).many(X))
    np.testing.assert_allclose(other, expected.many(X), rtol=1e-13, atol=1e-12)


def test_signs_of_zero_and_lost_numbers_survive():
    _, program = halves((1, -1), (0.5, 2.5))
    kernel, lanes = compile_program(program), compile_program(program, lanes=4)
    X = np.zeros((6, 9))
    X[1] = -0.0
    X[2, 4] = np.nan
    X[3, 7] = np.inf
    X[4, 0] = np.nan
    X[5, 3:] = -1e300
    np.testing.assert_array_equal(kernel.many(X), lanes.many(X))
    np.testing.assert_array_equal(np.isnan(kernel.many(X)), np.isnan(lanes.many(X)))


def walker(legs):
    """A body with legs of two joints each, closed by nothing."""
    system = System("walker")
    body = system.body("body", 10.0, (0.1, 0.2, 0.3))
    system.free("float", system.ground, body)
    for k in range(legs):
        x, y = 0.1 * (1 + k // 2), 0.2 if k % 2 else -0.2
        thigh = system.body(f"thigh {k}", 1.0, (0.01, 0.01, 0.001), (0, 0, -0.1), at=(x, y, 0))
        shin = system.body(f"shin {k}", 0.5, (0.01, 0.01, 0.001), (0, 0, -0.1), at=(x, y, -0.3))
        system.revolute(f"hip {k}", body, thigh, at=(x, y, 0), axis=(0, 1, 0))
        system.revolute(f"knee {k}", thigh, shin, at=(x, y, -0.3), axis=(0, 1, 0))
    return system


@pytest.mark.parametrize(("legs", "share"), [(1, 0.0), (2, 0.5), (3, 0.3), (4, 0.5)])
def test_legs_of_a_walker_are_found(legs, share):
    program = analyse(walker(legs)).traced().accelerations
    single = sum(len(piece.steps) for piece in schedule(program).pieces)
    assert 2 * len(pairs_of(program)) >= share * single
    if legs == 1:
        assert not program.twins


def test_halves_stay_in_their_lanes():
    """At most one register is crossed, by the step in which the product of both halves closes a ring."""
    program = analyse(walker(4)).traced().accelerations
    pairs = pairs_of(program)
    made = {u.outs for u in pairs}
    crossed = [b for u in pairs for b in u.args if (b.second, b.first) in made]
    assert len(pairs) > 200
    assert len(crossed) <= 1


def test_a_register_is_put_together_once():
    program = analyse(walker(4)).traced().accelerations
    packs = [u.args[0] for u in pairs_of(program) if u.op == "pack"]
    assert len(packs) == len(set(packs)) > 0
    made = {u.outs for u in pairs_of(program)}
    operands = [b for u in pairs_of(program) if u.op != "pack" for b in u.args if type(b.first) is int]
    assert all(b[:2] in made and not b.negated for b in operands)


@pytest.mark.parametrize("mirrored", [1.0, -1.0])
@pytest.mark.parametrize("limit", [4, 200])
def test_a_sum_over_both_halves_is_taken_apart_once(mirrored, limit):
    """Whatever comes first, there is one operation a product of two halves, and one for the sum of both."""
    graph = Graph()
    sides = [[graph.input(f"{side}.{k}") for k in range(8)] for side in "lr"]
    graph.twins = {f"l.{k}": f"r.{k}" for k in range(8)} | {f"r.{k}": f"l.{k}" for k in range(8)}
    total = 0.0
    for k in range(4):
        for (*x,), sign in zip(sides, (1.0, mirrored), strict=True):
            total = total + sign * (x[k] * x[7 - k])
    program = Program.of([*sides[0], *sides[1]], [total])
    units = [u for piece in schedule(program, pairs=True).pieces for u in piece.steps]
    assert sum(isinstance(u, Pair) and u.op != "pack" for u in units) == 4
    assert sum(not isinstance(u, Pair) for u in units) == 1
    X = np.random.default_rng(5).normal(size=(20, 16))
    products = X[:, :4] * X[:, 7:3:-1] + mirrored * X[:, 8:12] * X[:, 15:11:-1]
    found = compile_program(program, limit=limit).many(X)
    np.testing.assert_allclose(found[:, 0], products.sum(axis=1), rtol=1e-13, atol=1e-13)


def test_few_steps_of_a_car_change_a_sign():
    """Its halves mirror each other, but for tyres that push one way: one register in a hundred at most."""
    pairs = pairs_of(analyse(full_car_system()).traced().accelerations)
    made = {u.outs for u in pairs}
    assert 100 * sum(u.args[0].negated and u.args[0][:2] in made for u in pairs if u.op == "pack") <= len(
        pairs
    )


def test_text_tells_programs_apart():
    graph, program = halves((1, -1), (0.5, 2.5))
    with_twins = program.text()
    graph.twins = {}
    assert Program.of(program.inputs, program.outputs).text() != with_twins
    assert halves((1, -1), (0.5, 2.5))[1].text() == with_twins
    assert halves((1, -1), (0.5, 2.5000000000000004))[1].text() != with_twins
