"""A system simulated again is traced anew only where its description, or a function of the user, may say otherwise."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bellcrank.flexible import STEEL, CraigBampton, beam, circle, rod
from bellcrank.mechanism import mechanism as module
from bellcrank.model import System
from bellcrank.model.system import System as Described

Change = Callable[[System], Any]


def swinging() -> System:
    """A pendulum with a flexible body and a rod on it."""
    system = System("swinging")
    arm = beam("arm", 0.5, circle(0.01), STEEL, elements=2).reduce(CraigBampton(["start", "end"], 1))
    body = system.flexible_body("arm", arm)
    system.revolute("pin", system.ground, body.node("start"), axis="y")
    tail = system.flexible_body(
        "tail", rod("tail", 0.5, circle(0.004), STEEL, bending=1, torsion=0), at=(0.5, 0.0, 0.0)
    )
    system.fixed("weld", body.node("end"), tail.node("start"))
    system.torsion_spring("spring", "pin", stiffness=2.0)
    return system


@pytest.fixture
def traces(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of systems that were traced."""
    found: list[str] = []

    def noted(mechanism: Any, *given: Any) -> Any:
        found.append(mechanism.system.name)
        return original(mechanism, *given)

    original = module.trace
    monkeypatch.setattr(module, "trace", noted)
    return found


def end(system: System) -> Any:
    """The state after a short run."""
    return system.simulate(0.01, tolerance=1e-4).q[-1]


def test_what_is_described_the_same_is_traced_once(traces: list[str]) -> None:
    system = swinging()
    first = end(system)
    assert np.array_equal(end(system), first)
    assert np.array_equal(end(system), first)
    assert len(traces) == 1


def joined(system: System) -> None:
    system.body("weight", 0.1, (1e-4,) * 3, at=(1.0, 0.0, 0.0))
    system.fixed("on tail", system.bodies["tail"].node("end"), system.bodies["weight"])


def bent(system: System) -> None:
    system.bodies["arm"].member.stiffness[:] *= 2.0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "change",
    [
        joined,
        bent,
        lambda system: setattr(system, "gravity", (0.0, 0.0, -1.0)),
        lambda system: system.torsion_spring("second", "pin", stiffness=1.0),
        lambda system: system.initial("pin", 0.1),
    ],
)
def test_what_is_described_otherwise_is_traced_anew(change: Change, traces: list[str]) -> None:
    system, other = swinging(), swinging()
    end(system)
    change(system)
    change(other)
    assert np.array_equal(end(system), end(other))
    assert len(traces) == 3


def test_functions_of_the_user_are_asked_every_time() -> None:
    system, strength = swinging(), [1.0]
    system.applied_torque("push", system.bodies["arm"].node("end"), lambda: (0.0, strength[0], 0.0))
    first = end(system)
    strength[0] = -1.0
    second = end(system)
    assert abs(second - first).max() > 1e-4
    strength[0] = 1.0
    assert np.array_equal(end(system), first)


def test_copies_begin_without_what_was_traced() -> None:
    system = swinging()
    end(system)
    assert system.analysed is not None
    assert copy.copy(system).analysed is None
    assert isinstance(copy.deepcopy(system), Described)
