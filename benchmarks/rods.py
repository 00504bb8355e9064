"""Rods that bend far: a slider-crank and a four-bar against Exudyn's geometrically exact beams at equal accuracy.

    python -m benchmarks.rods

A constant torque drives the crank from rest; the rods bend by inertia. The error of a run is the largest distance of
the last joint of the first rod, and of its middle, from a fine run of ours, over the length of the rod; Exudyn comes
nearer to that run with every refinement. Printed are runs that no cheaper one beats, then the cheapest ones for some
accuracies. Times are processor time, minima over repeats, without building and compiling in either code.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bellcrank.flexible import Material, circle, rod
from bellcrank.model import System

Array = NDArray[np.float64]

STUFF, SECTION = Material(70e9, density=2700.0), circle(0.004)
CRANK, CRANK_MASS, CRANK_INERTIA = 0.15, 0.2, 2e-3
SLIDER, TORQUE = 0.1, 1.0
DURATION, SAMPLES = 0.2, 40
ACCURACIES = (3e-3, 1e-3)
COORDINATES, MORE_SLICES, TOLERANCES = (2, 3, 4), (1, 2), (1e-2, 1e-3)
ELEMENTS, STEPS = (8, 12, 16, 20), (250, 500, 1000, 2000)


@dataclass(frozen=True)
class Layout:
    """A mechanism: the crank's end, then the ends of rods from joint to joint; whether the last one slides along x."""

    name: str
    joints: tuple[tuple[float, float], ...]
    slides: bool

    @property
    def crank(self) -> tuple[float, float]:
        """The end of the crank [m]."""
        return self.joints[0]


LAYOUTS = (
    Layout("slider-crank", ((0.0, CRANK), (float(np.sqrt(0.45**2 - CRANK**2)), 0.0)), True),
    Layout("four-bar", ((0.0, CRANK), (0.4, 0.35), (0.45, 0.0)), False),
)


def mechanism(layout: Layout, coordinates: int, slices: int | None = None, stretch: int = 0) -> System:
    """The mechanism with rods of so many coordinates of bending."""
    system = System(layout.name, gravity=(0.0, 0.0, 0.0))
    angle = float(np.arctan2(layout.crank[1], layout.crank[0]))
    crank = system.body("crank", CRANK_MASS, (CRANK_INERTIA,) * 3, angle=angle)
    system.revolute("bearing", system.ground, crank, at=(0.0, 0.0, 0.0), axis="z")
    system.applied_torque("motor", crank, lambda: (0.0, 0.0, TORQUE))
    last: Any = crank.point(CRANK, 0.0, 0.0)
    for k, (a, b) in enumerate(pairwise(layout.joints)):
        start, way = np.array([*a, 0.0]), np.subtract(b, a)
        member = rod(
            f"rod {k + 1}", float(np.hypot(*way)), SECTION, STUFF, bending=(0, coordinates), torsion=0,
            stretch=stretch, slices=slices, stations={"middle": float(np.hypot(*way)) / 2.0},
        )  # fmt: skip
        body = system.flexible_body(f"rod {k + 1}", member, at=start, angle=float(np.arctan2(way[1], way[0])))
        system.revolute(f"pin {k + 1}", last, body.node("start"), axis="z")
        last = body.node("end")
    end = (*layout.joints[-1], 0.0)
    if layout.slides:
        slider = system.body("slider", SLIDER, (1e-6, 1e-6, 1e-6), at=end)
        system.prismatic("guide", system.ground, slider, axis="x")
        system.revolute("wrist", last, slider.point(0.0, 0.0, 0.0), axis="z")
    else:
        system.revolute("pivot", last, system.ground.point(*end), axis="z")
    return system


def places(run: Any) -> Array:
    """Of the last joint of the first rod and of its middle, x and y, at the samples."""
    names = [f"rod 1.{node}.position.{axis}" for node in ("end", "middle") for axis in "xy"]
    return np.column_stack([series.to_numpy() for series in run.compute(names)])


def off(found: Array, reference: Array, layout: Layout) -> float:
    """The largest distance over the length of the first rod."""
    a, b = layout.joints[:2]
    apart = (found - reference).reshape(len(found), 2, 2)
    return float(np.linalg.norm(apart, axis=2).max() / np.hypot(*np.subtract(b, a)))


def fastest(function: Callable[[], Any], repeats: int) -> float:
    """Seconds of the fastest of some calls, of this process alone."""
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        function()
        taken.append(time.process_time() - start)
    return min(taken)


@dataclass(frozen=True)
class Found:
    """A run: its error, processor time [s] and setting."""

    error: float
    seconds: float
    setting: str

    def __str__(self) -> str:
        return f"{1e3 * self.seconds:9.3f} ms  error {self.error:.1e}  {self.setting}"


def reference(layout: Layout) -> Array:
    """Places at the samples by a fine run."""
    fine = mechanism(layout, 8, 20, 2).mechanism()
    times = np.linspace(0.0, DURATION, SAMPLES + 1)
    return places(fine.simulate(DURATION, tolerance=1e-9, output=times))


def ours(layout: Layout, fine: Array, repeats: int = 10) -> list[Found]:
    """Runs of ours."""
    times = np.linspace(0.0, DURATION, SAMPLES + 1)
    found = []
    for coordinates in COORDINATES:
        for more in MORE_SLICES:
            compiled = mechanism(layout, coordinates, coordinates + more).mechanism()
            for tolerance in TOLERANCES:
                options: dict[str, Any] = {"tolerance": tolerance, "output": times}
                error = off(places(compiled.simulate(DURATION, **options)), fine, layout)
                seconds = fastest(partial(compiled.simulate, DURATION, **options), repeats)
                setting = (
                    f"{coordinates} coordinates a rod, {coordinates + more} slices, tolerance {tolerance:g}"
                )
                found.append(Found(error, seconds, setting))
    return found


def exudyn(layout: Layout, fine: Array, repeats: int = 3) -> list[Found]:
    """Runs of Exudyn."""
    from benchmarks.peers.exudyn_rods import prepared

    runs = []
    for elements in ELEMENTS:
        for steps in STEPS:
            try:
                run, found = prepared(layout, elements, steps)
                run()
            except ArithmeticError:
                continue
            seconds = min(fastest(prepared(layout, elements, steps)[0], 1) for _ in range(repeats))
            runs.append(
                Found(off(found(), fine, layout), seconds, f"{elements} elements a rod, {steps} steps")
            )
    return runs


def front(runs: list[Found]) -> list[Found]:
    """Those that no cheaper run beats or nearly reaches, the cheapest first."""
    kept: list[Found] = []
    for run in sorted(runs, key=lambda r: r.seconds):
        if not kept or run.error < 0.9 * kept[-1].error:
            kept.append(run)
    return kept


def main() -> None:
    """Both mechanisms, printed."""
    for layout in LAYOUTS:
        fine = reference(layout)
        codes = {"bellcrank": front(ours(layout, fine))}
        try:
            codes["exudyn"] = front(exudyn(layout, fine))
        except ImportError as problem:
            print(f"exudyn is not measured: {problem}")
        for code, runs in codes.items():
            for run in runs:
                print(f"{layout.name:13} {code:9} {run}")
        for accuracy in ACCURACIES:
            best = {
                code: next((r for r in runs if r.error <= accuracy), None) for code, runs in codes.items()
            }
            mine, theirs = best["bellcrank"], best.get("exudyn")
            if mine is not None and theirs is not None:
                print(f"{layout.name:13} to {accuracy:g}: {theirs.seconds / mine.seconds:.1f} times as fast")


if __name__ == "__main__":
    main()
