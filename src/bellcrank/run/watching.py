"""Looking at a run while it goes on: the result so far, handed over every quarter of a second."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bellcrank.result.result import Result, RunReport

if TYPE_CHECKING:
    from bellcrank.integrate.loop import Progress
    from bellcrank.run.run import Run

Array = NDArray[np.float64]
Show = Callable[[Result], None]

PERIOD = 0.25
"""Seconds of wall time between two looks, at least."""


class Watch:
    """Builds the result so far at the ends of chunks; outputs are worked out once."""

    def __init__(self, show: Show) -> None:
        self.show = show
        self.rows: tuple[Array, ...] = ()
        self.outputs = 0
        self.told_at = time.perf_counter()

    def due(self) -> bool:
        """Whether it is time for another look."""
        now = time.perf_counter()
        if now - self.told_at < PERIOD:
            return False
        self.told_at = now
        return True

    def chunk(self, run: Run, times: Array, progress: Progress) -> None:
        """Report the outputs so far of a run without contacts."""
        if progress.outputs <= self.outputs or not self.due():
            return
        new = slice(self.outputs, progress.outputs)
        rows = run.rows(times[new], progress.y[new], progress.partition[new])
        self.rows = (
            tuple(np.vstack(pair) for pair in zip(self.rows, rows, strict=True)) if self.rows else rows
        )
        self.outputs = progress.outputs
        formulation = str(run.machine.traced.formulation)
        report = RunReport("running", run.integrator, formulation, progress.steps, 0, 0, progress.seconds)
        q, u, du, p = self.rows
        self.show(Result(run.mechanism, times[: self.outputs], q, u, du, p, report, tuple(run.met)))
