"""Threads that die: their tasks are done by others, or the caller is told."""

from __future__ import annotations

import _thread
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from bellcrank.batch import workers
from bellcrank.batch.workers import Workers


def test_every_task_is_done_once() -> None:
    done: list[int] = []
    crew = Workers(lambda k: done.append(k) or k, 1000, 3)
    assert sum(crew.run()) == sum(range(1000))
    crew.stop()
    assert sorted(done) == list(range(1000))


def test_the_error_of_a_task_is_raised() -> None:
    crew = Workers(lambda k: 1 // (5 - k), 10, 2)
    with pytest.raises(ZeroDivisionError):
        list(crew.run())
    crew.stop()


def no_thread(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    raise RuntimeError("can't start new thread")


def dead_thread(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    return _thread.start_new_thread(lambda: None, ())


@pytest.mark.parametrize("start", [no_thread, dead_thread])
def test_without_threads_the_caller_works(start: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers._thread, "start_new_thread", start)
    monkeypatch.setattr(workers, "PATIENCE", 0.1)
    assert sum(Workers(lambda k: k, 5, 2).run()) == 10


class Deaf(list[Any]):
    """Outcomes of which the first cannot be noted, as where a thread is killed between its task and its note."""

    def __setitem__(self, k: Any, outcome: Any) -> None:
        if k == 0:
            raise MemoryError
        super().__setitem__(k, outcome)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_thread_that_dies_with_a_task_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 0.1)
    crew = Workers(lambda k: k, 3, 1)
    crew.outcomes = Deaf([None] * 3)
    with pytest.raises(MemoryError, match="in the middle"):
        list(crew.run())
    assert crew.outcomes[1:] == [1, 2]


SHORT_OF_MEMORY = """
import threading
def dies(thread):
    raise MemoryError
threading.Thread._bootstrap_inner = dies
import bellcrank as bc
from bellcrank.batch import simulate_many
system = bc.System("swing")
system.revolute("pin", system.ground, system.body("bob", 1.0, at=(0.0, 1.0, 0.0)), at=(0.0, 0.0, 0.0), axis="x")
assert simulate_many(system, {"pin.angle": [0.1, 0.2]}, 0.1, quantities=["pin.angle"], threads=2).done.all()
"""


def test_a_batch_does_not_wait_for_threads_that_died_at_their_start() -> None:
    """Python's own threads never report then, and whoever starts them waits without end."""
    subprocess.run([sys.executable, "-c", SHORT_OF_MEMORY], check=True, timeout=30)
