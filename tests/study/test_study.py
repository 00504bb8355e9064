"""Studies against closed forms; stores that resume."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import BellcrankError, ModelError, WriteError
from bellcrank.study import (
    Function,
    Given,
    Grid,
    LatinHypercube,
    Limit,
    Measure,
    MonteCarlo,
    Normal,
    Study,
    Uniform,
)
from bellcrank.study.objectives import STATISTICS
from study.models import cart, oscillator, runaway

VARIABLES = {"mass": Uniform(0.5, 2.0), "stiffness": Uniform(50.0, 200.0)}


def exact(mass, stiffness, t, damping=0.5):
    """The oscillator."""
    d = damping / (2.0 * mass)
    w = np.sqrt(stiffness / mass - d**2)
    return 0.1 * np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t))


def measured(runs: int = 24, **more) -> Study:
    given = {
        "measures": {"end": "final of block.position.x", "rms": "rms of block.position.x"},
        "duration": 1.5,
        "design": LatinHypercube(runs, seed=4),
        "tolerance": 1e-11,
        "output": 300,
    } | more
    return Study(oscillator(), VARIABLES, **given)


def test_measures_against_the_closed_form() -> None:
    study = measured(keep=("block.position.x",))
    outcome = study.run()
    assert outcome.status == "done"
    assert outcome.fresh == len(outcome) == 24
    assert outcome.units == {"mass": "kg", "stiffness": "N/m", "end": "m", "rms": "m"}
    t = outcome.time
    for k in range(24):
        x = exact(outcome["mass"][k], outcome["stiffness"][k], t)
        np.testing.assert_allclose(outcome.curves["block.position.x"][k], x, atol=1e-9)
        assert outcome["end"][k] == pytest.approx(x[-1], abs=1e-9)
        assert outcome["rms"][k] == pytest.approx(math.sqrt(np.trapezoid(x**2, t) / 1.5), abs=1e-9)
    data = outcome.to_xarray()
    assert data["rms"].attrs["units"] == "m"
    assert data["curve block.position.x"].dims == ("run", "time")
    assert outcome.to_pandas()["rms"].tolist() == outcome["rms"].tolist()


def test_statistics_and_their_derivatives() -> None:
    """Every statistic of a curve, and its derivative against differences."""
    t = np.sort(np.random.default_rng(1).uniform(0.0, 2.0, 40))
    y = np.sin(3.0 * t) + 0.3
    closed = {
        "max": y.max(), "min": y.min(), "final": y[-1], "initial": y[0], "range": np.ptp(y),
        "magnitude": np.abs(y).max(), "integral": np.trapezoid(y, t), "mean": np.trapezoid(y, t) / np.ptp(t),
        "rms": math.sqrt(np.trapezoid(y**2, t) / np.ptp(t)),
        "deviation": math.sqrt(np.trapezoid((y - np.trapezoid(y, t) / np.ptp(t)) ** 2, t) / np.ptp(t)),
    }  # fmt: skip
    assert set(closed) == set(STATISTICS)
    direction = np.cos(t)
    for name, rule in STATISTICS.items():
        value, by = rule(t, y)
        assert value == pytest.approx(closed[name], abs=1e-13)
        h = 1e-6
        difference = (rule(t, y + h * direction)[0] - rule(t, y - h * direction)[0]) / (2 * h)
        assert by @ direction == pytest.approx(difference, abs=1e-8)


def test_windows_and_functions() -> None:
    def crossing(run) -> float:
        x = np.asarray(run["block.position.x"])
        return float(run.time[np.argmax(x < 0.0)]) + 0.0 * run.variables["mass"]

    study = measured(
        measures={
            "late": Measure("magnitude", "block.position.x", after=1.0),
            "crossing": Function(crossing, ["block.position.x"], "s"),
        }
    )
    outcome = study.run()
    t = outcome.time
    for k in range(len(outcome)):
        x = exact(outcome["mass"][k], outcome["stiffness"][k], t)
        assert outcome["late"][k] == pytest.approx(np.abs(x[t >= 1.0]).max(), abs=1e-9)
        assert outcome["crossing"][k] == t[np.argmax(x < 0.0)]
    assert outcome.units["crossing"] == "s"


def test_the_batch_size_does_not_change_a_bit() -> None:
    one = measured(30).run()
    for size in (4, 12):
        two = replace(measured(30), batch=size).run(threads=1)
        for name in one.measures:
            np.testing.assert_array_equal(one[name], two[name])


def test_failed_runs_cost_only_themselves() -> None:
    gains = np.array([0.1, 0.2, 50.0, -0.5, 0.0, 60.0, 0.3])
    study = Study(
        runaway(),
        {"gain": Uniform(-1.0, 100.0)},
        {"end": "final of cart.position.x"},
        3.0,
        design=Given({"gain": gains}),
        output=30,
        objective="end",
        constraints={"end": Limit(at_least=1.5)},
    )
    outcome = study.run()
    np.testing.assert_array_equal(outcome.done, gains < 40.0)
    assert [f.row for f in outcome.failures] == [2, 5]
    assert outcome.failures[0].values == {"gain": 50.0}
    assert outcome.failures[0].time < 3.0
    assert outcome.failures[0].reason
    assert np.isnan(outcome["end"][[2, 5]]).all()
    assert not outcome.feasible[[2, 5]].any()
    best = outcome.best()
    assert best["end"] == np.min(outcome["end"][outcome.feasible])
    np.testing.assert_allclose(outcome["end"][4], 1.0, atol=1e-12)


def test_a_stopping_event_ends_what_is_measured() -> None:
    """The block is stopped as it passes the middle: the last output lies before."""
    stop = bc.Event("middle", lambda m: m["block.position.x"], direction=-1, stops=True)
    outcome = measured(8, events=[stop], measures={"least": "min of block.position.x"}).run()
    assert outcome.done.all()
    for k in range(8):
        x = exact(outcome["mass"][k], outcome["stiffness"][k], outcome.time)
        assert outcome["least"][k] == pytest.approx(x[np.argmax(x < 0.0) - 1], abs=1e-8)


def test_equilibrium_starts() -> None:
    """Hung on its spring a mass rests where m g = k x, and stays."""
    system = bc.System("hanging", gravity=(0.0, 0.0, -9.81))
    mass, stiffness = system.parameter("mass", 1.0), system.parameter("stiffness", 100.0)
    bob = system.body("bob", mass=mass)
    system.prismatic("guide", system.ground, bob, axis="z")
    system.joint_force("spring", "guide", lambda coordinate: -stiffness * coordinate)
    study = Study(
        system,
        VARIABLES,
        {"z": "mean of bob.position.z", "moved": "range of bob.position.z"},
        1.0,
        start="equilibrium",
        design=MonteCarlo(12),
    )
    outcome = study.run()
    np.testing.assert_allclose(outcome["z"], -9.81 * outcome["mass"] / outcome["stiffness"], rtol=1e-9)
    assert outcome["moved"].max() < 1e-9


def test_a_store_is_read_back_whole(tmp_path) -> None:
    study = measured(keep=("block.position", "block.position.x"))
    first = study.run(tmp_path / "runs")
    again = study.run(tmp_path / "runs")
    assert (first.fresh, again.fresh) == (24, 0)
    for name in first.measures:
        np.testing.assert_array_equal(first[name], again[name])
    for name, values in first.curves.items():
        np.testing.assert_array_equal(values, again.curves[name])
    import pandas as pd

    frame = pd.read_parquet(tmp_path / "runs")
    assert sorted(frame["run"]) == list(range(24))
    assert frame.sort_values("run")["rms"].tolist() == first["rms"].tolist()


def test_a_store_knows_its_study(tmp_path) -> None:
    study = measured()
    study.run(tmp_path / "runs")
    for changed, word in (
        (replace(study, duration=1.0), "duration"),
        (replace(study, design=LatinHypercube(24, seed=5)), "design"),
        (replace(study, measures={"end": "final of block.position.x"}), "measures"),
        (replace(study, fixed={"damping": 0.6}), "fixed"),
    ):
        with pytest.raises(ModelError, match=f"another study; it differs in: .*{word}"):
            changed.run(tmp_path / "runs")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(ModelError, match="holds other files"):
        study.run(tmp_path / "mine")


def test_a_damaged_part_is_computed_again(tmp_path) -> None:
    study = measured()
    first = study.run(tmp_path / "runs")
    cut, rotten = sorted((tmp_path / "runs").glob("part-*.parquet"))[:2]
    cut.write_bytes(cut.read_bytes()[:-100])
    # Amid the numbers, where Parquet itself does not look.
    data = bytearray(rotten.read_bytes())
    data[len(data) // 8] ^= 4
    rotten.write_bytes(data)
    (tmp_path / "runs" / ".part-00000002.parquet.new").write_bytes(b"half")
    again = study.run(tmp_path / "runs")
    assert again.fresh == 16
    np.testing.assert_array_equal(first["rms"], again["rms"])
    assert not list((tmp_path / "runs").glob(".*.new"))
    assert len(list((tmp_path / "runs").glob("part-*.parquet"))) == 3
    assert study.run(tmp_path / "runs").fresh == 0


def test_parts_of_the_version_before_are_taken(tmp_path) -> None:
    study = measured()
    first = study.run(tmp_path / "runs")
    for part in (tmp_path / "runs").glob("part-*.parquet"):
        part.rename(part.with_name(part.name[:13] + ".parquet"))
    assert study.run(tmp_path / "runs").fresh == 0
    part = min((tmp_path / "runs").glob("part-*.parquet"))
    part.write_bytes(b"PAR1" + bytes(len(part.read_bytes()) - 8) + b"PAR1")
    again = study.run(tmp_path / "runs")
    assert again.fresh == 8
    np.testing.assert_array_equal(first["rms"], again["rms"])


@pytest.mark.parametrize("text", ["[" * 100_000, '{"fingerprint": "a", "study": []}', "7", "\xff"])
def test_a_note_that_is_none_is_refused(text: str, tmp_path) -> None:
    (tmp_path / "_study.json").write_text(text, encoding="latin-1")
    with pytest.raises(ModelError, match=r"not the note of a study|another study"):
        measured().run(tmp_path)


@pytest.mark.parametrize("name", ["_study.json", "_lock", "part-00000000.parquet"])
@pytest.mark.posix
def test_pipes_in_a_store_are_not_waited_for(name: str, tmp_path) -> None:
    study = measured()
    study.run(tmp_path / "runs")
    place = tmp_path / "runs" / name
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    if name.startswith("part"):
        assert study.run(tmp_path / "runs").status == "done"
    else:
        with pytest.raises(ModelError, match=name):
            study.run(tmp_path / "runs")


def test_a_full_disk_keeps_the_batches_before(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, write = measured(), os.write

    def full(handle: int, data) -> int:
        if len(list((tmp_path / "runs").glob("part-*"))) == 2:
            raise OSError(28, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(WriteError, match=r"part-00000002.*no space left.*16 of 24 runs are kept"):
        study.run(tmp_path / "runs")
    monkeypatch.undo()
    assert study.run(tmp_path / "runs").fresh == 8


def test_two_studies_do_not_write_into_one_store(tmp_path) -> None:
    from bellcrank.study.store import Store

    study = measured()
    with (
        Store(tmp_path / "runs", study.fingerprint, study.definition()),
        pytest.raises(BellcrankError, match="another study right now"),
    ):
        study.run(tmp_path / "runs")
    assert study.run(tmp_path / "runs").status == "done"


def test_the_note_of_a_store_tells_what_it_holds(tmp_path) -> None:
    study = measured()
    study.run(tmp_path / "runs")
    note = json.loads((tmp_path / "runs" / "_study.json").read_text())
    assert note["fingerprint"] == study.fingerprint
    assert note["study"]["variables"]["mass"] == {"kind": "uniform", "low": 0.5, "high": 2.0}


def test_start_values_can_vary() -> None:
    study = Study(
        cart(),
        {"rail.displacement_rate": Uniform(-1.0, 1.0)},
        {"end": "final of rail.displacement"},
        1.0,
        fixed={"a": 0.0, "b": 0.0, "c": 0.0},
        design=Grid(3),
    )
    np.testing.assert_allclose(study.run()["end"], [-1.0, 0.0, 1.0], atol=1e-12)
    assert study.units["rail.displacement_rate"] == "m/s"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"variables": {"mas": Uniform(1.0, 2.0)}}, "did you mean 'mass'"),
        ({"measures": {"end": "final of block.position"}}, "has several components"),
        ({"measures": {"end": "finale of block.position.x"}}, "no statistic named 'finale'"),
        ({"measures": {"end": "block.position.x"}}, "a measure reads"),
        ({"measures": {"mass": "final of block.position.x"}}, "has the name of a variable"),
        ({"measures": {"end": Measure("max", "block.position.x", after=2.0)}}, "no output lies between"),
        ({"objective": "speed"}, "no measure named 'speed'"),
        ({"constraints": {"end": 3.0}}, "Limit"),
        ({"fixed": {"mass": 1.0}}, "both varied and fixed"),
        ({"start": "rest"}, "no start named 'rest'"),
        ({"variables": {"mass": 1.0}}, "needs a distribution"),
        ({"tolerance": 0.0}, "between 0 and 1"),
        ({"start": "equilibrium", "fixed": {"rail.displacement": 0.2}}, "goes with start='described'"),
    ],
)
def test_mistakes_are_told(changes, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        replace(measured(), **changes)


def test_kept_curves_are_bounded() -> None:
    with pytest.raises(ModelError, match=r"would hold .* GB of curves"):
        measured(1_000_000, keep=("block.position",)).run()
    assert measured(5000, output=10_000, batch=4000).batch_size == 1996
    with pytest.raises(ModelError, match="is a System, not Mechanism"):
        replace(measured(), model=oscillator().mechanism())


def test_functions_that_raise_are_reported() -> None:
    def broken(run) -> float:
        raise ZeroDivisionError("oh")

    outcome = measured(8, measures={"x": Function(broken, ["block.position.x"])}).run()
    assert not outcome.done.any()
    assert "ZeroDivisionError: oh" in outcome.failures[0].reason
    assert "mass =" in outcome.failures[0].reason


def test_a_model_without_a_file_stays_here() -> None:
    """A flexible rod that cannot be written as a model file: its study runs in this process, not on a cluster."""
    from bellcrank.verify.flexible_slider_crank import mechanism, rod

    system = mechanism(rod(4))
    load = system.parameter("load", 0.0, "N")
    system.joint_force("push", "guide", lambda coordinate: load + 0.0 * coordinate)
    study = Study(
        system, {"load": Uniform(-1.0, 1.0)}, {"effort": "max of push.effort"}, 0.01, design=Grid(3), output=4
    )
    np.testing.assert_allclose(study.run()["effort"], [-1.0, 0.0, 1.0], atol=1e-12)
    if study.text is None:
        with pytest.raises(ModelError, match="cannot travel to a cluster"):
            study.work.portable()


def _swing(
    angle: float = 0.1, stiffness: float = 2.0, restitution: float = 0.5, floor: float = -3.0
) -> bc.System:
    """A pendulum whose spring breaks far away, which no model file can say, above a floor."""
    system = bc.System("swing", gravity=(0.0, -9.81, 0.0))
    bob = system.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.0, -1.0, 0.0))
    system.revolute("pin", system.ground, bob, at=(0.0, 0.0, 0.0))
    k, load = system.parameter("stiffness", stiffness), system.parameter("load", 0.0)
    system.joint_force(
        "spring", "pin", lambda coordinate: np.where(coordinate < 9.0, load - k * coordinate, np.nan)
    )
    plane = system.ground.plane(at=(0.0, floor, 0.0), normal=(0.0, 1.0, 0.0))
    system.contact("floor", plane, bob.sphere(0.1), restitution=restitution)
    system.initial("pin", angle)
    return system


def test_a_model_without_a_file_is_told_by_all_that_its_numbers_hang_on() -> None:
    """A store would else take the runs of one for those of the other."""

    def fingerprint(**changed: float) -> str:
        study = Study(
            _swing(**changed), {"load": Uniform(-1.0, 1.0)}, {"end": "final of bob.position.x"}, 0.5
        )
        assert study.text is None
        return study.fingerprint

    plain = fingerprint()
    assert fingerprint() == plain
    others = [
        fingerprint(angle=0.2), fingerprint(stiffness=3.0), fingerprint(restitution=0.6), fingerprint(floor=-2.9)
    ]  # fmt: skip
    assert len({plain, *others}) == 5


def test_normal_draws_have_their_moments() -> None:
    """The end of the cart is linear in its forces: mean and deviation follow in closed form."""
    study = Study(
        cart(),
        {"a": Normal(1.0, 0.1), "b": Normal(2.0, 0.2), "c": Normal(3.0, 0.3)},
        {"end": "final of cart.position.x"},
        1.0,
        design=LatinHypercube(512, seed=1),
        output=2,
    )
    end = study.run()["end"]
    assert end.mean() == pytest.approx((1.0 + 4.0 + 9.0) / 4.0, rel=1e-3)
    assert end.std() == pytest.approx(math.sqrt(0.1**2 + 0.4**2 + 0.9**2) / 4.0, rel=0.05)
