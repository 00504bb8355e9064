"""Monte Carlo of many runs: simulated seconds a second, against MuJoCo's rollout, by batch size and threads.

    python -m benchmarks.batch [--quick] [--output FILE]

10,000 slider-cranks of varied masses for 10 s and 1,000 cars over the bump for 1 s, with springs, dampers, tyres and
masses varied and every car started from its own equilibrium. Times are minima over repeats; beside the wall time
stands the processor time, which other work on the machine does not touch. Compilation is over before the clock
starts; assembly, equilibria and the reading of quantities are inside it.

"Equal accuracy" is judged on the end state of the slider-crank: the error of crank angle and rate against a tight
run of the same instance, the median over instances.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import varied

CRANKS, CARS, DURATION, BUMP = 10_000, 1_000, 10.0, 1.0
SPREAD_QUANTITIES = ["main bearing.angle", "main bearing.angle_rate"]
CAR_QUANTITIES = ["chassis.position", "chassis.acceleration.z"]
START = {"main bearing.angle": np.pi / 6.0, "main bearing.angle_rate": 1.0}
Row = dict[str, Any]


def cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def timed(run: Callable[[], Any], repeats: int) -> tuple[float, float, Any]:
    """Shortest wall time, shortest processor time of all threads, the last result."""
    wall = processor = np.inf
    found = None
    for _ in range(repeats):
        begin, used = time.perf_counter(), time.process_time()
        found = run()
        wall = min(wall, time.perf_counter() - begin)
        processor = min(processor, time.process_time() - used)
    return wall, processor, found


def row(case: str, code: str, simulated: float, wall: float, processor: float, **more: Any) -> Row:
    """One measurement."""
    found: Row = {
        "section": "batch",
        "case": case,
        "code": code,
        "seconds": wall,
        "simulated_per_second": simulated / wall,
        "simulated_per_core_second": simulated / processor,
    } | more
    extra = ", ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in more.items())
    print(
        f"{case:24} {code:44} {simulated / wall:10.0f} s/s, {simulated / processor:10.0f} s/core s  {extra}",
        flush=True,
    )
    return found


def crank_table(rows: int) -> tuple[Any, dict[str, Any]]:
    """The slider-cranks."""
    mechanism, nominal = varied.slider_crank()
    table = varied.varied(np.random.default_rng(1), rows, nominal)
    return mechanism, table | {name: np.full(rows, value) for name, value in START.items()}


def end_states(result: Any) -> Any:
    """Crank angle and rate at the end."""
    return np.stack([result[name][:, -1] for name in SPREAD_QUANTITIES], axis=1)


def median_error(states: Any, reference: Any) -> float:
    """Of the end states, as vectors, over the reference's size."""
    off = np.linalg.norm(states - reference, axis=1) / np.linalg.norm(reference, axis=1)
    return float(np.median(off))


def head(table: dict[str, Any], rows: int) -> dict[str, Any]:
    """The first rows."""
    return {name: values[:rows] for name, values in table.items()}


def crank_rows(repeats: int, quick: bool) -> Iterator[Row]:
    """Ours at several tolerances, MuJoCo's at several steps, then by size and threads."""
    count, checked = (1000 if quick else CRANKS), 40
    mechanism, table = crank_table(count)

    def ours(rows: int, threads: int, integrator: str, tolerance: float) -> Any:
        return mechanism.simulate_many(
            head(table, rows), DURATION, quantities=SPREAD_QUANTITIES, integrator=integrator, tolerance=tolerance,
            output=1, threads=threads, progress=False,
        )  # fmt: skip

    reference = end_states(ours(checked, 1, "dop853", 1e-12))
    ours(4, 1, "dormand_prince5", 1e-4)
    case = f"{count} slider-cranks"
    for integrator, tolerance in (("dormand_prince5", 1e-4), ("dormand_prince5", 1e-6), ("dop853", 1e-8)):
        wall, processor, found = timed(lambda i=integrator, t=tolerance: ours(count, cores(), i, t), repeats)  # type: ignore[misc]
        yield row(
            case, f"bellcrank {integrator} {tolerance:g}", count * DURATION, wall, processor,
            error=median_error(end_states(found)[:checked], reference), failed=len(found.failures),
        )  # fmt: skip
    yield from mujoco_rows(case, head(table, checked * 5), reference, checked, repeats)
    for rows in (4, 16, 64, 256, 1024, 4096):
        if rows <= count:
            wall, processor, _ = timed(lambda r=rows: ours(r, cores(), "dormand_prince5", 1e-6), repeats)  # type: ignore[misc]
            yield row(f"batch of {rows}", "bellcrank dormand_prince5 1e-06", rows * DURATION, wall, processor)
    for threads in (1, 2, 4):
        wall, processor, _ = timed(lambda n=threads: ours(count, n, "dormand_prince5", 1e-6), repeats)  # type: ignore[misc]
        yield row(f"threads: {threads}", "bellcrank dormand_prince5 1e-06", count * DURATION, wall, processor)


def mujoco_rows(
    case: str, table: dict[str, Any], reference: Any, checked: int, repeats: int
) -> Iterator[Row]:
    """MuJoCo's rollout of fewer instances, which is enough for its rate; masses varied in the same way."""
    try:
        import mujoco
        from mujoco import rollout

        from benchmarks.peers import minimal_simulation as minimal
        from benchmarks.peers.mujoco_simulation import MODEL, start
    except ImportError as error:
        print(f"mujoco is not measured: {error}")
        return
    q, v = start()
    kinds = mujoco.mjtIntegrator
    methods = {"RK4": kinds.mjINT_RK4, "Euler": kinds.mjINT_EULER}
    for method, step, count in (
        ("Euler", 2e-3, 200),
        ("RK4", 2e-3, 200),
        ("RK4", 1e-3, 80),
        ("RK4", 2e-4, 40),
    ):
        softness, count = 4.0, min(count, len(table["crank mass"]))
        models = []
        for k in range(count):
            model = mujoco.MjModel.from_xml_string(MODEL.format(gravity=-minimal.GRAVITY))
            model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_REFSAFE
            model.opt.timestep, model.opt.integrator = step, methods[method]
            model.eq_solref[0] = -1.0 / (softness * step) ** 2, -2.0 / (softness * step)
            for name, body in (("crank mass", "crank"), ("rod mass", "rod"), ("slider mass", "slider")):
                model.body_mass[model.body(body).id] = table[name][k]
            mujoco.mj_setConst(model, mujoco.MjData(model))
            models.append(model)
        data = [mujoco.MjData(models[0]) for _ in range(cores())]
        steps = round(DURATION / step)
        size = mujoco.mj_stateSize(models[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
        initial = np.zeros((count, size))
        initial[:, 1 : 1 + len(q)], initial[:, 1 + len(q) : 1 + len(q) + len(v)] = q, v
        state = np.zeros((count, steps, size))

        def run(
            models: Any = models, data: Any = data, initial: Any = initial, n: int = steps, s: Any = state
        ) -> Any:
            return rollout.rollout(models, data, initial, nstep=n, state=s)[0]

        wall, processor, found = timed(run, max(1, repeats // 2))
        ends = found[:checked, -1][:, [1, 1 + len(q)]]
        note = median_error(ends, reference)
        yield row(
            case, f"mujoco rollout {method}, step {step:g} s", count * DURATION, wall, processor, error=note
        )


def car_rows(repeats: int, quick: bool) -> Iterator[Row]:
    """Cars over the bump."""
    count = 100 if quick else CARS
    mechanism, nominal = varied.car()
    table = varied.varied(np.random.default_rng(2), count, nominal)

    def starts() -> Any:
        return varied.rolling_starts(mechanism, table)

    given = starts()
    wall, processor, given = timed(starts, repeats)
    yield row(f"{count} cars", "bellcrank, equilibria alone", count * BUMP, wall, processor)

    def run(integrator: str, tolerance: float, rows: int = count, threads: int = 0) -> Any:
        return mechanism.simulate_many(
            head(table, rows), BUMP, quantities=CAR_QUANTITIES, integrator=integrator, tolerance=tolerance,
            starts=(given[0][:rows], given[1][:rows]), output=100, threads=threads or cores(), progress=False,
        )  # fmt: skip

    tight = run("dop853", 1e-12, 8)["chassis.position"]
    run("dormand_prince5", 1e-4, 4)
    for integrator, tolerance in (("dormand_prince5", 1e-4), ("dormand_prince5", 1e-6), ("dop853", 1e-8)):
        wall, processor, found = timed(lambda i=integrator, t=tolerance: run(i, t), repeats)  # type: ignore[misc]
        error = float(np.abs(found["chassis.position"][:8] - tight).max())
        yield row(
            f"{count} cars", f"bellcrank {integrator} {tolerance:g}", count * BUMP, wall, processor,
            error=error, failed=len(found.failures),
        )  # fmt: skip
    for threads in (1, 2, 4):
        wall, processor, _ = timed(lambda n=threads: run("dop853", 1e-8, count, n), max(1, repeats // 2))  # type: ignore[misc]
        yield row(f"cars, threads: {threads}", "bellcrank dop853 1e-08", count * BUMP, wall, processor)


def rows(repeats: int, quick: bool) -> Iterator[Row]:
    """All measurements."""
    yield from crank_rows(repeats, quick)
    yield from car_rows(repeats, quick)


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description="Measure batches of runs.")
    parser.add_argument("--quick", action="store_true", help="fewer instances and repeats")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "batch.json")
    arguments = parser.parse_args()
    found = list(rows(2 if arguments.quick else 5, arguments.quick))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg() if hasattr(os, "getloadavg") else None
    text = json.dumps({"cores": cores(), "load": load, "rows": found}, indent=1)
    arguments.output.write_text(text + "\n")
    print(f"written: {arguments.output}")


if __name__ == "__main__":
    main()
