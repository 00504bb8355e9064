"""Monte Carlo of many runs: simulated seconds a second, against MuJoCo and Exudyn, by batch size and threads.

    python -m benchmarks.batch [--quick] [--only cranks|cars] [--output FILE]

10,000 slider-cranks of varied masses for 10 s and 1,000 cars over the bump for 1 s, with springs, dampers, tyres and
masses varied and every car started from its own equilibrium. Times are minima over repeats; beside the wall time
stands the processor time, which other work on the machine does not touch. Compilation is over before the clock
starts; assembly, equilibria and the reading of quantities are inside it.

"Equal accuracy" is judged on the end state of the slider-crank: the error of crank angle and rate against a tight
run of the same instance, the median over instances; of the car, on the largest distance of its chassis from a tight run
[m]. A peer is compared with our fastest setting whose error is no larger.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import batch_peers, varied
from benchmarks.batch_timing import Row, cores, median_error, row, timed

CRANKS, CARS, DURATION, BUMP = 10_000, 1_000, 10.0, 1.0
SPREAD_QUANTITIES = ["main bearing.angle", "main bearing.angle_rate"]
CAR_QUANTITIES = ["chassis.position", "chassis.acceleration.z"]
SETTINGS = (
    *(("dormand_prince5", t) for t in (1e-2, 1e-3, 1e-4, 1e-6)),
    *(("runge_kutta5", t) for t in (1e-2, 1e-3, 1e-4, 1e-6)),
    ("dop853", 1e-8),
)
START = {"main bearing.angle": np.pi / 6.0, "main bearing.angle_rate": 1.0}


def crank_table(rows: int) -> tuple[Any, dict[str, Any]]:
    """The slider-cranks."""
    mechanism, nominal = varied.slider_crank()
    table = varied.varied(np.random.default_rng(1), rows, nominal)
    return mechanism, table | {name: np.full(rows, value) for name, value in START.items()}


def end_states(result: Any) -> Any:
    """Crank angle and rate at the end."""
    return np.stack([result[name][:, -1] for name in SPREAD_QUANTITIES], axis=1)


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
    for integrator, tolerance in SETTINGS:
        wall, processor, found = timed(lambda i=integrator, t=tolerance: ours(count, cores(), i, t), repeats)  # type: ignore[misc]
        yield row(
            case, f"bellcrank {integrator} {tolerance:g}", count * DURATION, wall, processor,
            error=median_error(end_states(found)[:checked], reference), failed=len(found.failures),
        )  # fmt: skip
    for peers in (batch_peers.mujoco_cranks, batch_peers.exudyn_cranks):
        yield from peers(case, head(table, checked * 5), reference, checked, max(1, repeats // 2))
    for rows in (4, 16, 64, 256, 1024, 4096):
        if rows <= count:
            wall, processor, _ = timed(lambda r=rows: ours(r, cores(), "dormand_prince5", 1e-6), repeats)  # type: ignore[misc]
            yield row(f"batch of {rows}", "bellcrank dormand_prince5 1e-06", rows * DURATION, wall, processor)
    for threads in (1, 2, 4):
        wall, processor, _ = timed(lambda n=threads: ours(count, n, "dormand_prince5", 1e-6), repeats)  # type: ignore[misc]
        yield row(f"threads: {threads}", "bellcrank dormand_prince5 1e-06", count * DURATION, wall, processor)


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
    for integrator, tolerance in SETTINGS:
        wall, processor, found = timed(lambda i=integrator, t=tolerance: run(i, t), repeats)  # type: ignore[misc]
        error = float(np.abs(found["chassis.position"][:8] - tight).max())
        yield row(
            f"{count} cars", f"bellcrank {integrator} {tolerance:g}", count * BUMP, wall, processor,
            error=error, failed=len(found.failures),
        )  # fmt: skip
    for peers in (batch_peers.mujoco_cars, batch_peers.exudyn_cars):
        yield from peers(f"{count} cars", max(1, repeats // 2))
    for threads in (1, 2, 4):
        wall, processor, _ = timed(lambda n=threads: run("dop853", 1e-8, count, n), max(1, repeats // 2))  # type: ignore[misc]
        yield row(f"cars, threads: {threads}", "bellcrank dop853 1e-08", count * BUMP, wall, processor)


def rows(repeats: int, quick: bool, only: str = "") -> Iterator[Row]:
    """All measurements, or those of the cranks or of the cars."""
    if only in ("", "cranks"):
        yield from crank_rows(repeats, quick)
    if only in ("", "cars"):
        yield from car_rows(repeats, quick)


def ratios(found: list[Row]) -> list[Row]:
    """For each setting of a peer, how many times faster our fastest setting of at least its accuracy is."""
    made = []
    for peer in found:
        if peer["code"].startswith("bellcrank") or not np.isfinite(peer.get("error", np.nan)):
            continue
        as_good = [
            r
            for r in found
            if r["case"] == peer["case"] and r["code"].startswith("bellcrank")
            if r.get("error", np.inf) <= peer["error"]
        ]
        if not as_good:
            continue
        best = max(as_good, key=lambda r: r["simulated_per_second"])
        ratio = best["simulated_per_second"] / peer["simulated_per_second"]
        made.append({"case": peer["case"], "peer": peer["code"], "ours": best["code"], "ratio": ratio})
        print(
            f"{peer['case']:24} {peer['code']:44} {ratio:8.1f} times slower than {best['code']}, no less accurate"
        )
    return made


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description="Measure batches of runs.")
    parser.add_argument("--quick", action="store_true", help="fewer instances and repeats")
    parser.add_argument("--only", choices=("cranks", "cars"), default="", help="a part of it")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "batch.json")
    arguments = parser.parse_args()
    found = list(rows(2 if arguments.quick else 5, arguments.quick, arguments.only))
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg() if hasattr(os, "getloadavg") else None
    text = json.dumps({"cores": cores(), "load": load, "rows": found, "ratios": ratios(found)}, indent=1)
    arguments.output.write_text(text + "\n")
    print(f"written: {arguments.output}")


if __name__ == "__main__":
    main()
