"""The progress bar of a surface that is fitted through many samples."""

from __future__ import annotations

import sys
import time
from typing import Any

PATIENCE = 2.0
"""Seconds that pass before a bar is shown."""


class FittingBar:
    """A line with the samples that are done, once it takes long; wanted: None for a terminal only."""

    def __init__(self, total: int, wanted: bool | None = None, patience: float = PATIENCE) -> None:
        self.total, self.patience = total, patience
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.begun = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    def show(self, done: int) -> None:
        """Bring the line up to date."""
        if not self.wanted or time.perf_counter() - self.begun < self.patience:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._task = self._bar.add_task(
                f"fitting a surface through {self.total} samples", total=self.total
            )
            self._bar.start()
        self._bar.update(self._task, completed=min(done, self.total))

    def close(self) -> None:
        """Take the line away."""
        if self._bar is not None:
            self._bar.stop()


__all__ = ["FittingBar"]
