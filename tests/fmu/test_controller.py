"""An FMU as the controller of a system: one that this package made, and files that are none."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.fmu import FmuError, fmu_controller
from bellcrank.mechanism import State
from bellcrank.model import System
from bellcrank.run.events import Controller
from program.c_compiler import needs_gcc

fmpy = pytest.importorskip("fmpy")
pytestmark = needs_gcc


def filter_system() -> System:
    """A mass on a spring and a damper that follows an input: x'' = 400 (input - x) - 40 x'."""
    system = System("filter")
    wanted = system.parameter("wanted", 0.0)
    body = system.body("mass", 1.0, (1.0, 1.0, 1.0))
    system.prismatic("rail", system.ground, body, axis="x")
    system.joint_force(
        "servo", "rail", lambda coordinate, rate, t: 400.0 * (wanted - coordinate) - 40.0 * rate
    )
    return system


def test_it_is_stepped_beside_the_run(tmp_path: Path) -> None:
    """The same as calling the run of the filter's own mechanism from a function."""
    mechanism = filter_system().mechanism()
    path = mechanism.export_fmu(
        tmp_path / "filter.fmu", inputs=["wanted"], outputs=["mass.position.x"], version="3.0"
    )
    system = System("cart")
    force = system.parameter("force", 0.0, "N")
    cart = system.body("cart", 2.0, (1.0, 1.0, 1.0))
    system.prismatic("rail", system.ground, cart, axis="x")
    system.joint_force("drive", "rail", lambda coordinate, rate, t: 100.0 * (1.0 - coordinate) - force)
    control = fmu_controller(
        path, period=0.02, inputs={"wanted": "cart.position.x"}, outputs={"mass.position.x": "force"}
    )
    found = system.simulate(1.0, controllers=[control])
    again = system.simulate(1.0, controllers=[control])
    np.testing.assert_array_equal(found["cart.position.x"], again["cart.position.x"])

    state = {"at": mechanism.start, "input": 0.0}

    def same(t: float, measured: dict[str, float]) -> dict[str, float]:
        if t > 0.0:
            run = mechanism.simulate(0.02, start=state["at"], parameters={"wanted": state["input"]}, output=1)
            state["at"] = State(t, run.q[-1], run.u[-1])
        state["input"] = float(measured["cart.position.x"])
        return {"force": float(state["at"].q[0])}

    other = system.simulate(1.0, controllers=[Controller("same", 0.02, ["cart.position.x"], same)])
    np.testing.assert_allclose(found["cart.position.x"], other["cart.position.x"], atol=1e-9)
    assert np.ptp(found["cart.position.x"]) > 0.5


def test_files_that_are_no_fmus(tmp_path: Path) -> None:
    bad = tmp_path / "bad.fmu"
    options = {"period": 0.1, "inputs": {}, "outputs": {}}
    bad.write_bytes(b"PK\3\4 not one")
    with pytest.raises(FmuError, match="cannot be read as an FMU"):
        fmu_controller(bad, **options)
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("../outside.txt", "x")
    with pytest.raises(FmuError, match="outside its folder"):
        fmu_controller(bad, **options)
    assert not (tmp_path / "outside.txt").exists()
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("modelDescription.xml", "<nothing/>")
    with pytest.raises(FmuError, match="description cannot be read"):
        fmu_controller(bad, **options)


def test_names_are_those_of_the_fmu(tmp_path: Path) -> None:
    path = filter_system().mechanism().export_fmu(tmp_path / "filter.fmu", inputs=["wanted"])
    with pytest.raises(ModelError, match="want"):
        fmu_controller(path, period=0.1, inputs={"want": "x"}, outputs={})
