"""The free slider-crank to a given accuracy of its end state, in every code.

The error is that of crank angle and crank rate after 10 s, as a vector, over the size of the reference. The
reference is our own run at 1e-13, which must agree with the hand-written solution in one coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np

from benchmarks.peers import minimal_simulation as minimal
from benchmarks.simulation import Codes, Rung

INTEGRATORS = (
    "dop853",
    "dormand_prince5",
    "runge_kutta5",
    "milne_hamming",
    "radau",
    "auto",
    "runge_kutta4",
    "generalised_alpha",
)
AGREEMENT = 1e-11


@cache
def our_run(integrator: str) -> tuple[Any, Any]:
    """A compiled run of ours, ready to be integrated, and the initial value problem of it."""
    from bellcrank.mechanism import analyse
    from bellcrank.run.run import Run
    from bellcrank.verify.slider_crank import slider_crank

    mechanism = analyse(
        slider_crank(minimal.GRAVITY), initial={"main bearing": (minimal.ANGLE, minimal.RATE)}
    )
    run = Run(mechanism, integrator, (), ())
    start = mechanism.start
    return run, run.problem(start.q, start.u, start.t, np.array(mechanism.parameter_values))


def our_rung(integrator: str, setting: str, **options: Any) -> Rung:
    """One run of ours with its whole driver, from the start state to the end state."""
    from bellcrank.integrate import Options, integrate

    run, problem = our_run(integrator)
    given = Options(repartition_threshold=0.05, **options)
    crank = run.mechanism.speed_names.index("main bearing.angle")

    def go() -> Any:
        run.machine = run.used[0]
        return integrate(problem, integrator, [minimal.DURATION], given, on_repartition=run._on_repartition)

    def state(trajectory: Any) -> Any:
        p = np.array(run.mechanism.parameter_values)
        end = run.full_state(run.machine, trajectory.t[-1], trajectory.y[-1], p)
        return np.array([end.q[crank], end.u[crank]])

    return Rung(setting, go, state, error)


@cache
def reference() -> Any:
    """The end state of our run at 1e-13; raises where it and the hand-written solution differ."""
    rung = our_rung("dop853", "", rtol=1e-13, atol=1e-15)
    ours, by_hand = rung.state(rung.run()), minimal.reference()
    off = float(np.linalg.norm(ours - by_hand) / np.linalg.norm(by_hand))
    if not off < AGREEMENT:
        raise ArithmeticError(f"our reference and the hand-written one differ by {off:.1e}")
    return ours


def error(state: Any) -> float:
    """Relative error of (crank angle, crank rate), as a vector."""
    expected = reference()
    return float(np.linalg.norm(np.asarray(state) - expected) / np.linalg.norm(expected))


def ladder(first: float, last: float, a_decade: int = 4) -> Iterator[float]:
    """Tolerances from loose to tight."""
    count = round(math.log10(first / last) * a_decade)
    yield from (float(x) for x in np.geomspace(first, last, count + 1))


def ours(integrator: str) -> Iterable[Rung]:
    """The ladder of one integrator."""
    if integrator == "runge_kutta4":
        for h in ladder(0.05, 2e-4, 6):
            yield our_rung(integrator, f"step {h:.2g} s", fixed_step=h)
        return
    tightest = {"generalised_alpha": 1e-9, "radau": 1e-11, "milne_hamming": 1e-11}.get(integrator, 1e-12)
    for tolerance in ladder(1e-2, tightest):
        yield our_rung(integrator, f"tolerance {tolerance:.1e}", rtol=tolerance, atol=0.01 * tolerance)


def codes() -> Codes:
    """Every code with its ladder."""

    def peer(module: str, *arguments: Any) -> Callable[[], Iterable[Rung]]:
        def make() -> Iterable[Rung]:
            from importlib import import_module

            found: Iterable[Rung] = import_module(f"benchmarks.peers.{module}").slider_crank(*arguments)
            return found

        return make

    yield "casadi CVODES (Adams), one coordinate", peer("casadi_simulation", "adams")
    yield "casadi CVODES (BDF), one coordinate", peer("casadi_simulation", "bdf")
    yield "casadi CVODES (Adams), as machine code", peer("casadi_simulation", "adams", True)
    yield "pin constraintDynamics, SciPy DOP853", peer("pinocchio_simulation", "loop")
    yield "pin tree, one coordinate, SciPy DOP853", peer("pinocchio_simulation", "minimal")
    yield "mujoco RK4, tuned loop", peer("mujoco_simulation")
    yield "exudyn generalised alpha", peer("exudyn_simulation", "alpha")
    yield "exudyn trapezoidal, index 2", peer("exudyn_simulation", "trapezoidal")
    for integrator in INTEGRATORS:
        yield f"bellcrank {integrator}", lambda i=integrator: ours(i)
