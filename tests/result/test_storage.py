"""Results as files: what is saved comes back, what is damaged is told, what was interrupted goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ModelError, ResultFileError, WriteError
from bellcrank.integrate import layout as at
from bellcrank.result import layout, sealed, storage
from bellcrank.result.unclosed import lookup3
from bellcrank.run import recording, simulation
from bellcrank.verify.slider_crank import slider_crank

TABLES = ("time", "q", "u", "du", "parameters")


def pendulum() -> bc.System:
    """Two links with a damped spring whose stiffness is a parameter."""
    system = bc.System("double pendulum", gravity=(0, 0, -9.81))
    k = system.parameter("stiffness", 2.0, "N m/rad")
    first = system.body("first", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(0.5, 0, 0))
    second = system.body("second", mass=1.0, inertia=(0.1, 0.1, 0.1), at=(1.5, 0, 0))
    system.revolute("shoulder", system.ground, first, at=(0, 0, 0), axis="y")
    system.revolute("elbow", first, second, at=(1, 0, 0), axis="y")
    system.joint_force("spring", "elbow", lambda coordinate, rate, t: -k * np.sin(coordinate) - 0.01 * rate)
    return system


def same(a: bc.Result, b: bc.Result) -> bool:
    """Whether two results are equal to the last bit."""
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in TABLES) and a.events == b.events


@pytest.fixture(scope="module")
def crank() -> bc.Result:
    return slider_crank(9.81).simulate(1.0, initial={"main bearing": (0.5, 1.0)}, output=50)


def test_round_trip(crank: bc.Result, tmp_path: Path) -> None:
    crank.save(tmp_path / "run.h5")
    back = bc.load_result(tmp_path / "run.h5")
    assert same(crank, back)
    assert back.run == crank.run or vars(back.run) == vars(crank.run)
    assert back.names == crank.names
    for name in ("slider.velocity.x", "guide.force", "energy.total", "constraints.position", "rod.rotation"):
        assert np.array_equal(back[name], crank[name]), name
        assert back[name].unit == crank[name].unit
    assert not list(tmp_path.glob("*.part"))


def test_events_and_changed_parameters_round_trip(tmp_path: Path) -> None:
    softer = bc.Event("low", lambda m: m["shoulder.angle"] - 0.5, parameters={"stiffness": 0.5})
    result = pendulum().simulate(2.0, events=[softer], parameters={"stiffness": 3.0}, output=40)
    result.save(tmp_path / "run.h5")
    back = bc.load_result(tmp_path / "run.h5")
    assert result.events
    assert set(np.unique(back.parameters)) == {0.5, 3.0}
    assert same(result, back)
    assert np.array_equal(back["spring.effort"], result["spring.effort"])


def test_a_start_far_from_the_described_pose_round_trips(tmp_path: Path) -> None:
    result = slider_crank().simulate(0.1, initial={"main bearing": (2.5, -3.0)}, output=5)
    result.save(tmp_path / "run.h5")
    back = bc.load_result(tmp_path / "run.h5")
    assert back.mechanism.dropped == result.mechanism.dropped
    assert np.array_equal(back["crank pin.force"], result["crank pin.force"])


def test_other_files_are_told_apart(tmp_path: Path) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.h5"
    text.write_text("not a result")
    with h5py.File(other, "w") as file:
        file["x"] = 1
    for path in (text, other):
        with pytest.raises(ResultFileError, match="not a result file"):
            bc.load_result(path)
    with pytest.raises(FileNotFoundError):
        bc.load_result(tmp_path / "nothing.h5")


def edited(crank: bc.Result, path: Path, change: Callable[[Any], None]) -> Path:
    crank.save(path)
    with h5py.File(path, "r+") as file:
        change(file)
    return path


def test_newer_format(crank: bc.Result, tmp_path: Path) -> None:
    path = edited(crank, tmp_path / "run.h5", lambda f: f.attrs.__setitem__("version", 99))
    with pytest.raises(ResultFileError, match=r"format 99.*install a newer"):
        bc.load_result(path)


def test_changed_model(crank: bc.Result, tmp_path: Path) -> None:
    def change(file: Any) -> None:
        file["model"][5] = ord("X")

    with pytest.raises(ResultFileError, match="hash differs"):
        bc.load_result(edited(crank, tmp_path / "run.h5", change))


def test_states_of_another_model(crank: bc.Result, tmp_path: Path) -> None:
    def change(file: Any) -> None:
        del file["q"]
        file["q"] = np.zeros((51, 9))

    with pytest.raises(ResultFileError, match="does not fit its model"):
        bc.load_result(edited(crank, tmp_path / "run.h5", change))


def test_data_outside_the_file_is_refused(crank: bc.Result, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(np.ones(51).tobytes())

    def link(file: Any) -> None:
        del file["time"]
        file["time"] = h5py.ExternalLink(str(secret), "/x")

    def elsewhere(file: Any) -> None:
        del file["time"]
        file.create_dataset("time", shape=(51,), dtype="f8", external=[(str(secret), 0, 408)])

    for k, change in enumerate((link, elsewhere)):
        with pytest.raises(ResultFileError, match=r"outside|of its own"):
            bc.load_result(edited(crank, tmp_path / f"{k}.h5", change))


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7])
def test_truncated(crank: bc.Result, tmp_path: Path, share: float) -> None:
    path = tmp_path / "run.h5"
    crank.save(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ResultFileError, match=r"damaged or was cut short|not a result"):
        bc.load_result(path)


def test_what_replaces_a_file_is_whole_or_nothing(
    crank: bc.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.h5"
    crank.save(path)

    def failing(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", failing)
    with pytest.raises(WriteError, match=r"run\.h5.*no space left"):
        crank.save(path)
    monkeypatch.undo()
    assert same(bc.load_result(path), crank)
    assert [p.name for p in tmp_path.iterdir()] == ["run.h5"]


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Runs write at every turn of the interpreter; the answer interrupts the next run at its n-th writing."""
    monkeypatch.setattr(simulation, "Options", partial(simulation.Options, chunk_seconds=1e-9))
    monkeypatch.setattr(recording, "SHORTEST", 0.0)
    monkeypatch.setattr(recording, "PAUSE", 0.0)
    write = recording.Recorder.write

    def interrupt_at(number: int) -> None:
        def counting(self: recording.Recorder, *args: Any) -> None:
            write(self, *args)
            if self.number == number:
                raise KeyboardInterrupt

        monkeypatch.setattr(recording.Recorder, "write", counting)

    return interrupt_at


def stiff() -> bc.System:
    system = pendulum()
    system.torsion_spring("hard", "elbow", stiffness=1e6, damping=1e3)
    return system


def rocking() -> bc.System:
    """A slider crank whose rod is shorter than its crank, so that the crank swings between dead centres."""
    system = bc.System("rocking slider crank", gravity=(9.81, 0, 0))
    pin, end = np.array([2 * np.cos(0.6), 2 * np.sin(0.6), 0]), np.zeros(3)
    end[0] = pin[0] - np.sqrt(1.5**2 - pin[1] ** 2)
    lean = np.arctan2(-pin[1], end[0] - pin[0])
    crank = system.body("crank", mass=1, inertia=(0.1, 0.1, 0.1), center_of_mass=(1, 0, 0), angle=0.6)
    rod = system.body("rod", mass=1, inertia=(0.1, 0.1, 0.1), center_of_mass=(0.75, 0, 0), at=pin, angle=lean)
    slider = system.body("slider", mass=1, inertia=(0.1, 0.1, 0.1), at=end)
    system.revolute("main bearing", system.ground, crank, at=(0, 0, 0))
    system.revolute("crank pin", crank, rod, at=pin)
    system.revolute("wrist pin", rod, slider, at=end)
    system.prismatic("guide", system.ground, slider, axis="x", cut=True)
    return system


def bouncing(state: Any, parameters: Any) -> Any:
    return replace(state, u=-0.9 * state.u)


RUNS: dict[str, tuple[Callable[[], bc.System], dict[str, Any], dict[str, Any]]] = {
    "explicit": (pendulum, {"integrator": "dop853"}, {}),
    "order five": (pendulum, {"integrator": "dormand_prince5"}, {}),
    "multistep": (pendulum, {"integrator": "milne_hamming"}, {}),
    "implicit": (pendulum, {"integrator": "radau"}, {}),
    "switching": (stiff, {"integrator": "auto", "tolerance": 1e-5}, {}),
    "dead centres": (
        rocking,
        {"integrator": "dop853"},
        {},
    ),
    "events": (
        pendulum,
        {"integrator": "dop853"},
        {"events": [bc.Event("floor", lambda m: m["shoulder.angle"] - 1.0, direction=1, jump=bouncing)]},
    ),
    "controller": (
        pendulum,
        {"integrator": "dop853"},
        {
            "controllers": [
                bc.Controller(
                    "knob", 0.05, ["elbow.angle"], lambda t, m: {"stiffness": 1 + abs(m["elbow.angle"])}
                )
            ]
        },
    ),
}


@pytest.mark.parametrize("kind", RUNS)
def test_an_interrupted_run_goes_on_with_the_same_bits(
    kind: str, hasty: Callable[[int], None], tmp_path: Path
) -> None:
    system, options, given = RUNS[kind]
    options = {"output": 300, "progress": False, "max_step": 0.01, **options, **given}
    whole = system().simulate(3.0, **options)
    hasty(40 if kind == "controller" else 150)
    part = system().simulate(3.0, save=tmp_path / "run.h5", **options)
    assert part.run.status == "interrupted"
    assert len(part) < len(whole)
    assert bool(part.run.repartitions) == (kind == "dead centres")
    assert same(bc.load_result(tmp_path / "run.h5"), part)
    if given:
        with pytest.raises(ModelError, match="not stored with a run"):
            bc.resume(tmp_path / "run.h5")
    on = bc.resume(tmp_path / "run.h5", **given)
    assert on.run.status == "done"
    assert same(on, whole)
    assert (on.run.steps, on.run.evaluations) == (whole.run.steps, whole.run.evaluations)
    assert on.run.repartitions == whole.run.repartitions
    assert on.run.switches == whole.run.switches
    np.testing.assert_array_equal(on.ledger.residual, whole.ledger.residual)
    assert same(bc.load_result(tmp_path / "run.h5"), whole)
    assert same(bc.resume(tmp_path / "run.h5", **given), whole)


def test_the_runs_meet_what_they_are_named_after() -> None:
    system, options, _ = RUNS["dead centres"]
    assert system().simulate(3.0, max_step=0.01, **options).run.repartitions
    system, options, _ = RUNS["switching"]
    assert len(system().simulate(3.0, max_step=0.01, **options).run.switches) > 1


def with_checkpoint(path: Path, payload: bytes) -> None:
    found = storage.opened(path)
    tables = {**found.tables, "checkpoint": np.frombuffer(payload, "u1")}
    sealed.write(path, sealed.Contents(found.attributes, tables))


def test_a_hostile_checkpoint_is_refused(hasty: Callable[[int], None], tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    hasty(5)
    pendulum().simulate(3.0, output=300, save=path, integrator="dop853")
    payload = storage.read(path).checkpoint
    arrays, about = layout.unpacked(payload)
    for place, value in ((at.OUT_NEXT, 10**9), (at.N, 10**6), (at.ROWS, 10**6), (at.HEAD, -5)):
        ints = arrays["ints"].copy()
        ints[place] = value
        with_checkpoint(path, layout.packed({**arrays, "ints": ints}, about))
        with pytest.raises(ResultFileError, match=r"not one of such a run.*start a new run"):
            bc.resume(path)


def test_a_checkpoint_of_another_version_is_told_and_the_outputs_stay(
    hasty: Callable[[int], None], tmp_path: Path
) -> None:
    path = tmp_path / "run.h5"
    hasty(5)
    part = pendulum().simulate(3.0, output=300, save=path, integrator="dop853")
    arrays, about = layout.unpacked(storage.read(path).checkpoint)
    with_checkpoint(path, layout.packed({**arrays, "ints": arrays["ints"][:-2]}, about))
    with pytest.raises(ResultFileError, match=r"another version.*load_result"):
        bc.resume(path)
    assert same(bc.load_result(path), part)


def test_a_result_saved_afterwards_cannot_be_gone_on_with(crank: bc.Result, tmp_path: Path) -> None:
    replace(crank, run=replace(crank.run, status="interrupted")).save(tmp_path / "run.h5")
    with pytest.raises(ResultFileError, match="did not write as it went"):
        bc.resume(tmp_path / "run.h5")


KILLED_RUN = """
import sys
sys.path.insert(0, {folder!r})
import os, signal
from functools import partial
from bellcrank.run import recording, simulation
from bellcrank.files import loads
simulation.Options = partial(simulation.Options, chunk_seconds=1e-9)
recording.SHORTEST = recording.PAUSE = 0.0
write = recording.Recorder.write
def killed(self, run, times, progress):
    if progress.outputs - self.outputs < min(100, {wanted}):
        return
    write(self, run, times, progress)
    if self.outputs >= {wanted}:
        os.kill(os.getpid(), signal.SIGKILL)
recording.Recorder.write = killed
system = loads(open({model!r}).read())
system.simulate({duration}, integrator="dop853", max_step=2e-4, output={outputs}, progress=False, save={path!r})
"""


@pytest.mark.posix
def test_a_killed_run_leaves_a_file_and_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    from bellcrank.files import dumps, loads

    duration, outputs, path = 10.0, 2000, tmp_path / "run.h5"
    (tmp_path / "model.yaml").write_text(dumps(pendulum()))
    system = loads((tmp_path / "model.yaml").read_text())
    whole = system.simulate(duration, integrator="dop853", max_step=2e-4, output=outputs, progress=False)
    package, model = str(Path(bc.__file__).parents[1]), str(tmp_path / "model.yaml")
    for wanted in (1, outputs // 3):
        path.unlink(missing_ok=True)
        script = KILLED_RUN.format(
            folder=package, model=model, duration=duration, outputs=outputs, path=str(path), wanted=wanted
        )
        ended = subprocess.run([sys.executable, "-c", script], check=False).returncode
        assert ended == -signal.SIGKILL, "the run was over before it could be killed"
        part = bc.load_result(path)
        assert part.run.status == "unfinished"
        assert wanted <= len(part) < len(whole)
        for name in TABLES:
            assert np.array_equal(getattr(part, name), getattr(whole, name)[: len(part)])
        assert np.array_equal(part["second.position"], whole["second.position"][: len(part)])
    assert same(bc.resume(path, progress=False), whole)
    assert same(bc.load_result(path), whole)


def test_checksum() -> None:
    # The published values of hashlittle() with start value 0.
    assert lookup3(b"") == 0xDEADBEEF
    assert lookup3(b"Four score and seven years ago") == 0x17770551


def test_settings_are_plain_json(tmp_path: Path) -> None:
    pendulum().simulate(0.1, output=3, save=tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        about = json.loads(file["about"][...].tobytes())
        assert file.attrs["bellcrank"] == bc.__version__
    assert about["settings"]["options"]["rtol"] == 1e-8
    assert os.stat(tmp_path / "run.h5").st_size < 100_000
