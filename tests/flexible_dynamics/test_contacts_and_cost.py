"""Contacts on deformed points, and what modes cost."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.formulations import modal, recursive
from bellcrank.formulations.registry import FORMULATIONS
from bellcrank.mechanism import mechanism as mechanism_module
from bellcrank.program.count import count
from bellcrank.verify import flexible_slider_crank as paper
from flexible_dynamics.members import FRAMES, rod, slider_crank
from formulations.comparison import AGREEMENT, difference, random_state, solved


def test_a_falling_rod_strikes_with_its_deformed_end() -> None:
    system = bc.System("bounce", gravity=(0.0, -9.81, 0.0))
    body = system.flexible_body("rod", rod("mean axes", 3, planar=True), at=(0.0, 0.3, 0.0))
    system.planar("loose", system.ground, body.node("middle"), axis="z")
    ball = body.sphere(0.02, at=body.node("end").position)
    system.contact("hit", ball, system.ground.plane(normal=(0.0, 1.0, 0.0)), restitution=0.8)
    run = system.simulate(0.3, tolerance=1e-9, output=300)
    assert len(run.impacts) > 0
    assert run["rod.end.position.y"].min() > 0.02 - 1e-9
    assert all(impact.energy_lost >= -1e-12 for impact in run.impacts)
    assert run.ledger.relative_residual < 1e-7
    assert np.ptp(run["rod.strain_energy"]) > 0


def test_two_flexible_bodies_press_on_each_other_without_loss() -> None:
    """A continuous law without damping between deformed nodes keeps the energy, bending included."""
    system = bc.System("press", gravity=(0.0, -9.81, 0.0))
    above = system.flexible_body("above", rod("mean axes", 3, planar=True), at=(0.0, 0.3, 0.0))
    below = system.flexible_body("below", rod("clamped", 3, planar=True), at=(0.5, 0.0, 0.0))
    system.planar("loose", system.ground, above.node("middle"), axis="z")
    system.fixed("wall", system.ground.point(0.5, 0.0, 0.0), below.node("start"))
    a = above.sphere(0.02, at=above.node("end").position)
    b = below.sphere(0.1, at=below.node("middle").position)
    system.contact("hit", a, b, restitution=1.0, treatment="continuous", stiffness=1e6)
    run = system.simulate(0.25, tolerance=1e-9, output=500)
    gap = np.linalg.norm(run["above.end.position"] - run["below.middle.position"], axis=1) - 0.12
    assert gap.min() < -1e-5
    assert np.ptp(run["above.strain_energy"]) > 1e-3
    assert np.ptp(run["below.strain_energy"]) > 1e-3
    assert np.ptp(run["energy.total"]) < 1e-8


def test_operations_grow_no_faster_than_the_square_of_the_number_of_modes() -> None:
    found: dict[str, list[int]] = {formulation: [] for formulation in FORMULATIONS}
    for modes in (2, 6, 18):
        mechanism = paper.mechanism(paper.rod(24, bending=modes, stiffening=True)).mechanism()
        for formulation, counts in found.items():
            counts.append(count(mechanism.traced(formulation).accelerations).total)
        assert mechanism.traced("auto").count().total == min(counts[-1] for counts in found.values())
    for formulation, (few, some, many) in found.items():
        assert some / few < 9, formulation
        assert many / some < 9, formulation


def test_equations_of_a_mechanism_are_traced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it runs, from whatever start and with whatever parameters, and when it is linearised."""
    calls = []
    trace = mechanism_module.trace
    monkeypatch.setattr(mechanism_module, "trace", lambda *given: calls.append(given[1]) or trace(*given))
    system = bc.System("hung", gravity=(0.0, -9.81, 0.0))
    pull = system.parameter("pull", 0.1)
    body = system.flexible_body("rod", rod("clamped", 2, planar=True))
    system.revolute("pin", system.ground, body.node("start"), axis="z")
    system.applied_force("load", body.node("end"), lambda: (0.0, pull, 0.0))
    found = system.mechanism()
    for p in (0.1, 0.2):
        found.simulate(1e-3, output=1, initial={"pin": {"angle": p}}, parameters={"pull": p})
    assert len(calls) == 1
    found.linearize()
    found.linearize(parameters={"pull": 0.3})
    assert len(calls) == len(set(calls))


@pytest.mark.parametrize("frame", FRAMES)
def test_modes_first_agrees_with_elimination_of_the_whole_matrix(
    frame: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two independent factorisations of one mass matrix, rigid bodies and loops beside the modes."""
    system = slider_crank(rod(frame, 20, elements=20, planar=True))
    found = system.mechanism()
    state = random_state(found, np.random.default_rng(3), 0.01, t=0.1)
    with monkeypatch.context() as patch:
        patch.setattr(modal, "modes_first", lambda *_, **__: None)
        patch.setattr(recursive, "modes_first", lambda *_, **__: None)
        whole = {f: found.traced(f) for f in FORMULATIONS}
    found = system.mechanism()
    for formulation, dense in whole.items():
        traced = found.traced(formulation)
        assert count(traced.accelerations).total <= count(dense.accelerations).total, formulation
        one, other = (solved(way, state, found.parameter_values).du for way in (traced, dense))
        assert difference(one, other) < AGREEMENT, formulation
