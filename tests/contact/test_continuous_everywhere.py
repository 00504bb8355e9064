"""Continuous contacts in model files, saved results, batches and sensitivities: the same numbers everywhere."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bellcrank.contact import Coulomb, LuGre
from bellcrank.contact.bezier import BezierGrid
from bellcrank.contact.parametric import Parametric
from bellcrank.contact.shapes.revolution import Revolution
from bellcrank.files import ModelFileError, dumps, loads
from bellcrank.files.packed import packed, unpacked
from bellcrank.model import System
from bellcrank.result.storage import load
from bellcrank.run import recording, simulation
from bellcrank.run.recording import resume
from contact.test_sampled import sampled_sphere


def thrown(shape: object = None, **contact: object) -> System:
    """A ball thrown on the floor; its stiffness is a parameter made after the contact of another ball."""
    system = System("thrown")
    ball = system.body("ball", mass=0.2, inertia=(2e-4,) * 3, at=(0.0, 0.0, 0.1))
    system.free("flight", system.ground, ball)
    given = {"treatment": "continuous", "stiffness": 1e6, "restitution": 0.6, **contact}
    side = ball.sphere(0.05) if shape is None else ball.shape(shape)  # type: ignore[arg-type]
    system.contact("floor", system.ground.plane(), side, **given)  # type: ignore[arg-type]
    return system


START = {"flight": {"velocity": (0.5, 0.0, 0.0)}}


@pytest.mark.parametrize(
    "contact",
    [
        {"friction": LuGre(0.3, static=0.4)},
        {"friction": Coulomb(0.2, slip_speed=1e-2), "law": "flores"},
        {"law": "kelvin-voigt", "restitution": 1.0, "damping": 20.0, "friction": 0.1},
        {
            "stiffness": None,
            "young": (1e8, float("inf")),
            "poisson": (0.3, 0.2),
            "law": "hertz",
            "restitution": 1.0,
        },
    ],
)
def test_contacts_come_back_from_files_and_saved_results(contact: dict[str, object], tmp_path: Path) -> None:
    contact = {k: v for k, v in contact.items() if v is not None} | {
        "stiffness": contact.get("stiffness", 1e6)
    }
    if "young" in contact:
        del contact["stiffness"]
    system = System("thrown")
    ball = system.body("ball", mass=0.2, inertia=(2e-4,) * 3, at=(0.0, 0.0, 0.1))
    system.free("flight", system.ground, ball)
    given = {"treatment": "continuous", "restitution": 0.6, **contact}
    system.contact("floor", system.ground.plane(), ball.sphere(0.05), **given)  # type: ignore[arg-type]
    pull = system.parameter("pull", 0.1)
    lag = system.state("lag", lambda m: (m["pull"] - m["lag"]) / 0.05)
    system.applied_force("wind", ball, lambda t: (lag * pull, 0.0, 0.0))
    text = dumps(system)
    again = loads(text)
    assert dumps(again) == text
    runs = [s.simulate(0.4, initial=START, tolerance=1e-8, output=40) for s in (system, again)]
    assert np.array_equal(runs[0]["ball.position"], runs[1]["ball.position"])
    runs[0].save(tmp_path / "run.h5")
    back = load(tmp_path / "run.h5")
    for name in ("floor.normal_force", "floor.friction_force", "energy.total", "lag"):
        assert np.array_equal(back[name], runs[0][name])
    assert [e.name for e in back.events] == [e.name for e in runs[0].events]


def surfaces() -> dict[str, object]:
    polar, turn = np.linspace(0.15, np.pi - 0.15, 12), np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    a, b = np.meshgrid(polar, turn, indexing="ij")
    grid = 0.05 * np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=2)
    return {
        "sampled": sampled_sphere(200, 0.05),
        "bezier": BezierGrid(grid, around=True, inside=(0.0, 0.0, 0.0)),
        "spline": Parametric.b_spline(grid, around=(False, True)),
    }


@pytest.mark.parametrize("kind", ["sampled", "bezier", "spline"])
def test_surfaces_of_data_come_back_from_files(kind: str) -> None:
    system = thrown(surfaces()[kind])
    again = loads(dumps(system))
    assert dumps(again) == dumps(system)
    assert list(again.parameters) == list(system.parameters)


def test_solids_of_revolution_come_back_from_files() -> None:
    system = System("bat")
    bat = system.body("bat", mass=1.0, inertia=(1.0,) * 3)
    system.free("flight", system.ground, bat)
    solid = Revolution(lambda z: 0.02 + 0.01 * z * z, 0.8)
    system.contact("hit", bat.shape(solid), system.ground.sphere(0.1), treatment="continuous", stiffness=1e6)
    assert dumps(loads(dumps(system))) == dumps(system)


@pytest.mark.parametrize("damage", ["3x3:AAAA", "99999999x99999999:AAAA", "2:AAAA", "2x2:%%%%", "-1x3:"])
def test_damaged_arrays_are_refused(damage: str) -> None:
    with pytest.raises(ValueError, match=r"numbers|sizes|damaged"):
        unpacked(damage, 2)
    values = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(unpacked(packed(values), 2), values)
    whole = packed(sampled_sphere(200, 0.05).points)
    text = dumps(thrown(sampled_sphere(200, 0.05)))
    assert whole in text
    with pytest.raises(ModelFileError, match="points of"):
        loads(text.replace(whole, "200x3:AAAA"))


def test_recorded_run_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    system = thrown(sampled_sphere(200, 0.05))
    options = {"initial": START, "tolerance": 1e-8, "output": 50, "formulation": "recursive"}
    whole = system.simulate(0.5, **options)  # type: ignore[arg-type]
    path = tmp_path / "run.h5"
    recorded = system.simulate(0.5, save=path, **options)  # type: ignore[arg-type]
    assert np.array_equal(recorded["ball.position"], whole["ball.position"])
    assert np.array_equal(resume(path)["floor.normal_force"], whole["floor.normal_force"])
    whole.html(tmp_path / "run.html")
    assert (tmp_path / "run.html").stat().st_size > 0


@pytest.mark.parametrize("kind", ["ball", "sampled ball"])
def test_an_interrupted_run_with_contacts_goes_on(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Interrupted in flight and in contact: the outputs are those of the whole run to the last bit."""
    sampled = kind == "sampled ball"
    system = thrown(sampled_sphere(200, 0.05) if sampled else None, friction=0.2)
    stops = (31,) if sampled else (9, 31, 64)
    options = {
        "initial": START,
        "tolerance": 1e-8,
        "output": 200,
        "formulation": "recursive",
        "integrator": "dop853",
        "progress": False,
    }
    whole = system.simulate(0.5, **options)  # type: ignore[arg-type]
    assert len(whole.events) > 4
    monkeypatch.setattr(simulation, "Options", partial(simulation.Options, chunk_seconds=1e-9))
    monkeypatch.setattr(recording, "SHORTEST", 0.0)
    monkeypatch.setattr(recording, "PAUSE", 0.0)
    write = recording.Recorder.write
    writings = [0]

    def interrupting(self: recording.Recorder, *args: Any) -> None:
        write(self, *args)
        writings[0] += 1
        if writings[0] in stops:
            raise KeyboardInterrupt

    monkeypatch.setattr(recording.Recorder, "write", interrupting)
    path = tmp_path / "run.h5"
    run = system.simulate(0.5, save=path, **options)  # type: ignore[arg-type]
    times = []
    while run.run.status == "interrupted":
        times.append(float(run.time[-1]))
        run = resume(path, progress=False)
    assert len(times) == len(stops)
    assert run.run.status == "done"
    assert np.array_equal(run.time, whole.time)
    for name in ("ball.position", "ball.velocity", "floor.normal_force"):
        assert np.array_equal(run[name], whole[name])
    assert run.events == whole.events


def test_batches_follow_contacts() -> None:
    system = System("many")
    mass = system.parameter("mass", 0.2)
    ball = system.body("ball", mass=mass, inertia=(2e-4,) * 3, at=(0.0, 0.0, 0.1))
    system.prismatic("fall", system.ground, ball, axis="z")
    system.contact(
        "floor",
        system.ground.plane(),
        ball.sphere(0.05),
        treatment="continuous",
        stiffness=1e6,
        restitution=0.6,
    )
    many = system.mechanism().simulate_many(
        {"mass": [0.2, 0.4, 0.8]}, 0.4, quantities=["ball.position.z", "floor.normal_force"], tolerance=1e-9
    )
    assert not many.failures
    for k, m in enumerate((0.2, 0.4, 0.8)):
        alone = system.simulate(0.4, parameters={"mass": m}, tolerance=1e-9, output=100)
        assert many["ball.position.z"][k] == pytest.approx(alone["ball.position.z"], abs=1e-12)


@pytest.mark.parametrize("law", ["hertz", "calibrated", "kelvin-voigt"])
def test_sensitivities_go_through_touches(law: str) -> None:
    """Against central differences of whole runs over three bounces."""
    system = System("sensitive")
    stiffness, mass = system.parameter("stiffness", 2e4), system.parameter("mass", 0.2)
    ball = system.body("ball", mass=mass, inertia=(2e-4,) * 3, at=(0.0, 0.0, 0.1))
    system.prismatic("fall", system.ground, ball, axis="z")
    more = {"damping": 2.0} if law == "kelvin-voigt" else {"restitution": 1.0 if law == "hertz" else 0.7}
    system.contact(
        "floor",
        system.ground.plane(),
        ball.sphere(0.05),
        treatment="continuous",
        stiffness=stiffness,
        law=law,
        **more,
    )  # type: ignore[arg-type]
    outputs = ["ball.position.z", "ball.velocity.z"]
    found = system.mechanism().sensitivity(0.5, outputs=outputs, tolerance=1e-10)
    assert set(found.parameters) == {"stiffness", "mass"}
    for name, value in (("stiffness", 2e4), ("mass", 0.2)):
        h = 5e-4 * value
        ends = []
        for x in (value + h, value - h):
            run = system.simulate(0.5, parameters={name: x}, tolerance=1e-11, integrator="dop853", output=10)
            ends.append([float(run[q][-1]) for q in outputs])
        change = (np.array(ends[0]) - np.array(ends[1])) / (2.0 * h)
        for quantity, expected in zip(outputs, change, strict=True):
            most = float(np.abs(found[quantity, name]).max())
            assert found.end[quantity, name] == pytest.approx(expected, abs=2e-4 * most)
