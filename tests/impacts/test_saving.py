"""Runs with contacts that write as they go: interrupted or killed, they go on as if nothing had been."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.errors import ResultFileError
from bellcrank.files import dumps, loads
from bellcrank.impacts import clock
from bellcrank.run import recording, simulation, watching
from bellcrank.verify.slider_crank_impact import slider_crank_with_block
from impacts.models import TIGHT, ball, disc
from impacts.test_stepping import on_floor

THROWN = {"plane": {"x": (0.0, 2.0), "y": (0.4, 0.0), "angle": (0.0, 30.0)}}


def pushed_ball() -> bc.System:
    system = ball(0.5)
    push = system.parameter("push", 0.0, "N")
    system.applied_force("hand", system.bodies["ball"].origin, lambda t: (0.0, 0.0, push + 0.0 * t))
    return system


def bouncing_disc() -> bc.System:
    """Bounces, rubs and rolls."""
    return disc(0.3, 0.012, mass=2.0, restitution=0.6)


RUNS: dict[str, tuple[Callable[[], bc.System], dict[str, Any], dict[str, Any]]] = {
    "bounce, rub and roll": (bouncing_disc, {"initial": THROWN}, {}),
    "queue": (lambda: ball(0.7), {"impacts": "queue", "max_step": 0.02, "queue_size": 4}, {}),
    "loop": (slider_crank_with_block, {"initial": {"main bearing": (np.pi / 6.0, 1.0)}}, {}),
    "events and controllers": (
        pushed_ball,
        {},
        {
            "events": [bc.Event("press", lambda m: m["t"] - 0.1, parameters={"push": -5.0})],
            "controllers": [
                bc.Controller("knob", 0.3, [], lambda t, m: {"push": 30.0 if t > 2.35 else -1.0})
            ],
        },
    ),
}


@pytest.fixture
def interrupting(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Runs write at every turn of the interpreter; the answer interrupts the next run at its n-th writing."""
    monkeypatch.setattr(simulation, "Options", partial(simulation.Options, chunk_seconds=1e-9))
    monkeypatch.setattr(recording, "SHORTEST", 0.0)
    monkeypatch.setattr(recording, "PAUSE", 0.0)
    put = recording.Recorder.put

    def interrupt_at(number: int) -> None:
        def counting(self: recording.Recorder, *args: Any) -> None:
            put(self, *args)
            if self.number == number:
                raise KeyboardInterrupt

        monkeypatch.setattr(recording.Recorder, "put", counting)

    return interrupt_at


def check_same(a: bc.Result, b: bc.Result) -> None:
    """The same run, to rounding: constraints of lasting contacts may be traced at another state."""
    assert np.array_equal(a.time, b.time)
    for name in ("q", "u", "du", "parameters", "contact_forces"):
        x, y = np.asarray(getattr(a, name)), np.asarray(getattr(b, name))
        assert np.abs(x - y).max(initial=0.0) <= 1e-9 * max(1.0, np.abs(y).max(initial=0.0)), name
    assert [c.contact for r in a.impacts for c in r.contacts] == [
        c.contact for r in b.impacts for c in r.contacts
    ]
    assert a.impacts.times == pytest.approx(b.impacts.times, rel=1e-10)
    assert a.impacts.energy_lost == pytest.approx(b.impacts.energy_lost, rel=1e-10)
    assert [(c.contact, c.what) for c in a.contact_changes] == [
        (c.contact, c.what) for c in b.contact_changes
    ]
    assert [c.time for c in a.contact_changes] == pytest.approx([c.time for c in b.contact_changes], rel=1e-9)
    assert [e.name for e in a.events] == [e.name for e in b.events]
    assert [len(x) for x in (a.breaks, b.breaks) if x is not None] == [
        len(x) for x in (b.breaks, a.breaks) if x is not None
    ]
    assert a.run.steps == b.run.steps
    assert a.ledger.relative_residual == pytest.approx(b.ledger.relative_residual, abs=1e-9)


@pytest.mark.parametrize("kind", RUNS)
def test_an_interrupted_run_goes_on(kind: str, interrupting: Callable[[int], None], tmp_path: Path) -> None:
    make, options, given = RUNS[kind]
    options = {"output": 300, "progress": False, "max_step": 0.02, **TIGHT, **options, **given}
    whole = make().simulate(3.0, **options)
    path, left = tmp_path / "run.h5", 0
    for number in (1, 7, 40, 90, 10**6):
        interrupting(number)
        part = bc.resume(path, **given) if path.exists() else make().simulate(3.0, save=path, **options)
        back = bc.load_result(path)
        assert back.run.status == part.run.status
        assert np.array_equal(back.time, part.time)
        assert str(back.impacts) == str(part.impacts)
        assert back.contact_changes == part.contact_changes
        assert np.array_equal(back.contact_forces, part.contact_forces)
        if part.run.status == "interrupted":
            left += 1
            assert len(part) < len(whole)
    assert left >= 2
    assert part.run.status == "done"
    check_same(part, whole)
    check_same(bc.resume(path, **given), whole)


def heap() -> bc.System:
    """Boxes that fall onto each other and are pushed, beside a ball on an elastic floor."""
    system = bc.System("heap", gravity=(0.0, 0.0, -9.81))
    floor, boxes = system.ground.plane(), []
    push = system.parameter("push", 0.0, "N")
    for k in range(3):
        box = system.body(f"box {k}", 1.0, (0.01, 0.01, 0.01), at=(0.03 * k, 0.0, 0.12 + 0.25 * k))
        system.free(f"flight {k}", system.ground, box)
        boxes.append(box.box(0.1, 0.1, 0.1))
    system.applied_force("hand", system.bodies["box 2"].origin, (push, 0.0, 0.0))
    system.contacts_between([*boxes, floor], restitution=0.1, friction=0.4)
    soft = system.body("soft", 1.0, (0.004, 0.004, 0.004), at=(1.0, 0.0, 0.12))
    system.free("flight of the soft one", system.ground, soft)
    system.contact("soft floor", floor, soft.sphere(0.1), 0.5, treatment="continuous", young=1e6)
    return system


def swinging_crank() -> bc.System:
    """Other speeds become independent where the arm, longer than the rod, turns back; a stop is struck."""
    system = bc.System("crank", gravity=(0.0, -9.81, 0.0))
    arm = system.body("arm", 1.0, (0.01, 0.01, 0.01), at=(0.05, 0.0, 0.0))
    rod = system.body("rod", 0.5, (0.01, 0.01, 0.01), at=(0.25, 0.0, 0.0))
    slider = system.body("slider", 0.4, (1e-3, 1e-3, 1e-3), at=(0.4, 0.0, 0.0))
    system.revolute("main", system.ground, arm, at=(0.0, 0.0, 0.0), axis="z")
    system.revolute("pin", arm, rod, at=(0.25, 0.0, 0.0), axis="z")
    system.revolute("wrist", rod, slider, at=(0.4, 0.0, 0.0), axis="z")
    system.prismatic("guide", system.ground, slider, axis="x", limits=bc.Limits(-0.2, 0.02, restitution=0.5))
    return system


STEPPED: dict[str, tuple[Callable[[], bc.System], dict[str, Any], dict[str, Any]]] = {
    "heap": (
        heap,
        {"step": 2e-3},
        {
            "events": [bc.Event("late", lambda m: m["t"] - 0.295)],
            "controllers": [bc.Controller("knob", 0.05, [], lambda t, m: {"push": 20.0 * (t > 0.3)})],
        },
    ),
    "loop": (swinging_crank, {"step": 1e-3, "initial": {"main": (0.3, 5.0)}}, {}),
}


@pytest.mark.parametrize("kind", STEPPED)
def test_an_interrupted_run_by_steps_goes_on_with_the_same_bits(
    kind: str, interrupting: Callable[[int], None], tmp_path: Path
) -> None:
    make, options, given = STEPPED[kind]
    options = {"output": 60, "progress": False, "impacts": "stepping", **options, **given}
    whole = make().simulate(0.8, **options)
    assert whole.run.repartitions if kind == "loop" else whole.contact_changes
    path = tmp_path / "run.h5"
    for number, status in ((1, "interrupted"), (25, "interrupted"), (10**6, "done")):
        interrupting(number)
        part = bc.resume(path, **given) if path.exists() else make().simulate(0.8, save=path, **options)
        back = bc.load_result(path)
        assert (part.run.status, back.run.status) == (status, status)
        assert len(back) == len(part)
        assert str(back.impacts) == str(part.impacts)
    for result in (part, back, bc.resume(path, **given)):
        for name in ("time", "q", "u", "du", "parameters", "contact_forces"):
            np.testing.assert_array_equal(getattr(result, name), getattr(whole, name), err_msg=name)
        assert str(result.impacts) == str(whole.impacts)
        assert result.contact_changes == whole.contact_changes
        assert result.events == whole.events
        assert asdict(result.run) | {"seconds": 0.0} == asdict(whole.run) | {"seconds": 0.0}


def test_accelerations_of_steps_are_changes_of_speeds_whatever_speeds_are_independent() -> None:
    run = swinging_crank().simulate(
        0.8, initial={"main": (0.3, 5.0)}, output=800, impacts="stepping", step=1e-3
    )
    assert run.run.repartitions
    np.testing.assert_allclose(run.du[1:], np.diff(run.u, axis=0) / 1e-3, atol=1e-6)


def test_a_run_by_steps_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "PERIOD", 0.0)
    seen: list[bc.Result] = []
    whole = heap().simulate(0.2, output=4, impacts="stepping", step=2e-3, watch=seen.append)
    assert [len(found) for found in seen] == [1, 2, 3, 4, 5]
    assert {found.run.status for found in seen} == {"running"}
    np.testing.assert_array_equal(seen[2].q, whole.q[:3])


LONG_RUN = """
import sys
sys.path.insert(0, {folder!r})
import os, signal
from bellcrank.files import loads
from bellcrank.impacts.recording import SegmentWriter
from bellcrank.run import recording
recording.SHORTEST = recording.PAUSE = 0.0
write = SegmentWriter.write
def killed(self, run, times, progress):
    write(self, run, times, progress)
    if self.record.outputs > 100:
        os.kill(os.getpid(), signal.SIGKILL)
SegmentWriter.write = killed
system = loads(open({model!r}).read())
system.simulate(6.0, integrator="dop853", max_step=2e-5, output=600, progress=False, save={path!r})
"""


@pytest.mark.filterwarnings("ignore:from t = ")
def test_a_run_that_hands_over_to_steps_goes_on(
    interrupting: Callable[[int], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stretches by steps with a controller at its instants and an event; resumed with the same bits."""
    for name, value in (("STALLED", 3), ("STALLED_EACH", 0), ("NO_TIME", 10.0)):
        monkeypatch.setattr(clock, name, value)
    called: list[float] = []

    def press(t: float, measured: Any) -> dict[str, float]:
        called.append(t)
        return {"push": 5.0 if t > 0.3 else 0.0}

    def make() -> bc.System:
        system = on_floor((0.1, 0.1, 0.1), 0.5, 0.3, 0.0, 0.5)
        push = system.parameter("push", 0.0, "N")
        system.applied_force("hand", system.bodies["box"].origin, (push, 0.0, 0.0))
        return system

    given: dict[str, Any] = {
        "events": [bc.Event("late", lambda m: m["t"] - 0.295)],
        "controllers": [bc.Controller("knob", 0.05, [], press)],
    }
    whole = make().simulate(0.5, output=50, **given)
    assert called == pytest.approx(0.05 * np.arange(10), abs=1e-12)
    assert len(whole.run.stepped) >= 2
    begin, end, _ = whole.run.stepped[0]
    assert begin < 0.295 < end
    assert [e.name for e in whole.events] == ["late"]
    path = tmp_path / "run.h5"
    for number in (9, 15, 25, 10**6):
        interrupting(number)
        part = (
            bc.resume(path, **given) if path.exists() else make().simulate(0.5, output=50, save=path, **given)
        )
    assert part.run.stepped == whole.run.stepped
    np.testing.assert_array_equal(part.q, whole.q)
    np.testing.assert_array_equal(part.u, whole.u)


@pytest.mark.posix
def test_a_killed_run_leaves_its_impacts_and_goes_on(tmp_path: Path) -> None:
    path, model = tmp_path / "run.h5", tmp_path / "model.yaml"
    model.write_text(dumps(ball(0.9)))
    script = LONG_RUN.format(folder=str(Path(bc.__file__).parents[1]), model=str(model), path=str(path))
    ended = subprocess.run([sys.executable, "-c", script], check=False).returncode
    assert ended == -signal.SIGKILL, "the run was over before it could be killed"
    part = bc.load_result(path)
    assert len(part.impacts)
    assert part.run.status == "unfinished"
    assert part.contact_forces is not None
    assert len(part.contact_forces) == len(part)
    whole = loads(model.read_text()).simulate(6.0, integrator="dop853", max_step=2e-5, output=600)
    check_same(bc.resume(path, progress=False), whole)


def test_a_file_whose_contacts_do_not_fit_is_refused(
    interrupting: Callable[[int], None], tmp_path: Path
) -> None:
    from bellcrank.result import layout, sealed, storage

    path = tmp_path / "run.h5"
    interrupting(5)
    ball(0.5).simulate(3.0, save=path, output=100, progress=False, **TIGHT)
    arrays, about = layout.unpacked(storage.read(path).checkpoint)
    about["contacts"]["names"] = ["another"]
    found = storage.opened(path)
    tables = {**found.tables, "checkpoint": layout.as_bytes(layout.packed(arrays, about))}
    sealed.write(path, sealed.Contents(found.attributes, tables))
    with pytest.raises((ValueError, ResultFileError), match="do not fit"):
        bc.resume(path)
