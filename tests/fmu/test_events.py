"""FMUs whose rigid contacts are events in model exchange: in FMPy against runs with events of the mechanism itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.mechanism import Mechanism
from bellcrank.model import System
from bellcrank.model.forces.limits import Limits
from bellcrank.program.functions import where
from bellcrank.result.result import Result
from fmu.test_impacts import crank, heap
from program.c_compiler import needs_gcc

fmpy = pytest.importorskip("fmpy")
pytestmark = needs_gcc

TOLERANCE = 1e-12
"""Of the other program, which integrates; it adds up its errors."""


def compared(
    mechanism: Mechanism, path: Path, duration: float, names: list[str], **options: Any
) -> tuple[Result, dict[str, float]]:
    """A run with events, and how far an FMU in model exchange is from it at outputs, over the largest value of each."""
    from fmpy.validation import validate_fmu

    start = options.pop("start", {})
    made = str(mechanism.export_fmu(path, outputs=names, duration=duration, tolerance=TOLERANCE, **options))
    assert validate_fmu(made) == []
    times = np.linspace(0.0, duration, 81)
    found = fmpy.simulate_fmu(
        made,
        stop_time=duration,
        output_interval=duration / 80,
        fmi_type="ModelExchange",
        relative_tolerance=TOLERANCE,
        start_values=start,
    )
    # At events there are two rows more, and times of outputs are rounded.
    at = np.array([int(np.argmin(np.abs(found["time"] - t))) for t in times])
    assert np.abs(found["time"][at] - times).max() < 1e-12
    run = mechanism.simulate(duration, output=times, tolerance=TOLERANCE, parameters=start)
    worst = {}
    for name in found.dtype.names[1:]:
        expected = np.asarray(run[name]).ravel()
        worst[name] = float(np.abs(found[name][at] - expected).max() / max(1.0, np.abs(expected).max()))
    return run, worst


def thrown() -> Mechanism:
    """A ball that is thrown with spin: it bounces, slides and rolls."""
    system = System("thrown ball", gravity=(0.0, 0.0, -9.81))
    body = system.body("ball", 1.0, (0.004, 0.004, 0.004), at=(0.0, 0.0, 0.3))
    system.free("motion", system.ground, body)
    floor = system.ground.plane(normal=(0.0, 0.0, 1.0))
    system.contact("floor", floor, body.sphere(0.1), restitution=0.5, friction=0.2)
    mechanism = system.mechanism()
    u = mechanism.start.u.copy()
    u[[1, 3, 4]] = 5.0, 1.0, 0.3
    return replace(mechanism, start=replace(mechanism.start, u=u)).with_programs_of(mechanism)


def test_a_ball_bounces_comes_to_rest_and_rolls(tmp_path: Path) -> None:
    """Few bounces agree to 1e-9; to the end of all of them errors of times grow, as bounces get shorter."""
    names = ["ball.position", "ball.angular_velocity", "floor.force.z"]
    path = tmp_path / "ball.fmu"
    run, worst = compared(thrown(), path, 0.45, names)
    assert len(run.impacts) == 2
    assert max(worst.values()) < 1e-9
    run, worst = compared(thrown(), path, 1.4, names, version="3.0")
    assert [c.what for c in run.contact_changes] == ["rest"]
    assert max(worst.values()) < 1e-6


def test_a_pendulum_strikes_a_stop(tmp_path: Path) -> None:
    system = System("pendulum", gravity=(0.0, 0.0, -9.81))
    bob = system.body("bob", 1.0, (0.01, 0.01, 0.01), at=(0.0, 0.0, -0.5))
    stop = Limits(-0.3, 2.0, restitution=0.6)
    system.revolute("pin", system.ground, bob, at=(0.0, 0.0, 0.0), axis="y", limits=stop)
    run, worst = compared(
        system.mechanism(initial={"pin": 1.0}), tmp_path / "p.fmu", 2.5, ["pin.angle", "pin.force"]
    )
    assert len(run.impacts) == 2
    assert max(worst.values()) < 1e-9


def test_a_loop_comes_to_rest_on_its_stop(tmp_path: Path) -> None:
    """The stop presses, and lets go as the torque falls behind."""
    mechanism = crank(0.1, -0.15, 0.0).mechanism(initial={"main": (0.3, 5.0)})
    names = ["slider.position.x", "arm.angular_velocity.z", "guide limits low.force.x"]
    run, worst = compared(
        mechanism, tmp_path / "crank.fmu", 1.0, names, inputs=["torque"], start={"torque": 2.2}
    )
    assert {"rest", "release"} >= {change.what for change in run.contact_changes}
    assert run.contact_changes
    assert max(worst.values()) < 1e-8


def block(slope: float, friction: float) -> Mechanism:
    """A block on a slope, pushed up it harder and harder after a second."""
    system = System("block", gravity=(0.0, 0.0, -9.81))
    slide = system.body("slide", 0.2, (1e-3, 1e-3, 1e-3))
    body = system.body("block", 1.0, (0.01, 0.01, 0.01), at=(0.0, 0.0, 0.1))
    system.prismatic("up", system.ground, slide, axis="z")
    system.prismatic("along", slide, body, axis="x")
    floor = system.ground.plane(at=(0.0, 0.0, 0.0), normal=(slope, 0.0, 1.0))
    mu = system.parameter("mu", friction)
    system.contact("floor", floor, body.sphere(0.1 / np.hypot(1.0, slope)), friction=mu)
    system.joint_force("push", "along", lambda coordinate, rate, t: where(t > 1.0, 10.0 - 10.0 * t, 0.0))
    return system.mechanism(initial={"along": (0.0, 1.0), "up": (0.0, -slope)})


def test_a_block_slides_stops_and_slips_again(tmp_path: Path) -> None:
    """Down a slope it slides to a stop, sticks until the push is more than friction holds, and slides off upwards."""
    from fmpy import read_model_description

    slope, mu, weight = 0.2, 0.4, 1.2 * 9.81
    path = tmp_path / "block.fmu"
    run, worst = compared(block(slope, mu), path, 3.0, ["block.position", "floor.force"])
    assert [c.what for c in run.contact_changes] == ["rest", "stick", "slip"]
    assert max(worst.values()) < 1e-8
    # With N along (slope, 1) and friction mu N along (1, -slope): sums of forces along x and z.
    up, down = (slope + mu) / (1.0 - slope * mu), (slope - mu) / (1.0 + slope * mu)
    stopped = 0.5 * (1.0 + 1.2 * slope * down) / (-weight * down)
    begins = 1.0 + weight * up / 10.0
    final = stopped - 10.0 * (3.0 - begins) ** 3 / 6.0 / (1.0 + 1.2 * slope * up)
    found = fmpy.simulate_fmu(str(path), stop_time=3.0, relative_tolerance=TOLERANCE)
    assert found["block.position.x"][-1] == pytest.approx(final, abs=1e-8)
    about = read_model_description(str(path))
    assert about.coSimulation is None
    assert about.numberOfEventIndicators == 2


def test_balls_in_a_row_are_struck_at_once(tmp_path: Path) -> None:
    """A ball between two that come from both sides alike: what ties is solved together."""
    system = System("row")
    balls = []
    for k, x in enumerate((-0.5, 0.0, 0.5)):
        balls.append(system.body(f"ball {k}", 1.0, (0.004, 0.004, 0.004), at=(x, 0.0, 0.0)))
        system.prismatic(f"rail {k}", system.ground, balls[-1], axis="x")
    for k in range(2):
        system.contact(f"pair {k}", balls[k].sphere(0.1), balls[k + 1].sphere(0.1), restitution=0.8)
    mechanism = system.mechanism(initial={"rail 0": (0.0, 1.0), "rail 2": (0.0, -1.0)})
    run, worst = compared(mechanism, tmp_path / "row.fmu", 1.0, [f"ball {k}.position.x" for k in range(3)])
    assert len(run.impacts[0].contacts) == 2
    assert max(worst.values()) < 1e-9


def test_a_stack_of_balls_falls_apart(tmp_path: Path) -> None:
    """Contacts that rest on each other stick, slip and let go one after the other, in a few hundred events."""
    system = System("stack", gravity=(0.0, 0.0, -9.81))
    shapes = [system.ground.plane(normal=(0.0, 0.0, 1.0))]
    for k in range(3):
        body = system.body(f"ball {k}", 1.0 + k, (0.004, 0.004, 0.004), at=(0.01 * k, 0.0, 0.2 + 0.25 * k))
        system.free(f"motion {k}", system.ground, body)
        shapes.append(body.sphere(0.1))
    for k in range(3):
        system.contact(f"pair {k}", shapes[k], shapes[k + 1], restitution=0.5, friction=0.3)
    names = [f"ball {k}.position" for k in range(3)]
    run, worst = compared(system.mechanism(), tmp_path / "stack.fmu", 0.5, names)
    assert {"rest", "slip", "stick", "release"} <= {change.what for change in run.contact_changes}
    assert max(worst.values()) < 1e-8


def test_a_state_taken_back_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    """What lasts is part of the state."""
    from fmpy import extract, read_model_description
    from fmpy.fmi2 import FMU2Model

    path = block(0.0, 0.4).export_fmu(tmp_path / "block.fmu")
    about = read_model_description(str(path))
    named = {v.name: v.valueReference for v in about.modelVariables}
    model = FMU2Model(
        guid=about.guid,
        unzipDirectory=extract(str(path), str(tmp_path / "out")),
        modelIdentifier=about.modelExchange.modelIdentifier,
        instanceName="a",
    )
    model.instantiate()
    model.setupExperiment()
    model.enterInitializationMode()
    model.exitInitializationMode()
    model.newDiscreteStates()
    rates = [named[name] for name in ("der(rate of along.displacement)", "der(rate of up.displacement)")]
    sliding = model.getReal(rates)
    assert sliding == pytest.approx([-0.4 * 1.2 * 9.81, 0.0])
    kept = model.serializeFMUstate(model.getFMUstate())
    model.setReal([named["rate of up.displacement"]], [1.0])
    model.newDiscreteStates()
    assert model.getReal(rates) == [0.0, -9.81]
    model.setFMUstate(model.deSerializeFMUstate(kept))
    assert model.getReal(rates) == sliding
    model.terminate()
    model.freeInstance()


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is solved by steps, which events in model exchange do not follow"):
        heap().mechanism().export_fmu(tmp_path / "heap.fmu")
    with pytest.raises(ModelError, match="'mu' is part of the friction of contact 'floor'"):
        block(0.0, 0.4).export_fmu(tmp_path / "block.fmu", inputs=["mu"])
    with pytest.raises(ModelError, match="follows the forces of contacts"):
        crank(0.1, -0.15, 0.1).mechanism().export_fmu(tmp_path / "crank.fmu")
