"""Contacts on deformed points, what model files say of flexible bodies, and what modes cost."""

from __future__ import annotations

import numpy as np
import pytest

import bellcrank as bc
from bellcrank.files.writing import write_system
from bellcrank.program.count import count
from bellcrank.verify import flexible_slider_crank as paper
from flexible_dynamics.members import rod, slider_crank


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


def test_model_files_refuse_flexible_bodies() -> None:
    with pytest.raises(bc.ModelError, match="'rod' is flexible"):
        write_system(slider_crank(rod()))


def test_operations_grow_no_faster_than_the_square_of_the_number_of_modes() -> None:
    found = []
    for modes in (1, 4, 16):
        system = paper.mechanism(paper.rod(40, bending=modes, stiffening=True))
        found.append(count(system.mechanism(formulation="recursive").traced().accelerations).total)
    assert found[1] / found[0] < 16
    assert found[2] / found[1] < 16
