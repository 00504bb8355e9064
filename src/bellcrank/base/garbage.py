"""Python's search for reference cycles, paused while many objects that stay are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_pauses = 0
_resumed = False


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the search; for several threads and nested uses, until the last of them has ended.

    Tracing and scheduling make hundreds of thousands of small objects without cycles. The collector would look through
    them after every 700 new ones. It is left as it was found: on, or off where the user has turned it off.
    """
    global _pauses, _resumed
    with _lock:
        if _pauses == 0:
            _resumed = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock:
            _pauses -= 1
            if _pauses == 0 and _resumed:
                gc.enable()


__all__ = ["collection_paused"]
