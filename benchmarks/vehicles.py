"""Whole cars: a step of the steering against real time, and a study of cars over their suspension.

    python -m benchmarks.vehicles [--cars 1000] [--duration 4] [--cluster local|ADDRESS] [--output FILE]

The car is the sedan of `bellcrank.vehicles`: McPherson and double wishbone axles, anti-roll bars, a power train, and
transient tyres of the Magic Formula 6.1. Its steering is turned by a function of time, so that one run is one call of
compiled code; compilation is over before the clock starts. The study draws springs and bars within 20 % and takes the
same step of each car, first on the cores of this process, then, with --cluster, on dask workers.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bellcrank.program.functions import clip
from bellcrank.study import LatinHypercube, Study, Uniform
from bellcrank.vehicles import Vehicle, sedan
from bellcrank.vehicles.passenger_car import RATIO
from benchmarks.run import processor

SPEED, ANGLE, RISE = 25.0, 0.02, 0.1
"""Speed [m/s], angle of the front wheels [rad] and time in which they are turned [s]."""
SPREAD = {
    "front spring": 26e3,
    "rear spring": 40e3,
    "front bar stiffness": 1000.0,
    "rear bar stiffness": 700.0,
}


def stepped_car() -> Vehicle:
    """The car, its steering turned 0.2 s after the start; it coasts in neutral."""
    turned = ANGLE / RATIO
    car = sedan(slip_control=False, turned=lambda t: turned * clip((t - 0.2) / RISE, 0.0, 1.0))
    return car.with_parameters({"gear": 0.0})


def step(car: Vehicle, duration: float, repeats: int = 3) -> dict[str, Any]:
    """One car, the least of a few runs."""
    car.run(SPEED, 0.01)
    runs = [car.run(SPEED, duration, output=400) for _ in range(repeats)]
    best = min(runs, key=lambda run: run.run.seconds)
    return {
        "seconds": best.run.seconds,
        "times_real_time": duration / best.run.seconds,
        "steps": best.run.steps,
        "evaluations": best.run.evaluations,
        "method": best.run.switches[-1][1] if best.run.switches else best.run.method,
        "yaw_rate": float(best["chassis.angular_velocity.z"][-1]),
    }


def study(car: Vehicle, cars: int, duration: float, cluster: str | None) -> dict[str, Any]:
    """Many cars at once."""
    made = Study(
        car.system,
        {name: Uniform(0.8 * value, 1.2 * value) for name, value in SPREAD.items()},
        {"yaw rate": "final of chassis.angular_velocity.z", "peak": "max of chassis.angular_velocity.z"},
        duration,
        design=LatinHypercube(cars),
        fixed={"gear": 0.0},
        start=car.rolling(SPEED),
        output=200,
    )
    begun = time.perf_counter()
    found = made.run(cluster=cluster, progress=False)
    taken = time.perf_counter() - begun
    yaw = found["yaw rate"]
    if len(found.failures):
        raise SystemExit(f"{len(found.failures)} cars failed: {found.failures[0]}")
    return {
        "seconds": taken,
        "cars_a_second": cars / taken,
        "times_real_time": cars * duration / taken,
        "yaw_rate": [float(yaw.min()), float(yaw.max())],
    }


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cars", type=int, default=1000)
    parser.add_argument("--duration", type=float, default=4.0, help="of each run [s]")
    parser.add_argument("--cluster", default=None, help="local, or the address of a dask scheduler")
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results/vehicles.json"))
    arguments = parser.parse_args()
    car = stepped_car()
    found: dict[str, Any] = {"step steer": step(car, arguments.duration)}
    if arguments.cars:
        found["study"] = study(car, arguments.cars, arguments.duration, None)
        if arguments.cluster:
            found["study on a cluster"] = study(car, arguments.cars, arguments.duration, arguments.cluster)
    table = Table(title=f"sedan on tyres of the Magic Formula, {processor()}")
    for head in ("", "wall time", "times real time", "yaw rate [rad/s]"):
        table.add_column(head, justify="right" if head else "left")
    for name, row in found.items():
        yaw = row["yaw_rate"]
        shown = f"{yaw:.4f}" if isinstance(yaw, float) else f"{yaw[0]:.4f} to {yaw[1]:.4f}"
        table.add_row(name, f"{row['seconds']:.3g} s", f"{row['times_real_time']:.3g}", shown)
    Console().print(table)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(found, indent=2), encoding="utf-8")


if __name__ == "__main__":
    main()
