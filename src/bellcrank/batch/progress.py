"""The progress bar of many runs."""

from __future__ import annotations

from bellcrank.base.progress_bar import ProgressBar


class RunsBar(ProgressBar):
    """A line with runs done and time left."""

    def __init__(self, total: int, wanted: bool | None) -> None:
        super().__init__(total, "simulating", wanted)
        self.done = 0

    def add(self, more: int) -> None:
        """So many more runs are done."""
        self.done += more
        self.show(
            self.done, f"{self.done} of {self.total} runs, {self.done / max(self.seconds, 1e-9):.3g} a second"
        )
