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


def per_call(function: Callable[[], Any], repeats: int = 25, loop_seconds: float = 0.02) -> float:
    """Seconds a call of `function`: the minimum over `repeats` loops, the empty loop taken off."""
    count = 1
    while True:
        elapsed = _loop(function, count)
        if elapsed > 0.2 * loop_seconds:
            break
        count *= 4
    count = max(1, int(count * loop_seconds / elapsed))
    enabled = gc.isenabled()
    gc.disable()
    try:
        taken = min(_loop(function, count) for _ in range(repeats))
        empty = min(_loop(_nothing, count) for _ in range(3))
    finally:
        if enabled:
            gc.enable()
    return max(taken - empty, 0.0) / count


def once(function: Callable[[], Any], repeats: int = 1) -> float:
    """Seconds of a slow call: the minimum over `repeats`."""
    return min(_loop(function, 1) for _ in range(repeats))


def one_core() -> int | None:
    """Keep this process on one core; its number, or None where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    # The last core is the least busy one on most machines: interrupts and other work start at the first.
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def _loop(function: Callable[[], Any], count: int) -> float:
    iterations = range(count)
    start = time.perf_counter()
    for _ in iterations:
        function()
    return time.perf_counter() - start


def _nothing() -> None:
    pass
