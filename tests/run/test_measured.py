"""What functions of the user see during a run: quantities in one shape, and a clock that knows no compiler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError
from bellcrank.files import dumps, loads
from bellcrank.program import preparing


def test_a_rotation_has_one_shape_wherever_a_function_sees_it() -> None:
    seen: dict[str, tuple[int, ...]] = {}

    def look(where: str, m: Mapping[str, Any]) -> Any:
        seen[where] = np.shape(m["rod.rotation"])
        assert np.shape(m["rod.velocity"]) == (3,)
        assert not hasattr(m["rod.velocity.x"], "shape")
        assert not hasattr(m["pin.angle"], "shape")
        return m["rod.rotation"][0, 2]

    def force(rotation: Any) -> tuple[float, float, float]:
        seen["force"] = np.shape(rotation)
        return (0.0, 0.0, 0.0)

    def control(t: float, m: Mapping[str, Any]) -> dict[str, float]:
        return {"push": float(look("controller", m)) * 0.0}

    system = bc.System("one")
    rod = system.body("rod", mass=1.0, inertia=(1, 1, 1), at=(1, 0, 0))
    slide = system.body("slide", mass=1.0, at=(3, 0, 0))
    system.revolute("pin", system.ground, rod, at=(0, 0, 0), axis="y")
    system.prismatic("rail", system.ground, slide, axis="x")
    push = system.parameter("push", 0.0)
    system.applied_force("pull", rod, force)
    system.joint_force("drive", "rail", lambda t: push)
    system.state("turned", lambda m: look("state", m) - m["turned"])
    system.constraint("hold", lambda m: m["slide.position.x"] - 3.0 - 0.1 * look("constraint", m))
    names = ["rod.rotation", "rod.velocity", "rod.velocity.x", "pin.angle"]
    result = system.simulate(
        0.2,
        events=[bc.Event("level", lambda m: look("event", m) - 5.0)],
        controllers=[bc.Controller("none", 0.05, names, control)],
        output=4,
    )
    assert set(seen) == {"force", "state", "constraint", "event", "controller"}
    assert set(seen.values()) == {(3, 3)}
    assert result["rod.rotation"].shape == (5, 3, 3)
    again = loads(dumps(system)).simulate(0.2, output=4)
    assert again["turned"][-1] == pytest.approx(result["turned"][-1], rel=1e-9)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((0.0, [], dict), "'pid': the period must be a positive number"),
        (("often", [], dict), "'pid': the period must be a positive number"),
        ((0.1, dict, []), "'pid': measures are a list of names"),
        ((0.1, "pin.angle", dict), "'pid': measures are a list of names"),
        ((0.1, ["pin.angle"], 3.0), "'pid': the last argument is a function"),
        ((0.1, [], dict, -1.0), "'pid': the offset is a number of seconds from 0 on"),
    ],
)
def test_mistakes_of_controllers_are_told_at_once(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        bc.Controller("pid", *given)


def test_a_clock_of_work_stands_still_while_programs_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter([10.0, 11.0, 14.0, 15.0])
    monkeypatch.setattr(preparing.time, "perf_counter", lambda: next(now))
    clock = preparing.WorkTime()  # at 10 s
    with preparing.preparing(), preparing.preparing():  # from 11 to 14 s
        pass
    assert clock.seconds == pytest.approx(2.0)  # at 15 s
