"""FMUs in FMPy, another program that knows nothing of this package, against runs of the mechanism itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.files import load
from bellcrank.fmu.text import motion_names
from bellcrank.mechanism import Mechanism, State
from bellcrank.model import System
from bellcrank.verify.full_car import full_car_system
from fmu.conftest import EXAMPLES, ball, slider_crank
from program.c_compiler import needs_gcc

fmpy = pytest.importorskip("fmpy")
pytestmark = needs_gcc
VERSIONS = ("2.0", "3.0")
KINDS = (("CoSimulation", 1e-10), ("ModelExchange", 1e-13))
"""Kinds of use, with the tolerances that they are run to: that of the export, and CVode's in FMPy."""
SAME = 1e-9
"""Ten times the tolerance of co-simulation; CVode needs three digits more than what it is to be right to."""


@pytest.fixture(scope="module")
def crank(tmp_path_factory: pytest.TempPathFactory) -> tuple[Mechanism, dict[str, str]]:
    """A slider crank as FMUs of both versions."""
    mechanism, folder = slider_crank(), tmp_path_factory.mktemp("fmu")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CFLAGS", "-O0 -Werror")
        made = {
            version: str(
                mechanism.export_fmu(
                    folder / f"{version}.fmu",
                    inputs=["push"],
                    outputs=["slider.position.x", "crank.velocity", "guide.force.y"],
                    version=version,
                    duration=2.0,
                    tolerance=1e-10,
                )
            )
            for version in VERSIONS
        }
    return mechanism, made


def difference(
    found: np.ndarray, mechanism: Mechanism, name: str, duration: float, **options: object
) -> float:
    """The largest difference to a run at its output times, over the largest value where that is above one."""
    times = np.unique(found["time"])
    places = np.unique(found["time"], return_index=True)[1]
    run = mechanism.simulate(duration, output=times[times <= duration], tolerance=1e-12, **options)
    expected = np.asarray(run[name]).ravel()
    return float(
        np.abs(found[name][places][: len(expected)] - expected).max() / max(1.0, np.abs(expected).max())
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_they_are_valid_and_follow_the_run(crank: tuple[Mechanism, dict[str, str]], version: str) -> None:
    from fmpy.validation import validate_fmu

    mechanism, made = crank
    assert validate_fmu(made[version]) == []
    # Loops are closed after steps, which the environment must tell of.
    assert fmpy.read_model_description(made[version]).modelExchange.needsCompletedIntegratorStep
    for kind, tolerance in KINDS:
        found = fmpy.simulate_fmu(
            made[version],
            stop_time=2.0,
            output_interval=0.01,
            fmi_type=kind,
            relative_tolerance=tolerance,
            start_values={"push": 3.0},
        )
        for name in ("slider.position.x", "crank.velocity.y", "guide.force.y"):
            assert difference(found, mechanism, name, 2.0, parameters={"push": 3.0}) < SAME


def test_an_input_drives_the_run(crank: tuple[Mechanism, dict[str, str]]) -> None:
    mechanism, made = crank
    times = np.array([0.0, 0.5, 0.5, 1.0])
    signal = np.array(
        list(zip(times, [0.0, 0.0, 50.0, 50.0], strict=True)), dtype=[("time", float), ("push", float)]
    )
    found = fmpy.simulate_fmu(
        made["2.0"], stop_time=1.0, output_interval=0.1, input=signal, fmi_type="CoSimulation"
    )
    first = mechanism.simulate(0.5, tolerance=1e-12)
    second = mechanism.simulate(
        0.5, start=State(0.5, first.q[-1], first.u[-1]), parameters={"push": 50.0}, tolerance=1e-12, output=1
    )
    assert found["slider.position.x"][-1] == pytest.approx(second["slider.position.x"][-1], abs=1e-8)


def test_derivatives_and_saved_states(crank: tuple[Mechanism, dict[str, str]], tmp_path: Path) -> None:
    """Directional derivatives against differences; a state that is taken back gives the same bits."""
    from fmpy import extract, read_model_description
    from fmpy.fmi2 import FMU2Model, FMU2Slave

    about = read_model_description(crank[1]["2.0"])
    folder = extract(crank[1]["2.0"], str(tmp_path / "out"))
    named = {v.name: v.valueReference for v in about.modelVariables}
    head = {
        "guid": about.guid,
        "unzipDirectory": folder,
        "modelIdentifier": about.modelExchange.modelIdentifier,
    }

    model = FMU2Model(instanceName="a", **head)
    model.instantiate()
    model.setupExperiment()
    model.enterInitializationMode()
    model.exitInitializationMode()
    unknown = [named["guide.force.y"], named["crank.velocity.y"], named["der(rate of main bearing.angle)"]]
    for known in (named["push"], named["rate of main bearing.angle"]):
        exact = model.getDirectionalDerivative(unknown, [known], [1.0])
        at = model.getReal([known])[0]
        values = []
        for step in (-1e-5, 1e-5):
            model.setReal([known], [at + step])
            values.append(np.array(model.getReal(unknown)))
        model.setReal([known], [at])
        assert exact == pytest.approx((values[1] - values[0]) / 2e-5, rel=1e-6, abs=1e-7)
    model.terminate()
    model.freeInstance()

    slave = FMU2Slave(instanceName="b", **head)
    slave.instantiate()
    slave.setupExperiment()
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    slave.doStep(0.0, 0.3)
    kept = slave.getFMUstate()
    text = slave.serializeFMUstate(kept)
    slave.doStep(0.3, 0.4)
    there = slave.getReal([named["slider.position.x"]])
    slave.setFMUstate(slave.deSerializeFMUstate(text))
    slave.doStep(0.3, 0.4)
    assert slave.getReal([named["slider.position.x"]]) == there
    slave.terminate()
    slave.freeInstance()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_contact_is_met_and_left(tmp_path: Path, version: str) -> None:
    mechanism = ball()
    made = mechanism.export_fmu(
        tmp_path / "ball.fmu", outputs=["ball.position.z"], tolerance=1e-10, version=version
    )
    for kind, tolerance in KINDS:
        found = fmpy.simulate_fmu(
            str(made), stop_time=1.5, output_interval=0.005, fmi_type=kind, relative_tolerance=tolerance
        )
        assert difference(found, mechanism, "ball.position.z", 1.5) < SAME


def test_a_full_car(tmp_path: Path) -> None:
    mechanism = full_car_system("bump").mechanism()
    made = mechanism.export_fmu(
        tmp_path / "car.fmu", outputs=["chassis.position.z"], duration=1.0, tolerance=1e-10
    )
    for kind, tolerance in KINDS:
        found = fmpy.simulate_fmu(
            str(made), stop_time=1.0, output_interval=0.01, fmi_type=kind, relative_tolerance=tolerance
        )
        assert np.ptp(found["chassis.position.z"]) > 1e-3
        assert difference(found, mechanism, "chassis.position.z", 1.0) < SAME


def test_stiff_motion_takes_the_implicit_method(tmp_path: Path) -> None:
    """A damper of 1e6 N s/m would hold an explicit method to microseconds."""
    system = System("stiff", gravity=(0.0, 0.0, -9.81))
    body = system.body("load", 1.0, (0.1, 0.1, 0.1))
    system.prismatic("rail", system.ground, body, axis="z")
    system.joint_force("damper", "rail", lambda coordinate, rate, t: -1e6 * rate - 1e4 * coordinate)
    mechanism = system.mechanism(initial={"rail": 0.1})
    made = mechanism.export_fmu(tmp_path / "stiff.fmu", outputs=["load.position.z"])
    found = fmpy.simulate_fmu(str(made), stop_time=20.0, output_interval=5.0, fmi_type="CoSimulation")
    assert difference(found, mechanism, "load.position.z", 20.0) < 1e-8


def test_coordinates_of_a_flexible_body_have_names_of_their_own() -> None:
    mechanism = load(EXAMPLES / "flexible_slider_crank.yaml").mechanism()
    names = [name for pair in motion_names(mechanism) for name in pair]
    assert len(set(names)) == len(names)
    assert {"position 0 of rod", "mode 1 of rod", "der(rate of rod.mode 5)"} <= set(names)


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    mechanism = slider_crank()
    with pytest.raises(ModelError, match="pull"):
        mechanism.export_fmu(tmp_path / "a.fmu", inputs=["pull"])
    with pytest.raises(ModelError, match=r"1\.0"):
        mechanism.export_fmu(tmp_path / "a.fmu", version="1.0")
    with pytest.raises(ModelError, match=r"FMI 2\.0 knows no folder"):
        mechanism.export_fmu(tmp_path / "a.fmu", platforms=["macos"])
    with pytest.raises(ModelError, match=r"slider\.speed"):
        mechanism.export_fmu(tmp_path / "a.fmu", outputs=["slider.speed"])
    system = System("held")
    length = system.parameter("length", 0.5)
    arm = system.body("arm", 1.0, (0.1, 0.1, 0.1))
    system.planar("plane", system.ground, arm)
    system.distance("rope", system.ground.point(0.0, 0.5, 0.0), arm.point(0.0, 0.0, 0.0), length)
    with pytest.raises(ModelError, match="'length' is part of a loop"):
        system.mechanism().export_fmu(tmp_path / "a.fmu", inputs=["length"])
