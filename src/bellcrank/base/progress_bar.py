"""The progress bar of whatever takes long."""

from __future__ import annotations

import sys
import time
from typing import Any


class ProgressBar:
    """A line with what is done and the time left, on the error stream, once something takes long."""

    def __init__(self, total: float, doing: str, wanted: bool | None, patience: float = 1.0) -> None:
        """total: What is to be done. wanted: None for a terminal only. patience: Time without a line [s]."""
        self.total, self.doing, self.patience = total, doing, patience
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self.begun = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None

    @property
    def seconds(self) -> float:
        """Time since the beginning [s]."""
        return time.perf_counter() - self.begun

    def show(self, done: float, words: str = "") -> None:
        """Bring the line up to date."""
        if not self.wanted or self.seconds < self.patience:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._task = self._bar.add_task(self.doing, total=self.total)
            self._bar.start()
        self._bar.update(self._task, completed=min(done, self.total), description=words or self.doing)

    def close(self) -> None:
        """Take the line away."""
        if self._bar is not None:
            self._bar.stop()
