"""Flexible bodies: one turn of paper B's slider-crank at 1 % of the nonlinear peak, and the cost of modes.

    python -m benchmarks.flexible

Times are minima over repeats, without building and compiling in either code.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from bellcrank.program.count import count
from bellcrank.verify.flexible_slider_crank import TURN, deflection, mechanism, rod
from benchmarks import ours as our_code

PEAK, ACCURACY = 0.0101437, 1e-2
MODES = (1, 2, 5, 10, 20, 40)


def fastest(function: Callable[[], Any], repeats: int) -> float:
    """Seconds of the fastest of some calls."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        taken.append(time.perf_counter() - start)
    return min(taken)


def ours(repeats: int = 20) -> tuple[float, float, str]:
    """Seconds of the whole call and relative error of our cheapest run that is accurate enough, and its setting."""
    best: tuple[float, float, str] | None = None
    for modes in (2, 3):
        found = mechanism(rod(10, bending=modes, stiffening=True)).mechanism()
        for tolerance in (1e-3, 1e-4, 1e-5):
            options: dict[str, Any] = {"tolerance": tolerance, "output": 200, "integrator": "dop853"}
            run = found.simulate(TURN, **options)
            error = abs(float(np.abs(deflection(run)).max()) / PEAK - 1.0)
            if error > ACCURACY:
                continue
            seconds = fastest(partial(found.simulate, TURN, **options), repeats)
            if best is None or seconds < best[0]:
                best = (seconds, error, f"{modes} modes, tolerance {tolerance:g}")
    if best is None:
        raise ArithmeticError("no run of ours reached the accuracy")
    return best


def exudyn(elements: int, repeats: int = 20) -> tuple[float, float, str]:
    """The same of Exudyn with so many elements: the fewest steps that are accurate enough."""
    from benchmarks.peers.exudyn_flexible import prepared

    last = np.inf
    for steps in (15, 20, 25, 30, 40, 50, 100, 200, 400, 800, 1600):
        try:
            run, peak = prepared(elements, steps)
            run()
        except ArithmeticError:
            continue
        last = abs(peak() / PEAK - 1.0)
        if last <= ACCURACY:
            seconds = min(fastest(prepared(elements, steps)[0], 1) for _ in range(repeats))
            return seconds, last, f"{elements} elements, {steps} steps"
    raise ArithmeticError(f"{elements} elements do not come nearer than {last:.1%}")


def cost_of_modes() -> Iterator[tuple[int, int, float]]:
    """Modes, operations of one evaluation of the stiffened rod's equations, seconds of it."""
    for modes in MODES:
        build = our_code.build(mechanism(rod(60, bending=modes, stiffening=True)), "recursive")
        operations = count(build.mechanism.traced("recursive").accelerations).total
        x = our_code.sample_inputs(build.mechanism, build.kernel)
        yield modes, operations, our_code.kernel_seconds(build.kernel, x, 30)


def main() -> None:
    """All of it, printed."""
    seconds, error, setting = ours()
    print(f"bellcrank  {1e3 * seconds:9.3f} ms  error {error:.2%}  {setting}")
    for elements in (2, 4, 8):
        try:
            theirs, off, how = exudyn(elements)
        except (ArithmeticError, ImportError) as problem:
            print(f"exudyn     {problem}")
            continue
        print(f"exudyn     {1e3 * theirs:9.3f} ms  error {off:.2%}  {how}: {theirs / seconds:.0f} times")
    rows = list(cost_of_modes())
    for modes, operations, each in rows:
        print(f"{modes:3} modes  {operations:6} operations  {1e6 * each:9.3f} us")
    for (n0, c0, s0), (n1, c1, s1) in [*itertools.pairwise(rows), (rows[0], rows[-1])]:
        span = np.log(n1 / n0)
        ways = np.log(c1 / c0) / span, np.log(s1 / s0) / span
        print(f"from {n0:2} to {n1:2} modes: operations as n^{ways[0]:.2f}, time as n^{ways[1]:.2f}")


if __name__ == "__main__":
    main()
