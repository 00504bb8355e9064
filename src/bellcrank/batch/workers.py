"""Threads that share numbered tasks, and that may die at any moment for lack of memory.

Python's own threads are waited for until they have started, without end where one dies before; and a pool of them waits
for tasks that a dead one took. Here the starts are not waited for, what a task comes to has its place from the outset,
and where no thread is alive the caller does what is left.
"""

from __future__ import annotations

import _thread
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress

LONGEST = 0.2
"""Seconds between two looks, so that Ctrl-C and progress do not wait for a task."""
PATIENCE = 1.0
"""Seconds after which the caller does tasks itself where no thread has begun; one that comes later shares them."""


class Workers:
    """task(number) for the numbers 0 to count, by some threads; what it returns is added up."""

    def __init__(self, task: Callable[[int], int], count: int, threads: int) -> None:
        self.task, self.threads = task, threads
        self.waiting = deque(range(count))
        self.outcomes: list[int | BaseException | None] = [None] * count
        self.left = list(range(count))
        self.inside = [False] * threads
        self.woken = _thread.allocate_lock()

    def run(self) -> Iterator[int]:
        """Do all tasks; the sum of those that ended since the last look, several times a second.

        The error of a task is raised here.
        """
        self.woken.acquire()
        # Fewer threads than asked for do as well.
        with suppress(RuntimeError, MemoryError):
            for number in range(self.threads):
                _thread.start_new_thread(self._work, (number,))
        began = time.monotonic()
        while self.left:
            if self._alone() and self.waiting and time.monotonic() - began > PATIENCE:
                self._one()
            else:
                self.woken.acquire(timeout=LONGEST)
            # A thread is inside before it takes a task: where none waits and nobody is inside, all are dealt with.
            dead = not self.waiting and self._alone()
            yield self._ended()
            if dead and self.left:
                raise MemoryError("a thread died in the middle of its work")

    def stop(self) -> None:
        """Begin nothing more, and wait for what was begun."""
        self.waiting.clear()
        while any(self.inside):
            self.woken.acquire(timeout=LONGEST)

    def _alone(self) -> bool:
        return not any(self.inside)

    def _one(self) -> None:
        try:
            k = self.waiting.popleft()
        except IndexError:
            return
        self.outcomes[k] = self.task(k)

    def _ended(self) -> int:
        found, left = 0, []
        for k in self.left:
            outcome = self.outcomes[k]
            if outcome is None:
                left.append(k)
            elif isinstance(outcome, BaseException):
                raise outcome
            else:
                found += outcome
        self.left = left
        return found

    def _work(self, number: int) -> None:
        """One thread. Nothing is allocated between taking a task and noting what came of it."""
        self.inside[number] = True
        try:
            while self.waiting:
                k = self.waiting.popleft()
                try:
                    self.outcomes[k] = self.task(k)
                except BaseException as error:
                    self.outcomes[k] = error
                self._wake()
        except IndexError:
            # Another took the last one.
            pass
        finally:
            self.inside[number] = False
            self._wake()

    def _wake(self) -> None:
        with suppress(RuntimeError):
            self.woken.release()


__all__ = ["Workers"]
