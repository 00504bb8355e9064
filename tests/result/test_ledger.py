"""The energy ledger closes, whatever events and controllers do to a run."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.batch.readout import readout
from bellcrank.quantities import multipliers
from bellcrank.quantities.snapshot import Snapshot
from bellcrank.result import ledger, storage
from integrate.test_skew_linkage import skew_linkage


def pendulum() -> bc.System:
    """A pendulum on a damped coil spring, with a motor."""
    system = bc.System("pendulum", gravity=(0.0, -9.81, 0.0))
    arm = system.body("arm", 1.0, (0.1, 0.1, 0.1), (0.5, 0.0, 0.0))
    system.revolute("pivot", system.ground, arm, at=(0.0, 0.0, 0.0))
    stiffness, torque = system.parameter("stiffness", 10.0), system.parameter("torque", 0.0)
    system.torsion_spring("coil", "pivot", stiffness=stiffness, damping=0.1)
    system.joint_force("motor", "pivot", lambda coordinate, rate, t: torque)
    return system


def regulator() -> bc.Controller:
    measures = ["pivot.angle", "pivot.angle_rate"]
    return bc.Controller(
        "regulator",
        0.037,
        measures,
        lambda t, m: {"torque": -20.0 * m["pivot.angle"] - 4.0 * m["pivot.angle_rate"]},
    )


def stiffer() -> bc.Event:
    return bc.Event("stiffer", lambda m: m["t"] - 1.234, parameters={"stiffness": 30.0})


def kicked() -> bc.Event:
    return bc.Event("kicked", lambda m: m["t"] - 1.234, jump=lambda state, p: replace(state, u=1.5 * state.u))


HAPPENINGS: dict[str, Callable[[], dict[str, Any]]] = {
    "parameters": lambda: {"events": [stiffer()]},
    "jump": lambda: {"events": [kicked()]},
    "controller": lambda: {"controllers": [regulator()]},
    "all": lambda: {"events": [stiffer(), kicked()], "controllers": [regulator()]},
}


@pytest.mark.parametrize("what", HAPPENINGS)
@pytest.mark.parametrize("outputs", [1, 2, 5, 20, 100, 300, 1000])
def test_it_closes(what: str, outputs: int) -> None:
    # With 1000 outputs some fall together with the controller's instants up to rounding.
    run = pendulum().simulate(3.0, tolerance=1e-10, output=outputs, progress=False, **HAPPENINGS[what]())
    assert run.ledger.relative_residual < 1e-9


@pytest.mark.parametrize("outputs", [1, 5, 6, 100])
@pytest.mark.parametrize("integrator", ["dop853", "radau", "runge_kutta4"])
def test_work_does_not_hang_on_the_outputs(integrator: str, outputs: int) -> None:
    """A mass on a damped spring, pulled at its own frequency; outputs a period apart see but one phase of it."""
    m, c, k, force = 2.0, 0.5, 32.0, 3.0
    frequency = np.sqrt(k / m)
    system = bc.System("oscillator", gravity=(0.0, 0.0, 0.0))
    mass = system.body("mass", m)
    system.prismatic("rail", system.ground, mass, axis="x")
    system.joint_force(
        "pull", "rail", lambda coordinate, rate, t: -k * coordinate - c * rate + force * np.sin(frequency * t)
    )
    end = 5 * 2.0 * np.pi / frequency
    run = system.simulate(
        end,
        integrator=integrator,
        tolerance=1e-10,
        output=outputs,
        progress=False,
        step=1e-3 if integrator == "runge_kutta4" else 0.0,
    )
    decay = 0.5 * c / m
    own = np.sqrt(frequency**2 - decay**2)
    # At resonance x = force / (c w) (-cos w t + what starts from rest).
    t = run.time
    start = np.exp(-decay * t) * (np.cos(own * t) + decay / own * np.sin(own * t))
    rate = (
        force
        / (c * frequency)
        * (frequency * np.sin(frequency * t) - np.exp(-decay * t) * frequency**2 / own * np.sin(own * t))
    )
    x = force / (c * frequency) * (start - np.cos(frequency * t))
    assert np.asarray(run["mass.position.x"]) == pytest.approx(x, abs=1e-7)
    assert run.ledger.forces == pytest.approx(0.5 * m * rate**2, abs=1e-7)
    assert np.abs(run.ledger.residual).max() < (2e-8 if integrator == "dop853" else 1e-9)


def test_the_residual_is_the_error_of_the_run() -> None:
    residuals = [
        pendulum()
        .simulate(3.0, tolerance=1e-4, output=outputs, progress=False, initial={"pivot": (1.0, 3.0)})
        .ledger.residual[-1]
        for outputs in (4, 40, 4000)
    ]
    assert residuals[:2] == pytest.approx([residuals[2]] * 2, rel=0.3)


def test_what_a_change_of_stiffness_puts_in_is_told() -> None:
    run = pendulum().simulate(3.0, tolerance=1e-10, progress=False, events=[stiffer()])
    assert run.breaks is not None
    angle = run.breaks[0, 1]
    put_in = 0.5 * (30.0 - 10.0) * angle**2
    assert run.ledger.events[-1] == pytest.approx(put_in, rel=1e-12)
    assert run.ledger.events[np.searchsorted(run.time, 1.2)] == 0.0
    assert "events and controllers" in str(run.ledger)
    # A spring made stiffer takes up energy; without it the balance would lack as much.
    assert put_in > 0.1


def test_it_closes_after_saving_and_going_on(tmp_path: Path) -> None:
    path = tmp_path / "run.h5"
    run = pendulum().simulate(3.0, tolerance=1e-10, progress=False, save=path, **HAPPENINGS["all"]())
    again = bc.load_result(path)
    np.testing.assert_array_equal(again.ledger.residual, run.ledger.residual)
    copy = tmp_path / "copy.h5"
    again.save(copy)
    np.testing.assert_array_equal(storage.load(copy).ledger.residual, run.ledger.residual)


def test_parameters_hold_from_the_last_change_on() -> None:
    calls = iter(range(100))
    counter = bc.Controller("counter", 0.1, [], lambda t, m: {"torque": float(next(calls))})
    run = pendulum().simulate(1.0, output=np.linspace(0.05, 0.95, 10), progress=False, controllers=[counter])
    column = list(run.mechanism.mechanics.parameters).index("torque")
    np.testing.assert_array_equal(run.parameters[:, column], np.arange(10.0))


def test_it_closes_over_a_jump_to_positions_that_are_not_on_the_loops() -> None:
    """The run goes on from the nearest positions that are; so must the ledger."""

    def shaken(state: bc.State, p: Any) -> bc.State:
        return replace(state, q=state.q + 1e-3 * np.cos(np.arange(len(state.q))), u=1.2 * state.u)

    shake = bc.Event("shaken", lambda m: m["t"] - 0.5, jump=shaken)
    run = skew_linkage().simulate(1.0, tolerance=1e-9, output=1000, progress=False, events=[shake])
    assert run.ledger.relative_residual < 1e-7
    assert abs(run.ledger.events[-1]) > 0.1


def test_multipliers_are_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the ledger with all the motion between outputs and jumps, and for reactions; batches once for all runs."""
    traced: list[object] = []
    terms = multipliers.multiplier_terms

    def counted(s: Snapshot, kept: tuple[int, ...]) -> Any:
        traced.append(s)
        return terms(s, kept)

    monkeypatch.setattr(multipliers, "multiplier_terms", counted)
    kick = bc.Event("kicked", lambda m: m["t"] - 0.05, jump=lambda state, p: replace(state, u=1.2 * state.u))
    system = bc.load(Path(__file__).parents[2] / "examples" / "four_bar.yaml")
    run = system.simulate(0.1, tolerance=1e-9, output=3, progress=False, events=[kick])
    assert not ledger.shows_enough(run)
    assert run.ledger.relative_residual < 1e-7
    reactions = [name for name in run.names if name.endswith(".force")][:2]
    found = run.compute(reactions)
    assert len(traced) == 1
    read = readout(run.mechanism, reactions)
    for _ in range(3):
        values = read.of(run)
    assert len(traced) == 2
    np.testing.assert_array_equal(values, np.hstack([np.asarray(f).reshape(len(run), -1) for f in found]))
