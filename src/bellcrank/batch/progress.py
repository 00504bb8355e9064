"""A line with instances done and time left, once a batch takes over a second."""

from __future__ import annotations

import sys
from typing import Any


class Bar:
    """The line; shown on a terminal unless told otherwise."""

    def __init__(self, total: int, wanted: bool | None) -> None:
        self.total, self.done = total, 0
        self.wanted = sys.stderr.isatty() if wanted is None else wanted
        self._bar: Any = None
        self._task: Any = None

    def show(self, more: int, seconds: float) -> None:
        """Bring the line up to date; `more` instances were done."""
        self.done += more
        if not self.wanted or seconds < 1.0:
            return
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._task = self._bar.add_task("simulating", total=self.total)
            self._bar.start()
        text = f"{self.done} of {self.total} runs, {self.done / seconds:.3g} a second"
        self._bar.update(self._task, completed=self.done, description=text)

    def close(self) -> None:
        """Take the line away."""
        if self._bar is not None:
            self._bar.stop()
