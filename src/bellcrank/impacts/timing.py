"""How impacts are found, and how they pass through bodies in touch."""

from __future__ import annotations

from dataclasses import dataclass

from bellcrank.errors import ModelError, unknown_name
from bellcrank.impacts.impulses import Propagation

METHODS = ("dense", "queue", "stepping")


@dataclass(frozen=True)
class Timing:
    """dense: a root of the gap on the dense output of a step. queue: by the last `queue_size` checks of the gap.

    stepping: Not at all: all contacts of a step together.
    """

    queue_size: int | None = None
    propagation: Propagation = Propagation.SEQUENTIAL
    stepping: bool = False

    def check_step(self, step: float) -> None:
        """Raise where a run by steps has no length of step [s]."""
        if self.stepping and not step > 0.0:
            raise ModelError(
                "impacts='stepping' needs the length of its steps: give step= [s], e.g. step=1e-3"
            )

    @staticmethod
    def of(method: str, queue_size: int, max_step: float, propagation: str = "sequential") -> Timing:
        """From the options of a run."""
        if method not in METHODS:
            raise unknown_name("way to find impact times (impacts=)", method, METHODS)
        known = [way.value for way in Propagation]
        if propagation not in known:
            raise unknown_name("way of impacts through bodies in touch (propagation=)", propagation, known)
        way = Propagation(propagation)
        if method == "stepping":
            return Timing(None, way, True)
        if method == "dense":
            return Timing(None, way)
        if not max_step < float("inf"):
            raise ModelError(
                "impacts='queue' checks the gaps every max_step seconds: give max_step, e.g. 0.01"
            )
        if queue_size != int(queue_size) or not 1 <= queue_size <= 12:
            raise ModelError(f"queue_size is a number from 1 (no interpolation) to 12, not {queue_size!r}")
        return Timing(int(queue_size), way)
