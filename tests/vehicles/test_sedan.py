"""Manoeuvres, reports and the command with a whole car of the parts, shortened; and what no car should be asked."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bellcrank.errors import ModelError
from bellcrank.files import save
from bellcrank.result.result import Result
from bellcrank.tyres import Brush
from bellcrank.vehicles import (
    Vehicle,
    brake_in_turn,
    brakes,
    braking,
    sedan,
    steady_circle,
    step_steer,
)
from bellcrank.vehicles.manoeuvres import Braking
from bellcrank.vehicles.report import Reported
from bellcrank.verify.cart import RADIUS, driven_cart, rubber

RUBBER = Brush(radius=0.323, stiffness=2e5, damping=500.0, longitudinal=20.0, lateral=15.0, friction=0.9)

FORCES = ("front left tyre.load", "front left tyre.force", "rear right tyre.moment", "power train.hub_torque")
PARTS = (
    "front bar.torque",
    "front left strut.force",
    "air.force",
    "steering gear.torque",
    "power train speed",
)


@cache
def car() -> Vehicle:
    return sedan(RUBBER)


@cache
def unaided() -> Vehicle:
    """The same mechanism without its slip controller, which costs time where nothing brakes hard."""
    made = replace(car(), assistance=())
    made.__dict__["mechanism"] = car().mechanism
    return made


def written(found: Reported, path: Path) -> str:
    found.report(path / "report.html")
    text = (path / "report.html").read_text(encoding="utf-8")
    assert found.title in text
    assert "nan" not in text.lower()
    assert text.count("<svg") == len(found.plots) > 0
    return text


def test_a_slip_controller_keeps_wheels_from_locking(tmp_path: Path) -> None:
    helped = braking(car(), 15.0, 1.0, duration=2.2)
    locked = braking(unaided(), 10.0, 1.0, duration=1.6)

    def slips(found: Braking) -> np.ndarray:
        slip, fast = found.result["front left tyre.slip"], found.result["chassis.velocity.x"]
        return np.asarray(slip)[np.asarray(fast) > 5.0]

    assert slips(helped).min() > -0.4
    # A brake that catches its wheel gives way a little, forth and back, and then holds it.
    assert slips(locked).min() > -1.1
    assert slips(locked)[-300:] == pytest.approx(np.full(300, -1.0), abs=0.02)
    assert helped.deceleration == pytest.approx(0.9 * 9.81, rel=0.12)
    assert abs(helped.aside) < 0.01
    assert "braking distance" in written(helped, tmp_path)


def test_braking_in_a_turn(tmp_path: Path) -> None:
    free = brake_in_turn(unaided(), 15.0, 60.0, 0.0, settle=2.5)
    assert free.yaw_ratio == pytest.approx(1.0, abs=0.05)
    found = brake_in_turn(unaided(), 15.0, 60.0, 0.25, settle=2.5)
    # Wheels and engine turn along: their inertia over the square of the radius counts as mass.
    mass = 1402.0 + (4.0 * 1.25 + 0.2 * (1.35 * 4.0) ** 2) / 0.31**2
    assert found.deceleration == pytest.approx(free.deceleration + 0.25 * 7600.0 / 0.31 / mass, rel=0.05)
    mirrored = brake_in_turn(unaided(), 15.0, -60.0, 0.25, settle=2.5)
    assert mirrored.yaw_ratio == pytest.approx(found.yaw_ratio, rel=1e-3)
    assert mirrored.sideslip == pytest.approx(-found.sideslip, rel=0.01)
    written(found, tmp_path)


def test_the_sedan_steers(tmp_path: Path) -> None:
    step = step_steer(unaided(), 20.0, 0.01, duration=2.5)
    assert step.motion.speed[-1] == pytest.approx(20.0, abs=0.15)
    assert 0.0 < step.response_time < 0.4
    circle = steady_circle(unaided(), 20.0, [0.01], duration=2.5)
    assert circle.yaw_rate[0] == pytest.approx(step.yaw_gain * 0.01, rel=0.02)
    for found in (step, circle):
        written(found, tmp_path)


def test_a_car_takes_other_parameters_and_roads() -> None:
    first = car().with_parameters({"gear": 1.0})
    assert first.run(5.0, 0.02).parameters[0, list(first.system.parameters).index("gear")] == 1.0
    assert first._engine_speed(first._trains[0], 8.0) == pytest.approx(8.0 / 0.323 * 3.6 * 4.0)
    step = Vehicle(driven_cart(rubber), "body").on(lambda x, y, t: 0.05)
    assert float(step.rest.result["body.position.z"][-1]) == pytest.approx(0.55, abs=0.03)
    assert car().axle("front") == ("front left wheel", "front right wheel")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bellcrank.cli import main

    save(driven_cart(rubber), tmp_path / "cart.yaml")

    def call(*words: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as end:
            main(["manoeuvre", *words])
        out = capsys.readouterr()
        return int(end.value.code or 0), out.out + out.err

    model, force = str(tmp_path / "cart.yaml"), f"drive_force={2.0 / RADIUS}"
    status, told = call(
        "braking", model, "--speed", "10", "--pedal", "600", "--car", force, "-o", str(tmp_path / "b.html")
    )
    assert status == 0, told
    assert "braking distance" in told
    assert (tmp_path / "b.html").exists()
    assert call("braking", model, "--car", "colour=red")[0] == 2
    assert "no parameter named" in call("ride", model, "--car", "steering=wheel")[1]


def test_a_vehicle_names_what_it_lacks() -> None:
    with pytest.raises(ModelError, match="brakes by its brake"):
        brake_in_turn(Vehicle(driven_cart(rubber), "body"), 10.0, 50.0, 1.0)


def run(motion: dict[str, Any], parameters: dict[str, float] | None = None) -> Result:
    state = car().rest.state
    return car().mechanism.simulate(
        0.15, start=state, initial={"motion": motion}, parameters=parameters or {}, output=15, tolerance=1e-5
    )


@pytest.mark.parametrize(
    ("motion", "parameters"),
    [
        ({"velocity": (0.0, 0.0, 0.0)}, {"throttle": 1.0, "gear": 1.0}),
        ({"velocity": (-10.0, 3.0, 0.0)}, {"brake": 1.0, "gear": -1.0}),
        ({"velocity": (150.0, -40.0, 0.0)}, {"steering": 6.0}),
        ({"velocity": (600.0, 0.0, 0.0)}, {}),
        ({"position": (0.0, 0.0, 8.0), "velocity": (20.0, 0.0, 0.0)}, {"throttle": 1.0}),
        (
            {"position": (0.0, 0.0, 1.2), "quaternion": (0.0, 1.0, 0.0, 0.0), "velocity": (20.0, 0.0, -1.0)},
            {},
        ),
        ({"position": (0.0, 0.0, 1.0), "quaternion": (0.5**0.5, 0.5**0.5, 0.0, 0.0)}, {}),
        ({"position": (0.0, 0.0, 2.2), "quaternion": (0.5**0.5, 0.0, 0.5**0.5, 0.0)}, {}),
    ],
    ids=["standing", "backwards", "sideways at 150 m/s", "600 m/s", "in the air", "roof", "side", "nose"],
)
def test_forces_stay_sane(motion: dict[str, Any], parameters: dict[str, float]) -> None:
    found = run(motion, parameters)
    for name in (*FORCES, *PARTS, "chassis.velocity"):
        assert np.isfinite(np.asarray(found[name])).all(), name
    loads = np.asarray(found["front left tyre.load"])
    assert loads.min() >= 0.0
    across = np.abs(np.asarray(found["front left tyre.force"])[:, :2])
    assert (across <= 0.91 * loads[:, None] + 1e-9).all()
    if motion.get("position", (0, 0, 0))[2] > 5.0:
        assert loads.max() == 0.0


def test_numbers_that_are_none_are_named() -> None:
    system, body = car().system, car().system.bodies["chassis"]
    hubs = [system.joints["front left hub"], system.joints["front right hub"]]
    for bad in (np.nan, np.inf):
        with pytest.raises(ModelError):
            system.aerodynamics("gale", body, area=bad)
        with pytest.raises(ModelError):
            system.power_train("v12", body, hubs, [(0, bad), (1, 2)], 0.1, (1.0,), throttle=0.0)
        with pytest.raises(ModelError):
            system.steering("helm", "rack guide", bad, ratio=1.0, stiffness=1.0)
        with pytest.raises(ModelError):
            brakes(system, hubs, system.parameters.graph.input("brake"), torque=bad)
    assert not {"gale", "v12", "helm"} & set(system.forces)
