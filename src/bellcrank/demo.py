"""A first look: two mechanisms, from their description to a report and an animation, in a folder to open.

Run it by ``python -m bellcrank.demo [FOLDER]`` or ``make demo``.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bellcrank.result.result import Result

SLIDER_CRANK_CURVES = (
    "slider.position.x",
    "slider.velocity.x",
    "guide.force.y",
    "energy.kinetic",
    "energy.total",
)
CAR_CURVES = (
    "chassis.position.z",
    "chassis.acceleration.z",
    "FL_tyre.load",
    "FR_tyre.load",
    "RL_tyre.load",
    "RR_tyre.load",
)


def slider_crank() -> Result:
    """The slider crank of Park, Yoo, Hwang, Yang (2000), example 1 without the block, under gravity for 10 s."""
    from bellcrank.verify.slider_crank import slider_crank

    system, start = slider_crank(gravity=9.81), {"main bearing": (math.pi / 6, 1.0)}
    return _warm(lambda: system.simulate(10.0, initial=start, integrator="dop853", output=1000))


def full_car(speed: float = 10.0) -> Result:
    """The 22-body car of Kang and Yoon, from its static equilibrium, over an 80 mm bump under its left wheels."""
    from bellcrank.verify.full_car import full_car_system
    from bellcrank.verify.full_car_bump import rolling_start

    mechanism = full_car_system("bump").mechanism()
    start = rolling_start(mechanism, speed)
    return _warm(lambda: mechanism.simulate(2.0, start=start, integrator="dop853", output=1000))


def _warm(run: Callable[[], Result]) -> Result:
    """The result of a second run, whose time is that of the run alone; the first loads the machine code."""
    run()
    return run()


def show(result: Result, folder: Path, stem: str, curves: Sequence[str]) -> list[Path]:
    """Write report, animation and plot; the paths written."""
    written = [folder / f"{stem}_report.html", folder / f"{stem}_animation.html"]
    result.report(written[0], curves)
    result.html(written[1], curves)
    if find_spec("matplotlib") is not None:
        written.append(folder / f"{stem}.png")
        result.plot(*curves, path=written[-1])
    return written


def headline(result: Result) -> list[tuple[str, str]]:
    """What the run took, in a few numbers."""
    run = result.run
    duration = float(result.time[-1] - result.time[0])
    position = float(np.max(result["constraints.position"]))
    return [
        (
            "simulated",
            f"{duration:g} s in {1e3 * run.seconds:.2f} ms: {duration / run.seconds:,.0f} x real time",
        ),
        ("evaluations", f"{run.evaluations:,} in {run.steps:,} steps"),
        ("one evaluation", f"{1e9 * run.seconds / run.evaluations:,.0f} ns, integrator and outputs included"),
        ("loops closed to", f"{position:.1e} m"),
        ("energy ledger", f"closes to {result.ledger.relative_residual:.1e} of the energy at play"),
    ]


def main(arguments: Sequence[str] = ()) -> None:
    """Run both mechanisms, write their pages and say where they are."""
    folder = Path(arguments[0] if arguments else "demo")
    folder.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    shown = (
        ("slider crank", slider_crank, "slider_crank", SLIDER_CRANK_CURVES),
        ("full car over a bump", full_car, "full_car", CAR_CURVES),
    )
    for title, run, stem, curves in shown:
        mark = time.perf_counter()
        result = run()
        written = show(result, folder, stem, curves)
        mechanism = result.mechanism
        print(
            f"\n{title}: {len(mechanism.system.bodies)} bodies, {mechanism.coordinates} coordinates, "
            f"{mechanism.degrees_of_freedom} degree{'s' * (mechanism.degrees_of_freedom != 1)} of freedom"
        )
        for what, value in headline(result):
            print(f"  {what:<16} {value}")
        print(f"  {'everything':<16} {time.perf_counter() - mark:.1f} s, from description to pages")
        for path in written:
            print(f"  {path}")
    print(f"\n{time.perf_counter() - began:.1f} s in all. Open the pages in a browser.")


if __name__ == "__main__":
    main(sys.argv[1:])
