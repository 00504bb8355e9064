"""Time of one call: the minimum over repeats of a loop long enough for the clock."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Timing:
    """What a measurement found [s]."""

    seconds: float
    """One evaluation, with the overhead of the call taken off."""
    overhead: float = 0.0
    """What was taken off."""
    note: str = ""


REPEATS = 300
LOOP_SECONDS = 5e-4
"""A loop must fit between two interruptions: on a busy machine every longer one is interrupted, and then even
the minimum over many repeats is too large. Both sides of a comparison are measured with this one rule."""
LIMIT_SECONDS = 3.0


def per_call(function: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Seconds a call of `function`: the minimum over `repeats` loops, the empty loop taken off."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        taken, count = minimum(lambda count: _loop(function, count), repeats)
        empty = min(_loop(_nothing, count) for _ in range(50)) / count
    finally:
        if enabled:
            gc.enable()
    return max(taken - empty, 0.0)


def minimum(timed: Callable[[int], float], repeats: int = REPEATS) -> tuple[float, int]:
    """The smallest time a turn, and the turns a loop; `timed(count)` runs a loop of `count` turns [s]."""
    count = 1
    while min(timed(count) for _ in range(3)) < 0.25 * LOOP_SECONDS:
        count *= 2
    elapsed = min(timed(count) for _ in range(3))
    count = max(1, int(count * LOOP_SECONDS / elapsed))
    best = timed(count)
    start = time.perf_counter()
    for _ in range(repeats):
        best = min(best, timed(count))
        if time.perf_counter() - start > LIMIT_SECONDS:
            break
    return best / count, count


def one_core() -> int | None:
    """Keep this process on one core; its number, or None where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    # The last core is the least busy one on most machines: interrupts and other work start at the first.
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def all_cores() -> None:
    """Undo :func:`one_core`, for a process that is measured on all of them."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count() or 1))


def _loop(function: Callable[[], Any], count: int) -> float:
    iterations = range(count)
    start = time.perf_counter()
    for _ in iterations:
        function()
    return time.perf_counter() - start


def _nothing() -> None:
    pass
