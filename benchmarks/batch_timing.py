"""Rows of the batch benchmark: simulated seconds a second, with the error they come at."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

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
        f"{case:24} {code:44} {simulated / wall:10.1f} s/s, {simulated / processor:10.1f} s/core s  {extra}",
        flush=True,
    )
    return found


def median_error(states: Any, reference: Any) -> float:
    """Of the end states, as vectors, over the reference's size."""
    off = np.linalg.norm(states - reference, axis=1) / np.linalg.norm(reference, axis=1)
    return float(np.median(off))
