"""Contact zones of members that touch exactly: closed forms, conservation, and a mechanism for each set of contacts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bellcrank as bc
from bellcrank import elastic
from bellcrank.elastic import Analysis, Element, Mass
from bellcrank.errors import ModelError
from bellcrank.impacts.contacts import Contacts

YOUNG, DENSITY = 2.0e11, 8000.0
FINE: dict[str, Any] = {"integrator": "dormand_prince5", "tolerance": 1e-8}


def bar_on_wall(elements: int) -> tuple[bc.Result, Any, list[str]]:
    """Of unit speed and one-dimensional stress, all its freedoms kept; the wall is met at 1e-6 s."""
    steel = elastic.Material(young=YOUNG, poisson=0.0, density=DENSITY)
    body = elastic.block(
        (0.2, 0.05), steel, analysis=Analysis.PLANE_STRESS, element=Element.QUADRILATERAL4, mass=Mass.LUMPED,
        divisions=(elements, 1), thickness=0.02, name="bar",
    )  # fmt: skip
    model = elastic.flexible_model(body, zone=lambda x: x[:, 0] < 1e-9)
    member = model.reduce(elastic.kept_zone(model, {}, 4 * (elements + 1) - 3, directions="x"))
    system = bc.System("bar on a wall", gravity=(0.0, 0.0, 0.0))
    bar = system.flexible_body("bar", member)
    system.prismatic("guide", system.ground, bar, axis="x")
    wall = system.ground.line(at=(-1e-6, 0.0, 0.0), angle=-math.pi / 2)
    names = elastic.touch(system, "wall", bar, wall, treatment="impulsive")
    return system.simulate(1.2e-4, initial={"guide": (0.0, -1.0)}, output=400, **FINE), member, names


def test_a_bar_on_a_wall_loses_what_its_end_nodes_carry() -> None:
    """The nodes at the end have 1/(2 n) of the lumped mass; the wave says force, E v A / c, and duration, 2 L / c."""
    c = math.sqrt(YOUNG / DENSITY)
    missing = []
    for n in (2, 4):
        run, member, names = bar_on_wall(n)
        start = 0.5 * member.mass
        assert run.impacts[0].energy_lost == pytest.approx(start / (2 * n), rel=1e-9)
        assert run["energy.total"][-1] == pytest.approx(start * (1.0 - 1.0 / (2 * n)), rel=1e-5)
        force = sum(np.asarray(run[f"{name}.normal_force"]) for name in names)
        pressed = (run.time > 2e-6) & (run.time < 7e-5)
        missing.append(1.0 - force[pressed].mean() / (YOUNG / c * 0.05 * 0.02))
        last = max(x.time for x in run.contact_changes if x.what == "release")
        assert last == pytest.approx(1e-6 + 0.4 / c, rel=0.06)
    assert 0.0 < missing[1] < 0.5 * missing[0]


def rubbing_link(friction: float, reach: float = 0.0101, play: float = 8e-7) -> tuple[bc.System, list[str]]:
    """A short elastic link on a pin that can slide; its lower edge meets a crown."""
    steel = elastic.Material(young=2.1e11, poisson=0.3, density=7850.0)
    body = elastic.block(
        (0.1, 0.02), steel, analysis=Analysis.PLANE_STRESS, divisions=(5, 1), lowest=(0.0, -0.01), thickness=0.02,
        name="link",
    )  # fmt: skip
    model = elastic.flexible_model(
        body, {"pin": (0.0, 0.0)}, zone=lambda x: (x[:, 1] < -0.01 + 1e-9) & (np.abs(x[:, 0] - 0.08) < reach)
    )
    member = model.reduce(elastic.kept_zone(model, {"pin": "x y"}, 3))
    system = bc.System("rubbing link", gravity=(0.0, 0.0, 0.0))
    link = system.flexible_body("link", member)
    slide = system.body("slide", mass=0.1, inertia=(0.01, 0.01, 0.01))
    system.prismatic("way", system.ground, slide, axis="x")
    system.revolute("pin", slide, link.node("pin"), axis="z")
    crown = system.ground.circle(1.0, at=(0.08, -0.01 - play - 1.0, 0.0))
    names = elastic.touch(system, "stop", link, crown, friction=friction, treatment="impulsive")
    return system, names


START = {"pin": (0.0, -1.0), "way": (0.0, 0.02)}


@pytest.mark.parametrize(("friction", "reach", "spin"), [(0.0, 0.0101, 1.0), (0.3, 0.004, 5.0)])
def test_the_set_of_contacts_as_a_mechanism_of_its_own(
    friction: float, reach: float, spin: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same run with every set of lasting contacts compiled as constraints, dependent coordinates eliminated."""
    ours, others = [], []
    for found in (ours, others):
        system, names = rubbing_link(friction, reach, 8e-7 * spin)
        # The contact is let go for a moment after its first impact, a time that a looser tolerance does not resolve.
        options = {**FINE, "tolerance": 1e-12}
        run = system.simulate(3e-5, initial={**START, "pin": (0.0, -spin)}, output=60, **options)
        found += [run.q, run.u, run.du, *(np.asarray(run[f"{n}.force"]) for n in names)]
        found += [np.asarray(run["pin.force"]), np.array([c.time for c in run.contact_changes])]
        assert len(run.contact_changes) >= 1
        monkeypatch.setattr(Contacts, "apart", lambda *_: False)
    for mine, other in zip(ours, others, strict=True):
        assert mine.shape == other.shape
        assert np.abs(mine - other).max() <= 1e-6 * np.abs(other).max()


def test_nodes_that_press_stay_on_the_shape_and_friction_takes_energy() -> None:
    system, names = rubbing_link(0.3)
    run = system.simulate(8e-5, initial=START, output=400, **FINE)
    for name in names:
        force, gap = np.asarray(run[f"{name}.normal_force"]), np.asarray(run[f"{name}.gap"])
        assert force.min() >= -1e-6 * force.max(initial=1.0)
        assert np.abs(gap[force > 0.0]).max(initial=0.0) < 1e-10
        assert gap.min() > -2e-9
        rub = np.linalg.norm(np.asarray(run[f"{name}.friction_force"]), axis=1)
        assert (rub <= 0.3 * force * (1.0 + 1e-6) + 1e-6).all()
        assert force.max() == 0.0 or rub.max() > 0.01 * force.max()
    energy = np.asarray(run["energy.total"])
    assert np.diff(energy).max() < 1e-6 * energy[0]


def test_a_solid_block_lands_on_a_plate_that_flies() -> None:
    """In space, with friction, both bodies free: momentum and angular momentum stay, energy does not grow."""
    rubber = elastic.Material(young=1e7, poisson=0.3, density=1000.0)
    body = elastic.block(
        (0.1, 0.1, 0.1), rubber, element=Element.HEXAHEDRON8, divisions=(1, 1, 1), name="block"
    )
    model = elastic.flexible_model(body, zone=lambda x: x[:, 2] < 1e-9)
    member = model.reduce(elastic.kept_zone(model, {}, 6))
    system = bc.System("block on a plate", gravity=(0.0, 0.0, 0.0))
    block = system.flexible_body("block", member)
    plate = system.body("plate", mass=2.0, inertia=(0.02, 0.02, 0.04), at=(0.05, 0.05, -1e-3))
    system.free("flight", system.ground, block)
    system.free("drift", system.ground, plate)
    names = elastic.touch(system, "floor", block, plate.plane(), friction=0.4, treatment="impulsive")
    start = {"flight": {"velocity": (0.3, 0.1, -1.0), "angular_velocity": (0.4, 0.2, 0.0)}}
    # The direction of slip that has hardly begun is stiff: explicit methods alone take millions of steps.
    run = system.simulate(4e-3, initial=start, output=200, integrator="auto", tolerance=1e-7)
    assert len(run.impacts) >= len(names)
    for what in ("momentum", "angular_momentum"):
        series = np.stack([np.asarray(run[f"{what}.{axis}"]) for axis in "xyz"])
        assert np.abs(series - series[:, :1]).max() < 1e-6 * np.abs(series).max()
    energy = np.asarray(run["energy.total"])
    assert np.diff(energy).max() < 1e-6 * energy[0]
    assert run["plate.velocity.z"][-1] < -0.1


def test_a_saved_run_holds_the_same_forces(tmp_path: Path) -> None:
    system, names = rubbing_link(0.3)
    whole = system.simulate(3e-5, initial=START, output=60, **FINE)
    system.simulate(3e-5, initial=START, output=60, save=tmp_path / "run.h5", **FINE)
    loaded = bc.load_result(tmp_path / "run.h5")
    for name in names:
        assert np.array_equal(loaded[f"{name}.normal_force"], whole[f"{name}.normal_force"])


def test_springs_are_of_the_other_treatment() -> None:
    system = bc.System("bar")
    bar, wall = system.flexible_body("bar", bar_on_wall_member()), system.ground.line()
    with pytest.raises(ModelError, match="`stiffer` and `ratio`"):
        elastic.touch(system, "wall", bar, wall, treatment="impulsive", stiffer=100.0)
    with pytest.raises(ModelError, match="treatment of contact 'wall'"):
        elastic.touch(system, "wall", bar, wall, treatment="penalty")


def bar_on_wall_member() -> Any:
    steel = elastic.Material(young=YOUNG, poisson=0.0, density=DENSITY)
    body = elastic.block((0.2, 0.05), steel, analysis=Analysis.PLANE_STRESS, divisions=(2, 1), name="bar")
    model = elastic.flexible_model(body, zone=lambda x: x[:, 0] < 1e-9)
    return model.reduce(elastic.kept_zone(model, {}, 2))
