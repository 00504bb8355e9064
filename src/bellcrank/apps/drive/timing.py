"""How long steps take against the time they simulate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

RECENT = 1000
"""Steps that the figures shown while driving are taken over."""


class Stopwatch:
    """Wall times of fixed steps [s]; all of a run of known length, or the most recent ones of an endless one."""

    def __init__(self, step: float, steps: int = RECENT) -> None:
        self.step = step
        self.times: NDArray[np.float64] = np.zeros(max(steps, 1))
        self.count = 0
        self.worst = 0.0
        self.late = 0
        self.total = 0.0
        self.lag = self.now = 0.0
        self.dropped = 0.0

    def add(self, seconds: float) -> None:
        """One more step."""
        self.times[self.count % len(self.times)] = seconds
        self.count += 1
        self.total += seconds
        self.worst = max(self.worst, seconds)
        self.late += seconds > self.step

    def behind(self, seconds: float) -> None:
        """How far the car was behind the clock before a step."""
        self.now = seconds
        self.lag = max(self.lag, seconds)

    def summary(self) -> dict[str, Any]:
        """Figures in seconds, and as shares of real time.

        median, p99: Of the steps kept. worst, late: Longest step, and how many took longer than they simulate,
        of all. lag, now: Behind the clock, at most and before the last step. dropped: Time given up where the machine
        was stopped.
        """
        kept = self.times[: min(self.count, len(self.times))]
        median, p99 = np.percentile(kept, (50, 99)).tolist() if len(kept) else (0.0, 0.0)
        return {
            "step": self.step,
            "steps": self.count,
            "median": median,
            "p99": p99,
            "worst": self.worst,
            "mean": self.total / max(self.count, 1),
            "share_of_real_time": self.total / max(self.count * self.step, 1e-300),
            "times_real_time": self.count * self.step / self.total if self.total > 0.0 else 0.0,
            "late": self.late,
            "lag": self.lag,
            "now": self.now,
            "dropped": self.dropped,
        }
