"""Time to analyse a mechanism against the number of its bodies and loops.

    python -m benchmarks.analysis [--most 100] [--repeats 3]

Processor time from the description to the partition of speeds, the least of a few runs, on one core and one thread of
the linear algebra: chains without loops, slider cranks side by side (independent loops) and scissors (loops that share
bodies, with as many redundant equations as there are freedoms of a plane).
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable, Sequence

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

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


def seconds(make: Callable[[int], System], units: int, repeats: int) -> tuple[float, int, int, int]:
    """Processor time of an analysis, and the bodies, loops and redundant equations of the mechanism."""
    best, found = math.inf, (0, 0, 0)
    for _ in range(repeats):
        system = make(units)
        began = time.process_time()
        mechanism = analyse(system)
        _ = mechanism.partition
        best = min(best, time.process_time() - began)
        found = len(system.bodies), len(mechanism.tree.cuts), len(mechanism.dropped)
    return best, *found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--most", type=int, default=100, help="units of the largest mechanism")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args(arguments)
    for make in KINDS.values():
        seconds(make, 2, 1)
    print(f"{'mechanism':15}{'units':>7}{'bodies':>8}{'loops':>7}{'redundant':>11}{'seconds':>10}")
    for name, make in KINDS.items():
        for units in [n for n in (5, 10, 20, 50, 100, 200) if n <= given.most]:
            took, bodies, loops, redundant = seconds(make, units, given.repeats)
            print(f"{name:15}{units:7}{bodies:8}{loops:7}{redundant:11}{took:10.3f}")


if __name__ == "__main__":
    main()
