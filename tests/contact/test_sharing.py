"""Searches for contact points are traced and compiled once: sizes of programs, and agreement with written-out ones."""

from __future__ import annotations

import numpy as np
import pytest

from bellcrank.contact import Sampled
from bellcrank.contact.closest import closest
from bellcrank.math.tuples import mat, vec
from bellcrank.mechanism import Mechanism
from bellcrank.model import System
from bellcrank.program.derive import jvp_program
from bellcrank.program.evaluate import evaluate
from bellcrank.program.kernel import compile_program
from bellcrank.program.subprogram import called, inlined
from bellcrank.run.touch import begun
from contact.test_several import box, dumbbell, put_down

SIDES = (0.2, 0.1, 0.05)
INERTIA = (1e-3, 4e-3, 4e-3)


def resting(shape: Sampled, points: int) -> Mechanism:
    """Touching the floor, with the pieces of surface gathered."""
    return begun(put_down(shape, points, 0.0249, INERTIA, law="hertz", restitution=1.0).mechanism())


def test_each_point_is_a_call() -> None:
    shape = box(SIDES, 9)
    one, four = (
        put_down(shape, points, 0.03, INERTIA).mechanism().traced("recursive").rates for points in (1, 4)
    )
    assert [target.digest for target in called(one)] == [target.digest for target in called(four)]
    assert len(called(four)) == 2
    assert sum(node.op == "call" for node in four.operations) == 4
    assert len(four.operations) < 1500
    assert len(inlined(one).operations) > 10_000


@pytest.mark.parametrize("shape", [box(SIDES, 9), dumbbell()], ids=["box", "dumbbell"])
def test_calls_do_what_was_written_out(shape: Sampled) -> None:
    mechanism = resting(shape, 4)
    rates = mechanism.traced("recursive").rates
    x = np.concatenate([[0.0], mechanism.start.q, mechanism.start.u, mechanism.parameter_values])
    n = len(rates.outputs)
    rng = np.random.default_rng(7)
    run, tangent = compile_program(rates), compile_program(jvp_program(rates))
    written, change = inlined(rates), rng.normal(size=n)
    for _ in range(3):
        state = x.copy()
        state[1 : 1 + n] += rng.normal(0.0, 1e-5, n)
        expected = evaluate(written, state)
        # Forces of 10 kN a metre cancel in part.
        assert run(state) == pytest.approx(expected, rel=1e-9, abs=1e-7)
        moved = np.zeros_like(state)
        moved[1 : 1 + n] = change
        found = tangent(np.concatenate([state, moved]))[n:]
        step = 1e-9
        ahead, behind = (evaluate(written, state + sign * step * moved) for sign in (1.0, -1.0))
        difference = (ahead - behind) / (2.0 * step)
        assert found == pytest.approx(difference, rel=1e-4, abs=1e-4 * np.abs(difference).max())


def ellipsoids(number: int, **sizes: float) -> System:
    """All of which may touch each other."""
    system = System("ellipsoids")
    shapes = []
    for k in range(number):
        body = system.body(f"body {k}", mass=1.0, inertia=(1e-3,) * 3, at=(0.3 * k, 0.0, 0.0))
        system.free(f"flight {k}", system.ground, body)
        shapes.append(body.ellipsoid(0.1, 0.08, sizes.get(f"c{k}", 0.06)))
        for j in range(k):
            system.contact(f"{j} {k}", shapes[j], shapes[k], treatment="continuous", stiffness=1e5)
    return system


def test_equal_pairs_share_their_search() -> None:
    sizes = []
    for number in (2, 3, 4):
        rates = ellipsoids(number).mechanism().traced("recursive").rates
        assert len(called(rates)) == 1
        sizes.append(len(rates.operations) / (number * (number - 1) / 2))
    assert sizes[2] < 1.2 * sizes[1] < 1.44 * sizes[0]
    assert sizes[2] < 600
    other = ellipsoids(3, c2=0.05).mechanism().traced("recursive").rates
    assert len(called(other)) == 2


def test_programs_grow_in_proportion_to_contacts() -> None:
    def operations(number: int) -> int:
        system = System("balls")
        for k in range(number):
            ball = system.body(f"ball {k}", mass=1.0, inertia=(1e-3,) * 3, at=(0.3 * k, 0.0, 0.2))
            system.free(f"flight {k}", system.ground, ball)
            system.contact(
                f"floor {k}", system.ground.plane(), ball.sphere(0.1),
                treatment="continuous", stiffness=1e5, restitution=0.5, friction=0.3,
            )  # fmt: skip
        return len(system.mechanism().traced("recursive").rates.operations)

    two, four, eight = (operations(n) for n in (2, 4, 8))
    assert four == 2 * two
    assert eight == 4 * two


def test_numbers_need_no_call() -> None:
    """Where a pose is known there is nothing to trace: two ellipsoids 1 mm apart."""
    from bellcrank.contact import Ellipsoid

    unit = mat(np.eye(3).tolist())
    found = closest(
        Ellipsoid(0.3, 0.2, 0.1),
        unit,
        vec([0.0, 0.0, 0.0]),
        Ellipsoid(0.1, 0.1, 0.1),
        unit,
        vec([0, 0, 0.201]),
    )
    assert float(found.distance) == pytest.approx(1e-3, rel=1e-9)
