"""The car with a driver: static loads against an independent solution, terrains by their own laws, steps by runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import welch

from bellcrank.apps.drive.car import drive_car, resized, usual_tyre
from bellcrank.apps.drive.drive import Drive
from bellcrank.apps.drive.realtime import Stepper
from bellcrank.apps.drive.terrain import (
    BEHIND,
    FLAT,
    PROVING_GROUND,
    TERRAINS,
    Rough,
    featured,
    read_course,
    terrain,
)
from bellcrank.errors import ModelError, UnknownName
from bellcrank.roads import crg
from bellcrank.roads.road import heights
from bellcrank.tyres import Deflection, LinearTyre, MagicFormula, Slip
from bellcrank.vehicles import Vehicle
from bellcrank.vehicles.passenger_car import passenger
from bellcrank.verify.full_car import full_car_data
from bellcrank.verify.full_car_bump import TYRES, reference
from roads.test_roads import SECTIONS, written


@pytest.fixture(scope="module")
def level() -> Vehicle:
    return drive_car(FLAT)


def test_static_loads_are_those_of_the_independent_solution() -> None:
    """On springs as those of the paper, which press straight up below the wheel centre; the contact of a wheel that
    leans lies beside that, and the loads of an axle change by as much of its half track."""
    item = full_car_data()["tyres"][0]
    law = LinearTyre(radius=item["radius"], stiffness=item["stiffness"], longitudinal=8e4, cornering=6e4)
    balance = drive_car(FLAT, law).rest
    found = [float(balance[f"{name} tyre.load"]) for name in TYRES]
    known = reference()["static"]["tyre_N"]
    assert sum(found) == pytest.approx(sum(known), abs=1e-5)
    aside = law.radius * max(abs(float(balance[f"{name} tyre.camber"])) for name in TYRES)
    assert found == pytest.approx(known, rel=aside / 0.75)
    assert float(balance["chassis.position.z"]) == pytest.approx(0.553983068729, abs=5e-5)


def test_a_tyre_of_another_size_has_the_forces_of_the_like_state() -> None:
    """By the similarity of the formula: forces over the load and lengths over the radius are the same."""
    law = passenger()
    assert isinstance(law, MagicFormula)
    small = resized(law, 0.5 * law.free_radius, 0.25 * law.coefficients["FNOMIN"])
    state = Slip(6000.0, 0.03, 0.05, 0.02, speed=15.0)
    like = state._replace(load=1500.0)
    for one, other, factor in zip(
        law.forces(state), small.forces(like), (4.0, 4.0, 8.0, 8.0, 8.0), strict=True
    ):
        assert float(one) == pytest.approx(factor * float(other), rel=1e-12)
    for one, other in zip(law.relaxation(6000.0, 0.02), small.relaxation(1500.0, 0.02), strict=True):
        assert float(one) == pytest.approx(2.0 * float(other), rel=1e-12)
    pressed = Deflection(0.94 * law.free_radius, -0.2, 0.01, 30.0)
    other = pressed._replace(radius=0.47 * law.free_radius, rate=-0.1, spin=30.0 * 2.0)
    assert float(law.load(pressed)) == pytest.approx(4.0 * float(small.load(other)), rel=1e-2)


@pytest.mark.parametrize("name", TERRAINS)
def test_a_page_shows_the_road_that_the_tyres_feel(name: str) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-300, 300, (2, 400))
    ground = TERRAINS[name]
    assert ground.at(x, y)[0] == pytest.approx(heights(ground.road, x, y), abs=1e-12)
    assert ground.highest(0.0, 0.0) < 0.02


def test_the_start_is_level_and_the_bumps_are_there() -> None:
    x, y = np.meshgrid(np.linspace(-3, 3, 61), np.linspace(-2, 2, 41))
    assert np.abs(PROVING_GROUND.at(x, y)[1]).max() < 1e-9
    assert PROVING_GROUND.at(30.0, 0.8)[1] == pytest.approx(0.07, abs=1e-6)
    assert PROVING_GROUND.at(30.0, -0.8)[1] == pytest.approx(0.0, abs=1e-6)


def test_sections_of_rough_ground_have_the_spectrum_of_their_class() -> None:
    """ISO 8608, class C: the variance in an octave is the integral of G_d, over many grounds."""
    x = np.arange(50.0, 1050.0, 0.25)

    def section(seed: int, direction: tuple[float, float]) -> np.ndarray:
        parts = np.array(Rough("C", seed).parts)
        angles = np.outer(parts[:, 1] * direction[0] + parts[:, 2] * direction[1], x) + parts[:, 3:]
        return np.asarray(parts[:, 0] @ np.cos(angles))

    ground = featured(Rough("C", 7))
    assert ground.at(x, 0.0)[0] == pytest.approx(section(7, (1.0, 0.0)), abs=1e-12)
    for direction in ((1.0, 0.0), (0.0, 1.0)):
        spectra = []
        for seed in range(60):
            n, found = welch(section(seed, direction), 4.0, nperseg=2048)
            spectra.append(found)
        for low in (0.05, 0.2, 0.4):
            octave = (n >= low) & (n < 2.0 * low)
            power = np.mean(spectra, axis=0)[octave].sum() * (n[1] - n[0])
            # Some ten waves of an octave in sixty grounds: 15 % are three deviations of the mean.
            assert power == pytest.approx(256e-6 * 0.01 * 0.5 / low, rel=0.15)
    near = np.linspace(-2.0, 2.0, 21)
    assert np.abs(ground.at(near, near)[0]).max() < 0.3 * np.abs(ground.at(x, x)[0]).max()


def _mesh(path: Path) -> Path:
    """A slope of 5 % up to 0.5 m, as a mesh of few triangles."""
    corners = [
        (x, y, max(0.0, min(0.05 * (x - 4.0), 0.5))) for x in (-10.0, 4.0, 14.0, 60.0) for y in (-20.0, 20.0)
    ]
    lines = [f"v {x} {y} {z}" for x, y, z in corners]
    for k in (1, 3, 5):
        lines += [f"f {k} {k + 2} {k + 3}", f"f {k} {k + 3} {k + 1}"]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_car_climbs_the_ground_of_a_mesh(tmp_path: Path) -> None:
    ground = terrain(_mesh(tmp_path / "ramp.obj"))
    assert ground.at([0.0, 9.0, 30.0], [1.0, -3.0, 0.0])[0] == pytest.approx([0.0, 0.25, 0.5], abs=1e-9)
    drive = Drive(ground, 10.0)
    before = drive.vehicle.rest.result["chassis.position.z"][-1]
    for k in range(2500):
        drive._step(k)
    place = drive.stepper.measure()["chassis.position"]
    assert place[0] > 20.0
    assert place[2] - float(before) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize("bend", [0.0, 0.02])
def test_an_open_crg_road_begins_behind_the_car(bend: float, tmp_path: Path) -> None:
    """Wherever the file has it, and whichever way it goes there."""
    heading, count = 0.4, 41
    angles = heading + bend * np.arange(count - 1)
    heights = np.column_stack([0.01 * np.arange(count) ** 0.5 + a for a in (0.0, 0.1, 0.3)])
    rows = np.column_stack([np.r_[np.nan, angles], heights])
    path = written(tmp_path / "road.crg", "KDBI", rows, f"D:reference line phi,rad\n{SECTIONS}", heading)
    ground, road = terrain(path), crg(path)
    x, y = np.random.default_rng(4).uniform((-2.5, -1.0), (6.0, 0.5), (40, 2)).T
    c, s = np.cos(heading), np.sin(heading)
    there = 10.0 + c * (x + BEHIND) - s * y, -2.0 + s * (x + BEHIND) + c * y
    assert ground.at(x, y)[0] == pytest.approx(road.heights(*there) - road(10.0, -2.0), abs=1e-9)
    assert ground.at(-BEHIND, 0.0)[0] == pytest.approx(0.0, abs=1e-9)


def test_files_that_are_no_ground_or_no_course_are_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="or a file of stl"):
        terrain("ground.txt")
    with pytest.raises(ModelError, match=r"none\.stl"):
        terrain(tmp_path / "none.stl")
    path = tmp_path / "course.csv"
    path.write_text("0, 0\n20 0\n\n10,15\n", encoding="utf-8")
    assert read_course(path).tolist() == [[0.0, 0.0], [20.0, 0.0], [10.0, 15.0]]
    for wrong in ("", "1,2\n3,4\n", "1,2\n3,4\n5\n", "1,2\n3,nan\n5,6\n", "x,y\n1,2\n3,4\n5,6"):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(ModelError, match="course"):
            read_course(path)


def test_tyres_of_another_size_stand_on_the_ground() -> None:
    law = passenger()
    car = drive_car(FLAT, law)
    assert sum(float(car.rest[f"{name} tyre.load"]) for name in TYRES) == pytest.approx(
        sum(reference()["static"]["tyre_N"]), abs=1e-5
    )
    assert float(car.rest["chassis.position.z"]) > 0.6


def test_steps_of_a_millisecond_agree_with_an_error_controlled_run() -> None:
    car = drive_car()
    start = car.rolling(10.0)
    values = {"steering": 0.006, "throttle": 0.3, "brake": 0.0}
    stepper = Stepper(car.mechanism, start, 1e-3, ["chassis.position"])
    stepper.set(values)
    samples = [stepper.sample()]
    for _ in range(2000):
        stepper.advance()
    fixed = replace(car.mechanism, parameter_values=tuple(values.values())).with_programs_of(car.mechanism)
    result = fixed.simulate(2.0, start=start, integrator="dop853", tolerance=1e-7, output=4)
    assert stepper.time == pytest.approx(2.0)
    assert stepper.measure()["chassis.position"] == pytest.approx(result["chassis.position"][-1], abs=1e-6)
    assert result["chassis.position.y"][-1] > 1.0, "positive steering turns left"
    kept = stepper.result([*samples, stepper.sample()], 0.1)
    for name in ("chassis.position", "FL tyre.load", "chassis.acceleration"):
        assert np.asarray(kept[name])[-1] == pytest.approx(np.asarray(result[name])[-1], rel=2e-3, abs=2e-3)


def test_brakes_stop_the_car_within_the_limit_of_friction(level: Vehicle) -> None:
    stepper = Stepper(level.mechanism, level.rolling(20.0), 1e-3, ["chassis.velocity", "chassis.position"])
    stepper.set({"brake": 1.0})
    for _ in range(1500):
        stepper.advance()
    slower = 20.0 - stepper.measure()["chassis.velocity"][0]
    law = usual_tyre()
    most = max(
        float(-law.forces(Slip(3500.0, -k, speed=20.0)).longitudinal) / 3500.0
        for k in np.linspace(0.0, 1.0, 41)
    )
    assert 0.6 * 9.81 < slower / 1.5 < 1.03 * most * 9.81
    assert abs(stepper.measure()["chassis.position"][1]) < 0.2
