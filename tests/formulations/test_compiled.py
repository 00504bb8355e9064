"""Machine code of mechanisms against the same programs run step by step."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from bellcrank.formulations.partition import choose_partition
from bellcrank.mechanism import Formulation, Mechanism, State, analyse
from bellcrank.program.evaluate import evaluate
from bellcrank.program.kernel import compile_program
from formulations.comparison import closed, difference, random_state, solved
from mechanism.linkages import engine
from reference.mechanisms import mechanism

FAMILIES = ("tree", "slider-crank", "suspension cut", "driven", "cut screw", "rolling")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BELLCRANK_CACHE", str(tmp_path))


def inputs(found: Mechanism, state: State) -> np.ndarray:
    return found.kernel_input(state)


@pytest.mark.parametrize("family", FAMILIES)
def test_kernel_of_the_rates(family: str) -> None:
    found = analyse(mechanism(family, 4), formulation=Formulation.RECURSIVE)
    program = found.traced().rates
    rng = np.random.default_rng(5)
    states = [random_state(found, rng, 0.1, t=0.1 * k) for k in range(8)]
    x = np.array([inputs(found, s) for s in states])
    expected = evaluate(program, x.T).T
    one = found.kernel
    assert (one.n_in, one.n_out) == (x.shape[1], found.linkage.positions + found.degrees_of_freedom)
    got = np.array([one(row) for row in x])
    assert difference(got, expected) < 1e-12
    np.testing.assert_array_equal(one.many(x), got)
    wide = compile_program(program, lanes=4)
    for half in (x[:4], x[4:]):
        # Four states at once, transposed to lanes: the very bits of one state at a time.
        lanes = wide(half.T)
        np.testing.assert_array_equal(lanes.T, np.array([one(row) for row in half]))


@pytest.mark.parametrize("family", FAMILIES)
def test_rates_are_the_time_derivatives_of_the_positions(family: str) -> None:
    """Along the motion, positions from the rates are closed to second order, quaternions stay unit."""
    found = analyse(mechanism(family, 4))
    state = random_state(found, np.random.default_rng(6), 0.1, t=0.3)
    traced = found.traced(Formulation.INDEPENDENT)
    n = found.linkage.positions
    q_rate = evaluate(traced.rates, inputs(found, state))[:n]
    full = solved(traced, state, found.parameter_values)
    independent = list(found.partition.independent)
    np.testing.assert_array_equal(evaluate(traced.rates, inputs(found, state))[n:], full.du[independent])
    loops = found.loop_state()

    def miss(h: float) -> float:
        return float(np.abs(loops.rows(state.q + h * q_rate, state.t + h).residual).max(initial=0.0))

    assert miss(1e-5) < 1e-13 + 0.3 * miss(2e-5)
    for link in found.linkage.links:
        if link.kind.has_quaternion:
            here = slice(link.q + link.kind.positions - 4, link.q + link.kind.positions)
            assert abs(state.q[here] @ q_rate[here]) < 1e-13


@pytest.mark.parametrize(
    "family",
    [
        "slider-crank",
        "suspension cut",
        "platform",
        "driven",
        "cut screw",
        "bricard",
        "rolling",
        "constrained",
    ],
)
def test_projection_converges_quadratically(family: str) -> None:
    """One step of the compiled projection squares the residual; independent coordinates stay."""
    found = analyse(mechanism(family, 4))
    rng = np.random.default_rng(7)
    state = random_state(found, rng, 0.1, t=0.2)
    loops, n = found.loop_state(), found.linkage.positions
    kernel = compile_program(found.projection(found.partition))
    move = np.zeros(found.coordinates)
    move[list(found.partition.dependent)] = rng.standard_normal(len(found.partition.dependent))
    sizes = []
    for size in (2e-3, 1e-3):
        off = loops.moved(state.q, size * move)
        y = kernel(inputs(found, State(state.t, off, state.u)))
        rows = loops.rows(y[:n], state.t).residual[list(found.kept)]
        before = np.abs(loops.rows(off, state.t).residual[list(found.kept)]).max()
        assert y[-2] == pytest.approx(before, rel=1e-9)
        sizes.append((before, np.abs(rows).max()))
        np.testing.assert_array_equal(y[n:-2], state.u[list(found.partition.independent)])
        for link in found.linkage.links:
            if link.kind.has_quaternion:
                whole = y[link.q + link.kind.positions - 4 : link.q + link.kind.positions]
                assert np.linalg.norm(whole) == pytest.approx(1.0, abs=1e-15)
            elif link.u in found.partition.independent:
                assert y[link.q] == off[link.q]
    (_, coarse), (before, fine) = sizes
    assert fine < 0.05 * before
    assert fine < 0.3 * coarse
    for _ in range(4):
        y = kernel(inputs(found, State(state.t, y[:n], state.u)))
    assert y[-2] < 1e-13


def test_margin_falls_to_zero_where_the_slider_cannot_lead() -> None:
    """With the slider as the independent coordinate the margin vanishes linearly at the dead centre."""
    found = analyse(engine(1.0))
    slider = found.speed_names.index("guide.displacement")
    rows = found.loop_state().rows(found.start.q)
    partition = choose_partition(
        found.linkage,
        found.mechanics.constraints,
        found.groups,
        found.kept,
        rows,
        avoid=frozenset({slider}),
    )
    assert partition.independent == (slider,)
    program = found.projection(partition)
    crank = next(k for k in found.linkage.links if k.joint == "main")
    margins = []
    q = found.start.q
    for angle in (1.0, 0.4, 0.2, 0.1, 0.05, 0.0):
        q = q.copy()
        q[crank.q] = angle
        # The crank is held while the others close: the state at exactly this angle.
        loops = found.loop_state()
        free = [k for k in range(found.coordinates) if k != crank.u]
        for _ in range(20):
            row = loops.rows(q)
            step = np.zeros(found.coordinates)
            step[free] = (
                -np.linalg.pinv(row.J[np.ix_(list(found.kept), free)]) @ row.residual[list(found.kept)]
            )
            q = loops.moved(q, step)
        margins.append(evaluate(program, np.concatenate([[0.0], q, [0.0]]))[-1])
    assert margins[0] > 0.05
    assert all(a > b for a, b in pairwise(margins))
    assert margins[3] / margins[4] == pytest.approx(2.0, rel=0.1)
    assert margins[-1] < 1e-12
    healthy = found.projection(found.choose_partition(State(0.0, q, np.zeros(found.coordinates))))
    assert evaluate(healthy, np.concatenate([[0.0], q, [0.0]]))[-1] > 0.1


def test_projection_brings_a_far_state_back() -> None:
    found = analyse(mechanism("platform", 1))
    kernel = compile_program(found.projection(found.partition))
    n = found.linkage.positions
    rng = np.random.default_rng(2)
    loops = found.loop_state()
    q = loops.moved(found.start.q, 0.05 * rng.standard_normal(found.coordinates))
    residuals = []
    for _ in range(8):
        y = kernel(inputs(found, State(0.0, q, found.start.u)))
        q = y[:n]
        residuals.append(y[-2])
    assert residuals[-1] < 1e-13
    np.testing.assert_allclose(closed(found, q, 0.0), q, atol=1e-12)
