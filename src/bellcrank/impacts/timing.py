"""How the time of an impact is found."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.errors import ModelError, unknown_name

METHODS = ("dense", "queue")


@dataclass(frozen=True)
class Timing:
    """dense: a root of the gap on the dense output of a step. queue: by the last `queue_size` checks of the gap."""

    queue_size: int | None = None

    @staticmethod
    def of(method: str, queue_size: int, max_step: float) -> Timing:
        """From the options of a run."""
        if method not in METHODS:
            raise unknown_name("way to find impact times (impacts=)", method, METHODS)
        if method == "dense":
            return Timing()
        if not max_step < float("inf"):
            raise ModelError("impacts='queue' checks the gaps every max_step seconds: give max_step, e.g. 0.01")
        if queue_size != int(queue_size) or not 1 <= queue_size <= 12:
            raise ModelError(f"queue_size is a number from 1 (no interpolation) to 12, not {queue_size!r}")
        return Timing(int(queue_size))
