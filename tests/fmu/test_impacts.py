"""FMUs with impacts, which run by steps: in FMPy against runs by steps of the mechanism itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.mechanism import Mechanism
from bellcrank.model import System
from bellcrank.model.forces.limits import Limits
from bellcrank.result.result import Result
from program.c_compiler import needs_gcc

fmpy = pytest.importorskip("fmpy")
pytestmark = needs_gcc


def ball() -> System:
    """A ball in the wind that bounces, slides and rolls on a floor, and another whose contact is a force."""
    system = System("bouncing ball", gravity=(0.0, 0.0, -9.81))
    body = system.body("ball", 1.0, (0.004, 0.004, 0.004), at=(0.0, 0.0, 0.5))
    system.free("motion", system.ground, body)
    wind = system.parameter("wind", 0.0, "N")
    system.applied_force("wind on the ball", body.point(0.0, 0.0, 0.0), (wind, 0.0, 0.0))
    floor = system.ground.plane(normal=(0.0, 0.0, 1.0))
    bounce, rough = system.parameter("bounce", 0.7), system.parameter("rough", 0.3)
    system.contact("floor", floor, body.sphere(0.1), restitution=bounce, friction=rough)
    soft = system.body("soft", 1.0, (0.004, 0.004, 0.004), at=(1.0, 0.0, 0.4))
    system.free("motion of the soft one", system.ground, soft)
    system.contact("pressing", floor, soft.sphere(0.1), treatment="continuous", young=1e6, restitution=0.5)
    return system


def heap() -> System:
    """Boxes that fall onto each other and stay, each a little to one side."""
    system = System("heap", gravity=(0.0, 0.0, -9.81))
    boxes = []
    for k in range(3):
        body = system.body(f"box {k}", 1.0, (0.01, 0.01, 0.01), at=(0.02 * k, 0.0, 0.15 + 0.25 * k))
        system.free(f"motion {k}", system.ground, body)
        boxes.append(body.box(0.1, 0.1, 0.1))
    system.contacts_between(
        [*boxes, system.ground.plane(normal=(0.0, 0.0, 1.0))], restitution=0.0, friction=0.4
    )
    return system


def crank(length: float, low: float, friction: float) -> System:
    """A slider crank that a torque turns, with a stop that it strikes, and friction in its guide."""
    system = System("slider crank", gravity=(0.0, -9.81, 0.0))
    arm = system.body("arm", 1.0, (0.01, 0.01, 0.01), at=(0.05, 0.0, 0.0))
    rod = system.body("rod", 0.5, (0.01, 0.01, 0.01), at=(0.25, 0.0, 0.0))
    slider = system.body("slider", 0.4, (1e-3, 1e-3, 1e-3), at=(0.4, 0.0, 0.0))
    torque = system.parameter("torque", 2.0, "N m")
    system.revolute("main", system.ground, arm, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("pin", arm, rod, at=(length, 0.0, 0.0), axis="z")
    system.revolute("wrist", rod, slider, at=(0.4, 0.0, 0.0), axis="z")
    system.prismatic("guide", system.ground, slider, axis="x", limits=Limits(low, 0.02, restitution=0.5))
    system.joint_force("motor", "main", lambda coordinate, rate, t: torque - 0.05 * rate)
    if friction:
        system.joint_friction("rubbing", "guide", friction=friction)
    return system


def compared(
    mechanism: Mechanism, path: Path, step: float, duration: float, names: list[str], **options: Any
) -> tuple[Result, float]:
    """A run by steps, and how far that of its FMU is from it at all outputs, over the largest value of each."""
    from fmpy.validation import validate_fmu

    start = options.pop("start", {})
    made = str(mechanism.export_fmu(path, outputs=names, step=step, duration=duration, **options))
    assert validate_fmu(made) == []
    found = fmpy.simulate_fmu(made, stop_time=duration, output_interval=0.02, start_values=start)
    times = np.unique(found["time"])
    run = mechanism.simulate(duration, output=times, impacts="stepping", step=step, parameters=start)
    worst = 0.0
    for name in found.dtype.names[1:]:
        expected = np.asarray(run[name]).ravel()
        worst = max(worst, float(np.abs(found[name] - expected).max() / max(1.0, np.abs(expected).max())))
    return run, worst


def goes_on_twice(path: Path, folder: Path) -> tuple[list[float], list[float]]:
    """All variables half a second after a saved state, and again in another instance that begins from its bytes."""
    from fmpy import extract, read_model_description
    from fmpy.fmi2 import FMU2Slave

    about, found = read_model_description(str(path)), []
    unpacked = extract(str(path), str(folder))
    kept = b""
    for name in ("first", "second"):
        slave = FMU2Slave(
            guid=about.guid,
            unzipDirectory=unpacked,
            modelIdentifier=about.coSimulation.modelIdentifier,
            instanceName=name,
        )
        slave.instantiate()
        slave.setupExperiment()
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        if kept:
            slave.setFMUstate(slave.deSerializeFMUstate(kept))
        else:
            slave.doStep(0.0, 0.6)
            kept = slave.serializeFMUstate(slave.getFMUstate())
        slave.doStep(0.6, 0.5)
        found.append(list(slave.getReal([v.valueReference for v in about.modelVariables])))
        slave.terminate()
        slave.freeInstance()
    return found[0], found[1]


def test_a_ball_bounces_slides_and_rolls(tmp_path: Path) -> None:
    names = ["ball.position", "ball.velocity", "ball.angular_velocity", "floor.force", "soft.position"]
    start = {"wind": 0.5, "bounce": 0.65, "rough": 0.2}
    run, worst = compared(
        ball().mechanism(), tmp_path / "ball.fmu", 1e-3, 2.0, names, inputs=["wind"], start=start
    )
    assert len(run.impacts) > 5
    assert "rest" in {change.what for change in run.contact_changes}
    assert worst < 1e-9
    went_on, taken_back = goes_on_twice(tmp_path / "ball.fmu", tmp_path / "out")
    assert went_on == taken_back
    # Who integrates it meets the impacts as events: steps are of the first order at those.
    found = fmpy.simulate_fmu(
        str(tmp_path / "ball.fmu"), stop_time=0.9, output_interval=0.3, fmi_type="ModelExchange"
    )
    times = np.array([0.0, 0.3, 0.6, 0.9])
    at = [int(np.argmin(np.abs(found["time"] - t))) for t in times]
    stepped = ball().mechanism().simulate(0.9, output=times, impacts="stepping", step=1e-3)
    assert found["ball.position.z"][at] == pytest.approx(stepped["ball.position.z"], abs=5e-3)


def test_boxes_fall_into_a_heap(tmp_path: Path) -> None:
    names = [f"box {k}.{what}" for k in range(3) for what in ("position", "velocity")]
    run, worst = compared(heap().mechanism(), tmp_path / "heap.fmu", 2e-3, 1.0, names, version="3.0")
    assert np.abs(run["box 2.velocity"][-1]).max() < 1e-6
    assert worst < 1e-9


@pytest.mark.parametrize(("length", "low", "friction"), [(0.1, -0.15, 0.1), (0.25, -0.2, 0.0)])
def test_a_loop_strikes_its_stop(tmp_path: Path, length: float, low: float, friction: float) -> None:
    """An arm that is longer than the rod swings: where it turns back, other speeds become independent."""
    names = ["slider.position.x", "arm.angular_velocity.z"]
    mechanism = crank(length, low, friction).mechanism(initial={"main": (0.3, 5.0)})
    path = tmp_path / "crank.fmu"
    run, worst = compared(mechanism, path, 1e-3, 1.0, names, inputs=["torque"], start={"torque": 2.5})
    assert bool(run.run.repartitions) == (length == 0.25)
    assert len(run.impacts)
    assert worst < 1e-9


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    mechanism, path = ball().mechanism(), tmp_path / "ball.fmu"
    with pytest.raises(ModelError, match="exclude each other"):
        mechanism.export_fmu(path, step=1e-3, integrator="radau")
    free = System("nothing strikes")
    free.free("motion", free.ground, free.body("ball", 1.0, (1.0, 1.0, 1.0)))
    with pytest.raises(ModelError, match="leave it out"):
        free.mechanism().export_fmu(path, step=1e-3)
