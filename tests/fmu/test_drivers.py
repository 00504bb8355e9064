"""Drivers that follow inputs of an FMU: in FMPy against runs whose drivers are the same functions of time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.model import System
from bellcrank.program.functions import sin
from program.c_compiler import needs_gcc

fmpy = pytest.importorskip("fmpy")
pytestmark = needs_gcc
Function = Callable[[Any], Any]
OUTPUTS = ["hinge.angle", "pin.angle", "bob.velocity.x", "servo.effort"]


def arm_and_bob(law: Function | None = None) -> System:
    """An arm that a driver turns, by an input or a given function of time, and a bob that hangs on it."""
    system = System("arm and bob", gravity=(0.0, -9.81, 0.0))
    angle = system.parameter("angle", 0.3, "rad")
    arm = system.body("arm", 1.0, (0.01, 0.01, 0.01), at=(0.1, 0.0, 0.0))
    bob = system.body("bob", 0.5, (0.01, 0.01, 0.01), at=(0.4, 0.0, 0.0))
    system.revolute("hinge", system.ground, arm, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("pin", arm, bob, at=(0.2, 0.0, 0.0), axis="z")
    system.driver("hinge", law or (lambda t: angle), name="servo")
    return system


def signal(steps: int, value: Function, rate: Function, acceleration: Function) -> Any:
    """Samples over one second as FMPy takes them."""
    t = np.linspace(0.0, 1.0, steps + 1)
    columns = [t, value(t), rate(t), acceleration(t)]
    names = ("time", "angle", "angle rate", "angle acceleration")
    rows = [tuple(row) for row in np.stack([np.broadcast_to(column, t.shape) for column in columns], axis=1)]
    return np.array(rows, dtype=[(name, float) for name in names])


def differences(path: Path, law: Function, given: Any, **options: Any) -> dict[str, float]:
    """The largest difference of every output to the run with that law, over its size where that is above one."""
    found = fmpy.simulate_fmu(
        str(path),
        stop_time=1.0,
        output_interval=1.0 / (len(given) - 1),
        input=given,
        relative_tolerance=1e-12,
        **options,
    )
    times, places = np.unique(found["time"], return_index=True)
    kept = places[times <= 1.0]
    run = arm_and_bob(law).simulate(1.0, output=found["time"][kept], tolerance=1e-12)
    sizes = {name: max(1.0, float(np.abs(run[name]).max())) for name in OUTPUTS}
    return {name: float(np.abs(found[name][kept] - run[name]).max()) / size for name, size in sizes.items()}


def test_they_lead_the_motion(tmp_path: Path) -> None:
    """Exactly where the acceleration is constant; else errors of positions fall with the third power of the step."""
    from fmpy.validation import validate_fmu

    mechanism = arm_and_bob().mechanism()
    for version in ("2.0", "3.0"):
        path = mechanism.export_fmu(
            tmp_path / f"{version}.fmu", inputs=["angle"], outputs=OUTPUTS, version=version
        )
        assert validate_fmu(str(path)) == []
        steady = signal(50, lambda t: 0.3 + 2.0 * t + 1.5 * t * t, lambda t: 2.0 + 3.0 * t, lambda t: 3.0)
        found = differences(path, lambda t: 0.3 + 2.0 * t + 1.5 * t * t, steady, fmi_type="CoSimulation")
        assert max(found.values()) < 1e-9
        # FMPy goes straight from sample to sample, so that the three agree where the rate is constant.
        straight = signal(20, lambda t: 0.3 + 2.0 * t, lambda t: 2.0, lambda t: 0.0)
        found = differences(path, lambda t: 0.3 + 2.0 * t, straight, fmi_type="ModelExchange")
        assert max(found.values()) < 1e-9
    errors = []
    for steps in (25, 50):
        swinging = signal(
            steps,
            lambda t: 0.3 + np.sin(3.0 * t),
            lambda t: 3.0 * np.cos(3.0 * t),
            lambda t: -9.0 * np.sin(3.0 * t),
        )
        errors.append(differences(path, lambda t: 0.3 + sin(3.0 * t), swinging, fmi_type="CoSimulation"))
    assert errors[0]["pin.angle"] / errors[1]["pin.angle"] == pytest.approx(8.0, rel=0.1)
    assert errors[1]["pin.angle"] < 1e-4


def test_a_name_that_is_taken(tmp_path: Path) -> None:
    system = arm_and_bob()
    system.parameter("angle rate", 0.0)
    with pytest.raises(ModelError, match="'angle rate' already; rename it"):
        system.mechanism().export_fmu(tmp_path / "a.fmu", inputs=["angle"])


def test_a_driven_bat_strikes(tmp_path: Path) -> None:
    """By steps: a plate that an input lifts throws a ball as one that follows the same function."""

    def system(law: Function | None = None) -> System:
        found = System("bat", gravity=(0.0, 0.0, -9.81))
        height = found.parameter("angle", 0.0, "m")
        plate = found.body("plate", 1.0, (0.1, 0.1, 0.1))
        ball = found.body("ball", 0.2, (1e-3, 1e-3, 1e-3), at=(0.0, 0.0, 0.2))
        found.prismatic("lift", found.ground, plate, axis="z")
        found.free("flight", found.ground, ball)
        found.contact("hit", plate.plane(normal=(0.0, 0.0, 1.0)), ball.sphere(0.1), restitution=0.6)
        found.driver("lift", law or (lambda t: height))
        return found

    path = (
        system()
        .mechanism()
        .export_fmu(
            tmp_path / "bat.fmu", inputs=["angle"], outputs=["ball.position.z"], step=1e-3, duration=1.0
        )
    )
    given = signal(50, lambda t: 0.5 * t + 0.2 * t * t, lambda t: 0.5 + 0.4 * t, lambda t: 0.4)
    found = fmpy.simulate_fmu(str(path), stop_time=1.0, output_interval=0.02, input=given)
    run = system(lambda t: 0.5 * t + 0.2 * t * t).simulate(1.0, output=50, impacts="stepping", step=1e-3)
    assert len(run.impacts) > 1
    np.testing.assert_allclose(found["ball.position.z"], run["ball.position.z"], atol=1e-9)
