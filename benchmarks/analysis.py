"""Time to analyse a mechanism against the number of its bodies and loops.

    python -m benchmarks.analysis [--most 100] [--traced 20] [--repeats 3]

Processor time from the description to the partition of speeds, and from there to the equations of motion in the
recursive formulation, the least of a few runs, on one core and one thread of the linear algebra: chains without loops,
slider cranks side by side (independent loops) and scissors (loops that share bodies, with as many redundant equations
as there are freedoms of a plane). The power of growth is that over the larger half of the sizes.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from bellcrank.formulations.registry import Formulation
from bellcrank.mechanism import analyse
from bellcrank.model import System


def chain(units: int) -> System:
    """Links in a row."""
    system, before = System("chain"), None
    for k in range(2 * units):
        link = system.body(f"link {k}", 1.0, (0.1,) * 3, at=(k + 0.5, 0, 0))
        system.revolute(f"pin {k}", before or system.ground, link, at=(k, 0, 0), axis="y" if k % 2 else "z")
        before = link
    return system


def slider_cranks(units: int) -> System:
    """Loops that share nothing but the ground."""
    system = System("slider cranks")
    for k in range(units):
        crank = system.body(f"crank {k}", 1.0, (0.1,) * 3, at=(0, 0.15, k))
        rod = system.body(f"rod {k}", 1.0, (0.1,) * 3, at=(0.4, 0.15, k))
        slider = system.body(f"slider {k}", 1.0, (0.1,) * 3, at=(0.8, 0, k))
        system.revolute(f"main {k}", system.ground, crank, at=(0, 0, k))
        system.revolute(f"pin {k}", crank, rod, at=(0, 0.3, k))
        system.revolute(f"wrist {k}", rod, slider, at=(0.8, 0, k))
        system.prismatic(f"guide {k}", system.ground, slider, axis="x")
    return system


def scissor(units: int) -> System:
    """A lift of crossed bars, whose base slides on a rail."""
    system = System("scissor", gravity=(0, -9.81, 0))
    base = system.body("base", 1.0, (0.1,) * 3, at=(1, 0, 0))
    system.prismatic("rail", system.ground, base, axis="x")
    left, right, lean = system.ground, base, math.atan2(0.5, 1.0)
    for k in range(units):
        y = 0.5 * k
        a = system.body(f"a {k}", 1.0, (0.1,) * 3, at=(0.5, y + 0.25, 0), angle=lean)
        b = system.body(f"b {k}", 1.0, (0.1,) * 3, at=(0.5, y + 0.25, 0), angle=-lean)
        system.revolute(f"left {k}", left, a, at=(0, y, 0))
        system.revolute(f"right {k}", right, b, at=(1, y, 0))
        system.revolute(f"middle {k}", a, b, at=(0.5, y + 0.25, 0))
        left, right = b, a
    return system


KINDS: dict[str, Callable[[int], System]] = {
    "chain": chain,
    "slider cranks": slider_cranks,
    "scissor": scissor,
}


@dataclass(frozen=True)
class Timing:
    """Processor times [s] of an analysis and of the equations of motion, and what the mechanism is made of."""

    bodies: int
    loops: int
    redundant: int
    analysed: float
    traced: float


def timing(make: Callable[[int], System], units: int, repeats: int, trace: bool) -> Timing:
    """The least times of a few runs; not a number where the equations were not asked for."""
    best = Timing(0, 0, 0, math.inf, math.inf)
    for _ in range(repeats):
        system = make(units)
        began = time.process_time()
        mechanism = analyse(system)
        _ = mechanism.partition
        analysed = time.process_time() - began
        began = time.process_time()
        traced = math.nan
        if trace:
            _ = mechanism.traced(Formulation.RECURSIVE).rates
            traced = time.process_time() - began
        counts = len(system.bodies), len(mechanism.tree.cuts), len(mechanism.dropped)
        best = Timing(*counts, min(best.analysed, analysed), min(best.traced, traced) if trace else math.nan)
    return best


def growth(sizes: Sequence[int], times: Sequence[float]) -> float:
    """The power of the number of bodies with which a time grows, over the larger half of the sizes."""
    known = [(math.log(n), math.log(x)) for n, x in zip(sizes, times, strict=True) if x > 0.0]
    upper = known[len(known) // 2 - 1 :] if len(known) > 2 else known
    if len(upper) < 2:
        return math.nan
    x, y = np.array(upper).T
    return float(np.polyfit(x, y, 1)[0])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--most", type=int, default=100, help="units of the largest mechanism")
    parser.add_argument(
        "--traced", type=int, default=20, help="units of the largest whose equations are traced"
    )
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args(arguments)
    for make in KINDS.values():
        timing(make, 2, 1, True)
    heads = f"{'mechanism':15}{'units':>7}{'bodies':>8}{'loops':>7}{'redundant':>11}{'analysis':>10}{'tracing':>10}"
    print(heads)
    for name, make in KINDS.items():
        found = []
        for units in [n for n in (5, 10, 20, 50, 100, 200) if n <= given.most]:
            one = timing(make, units, given.repeats, units <= given.traced)
            found.append(one)
            shown = f"{one.traced:10.3f}" if units <= given.traced else f"{'-':>10}"
            print(
                f"{name:15}{units:7}{one.bodies:8}{one.loops:7}{one.redundant:11}{one.analysed:10.3f}{shown}"
            )
        bodies = [one.bodies for one in found]
        powers = (
            growth(bodies, [one.analysed for one in found]),
            growth(bodies, [one.traced for one in found]),
        )
        print(f"{'':15}{'time grows as bodies to the power':>33}{powers[0]:10.1f}{powers[1]:10.1f}")


if __name__ == "__main__":
    main()
