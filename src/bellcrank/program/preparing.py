"""How long a thread traced and compiled: a run tells its own time apart from it, whenever that was done."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_of_thread = threading.local()


@contextmanager
def preparing() -> Iterator[None]:
    """What is inside traces or compiles; one inside another counts once."""
    if getattr(_of_thread, "inside", False):
        yield
        return
    _of_thread.inside, begun = True, time.perf_counter()
    try:
        yield
    finally:
        _of_thread.inside = False
        _of_thread.seconds = _prepared() + time.perf_counter() - begun


def _prepared() -> float:
    seconds: float = getattr(_of_thread, "seconds", 0.0)
    return seconds


class WorkTime:
    """A clock that stands still while its thread traces and compiles."""

    def __init__(self) -> None:
        self._begun = time.perf_counter() - _prepared()

    @property
    def seconds(self) -> float:
        """Wall time since the beginning, without what was prepared meanwhile [s]."""
        return time.perf_counter() - _prepared() - self._begun


__all__ = ["WorkTime", "preparing"]
