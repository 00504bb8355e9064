"""The full car over the bump: one second, to a given accuracy of the chassis position, in every code.

The error is the largest distance of the chassis from the reference trajectory, in any direction, at the times of
the reference; every code delivers its states at these times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from benchmarks.simulation import Codes, Rung
from benchmarks.simulation_slider_crank import ladder

INTEGRATORS = ("dop853", "dormand_prince5", "runge_kutta5", "milne_hamming", "auto", "runge_kutta4", "radau")


@cache
def reference() -> tuple[Any, Any]:
    """Times and chassis positions of the reference trajectory."""
    from bellcrank.verify.full_car_bump import reference as stored

    run = stored()
    run = run.get("bump") or run["runs"]["bump"]
    return np.array(run["t"]), np.array(run["chassis_pos"])


def error(positions: Any) -> float:
    """Largest distance from the reference [m]."""
    found = np.asarray(positions)
    expected = reference()[1]
    return float(np.abs(found - expected).max()) if found.shape == expected.shape else float("nan")


@cache
def start() -> Any:
    """The mechanism standing in equilibrium, with every body at 10 m/s and the wheels rolling."""
    from dataclasses import replace

    from bellcrank.mechanism import analyse
    from bellcrank.verify.full_car import full_car_system
    from bellcrank.verify.full_car_bump import rolling_start

    mechanism = analyse(full_car_system("bump"))
    return replace(mechanism, start=rolling_start(mechanism, 10.0))


def ours(integrator: str) -> Iterable[Rung]:
    """The ladder of one integrator of ours, with its whole driver."""
    from bellcrank.integrate import Options, integrate
    from bellcrank.run.run import Run

    mechanism = start()
    run = Run(mechanism, integrator, (), ())
    begin, p = mechanism.start, np.array(mechanism.parameter_values)
    problem = run.problem(begin.q, begin.u, begin.t, p)
    times = reference()[0]
    linkage = mechanism.linkage
    placed = linkage.placements["chassis"]
    link = linkage.links[placed.link]
    settings: list[tuple[str, dict[str, float]]]
    if integrator == "runge_kutta4":
        settings = [(f"step {h:.2g} s", {"fixed_step": h}) for h in ladder(5e-3, 1e-4, 6)]
    else:
        tolerances = ladder(1e-2, 1e-9 if integrator in ("radau", "milne_hamming") else 1e-11)
        settings = [(f"tolerance {r:.1e}", {"rtol": r, "atol": 0.01 * r}) for r in tolerances]

    def chassis(trajectory: Any) -> Any:
        # The free link of the chassis has its origin at the centre of mass.
        return trajectory.y[:, link.q : link.q + 3]

    for text, given in settings:
        options = Options(repartition_threshold=0.05, **given)

        def go(options: Any = options) -> Any:
            run.machine = run.used[0]
            return integrate(problem, integrator, times, options, on_repartition=run._on_repartition)

        yield Rung(text, go, chassis, error)


def codes() -> Codes:
    """Every code with its ladder."""

    def peer(module: str, *arguments: Any) -> Callable[[], Iterable[Rung]]:
        def make() -> Iterable[Rung]:
            from importlib import import_module

            found: Iterable[Rung] = import_module(f"benchmarks.peers.{module}").car(*arguments)
            return found

        return make

    yield "mujoco RK4, tuned loops, tyres in C", peer("mujoco_car_simulation", "RK4")
    yield "mujoco implicitfast, tuned loops, tyres in C", peer("mujoco_car_simulation", "implicitfast")
    yield "pin constraintDynamics, SciPy DOP853", peer("pinocchio_car_simulation")
    yield "exudyn generalised alpha, symbolic tyres", peer("exudyn_car_simulation", "alpha")
    yield "exudyn trapezoidal, index 2, symbolic tyres", peer("exudyn_car_simulation", "trapezoidal")
    yield "drake SAP, ball constraints, tyres in Python", peer("drake_car_simulation")
    for integrator in INTEGRATORS:
        yield f"bellcrank {integrator}", lambda i=integrator: ours(i)


def real_time(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How many times faster than real time our best integrator runs the second, at each accuracy."""
    found = {}
    for accuracy in ("0.0001", "1e-06"):
        times = {
            r["code"]: r["reached"][accuracy]["seconds"]
            for r in rows
            if r["code"].startswith("bellcrank") and r["reached"].get(accuracy)
        }
        if times:
            best = min(times, key=lambda code: times[code])
            found[accuracy] = {"code": best, "times real time": 1.0 / times[best]}
    return found
