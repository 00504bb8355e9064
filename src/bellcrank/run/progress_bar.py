"""The progress bar of a run."""

from __future__ import annotations

import sys
from typing import Any

from bellcrank.integrate.loop import Progress


class ProgressBar:
    """A line with simulated time, speed against real time and step size, once a run takes over a second."""

    def __init__(self, end: float, begin: float, wanted: bool | None) -> None:
        self.end, self.begin = end, begin
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self._bar: Any = None
        self._task: Any = None

    def show(self, progress: Progress) -> None:
        """Bring the line up to date."""
        if not self.wanted or progress.seconds < 1.0:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

            self._bar = RichProgress(
                TextColumn("{task.description}"),
                BarColumn(),
                TimeRemainingColumn(),
                console=Console(stderr=True),
            )
            self._task = self._bar.add_task("simulating", total=self.end - self.begin)
            self._bar.start()
        speed = (progress.t - self.begin) / max(progress.seconds, 1e-9)
        average = (progress.t - self.begin) / max(progress.steps, 1)
        text = f"t = {progress.t:.4g} s, {speed:.3g} x real time, step {average:.2g} s"
        self._bar.update(self._task, completed=progress.t - self.begin, description=text)

    def close(self) -> None:
        """Take the line away."""
        if self._bar is not None:
            self._bar.stop()
