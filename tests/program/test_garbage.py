"""The collector of reference cycles is paused while programs are made, and left as it was found."""

from __future__ import annotations

import gc
from threading import Barrier, Thread
from typing import Any

import pytest

from bellcrank.base.garbage import collection_paused
from bellcrank.model import System


def test_the_collector_is_paused_while_a_mechanism_is_traced() -> None:
    seen = []

    def torque(coordinate: Any) -> Any:
        seen.append(gc.isenabled())
        return -coordinate

    system = System("pendulum")
    rod = system.body("rod", 1.0, (1, 1, 1), at=(1, 0, 0))
    system.revolute("hinge", system.ground, rod, at=(0, 0, 0), axis="y")
    system.joint_force("spring", "hinge", torque)
    mechanism = system.mechanism()
    seen.clear()
    mechanism.traced()
    assert seen
    assert not any(seen)
    assert gc.isenabled()


@pytest.mark.parametrize("before", [True, False])
def test_the_collector_is_left_as_it_was_found(before: bool) -> None:
    try:
        (gc.enable if before else gc.disable)()
        with collection_paused():
            with pytest.raises(ZeroDivisionError), collection_paused():
                print(1 // gc.isenabled())
            assert not gc.isenabled()
        assert gc.isenabled() is before
    finally:
        gc.enable()


def test_threads_that_overlap_pause_it_together() -> None:
    both, seen = Barrier(2), []

    def first() -> None:
        with collection_paused():
            both.wait()
        both.wait()

    thread = Thread(target=first)
    thread.start()
    with collection_paused():
        both.wait()
        both.wait()
        seen.append(gc.isenabled())
    thread.join()
    assert seen == [False]
    assert gc.isenabled()
