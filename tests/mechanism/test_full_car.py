"""The car of paper D as an analysed mechanism, against its static pose and the start of its run."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest

from bellcrank.math.arrays import rotation_of_quaternion
from bellcrank.mechanism import Formulation, Mechanism, State, analyse
from bellcrank.program.kernel import compile_program
from bellcrank.verify.full_car import RACK, full_car_system
from formulations.comparison import body_motion, redrawn, solved

REFERENCE = json.loads(
    files("bellcrank.verify").joinpath("data/fullcar_reference.json").read_text(encoding="utf-8")
)
SPEED = 10.0


def static_poses(names: list[str]) -> dict:
    static = REFERENCE["static"]
    return {
        name: (np.array(p), rotation_of_quaternion(np.array(q) / np.linalg.norm(q)))
        for name, p, q in zip(names, static["body_pos"], static["body_quat"], strict=True)
    }


def on_the_road(scenario: str | None, speed: float) -> tuple[Mechanism, State]:
    """The static pose, all bodies at this speed, the wheels rolling on flat ground."""
    system = full_car_system(scenario)
    poses = static_poses(list(system.bodies))
    velocities = {}
    for name, (position, rotation) in poses.items():
        spin = speed / position[2] * rotation[:, 1] if name.endswith("wheel") else np.zeros(3)
        velocities[name] = (np.array([speed, 0.0, 0.0]), spin)
    mechanism, state = redrawn(system, poses, velocities)
    seen = body_motion(mechanism, state)
    for name in poses:
        np.testing.assert_allclose(seen[0][name][0], poses[name][0], atol=2e-11)
        np.testing.assert_allclose(seen[1][name], velocities[name], atol=2e-9)
    return mechanism, state


@pytest.mark.parametrize("as_published", [True, False])
def test_counts_and_groups_of_the_paper(as_published: bool) -> None:
    car = analyse(full_car_system(cuts_as_published=as_published))
    assert (car.coordinates, car.constraints, car.degrees_of_freedom) == (39, 24, 15)
    assert len(car.groups) == 10
    assert car.redundant == ()
    assert np.abs(car.loop_state().rows(car.start.q).residual).max() < 1e-14
    report = str(car)
    assert "22 bodies, 39 coordinates, 24 constraint equations (0 redundant), 15 degrees of freedom" in report
    assert "driven by steering_rack" in report
    names = set(car.speed_names)
    assert len(names) == 39
    assert f"{RACK}.displacement" in names


@pytest.mark.parametrize("formulation", [Formulation.INDEPENDENT, Formulation.RECURSIVE])
def test_stands_still_in_the_static_pose(formulation: Formulation) -> None:
    car, state = on_the_road(None, 0.0)
    assert np.abs(state.u).max() < 1e-9
    way = solved(car.traced(formulation), State(0.0, state.q, np.zeros(39)), ())
    assert np.abs(way.du).max() < 1e-6
    accelerations = body_motion(car, state, way.du)[2]
    assert max(np.abs(a).max() for pair in accelerations.values() for a in pair) < 1e-6
    rack = next(link for link in car.linkage.links if link.joint == RACK)
    assert state.q[rack.q] == pytest.approx(REFERENCE["static"]["rack"], abs=1e-11)


def test_starts_the_bump_run_like_the_reference() -> None:
    car, state = on_the_road("bump", SPEED)
    kernel = compile_program(car.traced(Formulation.RECURSIVE).full)
    y = kernel(car.kernel_input(state))
    u, du = y[:39], y[39:78]
    np.testing.assert_allclose(u, state.u, atol=1e-8)
    chassis = body_motion(car, state, du)[2]["chassis"]
    np.testing.assert_allclose(chassis[0], REFERENCE["bump"]["chassis_acc"][0], atol=1e-7)


def test_kinetic_energy_of_the_start() -> None:
    car, state = on_the_road("bump", SPEED)
    _, velocities, _ = body_motion(car, state)
    poses = static_poses(list(car.system.bodies))
    total = 0.0
    for name, body in car.system.bodies.items():
        v, w = velocities[name]
        local = poses[name][1].T @ w
        total += 0.5 * float(body.mass) * v @ v + 0.5 * local @ np.array(body.inertia, dtype=float) @ local
    assert total == pytest.approx(REFERENCE["bump"]["energy"][0][0], rel=1e-10)


def test_reference_is_whole() -> None:
    assert sum(REFERENCE["static"]["tyre_N"]) == pytest.approx(REFERENCE["static"]["total_weight"], rel=1e-10)
    assert len({len(series) for series in REFERENCE["bump"].values()}) == 1
